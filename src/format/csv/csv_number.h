/* Numbers in cells as most are, within the loops over the cells of a column; csv_number.c reads all
 * others.
 */
#ifndef FORMAT_CSV_CSV_NUMBER_H
#define FORMAT_CSV_CSV_NUMBER_H

#include <columnstone/status.h>

#include "text/decimal.h"
#include "text/digits.h"
#include "text/number.h"
#include "text/sixteen_digits.h"

enum { CST__CSV_EXACT_DIGITS = 15 /* any integer of so many digits is a double */ };

/* What a cell's text shows of its column's type. */
enum {
  CST__CSV_HAS_EMPTY = 1,    /* an empty text in quotes: an empty string, or no number */
  CST__CSV_HAS_INT = 2,      /* of int64 */
  CST__CSV_HAS_WIDE_INT = 4, /* with CST__CSV_HAS_INT: float64 cannot hold it */
  CST__CSV_HAS_FLOAT = 8,
  CST__CSV_HAS_TEXT = 16, /* anything else, and numbers that lose their spelling or value */
  CST__CSV_HAS_BINARY = 32
};

/* Perhaps a minus and up to 16 digits: one word or two. */
static inline bool cst__csv_short_int(const uint8_t *at, size_t size, int64_t *out) {
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

#if defined(__SSE2__)
/* Digits, 19 at most and 16 in front of the point, with a point among them or none, and perhaps a
 * minus. A column's cells have digits of any number, which no branch can foresee: zeros make them
 * 16, and the power of ten makes up for these. */
static inline bool cst__csv_quick_float64(const uint8_t *at, size_t size, double *out) {
  enum { FULL = 16, MOST = 19 };
  const bool negative = size > 0 && *at == '-';
  at += negative;
  size -= negative;
  if (size - 1 > MOST) {
    return false;
  }
  unsigned others = cst__find_others(at);
  if (size > FULL) {
    others |= cst__find_others(at + FULL) << FULL;
  }
  others &= (1U << size) - 1;
  const size_t whole = (size_t)__builtin_ctz(others | 1U << size);
  const size_t count = size - (others != 0);
  if ((others & (others - 1)) != 0 || (others != 0 && at[whole] != '.') || whole > FULL ||
      count - 1 >= MOST) {
    return false;
  }
  uint64_t digits = cst__first_digits(at, whole, count);
  if (count < FULL) {
    /* Below 10^16 and even: exact as a double, and the quotient is rounded once. */
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
static inline bool cst__csv_quick_float64(const uint8_t *at, size_t size, double *out) {
  (void)at;
  (void)size;
  (void)out;
  return false;
}
#endif

/* INT or FLOAT for a minus or none, digits without needless zeros in front, and perhaps a point
 * among them; 0: look closer. Its value is not needed, and so the digits are not read.
 */
static inline unsigned cst__csv_quick_class(const uint8_t *at, size_t size) {
#if defined(__SSE2__)
  enum { MOST = 31 };
  const size_t sign = size > 0 && *at == '-';
  at += sign;
  size -= sign;
  if (size - 1 >= MOST) {
    return 0;
  }
  unsigned others = cst__find_others(at);
  if (size > 16) {
    others |= cst__find_others(at + 16) << 16;
  }
  others &= (1U << size) - 1;
  const bool has_zero = (*at == '0') & (size > 1) & (~others >> 1 & 1); /* not a branch each */
  if (others == 0) {
    return size <= CST__CSV_EXACT_DIGITS && !has_zero ? CST__CSV_HAS_INT : 0;
  }
  const bool is_point = (others & (others - 1)) == 0 && at[__builtin_ctz(others)] == '.';
  return is_point && size > 1 && !has_zero ? CST__CSV_HAS_FLOAT : 0;
#else
  (void)at;
  (void)size;
  return 0;
#endif
}

/* ---- any number: csv_number.c ---- */

/* A number may stand between spaces and tabs. */
static inline cst_bytes cst__csv_trim(const uint8_t *text, size_t size) {
  while (size > 0 && (*text == ' ' || *text == '\t')) {
    text++;
    size--;
  }
  while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\t')) {
    size--;
  }
  return (cst_bytes){text, size};
}

unsigned cst__csv_any_class(const uint8_t *text, size_t size);
bool cst__csv_any_int64(const uint8_t *text, size_t size, int64_t *out);
bool cst__csv_any_float64(const uint8_t *text, size_t size, double *out);

/* One of INT (and WIDE_INT), FLOAT and TEXT. A plus sign or needless zeros in front make a text of
 * a number, as do integers beyond int64 and floats beyond float64; so nothing is lost but the
 * rounding of decimals. The text is followed by at least 32 readable bytes. */
static inline unsigned cst__csv_classify(const uint8_t *text, size_t size) {
  const unsigned quick = cst__csv_quick_class(text, size);
  return quick != 0 ? quick : cst__csv_any_class(text, size);
}

/* The value of a cell in a column that was asked for: signs and zeros in front are fine. False if
 * it is none, or does not fit. Here, too, 32 readable bytes follow. */
static inline bool cst__csv_int64(const uint8_t *text, size_t size, int64_t *out) {
  return cst__csv_short_int(text, size, out) || cst__csv_any_int64(text, size, out);
}

static inline bool cst__csv_float64(const uint8_t *text, size_t size, double *out) {
  return cst__csv_quick_float64(text, size, out) || cst__csv_any_float64(text, size, out);
}

bool cst__csv_float32(const uint8_t *text, size_t size, float *out);

#endif /* FORMAT_CSV_CSV_NUMBER_H */
