/* Which rows are in which slices: the values of each column as texts, all combinations of those of
 * a row as keys, and the rows of each key as spans.
 */
#include "statistics/slices.h"

#include <stdio.h>

#include "nested/by_path.h"
#include "statistics/column_values.h"
#include "text/number.h"

/* ---- a column as texts ---- */

typedef struct by_column {
  const char *name;
  cst__column_values values;
  cst_bytes *texts; /* of each value */
} by_column;

static size_t print_value(const cst__column_values *values, int64_t i, char *to) {
  switch (values->family) {
    case CST__FAMILY_UINT:
      return cst__print_uint64(to, ((const uint64_t *)values->items)[i]);
    case CST__FAMILY_FLOAT:
      return cst__print_float64(to, ((const double *)values->items)[i], CST__FLOAT_PYTHON);
    default:
      break;
  }
  const int64_t value = ((const int64_t *)values->items)[i];
  if (values->is_bool) {
    return (size_t)snprintf(to, CST__NUMBER_SIZE, "%s", value != 0 ? "true" : "false");
  }
  return cst__print_int64(to, value);
}

/* Prints the values as texts; strings and bytes are texts. */
static cst_status make_texts(by_column *column, cst__arena *arena, cst_error *error) {
  const cst__column_values *values = &column->values;
  if (values->family == CST__FAMILY_BYTES) {
    column->texts = values->items;
    return CST_OK;
  }
  column->texts = cst__arena_take_items(arena, values->count, sizeof *column->texts);
  if (column->texts == NULL) {
    return cst__fail_memory(error, (size_t)values->count);
  }
  for (int64_t i = 0; i < values->count; i++) {
    char room[CST__NUMBER_SIZE];
    const size_t size = print_value(values, i, room);
    column->texts[i] = (cst_bytes){(const uint8_t *)cst__arena_copy(arena, room, size), size};
    if (column->texts[i].data == NULL) {
      return cst__fail_memory(error, size);
    }
  }
  return CST_OK;
}

/* ---- keys ---- */

typedef struct row_in_slice {
  size_t slice;
  int64_t row;
} row_in_slice;

typedef struct slicing {
  const by_column *columns;
  size_t num_columns;
  cst__arena *arena;
  cst__name_map keys; /* of `slices` */
  cst_bytes *slices;
  size_t num_slices, slices_capacity;
  row_in_slice *rows;
  size_t num_rows, rows_capacity;
  cst__text key;
} slicing;

/* The number of a slice; SIZE_MAX: no memory. */
static size_t need_slice(slicing *s) {
  size_t at = cst__name_map_find(&s->keys, s->key.data, s->key.size);
  if (at != SIZE_MAX) {
    return at;
  }
  void *slices = s->slices;
  const char *copy = cst__arena_copy(s->arena, s->key.data, s->key.size);
  bool ok = copy != NULL && cst__grow(&s->arena->allocator, &slices, &s->slices_capacity,
                                      s->num_slices + 1, sizeof *s->slices);
  s->slices = slices;
  if (!ok || !cst__name_map_add(&s->keys, copy, s->key.size, s->num_slices)) {
    return SIZE_MAX;
  }
  s->slices[s->num_slices] = (cst_bytes){(const uint8_t *)copy, s->key.size};
  return s->num_slices++;
}

/* Puts a row into the slice of the key that is there. False: no memory. */
static bool put_row(slicing *s, int64_t row) {
  size_t slice = s->key.failed ? SIZE_MAX : need_slice(s);
  void *rows = s->rows;
  bool ok = slice != SIZE_MAX && cst__grow(&s->arena->allocator, &rows, &s->rows_capacity,
                                           s->num_rows + 1, sizeof *s->rows);
  s->rows = rows;
  if (ok) {
    s->rows[s->num_rows++] = (row_in_slice){slice, row};
  }
  return ok;
}

/* All combinations of the row's values of the columns from `column` on. */
static bool combine(slicing *s, size_t column, int64_t row) {
  if (column == s->num_columns) {
    return put_row(s, row);
  }
  const by_column *by = &s->columns[column];
  const size_t before = s->key.size;
  bool ok = true;
  for (int64_t i = by->values.splits[row]; i < by->values.splits[row + 1] && ok; i++) {
    const cst_bytes text = by->texts[i];
    s->key.size = before;
    for (size_t at = 0; at < text.size;) { /* a NUL would end the text */
      const uint8_t *nul = memchr(text.data + at, '\0', text.size - at);
      size_t size = nul != NULL ? (size_t)(nul - text.data) - at : text.size - at;
      cst__text_append(&s->key, text.data + at, size);
      cst__text_append(&s->key, " ", nul != NULL);
      at += size + (nul != NULL);
    }
    cst__text_append(&s->key, "", 1);
    ok = combine(s, column + 1, row);
  }
  s->key.size = before;
  return ok;
}

