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

#include "format/csv/csv.h"
#include "format/json/text.h"
#include "format/sink/sink_format.h"
#include "format/sink/text_block.h"
#include "io/output.h"
#include "text/number.h"
#include "text/stride.h"

enum { FLUSH_SIZE = 1 << 18 };

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
  cst__text_block block; /* of the batch */
  size_t row_room;       /* bytes that a row may take, its texts and lists aside */
} csv_sink;

static void csv_free(void *ptr) {
  csv_sink *sink = ptr;
  cst__arena_reset(&sink->arena);
  cst__text_free(&sink->text);
  cst__text_free(&sink->cell);
  cst__delete(sink->is_multivalent);
  cst__text_block_reset(&sink->block);
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

static inline cst__stride_bits find_specials(cst__stride stride, uint8_t delimiter) {
  return cst__stride_found(cst__stride_is(stride, delimiter) | cst__stride_is(stride, '"') |
                           cst__stride_is(stride, '\n') | cst__stride_is(stride, '\r'));
}

/* Copies a text, and up to a stride more; false if a byte of it needs quotes around the text. */
static inline bool copy_plain(char *to, cst_bytes text, size_t readable, uint8_t delimiter) {
  if (text.size < CST__STRIDE) {
    const cst__stride stride = cst__stride_copy_last(to, text.data, text.size, readable);
    return cst__stride_within(find_specials(stride, delimiter), text.size) == 0;
  }
  const size_t last = text.size - CST__STRIDE; /* this stride overlaps the one before */
  for (size_t i = 0; i < last; i += CST__STRIDE) {
    if (find_specials(cst__stride_copy(to + i, text.data + i), delimiter) != 0) {
      return false;
    }
  }
  return find_specials(cst__stride_copy(to + last, text.data + last), delimiter) == 0;
}

/* Writes a text as a cell, where there is room for it and a stride more; NULL if it needs quotes. A
 * row must not look like a comment, nor the first one like a byte order mark. */
static inline char *put_plain(const cst__csv_dialect *dialect, char *to, cst_bytes text,
                              size_t readable) {
  const bool is_plain = text.size > 0 && text.data[0] != dialect->comment && text.data[0] != 0xef &&
                        copy_plain(to, text, readable, dialect->delimiter);
  return is_plain ? to + text.size : NULL;
}

static void csv_put_text(csv_sink *sink, const uint8_t *bytes, size_t size) {
  char *to = cst__text_reserve(&sink->text, size + CST__STRIDE);
  if (to != NULL && put_plain(&sink->dialect, to, (cst_bytes){bytes, size}, size) != NULL) {
    sink->text.size += size;
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

/* Without branches that depend on a byte, as any may be a quote. */
static inline char *put_quoted_short(char *to, cst_bytes text) {
  *to++ = '"';
  for (size_t i = 0; i < text.size; i++) {
    const char c = (char)text.data[i];
    to[0] = c;
    to[1] = c;
    to += 1 + (c == '"');
  }
  *to++ = '"';
  return to;
}

/* A text that is not in the block: a long one, or one that needs quotes. */
static char *put_text_cell(csv_sink *sink, const cst__text_column *column, int64_t row, char *to) {
  const cst_bytes text = cst__cell_text(column, row);
  to = cst__room_at(&sink->text, to, text.size + CST__SHORT_TEXT + 2 + sink->row_room);
  if (to == NULL) {
    return NULL;
  }
  if (text.size <= CST__SHORT_TEXT) {
    return put_quoted_short(to, text);
  }
  char *end = put_plain(&sink->dialect, to, text, (size_t)(column->end - text.data));
  if (end != NULL) {
    return end;
  }
  sink->text.size = (size_t)(to - sink->text.data);
  put_quoted(&sink->text, text.data, text.size);
  return cst__text_reserve(&sink->text, sink->row_room);
}

static cst_status put_other_cell(csv_sink *sink, size_t column, int64_t row, cst_error *error) {
  const cst__view *view = sink->block.columns[column].view;
  if (cst__view_is_list(view)) {
    return sink_csv_put_list(sink, view, column, row, error);
  }
  csv_put_value(sink, view, row);
  return CST_OK;
}

/* A cell that is not in the block, after the delimiter; *at is NULL without memory. */
static cst_status put_apart(csv_sink *sink, size_t column, int64_t row, char **at,
                            cst_error *error) {
  if (sink->block.columns[column].kind == CST__CELL_TEXT) {
    *at = put_text_cell(sink, &sink->block.columns[column], row, *at);
    return CST_OK;
  }
  sink->text.size = (size_t)(*at - sink->text.data);
  CST__TRY(put_other_cell(sink, column, row, error));
  *at = cst__text_reserve(&sink->text, sink->row_room);
  return CST_OK;
}

/* Writes a row of the block at *at, and moves that: to NULL if there is no memory. */
static cst_status csv_put_row(csv_sink *sink, int64_t index, char **at, cst_error *error) {
  const cst__text_block block = sink->block; /* what is copied cannot change it */
  const char *cells = block.cells + (size_t)index * block.row_size;
  const int32_t *sizes = block.sizes + (size_t)index * block.num_columns;
  const int64_t row = block.first + index;
  char *to = cst__room_at(&sink->text, *at, sink->row_room);
  const ptrdiff_t begin = to - sink->text.data;
  for (size_t i = 0; i < block.num_columns && to != NULL; i++) {
    const cst__text_column *column = &block.columns[i];
    cst__copy_cell(to, cells + column->place, column->width);
    if (sizes[i] != CST__CELL_APART) {
      to += sizes[i];
    } else {
      to += column->prefix_size;
      CST__TRY(put_apart(sink, i, row, &to, error));
    }
  }
  if (to != NULL && block.num_columns == 1 && to == sink->text.data + begin) {
    CST__TRY(put_lone_null(sink, block.columns[0].view, row, error));
    to = cst__text_reserve(&sink->text, sink->row_room);
  }
  if (to != NULL) {
    *to++ = '\n';
  }
  *at = to;
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

static void csv_take_columns(csv_sink *sink, const cst__view *batch) {
  for (size_t i = 0; i < sink->num_columns; i++) {
    cst__text_column *column = &sink->block.columns[i];
    cst__text_column_take(column, &batch->children[i]);
    if (sink->quotes_numbers && column->kind != CST__CELL_TEXT) {
      column->kind = CST__CELL_OTHER;
    }
  }
}

/* True if no byte of the texts can make one need quotes. */
static bool csv_are_plain(const cst__csv_dialect *dialect, cst_bytes texts) {
  const uint8_t comment = dialect->comment >= 0 ? (uint8_t)dialect->comment : '"';
  if (texts.size == 0) {
    return false;
  }
  const size_t last = texts.size - CST__STRIDE; /* this stride overlaps the one before */
  cst__stride_bits found = 0;
  for (size_t i = 0; i < texts.size && found == 0; i += CST__STRIDE) {
    const cst__stride stride = cst__stride_load(texts.data + (i < last ? i : last));
    found = find_specials(stride, dialect->delimiter) |
            cst__stride_found(cst__stride_is(stride, 0xef) | cst__stride_is(stride, comment));
  }
  return found == 0;
}

/* The texts of a column that are short and need no quotes, and empty ones, which do. */
static void csv_print_texts(void *ptr, size_t index) {
  const csv_sink *sink = ptr;
  static const char quotes[] = {'"', '"'};
  const cst__csv_dialect dialect = sink->dialect; /* what is printed cannot change these */
  const cst__text_block block = sink->block;
  const cst__text_column column = block.columns[index];
  char *cell = cst__first_cell(&block, index) + column.prefix_size;
  int32_t *size = cst__first_size(&block, index);
  int32_t most = (int32_t)column.prefix_size;
  const bool are_plain = csv_are_plain(&dialect, cst__short_texts(&block, &column));
  for (int64_t row = block.first; row < block.first + block.rows; row++) {
    *size = CST__CELL_APART;
    if (cst__cell_is_null(&column, row)) {
      *size = cst__put_null_cell(&block, cell, column.prefix_size);
    } else {
      const cst_bytes text = cst__cell_text(&column, row);
      const size_t readable = (size_t)(column.end - text.data);
      if (text.size == 0) {
        memcpy(cell, quotes, sizeof quotes);
        *size = (int32_t)(column.prefix_size + sizeof quotes);
      } else if (text.size <= CST__SHORT_TEXT &&
                 ((are_plain && cst__copy_short(cell, text, readable)) ||
                  put_plain(&dialect, cell, text, readable) != NULL)) {
        *size = (int32_t)(column.prefix_size + text.size);
      }
    }
    most = *size > most ? *size : most;
    cell += block.row_size;
    size += block.num_columns;
  }
  block.columns[index].width = (size_t)most;
}

static cst_status csv_put_block(csv_sink *sink, char **at, cst_error *error) {
  for (int64_t i = 0; i < sink->block.rows && *at != NULL; i++) {
    CST__TRY(csv_put_row(sink, i, at, error));
    sink->text.size = *at != NULL ? (size_t)(*at - sink->text.data) : 0;
    if (sink->text.size >= FLUSH_SIZE || sink->cell.failed) {
      CST__TRY(csv_flush(sink, error));
      *at = sink->text.data;
    }
  }
  return CST_OK;
}

static cst_status csv_put_rows(csv_sink *sink, const cst__view *batch, cst_error *error) {
  for (size_t i = 0; i < sink->num_columns && !sink->lossy; i++) {
    CST__TRY(cst__json_check_dates(&batch->children[i], error));
  }
  csv_take_columns(sink, batch);
  char *to = cst__text_reserve(&sink->text, sink->row_room);
  for (int64_t row = 0; row < batch->length && to != NULL; row += sink->block.rows) {
    cst__text_block_print(&sink->block, row, batch->length - row, csv_print_texts, sink);
    CST__TRY(csv_put_block(sink, &to, error));
  }
  return to != NULL ? CST_OK : csv_flush(sink, error);
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
  if (sink->is_multivalent == NULL) {
    return cst__fail_memory(error, sink->num_columns);
  }
  CST__TRY(
      cst__text_block_init(&sink->block, sink->num_columns, "    ", 0, &sink->allocator, error));
  for (size_t i = 0; i < sink->num_columns; i++) {
    const char *name = sink->schema->children[i]->name;
    name = name != NULL ? name : "";
    csv_put(&sink->block.prefixes, &sink->dialect.delimiter, i > 0);
    cst__text_block_end_prefix(&sink->block, i);
    sink->is_multivalent[i] = csv->secondary_delimiter != 0 || csv_is_named(csv, name);
    if (csv->header) {
      csv_put(&sink->text, &sink->dialect.delimiter, i > 0);
      csv_put_text(sink, (const uint8_t *)name, strlen(name));
    }
  }
  csv_put(&sink->text, "\n", csv->header);
  CST__TRY(cst__text_block_lay_out(&sink->block, error));
  sink->row_room = sink->block.row_size + 2 * CST__STRIDE;
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
