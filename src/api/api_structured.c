/* <columnstone/structured.h>: argument checks. */
#include <columnstone/structured.h>

#include "base/arguments.h"
#include "structured/arrange.h"
#include "structured/elements.h"
#include "structured/path_text.h"
#include "structured/structured.h"
#include "structured/tensor_nulls.h"
#include "structured/tree.h"

/* ---- making and looking ---- */

static cst_status structured_check(const void *given, const char *name, const void *out,
                                   cst_error *error) {
  return given != NULL && out != NULL ? CST_OK : cst__missing(given == NULL ? name : "out", error);
}

cst_status cst_structured_new(const cst_array *array, bool is_row, cst_structured **out,
                              cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(array, "array", out, error));
  return cst__structured_new(array, is_row, out, error);
}

cst_structured *cst_structured_retain(const cst_structured *tensor) {
  return tensor != NULL ? cst__structured_retain(tensor) : NULL;
}

void cst_structured_release(cst_structured *tensor) { cst__structured_release(tensor); }

const cst_array *cst_structured_array(const cst_structured *tensor) {
  return tensor != NULL ? tensor->array : NULL;
}

bool cst_structured_is_row(const cst_structured *tensor) {
  return tensor != NULL && tensor->is_row;
}

bool cst_structured_is_struct(const cst_structured *tensor) {
  return tensor != NULL && tensor->is_struct;
}

size_t cst_structured_rank(const cst_structured *tensor) {
  return tensor != NULL ? cst__structured_rank(tensor) : 0;
}

cst_status cst_structured_shape(const cst_structured *tensor, int64_t *dims, cst_error *error) {
  CST__TRY(structured_check(tensor, "tensor", dims, error));
  return cst__structured_shape(tensor, dims, error);
}

cst_status cst_structured_row_splits(const cst_structured *tensor, size_t dimension,
                                     cst_array **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  return cst__structured_row_splits(tensor, dimension, out, error);
}

cst_status cst_structured_flat_values(const cst_structured *tensor, cst_structured **out,
                                      cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  return cst__structured_flat_values(tensor, out, error);
}

/* ---- fields ---- */

static cst_status structured_check_path(const cst_path *path, cst_error *error) {
  if (path == NULL || (path->steps == NULL && path->count > 0)) {
    return cst__missing("path", error);
  }
  for (size_t i = 0; i < path->count; i++) {
    if (path->steps[i] == NULL) {
      return cst__missing("path->steps[i]", error);
    }
  }
  return CST_OK;
}

static cst_status structured_check_paths(const cst_path *paths, size_t count, cst_error *error) {
  if (paths == NULL && count > 0) {
    return cst__missing("paths", error);
  }
  for (size_t i = 0; i < count; i++) {
    CST__TRY(structured_check_path(&paths[i], error));
  }
  return CST_OK;
}

cst_status cst_structured_field(const cst_structured *tensor, const cst_path *path,
                                cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  CST__TRY(structured_check_path(path, error));
  return cst__structured_field(tensor, path, out, error);
}

cst_status cst_structured_fields(const cst_structured *tensor, const char *const *names,
                                 const cst_path *paths, size_t count, cst_structured **out,
                                 cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  if (count > 0 && (names == NULL || paths == NULL)) {
    return cst__missing(names == NULL ? "names" : "paths", error);
  }
  for (size_t i = 0; i < count; i++) {
    if (names[i] == NULL) {
      return cst__missing("names[i]", error);
    }
    CST__TRY(structured_check_path(&paths[i], error));
  }
  return cst__structured_fields(tensor, names, paths, count, out, error);
}

cst_status cst_structured_update(const cst_structured *tensor, const cst_field_update *updates,
                                 size_t count, cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  if (updates == NULL && count > 0) {
    return cst__missing("updates", error);
  }
  for (size_t i = 0; i < count; i++) {
    CST__TRY(structured_check_path(&updates[i].path, error));
  }
  return cst__structured_update(tensor, updates, count, out, error);
}

cst_status cst_structured_only(const cst_structured *tensor, const cst_path *paths, size_t count,
                               cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  if (paths == NULL && count > 0) {
    return cst__missing("paths", error);
  }
  for (size_t i = 0; i < count; i++) {
    CST__TRY(structured_check_path(&paths[i], error));
  }
  return cst__structured_only(tensor, paths, count, out, error);
}

cst_status cst_structured_with_elements(const cst_structured *tensor, const cst_array *elements,
                                        cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  return elements != NULL ? cst__structured_with_elements(tensor, elements, out, error)
                          : cst__missing("elements", error);
}

