/* Numbers and bools as text, and back. Floats have the fewest digits that read back as the same
 * value, as Python's repr.
 */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/decimal.h"
#include "query/functions/cast.h"
#include "query/functions/words.h"

/* ---- to text ---- */

enum { NUMBER_TEXT = 40 };

static size_t write_unsigned(char *to, uint64_t value, bool is_negative) {
  char digits[24];
  char *at = digits + sizeof digits;
  do {
    *--at = (char)('0' + value % 10);
    value /= 10;
  } while (value > 0);
  if (is_negative) {
    *--at = '-';
  }
  size_t size = (size_t)(digits + sizeof digits - at);
  memcpy(to, at, size);
  return size;
}

/* "123.0", "0.001", "1e-05", "1.5e+16": a point where it is near. */
static size_t write_decimal(char *to, bool is_negative, cst__decimal d) {
  char digits[24];
  char *at = to;
  int size = (int)write_unsigned(digits, d.digits, false);
  int point = size + d.exponent; /* digits before the point */
  if (is_negative) {
    *at++ = '-';
  }
  if (point > 16 || point < -3) {
    *at++ = digits[0];
    at += sprintf(at, size > 1 ? ".%.*s" : "%.*s", size - 1, digits + 1);
    return (size_t)(at + sprintf(at, "e%c%02d", point > 0 ? '+' : '-', abs(point - 1)) - to);
  }
  if (point <= 0) {
    at += sprintf(at, "0.%.*s%.*s", -point, "000", size, digits);
  } else if (point >= size) {
    at += sprintf(at, "%.*s%.*s.0", size, digits, point - size, "0000000000000000");
  } else {
    at += sprintf(at, "%.*s.%.*s", point, digits, size - point, digits + point);
  }
  return (size_t)(at - to);
}

static size_t write_float(char *to, double value, bool is_float32) {
  const char *special = isnan(value)   ? "nan"
                        : isinf(value) ? (value > 0 ? "inf" : "-inf")
                        : value == 0.0 ? (signbit(value) ? "-0.0" : "0.0")
                                       : NULL;
  if (special != NULL) {
    return (size_t)sprintf(to, "%s", special);
  }
  double size = fabs(value);
  return write_decimal(
      to, value < 0,
      is_float32 ? cst__decimal_of_float32((float)size) : cst__decimal_of_float64(size));
}

static size_t write_value_text(char *to, const cst__view *view, const cst__value_info *info,
                               int64_t i) {
  if (info->kind == CST__VALUE_BOOL) {
    bool is_true = cst__view_bool(view, i);
    memcpy(to, is_true ? "true" : "false", 5);
    return is_true ? 4 : 5;
  }
  if (info->kind == CST__VALUE_FLOAT) {
    int64_t at = view->offset + i;
    return info->width == 4 ? write_float(to, (double)((const float *)view->data)[at], true)
                            : write_float(to, ((const double *)view->data)[at], false);
  }
  int64_t value = cst__view_int(view, i);
  bool is_negative = info->is_signed && value < 0;
  return write_unsigned(to, is_negative ? 0 - (uint64_t)value : (uint64_t)value, is_negative);
}

cst_status cst__cast_to_text(const cst__view *from, const cst_allocator *allocator,
                             struct ArrowArray *out, cst_error *error) {
  cst__text_result texts;
  cst__value_info info = cst__value_info_of((cst__value_type){from->format});
  CST__TRY(cst__text_result_begin(&texts, out, out->length, allocator, error));
  cst_status status = CST_OK;
  for (int64_t i = 0; i < out->length && status == CST_OK; i++) {
    char text[NUMBER_TEXT];
    size_t size = cst__result_is_null(out, i) ? 0 : write_value_text(text, from, &info, i);
    status = cst__text_result_append(&texts, (const uint8_t *)text, size, error);
  }
  return cst__text_result_end(&texts, status);
}

/* ---- from text ---- */

static size_t count_digits(const char *at, const char *end) {
  size_t count = 0;
  while (at + count < end && at[count] >= '0' && at[count] <= '9') {
    count++;
  }
  return count;
}

/* A sign and digits, as large as the type; false if it is anything else. */
static bool read_int(cst_bytes text, const cst__value_info *info, uint64_t *out) {
  const char *at = (const char *)text.data;
  const char *end = at + text.size;
  bool is_negative = text.size > 0 && *at == '-';
  at += text.size > 0 && (*at == '-' || *at == '+');
  uint64_t value = 0;
  if (at == end || count_digits(at, end) != (size_t)(end - at)) {
    return false;
  }
  for (; at < end; at++) {
    if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
        __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value)) {
      return false;
    }
  }
  int bits = 8 * info->width - (info->is_signed ? 1 : 0);
  uint64_t most = (bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1) +
                  (is_negative && info->is_signed ? 1 : 0);
  most = is_negative && !info->is_signed ? 0 : most;
  *out = is_negative ? 0 - value : value;
  return value <= most;
}

