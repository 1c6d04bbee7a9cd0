/* How long rows are: the values of a list, the bytes of a text, or what an integer says, in a
 * column of the source.
 */
#ifndef DATASET_LENGTHS_H
#define DATASET_LENGTHS_H

#include <columnstone/format.h>

#include "source/input/source.h"

typedef struct cst__lengths {
  cst_path path;      /* from the top: structs on the way, and the first list ends it */
  bool by_value;      /* of a list the first value counts: an integer itself, or its bytes */
  bool is_alone;      /* there is no other column */
  cst__arena arena;   /* has the path */
  cst_source *source; /* the same rows, with this column alone where the others can be left out;
                         NULL until cst__lengths_open */
  struct ArrowSchema schema; /* of its batches */
} cst__lengths;

/* Copies the path. CST_NOT_FOUND if the source has no such column, CST_INVALID_ARGUMENT if it has
 * no length. Finds the schema, as cst_source_arrow_schema does. */
cst_status cst__lengths_init(cst__lengths *lengths, cst_source *source, const cst_path *path,
                             bool by_value, const cst_allocator *allocator, cst_error *error);
void cst__lengths_reset(cst__lengths *lengths);

/* Opens the source of lengths, with the indexes that the source has by now. */
cst_status cst__lengths_open(cst__lengths *lengths, cst_source *source, cst_error *error);

/* Rows of a batch, which is trusted. */
typedef struct cst__batch_rows {
  const struct ArrowSchema *schema;
  const struct ArrowArray *batch;
  const uint64_t *rows; /* NULL: the first ones */
  size_t count;
} cst__batch_rows;

/* The lengths of these rows. Null is 0. */
cst_status cst__lengths_of(const cst__lengths *lengths, const cst__batch_rows *of, int64_t *out,
                           cst_error *error);

#endif /* DATASET_LENGTHS_H */
