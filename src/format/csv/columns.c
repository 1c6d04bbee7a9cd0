/* Cells to columns: one column at a time over a run of rows, into recycled buffers.
 */
#include <string.h>

#include "arrow/view.h"
#include "base/utf8.h"
#include "format/csv/csv.h"

enum { MAX_NULL_FILL = 4 << 20 /* values that stand for null rows of a fixed shape */ };

/* One column of the batch that is being filled. */
typedef struct filling {
  const cst__csv_column *type;
  cst__column *to;
  size_t width;      /* bytes of a value; strings: 0 */
  size_t num_values; /* of lists; else the rows */
  size_t num_bytes;  /* of strings */
  size_t num_nulls;
  size_t checked; /* bits of the validity bitmap that are set up */
} filling;

struct cst__csv_builder {
  const cst__csv_plan *plan;
  cst__batch_pool *pool;
  cst__batch *batch; /* NULL between batches */
  filling *columns;
  filling *before; /* the columns in front of a run */
  size_t rows;
  uint8_t *scratch; /* a cell without doubled quotes */
  size_t scratch_size;
};

/* What an append of one column needs. */
typedef struct job {
  cst__csv_builder *builder;
  filling *column;
  const cst__csv_run *run;
  size_t source;
  uint32_t number; /* of the column, 1-based */
  cst__csv_misfit *misfits;
  size_t *num_misfits;
  cst_error *error;
} job;

static const uint8_t widths[CST__CSV_NUM_TYPES] = {
    [CST__CSV_BOOL] = 1,   [CST__CSV_INT8] = 1,    [CST__CSV_INT16] = 2,  [CST__CSV_INT32] = 4,
    [CST__CSV_INT64] = 8,  [CST__CSV_UINT8] = 1,   [CST__CSV_UINT16] = 2, [CST__CSV_UINT32] = 4,
    [CST__CSV_UINT64] = 8, [CST__CSV_FLOAT32] = 4, [CST__CSV_FLOAT64] = 8};

/* ---- values of a fixed width ---- */

static bool is_text(const uint8_t *text, size_t size, const char *word) {
  if (size != strlen(word)) {
    return false;
  }
  for (size_t i = 0; i < size; i++) {
    if ((text[i] | 0x20) != (uint8_t)word[i]) {
      return false;
    }
  }
  return true;
}

static bool put_bool(const uint8_t *text, size_t size, uint8_t *to) {
  bool is_true = (size == 1 && *text == '1') || is_text(text, size, "true");
  *to = is_true;
  return is_true || (size == 1 && *text == '0') || is_text(text, size, "false");
}

static bool put_int(const uint8_t *text, size_t size, size_t width, uint8_t *to) {
  int64_t value;
  if (!cst__csv_int64(text, size, &value)) {
    return false;
  }
  memcpy(to, &value, width); /* little-endian */
  int unused = 64 - 8 * (int)width;
  int64_t narrow = (int64_t)((uint64_t)value << unused) >> unused;
  return narrow == value;
}

static bool put_uint(const uint8_t *text, size_t size, size_t width, uint8_t *to) {
  uint64_t value;
  if (!cst__csv_uint64(text, size, &value)) {
    return false;
  }
  memcpy(to, &value, width);
  return width == 8 || value >> (8 * width) == 0;
}

/* False: the text is no value of the type. */
static inline bool put_value(cst__csv_type type, size_t width, const uint8_t *text, size_t size,
                             uint8_t *to) {
  if (type == CST__CSV_INT64) {
    return cst__csv_int64(text, size, (int64_t *)(void *)to);
  }
  if (type == CST__CSV_FLOAT64) {
    return cst__csv_float64(text, size, (double *)(void *)to);
  }
  if (type == CST__CSV_FLOAT32) {
    return cst__csv_float32(text, size, (float *)(void *)to);
  }
  if (type == CST__CSV_BOOL) {
    return put_bool(text, size, to);
  }
  return type < CST__CSV_UINT8 ? put_int(text, size, width, to) : put_uint(text, size, width, to);
}

