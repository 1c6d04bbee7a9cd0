/* Integers and floats of text. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

#include "text/decimal.h"
#include "text/digits.h"
#include "text/number.h"

/* What is left of a text. */
typedef struct rest {
  const uint8_t *at;
  const uint8_t *end;
} rest;

static inline bool take_sign(rest *t) {
  bool negative = t->at < t->end && *t->at == '-';
  t->at += negative || (t->at < t->end && *t->at == '+');
  return negative;
}

static inline void pass_zeros(rest *t) {
  while (t->end - t->at > 1 && *t->at == '0') {
    t->at++;
  }
}

/* ---- integers ---- */

cst__whole_kind cst__parse_long_whole(const uint8_t *at, const uint8_t *end, uint64_t *magnitude) {
  rest t = {at, end};
  *magnitude = 0;
  pass_zeros(&t);
  const uint8_t *begin = t.at;
  size_t digits = cst__take_digits(&t.at, t.end, magnitude);
  if (digits == 0 || t.at < t.end) {
    return CST__WHOLE_NONE;
  }
  if (digits < 20) {
    return CST__WHOLE_64;
  }
  *magnitude = 0; /* of all but the last digit, at first */
  (void)cst__take_digits(&begin, begin + 19, magnitude);
  bool is_huge = digits > 20 || __builtin_mul_overflow(*magnitude, 10, magnitude) ||
                 __builtin_add_overflow(*magnitude, (uint64_t)(*begin - '0'), magnitude);
  return is_huge ? CST__WHOLE_HUGE : CST__WHOLE_64;
}

bool cst__parse_int64(const void *text, size_t size, int64_t *out) {
  bool negative;
  uint64_t value;
  if (cst__parse_whole(text, size, &negative, &value) != CST__WHOLE_64 ||
      value > (uint64_t)INT64_MAX + negative) {
    return false;
  }
  *out = (int64_t)(negative ? 0 - value : value);
  return true;
}

bool cst__parse_uint64(const void *text, size_t size, uint64_t *out) {
  bool negative;
  return cst__parse_whole(text, size, &negative, out) == CST__WHOLE_64 && !(negative && *out > 0);
}

/* ---- the grammar of floats ---- */

static bool is_letters(rest t, const char *word) {
  if ((size_t)(t.end - t.at) != strlen(word)) {
    return false;
  }
  for (; t.at < t.end; t.at++, word++) {
    if ((*t.at | 0x20) != (uint8_t)*word) {
      return false;
    }
  }
  return true;
}

/* `digits` is 0 for nan. */
static bool take_word(rest t, cst__number *number) {
  number->is_word = true;
  number->digits = !is_letters(t, "nan");
  return number->digits == 0 || is_letters(t, "inf") || is_letters(t, "infinity");
}

/* "e-12" and no more. Exponents are clipped far beyond what a double knows. */
static bool take_exponent(rest t, int64_t *exponent) {
  t.at++;
  bool negative = take_sign(&t);
  pass_zeros(&t);
  uint64_t value = 0;
  size_t digits = cst__take_digits(&t.at, t.end, &value);
  if (digits == 0 || t.at < t.end) {
    return false;
  }
  int64_t most = digits > 6 ? 1000000 : (int64_t)value;
  *exponent += negative ? -most : most;
  return true;
}

/* The digits of a fraction whose whole part is zero count from the first that is none. */
static size_t leading_zeros(const uint8_t *at, size_t size) {
  size_t zeros = 0;
  while (zeros < size && at[zeros] == '0') {
    zeros++;
  }
  return zeros;
}

static inline bool parse_number(rest t, cst__number *d) {
  bool has_plus = t.at < t.end && *t.at == '+';
  *d = (cst__number){.negative = take_sign(&t), .is_int = true};
  const uint8_t *begin = t.at;
  size_t whole = cst__take_digits(&t.at, t.end, &d->digits);
  d->is_plain = !has_plus && (whole < 2 || *begin != '0');
  size_t zeros = whole > 0 && *begin == '0' ? leading_zeros(begin, whole) : 0;
  d->num_digits = whole - zeros;
  size_t fraction = 0;
  if (t.at < t.end && *t.at == '.') {
    d->is_int = false;
    t.at++;
    const uint8_t *point = t.at;
    fraction = cst__take_digits(&t.at, t.end, &d->digits);
    d->exponent = -(int64_t)fraction;
    d->num_digits += fraction;
    if (d->num_digits == fraction) {
      d->num_digits -= leading_zeros(point, fraction);
    }
  }
  if (whole + fraction == 0) {
    return d->is_int && take_word(t, d);
  }
  if (t.at < t.end && (*t.at | 0x20) == 'e') {
    d->is_int = false;
    return take_exponent(t, &d->exponent);
  }
  return t.at == t.end;
}

