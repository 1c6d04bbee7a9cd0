/* Lists: lengths and flattening. */
#include <columnstone/array.h>

#include "arrow/owned.h"
#include "base/arguments.h"
#include "table/array.h"
#include "table/walk.h"

/* ---- lengths ---- */

static cst_status make_lengths(const cst_array *array, const cst__view *view, cst_array **out,
                               cst_error *error) {
  struct ArrowArray made;
  bool is_list = cst__view_is_list(view);
  if (!is_list && view->layout != CST__LAYOUT_BINARY && view->layout != CST__LAYOUT_BINARY_VIEW &&
      view->layout != CST__LAYOUT_FIXED_BINARY) {
    return cst__fail_type(view, "lists, strings or binary", error);
  }
  int64_t *lengths = cst__new_int64(&array->allocator, view->length, &made, error);
  if (lengths == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0; i < view->length; i++) { /* what the offsets of a null enclose is no length */
    if (is_list) {
      int64_t begin;
      int64_t end;
      cst__view_list(view, i, &begin, &end);
      lengths[i] = end - begin;
    } else {
      lengths[i] = (int64_t)cst__view_bytes(view, i).size;
    }
  }
  cst_status status = cst__copy_validity(view, &made, error);
  if (status != CST_OK) {
    cst__array_release(&made);
    return status;
  }
  return cst__int64_result(&array->allocator, &made, out, error);
}

cst_status cst_array_element_lengths(const cst_array *array, cst_array **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(array, "array", out, error));
  cst__walk walk;
  CST__TRY(cst__walk_begin(&walk, array, false, error));
  cst_status status = make_lengths(array, &walk.view, out, error);
  cst__walk_end(&walk);
  return status;
}

/* ---- flattening ---- */

cst_status cst_array_flatten(const cst_array *array, int levels, cst_array **values,
                             cst_array **parents, cst_error *error) {
  CST__CLEAR(values);
  CST__CLEAR(parents);
  CST__TRY(cst__check_given(array, "array", values, error));
  if (levels < -1) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "-1 stands for all", "%d list levels", levels);
  }
  cst__walk walk;
  cst_status status = CST_OK;
  CST__TRY(cst__walk_begin(&walk, array, parents != NULL, error));
  for (int i = 0;
       (levels < 0 || i < levels) && cst__view_is_list(walk.slots.view) && status == CST_OK; i++) {
    status = cst__walk_open(&walk, error);
  }
  if (status == CST_OK) {
    status = cst__walk_finish(&walk, values, parents, error);
  }
  cst__walk_end(&walk);
  return status;
}