/* ---- room ---- */

static bool is_bytes(const filling *f) { return f->type->type >= CST__CSV_STRING; }

static cst_status reserve_values(job *j, size_t values, size_t bytes) {
  const cst_allocator *a = &j->builder->plan->allocator;
  filling *f = j->column;
  size_t count = f->num_values + values;
  size_t total;
  bool ok = cst__mul(count + 1, f->width, &total);
  if (ok && is_bytes(f)) {
    ok = cst__add(f->num_bytes, bytes, &total) &&
         cst__buffer_reserve(a, &f->to->value_offsets, (count + 1) * 8, (f->num_values + 1) * 8);
  }
  size_t keep = is_bytes(f) ? f->num_bytes : f->num_values * f->width;
  if (!ok || !cst__buffer_reserve(a, &f->to->values, total, keep)) {
    return cst__fail_memory(j->error, total);
  }
  return CST_OK;
}

static size_t bytes_of_run(const job *j) {
  const cst__csv_cell *cell = j->run->cells + j->source;
  size_t bytes = 0;
  for (size_t row = 0; row < j->run->rows; row++, cell += j->run->width) {
    bytes += cell->size & CST__CSV_SIZE;
  }
  return bytes;
}

/* Nulls are rare: the bitmap is made with the first of them. */
static cst_status clear_valid(job *j, size_t row) {
  filling *f = j->column;
  if (row >= f->checked) {
    size_t bits = (j->builder->rows + j->run->rows + 512) & ~(size_t)511;
    if (!cst__buffer_reserve(&j->builder->plan->allocator, &f->to->validity, bits / 8,
                             f->checked / 8)) {
      return cst__fail_memory(j->error, bits / 8);
    }
    memset(f->to->validity.data + f->checked / 8, 0xff, (bits - f->checked) / 8);
    f->checked = bits;
  }
  f->to->validity.data[row >> 3] &= (uint8_t) ~(1u << (row & 7));
  f->num_nulls++;
  return CST_OK;
}

/* ---- one value, one row ---- */

static inline void put_bytes(filling *f, const uint8_t *text, size_t size) {
  uint8_t *to = f->to->values.data + f->num_bytes;
  if (size <= 32) {
    memcpy(to, text, 32); /* both have padding */
  } else {
    memcpy(to, text, size);
  }
  f->num_bytes += size;
  ((int64_t *)(void *)f->to->value_offsets.data)[++f->num_values] = (int64_t)f->num_bytes;
}

static void put_zeros(filling *f, size_t values) {
  int64_t *ends = (int64_t *)(void *)f->to->value_offsets.data;
  for (size_t i = 0; i < values; i++) {
    if (is_bytes(f)) {
      ends[++f->num_values] = (int64_t)f->num_bytes;
    } else {
      memset(f->to->values.data + f->num_values++ * f->width, 0, f->width);
    }
  }
}

static void misfit(job *j, size_t row, bool is_null) {
  const cst__csv_cell *cells = &j->run->cells[row * j->run->width];
  const cst__csv_cell *last = &cells[j->run->width - 1];
  if (j->misfits[row].column == 0) {
    j->misfits[row] = (cst__csv_misfit){
        .column = j->number,
        .at = cells[j->source].begin,
        .size = cells[j->source].size & CST__CSV_SIZE,
        .row_end = last->begin + (last->size & CST__CSV_SIZE) + (last->size >> 31),
        .is_null = is_null};
    (*j->num_misfits)++;
  }
}