static cst_status structured_transfer(const cst_structured *tensor, const cst_field_copy *copies,
                                      size_t count, cst__direction direction, cst_structured **out,
                                      cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  if (copies == NULL && count > 0) {
    return cst__missing("copies", error);
  }
  for (size_t i = 0; i < count; i++) {
    CST__TRY(structured_check_path(&copies[i].from, error));
    CST__TRY(structured_check_path(&copies[i].to, error));
  }
  return cst__structured_transfer(tensor, copies, count, direction, out, error);
}

cst_status cst_structured_promote(const cst_structured *tensor, const cst_field_copy *copies,
                                  size_t count, cst_structured **out, cst_error *error) {
  return structured_transfer(tensor, copies, count, CST__UP, out, error);
}

cst_status cst_structured_broadcast(const cst_structured *tensor, const cst_field_copy *copies,
                                    size_t count, cst_structured **out, cst_error *error) {
  return structured_transfer(tensor, copies, count, CST__DOWN, out, error);
}

cst_status cst_structured_promote_and_broadcast(const cst_structured *tensor,
                                                const cst_field_copy *copies, size_t count,
                                                cst_structured **out, cst_error *error) {
  return structured_transfer(tensor, copies, count, CST__UP_AND_DOWN, out, error);
}

/* ---- types ---- */

cst_status cst_path_parse(const struct ArrowSchema *type, const char *text, cst_path *out,
                          cst_error *error) {
  CST__CLEAR(out);
  if (type == NULL || text == NULL || out == NULL) {
    return cst__missing(type == NULL ? "type" : text == NULL ? "text" : "out", error);
  }
  return cst__path_parse(type, text, out, error);
}

cst_status cst_type_at(const struct ArrowSchema *type, const cst_path *path,
                       const struct ArrowSchema **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(type, "type", out, error));
  CST__TRY(structured_check_path(path, error));
  return cst__type_at(type, path, out, error);
}

cst_status cst_type_write_tree(const struct ArrowSchema *type, const cst_tree_options *options,
                               char **text, size_t *size, cst_error *error) {
  CST__CLEAR(text);
  CST__CLEAR(size);
  if (type == NULL || text == NULL) {
    return cst__missing(type == NULL ? "type" : "text", error);
  }
  cst_tree_options own = CST_TREE_OPTIONS_INIT;
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(cst__check_flags(own.flags, CST_TREE_ASCII | CST_TREE_JSON, error));
  return cst__type_write_tree(type, &own, text, size, error);
}

/* ---- whole dimensions ---- */

static cst_status structured_check_all(const cst_structured *const *tensors, size_t count,
                                       const void *out, cst_error *error) {
  if (tensors == NULL || out == NULL) {
    return cst__missing(out == NULL ? "out" : "tensors", error);
  }
  for (size_t i = 0; i < count; i++) {
    if (tensors[i] == NULL) {
      return cst__missing("tensors[i]", error);
    }
  }
  return count > 0 ? CST_OK : cst__fail(error, CST_INVALID_ARGUMENT, NULL, "no tensors at all");
}

cst_status cst_structured_concat(const cst_structured *const *tensors, size_t count, int axis,
                                 cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check_all(tensors, count, out, error));
  return cst__structured_concat(tensors, count, axis, out, error);
}

cst_status cst_structured_stack(const cst_structured *const *tensors, size_t count, int axis,
                                cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check_all(tensors, count, out, error));
  return cst__structured_stack(tensors, count, axis, out, error);
}

cst_status cst_structured_tile(const cst_structured *tensor, const int64_t *multiples,
                               cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  if (multiples == NULL && cst__structured_rank(tensor) > 0) {
    return cst__missing("multiples", error);
  }
  return cst__structured_tile(tensor, multiples, out, error);
}

cst_status cst_structured_expand_dims(const cst_structured *tensor, int axis, cst_structured **out,
                                      cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  return cst__structured_expand_dims(tensor, axis, out, error);
}

cst_status cst_structured_squeeze(const cst_structured *tensor, const int *axes, size_t count,
                                  cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  if (axes == NULL && count > 0) {
    return cst__missing("axes", error);
  }
  return cst__structured_squeeze(tensor, axes, count, out, error);
}

cst_status cst_structured_merge_dims(const cst_structured *tensor, int outer, int inner,
                                     cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  return cst__structured_merge_dims(tensor, outer, inner, out, error);
}

cst_status cst_structured_partition(const cst_structured *tensor, const int64_t *splits,
                                    size_t count, int64_t size, cst_structured **out,
                                    cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  return cst__structured_partition(tensor, splits, count, size, out, error);
}

cst_status cst_structured_row_lengths(const cst_structured *tensor, int axis, cst_structured **out,
                                      cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  return cst__structured_row_lengths(tensor, axis, out, error);
}

/* ---- values and nulls ---- */

