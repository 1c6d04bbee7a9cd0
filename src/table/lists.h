/* What <columnstone/array.h> promises of columns, lists, nulls and sizes, without the checks of
 * arguments.
 */
#ifndef TABLE_LISTS_H
#define TABLE_LISTS_H

#include "table/array.h"

cst_status cst__array_child(const cst_array *array, int64_t i, cst_array **out, cst_error *error);
cst_status cst__array_column(const cst_array *array, const char *const *path, size_t num_steps,
                             cst_array **out, cst_array **rows, cst_error *error);

cst_status cst__array_element_lengths(const cst_array *array, cst_array **out, cst_error *error);
cst_status cst__array_flatten(const cst_array *array, int levels, cst_array **values,
                              cst_array **parents, cst_error *error);
cst_status cst__array_from_parents(const cst_array *values, const cst_array *parents,
                                   int64_t num_rows, bool empty_as_null, cst_array **out,
                                   cst_error *error);
cst_status cst__array_coordinates(const cst_array *array, cst_array **out, int64_t *shape,
                                  size_t max_dims, size_t *num_dims, cst_error *error);

cst_status cst__array_null_mask(const cst_array *array, cst_array **out, cst_error *error);
cst_status cst__array_fill_null(const cst_array *array, const cst_array *fill, cst_array **out,
                                cst_error *error);
cst_status cst__array_byte_size(const cst_array *array, int64_t *size, cst_error *error);
cst_status cst__array_count_invalid_utf8(const cst_array *array, int64_t *count, cst_error *error);

#endif /* TABLE_LISTS_H */