/* A null row; what stands behind it in the values depends on the layout. */
static cst_status put_null(job *j, size_t row) {
  const cst__csv_column *type = j->column->type;
  size_t filler = !type->is_list ? 1 : type->fixed_size >= 0 ? (size_t)type->fixed_size : 0;
  if (!type->is_nullable) {
    misfit(j, row, true);
  }
  if (filler > 1) {
    if (filler * (j->column->num_nulls + 1) > MAX_NULL_FILL) {
      cst__fail(j->error, CST_LIMIT, "read without fixed_size",
                "%zu rows are null where the shape has %zu values", j->column->num_nulls + 1,
                filler);
      cst__error_add_path(j->error, type->name, strlen(type->name));
      return CST_LIMIT;
    }
    CST__TRY(reserve_values(j, filler + j->run->rows, 0));
  }
  put_zeros(j->column, filler);
  return clear_valid(j, j->builder->rows + row);
}

/* The text of a cell, without doubled quotes. */
static cst_status text_of(job *j, const cst__csv_cell *cell, cst_bytes *out) {
  cst__csv_builder *b = j->builder;
  *out = (cst_bytes){j->run->data + cell->begin, cell->size & CST__CSV_SIZE};
  if (cell->size & CST__CSV_DOUBLED) {
    size_t want = out->size + CST__CSV_PADDING;
    void *items = b->scratch;
    if (!cst__grow(&b->plan->allocator, &items, &b->scratch_size, want, 1)) {
      return cst__fail_memory(j->error, want);
    }
    b->scratch = items;
    out->size = cst__csv_undouble(b->scratch, out->data, out->size);
    out->data = b->scratch;
  }
  return CST_OK;
}

static void end_list(job *j, size_t row) {
  int64_t *offsets = (int64_t *)(void *)j->column->to->offsets.data;
  offsets[j->builder->rows + row + 1] = (int64_t)j->column->num_values;
}

/* ---- a column of a run ---- */

/* Cells that hold one value, of a fixed width. */
static inline cst_status put_numbers(job *j, cst__csv_type type) {
  const cst__csv_run *run = j->run;
  filling *f = j->column;
  const cst__csv_cell *cell = run->cells + j->source;
  const size_t width = widths[type];
  for (size_t row = 0; row < run->rows; row++, cell += run->width) {
    size_t size = cell->size & CST__CSV_SIZE;
    if (size == 0) {
      CST__TRY(put_null(j, row));
    } else if (put_value(type, width, run->data + cell->begin, size,
                         f->to->values.data + f->num_values * width)) {
      f->num_values++;
    } else {
      misfit(j, row, false);
      put_zeros(f, 1);
    }
    if (f->type->is_list) {
      end_list(j, row);
    }
  }
  return CST_OK;
}

static cst_status put_strings(job *j) {
  const cst__csv_run *run = j->run;
  filling *f = j->column;
  const cst__csv_cell *cell = run->cells + j->source;
  for (size_t row = 0; row < run->rows; row++, cell += run->width) {
    size_t size = cell->size & CST__CSV_SIZE;
    if (cell->size == 0) {
      CST__TRY(put_null(j, row));
    } else if (cell->size & CST__CSV_DOUBLED) {
      cst_bytes text;
      CST__TRY(text_of(j, cell, &text));
      put_bytes(f, text.data, text.size);
    } else {
      put_bytes(f, run->data + cell->begin, size);
    }
    if (f->type->is_list) {
      end_list(j, row);
    }
  }
  return CST_OK;
}

/* The values of a cell with several; false if one of them does not fit. */
static cst_status put_values(job *j, cst_bytes text, bool *fits) {
  const cst__csv_plan *plan = j->builder->plan;
  filling *f = j->column;
  size_t at = 0;
  *fits = true;
  while (at <= text.size && *fits) {
    cst__csv_cell value;
    if (!cst__csv_next_value(text.data, text.size, plan->dialect.secondary, &at, &value)) {
      *fits = false;
      return CST_OK;
    }
    const uint8_t *bytes = text.data + value.begin;
    size_t size = value.size & CST__CSV_SIZE;
    CST__TRY(reserve_values(j, 1, size));
    if (!is_bytes(f)) {
      *fits = put_value(f->type->type, f->width, bytes, size,
                        f->to->values.data + f->num_values * f->width);
      f->num_values += *fits;
    } else if (value.size & CST__CSV_DOUBLED) {
      size = cst__csv_undouble(f->to->values.data + f->num_bytes, bytes, size);
      f->num_bytes += size;
      ((int64_t *)(void *)f->to->value_offsets.data)[++f->num_values] = (int64_t)f->num_bytes;
    } else {
      put_bytes(f, bytes, size);
    }
  }
  return CST_OK;
}

