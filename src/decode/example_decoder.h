/* The decoder of tf.Example, as the other rooms use it: records in, one record batch out.
 *
 * Flow: example_decoder.c plans the columns and owns the batches; example_loop.c walks the bytes of
 * the usual layout (compiled once per instruction set); example_slow.c takes every other layout
 * that protobuf allows.
 */
#ifndef DECODE_EXAMPLE_DECODER_H
#define DECODE_EXAMPLE_DECODER_H

#include <columnstone/records.h>

#include "arrow/records/decoder.h"
#include "decode/kernels.h"

typedef struct cst__example_decoder_options {
  uint32_t flags;             /* CST_COLUMNS_... */
  const char *const *columns; /* NULL: all */
  size_t num_columns;
  bool reject_unknown;      /* with a schema: a feature that it does not have is CST_SCHEMA */
  const char *leave_out;    /* a feature of the schema that gets no column and is not known */
  const char *damaged_hint; /* what to say of records that do not parse; NULL: no tf.Example */
  cst__loop_choice loop;
  const cst_allocator *allocator;
} cst__example_decoder_options;

/* As cst_decoder_new. */
cst_status cst__example_decoder_new(const cst_schema *schema,
                                    const cst__example_decoder_options *options, cst_decoder **out,
                                    cst_error *error);

/* CST_NOT_FOUND for a wanted column that none of the features is, with a near name as a hint. */
cst_status cst__no_such_column(const cst_feature *features, size_t count, const char *name,
                               cst_error *error);

/* A column of structs that comes from elsewhere, and its place among the others (after them if it
 * is too large). */
typedef struct cst__extra_column {
  const char *name;
  const struct cst__decoder_columns *fields;
  struct ArrowArray array;
  size_t at;
} cst__extra_column;

/* cst_decoder_arrow_schema with one more column, whose array is not looked at, or NULL. */
cst_status cst__example_decoder_schema_with(const cst_decoder *decoder,
                                            const cst__extra_column *extra, struct ArrowSchema *out,
                                            cst_error *error);

/* ---- the steps of a decode, for a message that has the Features of an Example in it ----
 * The decoders are those of cst__example_decoder_new. */

/* Before the first record. `records` stay, and `error`, which is not NULL, is the state's until the
 * end. */
cst_status cst__example_decoder_begin(cst_decoder *decoder, const cst__records *records,
                                      cst_error *error);
cst__decode_state *cst__example_decoder_state(cst_decoder *decoder);
const cst__kernels *cst__example_decoder_kernels(const cst_decoder *decoder);
/* After the last record, or the first failure, which is `status`: hands the batch out, or gives it
 * back. extra->array is moved in on success; `extra` may be NULL. */
cst_status cst__example_decoder_end(cst_decoder *decoder, cst_status status,
                                    cst__extra_column *extra, struct ArrowSchema *out_schema,
                                    struct ArrowArray *out);

#endif /* DECODE_EXAMPLE_DECODER_H */
