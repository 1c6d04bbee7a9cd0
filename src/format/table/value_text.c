/* Times and decimals in CSV and JSON lines. */
#include "format/table/value_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/civil.h"
#include "text/digits.h"
#include "text/number.h"
#include "text/time.h"

/* ---- decimals ---- */

enum { MAX_SCALE = 100, MAX_DIGITS = 76 /* of decimal256 */, MAX_WORDS = 4 };

/* "d:precision,scale" of 128 bits, or "d:precision,scale,bits". */
typedef struct decimal_type {
  int precision;
  int scale;
  size_t width;
} decimal_type;

static bool find_decimal_type(const char *format, decimal_type *out) {
  const char *scale = strchr(format, ',');
  const char *bits = scale != NULL ? strchr(scale + 1, ',') : NULL;
  if (strncmp(format, "d:", 2) != 0 || scale == NULL) {
    return false;
  }
  *out = (decimal_type){atoi(format + 2), atoi(scale + 1),
                        bits != NULL ? (size_t)atoi(bits + 1) / 8 : 16};
  return out->scale >= -MAX_SCALE && out->scale <= MAX_SCALE && out->precision <= MAX_DIGITS;
}

/* A number of several words, the lowest first; they are as wide as all, with the sign. */
static void load_words(const void *value, size_t width, uint64_t words[MAX_WORDS], bool *negative) {
  const uint8_t *bytes = value;
  *negative = (bytes[width - 1] & 0x80) != 0;
  memset(words, *negative ? 0xff : 0, MAX_WORDS * sizeof *words);
  memcpy(words, value, width);
}

static void negate_words(uint64_t words[MAX_WORDS]) {
  uint64_t carry = 1;
  for (int i = 0; i < MAX_WORDS; i++) {
    words[i] = ~words[i] + carry;
    carry = carry != 0 && words[i] == 0;
  }
}

/* Divides by ten; returns the rest. */
static unsigned divide_words(uint64_t words[MAX_WORDS]) {
  unsigned __int128 rest = 0;
  for (int i = MAX_WORDS; i-- > 0;) {
    unsigned __int128 part = rest << 64 | words[i];
    words[i] = (uint64_t)(part / 10);
    rest = part % 10;
  }
  return (unsigned)rest;
}

static void add_digit(uint64_t words[MAX_WORDS], unsigned digit) {
  unsigned __int128 carry = digit;
  for (int i = 0; i < MAX_WORDS; i++) {
    carry += (unsigned __int128)words[i] * 10;
    words[i] = (uint64_t)carry;
    carry >>= 64;
  }
}

/* Plain digits, as many behind the point as the scale says. */
static size_t print_decimal(char *to, const decimal_type *type, const void *value) {
  uint64_t words[MAX_WORDS];
  char digits[MAX_DIGITS + 4]; /* 256 bits have two more */
  char *first = digits + sizeof digits;
  bool negative;
  load_words(value, type->width, words, &negative);
  if (negative) {
    negate_words(words);
  }
  do {
    *--first = (char)('0' + divide_words(words));
  } while (words[0] != 0 || words[1] != 0 || words[2] != 0 || words[3] != 0);
  int count = (int)(digits + sizeof digits - first);
  int behind = type->scale > 0 ? type->scale : 0;
  char *at = to;
  *at = '-';
  at += negative;
  int whole = count > behind ? count - behind : 0;
  *at = '0';
  memcpy(at, first, (size_t)whole);
  at += whole > 0 ? whole : 1;
  if (type->scale < 0 && (count > 1 || *first != '0')) {
    memset(at, '0', (size_t)-type->scale);
    at += -type->scale;
  }
  if (behind > 0) {
    int zeros = behind > count ? behind - count : 0;
    *at++ = '.';
    memset(at, '0', (size_t)zeros);
    memcpy(at + zeros, first + whole, (size_t)(count - whole));
    at += behind;
  }
  return (size_t)(at - to);
}

/* Takes the zeros off that a negative scale stands for; false if the text is not such a number. */
static bool drop_tens(const char *at, const char **end, int tens) {
  const char *stop = *end;
  bool is_zero = true;
  for (const char *c = at; c < stop; c++) {
    is_zero = is_zero && *c == '0';
  }
  for (; !is_zero && tens > 0; tens--) {
    if (stop == at || *--stop != '0') {
      return false;
    }
  }
  *end = stop;
  return true;
}

