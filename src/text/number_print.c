/* Integers and floats to text. The fewest digits of a double are found by one power of ten, those
 * of a float by arithmetic in whole numbers where 128 bits hold them; what is left, by trying what
 * printf rounds to.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/digits.h"
#include "text/number.h"
#include "text/powers_of_ten.h"

/* ---- integers ---- */

enum { EIGHT = 100000000 /* 10^8: what eight digits count to */ };

/* Eight digits, with the zeros in front. */
static inline size_t put_eight(char *to, uint32_t value) {
  const uint64_t text = cst__spread_digits(value) | CST__ZEROS;
  memcpy(to, &text, sizeof text);
  return sizeof text;
}

static size_t put_many(char *to, uint64_t value) {
  const uint64_t front = value / EIGHT;
  const size_t size = front < EIGHT ? cst__put_few(to, (uint32_t)front) : put_many(to, front);
  return size + put_eight(to + size, (uint32_t)(value % EIGHT));
}

size_t cst__print_uint64(char *to, uint64_t value) {
  return value < EIGHT ? cst__put_few(to, (uint32_t)value) : put_many(to, value);
}

/* ---- the digits of a float ---- */

/* digits * 10^exponent; 17 digits where one is laid out, and not 0. */
typedef struct decimal {
  uint64_t digits;
  int exponent;
} decimal;

enum { MAX_POWER = 22, FLOAT_DIGITS = 9, DOUBLE_DIGITS = 17 };

/* 10^n. */
static const uint64_t whole_tens[DOUBLE_DIGITS + 1] = {1,
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
                                                       100000000000000000};

/* The digits of at most 17, by an estimate that is at most one too small. */
static inline int count_digits(uint64_t value) {
  const int bits = 64 - __builtin_clzll(value);
  const int least = bits * 1233 >> 12; /* log10(2) */
  return least + (value >= whole_tens[least]);
}

