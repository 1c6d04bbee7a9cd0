/* Arrow values as JSON text: strings, bytes, lists, structs. */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "format/json/text.h"

/* ---- text that grows ---- */

void cst__json_reset(cst__json_text *text) {
  cst__delete(text->data);
  text->data = NULL;
  text->size = text->capacity = 0;
}

/* Room for `size` more bytes; NULL if there is none. */
static char *json_text_reserve(cst__json_text *text, size_t size) {
  size_t want;
  if (text->failed || !cst__add(text->size, size, &want) ||
      (want > text->capacity &&
       !cst__grow(&text->allocator, (void **)&text->data, &text->capacity, want, 1))) {
    text->failed = true;
    return NULL;
  }
  return text->data + text->size;
}

void cst__json_append(cst__json_text *text, const void *bytes, size_t size) {
  char *at = size > 0 ? json_text_reserve(text, size) : NULL; /* an empty text has no data yet */
  if (at != NULL) {
    memcpy(at, bytes, size);
    text->size += size;
  }
}

static void json_text_put(cst__json_text *text, const char *string) {
  cst__json_append(text, string, strlen(string));
}

/* ---- strings ---- */

static void append_escaped(cst__json_text *text, uint8_t c) {
  static const char letters[] = "btnvfr"; /* 8 to 13; JSON has no \v */
  char buf[8];
  if (c == '"' || c == '\\') {
    snprintf(buf, sizeof buf, "\\%c", c);
  } else if (c >= 8 && c <= 13 && c != 11) {
    snprintf(buf, sizeof buf, "\\%c", letters[c - 8]);
  } else {
    snprintf(buf, sizeof buf, "\\u%04x", c);
  }
  json_text_put(text, buf);
}

/* The same of a character of several bytes, below U+10000. */
static void append_escaped_wide(cst__json_text *text, const uint8_t *c, size_t size) {
  char buf[8];
  unsigned code = size == 2 ? (c[0] & 0x1fU) << 6 | (c[1] & 0x3fU)
                            : (c[0] & 0x0fU) << 12 | (c[1] & 0x3fU) << 6 | (c[2] & 0x3fU);
  snprintf(buf, sizeof buf, "\\u%04x", code);
  json_text_put(text, buf);
}

static bool is_plain(uint8_t c) { return c >= 0x20 && c != '"' && c != '\\' && c != 0x7f; }

/* The size of the character if a terminal would obey it (all such have 2 or 3 bytes), else 0. JSON
 * is printed, and an escape means the same. */
static size_t hidden_size(const uint8_t *c) {
  size_t size = c[0] == 0xe2 ? 3 : c[0] == 0xc2 || c[0] == 0xd8 ? 2 : 0;
  return size > 0 && cst__utf8_is_hidden(c, size) ? size : 0;
}

/* The inside of a string; bytes are UTF-8. */
static void append_string_bytes(cst__json_text *text, const uint8_t *bytes, size_t size) {
  for (size_t i = 0; i < size;) {
    size_t begin = i;
    size_t hidden = 0;
    while (i < size && is_plain(bytes[i]) && (hidden = hidden_size(bytes + i)) == 0) {
      i++;
    }
    cst__json_append(text, bytes + begin, i - begin);
    if (hidden > 0) {
      append_escaped_wide(text, bytes + i, hidden);
      i += hidden;
    } else if (i < size) {
      append_escaped(text, bytes[i++]);
    }
  }
}

static void json_text_append_base64(cst__json_text *text, const uint8_t *bytes, size_t size) {
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t groups = size / 3 + (size % 3 != 0);
  size_t length;
  char *at = cst__mul(groups, 4, &length) ? json_text_reserve(text, length) : NULL;
  if (at == NULL) {
    text->failed = true;
    return;
  }
  for (size_t i = 0; i < size; i += 3) {
    size_t left = size - i;
    uint32_t word = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                    (left > 2 ? bytes[i + 2] : 0);
    *at++ = alphabet[word >> 18];
    *at++ = alphabet[word >> 12 & 63];
    *at++ = left > 1 ? alphabet[word >> 6 & 63] : '=';
    *at++ = left > 2 ? alphabet[word & 63] : '=';
  }
  text->size += length;
}

void cst__json_bytes(cst__json_text *text, cst_bytes bytes) {
  if (cst__utf8_valid(bytes.data, bytes.size)) {
    json_text_put(text, "\"");
    append_string_bytes(text, bytes.data, bytes.size);
    json_text_put(text, "\"");
  } else {
    json_text_put(text, "{\"base64\": \"");
    json_text_append_base64(text, bytes.data, bytes.size);
    json_text_put(text, "\"}");
  }
}

void cst__json_key(cst__json_text *text, const char *name) {
  const uint8_t *bytes = (const uint8_t *)name;
  size_t size = strlen(name);
  json_text_put(text, "\"");
  while (size > 0) {
    size_t valid = cst__utf8_valid_prefix(bytes, size);
    append_string_bytes(text, bytes, valid);
    if (valid < size) {
      char buf[8];
      snprintf(buf, sizeof buf, "\\\\x%02x", bytes[valid]);
      json_text_put(text, buf);
      valid++;
    }
    bytes += valid;
    size -= valid;
  }
  json_text_put(text, "\": ");
}

/* ---- values ---- */

static cst_status add_step(const cst__view *view, cst_status status, cst_error *error) {
  if (status != CST_OK && view->name != NULL) {
    cst__error_add_path(error, view->name, strlen(view->name));
  }
  return status;
}