cst_status cst_structured_like(const cst_structured *tensor, int value, cst_structured **out,
                               cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  if (value != 0 && value != 1) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a value of %d instead of 0 or 1", value);
  }
  return cst__structured_like(tensor, value, out, error);
}

cst_status cst_structured_test_null(const cst_structured *tensor, const cst_path *path,
                                    cst_null_test test, cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  CST__TRY(structured_check_path(path, error));
  if (test != CST_IS_NULL && test != CST_HAS) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "test %d", (int)test);
  }
  return cst__structured_test_null(tensor, path, test, out, error);
}

cst_status cst_structured_fill_null(const cst_structured *tensor, const cst_array *fill,
                                    cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  return fill != NULL ? cst__structured_fill_null(tensor, fill, out, error)
                      : cst__missing("fill", error);
}

cst_status cst_structured_fill_null_lists(const cst_structured *tensor, cst_structured **out,
                                          cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  return cst__structured_fill_null_lists(tensor, out, error);
}

cst_status cst_structured_drop_null(const cst_structured *tensor, const cst_path *path,
                                    cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  CST__TRY(structured_check_path(path, error));
  return cst__structured_drop_null(tensor, path, out, error);
}

/* ---- indexing ---- */

static cst_status structured_check_item(const cst_index_item *item, size_t i, cst_error *error) {
  switch (item->kind) {
    case CST_INDEX_NAME:
      return item->num_paths == 1 ? structured_check_paths(item->paths, 1, error)
                                  : cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                                              "item %zu is one name, not %zu", i, item->num_paths);
    case CST_INDEX_NAMES:
      return structured_check_paths(item->paths, item->num_paths, error);
    case CST_INDEX_SLICE:
      return item->step != 0 ? CST_OK
                             : cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                                         "item %zu is a slice with a step of 0", i);
    case CST_INDEX_ARRAY:
    case CST_INDEX_BY_ROW:
      return item->tensor != NULL ? CST_OK : cst__missing("items[i].tensor", error);
    case CST_INDEX_AT:
    case CST_INDEX_ELLIPSIS:
    case CST_INDEX_NEW_AXIS:
      return CST_OK;
  }
  return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "item %zu is of kind %d, which there is not",
                   i, (int)item->kind);
}

cst_status cst_structured_index(const cst_structured *tensor, const cst_index_item *items,
                                size_t count, cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  if (items == NULL && count > 0) {
    return cst__missing("items", error);
  }
  for (size_t i = 0; i < count; i++) {
    CST__TRY(structured_check_item(&items[i], i, error));
  }
  return cst__structured_index(tensor, items, count, out, error);
}

/* ---- choosing elements ---- */

static cst_status structured_check_two(const cst_structured *tensor, const cst_structured *other,
                                       const char *name, const void *out, cst_error *error) {
  CST__TRY(structured_check(tensor, "tensor", out, error));
  return other != NULL ? CST_OK : cst__missing(name, error);
}

cst_status cst_structured_gather(const cst_structured *tensor, const cst_structured *indices,
                                 int axis, int batch_dims, cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check_two(tensor, indices, "indices", out, error));
  return cst__structured_gather(tensor, indices, axis, batch_dims, out, error);
}

cst_status cst_structured_gather_nd(const cst_structured *tensor, const cst_structured *indices,
                                    int batch_dims, cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check_two(tensor, indices, "indices", out, error));
  return cst__structured_gather_nd(tensor, indices, batch_dims, out, error);
}

cst_status cst_structured_boolean_mask(const cst_structured *tensor, const cst_structured *mask,
                                       int axis, cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check_two(tensor, mask, "mask", out, error));
  return cst__structured_boolean_mask(tensor, mask, axis, out, error);
}

cst_status cst_structured_mask(const cst_structured *tensor, const cst_structured *condition,
                               cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check_two(tensor, condition, "condition", out, error));
  return cst__structured_mask(tensor, condition, out, error);
}

cst_status cst_structured_reverse(const cst_structured *tensor, const int *axes, size_t count,
                                  cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  if (axes == NULL && count > 0) {
    return cst__missing("axes", error);
  }
  return cst__structured_reverse(tensor, axes, count, out, error);
}

cst_status cst_structured_where(const cst_structured *condition, const cst_structured *x,
                                const cst_structured *y, cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(condition, "condition", out, error));
  if (x == NULL || y == NULL) {
    return cst__missing(x == NULL ? "x" : "y", error);
  }
  return cst__structured_where(condition, x, y, out, error);
}

cst_status cst_structured_true_places(const cst_structured *condition, cst_structured **out,
                                      cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(condition, "condition", out, error));
  return cst__structured_true_places(condition, out, error);
}