/* Digits with a point; zeros behind what the type holds are fine, other digits are not. */
static bool parse_decimal(const decimal_type *type, const char *text, size_t size, void *value) {
  const char *at = text;
  const char *end = text + size;
  uint64_t words[MAX_WORDS] = {0};
  bool negative = at < end && *at == '-';
  at += negative || (at < end && *at == '+');
  if (type->scale < 0 && !drop_tens(at, &end, -type->scale)) {
    return false;
  }
  int count = 0;  /* digits of the value, without zeros in front */
  int behind = 0; /* the point */
  bool any = false;
  bool is_fraction = false;
  for (; at < end; at++) {
    if (*at == '.' && !is_fraction) {
      is_fraction = true;
      continue;
    }
    bool is_beyond = is_fraction && behind >= type->scale;
    if (!cst__is_digit((uint8_t)*at) || (is_beyond && *at != '0')) {
      return false;
    }
    any = true;
    behind += is_fraction && !is_beyond;
    count += !is_beyond && (count > 0 || *at != '0');
    if (count > type->precision) {
      return false;
    }
    if (!is_beyond) {
      add_digit(words, (unsigned)(*at - '0'));
    }
  }
  for (; behind < type->scale; behind++) {
    add_digit(words, 0);
    count += count > 0;
  }
  if (!any || count > type->precision) {
    return false;
  }
  if (negative) {
    negate_words(words);
  }
  memcpy(value, words, type->width);
  return true;
}

/* ---- times ---- */

static bool is_time(const char *format) { return format[0] == 't' && format[1] != 'i'; }

/* The digits of a second that the third letter of a format says. */
static int unit_of(const char *format) {
  return format[2] == 's' ? 0 : format[2] == 'm' ? 3 : format[2] == 'u' ? 6 : 9;
}

/* Days, and times of day in seconds and milliseconds. */
static bool is_narrow(const char *format) {
  return strcmp(format, "tdD") == 0 || strcmp(format, "tts") == 0 || strcmp(format, "ttm") == 0;
}

static size_t print_time(char *to, const char *format, int64_t value) {
  enum { MS_PER_DAY = 86400000 };
  switch (format[1]) {
    case 'd':
      return cst__print_date(to, format[2] == 'D' ? value : cst__floor_div(value, MS_PER_DAY));
    case 't':
      return cst__print_clock(to, value, unit_of(format));
    case 's': /* "tsn:zone" */
      return cst__print_timestamp(to, value, unit_of(format), format[4] != '\0');
    default:
      return cst__print_duration(to, value, unit_of(format));
  }
}

static bool parse_time(const char *format, const char *text, size_t size, int64_t *value) {
  switch (format[1]) {
    case 'd':
      return cst__parse_date(text, size, value) &&
             (format[2] == 'D' || !__builtin_mul_overflow(*value, INT64_C(86400000), value));
    case 't':
      return cst__parse_clock(text, size, unit_of(format), value);
    case 's':
      return cst__parse_timestamp(text, size, unit_of(format), format[4] != '\0', value);
    default:
      return cst__parse_duration(text, size, unit_of(format), value);
  }
}

/* ---- both ---- */

bool cst__has_value_text(const char *format) {
  decimal_type ignored;
  return is_time(format) || find_decimal_type(format, &ignored);
}

size_t cst__print_value_text(char *to, const char *format, const void *value) {
  decimal_type decimal;
  int64_t wide;
  int32_t narrow;
  if (find_decimal_type(format, &decimal)) {
    return print_decimal(to, &decimal, value);
  }
  if (is_narrow(format)) {
    memcpy(&narrow, value, sizeof narrow);
    return print_time(to, format, narrow);
  }
  memcpy(&wide, value, sizeof wide);
  return print_time(to, format, wide);
}

bool cst__parse_value_text(const char *format, const char *text, size_t size, void *value) {
  decimal_type decimal;
  int64_t wide = 0;
  if (find_decimal_type(format, &decimal)) {
    return parse_decimal(&decimal, text, size, value);
  }
  bool is_narrow_type = is_narrow(format);
  bool ok = parse_time(format, text, size, &wide) && (!is_narrow_type || wide == (int32_t)wide);
  if (ok) {
    memcpy(value, &wide, is_narrow_type ? 4 : 8); /* little-endian */
  }
  return ok;
}

const char *cst__value_text_word(const char *format) {
  if (format[0] == 'd') {
    return "a decimal that the type holds, such as \"12.50\"";
  }
  switch (format[1]) {
    case 'd':
      return "a date such as \"2024-02-29\"";
    case 't':
      return "a time such as \"01:02:03\", exact in the unit";
    case 's':
      return format[4] != '\0' ? "a timestamp such as \"2024-02-29T01:02:03Z\", exact in the unit"
                               : "a timestamp such as \"2024-02-29T01:02:03\", without a zone";
    default:
      return "a duration such as \"1.5s\", exact in the unit";
  }
}

/* ---- float16 ---- */

bool cst__parse_half(const char *text, size_t size, uint16_t *out) {
  float value;
  uint32_t bits;
  if (!cst__parse_float32(text, size, &value)) {
    return false;
  }
  memcpy(&bits, &value, sizeof bits);
  uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude >= 0x7f800000) {
    *out = sign | (magnitude > 0x7f800000 ? 0x7e00 : 0x7c00);
  } else if (magnitude < 0x38800000) { /* below the normal ones: whole 2^-24 */
    *out = sign | (uint16_t)lrintf(fabsf(value) * 0x1p24f);
  } else {
    uint32_t shifted = magnitude - 0x38000000;
    *out = sign | (uint16_t)((shifted + 0xfff + (shifted >> 13 & 1)) >> 13);
  }
  return magnitude < 0x477ff000 || magnitude >= 0x7f800000;
}
