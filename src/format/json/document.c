/* One record, parsed by yyjson in memory that is used again, and the places of its values. */
#include <stdio.h>
#include <string.h>

#include "format/json/json.h"

enum { KEEP_BYTES = 64 << 20 /* of a slot, from record to record */ };

/* ---- yyjson's memory: a few buffers that stay ---- */

static void *slot_malloc(void *ctx, size_t size) {
  cst__json_document *document = ctx;
  for (size_t i = 0; i < CST__JSON_SLOTS; i++) {
    if (!document->slots[i].is_used) {
      cst__buffer *buffer = &document->slots[i].buffer;
      if (!cst__buffer_reserve(&document->allocator, buffer, size, 0)) {
        return NULL;
      }
      document->slots[i].is_used = true;
      return buffer->data;
    }
  }
  return NULL;
}

static size_t document_slot_of(const cst__json_document *document, const void *data) {
  size_t i = 0;
  while (i + 1 < CST__JSON_SLOTS && document->slots[i].buffer.data != data) {
    i++;
  }
  return i;
}

static void *slot_realloc(void *ctx, void *data, size_t old_size, size_t size) {
  cst__json_document *document = ctx;
  cst__buffer *buffer = &document->slots[document_slot_of(document, data)].buffer;
  return cst__buffer_reserve(&document->allocator, buffer, size, old_size) ? buffer->data : NULL;
}

static void slot_free(void *ctx, void *data) {
  cst__json_document *document = ctx;
  size_t i = document_slot_of(document, data);
  document->slots[i].is_used = false;
  if (document->slots[i].buffer.capacity > KEEP_BYTES) {
    cst__buffer_free(&document->allocator, &document->slots[i].buffer);
  }
}

static void leave(cst__json_document *document) {
  yyjson_doc_free(document->doc);
  document->doc = NULL;
}

void cst__json_document_reset(cst__json_document *document) {
  leave(document);
  for (size_t i = 0; i < CST__JSON_SLOTS; i++) {
    cst__buffer_free(&document->allocator, &document->slots[i].buffer);
  }
}

/* ---- places ---- */

static void add_place_at(const cst__json_record *record, size_t at, cst_error *error) {
  int64_t line = record->line;
  int64_t column = record->column;
  for (size_t i = 0; i < at && i < record->size; i++) {
    column = record->data[i] == '\n' ? 1 : column + 1;
    line += record->data[i] == '\n';
  }
  cst__error_add_record(error, record->record, record->offset);
  cst__error_add_position(error, line, column);
}

static size_t string_end(const cst__json_record *record, size_t at) {
  for (at++; at < record->size && record->data[at] != '"'; at++) {
    at += record->data[at] == '\\';
  }
  return at + 1;
}

/* True for what stands between values and after them. */
static bool is_between(uint8_t c) {
  switch (c) {
    case ' ':
    case '\t':
    case '\r':
    case '\n':
    case ',':
    case ':':
    case ']':
    case '}':
      return true;
    default:
      return false;
  }
}

/* Where the value begins that stands at `index` in the order of the text, keys counted. */
static size_t find_value(const cst__json_record *record, size_t index) {
  size_t at = 0;
  while (at < record->size) {
    uint8_t c = record->data[at];
    if (!is_between(c) && index-- == 0) {
      break;
    }
    if (c == '"') {
      at = string_end(record, at);
    } else if (is_between(c) || c == '[' || c == '{') {
      at++;
    } else {
      while (at < record->size && !is_between(record->data[at])) {
        at++;
      }
    }
  }
  return at;
}

void cst__json_add_place(const cst__json_document *document, const cst__json_record *record,
                         const yyjson_val *value, cst_error *error) {
  size_t at = 0;
  if (value != NULL && document->doc != NULL) {
    at = find_value(record, (size_t)(value - yyjson_doc_get_root(document->doc)));
  }
  add_place_at(record, at, error);
}

void cst__json_add_path(const cst__json_path *path, cst_error *error) {
  char text[256];
  size_t at = 0;
  for (size_t i = 0; i < path->depth && at + 1 < sizeof text; i++) {
    size_t room = sizeof text - at;
    int size;
    if (path->steps[i].name == NULL) {
      size = snprintf(text + at, room, "[%zu]", path->steps[i].index);
    } else {
      size_t most = path->steps[i].size < room ? path->steps[i].size : room;
      size = snprintf(text + at, room, "%s%.*s", i > 0 ? "." : "", (int)most, path->steps[i].name);
    }
    at += (size_t)size < room ? (size_t)size : room - 1;
  }
  if (at > 0) {
    cst__error_add_path(error, text, at);
  }
}

