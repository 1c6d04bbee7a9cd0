/* Numbers in cells: integers at once, where text/number.h goes digit by digit, and what a text is.
 */
#include "format/csv/csv.h"
#include "text/digits.h"

enum { EXACT_INT_DIGITS = 15 /* any integer of so many digits is a double */ };

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
    if (!cst__are_digits(word)) {
      return false;
    }
    high = (int64_t)cst__digits_value(word);
    at += 8;
    size -= 8;
  }
  unsigned missing = 8 * (8 - (unsigned)size); /* bits, filled with zeros in front */
  uint64_t word =
      cst__load64(at) << missing | (UINT64_C(0x30303030303030) & ((UINT64_C(1) << missing) - 1));
  if (!cst__are_digits(word)) {
    return false;
  }
  int64_t value = high * tens[size] + (int64_t)cst__digits_value(word);
  *out = negative ? -value : value;
  return true;
}

bool cst__csv_int64(const uint8_t *bytes, size_t size, int64_t *out) {
  if (quick_int(bytes, size, out)) {
    return true;
  }
  cst_bytes t = cst__csv_trim(bytes, size);
  return cst__parse_int64(t.data, t.size, out);
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

unsigned cst__csv_classify(const uint8_t *bytes, size_t size) {
  int64_t whole;
  size_t sign = size > 0 && *bytes == '-';
  bool has_zeros = size > sign + 1 && bytes[sign] == '0';
  if (size <= EXACT_INT_DIGITS && !has_zeros && quick_int(bytes, size, &whole)) {
    return CST__CSV_HAS_INT;
  }
  cst_bytes t = cst__csv_trim(bytes, size);
  cst__number d;
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