bool cst__parse_number(const void *text, size_t size, cst__number *out) {
  return parse_number((rest){text, (const uint8_t *)text + size}, out);
}

/* ---- values of floats ---- */

const double cst__tens[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* False: too many digits, or a power of ten that the table does not have. */
static inline bool quick_double(const cst__number *d, double *out) {
  enum { MAX_DIGITS = 19 };
  if (d->num_digits > MAX_DIGITS) {
    return false;
  }
  const bool is_zero = d->digits == 0;
  if (!is_zero && !cst__decimal_has(d->exponent)) {
    return false;
  }
  *out = is_zero ? 0 : cst__decimal_float64(d->digits, (int)d->exponent, false);
  return true;
}

enum {
  MOST_DIGITS = 800, /* the middle between two doubles has fewer: one more tells that it is above */
  SPELLED_SIZE = MOST_DIGITS + 2 * CST__NUMBER_SIZE
};

/* The digits as a whole number, an exponent and a NUL: what yyjson takes, and strtof in any locale.
 */
static void spell(rest t, const cst__number *d, char *out) {
  int64_t exponent = d->exponent;
  char *to = out;
  if (d->num_digits <= 19) {
    to += cst__print_uint64(to, d->digits);
  } else {
    bool is_above = false;
    for (; t.at < t.end && (*t.at | 0x20) != 'e'; t.at++) {
      if (cst__is_digit(*t.at) && to < out + MOST_DIGITS) {
        *to = (char)*t.at;
        to += to > out || *to != '0';
      } else if (cst__is_digit(*t.at)) {
        is_above |= *t.at != '0';
        exponent++;
      }
    }
    *to = '1';
    to += is_above;
    exponent -= is_above;
  }
  *to++ = 'e';
  to[cst__print_int64(to, exponent)] = '\0';
}

static __attribute__((noinline)) bool slow_double(rest t, const cst__number *d, double *out) {
  char spelled[SPELLED_SIZE];
  yyjson_val value;
  spell(t, d, spelled);
  if (yyjson_read_number(spelled, &value, 0, NULL, NULL) == NULL) {
    return false; /* a number fails when it is beyond the type */
  }
  *out = yyjson_get_num(&value);
  return true;
}

static __attribute__((noinline)) float slow_float(rest t, const cst__number *d) {
  char spelled[SPELLED_SIZE];
  spell(t, d, spelled);
  return strtof(spelled, NULL);
}

static inline bool number_float64(rest t, const cst__number *d, double *out) {
  double size = d->digits == 0 ? (double)NAN : (double)INFINITY;
  if (!d->is_word && !quick_double(d, &size) && !slow_double(t, d, &size)) {
    return false;
  }
  *out = d->negative ? -size : size;
  return true;
}

/* A double is rounded right to float32 unless it is subnormal there, or lies in the middle between
 * two floats (and the decimal perhaps beside it). */
static inline bool number_float32(rest t, const cst__number *d, float *out) {
  double wide;
  uint64_t bits;
  if (!number_float64(t, d, &wide)) {
    return false;
  }
  *out = (float)wide;
  if (d->is_word) {
    return true;
  }
  memcpy(&bits, &wide, sizeof bits);
  bool is_middle = (bits & 0x1fffffff) == 0x10000000;
  if (is_middle || (fabs(wide) < (double)FLT_MIN && fpclassify(wide) != FP_ZERO)) {
    float size = slow_float(t, d);
    *out = d->negative ? -size : size;
  }
  return isfinite(*out);
}

bool cst__number_float64(const void *text, size_t size, const cst__number *number, double *out) {
  return number_float64((rest){text, (const uint8_t *)text + size}, number, out);
}

bool cst__number_float32(const void *text, size_t size, const cst__number *number, float *out) {
  return number_float32((rest){text, (const uint8_t *)text + size}, number, out);
}

bool cst__parse_float64(const void *text, size_t size, double *out) {
  rest t = {text, (const uint8_t *)text + size};
  cst__number d;
  return parse_number(t, &d) && number_float64(t, &d, out);
}

bool cst__parse_float32(const void *text, size_t size, float *out) {
  rest t = {text, (const uint8_t *)text + size};
  cst__number d;
  return parse_number(t, &d) && number_float32(t, &d, out);
}
