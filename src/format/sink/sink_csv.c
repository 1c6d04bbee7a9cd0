/* Record batches to CSV: a line of names, one line per row, ended by LF.
 *
 * What is written reads back as the same values, with the schema or the Arrow types given; without
 * them types are inferred again. A null is an empty cell, an empty string is "". Quotes stand where
 * they are needed. Floats have the fewest digits that read back as the same value, a point or an
 * exponent among them; nan, inf and -inf are words. Times are the texts that JSON has. Strings and
 * bytes are written as they are, bytes that are not UTF-8 too, so that nothing is lost; other
 * programs may not like those.
 *
 * A list of one value is the value. A list of several is possible in a multivalent column (named in
 * `multivalent`, or all lists if a secondary delimiter is given): its values stand with the
 * secondary delimiter between them, in quotes of their own where they need them.
 *
 * What CSV cannot hold is CST_UNSUPPORTED with row and column, and with `lossy` becomes: an empty
 * list null, a null within a list nothing, a null string that stands alone in its row "".
 */
#include <string.h>

#include "base/hash.h"
#include "format/csv/csv.h"
#include "format/json/text.h"
#include "format/sink/sink_format.h"
#include "io/output.h"
#include "text/number.h"

enum {
  FLUSH_SIZE = 1 << 18,
  SHORT = 64 /* bytes of a text that is copied while it is looked through */
};

/* Types whose cells have a way of their own. */
typedef enum cell_kind { CELL_OTHER, CELL_INT64, CELL_FLOAT64, CELL_FLOAT32, CELL_TEXT } cell_kind;

typedef struct csv_sink {
  cst_allocator allocator;
  cst__output *output;
  const struct ArrowSchema *schema; /* borrowed */
  cst__arena arena;                 /* the views of one batch */
  cst__text text;                   /* lines that are not written yet */
  cst__text cell;                   /* a list's values, before they are quoted */
  cst__csv_dialect dialect;
  bool quotes_numbers; /* the delimiter or the sign of comments may be part of one */
  bool quotes_inner;   /* the secondary delimiter may */
  bool lossy;
  size_t num_columns;
  bool *is_multivalent;
  cell_kind *kinds; /* of the columns of the batch */
} csv_sink;

static void csv_free(void *ptr) {
  csv_sink *sink = ptr;
  cst__arena_reset(&sink->arena);
  cst__text_free(&sink->text);
  cst__text_free(&sink->cell);
  cst__delete(sink->is_multivalent);
  cst__delete(sink->kinds);
  cst__delete(sink);
}

/* ---- cells ---- */

static void csv_put(cst__text *text, const void *bytes, size_t size) {
  if (size > 0) {
    cst__text_append(text, bytes, size);
  }
}

static void put_quoted(cst__text *text, const uint8_t *bytes, size_t size) {
  cst__text_append_few(text, "\"", 1);
  while (size > 0) {
    const uint8_t *quote = memchr(bytes, '"', size);
    size_t run = quote != NULL ? (size_t)(quote - bytes) + 1 : size;
    csv_put(text, bytes, run);
    if (quote != NULL) {
      cst__text_append_few(text, "\"", 1);
    }
    bytes += run;
    size -= run;
  }
  cst__text_append_few(text, "\"", 1);
}

/* Some high bit is set if a byte of the word needs quotes around the text. */
static inline uint64_t find_specials(uint8_t delimiter, uint64_t word) {
  const uint64_t ones = UINT64_C(0x0101010101010101);
  uint64_t cell = word ^ (ones * delimiter);
  uint64_t quote = word ^ (ones * '"');
  uint64_t feed = word ^ (ones * '\n');
  uint64_t carriage = word ^ (ones * '\r');
  return (((cell - ones) & ~cell) | ((quote - ones) & ~quote) | ((feed - ones) & ~feed) |
          ((carriage - ones) & ~carriage)) &
         (ones * 0x80);
}

