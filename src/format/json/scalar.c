/* Scalars of JSON text: exact integers, correctly rounded floats, and the marks of our writer. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/json/json.h"

/* ---- integers ---- */

cst__json_number cst__json_read_number(const char *text, size_t size) {
  cst__json_number number = {.kind = CST__JSON_INT};
  bool is_negative = size > 0 && text[0] == '-';
  for (size_t i = is_negative; i < size; i++) {
    unsigned digit = (unsigned)(uint8_t)text[i] - '0';
    if (digit > 9) {
      number.kind = CST__JSON_FLOAT;
      return number;
    }
    if (number.kind != CST__JSON_HUGE && (__builtin_mul_overflow(number.u, 10U, &number.u) ||
                                          __builtin_add_overflow(number.u, digit, &number.u))) {
      number.kind = CST__JSON_HUGE;
    }
  }
  if (number.kind == CST__JSON_HUGE) {
    return number;
  }
  uint64_t most = (uint64_t)INT64_MAX + is_negative;
  if (number.u > most) {
    number.kind = is_negative ? CST__JSON_HUGE : CST__JSON_UINT;
  } else {
    number.i = (int64_t)(is_negative ? 0 - number.u : number.u);
  }
  return number;
}

/* ---- floats ---- */

enum { MAX_EXACT_POWER = 22, MAX_FAST_DIGITS = 15, MAX_DIGITS = 800 };

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* The exponent after the 'e' or 'E'; far beyond any float it is only far. */
static int read_exponent(const char *at, const char *end) {
  bool is_negative = at < end && *at == '-';
  int value = 0;
  for (at += at < end && (*at == '-' || *at == '+'); at < end && value < 100000000; at++) {
    value = value * 10 + (*at - '0');
  }
  return is_negative ? -value : value;
}

/* Few digits and a small exponent: both are exact as doubles, so that one operation rounds once. */
static bool read_fast(const char *text, size_t size, double *out) {
  const char *end = text + size;
  const char *at = text + (*text == '-');
  uint64_t digits = 0;
  int count = 0;
  int exponent = 0;
  bool is_fraction = false;
  for (; at < end && *at != 'e' && *at != 'E'; at++) {
    if (*at == '.') {
      is_fraction = true;
      continue;
    }
    digits = digits * 10 + (uint64_t)(*at - '0');
    exponent -= is_fraction;
    if (++count > MAX_FAST_DIGITS) {
      return false;
    }
  }
  if (at < end) {
    exponent += read_exponent(at + 1, end);
  }
  if (exponent < -MAX_EXACT_POWER || exponent > MAX_EXACT_POWER) {
    return false;
  }
  double value = (double)digits;
  value = exponent < 0 ? value / powers[-exponent] : value * powers[exponent];
  *out = *text == '-' ? -value : value;
  return true;
}

bool cst__json_read_float64(const char *text, size_t size, double *out) {
  yyjson_val value;
  if (read_fast(text, size, out)) {
    return true;
  }
  if (yyjson_read_number(text, &value, 0, NULL, NULL) == NULL) {
    return false; /* valid text fails when it is beyond the type */
  }
  *out = yyjson_get_num(&value);
  return true;
}

/* The same number with its digits as a whole number, because the point that strtof wants is that
 * of the process's locale; digits that no float's middle has are one that is not zero. */
static void write_whole(const char *text, size_t size, char *out, size_t n) {
  const char *end = text + size;
  char *to = out;
  int exponent = 0;
  bool is_fraction = false;
  bool is_rest = false;
  int count = 0;
  for (; text < end && *text != 'e' && *text != 'E'; text++) {
    if (*text == '.') {
      is_fraction = true;
    } else if (*text == '-' || count < MAX_DIGITS) {
      *to++ = *text;
      /* Zeros in front do not count as digits that are kept. */
      count += *text != '-' && (count > 0 || *text != '0');
      to -= *text == '0' && count == 0;
      exponent -= is_fraction;
    } else {
      is_rest |= *text != '0';
      exponent += !is_fraction;
    }
  }
  if (text < end) {
    exponent += read_exponent(text + 1, end);
  }
  (void)snprintf(to, n - (size_t)(to - out), "%se%d",
                 is_rest      ? "1"
                 : count == 0 ? "0"
                              : "",
                 exponent - is_rest);
}

bool cst__json_read_float32(const char *text, size_t size, float *out) {
  double wide;
  uint64_t bits;
  if (!cst__json_read_float64(text, size, &wide)) {
    return false;
  }
  memcpy(&bits, &wide, sizeof bits);
  *out = (float)wide;
  /* In the middle between two floats the text decides, not the double that it was rounded to. Below
   * the normal floats the middles lie elsewhere. */
  if ((bits & 0x1fffffff) == 0x10000000 || (fabs(wide) < FLT_MIN && wide < 0) ||
      (fabs(wide) < FLT_MIN && wide > 0)) {
    char whole[MAX_DIGITS + 32];
    write_whole(text, size, whole, sizeof whole);
    *out = strtof(whole, NULL);
  }
  return isfinite(*out);
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
