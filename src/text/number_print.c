/* Integers and floats to text. The fewest digits of a float are found by arithmetic in whole
 * numbers where 128 bits hold them, and else by trying what printf rounds to.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/number.h"

/* ---- integers ---- */

/* Compares of an estimate, which is at most one too large. */
static size_t count_digits(uint64_t value) {
  static const uint64_t tens[] = {0,
                                  10,
                                  100,
                                  1000,
                                  10000,
                                  100000,
                                  1000000,
                                  10000000,
                                  100000000,
                                  1000000000,
                                  10000000000,
                                  100000000000,
                                  1000000000000,
                                  10000000000000,
                                  100000000000000,
                                  1000000000000000,
                                  10000000000000000,
                                  100000000000000000,
                                  1000000000000000000,
                                  UINT64_C(10000000000000000000)};
  unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
  unsigned digits = bits * 1233 >> 12; /* log10(2) */
  return digits + (value >= tens[digits]);
}

static const char pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
    "8081828384858687888990919293949596979899";

/* Four digits and eight, with zeros in front. */
static inline void put_four(char *to, uint32_t value) {
  memcpy(to, pairs + value / 100 * 2, 2);
  memcpy(to + 2, pairs + value % 100 * 2, 2);
}

static inline void put_eight(char *to, uint32_t value) {
  put_four(to, value / 10000);
  put_four(to + 4, value % 10000);
}

/* As many digits as the value has. */
static inline void put_digits(char *to, uint64_t value, size_t size) {
  char *at = to + size;
  while (value >= 100000000) {
    at -= 8;
    put_eight(at, (uint32_t)(value % 100000000));
    value /= 100000000;
  }
  uint32_t rest = (uint32_t)value;
  if (rest >= 10000) {
    at -= 4;
    put_four(at, rest % 10000);
    rest /= 10000;
  }
  if (rest >= 100) {
    at -= 2;
    memcpy(at, pairs + rest % 100 * 2, 2);
    rest /= 100;
  }
  if (rest >= 10) {
    memcpy(at - 2, pairs + (size_t)rest * 2, 2);
  } else {
    at[-1] = (char)('0' + rest);
  }
}

size_t cst__print_uint64(char *to, uint64_t value) {
  size_t size = value > 0 ? count_digits(value) : 1;
  put_digits(to, value, size);
  return size;
}

size_t cst__print_int64(char *to, int64_t value) {
  *to = '-';
  bool negative = value < 0;
  return negative +
         cst__print_uint64(to + negative, negative ? 0 - (uint64_t)value : (uint64_t)value);
}

/* ---- the digits of a float ---- */

/* digits * 10^exponent; no zeros at the end of the digits. */
typedef struct decimal {
  uint64_t digits;
  int exponent;
} decimal;

enum { MAX_POWER = 22, FLOAT_DIGITS = 9, DOUBLE_DIGITS = 17 };

static inline decimal without_zeros(uint64_t digits, int exponent) {
  if (digits % 100000000 == 0 && digits > 0) {
    digits /= 100000000;
    exponent += 8;
  }
  if (digits % 10000 == 0 && digits > 0) {
    digits /= 10000;
    exponent += 4;
  }
  while (digits % 10 == 0 && digits > 0) {
    digits /= 10;
    exponent++;
  }
  return (decimal){digits, exponent};
}

/* The decimal exponent of the leading digit of a value between 1e-12 and 1e15. */
static int leading_exponent(double value) {
  int binary;
  frexp(value, &binary);
  int least = (int)floor((binary - 1) * 0.30102999566398120); /* of the next lower power of two */
  double next = least < -1 ? value * cst__tens[-least - 1] : value / cst__tens[least + 1];
  return next >= 1 ? least + 1 : least;
}

/* True if digits * 10^exponent reads back as `value`. The product or quotient of two exact doubles
 * is the correctly rounded double; rounding that to float32 is right unless it lies in the middle
 * between two floats, and not exactly so. */