static cst_status put_lists(job *j) {
  const cst__csv_run *run = j->run;
  filling *f = j->column;
  for (size_t row = 0; row < run->rows; row++) {
    const cst__csv_cell *cell = &run->cells[row * run->width + j->source];
    bool is_null = is_bytes(f) ? cell->size == 0 : (cell->size & CST__CSV_SIZE) == 0;
    if (is_null) {
      CST__TRY(put_null(j, row));
    } else {
      cst_bytes text;
      bool fits;
      CST__TRY(text_of(j, cell, &text));
      CST__TRY(put_values(j, text, &fits));
      if (!fits) {
        misfit(j, row, false);
      }
    }
    end_list(j, row);
  }
  return CST_OK;
}

/* Rows of a fixed shape have to have its number of values. The values of rows that do not are taken
 * back with the row. */
static void check_shape(job *j) {
  const int64_t *offsets = (const int64_t *)(const void *)j->column->to->offsets.data;
  for (size_t row = 0; row < j->run->rows; row++) {
    size_t at = j->builder->rows + row;
    if (offsets[at + 1] - offsets[at] != j->column->type->fixed_size) {
      misfit(j, row, false);
    }
  }
}

static void check_nothing(job *j) {
  const cst__csv_cell *cell = j->run->cells + j->source;
  for (size_t row = 0; row < j->run->rows; row++, cell += j->run->width) {
    if ((cell->size & CST__CSV_SIZE) > 0) {
      misfit(j, row, false);
    }
  }
}

static bool has_high_bytes(const uint8_t *data, size_t size) {
  uint64_t high = 0;
  for (; size >= 8; data += 8, size -= 8) {
    high |= cst__load64(data);
  }
  return ((high | cst__load_tail(data, size)) & UINT64_C(0x8080808080808080)) != 0;
}

/* Strings have to be UTF-8, each of them. */
static void check_utf8(job *j, size_t first_value, size_t first_byte) {
  const filling *f = j->column;
  const int64_t *ends = (const int64_t *)(const void *)f->to->value_offsets.data;
  const int64_t *offsets = (const int64_t *)(const void *)f->to->offsets.data;
  const uint8_t *bytes = f->to->values.data;
  if (!has_high_bytes(bytes + first_byte, f->num_bytes - first_byte)) {
    return;
  }
  size_t row = 0;
  for (size_t i = first_value; i < f->num_values; i++) {
    size_t size = (size_t)(ends[i + 1] - ends[i]);
    if (cst__utf8_valid(bytes + ends[i], size)) {
      continue;
    }
    while (f->type->is_list && (size_t)offsets[j->builder->rows + row + 1] <= i) {
      row++;
    }
    misfit(j, f->type->is_list ? row : i - first_value, false);
  }
}

/* A loop of its own for each common type. */
static cst_status put_fixed(job *j) {
  switch (j->column->type->type) {
    case CST__CSV_INT64:
      return put_numbers(j, CST__CSV_INT64);
    case CST__CSV_FLOAT64:
      return put_numbers(j, CST__CSV_FLOAT64);
    case CST__CSV_FLOAT32:
      return put_numbers(j, CST__CSV_FLOAT32);
    default:
      return put_numbers(j, j->column->type->type);
  }
}

