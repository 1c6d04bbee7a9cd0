/* Taking and filtering: rows that follow each other are a slice, without a copy; longer runs are
 * gathered as spans, anything else row by row.
 */
#include "table/rows.h"

#include "base/arguments.h"

/* The least and the largest number. */
static void rows_measure(const cst__chosen *rows, int64_t *least, int64_t *most) {
  *least = 0;
  *most = -1;
  for (int64_t i = 0; i < rows->count; i++) {
    *least = rows->at[i] < *least ? rows->at[i] : *least;
    *most = rows->at[i] > *most ? rows->at[i] : *most;
  }
}

/* -1 is a row of nulls, of a struct, with `is_batch`. */
static cst_status rows_choose(const cst_array *array, cst__chosen rows, bool is_batch,
                              cst_array **out, cst_error *error) {
  const cst__owner owner = cst__array_owner(array);
  struct ArrowArray made;
  cst__arena arena;
  cst__view view;
  cst__arena_init(&arena, &array->allocator);
  cst_status status = cst__array_view(array, &view, &arena, error);
  if (status == CST_OK) {
    status = cst__chosen_find_spans(&rows, &arena, error);
  }
  if (status == CST_OK) {
    status = cst__take(&owner, &view, &rows, is_batch, &made, error);
  }
  cst__arena_reset(&arena);
  return status == CST_OK ? cst__array_result(array, array->schema, &made, out, error) : status;
}

cst_status cst__array_choose(const cst_array *array, const cst__chosen *slots, cst_array **out,
                             cst_error *error) {
  cst__chosen chosen = *slots;
  int64_t least = 0;
  int64_t most;
  if (cst__chosen_is_run(slots)) {
    return cst_array_slice(array, slots->begin, slots->count, out, error);
  }
  if (slots->spans.begins == NULL) {
    rows_measure(slots, &least, &most);
  }
  chosen.has_null = least < 0;
  return rows_choose(array, chosen, false, out, error);
}

cst_status cst_array_take(const cst_array *array, const int64_t *rows, size_t num_rows,
                          cst_array **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(array, "array", out, error));
  if (rows == NULL && num_rows > 0) {
    return cst__missing("rows", error);
  }
  int64_t length = array->array.length;
  int64_t least;
  int64_t most;
  size_t at = 0;
  cst__chosen chosen = {.count = (int64_t)num_rows, .at = rows};
  if (num_rows == 0) {
    return cst_array_slice(array, 0, 0, out, error);
  }
  rows_measure(&chosen, &least, &most);
  chosen.has_null = least < 0;
  if (least >= -1 && most < length) {
    return rows_choose(array, chosen, true, out, error);
  }
  while (rows[at] >= -1 && rows[at] < length) {
    at++;
  }
  return cst__fail(error, CST_INVALID_ARGUMENT, "-1 stands for a row of nulls",
                   "row %lld (number %zu of the request), the array has %lld rows",
                   (long long)rows[at], at + 1, (long long)length);
}

/* ---- masks ---- */

static size_t count_chosen(const uint8_t *mask, size_t count) {
  size_t chosen = 0;
  for (size_t i = 0; i < count; i++) {
    chosen += mask[i] != 0;
  }
  return chosen;
}

cst_status cst_array_filter(const cst_array *array, const uint8_t *mask, cst_array **out,
                            cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(array, "array", out, error));
  size_t length = (size_t)array->array.length;
  if (mask == NULL && length > 0) {
    return cst__missing("mask", error);
  }
  size_t chosen = count_chosen(mask, length);
  size_t size = SIZE_MAX;
  int64_t *rows =
      cst__mul(chosen + 1, sizeof *rows, &size) ? cst__new(&array->allocator, size) : NULL;
  if (rows == NULL) {
    return cst__fail_memory(error, size);
  }
  /* Without branches, so that it costs the same for every mask; `rows` has room for one more. */
  size_t at = 0;
  for (size_t i = 0; i < length; i++) {
    rows[at] = (int64_t)i;
    at += mask[i] != 0;
  }
  cst_status status = cst_array_take(array, rows, chosen, out, error);
  cst__delete(rows);
  return status;
}
