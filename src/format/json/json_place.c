/* One record, parsed, and the places of its values. */
#include <stdio.h>
#include <string.h>

#include "format/json/json.h"

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

/* ---- parsing ---- */

static cst_status fail_record(const cst__json_record *record, const cst__json_fault *fault,
                              cst_error *error) {
  if (fault->is_cut) {
    cst__error_set_hint(error, "JSON lines have one object per line; an object cannot span lines");
  } else if (fault->is_followed && !fault->is_nan) {
    cst__error_set_hint(error, "JSON lines have one object per line");
  }
  add_place_at(record, fault->at, error);
  return CST_CORRUPT;
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

cst_status cst__json_record_parse(cst__json_document *document, const cst__json_record *record,
                                  yyjson_val **out, cst_error *error) {
  cst__json_fault fault;
  yyjson_val *root = NULL;
  const cst_bytes text = {record->data, record->size};
  cst_status parsed =
      cst__json_document_parse(document, text, CST__JSON_TEXTS, &root, &fault, error);
  if (parsed != CST_OK) {
    return parsed == CST_CORRUPT ? fail_record(record, &fault, error) : parsed;
  }
  if (!yyjson_is_obj(root)) {
    cst_status status = cst__fail(error, CST_SCHEMA, "JSON lines have one object per line",
                                  "%s, expected an object", cst__json_kind(root));
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
