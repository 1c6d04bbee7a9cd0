/* Numbers in cells: what they are, exactly, and their values, correctly rounded, whatever the
 * locale is.
 */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/csv/csv.h"

enum {
  MAX_TEXT = 1024,      /* of a float: all digits of any double, with zeros around them, fit */
  EXACT_INT_DIGITS = 15 /* any integer of so many digits is a double */
};

typedef struct text {
  const uint8_t *at;
  size_t size;
} text;

static inline bool number_is_space(uint8_t byte) { return byte == ' ' || byte == '\t'; }

static inline text trimmed(const uint8_t *at, size_t size) {
  while (size > 0 && number_is_space(*at)) {
    at++;
    size--;
  }
  while (size > 0 && number_is_space(at[size - 1])) {
    size--;
  }
  return (text){at, size};
}

static inline bool number_is_digit(uint8_t byte) { return (uint8_t)(byte - '0') < 10; }

/* Eight bytes at a time: little-endian words of ASCII digits. */
static inline bool are_digits(uint64_t word) {
  return ((word & UINT64_C(0xf0f0f0f0f0f0f0f0)) |
          (((word + UINT64_C(0x0606060606060606)) & UINT64_C(0xf0f0f0f0f0f0f0f0)) >> 4)) ==
         UINT64_C(0x3333333333333333);
}

static inline uint64_t number_value_of(uint64_t word) {
  word -= UINT64_C(0x3030303030303030);
  word = word * 10 + (word >> 8);
  return (((word & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064)) +
          (((word >> 16) & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001))) >>
         32;
}

/* Adds the digits at the start of `t` to *value, which wraps; returns their number. */
static inline size_t number_take_digits(text *t, uint64_t *value) {
  const uint8_t *begin = t->at;
  const uint8_t *end = t->at + t->size;
  const uint8_t *at = begin;
  uint64_t sum = *value;
  while (end - at >= 8) {
    uint64_t word = cst__load64(at);
    if (!are_digits(word)) {
      break;
    }
    sum = sum * 100000000 + number_value_of(word);
    at += 8;
  }
  while (at < end && number_is_digit(*at)) {
    sum = sum * 10 + (uint64_t)(*at++ - '0');
  }
  *value = sum;
  t->at = at;
  t->size = (size_t)(end - at);
  return (size_t)(at - begin);
}

static inline bool take_sign(text *t) {
  bool negative = t->size > 0 && *t->at == '-';
  if (negative || (t->size > 0 && *t->at == '+')) {
    t->at++;
    t->size--;
  }
  return negative;
}

static void pass_zeros(text *t) {
  while (t->size > 1 && *t->at == '0') {
    t->at++;
    t->size--;
  }
}

/* ---- integers ---- */

/* A whole number without its sign; false if it is none or beyond uint64. */
static inline bool take_whole(text t, uint64_t *value) {
  *value = 0;
  pass_zeros(&t);
  if (t.size == 0 || t.size > 20) {
    return false;
  }
  bool is_longest = t.size == 20;
  text lead = {t.at, is_longest ? 19 : t.size};
  if (number_take_digits(&lead, value) != (is_longest ? 19 : t.size)) {
    return false;
  }
  if (!is_longest) {
    return true;
  }
  return number_is_digit(t.at[19]) && !__builtin_mul_overflow(*value, 10, value) &&
         !__builtin_add_overflow(*value, (uint64_t)(t.at[19] - '0'), value);
}

/* The common case: up to 16 digits and no more than a minus before them. False: look closer.
 */
static inline bool quick_int(const uint8_t *at, size_t size, int64_t *out) {
  static const int64_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  bool negative = size > 0 && *at == '-';
  at += negative;
  size -= negative;
  if (size == 0 || size > 16) {
    return false;
  }
  int64_t high = 0;
  if (size > 8) {
    uint64_t word = cst__load64(at);
    if (!are_digits(word)) {
      return false;
    }
    high = (int64_t)number_value_of(word);
    at += 8;
    size -= 8;
  }
  unsigned missing = 8 * (8 - (unsigned)size); /* bits, filled with zeros in front */
  uint64_t word =
      cst__load64(at) << missing | (UINT64_C(0x30303030303030) & ((UINT64_C(1) << missing) - 1));
  if (!are_digits(word)) {
    return false;
  }
  int64_t value = high * tens[size] + (int64_t)number_value_of(word);
  *out = negative ? -value : value;
  return true;
}

