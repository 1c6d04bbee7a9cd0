/* Numbers as JSON text. Floats are printed with the fewest digits that read back as the same value.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "format/json/text.h"

/* Writes the digits before `end`; returns their first. */
static char *digits_before(char *end, uint64_t value) {
  do {
    *--end = (char)('0' + value % 10);
    value /= 10;
  } while (value > 0);
  return end;
}

void cst__json_uint64(cst__json_text *text, uint64_t value) {
  char buf[20];
  char *begin = digits_before(buf + sizeof buf, value);
  cst__json_append(text, begin, (size_t)(buf + sizeof buf - begin));
}

void cst__json_int64(cst__json_text *text, int64_t value) {
  char buf[21];
  uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  char *begin = digits_before(buf + sizeof buf, size);
  if (value < 0) {
    *--begin = '-';
  }
  cst__json_append(text, begin, (size_t)(buf + sizeof buf - begin));
}

/* ---- laying a decimal out ---- */

static char *put_fill(char *at, char c, int count) {
  for (int i = 0; i < count; i++) {
    *at++ = c;
  }
  return at;
}

static char *json_number_put_bytes(char *at, const char *bytes, int count) {
  memcpy(at, bytes, (size_t)count);
  return at + count;
}

/* Plain ("120.0", "0.0012") where that is short, else with an exponent ("1.2e30"). */
static void append_decimal(cst__json_text *text, bool negative, cst__decimal d) {
  char digits[20];
  char out[48];
  const char *first = digits_before(digits + sizeof digits, d.digits);
  char *at = out;
  int point = d.num_digits + d.exponent; /* digits before the point */
  if (negative) {
    *at++ = '-';
  }
  if (point > 0 && point <= 17) {
    int whole = point < d.num_digits ? point : d.num_digits;
    at = put_fill(json_number_put_bytes(at, first, whole), '0', point - whole);
    *at++ = '.';
    at = whole < d.num_digits ? json_number_put_bytes(at, first + whole, d.num_digits - whole)
                              : put_fill(at, '0', 1);
  } else if (point <= 0 && point > -5) {
    at = put_fill(json_number_put_bytes(at, "0.", 2), '0', -point);
    at = json_number_put_bytes(at, first, d.num_digits);
  } else {
    *at++ = *first;
    if (d.num_digits > 1) {
      *at++ = '.';
      at = json_number_put_bytes(at, first + 1, d.num_digits - 1);
    }
    at += snprintf(at, 8, "e%d", point - 1);
  }
  cst__json_append(text, out, (size_t)(at - out));
}

/* ---- floats ---- */

/* NaN, the infinities and the zeros; false for other values. */
static bool append_special(cst__json_text *text, double value) {
  const char *special = NULL;
  if (isnan(value)) {
    special = "\"NaN\"";
  } else if (isinf(value)) {
    special = value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  } else if (fpclassify(value) == FP_ZERO) {
    special = signbit(value) ? "-0.0" : "0.0";
  }
  if (special != NULL) {
    cst__json_append(text, special, strlen(special));
  }
  return special != NULL;
}

void cst__json_float32(cst__json_text *text, float value) {
  if (append_special(text, (double)value)) {
    return;
  }
  append_decimal(text, signbit(value), cst__decimal_of_float32(fabsf(value)));
}

void cst__json_float64(cst__json_text *text, double value) {
  if (!append_special(text, value)) {
    append_decimal(text, signbit(value), cst__decimal_of_float64(fabs(value)));
  }
}
