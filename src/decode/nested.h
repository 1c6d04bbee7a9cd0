/* Nested columns out of flat ones: the source features of each ragged tensor of a schema become one
 * large_list column of the tensor's name. The way back is ragged_writer.c, which says what the
 * levels are.
 */
#ifndef DECODE_NESTED_H
#define DECODE_NESTED_H

#include "arrow/type.h"
#include "schema/schema.h"

/* Which columns become which. Immutable. */
typedef struct cst__nest cst__nest;

typedef struct cst__nest_options {
  /* The wanted columns, ragged tensors by their names, in the wanted order; NULL: all, a nested
   * column in the place of its value feature. */
  const char *const *columns;
  size_t num_columns;
  uint32_t flags; /* CST_COLUMNS_..., as the flat columns are decoded */
  const cst_allocator *allocator;
} cst__nest_options;

/* Sources that two tensors share, and a tensor with the name of another column, are CST_SCHEMA; a
 * wanted source is CST_NOT_FOUND. */
cst_status cst__nest_new(const cst_schema *schema, const cst__nest_options *options,
                         cst__nest **out, cst_error *error);
void cst__nest_free(cst__nest *nest);

/* The flat columns that have to be decoded, in this order. */
const char *const *cst__nest_columns(const cst__nest *nest, size_t *count);

/* True for a source of a nested column, which has to be decoded as a list. */
bool cst__nest_uses(const cst__nest *nest, const char *name);

/* Makes the type of flat batches that of nested ones. */
cst_status cst__nest_type(const cst__nest *nest, cst__arena *arena, cst__type *type,
                          cst_error *error);

/* Puts the nested batch in the place of the flat one, whose values it shares. Row lengths that do
 * not add up, and sources of which some are null, are CST_SCHEMA with record and path; the batch is
 * then released. */
cst_status cst__nest_batch(const cst__nest *nest, struct ArrowArray *batch, cst_error *error);

#endif /* DECODE_NESTED_H */
