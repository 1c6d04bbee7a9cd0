/* Numbers in cells: their digits eight at a time, where text/number.h goes one by one, and what a
 * text is.
 */
#include "format/csv/csv.h"
#include "text/decimal.h"
#include "text/digits.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { EXACT_INT_DIGITS = 15 /* any integer of so many digits is a double */ };

/* Adds digits to *value, eight at a time, until there are no more, or 24; moves *at. They may go on
 * behind the text, where a delimiter can be a digit, too. */
static inline size_t take_digits(const uint8_t **at, const uint8_t *end, uint64_t *value) {
  const uint8_t *begin = *at;
  size_t count = 8;
  for (int i = 0; i < 3 && count == 8; i++) {
    uint64_t word = cst__load64(*at);
    size_t left = (size_t)(end - *at);
    count = cst__count_digits(word);
    count = count < left ? count : left;
    if (count == 0 || count > 8) { /* never more, which not every checker sees */
      break;
    }
    *value = cst__append_digits(*value, word, count);
    *at += count;
  }
  return (size_t)(*at - begin);
}

/* A number as most are: perhaps a minus, digits and at most one point; at most 19 digits, so that
 * they fit. False: look closer. */
static inline bool quick_number(const uint8_t *at, size_t size, cst__number *out) {
  enum { MOST = 19 };
  const uint8_t *const end = at + size;
  bool negative = size > 0 && *at == '-';
  at += negative;
  const uint8_t *begin = at;
  uint64_t digits = 0;
  size_t whole = take_digits(&at, end, &digits);
  size_t fraction = 0;
  bool is_int = at == end;
  if (!is_int && *at == '.') {
    at++;
    fraction = take_digits(&at, end, &digits);
  }
  *out = (cst__number){.digits = digits,
                       .exponent = -(int64_t)fraction,
                       .num_digits = whole + fraction,
                       .negative = negative,
                       .is_int = is_int,
                       .is_plain = whole < 2 || *begin != '0'};
  return at == end && whole + fraction - 1 < MOST;
}

/* Perhaps a minus and up to 16 digits: one word or two. */
static inline bool short_int(const uint8_t *at, size_t size, int64_t *out) {
  const bool negative = size > 0 && *at == '-';
  at += negative;
  size -= negative;
  if (size - 1 >= 16) {
    return false;
  }
  uint64_t value = 0;
  uint64_t word = cst__load64(at);
  if (size > 8) {
    if (!cst__are_digits(word)) {
      return false;
    }
    value = cst__digits_value(word);
    size -= 8;
    word = cst__load64(at + 8);
  }
  if (cst__count_digits(word) < size) {
    return false;
  }
  value = cst__append_digits(value, word, size);
  *out = negative ? -(int64_t)value : (int64_t)value;
  return true;
}

static __attribute__((noinline)) bool any_int64(const uint8_t *bytes, size_t size, int64_t *out) {
  cst__number d;
  if (quick_number(bytes, size, &d) && d.is_int && d.digits <= INT64_MAX) {
    *out = d.negative ? -(int64_t)d.digits : (int64_t)d.digits;
    return true;
  }
  cst_bytes t = cst__csv_trim(bytes, size);
  return cst__parse_int64(t.data, t.size, out);
}

bool cst__csv_int64(const uint8_t *bytes, size_t size, int64_t *out) {
  return short_int(bytes, size, out) || any_int64(bytes, size, out);
}

#if defined(__SSE2__)
/* Bit i: byte i of the 16 is no digit. */
static inline unsigned find_others(const uint8_t *at) {
  const __m128i text = _mm_loadu_si128((const __m128i *)(const void *)at);
  const __m128i digits = _mm_sub_epi8(text, _mm_set1_epi8('0'));
  const __m128i nine = _mm_set1_epi8(9);
  return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(digits, nine), nine)) ^ 0xffff;
}

/* All bits in the first `count` of 16 bytes. */
static inline __m128i first_bytes(size_t count) {
  static const uint8_t bytes[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                    255, 255, 255, 255, 255, 255, 255, 255};
  return _mm_loadu_si128((const __m128i *)(const void *)(bytes + 16 - count));
}

/* The number that 16 digits make; the first is the highest. */
static inline uint64_t sixteen_digits(__m128i digits) {
  const __m128i evens = _mm_and_si128(digits, _mm_set1_epi16(0xff));
  const __m128i twos =
      _mm_add_epi16(_mm_mullo_epi16(evens, _mm_set1_epi16(10)), _mm_srli_epi16(digits, 8));
  const __m128i fours = _mm_madd_epi16(twos, _mm_set1_epi32(1 << 16 | 100));
  const __m128i eights =
      _mm_madd_epi16(_mm_packs_epi32(fours, fours), _mm_set1_epi32(1 << 16 | 10000));
  const uint64_t both = (uint64_t)_mm_cvtsi128_si64(eights);
  return (both & UINT32_MAX) * 100000000 + (both >> 32);
}

/* The first 16 of `count` digits that have a point after `whole` of them; zeros fill up. */
static inline uint64_t first_digits(const uint8_t *at, size_t whole, size_t count) {
  enum { FULL = 16 };
  const __m128i before = first_bytes(whole);
  const __m128i text = _mm_loadu_si128((const __m128i *)(const void *)at);
  const __m128i later = _mm_loadu_si128((const __m128i *)(const void *)(at + 1));
  const __m128i joined = _mm_or_si128(_mm_and_si128(before, text), _mm_andnot_si128(before, later));
  return sixteen_digits(_mm_and_si128(_mm_sub_epi8(joined, _mm_set1_epi8('0')),
                                      first_bytes(count < FULL ? count : FULL)));
}

