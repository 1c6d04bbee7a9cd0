/* <columnstone/array.h>: argument checks. */
#include <columnstone/array.h>

#include "base/arguments.h"
#include "table/array.h"
#include "table/concat_arrays.h"
#include "table/group.h"
#include "table/lists.h"
#include "table/rows.h"

/* ---- the handle ---- */

cst_status cst_array_import(const struct ArrowSchema *schema, struct ArrowArray *array,
                            uint32_t flags, const cst_allocator *allocator, cst_array **out,
                            cst_error *error) {
  CST__CLEAR(out);
  if (schema == NULL || schema->release == NULL || array == NULL || array->release == NULL ||
      out == NULL) {
    return cst__missing(out == NULL                                 ? "out"
                        : schema == NULL || schema->release == NULL ? "schema"
                                                                    : "array",
                        error);
  }
  CST__TRY(cst__check_flags(flags, CST_ARRAY_TRUSTED, error));
  CST__TRY(cst__check_allocator(allocator, error));
  return cst__array_import(schema, array, (flags & CST_ARRAY_TRUSTED) != 0, allocator, out, error);
}

cst_array *cst_array_retain(const cst_array *array) {
  return array != NULL ? cst__array_retain(array) : NULL;
}

void cst_array_release(cst_array *array) { cst__array_handle_release(array); }

int64_t cst_array_length(const cst_array *array) { return array != NULL ? array->array.length : 0; }

const struct ArrowSchema *cst_array_schema(const cst_array *array) {
  return array != NULL ? array->schema : NULL;
}

static cst_status check_unary(const cst_array *array, const void *out, cst_error *error) {
  return array != NULL && out != NULL ? CST_OK
                                      : cst__missing(array == NULL ? "array" : "out", error);
}

cst_status cst_array_export(const cst_array *array, struct ArrowArray *out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(check_unary(array, out, error));
  return cst__array_export(array, out, error);
}

/* ---- rows ---- */

cst_status cst_array_slice(const cst_array *array, int64_t begin, int64_t length, cst_array **out,
                           cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(check_unary(array, out, error));
  return cst__array_slice(array, begin, length, out, error);
}

cst_status cst_array_take(const cst_array *array, const int64_t *rows, size_t num_rows,
                          cst_array **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(check_unary(array, out, error));
  if (rows == NULL && num_rows > 0) {
    return cst__missing("rows", error);
  }
  return cst__array_take(array, rows, num_rows, out, error);
}

cst_status cst_array_filter(const cst_array *array, const uint8_t *mask, cst_array **out,
                            cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(check_unary(array, out, error));
  if (mask == NULL && array->array.length > 0) {
    return cst__missing("mask", error);
  }
  return cst__array_filter(array, mask, out, error);
}

cst_status cst_array_concat(const cst_array *const *arrays, size_t num_arrays, cst_array **out,
                            cst_error *error) {
  CST__CLEAR(out);
  if (out == NULL || (arrays == NULL && num_arrays > 0)) {
    return cst__missing(out == NULL ? "out" : "arrays", error);
  }
  for (size_t i = 0; i < num_arrays; i++) {
    if (arrays[i] == NULL) {
      return cst__missing("arrays[i]", error);
    }
  }
  return cst__array_concat(arrays, num_arrays, out, error);
}

/* ---- columns ---- */

cst_status cst_array_column(const cst_array *array, const char *const *path, size_t num_steps,
                            cst_array **out, cst_array **rows, cst_error *error) {
  CST__CLEAR(out);
  CST__CLEAR(rows);
  CST__TRY(check_unary(array, out, error));
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
  CST__CLEAR(out);
  CST__TRY(check_unary(array, out, error));
  if (i < 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "column %lld", (long long)i);
  }
  return cst__array_child(array, i, out, error);
}

/* ---- lists ---- */

cst_status cst_array_element_lengths(const cst_array *array, cst_array **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(check_unary(array, out, error));
  return cst__array_element_lengths(array, out, error);
}

cst_status cst_array_flatten(const cst_array *array, int levels, cst_array **values,
                             cst_array **parents, cst_error *error) {
  CST__CLEAR(values);
  CST__CLEAR(parents);
  CST__TRY(check_unary(array, values, error));
  if (levels < -1) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "-1 stands for all", "%d list levels", levels);
  }
  return cst__array_flatten(array, levels, values, parents, error);
}

cst_status cst_array_from_parents(const cst_array *values, const cst_array *parents,
                                  int64_t num_rows, bool empty_as_null, cst_array **out,
                                  cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(check_unary(values, out, error));
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
  CST__CLEAR(out);
  CST__CLEAR(num_dims);
  CST__TRY(check_unary(array, out, error));
  if (shape == NULL || num_dims == NULL) {
    return cst__missing(shape == NULL ? "shape" : "num_dims", error);
  }
  return cst__array_coordinates(array, out, shape, max_dims, num_dims, error);
}

/* ---- nulls and sizes ---- */

cst_status cst_array_null_mask(const cst_array *array, cst_array **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(check_unary(array, out, error));
  return cst__array_null_mask(array, out, error);
}

cst_status cst_array_fill_null(const cst_array *array, const cst_array *fill, cst_array **out,
                               cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(check_unary(array, out, error));
  if (fill == NULL) {
    return cst__missing("fill", error);
  }
  return cst__array_fill_null(array, fill, out, error);
}

cst_status cst_array_byte_size(const cst_array *array, int64_t *size, cst_error *error) {
  CST__CLEAR(size);
  CST__TRY(check_unary(array, size, error));
  return cst__array_byte_size(array, size, error);
}

cst_status cst_array_count_invalid_utf8(const cst_array *array, int64_t *count, cst_error *error) {
  CST__CLEAR(count);
  CST__TRY(check_unary(array, count, error));
  return cst__array_count_invalid_utf8(array, count, error);
}

/* ---- groups ---- */

static cst_status check_paths(const char *const *const *paths, const size_t *num_steps,
                              size_t num_paths, cst_error *error) {
  if (num_paths > 0 && (paths == NULL || num_steps == NULL)) {
    return cst__missing(paths == NULL ? "paths" : "num_steps", error);
  }
  for (size_t i = 0; i < num_paths; i++) {
    if (paths[i] == NULL || num_steps[i] == 0) {
      return cst__missing("paths[i]", error);
    }
    for (size_t k = 0; k < num_steps[i]; k++) {
      if (paths[i][k] == NULL) {
        return cst__missing("paths[i][k]", error);
      }
    }
  }
  return CST_OK;
}

cst_status cst_array_group_by(const cst_array *batch, const char *const *const *paths,
                              const size_t *num_steps, size_t num_paths, cst_groups *out,
                              cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(check_unary(batch, out, error));
  CST__TRY(check_paths(paths, num_steps, num_paths, error));
  return cst__array_group_by(batch, paths, num_steps, num_paths, out, error);
}
