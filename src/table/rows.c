/* Taking and filtering: which of three roads the rows go. One run of rows is a slice, without a
 * copy; longer runs are gathered as spans, anything else row by row.
 */
#include "table/rows.h"

enum { LONG_RUN = 3 /* rows, on average, from which on runs are copied at once */ };

/* ---- looking at rows ---- */

typedef struct chosen_rows {
  const int64_t *rows; /* -1: a row of nulls */
  size_t count;
  bool has_null;
  bool is_batch;   /* -1 is a row of nulls, of a struct */
  size_t num_runs; /* where a row does not follow the one before it */
} chosen_rows;

static cst_status rows_check(chosen_rows *c, int64_t length, cst_error *error) {
  int64_t least = 0;
  int64_t most = -1;
  for (size_t i = 0; i < c->count; i++) {
    least = c->rows[i] < least ? c->rows[i] : least;
    most = c->rows[i] > most ? c->rows[i] : most;
  }
  c->has_null = least < 0;
  if (least >= -1 && most < length) {
    return CST_OK;
  }
  size_t at = 0;
  while (c->rows[at] >= -1 && c->rows[at] < length) {
    at++;
  }
  return cst__fail(error, CST_INVALID_ARGUMENT, "-1 stands for a row of nulls",
                   "row %lld, the %zu. that is asked for, of an array of %lld rows",
                   (long long)c->rows[at], at + 1, (long long)length);
}

static void rows_count_runs(chosen_rows *c) {
  c->num_runs = c->count > 0;
  for (size_t i = 1; i < c->count; i++) {
    c->num_runs += c->rows[i] != c->rows[i - 1] + 1;
  }
}

/* Without branches, which short runs would have guessed wrong: what may be the next run is noted
 * again and again. Both have room for one more than there are runs. */
static void rows_fill_runs(const chosen_rows *c, int64_t *begins, int64_t *ends) {
  size_t run = 0;
  begins[0] = c->rows[0];
  ends[0] = 0;
  for (size_t i = 1; i < c->count; i++) {
    begins[run + 1] = c->rows[i];
    ends[run + 1] = (int64_t)i;
    run += c->rows[i] != c->rows[i - 1] + 1;
  }
  ends[run + 1] = (int64_t)c->count;
}

/* ---- the roads ---- */

static cst_status rows_gather_runs(const cst_array *array, const cst__node *node,
                                   const chosen_rows *c, struct ArrowArray *out, cst_error *error) {
  size_t size = 2 * (c->num_runs + 1) * sizeof(int64_t);
  int64_t *begins = cst__new(&array->allocator, size);
  if (begins == NULL) {
    return cst__fail_memory(error, size);
  }
  int64_t *ends = begins + c->num_runs + 1;
  rows_fill_runs(c, begins, ends);
  const cst__spans runs = {begins, ends, (int64_t)c->num_runs, 1};
  cst_status status = cst__gather_spans(array, node, &runs, out, error);
  cst__delete(begins);
  return status;
}

static cst_status rows_copy(const cst_array *array, const chosen_rows *c, struct ArrowArray *out,
                            cst_error *error) {
  cst__arena arena;
  cst__view view;
  cst__arena_init(&arena, &array->allocator);
  cst_status status = cst__array_view(array, &view, &arena, error);
  const cst__node node = {array->schema, &array->array, &view};
  if (status == CST_OK && !c->has_null && c->count / LONG_RUN >= c->num_runs) {
    status = rows_gather_runs(array, &node, c, out, error);
  } else if (status == CST_OK) {
    cst__chosen slots = {c->rows, (int64_t)c->count, c->has_null};
    status = cst__gather(array, &node, &slots, c->is_batch, out, error);
  }
  cst__arena_reset(&arena);
  return status;
}

static cst_status rows_take(const cst_array *array, chosen_rows *c, cst_array **out,
                            cst_error *error) {
  struct ArrowArray made;
  CST__TRY(rows_check(c, array->array.length, error));
  rows_count_runs(c);
  if (c->num_runs <= 1 && !c->has_null) {
    return cst__array_slice(array, c->count > 0 ? c->rows[0] : 0, (int64_t)c->count, out, error);
  }
  CST__TRY(rows_copy(array, c, &made, error));
  return cst__array_result(array, array->schema, &made, out, error);
}

cst_status cst__array_take(const cst_array *array, const int64_t *rows, size_t num_rows,
                           cst_array **out, cst_error *error) {
  chosen_rows chosen = {.rows = rows, .count = num_rows, .is_batch = true};
  return rows_take(array, &chosen, out, error);
}

cst_status cst__array_take_slots(const cst_array *array, const int64_t *slots, size_t count,
                                 cst_array **out, cst_error *error) {
  chosen_rows chosen = {.rows = slots, .count = count};
  return rows_take(array, &chosen, out, error);
}

cst_status cst__array_take_spans(const cst_array *array, const cst__spans *spans, cst_array **out,
                                 cst_error *error) {
  cst__arena arena;
  cst__view view;
  struct ArrowArray made;
  if (spans->count == 1 && spans->step == 1) {
    return cst__array_slice(array, spans->begins[0], spans->ends[1], out, error);
  }
  cst__arena_init(&arena, &array->allocator);
  cst_status status = cst__array_view(array, &view, &arena, error);
  if (status == CST_OK) {
    const cst__node node = {array->schema, &array->array, &view};
    status = cst__gather_spans(array, &node, spans, &made, error);
  }
  cst__arena_reset(&arena);
  return status == CST_OK ? cst__array_result(array, array->schema, &made, out, error) : status;
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
