/* <columnstone/array.h>, its columns, lists, nulls and sizes: argument checks. Rows and groups are
 * in array.c. */
#include <columnstone/array.h>

#include "api/arguments.h"
#include "table/lists.h"

static cst_status check(const cst_array *array, const void *out, cst_error *error) {
  return array != NULL && out != NULL ? CST_OK
                                      : cst__missing(array == NULL ? "array" : "out", error);
}

/* ---- columns ---- */

cst_status cst_array_column(const cst_array *array, const char *const *path, size_t num_steps,
                            cst_array **out, cst_array **rows, cst_error *error) {
  CST__TRY(check(array, out, error));
  if (path == NULL || num_steps == 0) {
    return cst__missing("path", error);
  }
  for (size_t i = 0; i < num_steps; i++) {
    if (path[i] == NULL) {
      return cst__missing("path[i]", error);
    }
  }
  return cst__array_column(array, path, num_steps, out, rows, error);
}

cst_status cst_array_child(const cst_array *array, int64_t i, cst_array **out, cst_error *error) {
  CST__TRY(check(array, out, error));
  if (i < 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "column %lld", (long long)i);
  }
  return cst__array_child(array, i, out, error);
}

/* ---- lists ---- */

cst_status cst_array_element_lengths(const cst_array *array, cst_array **out, cst_error *error) {
  CST__TRY(check(array, out, error));
  return cst__array_element_lengths(array, out, error);
}

cst_status cst_array_flatten(const cst_array *array, int levels, cst_array **values,
                             cst_array **parents, cst_error *error) {
  CST__TRY(check(array, values, error));
  if (levels < -1) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "-1 stands for all", "%d list levels", levels);
  }
  return cst__array_flatten(array, levels, values, parents, error);
}

cst_status cst_array_from_parents(const cst_array *values, const cst_array *parents,
                                  int64_t num_rows, bool empty_as_null, cst_array **out,
                                  cst_error *error) {
  CST__TRY(check(values, out, error));
  if (parents == NULL) {
    return cst__missing("parents", error);
  }
  if (num_rows < 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "%lld rows", (long long)num_rows);
  }
  return cst__array_from_parents(values, parents, num_rows, empty_as_null, out, error);
}

cst_status cst_array_coordinates(const cst_array *array, cst_array **out, int64_t *shape,
                                 size_t max_dims, size_t *num_dims, cst_error *error) {
  CST__TRY(check(array, out, error));
  if (shape == NULL || num_dims == NULL) {
    return cst__missing(shape == NULL ? "shape" : "num_dims", error);
  }
  return cst__array_coordinates(array, out, shape, max_dims, num_dims, error);
}

/* ---- nulls and sizes ---- */

cst_status cst_array_null_mask(const cst_array *array, cst_array **out, cst_error *error) {
  CST__TRY(check(array, out, error));
  return cst__array_null_mask(array, out, error);
}

cst_status cst_array_fill_null(const cst_array *array, const cst_array *fill, cst_array **out,
                               cst_error *error) {
  CST__TRY(check(array, out, error));
  if (fill == NULL) {
    return cst__missing("fill", error);
  }
  return cst__array_fill_null(array, fill, out, error);
}

cst_status cst_array_byte_size(const cst_array *array, int64_t *size, cst_error *error) {
  CST__TRY(check(array, size, error));
  return cst__array_byte_size(array, size, error);
}

cst_status cst_array_count_invalid_utf8(const cst_array *array, int64_t *count, cst_error *error) {
  CST__TRY(check(array, count, error));
  return cst__array_count_invalid_utf8(array, count, error);
}