static cst_status put_column(job *j) {
  filling *f = j->column;
  const cst__csv_column *type = f->type;
  size_t rows = j->builder->rows + j->run->rows;
  if (type->type == CST__CSV_NULL) {
    check_nothing(j);
    return CST_OK;
  }
  if (type->is_list && !cst__buffer_reserve(&j->builder->plan->allocator, &f->to->offsets,
                                            (rows + 1) * 8, (j->builder->rows + 1) * 8)) {
    return cst__fail_memory(j->error, rows * 8);
  }
  size_t first_value = f->num_values;
  size_t first_byte = f->num_bytes;
  CST__TRY(reserve_values(j, j->run->rows, is_bytes(f) ? bytes_of_run(j) : 0));
  CST__TRY(type->is_multivalent ? put_lists(j) : is_bytes(f) ? put_strings(j) : put_fixed(j));
  if (type->type == CST__CSV_STRING) {
    check_utf8(j, first_value, first_byte);
  }
  if (type->fixed_size >= 0) {
    check_shape(j);
  }
  return CST_OK;
}

/* ---- the batch ---- */

cst_status cst__csv_builder_new(const cst__csv_plan *plan, cst__csv_builder **out,
                                cst_error *error) {
  cst__csv_builder *b = cst__new_zero(&plan->allocator, sizeof *b);
  if (b == NULL) {
    return cst__fail_memory(error, sizeof *b);
  }
  b->plan = plan;
  b->pool = cst__batch_pool_new(&plan->allocator);
  b->columns = cst__new_zero(&plan->allocator, (plan->num_columns + 1) * sizeof *b->columns);
  b->before = cst__new_zero(&plan->allocator, (plan->num_columns + 1) * sizeof *b->before);
  if (b->pool == NULL || b->columns == NULL || b->before == NULL) {
    cst__csv_builder_free(b);
    return cst__fail_memory(error, plan->num_columns * sizeof *b->columns);
  }
  *out = b;
  return CST_OK;
}

void cst__csv_builder_free(cst__csv_builder *builder) {
  if (builder != NULL) {
    if (builder->batch != NULL) {
      cst__batch_drop(builder->batch);
    }
    cst__batch_pool_release(builder->pool);
    cst__delete(builder->columns);
    cst__delete(builder->before);
    cst__delete(builder->scratch);
    cst__delete(builder);
  }
}

int64_t cst__csv_builder_rows(const cst__csv_builder *builder) { return (int64_t)builder->rows; }

/* The first offset of each column, and the column as batches know it. */
static cst_status begin_column(cst__csv_builder *b, size_t i, cst_error *error) {
  const cst_allocator *a = &b->plan->allocator;
  const cst__csv_column *type = &b->plan->columns[i];
  filling *f = &b->columns[i];
  *f = (filling){.type = type, .to = &b->batch->columns[i], .width = widths[type->type]};
  f->to->values_begin = 0;
  f->to->kind = type->type == CST__CSV_NULL ? CST__VALUES_NULL
                : is_bytes(f)               ? CST__VALUES_BINARY
                                            : CST__VALUES_INT64; /* any fixed width */
  f->to->fixed_size = type->is_list ? type->fixed_size : -1;
  f->to->offsets_32 = false; /* narrowed here, where both kinds of offsets are free to choose */
  f->to->flat = !type->is_list && type->type != CST__CSV_NULL;
  if (!cst__buffer_reserve(a, &f->to->offsets, 8, 0) ||
      !cst__buffer_reserve(a, &f->to->value_offsets, 8, 0)) {
    return cst__fail_memory(error, 8);
  }
  memset(f->to->offsets.data, 0, 8);
  memset(f->to->value_offsets.data, 0, 8);
  return CST_OK;
}

static cst_status begin_batch(cst__csv_builder *b, cst_error *error) {
  b->batch = cst__batch_take(b->pool, b->plan->num_columns);
  if (b->batch == NULL) {
    return cst__fail_memory(error, b->plan->num_columns * sizeof(cst__column));
  }
  for (size_t i = 0; i < b->plan->num_columns; i++) {
    CST__TRY(begin_column(b, i, error));
  }
  return CST_OK;
}