cst_status cst__json_check(const cst__view *view, cst_error *error) {
  if ((view->layout == CST__LAYOUT_OPAQUE && !cst__json_is_time(view)) ||
      view->layout == CST__LAYOUT_OTHER) {
    char type[64];
    cst__view_type_name(view, type, sizeof type);
    return add_step(
        view,
        cst__fail(error, CST_UNSUPPORTED, "leave the column out, or write Arrow or Parquet",
                  "a column of type %s cannot be written as JSON", type),
        error);
  }
  for (int64_t i = 0; i < view->num_children; i++) {
    cst_status status = cst__json_check(&view->children[i], error);
    if (status != CST_OK) {
      return view->layout == CST__LAYOUT_STRUCT ? add_step(view, status, error) : status;
    }
  }
  return CST_OK;
}

/* An IEEE half-precision number. */
static float json_text_half_to_float(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000) << 16;
  uint32_t exponent = half >> 10 & 31;
  uint32_t fraction = half & 0x3ff;
  uint32_t bits = sign | (exponent + 112) << 23 | fraction << 13;
  float value;
  if (exponent == 31) {
    bits = sign | 0x7f800000 | fraction << 13;
  } else if (exponent == 0) {
    value = (float)fraction * 0x1p-24f;
    return sign != 0 ? -value : value;
  }
  memcpy(&value, &bits, sizeof value);
  return value;
}

#define NUMBER(v, type, i) (((const type *)(v)->data)[(v)->offset + (i)])

static void append_number(cst__json_text *text, const cst__view *v, int64_t i) {
  switch (v->dtype) {
    case CST_DTYPE_INT64:
      cst__json_int64(text, NUMBER(v, int64_t, i));
      break;
    case CST_DTYPE_FLOAT32:
      cst__json_float32(text, NUMBER(v, float, i));
      break;
    case CST_DTYPE_FLOAT64:
      cst__json_float64(text, NUMBER(v, double, i));
      break;
    case CST_DTYPE_INT8:
      cst__json_int64(text, NUMBER(v, int8_t, i));
      break;
    case CST_DTYPE_INT16:
      cst__json_int64(text, NUMBER(v, int16_t, i));
      break;
    case CST_DTYPE_INT32:
      cst__json_int64(text, NUMBER(v, int32_t, i));
      break;
    case CST_DTYPE_UINT8:
      cst__json_uint64(text, NUMBER(v, uint8_t, i));
      break;
    case CST_DTYPE_UINT16:
      cst__json_uint64(text, NUMBER(v, uint16_t, i));
      break;
    case CST_DTYPE_UINT32:
      cst__json_uint64(text, NUMBER(v, uint32_t, i));
      break;
    case CST_DTYPE_UINT64:
      cst__json_uint64(text, NUMBER(v, uint64_t, i));
      break;
    case CST_DTYPE_NONE:
    case CST_DTYPE_BYTES:
    case CST_DTYPE_BOOL:
      break;
  }
}

static void json_text_append_list(cst__json_text *text, const cst__view *v, int64_t i) {
  int64_t begin;
  int64_t end;
  cst__view_list(v, i, &begin, &end);
  json_text_put(text, "[");
  for (int64_t j = begin; j < end; j++) {
    if (j > begin) {
      json_text_put(text, ", ");
    }
    cst__json_value(text, &v->children[0], j);
  }
  json_text_put(text, "]");
}

static void json_text_append_struct(cst__json_text *text, const cst__view *v, int64_t i) {
  json_text_put(text, "{");
  for (int64_t c = 0; c < v->num_children; c++) {
    if (c > 0) {
      json_text_put(text, ", ");
    }
    cst__json_key(text, v->children[c].name != NULL ? v->children[c].name : "");
    cst__json_value(text, &v->children[c], i);
  }
  json_text_put(text, "}");
}

static void json_text_append_bool(cst__json_text *text, const cst__view *v, int64_t i) {
  int64_t at = v->offset + i;
  json_text_put(text, ((const uint8_t *)v->data)[at >> 3] >> (at & 7) & 1 ? "true" : "false");
}

static void json_text_append_time(cst__json_text *text, const cst__view *v, int64_t i) {
  char time[CST__JSON_TIME_SIZE];
  size_t size = cst__json_time(v, i, time);
  json_text_put(text, "\"");
  cst__json_append(text, time, size);
  json_text_put(text, "\"");
}

void cst__json_value(cst__json_text *text, const cst__view *view, int64_t i) {
  if (cst__view_is_null(view, i)) {
    json_text_put(text, "null");
    return;
  }
  switch (view->layout) {
    case CST__LAYOUT_NUMBER:
      append_number(text, view, i);
      break;
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_BINARY_VIEW:
    case CST__LAYOUT_FIXED_BINARY:
      cst__json_bytes(text, cst__view_bytes(view, i));
      break;
    case CST__LAYOUT_LIST:
    case CST__LAYOUT_FIXED_LIST:
    case CST__LAYOUT_LIST_VIEW:
      json_text_append_list(text, view, i);
      break;
    case CST__LAYOUT_STRUCT:
      json_text_append_struct(text, view, i);
      break;
    case CST__LAYOUT_BOOL:
      json_text_append_bool(text, view, i);
      break;
    case CST__LAYOUT_HALF:
      cst__json_float32(text, json_text_half_to_float(NUMBER(view, uint16_t, i)));
      break;
    case CST__LAYOUT_OPAQUE:
      json_text_append_time(text, view, i);
      break;
    case CST__LAYOUT_NULL:
    case CST__LAYOUT_OTHER:
      json_text_put(text, "null");
      break;
  }
}
