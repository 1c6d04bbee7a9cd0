/* The columns of a decoder: their names, what the schema says of them, and which of them a batch
 * puts out. The tf.Example decoder has one such set, the tf.SequenceExample decoder another one for
 * its feature lists.
 */
#ifndef DECODE_DECODER_COLUMNS_H
#define DECODE_DECODER_COLUMNS_H

#include <columnstone/records.h>

#include "arrow/type.h"
#include "decode/example_loop.h"
#include "schema/schema.h"

typedef struct cst__decoder_columns {
  cst__decode_state *state; /* fills them */
  uint32_t flags;           /* CST_COLUMNS_... */
  bool all_seen;            /* every batch has all columns; else those that occurred in it */
  bool is_nested;           /* a row is a list of lists */
  bool (*occurred)(const cst__decode_state *state, uint32_t column);
  bool is_borrowed; /* table and known belong to the columns that these share */
  cst__name_table table;
  cst__name_map known; /* the schema's names, if unknown ones are to be rejected */
  cst_schema *schema;  /* keeps the names of `known` */
  cst__batch_pool *pool;
  size_t tuned_names; /* the number of names for which the table was tuned */
  size_t *sorted;     /* column numbers in the order of the output */
  size_t num_sorted;
  /* What the batch at hand puts out. */
  size_t *order; /* column numbers */
  const char **names;
  size_t num_outputs;
  size_t output_capacity;
} cst__decoder_columns;

/* `columns` is zeroed but for what the caller set; `state` gets its parts that belong to columns.
 * What was made is to be reset after a failure, too. */
cst_status cst__decoder_columns_init(cst__decoder_columns *columns, cst__decode_state *state,
                                     const cst_allocator *allocator, cst_error *error);
void cst__decoder_columns_reset(cst__decoder_columns *columns);

/* What is fixed for a feature of the schema, which is not a STRUCT. */
cst__cold cst__cold_of_feature(const cst_feature *feature);

/* Adds a column that has no such name yet. */
cst_status cst__decoder_columns_add(cst__decoder_columns *columns, const char *name, size_t size,
                                    cst__cold cold, cst_error *error);

/* From here on, names are rejected that were not made known. The schema has those names. */
void cst__decoder_columns_reject(cst__decoder_columns *columns, const cst_schema *schema);
cst_status cst__decoder_columns_know(cst__decoder_columns *columns, const cst_feature *feature,
                                     cst_error *error);

/* Makes the columns ready to be shared: names are added no more. */
void cst__decoder_columns_seal(cst__decoder_columns *columns);
/* Fills the same columns as `from`, which is sealed and has to outlive these: names and what the
 * schema says are borrowed, what a batch needs is of its own. As for init else. */
cst_status cst__decoder_columns_share(cst__decoder_columns *columns, cst__decode_state *state,
                                      const cst__decoder_columns *from, cst_error *error);

/* Before the first record of a batch: a batch whose columns the caller has yet to open. `error` is
 * not NULL, and the state's until the end. */
cst_status cst__decoder_columns_begin(cst__decoder_columns *columns, const cst__records *records,
                                      cst_error *error);

/* Decides what the batch at hand puts out. */
cst_status cst__decoder_columns_choose(cst__decoder_columns *columns, cst_error *error);
/* Makes a type the struct of what was chosen; it borrows the names. */
cst_status cst__decoder_columns_type(const cst__decoder_columns *columns, cst__arena *arena,
                                     cst__type *type, cst_error *error);

/* The column of the batch that is output `i`, with its type set. */
cst__column *cst__decoder_columns_typed(cst__decoder_columns *columns, size_t i);

#endif /* DECODE_DECODER_COLUMNS_H */
