/* Columns as tensors are made of them: dictionary-encoded ones are their values, and bools are
 * uint8.
 */
#ifndef TENSOR_COLUMNS_H
#define TENSOR_COLUMNS_H

#include <columnstone/arrow_abi.h>

#include "base/alloc.h"
#include "base/error.h"

/* True if there are such columns, at any depth. */
bool cst__tensor_columns_differ(const struct ArrowSchema *schema);

/* Replaces their types in a schema that cst__schema_copy has made. */
cst_status cst__tensor_columns_type(struct ArrowSchema *schema, cst_error *error);

/* A batch of the schema as it was becomes one of the schema as it is now, without touching it: what
 * is new lies in the arena and in *out, which is to be released before the batch is. */
cst_status cst__tensor_columns_make(const struct ArrowSchema *schema,
                                    const struct ArrowArray *batch, cst__arena *arena,
                                    struct ArrowArray *out, cst_error *error);

#endif /* TENSOR_COLUMNS_H */
