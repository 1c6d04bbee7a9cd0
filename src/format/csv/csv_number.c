/* Numbers in cells that csv_number.h does not take: their digits eight at a time, where
 * text/number.h goes one by one, and what a text is.
 */
#include "format/csv/csv_number.h"

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

bool cst__csv_any_int64(const uint8_t *bytes, size_t size, int64_t *out) {
  cst__number d;
  if (quick_number(bytes, size, &d) && d.is_int && d.digits <= INT64_MAX) {
    *out = d.negative ? -(int64_t)d.digits : (int64_t)d.digits;
    return true;
  }
  cst_bytes t = cst__csv_trim(bytes, size);
  return cst__parse_int64(t.data, t.size, out);
}

bool cst__csv_any_float64(const uint8_t *bytes, size_t size, double *out) {
  cst__number d;
  if (quick_number(bytes, size, &d)) {
    *out = cst__decimal_float64(d.digits, (int)d.exponent, d.negative);
    return true;
  }
  cst_bytes t = cst__csv_trim(bytes, size);
  return cst__parse_float64(t.data, t.size, out);
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
  if (d->num_digits <= CST__CSV_EXACT_DIGITS) {
    return CST__CSV_HAS_INT;
  }
  if (d->num_digits > 19 || d->digits > (uint64_t)INT64_MAX + d->negative) {
    return CST__CSV_HAS_TEXT;
  }
  bool is_exact = (uint64_t)(double)d->digits == d->digits;
  return is_exact ? CST__CSV_HAS_INT : CST__CSV_HAS_INT | CST__CSV_HAS_WIDE_INT;
}

unsigned cst__csv_any_class(const uint8_t *bytes, size_t size) {
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