bool cst__csv_int64(const uint8_t *bytes, size_t size, int64_t *out) {
  if (quick_int(bytes, size, out)) {
    return true;
  }
  text t = trimmed(bytes, size);
  bool negative = take_sign(&t);
  uint64_t value;
  if (!take_whole(t, &value) || value > (uint64_t)INT64_MAX + negative) {
    return false;
  }
  *out = (int64_t)(negative ? 0 - value : value);
  return true;
}

bool cst__csv_uint64(const uint8_t *bytes, size_t size, uint64_t *out) {
  text t = trimmed(bytes, size);
  bool negative = take_sign(&t);
  return take_whole(t, out) && !(negative && *out > 0);
}

/* ---- the grammar of floats ---- */

/* digits * 10^exponent. */
typedef struct decimal {
  uint64_t digits;
  int64_t exponent;
  size_t num_digits; /* without zeros in front; beyond 19, `digits` is meaningless */
  bool negative;
  bool is_word; /* not a number or infinite: `word` is it */
  double word;
  bool plain;  /* no plus sign and no needless zero in front */
  bool is_int; /* neither point nor exponent */
} decimal;

static bool number_is_word(text t, const char *word) {
  if (t.size != strlen(word)) {
    return false;
  }
  for (size_t i = 0; i < t.size; i++) {
    if ((t.at[i] | 0x20) != (uint8_t)word[i]) {
      return false;
    }
  }
  return true;
}

static bool take_word(text t, decimal *d) {
  d->is_word = true;
  d->word = number_is_word(t, "nan") ? (double)NAN : (double)INFINITY;
  return number_is_word(t, "nan") || number_is_word(t, "inf") || number_is_word(t, "infinity");
}

