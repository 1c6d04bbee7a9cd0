/* Cells to rows: one column at a time over a run of rows, into the builders of a batch. */
#include <string.h>

#include "arrow/builder.h"
#include "base/utf8.h"
#include "format/csv/csv.h"
#include "format/table/value_text.h"

enum { MAX_NULL_FILL = 4 << 20 /* values that stand for null rows of a fixed shape */ };

struct cst__csv_rows {
  const cst__csv_plan *plan;
  int64_t most; /* that a batch has */
  cst__batch_builder *batch;
  struct unquoted {
    uint8_t *bytes;
    size_t size;
  } cell, item; /* without doubled quotes; an item is one of a cell */
};

/* The cells of one column of a run, on their way. */
typedef struct csv_cells {
  cst__csv_rows *rows;
  const cst__csv_column *column;
  const cst__type *type; /* of a value */
  cst__builder *to;      /* of the column */
  cst__builder *values;  /* the same, or that of the lists' items */
  const cst__csv_run *run;
  size_t source;
  uint32_t number; /* of the column, 1-based */
  cst__csv_misfit *misfits;
  size_t *num_misfits;
  cst_error *error;
} csv_cells;

/* ---- values of a fixed width ---- */

static bool csv_is_word(const uint8_t *text, size_t size, const char *word) {
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

static bool csv_read_bool(const uint8_t *text, size_t size, bool *value) {
  *value = (size == 1 && *text == '1') || csv_is_word(text, size, "true");
  return *value || (size == 1 && *text == '0') || csv_is_word(text, size, "false");
}

static bool read_narrow_int(const uint8_t *text, size_t size, size_t width, uint8_t *to) {
  int64_t value;
  if (!cst__csv_int64(text, size, &value)) {
    return false;
  }
  memcpy(to, &value, width); /* little-endian */
  int unused = 64 - 8 * (int)width;
  int64_t narrow = (int64_t)((uint64_t)value << unused) >> unused;
  return narrow == value;
}

static bool read_narrow_uint(const uint8_t *text, size_t size, size_t width, uint8_t *to) {
  uint64_t value;
  cst_bytes number = cst__csv_trim(text, size);
  if (!cst__parse_uint64(number.data, number.size, &value)) {
    return false;
  }
  memcpy(to, &value, width);
  return width == 8 || value >> (8 * width) == 0;
}

/* False: the text is not a value of the type. */
static inline bool read_number(cst_dtype dtype, size_t width, const uint8_t *text, size_t size,
                               uint8_t *to) {
  switch (dtype) {
    case CST_DTYPE_INT64:
      return cst__csv_int64(text, size, (int64_t *)(void *)to);
    case CST_DTYPE_FLOAT64:
      return cst__csv_float64(text, size, (double *)(void *)to);
    case CST_DTYPE_FLOAT32:
      return cst__csv_float32(text, size, (float *)(void *)to);
    case CST_DTYPE_INT8:
    case CST_DTYPE_INT16:
    case CST_DTYPE_INT32:
      return read_narrow_int(text, size, width, to);
    default:
      return read_narrow_uint(text, size, width, to);
  }
}

/* ---- one value, one row ---- */

static cst_status csv_fail_room(const csv_cells *c) {
  return cst__batch_builder_fail(c->rows->batch, c->error);
}

static bool is_string(const csv_cells *c) {
  return c->type->layout == CST__LAYOUT_BINARY || c->type->layout == CST__LAYOUT_BINARY_VIEW;
}

/* Of a type that has the value of no bytes: "" is that, and null in all other types. */
static bool has_empty_value(const csv_cells *c) {
  const cst__type *type = c->type->dictionary != NULL ? c->type->dictionary : c->type;
  return type->layout == CST__LAYOUT_BINARY || type->layout == CST__LAYOUT_BINARY_VIEW ||
         type->layout == CST__LAYOUT_FIXED_BINARY;
}

static void note_misfit(csv_cells *c, size_t row, bool is_null) {
  const cst__csv_cell *cells = &c->run->cells[row * c->run->width];
  const cst__csv_cell *last = &cells[c->run->width - 1];
  if (c->misfits[row].column == 0) {
    c->misfits[row] = (cst__csv_misfit){
        .column = c->number,
        .at = cells[c->source].begin,
        .size = cells[c->source].size & CST__CSV_SIZE,
        .row_end = last->begin + (last->size & CST__CSV_SIZE) + (last->size >> 31),
        .is_null = is_null};
    (*c->num_misfits)++;
  }
}

/* Null rows of a fixed shape take as much memory as others. */
static cst_status check_fill(const csv_cells *c) {
  int64_t size = c->to->type->fixed_size;
  int64_t nulls = c->to->null_count + 1;
  if (c->to->type->layout != CST__LAYOUT_FIXED_LIST || size <= 1 || size * nulls <= MAX_NULL_FILL) {
    return CST_OK;
  }
  cst__fail(c->error, CST_LIMIT, "read without fixed_size",
            "%lld rows are null where the shape has %lld values", (long long)nulls,
            (long long)size);
  cst__error_add_path(c->error, c->column->name, strlen(c->column->name));
  return CST_LIMIT;
}

static cst_status put_null(csv_cells *c, size_t row) {
  if (!cst__type_is_nullable(c->column->type)) {
    note_misfit(c, row, true);
  }
  return cst__builder_append_null(c->to) ? CST_OK : csv_fail_room(c);
}

/* A string that there is room for. */
static inline void csv_put_string(cst__builder *to, const uint8_t *text, size_t size) {
  uint8_t *bytes = to->values + to->num_bytes;
  if (size <= 32) {
    memcpy(bytes, text, 32); /* both have padding */
  } else {
    memcpy(bytes, text, size);
  }
  cst__builder_put_string(to, size);
}

/* A value of a fixed width that there is room for; one that does not fit has a slot, too. */
static inline bool csv_put_number(csv_cells *c, cst_dtype dtype, const uint8_t *text, size_t size) {
  size_t width = c->type->width;
  bool fits = read_number(dtype, width, text, size, cst__builder_next(c->values, width));
  c->values->length++;
  return fits;
}

static bool put_bool(csv_cells *c, const uint8_t *text, size_t size) {
  bool value;
  bool fits = csv_read_bool(text, size, &value);
  cst__builder_put_bool(c->values, value);
  return fits;
}

/* A value of a fixed width whose type has its own text; one that does not fit has a slot, too. */
static bool put_texted(csv_cells *c, const uint8_t *text, size_t size) {
  size_t width = c->type->width;
  uint8_t *to = cst__builder_next(c->values, width);
  cst_bytes t = cst__csv_trim(text, size);
  memset(to, 0, width);
  c->values->length++;
  return c->type->layout == CST__LAYOUT_HALF
             ? cst__parse_half((const char *)t.data, t.size, (uint16_t *)(void *)to)
             : cst__parse_value_text(c->type->format, (const char *)t.data, t.size, to);
}

/* A text, without the doubled quotes that its flags tell of. */
static cst_status csv_unquote(csv_cells *c, struct unquoted *to, const uint8_t *text,
                              uint32_t size_and_flags, cst_bytes *out) {
  *out = (cst_bytes){text, size_and_flags & CST__CSV_SIZE};
  if (size_and_flags & CST__CSV_DOUBLED) {
    size_t want = out->size + CST__CSV_PADDING;
    void *bytes = to->bytes;
    if (!cst__grow(&c->rows->plan->allocator, &bytes, &to->size, want, 1)) {
      return cst__fail_memory(c->error, want);
    }
    to->bytes = bytes;
    out->size = cst__csv_undouble(to->bytes, out->data, out->size);
    out->data = to->bytes;
  }
  return CST_OK;
}

static cst_status csv_text_of(csv_cells *c, const cst__csv_cell *cell, cst_bytes *out) {
  return csv_unquote(c, &c->rows->cell, c->run->data + cell->begin, cell->size, out);
}

/* ---- cells that hold one value ---- */

static inline cst_status put_numbers(csv_cells *c, cst_dtype dtype) {
  const cst__csv_cell *cell = c->run->cells + c->source;
  for (size_t row = 0; row < c->run->rows; row++, cell += c->run->width) {
    size_t size = cell->size & CST__CSV_SIZE;
    if (size == 0) {
      CST__TRY(put_null(c, row));
    } else if (!csv_put_number(c, dtype, c->run->data + cell->begin, size)) {
      note_misfit(c, row, false);
    }
  }
  return CST_OK;
}

static cst_status csv_put_bools(csv_cells *c) {
  const cst__csv_cell *cell = c->run->cells + c->source;
  for (size_t row = 0; row < c->run->rows; row++, cell += c->run->width) {
    size_t size = cell->size & CST__CSV_SIZE;
    if (size == 0) {
      CST__TRY(put_null(c, row));
    } else if (!put_bool(c, c->run->data + cell->begin, size)) {
      note_misfit(c, row, false);
    }
  }
  return CST_OK;
}

static cst_status csv_put_strings(csv_cells *c) {
  const cst__csv_cell *cell = c->run->cells + c->source;
  for (size_t row = 0; row < c->run->rows; row++, cell += c->run->width) {
    cst_bytes text;
    if (cell->size == 0) {
      CST__TRY(put_null(c, row));
      continue;
    }
    CST__TRY(csv_text_of(c, cell, &text));
    csv_put_string(c->values, text.data, text.size);
  }
  return CST_OK;
}

static cst_status put_texteds(csv_cells *c) {
  const cst__csv_cell *cell = c->run->cells + c->source;
  for (size_t row = 0; row < c->run->rows; row++, cell += c->run->width) {
    size_t size = cell->size & CST__CSV_SIZE;
    if (size == 0) {
      CST__TRY(put_null(c, row));
    } else if (!put_texted(c, c->run->data + cell->begin, size)) {
      note_misfit(c, row, false);
    }
  }
  return CST_OK;
}

static cst_status put_item(csv_cells *c, const uint8_t *text, uint32_t size_and_flags, bool *fits);

/* The index of a text, or of the value that it says. */
static cst_status put_dictionary(csv_cells *c, cst_bytes text, bool *fits) {
  const cst__type *type = c->type->dictionary;
  int64_t index = 0;
  *fits = !type->is_string || cst__utf8_valid(text.data, text.size);
  if (type->layout == CST__LAYOUT_BINARY) {
    CST__TRY(cst__builder_intern(c->values, text.data, text.size, &index, c->error));
    return cst__builder_append_index(c->values, index) ? CST_OK : csv_fail_room(c);
  }
  bool is_one;
  csv_cells value = *c;
  value.values = cst__builder_dictionary_value(c->values);
  value.type = type;
  CST__TRY(put_item(&value, text.data, (uint32_t)text.size, &is_one));
  *fits = *fits && is_one;
  return cst__builder_append_value(c->values, c->error);
}

/* Bytes of a fixed size, and values of a dictionary; what does not fit has a slot, too. */
static cst_status put_bytes(csv_cells *c, cst_bytes text, bool *fits) {
  size_t width = c->type->width;
  if (c->type->dictionary != NULL) {
    return put_dictionary(c, text, fits);
  }
  uint8_t *to = cst__builder_next(c->values, width);
  memset(to, 0, width);
  *fits = text.size == width;
  if (*fits) {
    memcpy(to, text.data, width);
  }
  c->values->length++;
  return CST_OK;
}

static cst_status put_all_bytes(csv_cells *c) {
  const cst__csv_cell *cell = c->run->cells + c->source;
  const uint32_t of_null = has_empty_value(c) ? UINT32_MAX : CST__CSV_SIZE;
  for (size_t row = 0; row < c->run->rows; row++, cell += c->run->width) {
    cst_bytes text;
    if ((cell->size & of_null) == 0) {
      CST__TRY(put_null(c, row));
      continue;
    }
    bool fits;
    CST__TRY(csv_text_of(c, cell, &text));
    CST__TRY(put_bytes(c, text, &fits));
    if (!fits) {
      note_misfit(c, row, false);
    }
  }
  return CST_OK;
}

/* Whole texts are the values, or their dictionary's. */
static bool is_of_bytes(const csv_cells *c) {
  return c->type->dictionary != NULL || c->type->layout == CST__LAYOUT_FIXED_BINARY;
}

/* A loop of its own for each common type. */
static cst_status put_scalars(csv_cells *c) {
  if (is_string(c)) {
    return csv_put_strings(c);
  }
  if (is_of_bytes(c)) {
    return put_all_bytes(c);
  }
  if (c->type->layout == CST__LAYOUT_HALF || c->type->layout == CST__LAYOUT_OPAQUE) {
    return put_texteds(c);
  }
  if (c->type->layout == CST__LAYOUT_BOOL) {
    return csv_put_bools(c);
  }
  switch (c->type->dtype) {
    case CST_DTYPE_INT64:
      return put_numbers(c, CST_DTYPE_INT64);
    case CST_DTYPE_FLOAT64:
      return put_numbers(c, CST_DTYPE_FLOAT64);
    case CST_DTYPE_FLOAT32:
      return put_numbers(c, CST_DTYPE_FLOAT32);
    default:
      return put_numbers(c, c->type->dtype);
  }
}

/* ---- lists ---- */

/* A value among others; *fits says whether it is one of the type. */
static cst_status put_item(csv_cells *c, const uint8_t *text, uint32_t size_and_flags, bool *fits) {
  size_t size = size_and_flags & CST__CSV_SIZE;
  *fits = true;
  if (!cst__builder_has_room(c->values) ||
      (is_string(c) && !cst__builder_has_bytes(c->values, size))) {
    return csv_fail_room(c);
  }
  if (is_string(c) && (size_and_flags & CST__CSV_DOUBLED) != 0) {
    size = cst__csv_undouble(c->values->values + c->values->num_bytes, text, size);
    cst__builder_put_string(c->values, size);
  } else if (is_string(c)) {
    csv_put_string(c->values, text, size);
  } else if (is_of_bytes(c)) {
    cst_bytes bytes;
    CST__TRY(csv_unquote(c, &c->rows->item, text, size_and_flags, &bytes));
    return put_bytes(c, bytes, fits);
  } else {
    *fits = c->type->layout == CST__LAYOUT_BOOL     ? put_bool(c, text, size)
            : c->type->layout == CST__LAYOUT_NUMBER ? csv_put_number(c, c->type->dtype, text, size)
                                                    : put_texted(c, text, size);
  }
  return CST_OK;
}

/* The values of a cell with several. */
static cst_status put_items(csv_cells *c, const cst__csv_cell *cell, bool *fits) {
  uint8_t secondary = c->rows->plan->dialect.secondary;
  cst_bytes text;
  CST__TRY(csv_text_of(c, cell, &text));
  size_t at = 0;
  *fits = true;
  while (at <= text.size && *fits) {
    cst__csv_cell value;
    if (!cst__csv_next_value(text.data, text.size, secondary, &at, &value)) {
      *fits = false;
      return CST_OK;
    }
    CST__TRY(put_item(c, text.data + value.begin, value.size, fits));
  }
  return CST_OK;
}

/* The only value of a cell. */
static cst_status put_only_item(csv_cells *c, const cst__csv_cell *cell, bool *fits) {
  cst_bytes text;
  if (!is_string(c) && !is_of_bytes(c)) {
    return put_item(c, c->run->data + cell->begin, cell->size & CST__CSV_SIZE, fits);
  }
  CST__TRY(csv_text_of(c, cell, &text));
  return put_item(c, text.data, (uint32_t)text.size, fits);
}

/* Rows of a fixed shape have to have its number of values. */
static cst_status csv_put_list(csv_cells *c, size_t row, const cst__csv_cell *cell) {
  bool is_fixed = c->to->type->layout == CST__LAYOUT_FIXED_LIST;
  bool fits;
  if (is_fixed && !cst__builder_begin_fixed(c->to)) {
    return csv_fail_room(c);
  }
  int64_t begin = c->values->length;
  CST__TRY(c->column->is_multivalent ? put_items(c, cell, &fits) : put_only_item(c, cell, &fits));
  if (!fits || (is_fixed && c->values->length - begin != c->to->type->fixed_size)) {
    note_misfit(c, row, false);
  }
  bool ok = is_fixed ? cst__builder_end_struct(c->to) : cst__builder_end_list(c->to);
  return ok ? CST_OK : csv_fail_room(c);
}

static cst_status csv_put_lists(csv_cells *c) {
  const uint32_t of_null = has_empty_value(c) ? UINT32_MAX : CST__CSV_SIZE;
  for (size_t row = 0; row < c->run->rows; row++) {
    const cst__csv_cell *cell = &c->run->cells[row * c->run->width + c->source];
    bool is_null = (cell->size & of_null) == 0;
    if (is_null) {
      CST__TRY(check_fill(c));
    }
    CST__TRY(is_null ? put_null(c, row) : csv_put_list(c, row, cell));
  }
  return CST_OK;
}

/* ---- a column of a run ---- */

static cst_status check_empty(csv_cells *c) {
  const cst__csv_cell *cell = c->run->cells + c->source;
  for (size_t row = 0; row < c->run->rows; row++, cell += c->run->width) {
    if ((cell->size & CST__CSV_SIZE) > 0) {
      note_misfit(c, row, false);
    }
  }
  return cst__builder_pad(c->to, c->to->length + (int64_t)c->run->rows) ? CST_OK : csv_fail_room(c);
}

/* True if the values from `first` on are valid together and none begins within a character: then
 * each is. */
static bool are_utf8(const cst__builder *values, int64_t first) {
  const int64_t *ends = values->offsets;
  const uint8_t *bytes = values->values;
  size_t begin = (size_t)ends[first];
  size_t size = values->num_bytes - begin;
  size_t ascii = cst__utf8_ascii_prefix(bytes + begin, size);
  if (ascii == size) {
    return true;
  }
  bool valid = cst__utf8_valid(bytes + begin + ascii, size - ascii);
  for (int64_t i = first; i < values->length && valid; i++) {
    valid = (size_t)ends[i] == values->num_bytes || (bytes[ends[i]] & 0xc0) != 0x80;
  }
  return valid;
}

/* Strings have to be UTF-8, each of them; `first` is the first of the run's. */
static void check_utf8(csv_cells *c, int64_t first) {
  const cst__builder *values = c->values;
  const int64_t *ends = values->offsets;
  const uint8_t *bytes = values->values;
  if (values->length == first || are_utf8(values, first)) {
    return;
  }
  bool is_list = c->to != values;
  int64_t slot = c->to->length - (int64_t)c->run->rows; /* of the column, for the value */
  int64_t first_slot = slot;
  for (int64_t i = first; i < values->length; i++) {
    while (is_list && (c->to->offsets != NULL ? c->to->offsets[slot + 1]
                                              : (slot + 1) * c->to->type->fixed_size) <= i) {
      slot++;
    }
    if (!cst__utf8_valid(bytes + ends[i], (size_t)(ends[i + 1] - ends[i]))) {
      note_misfit(c, (size_t)(is_list ? slot - first_slot : i - first), false);
    }
  }
}

static size_t bytes_of_run(const csv_cells *c) {
  const cst__csv_cell *cell = c->run->cells + c->source;
  size_t bytes = 0;
  for (size_t row = 0; row < c->run->rows; row++, cell += c->run->width) {
    bytes += cell->size & CST__CSV_SIZE;
  }
  return bytes;
}

/* How many rows to make room for when that of a batch's first rows is used up: all that the batch
 * may still get, but no more than a few times those. Growing little by little copies all values
 * again and again, into fresh pages. */
static size_t rows_ahead(const csv_cells *c) {
  enum { MOST_TIMES = 8 };
  const int64_t length = c->to->length;
  const int64_t left = c->rows->most - length;
  const int64_t most = length * MOST_TIMES;
  return (size_t)(left < most ? left : most);
}

static bool reserve_slots(const csv_cells *c, cst__builder *to) {
  const size_t rows = c->run->rows;
  const bool is_full = to->length + (int64_t)rows > to->capacity;
  const size_t ahead = is_full ? rows_ahead(c) : 0;
  return cst__builder_reserve(to, ahead > rows ? ahead : rows);
}

static bool reserve_bytes(const csv_cells *c) {
  cst__builder *to = c->values;
  const size_t bytes = bytes_of_run(c);
  size_t ahead = 0;
  if (to->length > 0 && bytes >= to->max_bytes - to->num_bytes) {
    ahead = (to->num_bytes / (size_t)to->length + 1) * rows_ahead(c);
    ahead += ahead / 16; /* for texts that grow longer */
  }
  return cst__builder_reserve_bytes(to, ahead > bytes ? ahead : bytes);
}

static cst_status put_column(csv_cells *c) {
  if (c->type->layout == CST__LAYOUT_NULL) {
    return check_empty(c);
  }
  int64_t first = c->values->length;
  if (!reserve_slots(c, c->to) || !reserve_slots(c, c->values) ||
      (is_string(c) && !reserve_bytes(c))) {
    return csv_fail_room(c);
  }
  CST__TRY(c->to != c->values ? csv_put_lists(c) : put_scalars(c));
  if (c->type->is_string) {
    check_utf8(c, first);
  }
  return CST_OK;
}

/* ---- the rows themselves ---- */

/* The text of a row, without its line end. Cells are in the order of the file. */
static cst_bytes text_of_row(const cst__csv_run *run, size_t row) {
  if (run->width == 0) {
    return (cst_bytes){run->data, 0}; /* a blank line */
  }
  const cst__csv_cell *first = &run->cells[row * run->width];
  const cst__csv_cell *last = first + run->width - 1;
  size_t begin = first->begin - (first->size >> 31);
  size_t end = last->begin + (last->size & CST__CSV_SIZE) + (last->size >> 31);
  return (cst_bytes){run->data + begin, end - begin};
}

static cst_status put_raw(cst__csv_rows *rows, cst__builder *to, const cst__csv_run *run,
                          cst_error *error) {
  for (size_t row = 0; row < run->rows; row++) {
    cst_bytes text = text_of_row(run, row);
    if (!cst__builder_append_bytes(&to->children[0], text.data, text.size) ||
        !cst__builder_end_list(to)) {
      return cst__batch_builder_fail(rows->batch, error);
    }
  }
  return CST_OK;
}

/* ---- the batch ---- */

cst_status cst__csv_rows_new(const cst__csv_plan *plan, int64_t most, cst__csv_rows **out,
                             cst_error *error) {
  cst__csv_rows *rows = cst__new_zero(&plan->allocator, sizeof *rows);
  if (rows == NULL) {
    return cst__fail_memory(error, sizeof *rows);
  }
  rows->plan = plan;
  rows->most = most;
  cst_status status = cst__batch_builder_new(&plan->type, &plan->allocator, &rows->batch, error);
  if (status != CST_OK) {
    cst__csv_rows_free(rows);
    return status;
  }
  *out = rows;
  return CST_OK;
}

void cst__csv_rows_free(cst__csv_rows *rows) {
  if (rows != NULL) {
    cst__batch_builder_free(rows->batch);
    cst__delete(rows->cell.bytes);
    cst__delete(rows->item.bytes);
    cst__delete(rows);
  }
}

int64_t cst__csv_rows_count(const cst__csv_rows *rows) { return rows->batch->root->length; }

cst_status cst__csv_rows_finish(cst__csv_rows *rows, struct ArrowArray *out, cst_error *error) {
  return cst__batch_builder_finish(rows->batch, out, error);
}

static cst_status put_run(cst__csv_rows *rows, const cst__csv_run *run, const size_t *source,
                          cst__csv_misfit *misfits, size_t *num_misfits, cst_error *error) {
  cst__builder *root = rows->batch->root;
  for (size_t i = 0; i < rows->plan->num_columns; i++) {
    const cst__csv_column *column = &rows->plan->columns[i];
    cst__builder *to = &root->children[i];
    csv_cells c = {.rows = rows,
                   .column = column,
                   .type = cst__csv_value_type(column),
                   .to = to,
                   .values = to->num_children > 0 ? &to->children[0] : to,
                   .run = run,
                   .source = source[column->source],
                   .number = (uint32_t)i + 1,
                   .misfits = misfits,
                   .num_misfits = num_misfits,
                   .error = error};
    CST__TRY(put_column(&c));
  }
  if (rows->plan->raw_column != NULL) {
    CST__TRY(put_raw(rows, &root->children[rows->plan->num_columns], run, error));
  }
  return cst__builder_end_structs(root, run->rows) ? CST_OK
                                                   : cst__batch_builder_fail(rows->batch, error);
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

cst_status cst__csv_rows_append(cst__csv_rows *rows, cst__csv_run *run, const size_t *source,
                                cst__csv_misfit *misfits, size_t *num_misfits, cst_error *error) {
  cst__builder_mark mark = cst__batch_builder_mark(rows->batch);
  *num_misfits = 0;
  CST__TRY(put_run(rows, run, source, misfits, num_misfits, error));
  if (*num_misfits == 0) {
    return CST_OK;
  }
  /* Misfits are seen while the values are written: the run is taken back and, without them, written
   * again. */
  cst__batch_builder_rollback(rows->batch, mark);
  if (!rows->plan->skip) {
    return CST_OK;
  }
  size_t none = 0;
  take_out(run, misfits);
  return put_run(rows, run, source, misfits, &none, error);
}