cst_bytes cst__json_path_column(const cst__json_path *path) {
  bool is_column = path->depth == 1 && path->steps[0].name != NULL;
  return is_column ? (cst_bytes){(const uint8_t *)path->steps[0].name, path->steps[0].size}
                   : (cst_bytes){NULL, 0};
}

const char *cst__json_kind_name(const yyjson_val *value) {
  switch (yyjson_get_type((yyjson_val *)value)) {
    case YYJSON_TYPE_NULL:
      return "null";
    case YYJSON_TYPE_BOOL:
      return "true or false";
    case YYJSON_TYPE_RAW:
    case YYJSON_TYPE_NUM:
      return "a number";
    case YYJSON_TYPE_STR:
      return "a string";
    case YYJSON_TYPE_ARR:
      return "a list";
    default:
      return "an object";
  }
}

/* ---- parsing ---- */

/* True if the text begins as a literal that Python's json writes and JSON does not have. */
static bool is_nan_literal(const cst__json_record *record, size_t at) {
  static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    size_t size = strlen(words[i]);
    if (record->size - at >= size && memcmp(record->data + at, words[i], size) == 0) {
      return true;
    }
  }
  return false;
}

static const char *parse_hint(const cst__json_record *record, const yyjson_read_err *why) {
  if (why->code == YYJSON_READ_ERROR_UNEXPECTED_END) {
    return "JSON lines have one object per line; an object may not go over several lines";
  }
  if (is_nan_literal(record, why->pos < record->size ? why->pos : record->size)) {
    return "JSON has no NaN and no infinity: write them as strings, \"NaN\"";
  }
  if (why->code == YYJSON_READ_ERROR_UNEXPECTED_CONTENT) {
    return "JSON lines have one object per line";
  }
  return NULL;
}

static cst_status fail_parse(const cst__json_record *record, const yyjson_read_err *why,
                             cst_error *error) {
  if (why->code == YYJSON_READ_ERROR_MEMORY_ALLOCATION) {
    return cst__fail_memory(error, record->size);
  }
  cst_status status =
      cst__fail(error, CST_CORRUPT, parse_hint(record, why), "no JSON: %s", why->msg);
  add_place_at(record, why->pos, error);
  return status;
}

/* The first value that lies too deep; NULL: none. Needs no recursion: the values of a document lie
 * one after the other, and a list knows where it ends. */
static const yyjson_val *find_too_deep(const yyjson_val *root, size_t count) {
  const yyjson_val *ends[CST__JSON_MAX_DEPTH];
  size_t depth = 0;
  for (const yyjson_val *at = root; at < root + count; at++) {
    while (depth > 0 && at >= ends[depth - 1]) {
      depth--;
    }
    if (yyjson_is_ctn((yyjson_val *)at)) {
      if (depth == CST__JSON_MAX_DEPTH) {
        return at;
      }
      ends[depth++] = unsafe_yyjson_get_next((yyjson_val *)at);
    }
  }
  return NULL;
}

cst_status cst__json_document_parse(cst__json_document *document, const cst__json_record *record,
                                    yyjson_val **out, cst_error *error) {
  yyjson_alc memory = {slot_malloc, slot_realloc, slot_free, document};
  yyjson_read_err why;
  leave(document);
  document->doc = yyjson_read_opts((char *)record->data, record->size, YYJSON_READ_NUMBER_AS_RAW,
                                   &memory, &why);
  if (document->doc == NULL) {
    return fail_parse(record, &why, error);
  }
  yyjson_val *root = yyjson_doc_get_root(document->doc);
  if (!yyjson_is_obj(root)) {
    cst_status status = cst__fail(error, CST_SCHEMA, "JSON lines have one object per line",
                                  "%s, expected an object", cst__json_kind_name(root));
    cst__json_add_place(document, record, root, error);
    return status;
  }
  const yyjson_val *deep = find_too_deep(root, yyjson_doc_get_val_count(document->doc));
  if (deep != NULL) {
    cst_status status = cst__fail(error, CST_LIMIT, NULL, "lists and objects nest deeper than %d",
                                  CST__JSON_MAX_DEPTH);
    cst__json_add_place(document, record, deep, error);
    return status;
  }
  *out = root;
  return CST_OK;
}