/* Digits, 19 at most and 16 in front of the point, with a point among them or none, and perhaps a
 * minus. A column's cells have digits of any number, which no branch can foresee: zeros make them
 * 16, and the power of ten makes up for these. */
static inline bool quick_float64(const uint8_t *at, size_t size, double *out) {
  enum { FULL = 16, MOST = 19 };
  const bool negative = size > 0 && *at == '-';
  at += negative;
  size -= negative;
  if (size - 1 > MOST) {
    return false;
  }
  unsigned others = find_others(at);
  if (size > FULL) {
    others |= find_others(at + FULL) << FULL;
  }
  others &= (1U << size) - 1;
  const size_t whole = (size_t)__builtin_ctz(others | 1U << size);
  const size_t count = size - (others != 0);
  if ((others & (others - 1)) != 0 || (others != 0 && at[whole] != '.') || whole > FULL ||
      count - 1 >= MOST) {
    return false;
  }
  uint64_t digits = first_digits(at, whole, count);
  if (count <
      FULL) { /* below 10^16 and even: exact as a double, and their quotient is rounded once */
    static const double signs[] = {1, -1};
    *out = (double)(int64_t)digits / cst__tens[FULL - whole] * signs[negative];
    return true;
  }
  const size_t more = count - FULL;
  if (more > 0) {
    digits = cst__append_digits(digits, cst__load64(at + FULL + 1), more);
  }
  *out = cst__decimal_float64(digits, (int)whole - (int)count, negative);
  return true;
}
#else
static inline bool quick_float64(const uint8_t *at, size_t size, double *out) {
  (void)at;
  (void)size;
  (void)out;
  return false;
}
#endif

static __attribute__((noinline)) bool any_float64(const uint8_t *bytes, size_t size, double *out) {
  cst__number d;
  if (quick_number(bytes, size, &d)) {
    *out = cst__decimal_float64(d.digits, (int)d.exponent, d.negative);
    return true;
  }
  cst_bytes t = cst__csv_trim(bytes, size);
  return cst__parse_float64(t.data, t.size, out);
}

bool cst__csv_float64(const uint8_t *bytes, size_t size, double *out) {
  return quick_float64(bytes, size, out) || any_float64(bytes, size, out);
}

bool cst__csv_float32(const uint8_t *bytes, size_t size, float *out) {
  cst__number d;
  if (quick_number(bytes, size, &d)) {
    return cst__number_float32(bytes, size, &d, out);
  }
  cst_bytes t = cst__csv_trim(bytes, size);
  return cst__parse_float32(t.data, t.size, out);
}

/* ---- what a text is ---- */

static unsigned classify_int(const cst__number *d) {
  if (d->num_digits <= EXACT_INT_DIGITS) {
    return CST__CSV_HAS_INT;
  }
  if (d->num_digits > 19 || d->digits > (uint64_t)INT64_MAX + d->negative) {
    return CST__CSV_HAS_TEXT;
  }
  bool is_exact = (uint64_t)(double)d->digits == d->digits;
  return is_exact ? CST__CSV_HAS_INT : CST__CSV_HAS_INT | CST__CSV_HAS_WIDE_INT;
}

/* INT or FLOAT for a minus or none, digits without needless zeros in front, and perhaps a point
 * among them; 0: look closer. Its value is not needed, and so the digits are not read.
 */
static inline unsigned quick_class(const uint8_t *at, size_t size) {
#if defined(__SSE2__)
  enum { MOST = 31 };
  const size_t sign = size > 0 && *at == '-';
  at += sign;
  size -= sign;
  if (size - 1 >= MOST) {
    return 0;
  }
  unsigned others = find_others(at);
  if (size > 16) {
    others |= find_others(at + 16) << 16;
  }
  others &= (1U << size) - 1;
  const bool has_zero = (*at == '0') & (size > 1) & (~others >> 1 & 1); /* not a branch each */
  if (others == 0) {
    return size <= EXACT_INT_DIGITS && !has_zero ? CST__CSV_HAS_INT : 0;
  }
  const bool is_point = (others & (others - 1)) == 0 && at[__builtin_ctz(others)] == '.';
  return is_point && size > 1 && !has_zero ? CST__CSV_HAS_FLOAT : 0;
#else
  (void)at;
  (void)size;
  return 0;
#endif
}

static __attribute__((noinline)) unsigned any_class(const uint8_t *bytes, size_t size) {
  cst__number d;
  if (quick_number(bytes, size, &d)) {
    return !d.is_plain ? CST__CSV_HAS_TEXT : d.is_int ? classify_int(&d) : CST__CSV_HAS_FLOAT;
  }
  cst_bytes t = cst__csv_trim(bytes, size);
  /* Letters first: most texts are words. */
  if (t.size == 0 || (*t.data > '9' && (*t.data | 0x20) != 'n' && (*t.data | 0x20) != 'i') ||
      !cst__parse_number(t.data, t.size, &d)) {
    return CST__CSV_HAS_TEXT;
  }
  if (d.is_word) {
    return CST__CSV_HAS_FLOAT;
  }
  if (!d.is_plain) {
    return CST__CSV_HAS_TEXT;
  }
  if (d.is_int) {
    return classify_int(&d);
  }
  double value;
  bool may_overflow = d.exponent + (int64_t)d.num_digits > 300;
  return !may_overflow || cst__number_float64(t.data, t.size, &d, &value) ? CST__CSV_HAS_FLOAT
                                                                          : CST__CSV_HAS_TEXT;
}

unsigned cst__csv_classify(const uint8_t *bytes, size_t size) {
  const unsigned quick = quick_class(bytes, size);
  return quick != 0 ? quick : any_class(bytes, size);
}