/* "e-12" and no more. Exponents are clipped far beyond what a double knows. */
static bool take_exponent(text t, int64_t *exponent) {
  t.at++;
  t.size--;
  bool negative = take_sign(&t);
  pass_zeros(&t);
  uint64_t value = 0;
  size_t digits = number_take_digits(&t, &value);
  if (digits == 0 || t.size > 0) {
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

/* Python's float() without underscores; false if the text is not one. */
static inline bool parse_decimal(text t, decimal *d) {
  bool has_plus = t.size > 0 && *t.at == '+';
  *d = (decimal){.negative = take_sign(&t), .is_int = true};
  const uint8_t *begin = t.at;
  size_t whole = number_take_digits(&t, &d->digits);
  d->plain = !has_plus && (whole < 2 || *begin != '0');
  size_t zeros = whole > 0 && *begin == '0' ? leading_zeros(begin, whole) : 0;
  d->num_digits = whole - zeros;
  size_t fraction = 0;
  if (t.size > 0 && *t.at == '.') {
    d->is_int = false;
    t.at++;
    t.size--;
    const uint8_t *point = t.at;
    fraction = number_take_digits(&t, &d->digits);
    d->exponent = -(int64_t)fraction;
    d->num_digits += fraction;
    if (d->num_digits == fraction) {
      d->num_digits -= leading_zeros(point, fraction);
    }
  }
  if (whole + fraction == 0) {
    return d->is_int && take_word(t, d);
  }
  if (t.size > 0 && (*t.at | 0x20) == 'e') {
    d->is_int = false;
    return take_exponent(t, &d->exponent);
  }
  return t.size == 0;
}

/* ---- values of floats ---- */

#if LDBL_MANT_DIG == 64 && LDBL_MAX_EXP == 16384
#define HAS_LONG_DOUBLE 1
/* Exact in 64 bits of mantissa. */
static const long double long_powers[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,
                                          1e7L,  1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L,
                                          1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L,
                                          1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};

enum { MAX_LONG_POWER = 27 };

/* One rounding to 64 bits and one to 53. The second is right unless the first ended in the middle
 * between two doubles. */
static bool long_double(const decimal *d, double *out) {
  if (d->exponent < -MAX_LONG_POWER || d->exponent > MAX_LONG_POWER) {
    return false;
  }
  long double value = (long double)d->digits;
  value = d->exponent < 0 ? value / long_powers[-d->exponent] : value * long_powers[d->exponent];
  uint64_t mantissa;
  memcpy(&mantissa, &value, sizeof mantissa);
  *out = (double)value;
  return (mantissa & 0x7ff) != 0x400;
}
#else
static bool long_double(const decimal *d, double *out) {
  (void)d;
  (void)out;
  return false;
}
#endif

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* True if arithmetic gives the correctly rounded value. */
static inline bool quick_double(const decimal *d, double *out) {
  enum { MAX_POWER = 22 };
  if (d->num_digits > 19) {
    return false;
  }
  if (d->digits == 0) {
    *out = 0;
    return true;
  }
  if (d->digits <= (UINT64_C(1) << DBL_MANT_DIG) && d->exponent >= -MAX_POWER &&
      d->exponent <= MAX_POWER) {
    double value = (double)d->digits;
    *out = d->exponent < 0 ? value / powers[-d->exponent] : value * powers[d->exponent];
    return true;
  }
  return long_double(d, out);
}

/* As strtod and strtof want it, with the decimal point of the process's locale. */
static bool spell(text t, char *buf, size_t room) {
  const char *point = localeconv()->decimal_point;
  size_t point_size = strlen(point);
  size_t used = 0;
  for (size_t i = 0; i < t.size; i++) {
    bool is_point = t.at[i] == '.';
    size_t size = is_point ? point_size : 1;
    if (used + size >= room) {
      return false;
    }
    memcpy(buf + used, is_point ? point : (const char *)&t.at[i], size);
    used += size;
  }
  buf[used] = '\0';
  return true;
}

static inline bool number_to_double(text t, const decimal *d, double *out) {
  if (d->is_word) {
    *out = d->negative ? -d->word : d->word;
    return true;
  }
  if (quick_double(d, out)) {
    *out = d->negative ? -*out : *out;
    return true;
  }
  char buf[MAX_TEXT + 1];
  if (!spell(t, buf, sizeof buf)) {
    return false;
  }
  *out = strtod(buf, NULL);
  return isfinite(*out);
}

bool cst__csv_float64(const uint8_t *bytes, size_t size, double *out) {
  text t = trimmed(bytes, size);
  decimal d;
  return parse_decimal(t, &d) && number_to_double(t, &d, out);
}

/* A double is rounded right to float32 unless it is subnormal there, or lies in the middle between
 * two floats (and the decimal perhaps beside it). */
bool cst__csv_float32(const uint8_t *bytes, size_t size, float *out) {
  text t = trimmed(bytes, size);
  decimal d;
  double wide;
  if (!parse_decimal(t, &d) || !number_to_double(t, &d, &wide)) {
    return false;
  }
  uint64_t bits;
  memcpy(&bits, &wide, sizeof bits);
  bool is_middle = (bits & 0x1fffffff) == 0x10000000;
  bool is_small = fabs(wide) < (double)FLT_MIN && fpclassify(wide) != FP_ZERO;
  if (d.is_word || (!is_middle && !is_small)) {
    *out = (float)wide;
  } else {
    char buf[MAX_TEXT + 1];
    if (!spell(t, buf, sizeof buf)) {
      return false;
    }
    *out = strtof(buf, NULL);
  }
  return d.is_word || isfinite(*out);
}

/* ---- what a text is ---- */

static unsigned classify_int(const decimal *d) {
  if (d->num_digits <= EXACT_INT_DIGITS) {
    return CST__CSV_HAS_INT;
  }
  if (d->num_digits > 19 || d->digits > (uint64_t)INT64_MAX + d->negative) {
    return CST__CSV_HAS_TEXT;
  }
  bool is_exact = (uint64_t)(double)d->digits == d->digits;
  return is_exact ? CST__CSV_HAS_INT : CST__CSV_HAS_INT | CST__CSV_HAS_WIDE_INT;
}

unsigned cst__csv_classify(const uint8_t *bytes, size_t size) {
  int64_t whole;
  size_t sign = size > 0 && *bytes == '-';
  bool has_zeros = size > sign + 1 && bytes[sign] == '0';
  if (size <= EXACT_INT_DIGITS && !has_zeros && quick_int(bytes, size, &whole)) {
    return CST__CSV_HAS_INT;
  }
  text t = trimmed(bytes, size);
  decimal d;
  /* Letters first: most texts are words. */
  if (t.size == 0 || (*t.at > '9' && (*t.at | 0x20) != 'n' && (*t.at | 0x20) != 'i') ||
      !parse_decimal(t, &d)) {
    return CST__CSV_HAS_TEXT;
  }
  if (d.is_word) {
    return CST__CSV_HAS_FLOAT;
  }
  if (!d.plain) {
    return CST__CSV_HAS_TEXT;
  }
  if (d.is_int) {
    return classify_int(&d);
  }
  if (t.size > MAX_TEXT) {
    return CST__CSV_HAS_TEXT;
  }
  double value;
  bool may_overflow = d.exponent + (int64_t)d.num_digits > 300;
  return !may_overflow || number_to_double(t, &d, &value) ? CST__CSV_HAS_FLOAT : CST__CSV_HAS_TEXT;
}