/* Digits with a point and an exponent: [sign] digits [. digits] [e [sign] digits]. */
static bool is_float_text(const char *at, const char *end) {
  at += at < end && (*at == '-' || *at == '+');
  size_t whole = count_digits(at, end);
  at += whole;
  size_t fraction = 0;
  if (at < end && *at == '.') {
    fraction = count_digits(++at, end);
    at += fraction;
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    at++;
    at += at < end && (*at == '-' || *at == '+');
    size_t exponent = count_digits(at, end);
    if (exponent == 0) {
      return false;
    }
    at += exponent;
  }
  return at == end && whole + fraction > 0;
}

static bool is_special_text(const char *at, size_t size, double *out) {
  static const struct {
    const char *word;
    double value;
  } words[] = {{"nan", (double)NAN},           {"inf", (double)INFINITY},
               {"+inf", (double)INFINITY},     {"-inf", -(double)INFINITY},
               {"infinity", (double)INFINITY}, {"-infinity", -(double)INFINITY}};
  char lower[12];
  for (size_t i = 0; i < size && i < sizeof lower; i++) {
    lower[i] = (char)(at[i] >= 'A' && at[i] <= 'Z' ? at[i] + 32 : at[i]);
  }
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (strlen(words[i].word) == size && memcmp(words[i].word, lower, size) == 0) {
      *out = words[i].value;
      return true;
    }
  }
  return false;
}

enum { MAX_FLOAT_TEXT = 800 };

static bool read_float_text(cst_bytes text, bool is_float32, double *out) {
  char copy[MAX_FLOAT_TEXT + 8];
  const char *at = (const char *)text.data;
  if (text.size == 0 || text.size > MAX_FLOAT_TEXT) {
    return false;
  }
  if (is_special_text(at, text.size, out)) {
    return true;
  }
  if (!is_float_text(at, at + text.size)) {
    return false;
  }
  memcpy(copy, at, text.size);
  copy[text.size] = '\0';
  char *point = strchr(copy, '.');
  const char *wanted = localeconv()->decimal_point; /* what strtod reads in this process */
  if (point != NULL && strlen(wanted) == 1) {
    *point = *wanted;
  }
  *out = is_float32 ? (double)strtof(copy, NULL) : strtod(copy, NULL);
  return !isinf(*out);
}

static bool read_bool(cst_bytes text, uint64_t *out) {
  *out = text.size == 4;
  return (text.size == 4 && memcmp(text.data, "true", 4) == 0) ||
         (text.size == 5 && memcmp(text.data, "false", 5) == 0);
}

/* Puts the value that a text is into slot `i`. */
static bool read_value_text(cst_bytes text, const cst__value_info *info, uint8_t *values,
                            int64_t i) {
  uint64_t word = 0;
  double number = 0;
  if (info->kind == CST__VALUE_BOOL) {
    bool is_bool = read_bool(text, &word);
    values[i >> 3] = (uint8_t)(values[i >> 3] | (word & 1) << (i & 7));
    return is_bool;
  }
  if (info->kind == CST__VALUE_FLOAT) {
    bool is_float = read_float_text(text, info->width == 4, &number);
    float small = (float)number;
    memcpy(values + i * info->width,
           info->width == 4 ? (const void *)&small : (const void *)&number, (size_t)info->width);
    return is_float;
  }
  bool is_int = read_int(text, info, &word);
  memcpy(values + i * info->width, &word, (size_t)info->width);
  return is_int;
}

cst_status cst__cast_from_text(const cst__view *from, cst__value_type to, struct ArrowArray *out,
                               cst_error *error) {
  cst__value_info info = cst__value_info_of(to);
  uint8_t *values = cst__result_values(out, info.width, error);
  if (values == NULL) {
    return CST_NO_MEMORY;
  }
  memset(values, 0,
         info.width > 0 ? (size_t)out->length * (size_t)info.width : cst__bits_size(out->length));
  for (int64_t i = 0; i < out->length; i++) {
    if (!cst__result_is_null(out, i) &&
        !read_value_text(cst__view_text(from, i), &info, values, i)) {
      return cst__cast_fail((cst__value_type){from->format}, to, i, error);
    }
  }
  return CST_OK;
}