/* Columns have no more than `rows` rows from here on. */
static void cut_column(filling *f, const filling *before, size_t rows) {
  for (size_t row = rows; row < f->checked; row++) {
    f->to->validity.data[row >> 3] |= (uint8_t)(1u << (row & 7));
  }
  f->num_values = before->num_values;
  f->num_bytes = before->num_bytes;
  f->num_nulls = before->num_nulls;
}

static cst_status put_run(cst__csv_builder *b, const cst__csv_run *run, const size_t *source,
                          cst__csv_misfit *misfits, size_t *num_misfits, cst_error *error) {
  for (size_t i = 0; i < b->plan->num_columns; i++) {
    job j = {.builder = b,
             .column = &b->columns[i],
             .run = run,
             .source = source[b->plan->columns[i].source],
             .number = (uint32_t)i + 1,
             .misfits = misfits,
             .num_misfits = num_misfits,
             .error = error};
    CST__TRY(put_column(&j));
  }
  return CST_OK;
}

static void take_out(cst__csv_run *run, const cst__csv_misfit *misfits) {
  size_t kept = 0;
  for (size_t row = 0; row < run->rows; row++) {
    if (misfits[row].column == 0) {
      memmove(run->cells + kept * run->width, run->cells + row * run->width,
              run->width * sizeof *run->cells);
      kept++;
    }
  }
  run->rows = kept;
}

/* Misfits are seen while the values are written: the run is taken back and, without them, written
 * again. */
static cst_status append_without(cst__csv_builder *b, cst__csv_run *run, const size_t *source,
                                 cst__csv_misfit *misfits, cst_error *error) {
  for (size_t i = 0; i < b->plan->num_columns; i++) {
    cut_column(&b->columns[i], &b->before[i], b->rows);
  }
  if (!b->plan->skip) {
    return CST_OK;
  }
  size_t none = 0;
  take_out(run, misfits);
  CST__TRY(put_run(b, run, source, misfits, &none, error));
  b->rows += run->rows;
  return CST_OK;
}

cst_status cst__csv_builder_append(cst__csv_builder *builder, cst__csv_run *run,
                                   const size_t *source, cst__csv_misfit *misfits,
                                   size_t *num_misfits, cst_error *error) {
  *num_misfits = 0;
  if (builder->batch == NULL) {
    CST__TRY(begin_batch(builder, error));
  }
  memcpy(builder->before, builder->columns, builder->plan->num_columns * sizeof *builder->before);
  CST__TRY(put_run(builder, run, source, misfits, num_misfits, error));
  if (*num_misfits > 0) {
    return append_without(builder, run, source, misfits, error);
  }
  builder->rows += run->rows;
  return CST_OK;
}

/* ---- the way out ---- */

static cst_status narrow(cst__buffer *buffer, size_t count, const filling *f, cst_error *error) {
  const int64_t *wide = (const int64_t *)(const void *)buffer->data;
  int32_t *offsets = (int32_t *)(void *)buffer->data;
  if (wide[count - 1] > INT32_MAX) {
    cst__fail(error, CST_LIMIT, "use smaller batches or 64-bit offsets",
              "32-bit offsets reach 2147483647, and the column of a batch has more");
    cst__error_add_path(error, f->type->name, strlen(f->type->name));
    return CST_LIMIT;
  }
  for (size_t i = 0; i < count; i++) {
    offsets[i] = (int32_t)wide[i];
  }
  return CST_OK;
}

static void keep_bytes(void *owner) { (void)owner; }

