/* The handle: making it of an array, counting its owners, and the view of its elements. */
#include "structured/structured.h"

#include "base/arguments.h"

cst_status cst__structured_result(cst_array *array, bool is_row, cst_structured **out,
                                  cst_error *error) {
  cst_structured *made = cst__new_zero(&array->allocator, sizeof *made);
  if (made == NULL) {
    cst_array_release(array);
    return cst__fail_memory(error, sizeof *made);
  }
  cst__refcount_init(&made->owners);
  made->is_row = is_row;
  made->array = array;
  cst__arena_init(&made->arena, &array->allocator);
  cst_status status = cst__array_view(array, &made->view, &made->arena, error);
  if (status != CST_OK) {
    cst_structured_release(made);
    return status;
  }
  const cst__view *view = &made->view;
  for (; cst__view_is_list(view); view = view->children) {
    made->num_lists++;
  }
  made->is_struct = view->layout == CST__LAYOUT_STRUCT;
  *out = made;
  return CST_OK;
}

cst_status cst_structured_new(const cst_array *array, bool is_row, cst_structured **out,
                              cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(array, "array", out, error));
  if (is_row && array->array.length != 1) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "a tensor that is one row, of an array of %lld rows",
                     (long long)array->array.length);
  }
  return cst__structured_result(cst_array_retain(array), is_row, out, error);
}

cst_structured *cst_structured_retain(const cst_structured *tensor) {
  if (tensor == NULL) {
    return NULL;
  }
  cst_structured *handle = (cst_structured *)(uintptr_t)tensor;
  cst__refcount_up(&handle->owners);
  return handle;
}

void cst_structured_release(cst_structured *tensor) {
  if (tensor != NULL && cst__refcount_down(&tensor->owners)) {
    cst__arena_reset(&tensor->arena);
    cst_array_release(tensor->array);
    cst__delete(tensor);
  }
}

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

const cst__view *cst__structured_elements(const cst_structured *tensor) {
  const cst__view *view = &tensor->view;
  for (size_t i = 0; i < tensor->num_lists; i++) {
    view = view->children;
  }
  return view;
}
