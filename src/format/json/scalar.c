/* Scalars of JSON text: integers of the kinds that columns tell apart, and the marks of our writer.
 */
#include <math.h>
#include <string.h>

#include "format/json/json.h"
#include "text/number.h"

/* ---- numbers ---- */

cst__json_number cst__json_read_number(const char *text, size_t size) {
  bool is_negative;
  uint64_t u = 0;
  cst__whole_kind whole = cst__parse_whole(text, size, &is_negative, &u);
  if (whole == CST__WHOLE_64 && u <= (uint64_t)INT64_MAX + is_negative) {
    return (cst__json_number){CST__JSON_INT, (int64_t)(is_negative ? 0 - u : u), u};
  }
  return (cst__json_number){whole == CST__WHOLE_NONE                  ? CST__JSON_FLOAT
                            : whole == CST__WHOLE_HUGE || is_negative ? CST__JSON_HUGE
                                                                      : CST__JSON_UINT,
                            0, u};
}

bool cst__json_read_special(const char *text, size_t size, double *out) {
  if (size == 3 && memcmp(text, "NaN", 3) == 0) {
    *out = (double)NAN;
    return true;
  }
  bool is_negative = size > 0 && text[0] == '-';
  if (size - is_negative == 8 && memcmp(text + is_negative, "Infinity", 8) == 0) {
    *out = is_negative ? -(double)INFINITY : (double)INFINITY;
    return true;
  }
  return false;
}

/* ---- bytes ---- */

yyjson_val *cst__json_base64_mark(yyjson_val *value) {
  if (!yyjson_is_obj(value) || unsafe_yyjson_get_len(value) != 1) {
    return NULL;
  }
  yyjson_val *key = unsafe_yyjson_get_first(value);
  yyjson_val *inner = key + 1;
  bool is_mark = unsafe_yyjson_get_len(key) == 6 &&
                 memcmp(unsafe_yyjson_get_str(key), "base64", 6) == 0 && yyjson_is_str(inner);
  return is_mark ? inner : NULL;
}

/* 0 to 63; more for a byte that is not a digit. */
static unsigned digit_of(char c) {
  if (c >= 'A' && c <= 'Z') {
    return (unsigned)(c - 'A');
  }
  if (c >= 'a' && c <= 'z') {
    return (unsigned)(c - 'a') + 26;
  }
  if (c >= '0' && c <= '9') {
    return (unsigned)(c - '0') + 52;
  }
  return c == '+' ? 62 : c == '/' ? 63 : 64;
}

bool cst__json_base64_size(const char *text, size_t size, size_t *out) {
  size_t padding = 0;
  if (size % 4 != 0) {
    return false;
  }
  while (padding < 2 && padding < size && text[size - 1 - padding] == '=') {
    padding++;
  }
  for (size_t i = 0; i < size - padding; i++) {
    if (digit_of(text[i]) > 63) {
      return false;
    }
  }
  *out = size / 4 * 3 - padding;
  unsigned idle = padding == 2 ? 15 : padding == 1 ? 3 : 0;
  return padding == 0 || (digit_of(text[size - 1 - padding]) & idle) == 0;
}

void cst__json_base64_decode(const char *text, size_t size, uint8_t *out) {
  for (size_t i = 0; i < size; i += 4) {
    uint32_t word = 0;
    int count = 3;
    for (size_t j = i; j < i + 4; j++) {
      word = word << 6 | (text[j] != '=' ? digit_of(text[j]) : 0);
      count -= text[j] == '=';
    }
    for (int j = 0; j < count; j++) {
      *out++ = (uint8_t)(word >> (16 - 8 * j));
    }
  }
}