static inline decimal widen(decimal d) {
  const int more = DOUBLE_DIGITS - count_digits(d.digits);
  return (decimal){d.digits * whole_tens[more], d.exponent - more};
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
      *out = (decimal){digits, exponent};
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
  return (decimal){digits, atoi(text + 1) - fraction};
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

/* ---- doubles: the fewest digits by one power of ten ---- */

/* floor(log10(2^n)), and floor(log2(10^n)): for all n that doubles have. */
static inline int log10_of_two(int n) { return (n * 1262611) >> 22; }
static inline int log2_of_ten(int n) { return (n * 1741647) >> 19; }

/* power * count / 2^128, whose last bit is set if something was cut off. */
static inline uint64_t scale_to_odd(const cst__power *power, uint64_t count) {
  const unsigned __int128 low = (unsigned __int128)power->low * count;
  const unsigned __int128 sum = (unsigned __int128)power->high * count + (uint64_t)(low >> 64);
  return (uint64_t)(sum >> 64) | ((uint64_t)sum > 1);
}

/* The digits of a positive normal double, by its bits: the shortest that lie within half a step to
 * either side of it, and of these the nearest. After R. Giulietti, "The Schubfach way to render
 * doubles", 2020: 10^exponent is the largest power of ten that is not above a step, so that the
 * reach holds at most one multiple of ten of them. False: a power of two of many digits, as the
 * step below it is half a step. */
static inline bool shortest_double(uint64_t bits, decimal *out) {
  enum { FRACTION = DBL_MANT_DIG - 1, BIAS = DBL_MAX_EXP - 1 + FRACTION };
  const uint64_t hidden = UINT64_C(1) << FRACTION;
  const uint64_t fraction = bits & (hidden - 1);
  const int biased = (int)(bits >> FRACTION);
  const bool is_power = fraction == 0;
  const uint64_t steps = (hidden | fraction) << is_power; /* the shorter step for both sides */
  const int binary = biased - BIAS - is_power;
  const int exponent = log10_of_two(binary);
  const int shift = binary + log2_of_ten(-exponent) + 1; /* 1 to 4 */
  cst__power power = cst__powers_of_ten[-exponent - CST__LEAST_POWER];
  power.low++;                    /* it was cut off */
  const unsigned odd = steps & 1; /* the limits round to an even double only */
  const uint64_t value = scale_to_odd(&power, (4 * steps) << shift); /* all three times 4 */
  const uint64_t low = scale_to_odd(&power, (4 * steps - 2) << shift) + odd;
  const uint64_t high = scale_to_odd(&power, (4 * steps + 2) << shift) - odd;
  const uint64_t whole = value / 4;
  const uint64_t ten = whole / 10 * 10;
  const uint64_t middle = 4 * whole + 2;
  const uint64_t takes_above = 4 * ten + 40 <= high;
  const uint64_t takes_ten = takes_above | (low <= 4 * ten);
  const uint64_t is_above = value + (whole & 1) > middle;
  const uint64_t one = whole + is_above;
  const uint64_t by_ten = ten + 10 * takes_above;
  const uint64_t digits = one ^ ((one ^ by_ten) & (0 - takes_ten)); /* either is as likely */
  const bool is_short = digits < whole_tens[DOUBLE_DIGITS - 1];
  *out = (decimal){is_short ? digits * 10 : digits, exponent - is_short};
  return !is_power || out->digits % 100 == 0;
}

/* ---- floats of 32 bits ---- */

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

/* The multiple of `unit` that is nearest, in units; of two as near, the upper one. */
static inline uint64_t nearest(const scaled *v, uint64_t unit) {
  const uint64_t twice = v->whole % unit * 2;
  return v->whole / unit + (unit > 1 ? twice >= unit : v->rest * 2 >= v->one);
}

static inline bool takes_nearest(const scaled *v, uint64_t unit, uint64_t *count) {
  *count = nearest(v, unit);
  return *count * unit >= v->low && *count * unit <= v->high;
}

/* Shortest digits of a positive float, by its bits, in whole numbers: exact. The value and what
 * rounds to it is scaled by 10^k to have all digits that may be needed before the point, and one
 * more at times; then the multiple of the largest power of ten in there is looked for. False: of
 * another magnitude, or one of the rare powers of two with many digits, whose neighbour below is
 * nearer. */
static inline bool shortest_float(uint32_t bits, decimal *out) {
  enum { FRACTION = FLT_MANT_DIG - 1, BIAS = FLT_MAX_EXP - 1 };
  enum {
    LEAST = -106,
    MOST = 22,      /* binary exponents whose arithmetic fits 128 bits */
    COARSEST = 1000 /* a power of ten of which at most one multiple is read back as a value */
  };
  const uint32_t hidden = UINT32_C(1) << FRACTION;
  const uint32_t fraction_bits = bits & (hidden - 1);
  const int binary = (int)(bits >> FRACTION) - BIAS;
  if (binary < LEAST || binary > MOST) {
    return false;
  }
  const int leading = binary * 78913 >> 18; /* log10(2): of the power of two that is not above it */
  const int k = FLOAT_DIGITS - 1 - leading;
  const int shift = FRACTION - binary - k + 1; /* twice 10^k times the value is a multiple */
  const bool is_power = fraction_bits == 0;
  const wide half = power_of_five(k);
  const wide middle = half * (2 * (hidden | fraction_bits));
  const wide one = (wide)1 << shift;
  const unsigned odd = fraction_bits & 1; /* the limits round to an even one only */
  const wide below = is_power ? half / 2 : half;
  const scaled v = {.low = (uint64_t)((middle - below + one - 1 + odd) >> shift),
                    .high = (uint64_t)((middle + half - odd) >> shift),
                    .whole = (uint64_t)(middle >> shift),
                    .rest = middle & (one - 1),
                    .one = one};
  uint64_t count = v.high / COARSEST;
  if (count * COARSEST >= v.low) {
    *out = (decimal){count * COARSEST, -k};
    return true;
  }
  if (is_power) {
    return false;
  }
  if (takes_nearest(&v, 100, &count)) {
    *out = (decimal){count * 100, -k};
  } else if (takes_nearest(&v, 10, &count)) {
    *out = (decimal){count * 10, -k};
  } else {
    *out = (decimal){nearest(&v, 1), -k};
  }
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

/* The digits of a decimal as text: 17 of them, zeros at the end included. */
typedef struct spelled {
  char first;
  unsigned __int128 rest; /* the second lies lowest */
  int count;              /* of those before the zeros at the end */
} spelled;

static inline spelled spell_digits(uint64_t number) {
  const uint64_t sixteen = (uint64_t)EIGHT * EIGHT;
  const uint64_t first = number / sixteen;
  const uint64_t rest = number - first * sixteen;
  uint64_t words[2];
  cst__spread_sixteen((uint32_t)(rest / EIGHT), (uint32_t)(rest % EIGHT), words);
  const uint64_t left = words[0];
  const uint64_t right = words[1];
  const int zeros =
      right != 0 ? __builtin_clzll(right) / 8 : 8 + (left != 0 ? __builtin_clzll(left) / 8 : 8);
  return (spelled){
      .first = (char)('0' + first),
      .rest = (unsigned __int128)(right | CST__ZEROS) << 64 | (left | CST__ZEROS),
      .count = DOUBLE_DIGITS - zeros,
  };
}

static inline void put_spelled(char *to, const spelled *digits) {
  to[0] = digits->first;
  memcpy(to + 1, &digits->rest, sizeof digits->rest);
}

/* All digits are written wherever they begin, with the zeros at their end, which the size leaves
 * out; those after the point are written again, one place further on. */
static inline size_t lay_out(char *to, decimal d, cst__float_style style) {
  static const char zeros[] = {'0', '.', '0', '0', '0', '0', '0', '0'};
  const int point = DOUBLE_DIGITS + d.exponent; /* digits before it */
  const spelled digits = spell_digits(d.digits);
  const int count = digits.count;
  if (point < layouts[style].least || point > layouts[style].most) {
    put_spelled(to + 1, &digits);
    to[0] = to[1];
    to[1] = '.';
    const size_t size = count > 1 ? (size_t)count + 1 : 1;
    return size + put_exponent(to + size, point - 1, layouts[style].exponent_digits);
  }
  memcpy(to, zeros, sizeof zeros); /* more than any style has */
  if (count <= point && !layouts[style].always_point) {
    put_spelled(to, &digits);
    memset(to + DOUBLE_DIGITS, '0', 4); /* more than the style has beyond them */
    return (size_t)point;
  }
  const bool is_whole = point > 0; /* no branch: either is as likely */
  const int before = is_whole ? point - 1 : 0;
  char *begin = is_whole ? to : to + 2 - point;
  const unsigned __int128 fraction = digits.rest >> (8 * before);
  put_spelled(begin, &digits);
  memcpy(begin + before + is_whole + 1, &fraction, sizeof fraction);
  to[before + 1] = '.';
  const int least = is_whole ? point + 1 : 1;
  return (size_t)((count > least ? count : least) + 1 + (is_whole ? 0 : 1 - point));
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
  enum { SCALE = 1000000000 };
  if (!(value >= 1e-4 && value < 1e6)) {
    return 0;
  }
  const uint64_t digits = (uint64_t)(value * SCALE + 0.5);
  const double back = (double)(int64_t)digits / SCALE;
  if (memcmp(&back, &value, sizeof back) != 0) {
    return 0;
  }
  uint64_t words[2]; /* seven digits and the first after the point; the others */
  cst__spread_sixteen((uint32_t)(digits / EIGHT), (uint32_t)(digits % EIGHT), words);
  const int zeros = __builtin_ctzll(words[0] | UINT64_C(1) << 48) / 8; /* one is the number */
  const uint64_t whole = (words[0] | CST__ZEROS) >> (8 * zeros);
  const uint64_t fraction = words[1] | CST__ZEROS;
  const size_t size = 7 - (size_t)zeros;
  memcpy(to, &whole, sizeof whole);
  to[size] = '.';
  to[size + 1] = (char)('0' + (words[0] >> 56));
  memcpy(to + size + 2, &fraction, sizeof fraction);
  if (words[1] != 0) {
    return size + 10 - (size_t)__builtin_clzll(words[1]) / 8;
  }
  return size + (words[0] >> 56 != 0 || layouts[style].always_point ? 2 : 0);
}

/* Apart, so that short ones need not save what this needs. */
static __attribute__((noinline)) size_t put_long(char *to, double value, cst__float_style style) {
  size_t special = put_special(to, value, style);
  decimal d;
  if (special > 0) {
    return special;
  }
  const double size = fabs(value);
  const bool negative = value < 0;
  uint64_t bits;
  memcpy(&bits, &size, sizeof bits);
  *to = '-';
  if (size < DBL_MIN) {
    d = widen(printed(size, false, 1)); /* few digits may do for a tiny one */
  } else if (!shortest_double(bits, &d)) {
    d = widen(printed(size, false, 15));
  }
  return negative + lay_out(to + negative, d, style);
}

size_t cst__print_float64(char *to, double value, cst__float_style style) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  const size_t negative = bits >> 63;
  *to = '-';
  const size_t used = put_short(to + negative, fabs(value), style);
  return used > 0 ? negative + used : put_long(to, value, style);
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
  if (!shortest_float(bits, &d) && !short_float(size, &d)) {
    d = printed((double)size, true, style == CST__FLOAT_PROTOBUF ? 6 : 1);
  }
  return negative + lay_out(to + negative, widen(d), style);
}