/* Copies a text of at most 64 bytes; false if a byte of it needs quotes around it. */
static inline bool copy_short(uint8_t delimiter, char *to, const uint8_t *bytes, size_t size) {
  uint64_t found = 0;
  uint64_t word = 0;
  if (size >= sizeof word) { /* the last word overlaps the one before */
    for (size_t i = 0; i < size - sizeof word; i += sizeof word) {
      word = cst__load64(bytes + i);
      memcpy(to + i, &word, sizeof word);
      found |= find_specials(delimiter, word);
    }
    word = cst__load64(bytes + size - sizeof word);
    memcpy(to + size - sizeof word, &word, sizeof word);
    return (found | find_specials(delimiter, word)) == 0;
  }
  for (size_t i = 0; i < size; i++) {
    word = word << 8 | bytes[i];
    to[i] = (char)bytes[i];
  }
  return find_specials(delimiter, word) == 0; /* no delimiter is 0 */
}

static bool are_plain(uint8_t delimiter, const uint8_t *bytes, size_t size) {
  enum { STEP = 64 };
  uint64_t found = 0;
  for (size_t i = 0; i < size && found == 0; i += STEP) {
    const size_t at = i + STEP <= size ? i : size - STEP; /* the last step overlaps */
    const cst__csv_masks masks = cst__csv_find_masks(bytes + at, delimiter);
    found = masks.ends | masks.quotes;
  }
  return found == 0;
}

static void csv_put_text(csv_sink *sink, const uint8_t *bytes, size_t size) {
  const uint8_t delimiter = sink->dialect.delimiter;
  /* A row must not look like a comment, nor the first one like a byte order mark. */
  if (size == 0 || bytes[0] == sink->dialect.comment || bytes[0] == 0xef) {
    put_quoted(&sink->text, bytes, size);
  } else if (size <= SHORT) {
    char *to = cst__text_reserve(&sink->text, size);
    if (to != NULL && copy_short(delimiter, to, bytes, size)) {
      sink->text.size += size;
    } else {
      put_quoted(&sink->text, bytes, size);
    }
  } else if (are_plain(delimiter, bytes, size)) {
    csv_put(&sink->text, bytes, size);
  } else {
    put_quoted(&sink->text, bytes, size);
  }
}

static bool is_text(const cst__view *view) {
  return view->layout == CST__LAYOUT_BINARY || view->layout == CST__LAYOUT_BINARY_VIEW ||
         view->layout == CST__LAYOUT_FIXED_BINARY || cst__json_is_texted(view);
}

/* JSON writes numbers as CSV does, but for the words, which are strings there. */
static void put_number(cst__text *text, const cst__view *view, int64_t i) {
  size_t begin = text->size;
  cst__json_value(text, view, i);
  if (!text->failed && text->size > begin && text->data[begin] == '"') {
    const char *word = text->data[begin + 1] == 'N'   ? "nan"
                       : text->data[begin + 1] == '-' ? "-inf"
                                                      : "inf";
    text->size = begin;
    csv_put(text, word, strlen(word));
  }
}

/* The bytes of a text, or of a time, for which there is room in `time`. */
static cst_bytes text_of(const cst__view *view, int64_t i, char time[CST__VALUE_TEXT_SIZE]) {
  return cst__json_is_texted(view) ? (cst_bytes){(uint8_t *)time, cst__json_texted(view, i, time)}
                                   : cst__view_bytes(view, i);
}

static void csv_put_value(csv_sink *sink, const cst__view *view, int64_t i) {
  char time[CST__VALUE_TEXT_SIZE];
  if (is_text(view)) {
    cst_bytes bytes = text_of(view, i, time);
    csv_put_text(sink, bytes.data, bytes.size);
  } else if (sink->quotes_numbers) {
    sink->cell.size = 0;
    put_number(&sink->cell, view, i);
    csv_put_text(sink, (const uint8_t *)sink->cell.data, sink->cell.size);
  } else {
    put_number(&sink->text, view, i);
  }
}

/* ---- lists ---- */

static bool needs_inner_quotes(const csv_sink *sink, cst_bytes bytes) {
  return bytes.size > 0 &&
         (bytes.data[0] == '"' || memchr(bytes.data, sink->dialect.secondary, bytes.size) != NULL);
}

