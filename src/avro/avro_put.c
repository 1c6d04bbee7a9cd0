/* Values to bytes, of any kind without children. */
#include "avro/avro_put.h"

#include <string.h>

#include "avro/avro_bytes.h"
#include "avro/avro_check.h"
#include "base/exact.h"
#include "base/utf8.h"

typedef struct putter {
  cst__text *out;
  cst_error *error;
} putter;

static inline void put_bytes(cst__text *out, const void *bytes, size_t size) {
  char *to = cst__text_reserve(out, size);
  if (to != NULL && size > 0) {
    memcpy(to, bytes, size);
    out->size += size;
  }
}

static cst_status fail_value(const putter *p, const char *what) {
  return cst__fail(p->error, CST_UNSUPPORTED, "change the value, or cast the column", "%s", what);
}

static const uint8_t *slot_of(const cst__view *view, int64_t i, size_t width) {
  return (const uint8_t *)view->data + (size_t)(view->offset + i) * width;
}

static cst_status put_time(const putter *p, const cst__avro_put *node, const cst__view *view,
                           int64_t i) {
  int64_t value = 0;
  const uint8_t *at = slot_of(view, i, node->width);
  if (node->width == 4) {
    int32_t narrow;
    memcpy(&narrow, at, sizeof narrow);
    value = narrow;
  } else {
    memcpy(&value, at, sizeof value);
  }
  if (value % node->time.over != 0) {
    return fail_value(p, "a time that the Avro unit cannot represent exactly");
  }
  if (__builtin_mul_overflow(value / node->time.over, node->time.times, &value)) {
    return fail_value(p, "a time outside the range of the Avro type");
  }
  cst__avro_put_long(p->out, value);
  return CST_OK;
}

/* As few bytes as the number takes, from its highest one on. */
static void put_decimal(cst__text *out, const uint8_t *value, size_t width) {
  uint8_t bytes[32];
  uint8_t sign = (value[width - 1] & 0x80) != 0 ? 0xff : 0;
  size_t size = width;
  while (size > 1 && value[size - 1] == sign && ((value[size - 2] ^ sign) & 0x80) == 0) {
    size--;
  }
  for (size_t k = 0; k < size; k++) {
    bytes[k] = value[size - 1 - k];
  }
  cst__avro_put_long(out, (int64_t)size);
  put_bytes(out, bytes, size);
}

static cst_status put_duration(const putter *p, const uint8_t *value) {
  int32_t parts[2];
  int64_t nanos;
  memcpy(parts, value, sizeof parts);
  memcpy(&nanos, value + sizeof parts, sizeof nanos);
  int64_t millis = nanos / 1000000;
  if (parts[0] < 0 || parts[1] < 0 || nanos < 0 || nanos % 1000000 != 0 || millis > UINT32_MAX) {
    return fail_value(p, "an interval that is negative, finer than milliseconds, or too long");
  }
  const uint32_t made[3] = {(uint32_t)parts[0], (uint32_t)parts[1], (uint32_t)millis};
  put_bytes(p->out, made, sizeof made);
  return CST_OK;
}

/* Decimal in a fixed number of bytes, from its highest one on. */
static cst_status put_fixed_decimal(const putter *p, const uint8_t *value, size_t width,
                                    size_t size) {
  uint8_t sign = (value[width - 1] & 0x80) != 0 ? 0xff : 0;
  bool fits = size >= width || ((value[size - 1] ^ sign) & 0x80) == 0;
  for (size_t k = size; k < width; k++) {
    fits &= value[k] == sign;
  }
  for (size_t k = size; k-- > 0;) {
    put_bytes(p->out, k < width ? &value[k] : &sign, 1);
  }
  return fits ? CST_OK : fail_value(p, "a decimal that has more digits than its type");
}

/* A number as a float or double, if that is the same number. */
static cst_status put_real(const putter *p, const cst__avro_put *node, const cst__view *view,
                           int64_t i) {
  bool is_float = node->size == sizeof(float);
  double number;
  float narrow;
  bool fits = true;
  if (view->dtype == CST_DTYPE_FLOAT32) {
    memcpy(&narrow, slot_of(view, i, sizeof narrow), sizeof narrow);
    number = narrow;
  } else if (view->dtype == CST_DTYPE_FLOAT64) {
    memcpy(&number, slot_of(view, i, sizeof number), sizeof number);
    fits = !is_float || !(number == number) || (double)(float)number == number;
  } else {
    int64_t whole = cst__view_int(view, i);
    bool is_large = view->dtype == CST_DTYPE_UINT64 && whole < 0;
    number = is_large ? (double)(uint64_t)whole : (double)whole;
    fits = cst__float_holds(is_large ? (uint64_t)whole : cst__int_size(whole),
                            is_float ? FLT_MANT_DIG : DBL_MANT_DIG);
  }
  narrow = (float)number;
  put_bytes(p->out, is_float ? (const void *)&narrow : &number, node->size);
  return fits ? CST_OK : fail_value(p, "a number that the type cannot represent exactly");
}