/* Strings to views of their bytes, which lie in a buffer of the column that nothing else uses. */
static cst_status make_views(cst__csv_builder *b, filling *f, cst_error *error) {
  cst__column *to = f->to;
  const int64_t *ends = (const int64_t *)(const void *)to->value_offsets.data;
  size_t size;
  if (f->num_bytes > INT32_MAX) {
    cst__fail(error, CST_LIMIT, "use smaller batches, or no views",
              "views reach 2147483647 bytes, and the column of a batch has more");
    cst__error_add_path(error, f->type->name, strlen(f->type->name));
    return CST_LIMIT;
  }
  if (!cst__mul(f->num_values, CST__VIEW_SIZE, &size) ||
      !cst__buffer_reserve(&b->plan->allocator, &to->list_offsets, size, 0)) {
    return cst__fail_memory(error, size);
  }
  const uint8_t *bytes = to->values.data;
  const cst__keepalive keep = {.data = bytes, .size = f->num_bytes, .release = keep_bytes};
  int32_t block = (int32_t)b->batch->num_keep;
  if (!cst__batch_keep(b->batch, &keep)) {
    return cst__fail_memory(error, sizeof keep);
  }
  for (size_t i = 0; i < f->num_values; i++) {
    const uint8_t *at = bytes + ends[i];
    cst__put_view(to->list_offsets.data + i * CST__VIEW_SIZE, at, (size_t)(ends[i + 1] - ends[i]),
                  block, bytes, at);
  }
  cst__buffer views = to->list_offsets;
  to->list_offsets = to->values;
  to->values = views;
  to->kind = CST__VALUES_VIEW;
  return CST_OK;
}

/* A byte of each value to a bit, in place. */
static void pack_bits(uint8_t *values, size_t count) {
  for (size_t i = 0; i < count; i += 8) {
    uint8_t bits = 0;
    for (size_t k = 0; k < 8 && i + k < count; k++) {
      bits |= (uint8_t)(values[i + k] << k);
    }
    values[i / 8] = bits;
  }
}

static cst_status end_column(cst__csv_builder *b, filling *f, cst_error *error) {
  const cst__csv_column *type = f->type;
  bool is_variable = type->is_list && type->fixed_size < 0;
  size_t bytes = (b->rows + 7) / 8;
  if (f->num_nulls > 0 && f->checked < b->rows) {
    if (!cst__buffer_reserve(&b->plan->allocator, &f->to->validity, bytes, f->checked / 8)) {
      return cst__fail_memory(error, bytes);
    }
    memset(f->to->validity.data + f->checked / 8, 0xff, bytes - f->checked / 8);
  }
  f->to->null_count = (int64_t)f->num_nulls;
  f->to->num_values = (int64_t)f->num_values;
  if (is_variable && type->list_offsets_32) {
    CST__TRY(narrow(&f->to->offsets, b->rows + 1, f, error));
  }
  if (type->is_view) {
    CST__TRY(make_views(b, f, error));
  } else if (is_bytes(f) && type->value_offsets_32) {
    CST__TRY(narrow(&f->to->value_offsets, f->num_values + 1, f, error));
  }
  if (type->type == CST__CSV_BOOL) {
    pack_bits(f->to->values.data, f->num_values);
  }
  return CST_OK;
}

cst_status cst__csv_builder_finish(cst__csv_builder *builder, struct ArrowArray *out,
                                   cst_error *error) {
  size_t count = builder->plan->num_columns;
  size_t *order = cst__new(&builder->plan->allocator, (count + 1) * sizeof *order);
  const char **names = cst__new(&builder->plan->allocator, (count + 1) * sizeof *names);
  cst_status status =
      order != NULL && names != NULL ? CST_OK : cst__fail_memory(error, count * sizeof *order);
  for (size_t i = 0; i < count && status == CST_OK; i++) {
    order[i] = i;
    names[i] = builder->plan->columns[i].name;
    status = end_column(builder, &builder->columns[i], error);
  }
  if (status == CST_OK) {
    status =
        cst__batch_export(builder->batch, (int64_t)builder->rows, order, names, count, out, error);
  }
  if (status == CST_OK) {
    builder->batch = NULL;
    builder->rows = 0;
  }
  cst__delete(order);
  cst__delete(names);
  return status;
}
