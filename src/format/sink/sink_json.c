/* Record batches to JSON lines: one object per row. */
#include <string.h>

#include "format/json/text.h"
#include "format/sink/sink_format.h"
#include "text/json_string.h"

enum { FLUSH_SIZE = 1 << 18, KEY_STEP = 16 };

typedef struct json_sink {
  cst_allocator allocator;
  cst__output *output;              /* lent */
  const struct ArrowSchema *schema; /* borrowed */
  cst__arena arena;                 /* the views of one batch */
  cst__text text;                   /* lines that are not written yet */
  cst__text keys;                   /* the keys of all columns, one after the other */
  size_t *key_ends;                 /* where each key ends in `keys` */
  size_t num_keys;
  bool lossy;
} json_sink;

static void json_free(void *ptr) {
  json_sink *sink = ptr;
  cst__arena_reset(&sink->arena);
  cst__text_free(&sink->text);
  cst__text_free(&sink->keys);
  cst__delete(sink->key_ends);
  cst__delete(sink);
}

static cst_status make_keys(json_sink *sink, cst_error *error) {
  size_t count = (size_t)sink->schema->n_children;
  sink->num_keys = count;
  sink->key_ends = cst__new(&sink->allocator, (count + 1) * sizeof *sink->key_ends);
  for (size_t i = 0; i < count && sink->key_ends != NULL; i++) {
    const char *name = sink->schema->children[i]->name;
    if (i > 0) {
      cst__text_append(&sink->keys, ", ", 2);
    }
    cst__json_key(&sink->keys, name != NULL ? name : "");
    sink->key_ends[i] = sink->keys.size;
  }
  char *padding = cst__text_reserve(&sink->keys, KEY_STEP);
  if (padding != NULL) {
    memset(padding, 0, KEY_STEP);
  }
  return sink->key_ends == NULL || sink->keys.failed
             ? cst__fail_memory(error, count * sizeof(size_t))
             : CST_OK;
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

/* Appends a key; those in `keys`, and the text, can be read and written KEY_STEP bytes further. */
static inline void append_key(cst__text *text, const char *key, size_t size) {
  char *to = cst__text_reserve(text, size + KEY_STEP);
  if (to != NULL) {
    for (size_t i = 0; i < size; i += KEY_STEP) {
      memcpy(to + i, key + i, KEY_STEP);
    }
    text->size += size;
  }
}

/* The common types, without a look at what else there is: numbers, and strings, which are valid as
 * the batch was checked. */
static inline void append_value(cst__text *text, const cst__view *view, int64_t row) {
  const int64_t at = view->offset + row;
  if (cst__view_is_null(view, row)) {
    cst__text_append_few(text, "null", 4);
  } else if (view->layout == CST__LAYOUT_NUMBER && view->dtype == CST_DTYPE_INT64) {
    cst__json_int64(text, ((const int64_t *)view->data)[at]);
  } else if (view->layout == CST__LAYOUT_NUMBER && view->dtype == CST_DTYPE_FLOAT64) {
    cst__json_float64(text, ((const double *)view->data)[at]);
  } else if (view->layout == CST__LAYOUT_BINARY && (*view->format | 0x20) == 'u') {
    const cst_bytes bytes = cst__view_bytes(view, row);
    cst__put_json_string(text, bytes.data, bytes.size, CST__JSON_SHOWN);
  } else {
    cst__json_value(text, view, row);
  }
}

static void append_row(json_sink *sink, const cst__view *batch, int64_t row) {
  cst__text *text = &sink->text;
  size_t begin = 0;
  cst__text_append_few(text, "{", 1);
  for (size_t i = 0; i < sink->num_keys; i++) {
    append_key(text, sink->keys.data + begin, sink->key_ends[i] - begin);
    begin = sink->key_ends[i];
    append_value(text, &batch->children[i], row);
  }
  cst__text_append_few(text, "}\n", 2);
}

static cst_status append_rows(json_sink *sink, const cst__view *batch, cst_error *error) {
  for (int64_t i = 0; i < batch->num_children && !sink->lossy; i++) {
    CST__TRY(cst__json_check_dates(&batch->children[i], error));
  }
  for (int64_t row = 0; row < batch->length; row++) {
    append_row(sink, batch, row);
    if (sink->text.size >= FLUSH_SIZE || sink->text.failed) {
      CST__TRY(json_flush(sink, error));
    }
  }
  return CST_OK;
}

static cst_status json_write(void *ptr, const struct ArrowArray *batch, cst_error *error) {
  json_sink *sink = ptr;
  cst__view view;
  cst_status status = cst__view_init(&view, sink->schema, batch, false, &sink->arena, error);
  if (status == CST_OK) {
    status = cst__view_refuse_nulls(&view, "the row", error);
  }
  if (status == CST_OK) {
    status = append_rows(sink, &view, error);
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
