/* What fits a given type: ranges of numbers, floats of fewer bits, units of times. */
#include <math.h>

#include "ext/table/grow.h"

/* ---- numbers ---- */

uint16_t cst__py_half_of(double real) {
  uint64_t bits;
  memcpy(&bits, &real, sizeof bits);
  uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
  int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
  if (exponent > 15) {
    bool is_nan = exponent == 1024 && fraction != 0;
    return sign | (is_nan ? 0x7e00 : 0x7c00);
  }
  if (exponent < -25) {
    return sign;
  }
  bool is_normal = exponent >= -14;
  uint64_t whole =
      is_normal ? (uint64_t)(exponent + 15) << 52 | fraction : UINT64_C(1) << 52 | fraction;
  int shift = is_normal ? 42 : 42 - 14 - exponent;
  uint64_t half = UINT64_C(1) << (shift - 1);
  uint64_t rest = whole & ((half << 1) - 1);
  uint64_t kept = whole >> shift;
  kept += rest > half || (rest == half && (kept & 1) != 0);
  return (uint16_t)(sign | kept);
}

/* The real as a float of the letter's type. */
static double rounded(char letter, double real) {
  return letter == 'f'                   ? (double)(float)real
         : letter == 'e' && !isnan(real) ? cst__py_half(cst__py_half_of(real))
                                         : real;
}

static int fit_float(const cst__py_column *c, cst__py_scalar *item) {
  if (item->kind == CST__PY_INT) {
    double real = (double)item->number;
    bool is_huge = item->letter == 'L' && item->number < 0;
    real = is_huge ? (double)(uint64_t)item->number : real;
    item->real = rounded(c->letter, real);
    bool is_same = is_huge ? item->real < 0x1p64 && (uint64_t)item->real == (uint64_t)item->number
                           : item->real < 0x1p63 && item->real >= -0x1p63 &&
                                 (int64_t)item->real == item->number;
    return is_same ? 0 : isinf(item->real) ? CST__PY_OUT_OF_RANGE : CST__PY_INEXACT;
  }
  if (item->kind != CST__PY_FLOAT) {
    return CST__PY_OTHER_KIND;
  }
  bool was_infinite = isinf(item->real);
  item->real = rounded(c->letter, item->real);
  return isinf(item->real) && !was_infinite ? CST__PY_OUT_OF_RANGE : 0;
}

static int fit_int(const cst__py_column *c, const cst__py_scalar *item) {
  static const char letters[] = "csil";
  bool is_huge = item->letter == 'L' && item->number < 0;
  if (item->kind != CST__PY_INT) {
    return CST__PY_OTHER_KIND;
  }
  if (c->letter == 'L') {
    return item->number < 0 && !is_huge ? CST__PY_OUT_OF_RANGE : 0;
  }
  bool is_signed = c->letter >= 'a';
  const char *at = strchr(letters, is_signed ? c->letter : c->letter - 'A' + 'a');
  int bits = 8 << (at - letters);
  int64_t most = (int64_t)(UINT64_MAX >> (64 - bits + is_signed));
  int64_t least = is_signed ? -most - 1 : 0;
  return is_huge || item->number < least || item->number > most ? CST__PY_OUT_OF_RANGE : 0;
}

/* ---- times ---- */

/* Microseconds to the type's unit. */
static int fit_unit(const cst__py_column *c, cst__py_scalar *item) {
  int64_t divisor = c->type->format[2] == 's' ? 1000000 : c->type->format[2] == 'm' ? 1000 : 1;
  if (item->number % divisor != 0) {
    return CST__PY_INEXACT;
  }
  item->number /= divisor;
  if (c->type->format[2] == 'n') {
    if (item->number > INT64_MAX / 1000 || item->number < INT64_MIN / 1000) {
      return CST__PY_OUT_OF_RANGE;
    }
    item->number *= 1000;
  }
  return 0;
}

int cst__py_column_fit(const cst__py_column *column, cst__py_scalar *item) {
  switch (column->kind) {
    case CST__PY_INT:
      return fit_int(column, item);
    case CST__PY_FLOAT:
      return fit_float(column, item);
    case CST__PY_TIMESTAMP:
    case CST__PY_INSTANT:
    case CST__PY_DURATION:
      return item->kind == column->kind ? fit_unit(column, item) : CST__PY_OTHER_KIND;
    default:
      return item->kind == column->kind ? 0 : CST__PY_OTHER_KIND;
  }
}