static void put_inner(csv_sink *sink, const cst__view *items, int64_t i) {
  if (!is_text(items)) {
    csv_put(&sink->cell, "\"", sink->quotes_inner);
    put_number(&sink->cell, items, i);
    csv_put(&sink->cell, "\"", sink->quotes_inner);
    return;
  }
  char time[CST__VALUE_TEXT_SIZE];
  cst_bytes bytes = text_of(items, i, time);
  if (needs_inner_quotes(sink, bytes)) {
    put_quoted(&sink->cell, bytes.data, bytes.size);
  } else {
    csv_put(&sink->cell, bytes.data, bytes.size);
  }
}

static cst_status cannot(const csv_sink *sink, size_t column, int64_t row, const char *hint,
                         const char *what, cst_error *error) {
  const char *name = sink->schema->children[column]->name;
  cst__fail(error, CST_UNSUPPORTED, hint, "CSV cannot hold %s", what);
  cst__error_add_record(error, row, -1);
  cst__error_add_path(error, name != NULL ? name : "", name != NULL ? strlen(name) : 0);
  return CST_UNSUPPORTED;
}

static void put_several(csv_sink *sink, const cst__view *items, int64_t begin, int64_t end) {
  bool first = true;
  sink->cell.size = 0;
  for (int64_t i = begin; i < end; i++) {
    if (!cst__view_is_null(items, i)) {
      csv_put(&sink->cell, &sink->dialect.secondary, !first);
      put_inner(sink, items, i);
      first = false;
    }
  }
  if (!first) {
    csv_put_text(sink, (const uint8_t *)sink->cell.data, sink->cell.size);
  }
}

static cst_status check_items(const csv_sink *sink, const cst__view *view, size_t column,
                              int64_t row, cst_error *error) {
  const cst__view *items = &view->children[0];
  int64_t begin;
  int64_t end;
  cst__view_list(view, row, &begin, &end);
  for (int64_t i = begin; i < end && items->null_count > 0; i++) {
    if (cst__view_is_null(items, i)) {
      return cannot(sink, column, row, "write JSON, Arrow or Parquet, or allow losses (lossy)",
                    "a null within a list", error);
    }
  }
  return begin < end
             ? CST_OK
             : cannot(sink, column, row, "write JSON, Arrow or Parquet, or allow losses (lossy)",
                      "an empty list", error);
}

static cst_status sink_csv_put_list(csv_sink *sink, const cst__view *view, size_t column,
                                    int64_t row, cst_error *error) {
  int64_t begin;
  int64_t end;
  const cst__view *items = &view->children[0];
  cst__view_list(view, row, &begin, &end);
  if (!sink->lossy) {
    CST__TRY(check_items(sink, view, column, row, error));
  }
  if (sink->is_multivalent[column]) {
    put_several(sink, items, begin, end);
    return CST_OK;
  }
  if (end - begin > 1) {
    return cannot(sink, column, row, "name the column in `multivalent`, or set secondary_delimiter",
                  "a list of several values in a column that is not multivalent", error);
  }
  if (begin < end && !cst__view_is_null(items, begin)) {
    csv_put_value(sink, items, begin);
  }
  return CST_OK;
}

/* ---- rows ---- */

static bool is_number(const cst__view *view) {
  const cst__view *value = cst__view_is_list(view) ? &view->children[0] : view;
  return !is_text(value) && value->layout != CST__LAYOUT_NULL;
}

/* A row of one empty cell is a blank line. */
static cst_status put_lone_null(csv_sink *sink, const cst__view *view, int64_t row,
                                cst_error *error) {
  if (sink->dialect.keep_blank) {
    return CST_OK;
  }
  if (!is_number(view) && !sink->lossy) {
    return cannot(sink, 0, row, "set keep_blank_lines, there and in reading",
                  "a null in a row without other columns", error);
  }
  csv_put(&sink->text, "\"\"", 2);
  return CST_OK;
}

/* What a column's cells take, in one batch. */
static cell_kind kind_of(const csv_sink *sink, const cst__view *view) {
  if (view->layout == CST__LAYOUT_BINARY) {
    return CELL_TEXT;
  }
  if (view->layout != CST__LAYOUT_NUMBER || sink->quotes_numbers) {
    return CELL_OTHER;
  }
  switch (view->dtype) {
    case CST_DTYPE_INT64:
      return CELL_INT64;
    case CST_DTYPE_FLOAT64:
      return CELL_FLOAT64;
    case CST_DTYPE_FLOAT32:
      return CELL_FLOAT32;
    default:
      return CELL_OTHER;
  }
}