static cst_status check_row(const slicing *s, int64_t row, cst_error *error) {
  int64_t number = 1;
  for (size_t i = 0; i < s->num_columns; i++) {
    const int64_t *splits = s->columns[i].values.splits;
    if (__builtin_mul_overflow(number, splits[row + 1] - splits[row], &number) ||
        number > CST__SLICES_OF_ROW) {
      cst_status status =
          cst__fail(error, CST_LIMIT, "slice by features with fewer values in a row",
                    "row %lld is in more than %d slices", (long long)row, CST__SLICES_OF_ROW);
      cst__error_add_path(error, s->columns[i].name, strlen(s->columns[i].name));
      return status;
    }
  }
  return CST_OK;
}

/* Before anything is made of values, of which hostile data may have very many. */
static cst_status check_rows(const slicing *s, int64_t num_rows, cst_error *error) {
  for (int64_t row = 0, end = 0; row < num_rows;) {
    CST__TRY(cst__next_stretch(&end, num_rows, error));
    for (; row < end; row++) {
      CST__TRY(check_row(s, row, error));
    }
  }
  return CST_OK;
}

static cst_status put_rows(slicing *s, int64_t num_rows, cst_error *error) {
  for (int64_t row = 0, end = 0; row < num_rows;) {
    CST__TRY(cst__next_stretch(&end, num_rows, error));
    for (; row < end; row++) {
      if (!combine(s, 0, row)) {
        return cst__fail_memory(error, s->num_rows * sizeof *s->rows);
      }
    }
  }
  return CST_OK;
}

/* ---- spans ---- */

/* The rows of one slice, which rise and may come twice. */
static cst_status make_spans(const int64_t *rows, size_t count, cst__arena *arena, cst__chosen *out,
                             cst_error *error) {
  int64_t *begins = cst__numbers_new(arena, (int64_t)count, error);
  int64_t *ends = cst__numbers_new(arena, (int64_t)count + 1, error);
  int64_t spans = 0;
  int64_t total = 0;
  if (begins == NULL || ends == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < count; i++) {
    if (i > 0 && rows[i] == rows[i - 1]) {
      continue;
    }
    if (i == 0 || rows[i] != rows[i - 1] + 1) {
      ends[spans] = total;
      begins[spans++] = rows[i];
    }
    total++;
  }
  ends[spans] = total;
  *out = (cst__chosen){.count = total, .spans = {begins, ends, spans, 1}};
  return CST_OK;
}

/* Sorts the rows by their slices, and makes spans of them. */
static cst_status make_slices(const slicing *s, cst__slices_found *out, cst_error *error) {
  int64_t *begins = cst__numbers_new(s->arena, (int64_t)s->num_slices + 1, error);
  int64_t *rows = cst__numbers_new(s->arena, (int64_t)s->num_rows, error);
  out->items = cst__arena_take_items(s->arena, (int64_t)s->num_slices, sizeof *out->items);
  if (begins == NULL || rows == NULL || out->items == NULL) {
    return cst__fail_memory(error, s->num_rows * sizeof *rows);
  }
  memset(begins, 0, (s->num_slices + 1) * sizeof *begins);
  for (size_t i = 0; i < s->num_rows; i++) {
    begins[s->rows[i].slice + 1]++;
  }
  for (size_t i = 0; i < s->num_slices; i++) {
    begins[i + 1] += begins[i];
  }
  for (size_t i = 0; i < s->num_rows; i++) {
    rows[begins[s->rows[i].slice]++] = s->rows[i].row; /* each then is where the next begins */
  }
  for (size_t i = 0; i < s->num_slices; i++) {
    const int64_t begin = i > 0 ? begins[i - 1] : 0;
    out->items[i].key = s->slices[i];
    CST__TRY(make_spans(rows + begin, (size_t)(begins[i] - begin), s->arena, &out->items[i].rows,
                        error));
  }
  out->count = s->num_slices;
  return CST_OK;
}

cst_status cst__slices_find(const cst__view *batch, const char *const *by, size_t num_by,
                            cst__arena *arena, cst__slices_found *out, cst_error *error) {
  by_column *columns = cst__arena_take_items(arena, (int64_t)num_by, sizeof *columns);
  *out = (cst__slices_found){NULL, 0};
  if (columns == NULL) {
    return cst__fail_memory(error, num_by * sizeof *columns);
  }
  for (size_t i = 0; i < num_by; i++) {
    const cst__view *view = cst__column_find(batch, by[i]);
    columns[i] = (by_column){.name = by[i]};
    if (view == NULL) { /* null in all rows */
      return CST_OK;
    }
    cst_status status = cst__column_values_read(view, arena, &columns[i].values, error);
    if (status != CST_OK) {
      cst__error_add_path(error, by[i], strlen(by[i]));
      return status;
    }
  }
  slicing s = {.columns = columns, .num_columns = num_by, .arena = arena};
  s.key.allocator = arena->allocator;
  CST__TRY(check_rows(&s, batch->length, error));
  for (size_t i = 0; i < num_by; i++) {
    CST__TRY(make_texts(&columns[i], arena, error));
  }
  cst_status status = put_rows(&s, batch->length, error);
  if (status == CST_OK) {
    status = make_slices(&s, out, error);
  }
  cst__name_map_reset(&s.keys);
  cst__text_free(&s.key);
  cst__delete(s.slices);
  cst__delete(s.rows);
  return status;
}
