/* The schema as the other rooms see it: parsed, checked and counted. Every function here is the
 * twin of the public one with the same name in <columnstone/schema.h>, whose contract it has.
 */
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

cst_status cst__schema_parse(const void *data, size_t size, cst_schema **out, cst_error *error);
cst_status cst__schema_parse_text(const void *data, size_t size, cst_schema **out,
                                  cst_error *error);
cst_status cst__schema_parse_binary(const void *data, size_t size, cst_schema **out,
                                    cst_error *error);

cst_schema *cst__schema_retain(const cst_schema *schema);
void cst__schema_release(cst_schema *schema);

cst_status cst__schema_write_text(const cst_schema *schema, char **out, size_t *size,
                                  cst_error *error);
cst_status cst__schema_write_binary(const cst_schema *schema, char **out, size_t *size,
                                    cst_error *error);

/* Features in the schema's order. A feature that says `type: TYPE_UNKNOWN` is CST_FEATURE_UNKNOWN:
 * inference writes it for a feature that never had a value of any type (a column of type null). A
 * feature that does not state its type at all does not pass the parser. */
size_t cst__schema_num_features(const cst_schema *schema);
const cst_feature *cst__schema_feature(const cst_schema *schema, size_t i);

/* The index of the top-level feature with this name, or SIZE_MAX. */
size_t cst__schema_find_feature(const cst_schema *schema, const char *name, size_t size);

/* The feature with this name among all features of a schema or of a struct, or NULL. */
const cst_feature *cst__feature_by_name(const cst_feature *features, size_t count, cst_bytes name);

/* The values of a feature's fixed shape, 2^63-1 if they are more than that; -1: it has none. */
int64_t cst__feature_fixed_size(const cst_feature *feature);

cst_status cst__specs_new(const cst_schema *schema, const cst_specs_options *options,
                          cst_specs **out, cst_error *error);
/* The ragged tensors of all groups whose values are a feature at the top, without any inferred one.
 * A tensor that two groups define from other columns is CST_SCHEMA. */
cst_status cst__specs_new_ragged(const cst_schema *schema, cst_specs **out, cst_error *error);
cst_status cst__specs_from(const cst_tensor_spec *items, size_t count,
                           const cst_allocator *allocator, cst_specs **out, cst_error *error);
cst_status cst__schema_with_specs(const cst_schema *schema, const cst_specs *specs,
                                  const char *group, cst_schema **out, cst_error *error);
cst_specs *cst__specs_retain(const cst_specs *specs);
void cst__specs_release(cst_specs *specs);

/* The specs all of whose columns (the first steps of value paths, index columns, row-length
 * columns) are among the names, as a list of its own. A name may be that of a struct's child,
 * "<column>.<child>". */
cst_status cst__specs_project(const cst_specs *specs, const char *const *columns,
                              size_t num_columns, cst_specs **out, cst_error *error);
size_t cst__specs_count(const cst_specs *specs);
const cst_tensor_spec *cst__specs_get(const cst_specs *specs, size_t i);
/* The number of the spec with this name, or SIZE_MAX: specs are sorted by name. */
size_t cst__specs_find(const cst_specs *specs, const char *name);

#endif /* SCHEMA_SCHEMA_H */