/* A cell of a common type, written where it comes to stand. False: of another one. */
static inline bool put_common(csv_sink *sink, cell_kind kind, const cst__view *view, int64_t row) {
  const int64_t at = view->offset + row;
  if (kind == CELL_OTHER) {
    return false;
  }
  if (kind == CELL_TEXT) {
    const cst_bytes bytes = cst__view_bytes(view, row);
    csv_put_text(sink, bytes.data, bytes.size);
    return true;
  }
  char *to = cst__text_reserve(&sink->text, CST__NUMBER_SIZE);
  if (to == NULL) {
    return true;
  }
  sink->text.size +=
      kind == CELL_INT64 ? cst__print_int64(to, ((const int64_t *)view->data)[at])
      : kind == CELL_FLOAT64
          ? cst__print_float64(to, ((const double *)view->data)[at], CST__FLOAT_PYTHON)
          : cst__print_float32(to, ((const float *)view->data)[at], CST__FLOAT_PYTHON);
  return true;
}

static cst_status csv_put_row(csv_sink *sink, const cst__view *batch, int64_t row,
                              cst_error *error) {
  size_t begin = sink->text.size;
  for (size_t i = 0; i < sink->num_columns; i++) {
    const cst__view *view = &batch->children[i];
    if (i > 0) {
      cst__text_append_few(&sink->text, &sink->dialect.delimiter, 1);
    }
    if (cst__view_is_null(view, row) || put_common(sink, sink->kinds[i], view, row)) {
      continue;
    }
    if (cst__view_is_list(view)) {
      CST__TRY(sink_csv_put_list(sink, view, i, row, error));
    } else {
      csv_put_value(sink, view, row);
    }
  }
  if (sink->num_columns == 1 && sink->text.size == begin) {
    CST__TRY(put_lone_null(sink, &batch->children[0], row, error));
  }
  cst__text_append_few(&sink->text, "\n", 1);
  return CST_OK;
}

static cst_status csv_flush(csv_sink *sink, cst_error *error) {
  if (sink->text.failed || sink->cell.failed) {
    return cst__fail_memory(error, sink->text.capacity);
  }
  size_t size = sink->text.size;
  sink->text.size = 0;
  return size > 0 ? cst__output_write(sink->output, sink->text.data, size, error) : CST_OK;
}

static cst_status csv_put_rows(csv_sink *sink, const cst__view *batch, cst_error *error) {
  for (size_t i = 0; i < sink->num_columns && !sink->lossy; i++) {
    CST__TRY(cst__json_check_dates(&batch->children[i], error));
  }
  for (size_t i = 0; i < sink->num_columns; i++) {
    sink->kinds[i] = kind_of(sink, &batch->children[i]);
  }
  for (int64_t row = 0; row < batch->length; row++) {
    CST__TRY(csv_put_row(sink, batch, row, error));
    if (sink->text.size >= FLUSH_SIZE || sink->text.failed || sink->cell.failed) {
      CST__TRY(csv_flush(sink, error));
    }
  }
  return CST_OK;
}

static cst_status csv_write(void *ptr, const struct ArrowArray *batch, cst_error *error) {
  csv_sink *sink = ptr;
  cst__view view;
  cst_status status = cst__view_init(&view, sink->schema, batch, false, &sink->arena, error);
  if (status == CST_OK) {
    status = cst__view_refuse_nulls(&view, "the row", error);
  }
  if (status == CST_OK) {
    status = csv_put_rows(sink, &view, error);
  }
  cst__arena_reset(&sink->arena);
  return status;
}

static cst_status csv_finish(void *ptr, cst_error *error) { return csv_flush(ptr, error); }

/* ---- opening ---- */

static bool is_value(const cst__view *view) {
  /* null, bool, numbers, bytes; times */
  return view->layout < CST__LAYOUT_LIST || cst__json_is_texted(view);
}

