/* Record batches to JSON lines: one object per row. */
#include <math.h>
#include <string.h>

#include "format/json/text.h"
#include "format/sink/sink_format.h"
#include "format/sink/text_column.h"
#include "text/json_string.h"
#include "text/stride.h"

enum { FLUSH_SIZE = 1 << 18 };

typedef struct json_sink {
  cst_allocator allocator;
  cst__output *output;              /* lent */
  const struct ArrowSchema *schema; /* borrowed */
  cst__arena arena;                 /* the views of one batch */
  cst__text text;                   /* lines that are not written yet */
  cst__text keys;                   /* the keys of all columns, one after the other */
  size_t *key_ends;                 /* where each key ends in `keys` */
  cst__text_column *columns;        /* of the batch */
  size_t num_columns;
  size_t row_room; /* bytes that a row may take, its texts and what is nested aside */
  bool lossy;
} json_sink;

static void json_free(void *ptr) {
  json_sink *sink = ptr;
  cst__arena_reset(&sink->arena);
  cst__text_free(&sink->text);
  cst__text_free(&sink->keys);
  cst__delete(sink->key_ends);
  cst__delete(sink->columns);
  cst__delete(sink);
}

/* Each key with what stands before and after it. */
static cst_status make_keys(json_sink *sink, cst_error *error) {
  const size_t count = (size_t)sink->schema->n_children;
  sink->num_columns = count;
  sink->key_ends = cst__new(&sink->allocator, (count + 1) * sizeof *sink->key_ends);
  sink->columns = cst__new_zero(&sink->allocator, (count + 1) * sizeof *sink->columns);
  if (sink->key_ends == NULL || sink->columns == NULL) {
    return cst__fail_memory(error, count * sizeof *sink->columns);
  }
  for (size_t i = 0; i < count; i++) {
    const char *name = sink->schema->children[i]->name;
    cst__text_puts(&sink->keys, i == 0 ? "{" : ", ");
    cst__json_key(&sink->keys, name != NULL ? name : "");
    sink->key_ends[i] = sink->keys.size;
  }
  char *padding = cst__text_reserve(&sink->keys, CST__STRIDE);
  if (padding == NULL) {
    return cst__fail_memory(error, sink->keys.size);
  }
  memset(padding, 0, CST__STRIDE);
  sink->row_room = sink->keys.size + (count + 1) * CST__NUMBER_SIZE + CST__STRIDE;
  return CST_OK;
}

static cst_status json_check_types(json_sink *sink, cst_error *error) {
  cst__view view;
  cst_status status = cst__view_init_schema(&view, sink->schema, &sink->arena, error);
  for (int64_t i = 0; status == CST_OK && i < view.num_children; i++) {
    status = cst__json_check(&view.children[i], error);
  }
  cst__arena_reset(&sink->arena);
  return status;
}

static cst_status json_open(const cst__sink_target *open, void **out, cst_error *error) {
  cst_allocator allocator = cst__allocator_of(open->options->allocator);
  json_sink *sink = cst__new_zero(&allocator, sizeof *sink);
  if (sink == NULL) {
    return cst__fail_memory(error, sizeof *sink);
  }
  sink->allocator = sink->text.allocator = sink->keys.allocator = allocator;
  sink->output = open->output;
  sink->schema = open->schema;
  sink->lossy = open->options->lossy;
  cst__arena_init(&sink->arena, &sink->allocator);
  cst_status status = cst__sink_check_names(open->schema, error);
  if (status == CST_OK) {
    status = json_check_types(sink, error);
  }
  if (status == CST_OK) {
    status = make_keys(sink, error);
  }
  if (status != CST_OK) {
    json_free(sink);
    return status;
  }
  *out = sink;
  return CST_OK;
}

static cst_status json_flush(json_sink *sink, cst_error *error) {
  if (sink->text.failed) {
    return cst__fail_memory(error, sink->text.capacity);
  }
  size_t size = sink->text.size;
  sink->text.size = 0;
  return size > 0 ? cst__output_write(sink->output, sink->text.data, size, error) : CST_OK;
}

/* Copies a key; those in `keys` can be read a stride further. */
static inline char *put_key(char *to, const char *key, size_t size) {
  for (size_t i = 0; i < size; i += CST__STRIDE) {
    (void)cst__stride_copy(to + i, (const uint8_t *)key + i);
  }
  return to + size;
}

