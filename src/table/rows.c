/* Taking and filtering: which of three roads the rows go. One run of rows is a slice, without a
 * copy; long runs are concatenated; anything else is gathered.
 */
#include "table/rows.h"

#include "arrow/concat.h"
#include "arrow/owned.h"
#include "table/gather.h"

enum { LONG_RUN = 16 /* rows, on average, from which on runs are copied at once */ };

/* ---- looking at rows ---- */

static cst_status rows_check_rows(const int64_t *rows, size_t count, int64_t length, bool *has_null,
                                  cst_error *error) {
  int64_t least = 0;
  int64_t most = -1;
  for (size_t i = 0; i < count; i++) {
    least = rows[i] < least ? rows[i] : least;
    most = rows[i] > most ? rows[i] : most;
  }
  *has_null = least < 0;
  if (least >= -1 && most < length) {
    return CST_OK;
  }
  size_t at = 0;
  while (rows[at] >= -1 && rows[at] < length) {
    at++;
  }
  return cst__fail(error, CST_INVALID_ARGUMENT, "-1 stands for a row of nulls",
                   "row %lld, the %zu. that is asked for, of an array of %lld rows",
                   (long long)rows[at], at + 1, (long long)length);
}

/* Where a row does not follow the one before it. */
static size_t count_runs(const int64_t *rows, size_t count) {
  size_t runs = count > 0;
  for (size_t i = 1; i < count; i++) {
    runs += rows[i] != rows[i - 1] + 1;
  }
  return runs;
}

static void fill_runs(const int64_t *rows, size_t count, const cst__view *view, cst__piece *runs) {
  cst__piece *run = runs;
  for (size_t i = 0; i < count; i++) {
    if (i > 0 && rows[i] == rows[i - 1] + 1) {
      run->length++;
    } else {
      run = i > 0 ? run + 1 : run;
      *run = (cst__piece){view, rows[i], 1};
    }
  }
}

/* ---- the roads ---- */

static cst_status join_runs(const cst_array *array, const cst__view *view, const int64_t *rows,
                            size_t count, size_t num_runs, struct ArrowArray *out,
                            cst_error *error) {
  size_t size = num_runs * sizeof(cst__piece);
  cst__piece *runs = cst__new(&array->allocator, size);
  if (runs == NULL) {
    return cst__fail_memory(error, size);
  }
  fill_runs(rows, count, view, runs);
  cst_status status = cst__concat(array->schema, runs, num_runs, &array->allocator, out, error);
  cst__delete(runs);
  return status;
}

static cst_status copy_rows(const cst_array *array, const int64_t *rows, size_t count,
                            size_t num_runs, bool has_null, struct ArrowArray *out,
                            cst_error *error) {
  cst__arena arena;
  cst__view view;
  cst__arena_init(&arena, &array->allocator);
  cst_status status = cst__array_view(array, &view, &arena, error);
  if (status == CST_OK && !has_null && count / LONG_RUN >= num_runs) {
    status = join_runs(array, &view, rows, count, num_runs, out, error);
  } else if (status == CST_OK) {
    cst__node node = {array->schema, &array->array, &view};
    cst__chosen slots = {rows, (int64_t)count, has_null};
    status = cst__gather(array, &node, &slots, true, out, error);
  }
  cst__arena_reset(&arena);
  return status;
}

cst_status cst__array_take(const cst_array *array, const int64_t *rows, size_t num_rows,
                           cst_array **out, cst_error *error) {
  struct ArrowArray made;
  bool has_null;
  CST__TRY(rows_check_rows(rows, num_rows, array->array.length, &has_null, error));
  size_t num_runs = count_runs(rows, num_rows);
  if (num_runs <= 1 && !has_null) {
    return cst__array_slice(array, num_rows > 0 ? rows[0] : 0, (int64_t)num_rows, out, error);
  }
  CST__TRY(copy_rows(array, rows, num_rows, num_runs, has_null, &made, error));
  return cst__array_result(array, array->schema, &made, out, error);
}

/* ---- masks ---- */

static size_t count_chosen(const uint8_t *mask, size_t count) {
  size_t chosen = 0;
  for (size_t i = 0; i < count; i++) {
    chosen += mask[i] != 0;
  }
  return chosen;
}

/* Without branches, so that it costs the same for every mask; `rows` has room for one more. */
static void fill_chosen(const uint8_t *mask, size_t count, int64_t *rows) {
  size_t at = 0;
  for (size_t i = 0; i < count; i++) {
    rows[at] = (int64_t)i;
    at += mask[i] != 0;
  }
}

cst_status cst__array_filter(const cst_array *array, const uint8_t *mask, cst_array **out,
                             cst_error *error) {
  size_t length = (size_t)array->array.length;
  size_t chosen = count_chosen(mask, length);
  size_t size = SIZE_MAX;
  int64_t *rows =
      cst__mul(chosen + 1, sizeof *rows, &size) ? cst__new(&array->allocator, size) : NULL;
  if (rows == NULL) {
    return cst__fail_memory(error, size);
  }
  fill_chosen(mask, length, rows);
  cst_status status = cst__array_take(array, rows, chosen, out, error);
  cst__delete(rows);
  return status;
}
