/* Values as texts. */
#include "sketch/tfx_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "text/number.h"

enum { FRACTION_BITS = 52, BIAS = 1023, FRACTION_DIGITS = FRACTION_BITS / 4 };

/* As tfx_bsl writes it, by Abseil: without zeros at the end. Below 2^-1022 it begins with 0, but
 * from 2^-1023 on with 1, where glibc has 0, too. */
static size_t print_hex_float(char *to, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  const char *sign = bits >> 63 ? "-" : "";
  uint64_t fraction = bits & ((UINT64_C(1) << FRACTION_BITS) - 1);
  int exponent = (int)(bits >> FRACTION_BITS & 0x7ff);
  int digits = FRACTION_DIGITS;
  if (exponent == 0x7ff) {
    return (size_t)sprintf(to, "%s%s", sign, fraction != 0 ? "nan" : "inf");
  }
  int power = exponent > 0 ? exponent - BIAS : fraction > 0 ? 1 - BIAS : 0;
  bool begins_with_1 = exponent > 0;
  if (exponent == 0 && fraction >> (FRACTION_BITS - 1) == 1) {
    begins_with_1 = true;
    fraction = (fraction << 1) & ((UINT64_C(1) << FRACTION_BITS) - 1);
    power = -BIAS;
  }
  for (; digits > 0 && (fraction & 15) == 0; digits--) {
    fraction >>= 4;
  }
  int size = sprintf(to, "%s0x%d", sign, begins_with_1);
  if (digits > 0) {
    size += sprintf(to + size, ".%0*llx", digits, (unsigned long long)fraction);
  }
  return (size_t)(size + sprintf(to + size, "p%+d", power));
}

cst_bytes cst__value_text(const cst__value_block *values, size_t i,
                          char room[CST__VALUE_TEXT_ROOM]) {
  size_t size;
  switch (values->family) {
    case CST__FAMILY_BYTES:
      return cst__values_bytes(values)[i];
    case CST__FAMILY_FLOAT:
      size = print_hex_float(room, cst__values_floats(values)[i]);
      break;
    case CST__FAMILY_UINT:
      size = cst__print_uint64(room, cst__values_uints(values)[i]);
      break;
    default:
      size = cst__print_int64(room, cst__values_ints(values)[i]);
      break;
  }
  return (cst_bytes){(const uint8_t *)room, size};
}

static int digit_of(uint8_t c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Only what print_hex_float writes. */
static bool parse_hex_float(cst_bytes text, double *out) {
  char again[CST__VALUE_TEXT_ROOM];
  const uint8_t *at = text.data;
  const uint8_t *end = at + text.size;
  uint64_t fraction = 0;
  int64_t power;
  int digits = 0;
  bool negative = at < end && *at == '-';
  at += negative;
  if (end - at == 3 && memcmp(at, "nan", 3) == 0) {
    *out = copysign((double)NAN, negative ? -1 : 1);
  } else if (end - at == 3 && memcmp(at, "inf", 3) == 0) {
    *out = negative ? -(double)INFINITY : (double)INFINITY;
  } else {
    if (end - at < 6 || memcmp(at, "0x", 2) != 0 || digit_of(at[2]) < 0) {
      return false;
    }
    int whole = digit_of(at[2]);
    at += 3;
    at += *at == '.';
    for (; at < end && digit_of(*at) >= 0 && digits < FRACTION_DIGITS; at++, digits++) {
      fraction = fraction << 4 | (uint64_t)digit_of(*at);
    }
    if (end - at < 2 || *at != 'p' || !cst__parse_int64(at + 1, (size_t)(end - at - 1), &power) ||
        power < -2000 || power > 2000) {
      return false;
    }
    *out = ldexp((double)fraction, (int)power - 4 * digits) + ldexp(whole, (int)power);
    *out = negative ? -*out : *out;
  }
  return print_hex_float(again, *out) == text.size && memcmp(again, text.data, text.size) == 0;
}

bool cst__value_of_text(cst__family family, cst_bytes text, uint64_t *bits) {
  int64_t whole;
  double real;
  if (family == CST__FAMILY_UINT) {
    return cst__parse_uint64(text.data, text.size, bits);
  }
  if (family == CST__FAMILY_INT) {
    bool fits = cst__parse_int64(text.data, text.size, &whole);
    *bits = fits ? (uint64_t)whole : 0;
    return fits;
  }
  if (family != CST__FAMILY_FLOAT || !parse_hex_float(text, &real)) {
    return false;
  }
  memcpy(bits, &real, sizeof real);
  return true;
}