/* A string, which is valid as the batch was checked. */
static inline char *put_string_cell(json_sink *sink, const cst__text_column *column, int64_t row,
                                    char *to) {
  const cst_bytes text = cst__cell_text(column, row);
  to = cst__room_at(&sink->text, to, text.size + 2 + CST__STRIDE + sink->row_room);
  if (to == NULL) {
    return NULL;
  }
  *to++ = '"';
  const size_t plain =
      cst__copy_json_plain(to, text.data, text.size, (size_t)(column->end - text.data));
  to += plain;
  if (plain < text.size) {
    sink->text.size = (size_t)(to - sink->text.data);
    cst__put_json_inside(&sink->text, text.data + plain, text.size - plain, CST__JSON_SHOWN);
    to = cst__text_reserve(&sink->text, sink->row_room);
    if (to == NULL) {
      return NULL;
    }
  }
  *to++ = '"';
  return to;
}

static char *put_other_cell(json_sink *sink, const cst__text_column *column, int64_t row,
                            char *to) {
  sink->text.size = (size_t)(to - sink->text.data);
  cst__json_value(&sink->text, column->view, row);
  return cst__text_reserve(&sink->text, sink->row_room);
}

/* NaN and the infinities are words in quotes. */
static inline bool is_word(const cst__text_column *column, int64_t row) {
  const int64_t at = column->offset + row;
  return (column->kind == CST__CELL_FLOAT64 && !isfinite(((const double *)column->data)[at])) ||
         (column->kind == CST__CELL_FLOAT32 && !isfinite(((const float *)column->data)[at]));
}

/* Writes a row at `to`, and returns where it ends; NULL: out of memory. */
static char *put_row(json_sink *sink, int64_t row, char *to) {
  static const char null[] = {'n', 'u', 'l', 'l'};
  const char *key = sink->keys.data;
  to = cst__room_at(&sink->text, to, sink->row_room);
  for (size_t i = 0; i < sink->num_columns && to != NULL; i++) {
    const cst__text_column *column = &sink->columns[i];
    const char *end = sink->keys.data + sink->key_ends[i];
    to = put_key(to, key, (size_t)(end - key));
    key = end;
    if (cst__cell_is_null(column, row)) {
      memcpy(to, null, sizeof null);
      to += sizeof null;
    } else if (column->kind == CST__CELL_TEXT) {
      to = put_string_cell(sink, column, row, to);
    } else if (column->kind == CST__CELL_OTHER || is_word(column, row)) {
      to = put_other_cell(sink, column, row, to);
    } else {
      to = cst__print_cell(to, column, row);
    }
  }
  if (to != NULL && sink->num_columns == 0) {
    *to++ = '{';
  }
  if (to != NULL) {
    *to++ = '}';
    *to++ = '\n';
  }
  return to;
}

static void json_take_columns(json_sink *sink, const cst__view *batch) {
  for (size_t i = 0; i < sink->num_columns; i++) {
    sink->columns[i] = cst__text_column_of(&batch->children[i]);
    if (sink->columns[i].kind == CST__CELL_TEXT && !batch->children[i].is_string) {
      sink->columns[i].kind = CST__CELL_OTHER; /* bytes may be base64 */
    }
  }
}

static cst_status put_rows(json_sink *sink, const cst__view *batch, cst_error *error) {
  for (int64_t i = 0; i < batch->num_children && !sink->lossy; i++) {
    CST__TRY(cst__json_check_dates(&batch->children[i], error));
  }
  json_take_columns(sink, batch);
  char *to = cst__text_reserve(&sink->text, sink->row_room);
  for (int64_t row = 0; row < batch->length && to != NULL; row++) {
    to = put_row(sink, row, to);
    sink->text.size = to != NULL ? (size_t)(to - sink->text.data) : 0;
    if (sink->text.size >= FLUSH_SIZE) {
      CST__TRY(json_flush(sink, error));
      to = sink->text.data;
    }
  }
  return to != NULL ? CST_OK : json_flush(sink, error);
}

static cst_status json_write(void *ptr, const struct ArrowArray *batch, cst_error *error) {
  json_sink *sink = ptr;
  cst__view view;
  cst_status status = cst__view_init(&view, sink->schema, batch, false, &sink->arena, error);
  if (status == CST_OK) {
    status = cst__view_refuse_nulls(&view, "the row", error);
  }
  if (status == CST_OK) {
    status = put_rows(sink, &view, error);
  }
  cst__arena_reset(&sink->arena);
  return status;
}

static cst_status json_finish(void *ptr, cst_error *error) { return json_flush(ptr, error); }

const cst__sink_format cst__sink_json = {
    .open = json_open,
    .write = json_write,
    .finish = json_finish,
    .free = json_free,
};