static cst_status put_symbol(const putter *p, const cst__avro_put *node, cst_bytes text) {
  size_t found = cst__name_map_find(node->symbols, (const char *)text.data, text.size);
  cst__avro_put_long(p->out, (int64_t)found);
  return found != SIZE_MAX ? CST_OK : fail_value(p, "a text that is not a symbol of the enum");
}

static cst_status put_sized(const putter *p, cst_bytes bytes) {
  cst__avro_put_long(p->out, (int64_t)bytes.size);
  put_bytes(p->out, bytes.data, bytes.size);
  return CST_OK;
}

static cst_status put_bytes_as(const putter *p, const cst__avro_put *node, cst_bytes bytes) {
  if (node->kind == CST__AVRO_ADD_TEXT && !cst__utf8_valid(bytes.data, bytes.size)) {
    return fail_value(p, "bytes that are not UTF-8, which strings are");
  }
  if (node->kind != CST__AVRO_ADD_SIZED) {
    return put_sized(p, bytes);
  }
  put_bytes(p->out, bytes.data, bytes.size);
  return bytes.size == node->width
             ? CST_OK
             : fail_value(p, "bytes whose length differs from the fixed type");
}

/* A record within itself, which was read as the bytes that it is. */
static cst_status put_encoded(const putter *p, const cst__avro_type *type, cst_bytes bytes) {
  put_bytes(p->out, bytes.data, bytes.size);
  return cst__avro_is_value(type, bytes)
             ? CST_OK
             : fail_value(p, "bytes that are not a value of the schema's record");
}

cst_status cst__avro_put_value(const cst__avro_put *node, const cst__view *view, int64_t i,
                               cst__text *out, cst_error *error) {
  const putter where = {out, error};
  const putter *p = &where;
  int64_t number;
  switch (node->kind) {
    case CST__AVRO_ADD_BOOL:
      put_bytes(p->out, cst__view_bool(view, i) ? "\1" : "\0", 1);
      return CST_OK;
    case CST__AVRO_ADD_INT:
      cst__avro_put_long(p->out, cst__view_int(view, i));
      return CST_OK;
    case CST__AVRO_ADD_INT_WITHIN:
      number = cst__view_int(view, i);
      cst__avro_put_long(p->out, number);
      return number >= node->range.least && number <= node->range.most
                 ? CST_OK
                 : fail_value(p, "an integer outside the range of its type");
    case CST__AVRO_ADD_UINT64:
      number = cst__view_int(view, i);
      cst__avro_put_long(p->out, number);
      return number >= 0 ? CST_OK
                         : fail_value(p, "an integer that is larger than 9223372036854775807");
    case CST__AVRO_ADD_REAL:
      return put_real(p, node, view, i);
    case CST__AVRO_ADD_FIXED:
      put_bytes(p->out, slot_of(view, i, node->width), node->width);
      return CST_OK;
    case CST__AVRO_ADD_BYTES:
      return put_sized(p, cst__view_bytes(view, i));
    case CST__AVRO_ADD_TEXT:
    case CST__AVRO_ADD_SIZED:
      return put_bytes_as(p, node, cst__view_bytes(view, i));
    case CST__AVRO_ADD_VALUE:
      return put_encoded(p, node->type, cst__view_bytes(view, i));
    case CST__AVRO_ADD_ENUM:
      return put_symbol(p, node, cst__view_bytes(view, i));
    case CST__AVRO_ADD_DECIMAL:
      put_decimal(p->out, slot_of(view, i, node->width), node->width);
      return CST_OK;
    case CST__AVRO_ADD_DECIMAL_FIXED:
      return put_fixed_decimal(p, slot_of(view, i, node->width), node->width, node->size);
    case CST__AVRO_ADD_TIME:
      return put_time(p, node, view, i);
    case CST__AVRO_ADD_DURATION:
      return put_duration(p, slot_of(view, i, 16));
    case CST__AVRO_ADD_LIST:
    case CST__AVRO_ADD_STRUCT:
    case CST__AVRO_ADD_UNION:
    case CST__AVRO_ADD_DICTIONARY:
    case CST__AVRO_ADD_DEFAULT:
    case CST__AVRO_ADD_NULL:
      break;
  }
  return CST_OK;
}