static cst_status csv_check_type(const cst__view *view, cst_error *error) {
  if (is_value(view) || (cst__view_is_list(view) && is_value(&view->children[0]))) {
    return CST_OK;
  }
  char type[64];
  bool json_has_it = view->layout != CST__LAYOUT_OPAQUE;
  const char *hint = json_has_it ? "leave the column out, or write JSON, Arrow or Parquet"
                                 : "leave the column out, or write Arrow or Parquet";
  cst__view_type_name(view, type, sizeof type);
  cst__fail(error, CST_UNSUPPORTED, hint, "a column of type %s cannot be written as CSV", type);
  cst__error_add_path(error, view->name, strlen(view->name));
  return CST_UNSUPPORTED;
}

static cst_status check_types(csv_sink *sink, cst_error *error) {
  cst__view view;
  cst_status status = cst__view_init_schema(&view, sink->schema, &sink->arena, error);
  for (int64_t i = 0; status == CST_OK && i < view.num_children; i++) {
    status = csv_check_type(&view.children[i], error);
  }
  cst__arena_reset(&sink->arena);
  if (status == CST_OK && sink->num_columns == 0) {
    status = cst__fail(error, CST_UNSUPPORTED, NULL, "a CSV file without columns has no rows");
  }
  return status;
}

static bool csv_is_named(const cst__csv_options *csv, const char *name) {
  for (size_t i = 0; i < csv->num_multivalent; i++) {
    if (strcmp(csv->multivalent[i], name) == 0) {
      return true;
    }
  }
  return false;
}

static cst_status csv_begin(csv_sink *sink, const cst__sink_target *target, cst_error *error) {
  const cst__csv_options *csv = target->format_options;
  static const char numbers[] = "+-.0123456789aefilnrstuINaty";
  CST__TRY(cst__csv_find_dialect(csv, target->path, &sink->dialect, error));
  CST__TRY(check_types(sink, error));
  CST__TRY(csv->header ? cst__sink_check_names(sink->schema, error) : CST_OK);
  sink->quotes_numbers =
      strchr(numbers, sink->dialect.delimiter) != NULL || sink->dialect.comment >= 0;
  sink->quotes_inner = strchr(numbers, sink->dialect.secondary) != NULL;
  sink->is_multivalent = cst__new_zero(&sink->allocator, sink->num_columns + 1);
  sink->kinds = cst__new_zero(&sink->allocator, (sink->num_columns + 1) * sizeof *sink->kinds);
  if (sink->is_multivalent == NULL || sink->kinds == NULL) {
    return cst__fail_memory(error, sink->num_columns);
  }
  for (size_t i = 0; i < sink->num_columns; i++) {
    const char *name = sink->schema->children[i]->name;
    name = name != NULL ? name : "";
    sink->is_multivalent[i] = csv->secondary_delimiter != 0 || csv_is_named(csv, name);
    if (csv->header) {
      csv_put(&sink->text, &sink->dialect.delimiter, i > 0);
      csv_put_text(sink, (const uint8_t *)name, strlen(name));
    }
  }
  csv_put(&sink->text, "\n", csv->header);
  return CST_OK;
}

static cst_status csv_open(const cst__sink_target *target, void **out, cst_error *error) {
  cst_allocator allocator = cst__allocator_of(target->options->allocator);
  csv_sink *sink = cst__new_zero(&allocator, sizeof *sink);
  if (sink == NULL) {
    return cst__fail_memory(error, sizeof *sink);
  }
  sink->allocator = sink->text.allocator = sink->cell.allocator = allocator;
  sink->output = target->output;
  sink->schema = target->schema;
  sink->num_columns = (size_t)target->schema->n_children;
  sink->lossy = target->options->lossy;
  cst__arena_init(&sink->arena, &sink->allocator);
  cst_status status = csv_begin(sink, target, error);
  if (status != CST_OK) {
    csv_free(sink);
    return status;
  }
  *out = sink;
  return CST_OK;
}

const cst__sink_format cst__sink_csv = {
    .open = csv_open,
    .write = csv_write,
    .finish = csv_finish,
    .free = csv_free,
};
