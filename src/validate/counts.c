/* Counting rows and values, column by column. */
#include "validate/counts.h"

#include "nested/by_path.h"

typedef struct counted_column {
  cst_bytes key;
  uint64_t rows, values;
} counted_column;

typedef struct counting {
  cst__by_path columns; /* of counted_column */
  uint64_t num_rows;
} counting;

static cst_status counting_create(const void *plan, const cst_allocator *allocator, void **out,
                                  cst_error *error) {
  (void)plan;
  counting *made = cst__new_zero(allocator, sizeof *made);
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  cst__by_path_init(&made->columns, sizeof(counted_column), allocator);
  *out = made;
  return CST_OK;
}

static void counting_free(void *state) {
  counting *c = state;
  if (c != NULL) {
    cst__by_path_reset(&c->columns);
    cst__delete(c);
  }
}

/* ---- a batch ---- */

/* The values of the slots [begin, end): those of a list that is null are none, whatever lies under
 * it. */
static uint64_t count_column_values(const cst__view *v, int64_t begin, int64_t end) {
  if (v->layout == CST__LAYOUT_NULL || begin == end) {
    return 0;
  }
  if (!cst__view_is_list(v)) {
    return (uint64_t)(v->validity != NULL
                          ? cst__bitmap_count(v->validity, v->offset + begin, end - begin)
                          : end - begin);
  }
  uint64_t count = 0;
  for (int64_t at = begin; at < end; at++) { /* runs of lists, whose items are a run, too */
    int64_t first, last, ignored;
    if (v->null_count > 0 && cst__view_is_null(v, at)) {
      continue;
    }
    cst__view_list(v, at, &first, &last);
    while (at + 1 < end && (v->null_count == 0 || !cst__view_is_null(v, at + 1))) {
      at = v->null_count == 0 ? end - 1 : at + 1;
      cst__view_list(v, at, &ignored, &last);
    }
    count += count_column_values(&v->children[0], first, last);
  }
  return count;
}

/* The rows of a column that are there, in runs. */
static void count_column_rows(counted_column *counted, const cst__view *column,
                              const cst__mask *above) {
  const cst__slots slots = {.view = column, .mask = above};
  bool lacks = cst__slots_may_be_null(&slots);
  int64_t at = 0;
  while (at < column->length) {
    int64_t end = lacks ? at : column->length;
    while (lacks && end < column->length && !cst__slots_hide(&slots, end)) {
      end++;
    }
    counted->rows = cst__count_sum(counted->rows, (uint64_t)(end - at));
    counted->values = cst__count_sum(counted->values, count_column_values(column, at, end));
    at = end + 1;
  }
}

static bool make_counted(void *ctx, cst_bytes key, const cst__view *column,
                         const cst__mask *above) {
  (void)column;
  (void)above;
  return cst__by_path_need(ctx, key) != NULL;
}

static bool count_column(void *ctx, cst_bytes key, const cst__view *column,
                         const cst__mask *above) {
  counted_column *counted = cst__by_path_need(ctx, key);
  if (counted != NULL) {
    count_column_rows(counted, column, above);
  }
  return counted != NULL;
}

/* All columns are there before one is counted: a failure leaves the state as it was. */
static cst_status counting_add(void *state, const cst__view *batch, const cst__origin *origin,
                               cst_error *error) {
  counting *c = state;
  const cst__column_walk make = {NULL, make_counted, &c->columns};
  const cst__column_walk count = {NULL, count_column, &c->columns};
  (void)origin;
  CST__TRY(cst__walk_columns(&make, batch, error));
  CST__TRY(cst__walk_columns(&count, batch, error));
  c->num_rows = cst__count_sum(c->num_rows, (uint64_t)batch->length);
  return CST_OK;
}

/* ---- merging and saving ---- */

static cst_status counting_merge(void *into, const void *other, cst_error *error) {
  counting *c = into;
  const counting *from = other;
  for (size_t i = 0; i < from->columns.count; i++) {
    const counted_column *theirs = cst__by_path_at(&from->columns, i);
    counted_column *mine = cst__by_path_need(&c->columns, theirs->key);
    if (mine == NULL) {
      return cst__fail_memory(error, theirs->key.size);
    }
    mine->rows = cst__count_sum(mine->rows, theirs->rows);
    mine->values = cst__count_sum(mine->values, theirs->values);
  }
  c->num_rows = cst__count_sum(c->num_rows, from->num_rows);
  return CST_OK;
}

static void counting_archive(void *state, cst__archive *a) {
  counting *c = state;
  size_t count;
  cst__archive_u64(a, &c->num_rows);
  cst__by_path_archive_count(&c->columns, a, &count);
  for (size_t i = 0; i < count && !a->bad; i++) {
    counted_column *column = cst__by_path_archive_key(&c->columns, a, i);
    if (column == NULL) {
      return;
    }
    cst__archive_u64(a, &column->rows);
    cst__archive_u64(a, &column->values);
    cst__archive_check(a, column->rows <= c->num_rows);
  }
}

/* ---- the result ---- */

static cst_status counting_finish(const void *state, cst_findings **out, cst_error *error) {
  static const cst__finding_column columns[] = {CST__TEXT("path"), CST__NUMBER("rows"),
                                                CST__NUMBER("values")};
  static const cst__finding_type type = {"columns", columns, 3};
  const counting *c = state;
  cst_findings *found;
  cst__arena arena;
  CST__TRY(cst__findings_new(&type, &c->columns.allocator, &found, error));
  cst__put_total(found, "num_rows", c->num_rows);
  cst__arena_init(&arena, &c->columns.allocator);
  void **sorted = cst__by_path_sort(&c->columns, &arena);
  for (size_t i = 0; sorted != NULL && i < c->columns.count; i++) {
    const counted_column *column = sorted[i];
    cst__put_path(found, column->key);
    cst__put_number(found, column->rows);
    cst__put_number(found, column->values);
  }
  bool ok = sorted != NULL;
  cst__arena_reset(&arena);
  if (!ok) {
    cst_findings_free(found);
    return cst__fail_memory(error, c->columns.count * sizeof(void *));
  }
  return cst__findings_finish(found, out, error);
}

const cst__accumulator cst__counts_accumulator = {
    .name = "counts",
    .version = 1,
    .purpose = "count",
    .summary = "numbers of rows and, per column, of rows with a value and of values",
    .create = counting_create,
    .free = counting_free,
    .add = counting_add,
    .merge = counting_merge,
    .archive = counting_archive,
    .finish = counting_finish};
