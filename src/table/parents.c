/* Lists from their values and the row of each: the inverse of flattening. */
#include <columnstone/array.h>

#include "arrow/owned.h"
#include "base/arguments.h"
#include "table/array.h"
#include "table/walk.h"

/* ---- parents ---- */

/* The i-th parent; INT64_MAX for what 64 bits with a sign do not hold. */
static int64_t parent_at(const cst__view *view, int64_t i) {
  int64_t at = view->offset + i;
  switch (view->dtype) {
    case CST_DTYPE_INT8:
      return ((const int8_t *)view->data)[at];
    case CST_DTYPE_INT16:
      return ((const int16_t *)view->data)[at];
    case CST_DTYPE_INT32:
      return ((const int32_t *)view->data)[at];
    case CST_DTYPE_UINT8:
      return ((const uint8_t *)view->data)[at];
    case CST_DTYPE_UINT16:
      return ((const uint16_t *)view->data)[at];
    case CST_DTYPE_UINT32:
      return ((const uint32_t *)view->data)[at];
    case CST_DTYPE_UINT64: {
      uint64_t value = ((const uint64_t *)view->data)[at];
      return value < INT64_MAX ? (int64_t)value : INT64_MAX;
    }
    default:
      return ((const int64_t *)view->data)[at];
  }
}

static cst_status check_parents(const cst__view *view, int64_t num_values, cst_error *error) {
  bool is_integer = view->layout == CST__LAYOUT_NUMBER && view->dtype != CST_DTYPE_FLOAT32 &&
                    view->dtype != CST_DTYPE_FLOAT64;
  bool is_nothing = view->layout == CST__LAYOUT_NULL && view->length == 0;
  if (!is_integer && !is_nothing) {
    return cst__fail_type(view, "integers, the parents", error);
  }
  if (view->length != num_values) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "%lld parents for %lld values instead of one for each",
                     (long long)view->length, (long long)num_values);
  }
  if (view->null_count > 0) {
    int64_t at = 0;
    while (!cst__view_is_null(view, at)) {
      at++;
    }
    cst__fail(error, CST_INVALID_ARGUMENT, NULL, "the parent of value %lld is null", (long long)at);
    cst__error_add_record(error, at, -1);
    return CST_INVALID_ARGUMENT;
  }
  return CST_OK;
}

static cst_status fail_parent(int64_t i, int64_t parent, int64_t before, int64_t num_rows,
                              cst_error *error) {
  if (parent < 0) {
    cst__fail(error, CST_INVALID_ARGUMENT, NULL, "the parent of value %lld is negative",
              (long long)i);
  } else if (parent >= num_rows) {
    cst__fail(error, CST_INVALID_ARGUMENT, "give the number of rows that the parents count",
              "the parent of value %lld is %lld, but there are %lld rows", (long long)i,
              (long long)parent, (long long)num_rows);
  } else {
    cst__fail(error, CST_INVALID_ARGUMENT, "sort the values by their parents",
              "the parent of value %lld is %lld, after a parent of %lld", (long long)i,
              (long long)parent, (long long)before);
  }
  cst__error_add_record(error, i, -1);
  return CST_INVALID_ARGUMENT;
}

/* ---- lists ---- */

static cst_status make_lists(const cst_array *values, const cst__view *parents, int64_t num_rows,
                             bool empty_as_null, struct ArrowArray *out, cst_error *error) {
  size_t bytes = SIZE_MAX;
  int64_t *offsets = num_rows < INT64_MAX && cst__mul((size_t)num_rows + 1, sizeof *offsets, &bytes)
                         ? cst__owned_buffer(out, 1, bytes)
                         : NULL;
  if (offsets == NULL) {
    return cst__fail_memory(error, bytes);
  }
  out->length = num_rows;
  /* The offsets of the rows, checking every parent. */
  int64_t row = 0;
  offsets[0] = 0;
  for (int64_t i = 0; i < parents->length; i++) {
    int64_t parent = parent_at(parents, i);
    if (parent < row || parent >= num_rows) {
      return fail_parent(i, parent, row, num_rows, error);
    }
    while (row < parent) {
      offsets[++row] = i;
    }
  }
  while (row < num_rows) {
    offsets[++row] = parents->length;
  }
  if (empty_as_null) {
    size_t size = cst__bits_size(out->length);
    uint8_t *bits = cst__owned_buffer(out, 0, size);
    if (bits == NULL) {
      return cst__fail_memory(error, size);
    }
    memset(bits, 0, size);
    for (int64_t i = 0; i < out->length; i++) {
      bool is_full = offsets[i] < offsets[i + 1];
      bits[i >> 3] = (uint8_t)(bits[i >> 3] | (unsigned)is_full << (i & 7));
      out->null_count += !is_full;
    }
  }
  return cst_array_export(values, out->children[0], error);
}

cst_status cst_array_from_parents(const cst_array *values, const cst_array *parents,
                                  int64_t num_rows, bool empty_as_null, cst_array **out,
                                  cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(values, "array", out, error));
  if (parents == NULL) {
    return cst__missing("parents", error);
  }
  if (num_rows < 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "%lld rows", (long long)num_rows);
  }
  cst__walk walk;
  struct ArrowArray made = {0};
  CST__TRY(cst__walk_begin(&walk, parents, false, error));
  cst_status status = check_parents(&walk.view, values->array.length, error);
  if (status == CST_OK) {
    status = cst__owned_new(&values->allocator, 2, 1, false, &made, error);
  }
  if (status == CST_OK) {
    status = make_lists(values, &walk.view, num_rows, empty_as_null, &made, error);
  }
  cst__walk_end(&walk);
  if (status != CST_OK) {
    cst__array_release(&made);
    return status;
  }
  struct ArrowSchema item = *values->schema;
  const struct ArrowSchema *items[] = {&item};
  item.name = "item";
  item.flags |= ARROW_FLAG_NULLABLE;
  struct ArrowSchema schema = cst__array_type_field("+L", "", items, 1);
  return cst__array_result_as(&values->allocator, &schema, &made, out, error);
}
