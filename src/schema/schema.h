/* The schema as the other rooms see it: parsed, checked and counted; what they need of it besides
 * <columnstone/schema.h>. */
#ifndef SCHEMA_SCHEMA_H
#define SCHEMA_SCHEMA_H

#include <columnstone/schema.h>

#include "base/alloc.h"

/* The type that stands for all of its family in schemas: INT64 for integers and bools, FLOAT32 for
 * floats, BYTES, and NONE. */
static inline cst_dtype cst__dtype_family(cst_dtype dtype) {
  return dtype == CST_DTYPE_FLOAT32 || dtype == CST_DTYPE_FLOAT64 ? CST_DTYPE_FLOAT32
         : dtype == CST_DTYPE_BYTES || dtype == CST_DTYPE_NONE    ? dtype
                                                                  : CST_DTYPE_INT64;
}

/* The index of the top-level feature with this name, or SIZE_MAX. */
size_t cst__schema_find_feature(const cst_schema *schema, const char *name, size_t size);

/* The feature with this name among all features of a schema or of a struct, or NULL. */
const cst_feature *cst__feature_by_name(const cst_feature *features, size_t count, cst_bytes name);

/* The values of a feature's fixed shape, 2^63-1 if they are more than that; -1: it has none. */
int64_t cst__feature_fixed_size(const cst_feature *feature);

/* The ragged tensors of all groups whose values are a feature at the top, without any inferred one.
 * A tensor that two groups define from other columns is CST_SCHEMA. */
cst_status cst__specs_new_ragged(const cst_schema *schema, cst_specs **out, cst_error *error);

/* The specs all of whose columns (the first steps of value paths, index columns, row-length
 * columns) are among the names, as a list of its own. A name may be that of a struct's child,
 * "<column>.<child>". */
cst_status cst__specs_project(const cst_specs *specs, const char *const *columns,
                              size_t num_columns, cst_specs **out, cst_error *error);
/* The number of the spec with this name, or SIZE_MAX: specs are sorted by name. */
size_t cst__specs_find(const cst_specs *specs, const char *name);

#endif /* SCHEMA_SCHEMA_H */
