/* Integers and booleans of all layouts as plain numbers. */
#include "structured/indices.h"

#include <string.h>

#include "arrow/owned.h"

static int64_t integer_at(const cst__view *view, int64_t i) {
  if (cst__view_is_null(view, i)) {
    return CST__INDEX_NULL;
  }
  int64_t value = cst__view_int(view, i);
  if (view->dtype == CST_DTYPE_UINT64 && value < 0) {
    return INT64_MAX;
  }
  return value != CST__INDEX_NULL ? value : CST__INDEX_NULL + 1; /* as far out of range */
}

/* True if the values can be used where they lie. */
static bool is_plain_int64(const cst__view *view) {
  if (view->layout != CST__LAYOUT_NUMBER || view->dtype != CST_DTYPE_INT64 ||
      view->validity != NULL || view->length == 0) {
    return false;
  }
  const int64_t *values = (const int64_t *)view->data + view->offset;
  bool has_least = false;
  for (int64_t i = 0; i < view->length; i++) {
    has_least |= values[i] == CST__INDEX_NULL;
  }
  return !has_least;
}

static cst_status fill_integers(cst__indices *out, const cst__view *view, cst_error *error) {
  if (is_plain_int64(view)) {
    out->values = (const int64_t *)view->data + view->offset;
    return CST_OK;
  }
  int64_t *values = cst__levels_take(&out->levels, view->length, error);
  if (values == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0; i < view->length; i++) {
    values[i] = integer_at(view, i);
  }
  out->values = values;
  return CST_OK;
}

static cst_status fill_mask(cst__indices *out, const cst__view *view, cst_error *error) {
  uint8_t *mask = cst__arena_take(&out->levels.arena, (size_t)view->length + 1);
  uint8_t *nulls =
      view->validity != NULL ? cst__arena_take(&out->levels.arena, (size_t)view->length + 1) : NULL;
  if (mask == NULL || (view->validity != NULL && nulls == NULL)) {
    return cst__fail_memory(error, (size_t)view->length + 1);
  }
  cst__bits_to_bytes(view->data, view->offset, view->length, mask);
  if (nulls != NULL) {
    cst__bits_to_bytes(view->validity, view->offset, view->length, nulls);
    for (int64_t i = 0; i < view->length; i++) {
      mask[i] &= nulls[i];
      nulls[i] ^= 1;
    }
  }
  out->mask = mask;
  out->nulls = nulls;
  return CST_OK;
}

static cst_status fill_indices(cst__indices *out, const cst_structured *tensor, cst_error *error) {
  cst__view view;
  CST__TRY(cst__levels_rest(&out->levels, tensor, &out->elements, error));
  CST__TRY(cst__array_view(out->elements, &view, &out->levels.arena, error));
  out->count = view.length;
  if (view.layout == CST__LAYOUT_BOOL) {
    return fill_mask(out, &view, error);
  }
  if (view.layout == CST__LAYOUT_NULL ||
      (view.layout == CST__LAYOUT_NUMBER && view.dtype != CST_DTYPE_FLOAT32 &&
       view.dtype != CST_DTYPE_FLOAT64)) {
    return fill_integers(out, &view, error);
  }
  char type[64];
  cst__view_type_name(&view, type, sizeof type);
  return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                   "an index of type %s, instead of integers or booleans", type);
}

cst_status cst__indices_open(const cst_structured *tensor, cst__indices *out, cst_error *error) {
  *out = (cst__indices){.count = 0};
  CST__TRY(cst__levels_open(tensor, cst__structured_rank(tensor), &out->levels, error));
  cst_status status = fill_indices(out, tensor, error);
  if (status != CST_OK) {
    cst__indices_close(out);
  }
  return status;
}

/* Nothing but nulls as booleans. */
static cst_status fill_null_mask(cst__indices *out, cst_error *error) {
  size_t size = (size_t)out->count + 1;
  uint8_t *mask = cst__arena_take_zero(&out->levels.arena, size);
  uint8_t *nulls = cst__arena_take(&out->levels.arena, size);
  if (mask == NULL || nulls == NULL) {
    return cst__fail_memory(error, size);
  }
  memset(nulls, 1, size);
  out->mask = mask;
  out->nulls = nulls;
  return CST_OK;
}

cst_status cst__indices_open_mask(const cst_structured *tensor, cst__indices *out,
                                  cst_error *error) {
  const cst__view *view = cst__structured_elements(tensor);
  if (view->layout != CST__LAYOUT_BOOL && view->layout != CST__LAYOUT_NULL) {
    char type[64];
    cst__view_type_name(view, type, sizeof type);
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a mask of type %s, instead of booleans",
                     type);
  }
  CST__TRY(cst__indices_open(tensor, out, error));
  cst_status status = out->mask == NULL ? fill_null_mask(out, error) : CST_OK;
  if (status != CST_OK) {
    cst__indices_close(out);
  }
  return status;
}

void cst__indices_close(cst__indices *indices) {
  cst_array_release(indices->elements);
  cst__levels_close(&indices->levels);
}
