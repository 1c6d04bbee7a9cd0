/* Lists: lengths, flattening and its inverse. */
#include "table/lists.h"

#include "arrow/owned.h"
#include "table/runs.h"

/* ---- lengths ---- */

static bool has_lengths(const cst__view *view) {
  return cst__view_is_list(view) || view->layout == CST__LAYOUT_BINARY ||
         view->layout == CST__LAYOUT_BINARY_VIEW || view->layout == CST__LAYOUT_FIXED_BINARY;
}

/* What a null slot has behind it does not count: its length is 0. */
static void fill_lengths(const cst__view *view, int64_t *lengths) {
  bool is_list = cst__view_is_list(view);
  for (int64_t i = 0; i < view->length; i++) {
    if (is_list) {
      int64_t begin;
      int64_t end;
      cst__view_list(view, i, &begin, &end);
      lengths[i] = end - begin;
    } else {
      lengths[i] = (int64_t)cst__view_bytes(view, i).size;
    }
  }
}

static cst_status copy_validity(const cst__view *view, struct ArrowArray *out, cst_error *error) {
  if (view->validity == NULL) {
    return CST_OK;
  }
  size_t size = cst__bits_size(view->length);
  uint8_t *bits = cst__owned_buffer(out, 0, size);
  if (bits == NULL) {
    return cst__fail_memory(error, size);
  }
  memset(bits, 0, size);
  cst__bits_copy(bits, 0, view->validity, view->offset, view->length);
  out->null_count = view->null_count;
  return CST_OK;
}

static cst_status make_lengths(const cst_array *array, const cst__view *view, cst_array **out,
                               cst_error *error) {
  struct ArrowArray made;
  if (!has_lengths(view)) {
    return cst__fail_type(view, "lists, strings or binary", error);
  }
  int64_t *lengths = cst__new_int64(&array->allocator, view->length, &made, error);
  if (lengths == NULL) {
    return CST_NO_MEMORY;
  }
  fill_lengths(view, lengths);
  cst_status status = copy_validity(view, &made, error);
  if (status != CST_OK) {
    cst__array_release(&made);
    return status;
  }
  return cst__int64_result(&array->allocator, &made, out, error);
}

cst_status cst__array_element_lengths(const cst_array *array, cst_array **out, cst_error *error) {
  cst__walk walk;
  CST__TRY(cst__walk_begin(&walk, array, error));
  cst_status status = make_lengths(array, &walk.view, out, error);
  cst__walk_end(&walk);
  return status;
}

/* ---- flattening ---- */

/* Splits from the rows to the items of all levels; NULL if there was no list. */
static cst_status open_levels(cst__walk *walk, int levels, bool with_splits, int64_t **splits,
                              cst_error *error) {
  cst__runs *runs = &walk->runs;
  *splits = NULL;
  for (int i = 0; (levels < 0 || i < levels) && cst__view_is_list(runs->node.view); i++) {
    int64_t *own = NULL;
    CST__TRY(cst__runs_open(runs, with_splits ? &own : NULL, error));
    if (*splits == NULL) {
      *splits = own;
    } else {
      cst__splits_compose(*splits, walk->view.length, own);
    }
  }
  return CST_OK;
}

static cst_status count_rows(const cst_array *root, cst_array **out, cst_error *error) {
  struct ArrowArray made;
  int64_t *rows = cst__new_int64(&root->allocator, root->array.length, &made, error);
  if (rows == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0; i < root->array.length; i++) {
    rows[i] = i;
  }
  return cst__int64_result(&root->allocator, &made, out, error);
}

cst_status cst__walk_finish(const cst__walk *walk, const int64_t *splits, cst_array **out,
                            cst_array **rows, cst_error *error) {
  cst_array *values;
  CST__TRY(cst__walk_result(walk, &values, error));
  if (rows != NULL) {
    cst_status status =
        splits != NULL ? cst__parents_of(walk->root, splits, walk->view.length, rows, error)
                       : count_rows(walk->root, rows, error);
    if (status != CST_OK) {
      cst__array_handle_release(values);
      return status;
    }
  }
  *out = values;
  return CST_OK;
}

cst_status cst__array_flatten(const cst_array *array, int levels, cst_array **values,
                              cst_array **parents, cst_error *error) {
  cst__walk walk;
  int64_t *splits;
  CST__TRY(cst__walk_begin(&walk, array, error));
  cst_status status = open_levels(&walk, levels, parents != NULL, &splits, error);
  if (status == CST_OK) {
    status = cst__walk_finish(&walk, splits, values, parents, error);
  }
  cst__walk_end(&walk);
  return status;
}
