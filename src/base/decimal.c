/* The fewest digits of a float that read back as the same value. */
#include "base/decimal.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The exact powers of ten of a double. */
static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

enum { MAX_POWER = 22, FLOAT_DIGITS = 9, DOUBLE_DIGITS = 17 };

static cst__decimal without_zeros(uint64_t digits, int exponent) {
  cst__decimal d = {digits, 1, exponent};
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
static bool product_is(uint64_t digits, int exponent, float value) {
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
static bool short_float(float value, cst__decimal *out) {
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
    if (digits > 0 && product_is(digits, exponent, value)) {
      *out = without_zeros(digits, exponent);
      return true;
    }
  }
  return false;
}

/* "d.ddde-XX", as printf writes it. */
static cst__decimal parse_scientific(const char *text) {
  uint64_t digits = 0;
  int fraction = 0;
  bool is_fraction = false;
  for (; *text != 'e'; text++) {
    if (*text >= '0' && *text <= '9') {
      digits = digits * 10 + (uint64_t)(*text - '0');
      fraction += is_fraction;
    } else {
      is_fraction = true; /* the point, whatever the locale writes */
    }
  }
  return without_zeros(digits, atoi(text + 1) - fraction);
}

static bool digits_read_back(const char *text, double value, bool is_float) {
  return is_float ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
}

/* Shortest digits by trying; value is positive. */
static cst__decimal print_digits(double value, bool is_float) {
  char buf[64];
  int most = is_float ? FLOAT_DIGITS : DOUBLE_DIGITS;
  bool is_tiny = is_float || value < DBL_MIN; /* few digits may be enough */
  for (int n = is_tiny ? 1 : 15; n <= most; n++) {
    snprintf(buf, sizeof buf, "%.*e", n - 1, value);
    if (digits_read_back(buf, value, is_float)) {
      break;
    }
  }
  return parse_scientific(buf);
}

/* Values of few digits, as people write them: 15 digits are never those of two doubles, and one
 * division of exact doubles rounds once. */
static bool short_double(double value, cst__decimal *out) {
  if (value < 1e-6 || value >= 1e15) {
    return false;
  }
  for (int places = 0; places <= MAX_POWER; places++) {
    double scaled = value * powers[places];
    if (scaled >= 1e15) {
      return false;
    }
    uint64_t digits = (uint64_t)(scaled + 0.5);
    double back = (double)digits / powers[places];
    if (back >= value && back <= value) {
      *out = without_zeros(digits, -places);
      return true;
    }
  }
  return false;
}

cst__decimal cst__decimal_of_float32(float value) {
  cst__decimal d;
  return short_float(value, &d) ? d : print_digits((double)value, true);
}

cst__decimal cst__decimal_of_float64(double value) {
  cst__decimal d;
  return short_double(value, &d) ? d : print_digits(value, false);
}
