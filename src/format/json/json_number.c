/* Numbers as JSON text. Floats are printed with the fewest digits that read back as the same value.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/json/text.h"

/* A decimal: digits * 10^exponent, digits without zeros at the end, num_digits of them. */
typedef struct decimal {
  uint64_t digits;
  int num_digits;
  int exponent;
} decimal;

/* The exact powers of ten of a double. */
static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

enum { MAX_POWER = 22, FLOAT_DIGITS = 9, DOUBLE_DIGITS = 17 };

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
static void append_decimal(cst__json_text *text, bool negative, decimal d) {
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

/* ---- finding the digits ---- */

static decimal without_zeros(uint64_t digits, int exponent) {
  decimal d = {digits, 1, exponent};
  while (d.digits % 10 == 0 && d.digits > 0) {
    d.digits /= 10;
    d.exponent++;
  }
  for (uint64_t rest = d.digits; rest >= 10; rest /= 10) {
    d.num_digits++;
  }
  return d;
}

/* The decimal exponent of the leading digit of a value between 1e-12 and 1e15. */
static int leading_exponent(double value) {
  int binary;
  frexp(value, &binary);
  int least = (int)floor((binary - 1) * 0.30102999566398120); /* of the next lower power of two */
  double next = least < -1 ? value * powers[-least - 1] : value / powers[least + 1];
  return next >= 1 ? least + 1 : least;
}

/* True if digits * 10^exponent reads back as `value`. The product or quotient of two exact doubles
 * is the correctly rounded double; rounding that to float32 is right unless it lies in the middle
 * between two floats, and not exactly so. */
static bool reads_back(uint64_t digits, int exponent, float value) {
  double whole = (double)digits;
  double power = powers[exponent < 0 ? -exponent : exponent];
  double near = exponent < 0 ? whole / power : whole * power;
  if ((float)near != value) {
    return false;
  }
  uint64_t bits;
  memcpy(&bits, &near, sizeof bits);
  bool is_middle = (bits & 0x1fffffff) == 0x10000000;
  double rest = !is_middle ? 0 : exponent < 0 ? fma(near, power, -whole) : fma(whole, power, -near);
  return fpclassify(rest) == FP_ZERO;
}

/* Shortest digits by arithmetic on doubles, for the magnitudes where powers of ten are exact. */
static bool short_float(float value, decimal *out) {
  double wide = (double)value;
  if (wide < 1e-12 || wide > 1e15) {
    return false;
  }
  int leading = leading_exponent(wide);
  for (int n = 1; n <= FLOAT_DIGITS; n++) {
    int exponent = leading - n + 1;
    if (exponent < -MAX_POWER) {
      return false;
    }
    double scaled = exponent < 0 ? wide * powers[-exponent] : wide / powers[exponent];
    uint64_t digits = (uint64_t)(scaled + 0.5);
    if (digits > 0 && reads_back(digits, exponent, value)) {
      *out = without_zeros(digits, exponent);
      return true;
    }
  }
  return false;
}

/* "d.ddde-XX", as printf writes it. */
static decimal parse_scientific(const char *text) {
  uint64_t digits = 0;
  int fraction = 0;
  bool behind = false;
  for (; *text != 'e'; text++) {
    if (*text >= '0' && *text <= '9') {
      digits = digits * 10 + (uint64_t)(*text - '0');
      fraction += behind;
    } else {
      behind = true; /* the point, whatever the locale writes */
    }
  }
  return without_zeros(digits, atoi(text + 1) - fraction);
}

static bool text_reads_back(const char *text, double value, bool is_float) {
  return is_float ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
}

/* Shortest digits by trying; value is positive. */
static decimal printed(double value, bool is_float) {
  char buf[64];
  int most = is_float ? FLOAT_DIGITS : DOUBLE_DIGITS;
  bool is_tiny = is_float || value < DBL_MIN; /* few digits may be enough */
  for (int n = is_tiny ? 1 : 15; n <= most; n++) {
    snprintf(buf, sizeof buf, "%.*e", n - 1, value);
    if (text_reads_back(buf, value, is_float)) {
      break;
    }
  }
  return parse_scientific(buf);
}

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
  decimal d;
  if (!short_float(fabsf(value), &d)) {
    d = printed(fabs((double)value), true);
  }
  append_decimal(text, signbit(value), d);
}

void cst__json_float64(cst__json_text *text, double value) {
  if (!append_special(text, value)) {
    append_decimal(text, signbit(value), printed(fabs(value), false));
  }
}
