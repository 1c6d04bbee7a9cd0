/* Record batches to JSON lines: one object per row. */
#include <string.h>

#include "format/json/text.h"
#include "format/sink/sink_format.h"
#include "format/sink/text_block.h"
#include "text/json_string.h"
#include "text/stride.h"

enum { FLUSH_SIZE = 1 << 18 };

typedef struct json_sink {
  cst_allocator allocator;
  cst__output *output;              /* lent */
  const struct ArrowSchema *schema; /* borrowed */
  cst__arena arena;                 /* the views of one batch */
  cst__text text;                   /* lines that are not written yet */
  cst__text_block block;            /* of the batch; before each cell stands its key */
  size_t row_room; /* bytes that a row may take, its texts and what is nested aside */
  bool lossy;
} json_sink;

static void json_free(void *ptr) {
  json_sink *sink = ptr;
  cst__arena_reset(&sink->arena);
  cst__text_free(&sink->text);
  cst__text_block_reset(&sink->block);
  cst__delete(sink);
}

/* Each key with what stands before and after it. */
static cst_status make_keys(json_sink *sink, cst_error *error) {
  cst__text_block *block = &sink->block;
  const size_t count = (size_t)sink->schema->n_children;
  CST__TRY(cst__text_block_init(block, count, "null", 4, &sink->allocator, error));
  for (size_t i = 0; i < count; i++) {
    const char *name = sink->schema->children[i]->name;
    cst__text_puts(&block->prefixes, i == 0 ? "{" : ", ");
    cst__json_key(&block->prefixes, name != NULL ? name : "");
    cst__text_block_end_prefix(block, i);
  }
  CST__TRY(cst__text_block_lay_out(block, error));
  sink->row_room = block->row_size + 2 * CST__STRIDE;
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
  sink->allocator = sink->text.allocator = allocator;
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

/* Writes a row of the block at `to`, and returns where it ends; NULL: out of memory. */
static char *put_row(json_sink *sink, int64_t index, char *to) {
  const cst__text_block block = sink->block; /* what is copied cannot change it */
  const char *cells = block.cells + (size_t)index * block.row_size;
  const int32_t *sizes = block.sizes + (size_t)index * block.num_columns;
  const int64_t row = block.first + index;
  to = cst__room_at(&sink->text, to, sink->row_room);
  for (size_t i = 0; i < block.num_columns && to != NULL; i++) {
    const cst__text_column *column = &block.columns[i];
    cst__copy_cell(to, cells + column->place, column->width);
    if (sizes[i] != CST__CELL_APART) {
      to += sizes[i];
    } else if (column->kind == CST__CELL_TEXT) {
      to = put_string_cell(sink, column, row, to + column->prefix_size);
    } else {
      to = put_other_cell(sink, column, row, to + column->prefix_size);
    }
  }
  if (to != NULL && block.num_columns == 0) {
    *to++ = '{';
  }
  if (to != NULL) {
    *to++ = '}';
    *to++ = '\n';
  }
  return to;
}

static void json_take_columns(json_sink *sink, const cst__view *batch) {
  for (size_t i = 0; i < sink->block.num_columns; i++) {
    cst__text_column *column = &sink->block.columns[i];
    cst__text_column_take(column, &batch->children[i]);
    if (column->kind == CST__CELL_TEXT && !batch->children[i].is_string) {
      column->kind = CST__CELL_OTHER; /* bytes may be base64 */
    }
  }
}

/* True if no byte of the texts can begin what is escaped. */
static bool json_are_plain(cst_bytes texts) {
  if (texts.size == 0) {
    return false;
  }
  const size_t last = texts.size - CST__STRIDE; /* this stride overlaps the one before */
  cst__stride_bits found = 0;
  for (size_t i = 0; i < texts.size && found == 0; i += CST__STRIDE) {
    found = cst__json_candidates(cst__stride_load(texts.data + (i < last ? i : last)), true);
  }
  return found == 0;
}

/* The strings of a column that are short and have no escapes. */
static void json_print_texts(void *ptr, size_t index) {
  const json_sink *sink = ptr;
  const cst__text_block block = sink->block; /* what is printed cannot change it */
  const cst__text_column column = block.columns[index];
  char *cell = cst__first_cell(&block, index) + column.prefix_size;
  int32_t *size = cst__first_size(&block, index);
  int32_t most = (int32_t)column.prefix_size;
  const bool are_plain = json_are_plain(cst__short_texts(&block, &column));
  for (int64_t row = block.first; row < block.first + block.rows; row++) {
    *size = CST__CELL_APART;
    if (cst__cell_is_null(&column, row)) {
      *size = cst__put_null_cell(&block, cell, column.prefix_size);
    } else {
      const cst_bytes text = cst__cell_text(&column, row);
      const size_t readable = (size_t)(column.end - text.data);
      if (text.size <= CST__SHORT_TEXT &&
          ((are_plain && cst__copy_short(cell + 1, text, readable)) ||
           cst__copy_json_short(cell + 1, text, readable))) {
        cell[0] = '"';
        cell[text.size + 1] = '"';
        *size = (int32_t)(column.prefix_size + text.size + 2);
      }
    }
    most = *size > most ? *size : most;
    cell += block.row_size;
    size += block.num_columns;
  }
  block.columns[index].width = (size_t)most;
}

static cst_status json_put_block(json_sink *sink, char **at, cst_error *error) {
  for (int64_t i = 0; i < sink->block.rows && *at != NULL; i++) {
    *at = put_row(sink, i, *at);
    sink->text.size = *at != NULL ? (size_t)(*at - sink->text.data) : 0;
    if (sink->text.size >= FLUSH_SIZE) {
      CST__TRY(json_flush(sink, error));
      *at = sink->text.data;
    }
  }
  return CST_OK;
}

static cst_status put_rows(json_sink *sink, const cst__view *batch, cst_error *error) {
  for (int64_t i = 0; i < batch->num_children && !sink->lossy; i++) {
    CST__TRY(cst__json_check_dates(&batch->children[i], error));
  }
  json_take_columns(sink, batch);
  char *to = cst__text_reserve(&sink->text, sink->row_room);
  for (int64_t row = 0; row < batch->length && to != NULL; row += sink->block.rows) {
    cst__text_block_print(&sink->block, row, batch->length - row, json_print_texts, sink);
    CST__TRY(json_put_block(sink, &to, error));
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