static bool product_is(uint64_t digits, int exponent, float value) {
  double whole = (double)digits;
  double power = cst__tens[exponent < 0 ? -exponent : exponent];
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
    double scaled = exponent < 0 ? wide * cst__tens[-exponent] : wide / cst__tens[exponent];
    uint64_t digits = (uint64_t)(scaled + 0.5);
    if (digits > 0 && product_is(digits, exponent, value)) {
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

static bool reads_back(decimal d, double value, bool is_float) {
  const cst__number number = {.digits = d.digits, .exponent = d.exponent, .num_digits = 1};
  double wide = 0;
  float narrow = 0;
  return is_float ? cst__number_float32("", 0, &number, &narrow) && narrow == (float)value
                  : cst__number_float64("", 0, &number, &wide) && wide >= value && wide <= value;
}

/* Shortest digits by trying, from `least` of them on; value is positive. */
static decimal printed(double value, bool is_float, int least) {
  char buf[64];
  decimal d;
  int most = is_float ? FLOAT_DIGITS : DOUBLE_DIGITS;
  do {
    (void)snprintf(buf, sizeof buf, "%.*e", least - 1, value);
    d = parse_scientific(buf);
  } while (least++ < most && !reads_back(d, value, is_float));
  return d;
}

/* What a kind of float has, for shortest(). */
typedef struct float_kind {
  int fraction_bits;
  int bias;
  int decimals;      /* digits that tell any two values apart */
  int least, most;   /* binary exponents whose arithmetic fits 128 bits */
  uint64_t coarsest; /* a power of ten of which at most one multiple is read back as a value */
  int coarsest_zeros;
  bool ties_up; /* of two decimals as near: the upper one, not the even one */
} float_kind;

static const float_kind of_double = {52, 1023, DOUBLE_DIGITS, -49, 52, 100, 2, false};
static const float_kind of_float = {23, 127, FLOAT_DIGITS, -106, 22, 1000, 3, true};

typedef unsigned __int128 wide;

/* 5^n, exactly, for n up to 54. */
static inline wide power_of_five(int n) {
  enum { MOST = 27 };
  static const uint64_t fives[] = {UINT64_C(1),
                                   UINT64_C(5),
                                   UINT64_C(25),
                                   UINT64_C(125),
                                   UINT64_C(625),
                                   UINT64_C(3125),
                                   UINT64_C(15625),
                                   UINT64_C(78125),
                                   UINT64_C(390625),
                                   UINT64_C(1953125),
                                   UINT64_C(9765625),
                                   UINT64_C(48828125),
                                   UINT64_C(244140625),
                                   UINT64_C(1220703125),
                                   UINT64_C(6103515625),
                                   UINT64_C(30517578125),
                                   UINT64_C(152587890625),
                                   UINT64_C(762939453125),
                                   UINT64_C(3814697265625),
                                   UINT64_C(19073486328125),
                                   UINT64_C(95367431640625),
                                   UINT64_C(476837158203125),
                                   UINT64_C(2384185791015625),
                                   UINT64_C(11920928955078125),
                                   UINT64_C(59604644775390625),
                                   UINT64_C(298023223876953125),
                                   UINT64_C(1490116119384765625),
                                   UINT64_C(7450580596923828125)};
  return n <= MOST ? fives[n] : (wide)fives[MOST] * fives[n - MOST];
}

/* A value between its neighbours, scaled. */
typedef struct scaled {
  uint64_t low;  /* whole numbers from here */
  uint64_t high; /* to here are read back as the value */
  uint64_t whole;
  wide rest; /* behind the point, of `one` */
  wide one;  /* a power of two */
} scaled;

/* The multiple of `unit` that is nearest, in units; of two, the even one or the upper one. */
static inline uint64_t nearest(const scaled *v, uint64_t unit, bool ties_up) {
  uint64_t count = v->whole / unit;
  uint64_t twice = v->whole % unit * 2;
  bool is_above = unit > 1 ? twice > unit || (twice == unit && v->rest > 0) : v->rest * 2 > v->one;
  bool is_tie = unit > 1 ? twice == unit && v->rest == 0 : v->rest * 2 == v->one;
  return count + (is_above || (is_tie && (ties_up || (count & 1) != 0)));
}

static inline bool takes_nearest(const scaled *v, uint64_t unit, bool ties_up, uint64_t *count) {
  *count = nearest(v, unit, ties_up);
  return *count * unit >= v->low && *count * unit <= v->high;
}

/* Shortest digits of a positive value, by its bits, in whole numbers: exact. The value and what
 * rounds to it is scaled by 10^k to have all digits that may be needed before the point, and one
 * more at times; then the multiple of the largest power of ten in there is looked for. False: of
 * another magnitude, or one of the rare powers of two with many digits, whose neighbour below is
 * nearer. */
static inline __attribute__((always_inline)) bool shortest(uint64_t bits, const float_kind *kind,
                                                           decimal *out) {
  const uint64_t hidden = UINT64_C(1) << kind->fraction_bits;
  uint64_t fraction_bits = bits & (hidden - 1);
  int binary = (int)(bits >> kind->fraction_bits) - kind->bias;
  if (binary < kind->least || binary > kind->most) {
    return false;
  }
  int leading = binary * 78913 >> 18; /* log10(2): of the power of two that is not above it */
  int k = kind->decimals - 1 - leading;
  int shift = kind->fraction_bits - binary - k + 1; /* twice 10^k times the value is a multiple */
  bool is_power = fraction_bits == 0;
  wide half = power_of_five(k);
  wide middle = half * (2 * (hidden | fraction_bits));
  wide one = (wide)1 << shift;
  unsigned odd = fraction_bits & 1; /* the limits round to an even one only */
  wide below = is_power ? half / 2 : half;
  scaled v = {.low = (uint64_t)((middle - below + one - 1 + odd) >> shift),
              .high = (uint64_t)((middle + half - odd) >> shift),
              .whole = (uint64_t)(middle >> shift),
              .rest = middle & (one - 1),
              .one = one};
  uint64_t count = v.high / kind->coarsest;
  if (count * kind->coarsest >= v.low) {
    *out = without_zeros(count, kind->coarsest_zeros - k);
    return true;
  }
  if (is_power) {
    return false;
  }
  int zeros = kind->coarsest > 100 && takes_nearest(&v, 100, kind->ties_up, &count) ? 2
              : takes_nearest(&v, 10, kind->ties_up, &count)                        ? 1
                                                                                    : 0;
  *out = (decimal){zeros > 0 ? count : nearest(&v, 1, kind->ties_up), zeros - k};
  return true;
}

/* ---- laying them out ---- */

/* With so many digits before the point a number is written plainly, else with an exponent. */
static const struct {
  int least, most;
  bool always_point; /* a whole number has ".0" */
  int exponent_digits;
} layouts[] = {
    [CST__FLOAT_PYTHON] = {-3, 16, true, 2},
    [CST__FLOAT_JAVASCRIPT] = {-5, 21, false, 1},
    [CST__FLOAT_PROTOBUF] = {-3, 16, true, 2},
};

static size_t put_exponent(char *to, int exponent, int least_digits) {
  size_t size = 0;
  to[size++] = 'e';
  to[size++] = exponent < 0 ? '-' : '+';
  exponent = exponent < 0 ? -exponent : exponent;
  if (exponent < 10 && least_digits > 1) {
    to[size++] = '0';
  }
  return size + cst__print_uint64(to + size, (uint64_t)exponent);
}

/* The digits are printed where most of them stay. */
static inline size_t lay_out(char *to, decimal d, cst__float_style style) {
  int count = (int)count_digits(d.digits);
  int point = count + d.exponent; /* digits before the point */
  if (point < layouts[style].least || point > layouts[style].most) {
    put_digits(to + 1, d.digits, (size_t)count);
    to[0] = to[1];
    to[1] = '.';
    int size = count > 1 ? count + 1 : 1;
    return (size_t)size + put_exponent(to + size, point - 1, layouts[style].exponent_digits);
  }
  if (point <= 0) {
    memcpy(to, "0.00000", 8); /* more than any style has */
    put_digits(to + 2 - point, d.digits, (size_t)count);
    return (size_t)(2 - point + count);
  }
  if (point < count && point <= 8) { /* two words hold what follows the point */
    uint64_t words[2];
    put_digits(to, d.digits, (size_t)count);
    memcpy(words, to + point, sizeof words);
    memcpy(to + point + 1, words, sizeof words);
    to[point] = '.';
    return (size_t)count + 1;
  }
  if (point < count) {
    put_digits(to + 1, d.digits, (size_t)count);
    for (int i = 0; i < point; i++) {
      to[i] = to[i + 1];
    }
    to[point] = '.';
    return (size_t)count + 1;
  }
  put_digits(to, d.digits, (size_t)count);
  memset(to + count, '0', (size_t)(point - count));
  if (!layouts[style].always_point) {
    return (size_t)point;
  }
  to[point] = '.';
  to[point + 1] = '0';
  return (size_t)point + 2;
}

/* ---- floats ---- */

/* A value without digits of its own; 0: it has some. */
static size_t put_special(char *to, double value, cst__float_style style) {
  if (isnormal(value)) {
    return 0;
  }
  const char *special = isnan(value)                     ? "nan"
                        : isinf(value)                   ? (value > 0 ? "inf" : "-inf")
                        : fpclassify(value) != FP_ZERO   ? ""
                        : signbit(value)                 ? "-0.0" /* "-0" is an integer */
                        : style == CST__FLOAT_JAVASCRIPT ? "0"
                                                         : "0.0";
  return (size_t)(stpcpy(to, special) - to);
}

/* Numbers as people write them: at most nine places, and 15 digits, which are never those of two
 * doubles; one division of exact doubles rounds once. 0: another number. */
static inline size_t put_short(char *to, double value, cst__float_style style) {
  enum { PLACES = 9, SCALE = 1000000000 };
  if (!(value >= 1e-4 && value < 1e6)) {
    return 0;
  }
  const uint64_t digits = (uint64_t)(value * SCALE + 0.5);
  const double back = (double)(int64_t)digits / SCALE;
  if (!(back >= value && back <= value)) {
    return 0;
  }
  const uint32_t fraction = (uint32_t)(digits % SCALE);
  size_t size = cst__print_uint64(to, digits / SCALE);
  if (fraction == 0) {
    to[size] = '.';
    to[size + 1] = '0';
    return size + (layouts[style].always_point ? 2 : 0);
  }
  uint64_t last;
  to[size++] = '.';
  to[size] = (char)('0' + fraction / 100000000);
  put_eight(to + size + 1, fraction % 100000000);
  memcpy(&last, to + size + 1, sizeof last);
  last ^= UINT64_C(0x3030303030303030); /* zeros at the end lie at the top */
  return size + PLACES - (last != 0 ? (size_t)__builtin_clzll(last) / 8 : 8);
}

size_t cst__print_float64(char *to, double value, cst__float_style style) {
  size_t special = put_special(to, value, style);
  decimal d;
  if (special > 0) {
    return special;
  }
  *to = '-';
  bool negative = value < 0;
  double size = negative ? -value : value;
  size_t used = put_short(to + negative, size, style);
  if (used > 0) {
    return negative + used;
  }
  uint64_t bits;
  memcpy(&bits, &size, sizeof bits);
  if (!shortest(bits, &of_double, &d)) {
    d = printed(size, false, size < DBL_MIN ? 1 : 15); /* few digits may do for a tiny one */
  }
  return negative + lay_out(to + negative, d, style);
}

size_t cst__print_float32(char *to, float value, cst__float_style style) {
  size_t special = put_special(to, (double)value, style);
  decimal d;
  if (special > 0) {
    return special;
  }
  *to = '-';
  bool negative = value < 0;
  float size = negative ? -value : value;
  uint32_t bits;
  memcpy(&bits, &size, sizeof bits);
  if (!shortest(bits, &of_float, &d) && !short_float(size, &d)) {
    d = printed((double)size, true, style == CST__FLOAT_PROTOBUF ? 6 : 1);
  }
  return negative + lay_out(to + negative, d, style);
}
