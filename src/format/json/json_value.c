/* Arrow values as JSON text: strings, bytes, lists, structs. */
#include <string.h>

#include "base/utf8.h"
#include "format/json/text.h"
#include "text/base64.h"
#include "text/json_string.h"

void cst__json_bytes(cst__text *text, cst_bytes bytes) {
  if (cst__utf8_valid(bytes.data, bytes.size)) {
    cst__put_json_string(text, bytes.data, bytes.size, CST__JSON_SHOWN);
  } else {
    cst__text_puts(text, "{\"base64\": \"");
    cst__put_base64(text, bytes);
    cst__text_puts(text, "\"}");
  }
}

void cst__json_key(cst__text *text, const char *name) {
  const uint8_t *bytes = (const uint8_t *)name;
  size_t size = strlen(name);
  cst__text_puts(text, "\"");
  while (size > 0) {
    size_t valid = cst__utf8_valid_prefix(bytes, size);
    cst__put_json_inside(text, bytes, valid, CST__JSON_SHOWN);
    if (valid < size) {
      cst__text_printf(text, "\\\\x%02x", bytes[valid]);
      valid++;
    }
    bytes += valid;
    size -= valid;
  }
  cst__text_puts(text, "\": ");
}

/* ---- values ---- */

#define PUT(text, literal) cst__text_append_few(text, literal, sizeof(literal) - 1)

bool cst__json_is_texted(const cst__view *view) {
  return view->layout == CST__LAYOUT_OPAQUE && cst__has_value_text(view->format);
}

size_t cst__json_texted(const cst__view *view, int64_t i, char out[CST__VALUE_TEXT_SIZE]) {
  const uint8_t *values = view->data;
  return cst__print_value_text(out, view->format,
                               values + (view->offset + i) * (int64_t)view->fixed_size);
}

static cst_status add_step(const cst__view *view, cst_status status, cst_error *error) {
  if (status != CST_OK && view->name != NULL) {
    cst__error_add_path(error, view->name, strlen(view->name));
  }
  return status;
}

cst_status cst__json_check(const cst__view *view, cst_error *error) {
  if ((view->layout == CST__LAYOUT_OPAQUE && !cst__json_is_texted(view)) ||
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

/* Slots of type date64 are milliseconds. */
static cst_status check_days(const cst__view *view, cst_error *error) {
  enum { MS_PER_DAY = 86400000 };
  const int64_t *values = view->data;
  for (int64_t i = 0; i < view->length; i++) {
    if (!cst__view_is_null(view, i) && values[view->offset + i] % MS_PER_DAY != 0) {
      return cst__fail(error, CST_UNSUPPORTED,
                       "make it a timestamp, or allow losses (lossy): the date alone",
                       "a date64 of a part of a day cannot be written as text");
    }
  }
  return CST_OK;
}

cst_status cst__json_check_dates(const cst__view *view, cst_error *error) {
  if (strcmp(view->format, "tdm") == 0) {
    return add_step(view, check_days(view, error), error);
  }
  for (int64_t i = 0; i < view->num_children; i++) {
    cst_status status = cst__json_check_dates(&view->children[i], error);
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

static void append_number(cst__text *text, const cst__view *v, int64_t i) {
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

static void json_text_append_list(cst__text *text, const cst__view *v, int64_t i) {
  int64_t begin;
  int64_t end;
  cst__view_list(v, i, &begin, &end);
  PUT(text, "[");
  for (int64_t j = begin; j < end; j++) {
    if (j > begin) {
      PUT(text, ", ");
    }
    cst__json_value(text, &v->children[0], j);
  }
  PUT(text, "]");
}

static void json_text_append_struct(cst__text *text, const cst__view *v, int64_t i) {
  PUT(text, "{");
  for (int64_t c = 0; c < v->num_children; c++) {
    if (c > 0) {
      PUT(text, ", ");
    }
    cst__json_key(text, v->children[c].name != NULL ? v->children[c].name : "");
    cst__json_value(text, &v->children[c], i);
  }
  PUT(text, "}");
}

static void json_text_append_bool(cst__text *text, const cst__view *v, int64_t i) {
  int64_t at = v->offset + i;
  if ((((const uint8_t *)v->data)[at >> 3] >> (at & 7) & 1) != 0) {
    PUT(text, "true");
  } else {
    PUT(text, "false");
  }
}

static void json_text_append_texted(cst__text *text, const cst__view *v, int64_t i) {
  char out[CST__VALUE_TEXT_SIZE];
  size_t size = cst__json_texted(v, i, out);
  PUT(text, "\"");
  cst__text_append(text, out, size);
  PUT(text, "\"");
}

void cst__json_value(cst__text *text, const cst__view *view, int64_t i) {
  if (cst__view_is_null(view, i)) {
    PUT(text, "null");
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
      json_text_append_texted(text, view, i);
      break;
    case CST__LAYOUT_NULL:
    case CST__LAYOUT_OTHER:
      PUT(text, "null");
      break;
  }
}
