/* Numbers as text, both ways, whatever the locale of the process is.
 *
 * Integers are exact. A float is printed with the fewest digits that read back as the same value,
 * and read as the value nearest to the text, rounded once.
 */
#ifndef TEXT_NUMBER_H
#define TEXT_NUMBER_H

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/digits.h"

/* ---- to text; each returns the size, without a NUL: number_print.c ---- */

enum { CST__NUMBER_SIZE = 40 }; /* room for any of them */

size_t cst__print_uint64(char *to, uint64_t value);

static inline size_t cst__print_int64(char *to, int64_t value) {
  const bool negative = value < 0;
  const uint64_t size = negative ? 0 - (uint64_t)value : (uint64_t)value;
  *to = '-';
  to += negative;
  return negative +
         (size < 100000000 ? cst__put_few(to, (uint32_t)size) : cst__print_uint64(to, size));
}

typedef enum cst__float_style {
  CST__FLOAT_PYTHON,     /* 1.0, 0.0001, 1e-05, 1e+16, -0.0, nan, inf, -inf: as repr */
  CST__FLOAT_JAVASCRIPT, /* 1, 0.000001, 1e-7, 1e+21, -0.0; no other value may come */
  CST__FLOAT_PROTOBUF    /* PYTHON; float32 with six digits at least, which only tiny ones need */
} cst__float_style;

size_t cst__print_float64(char *to, double value, cst__float_style style);
size_t cst__print_float32(char *to, float value, cst__float_style style);

/* ---- from text: number_parse.c ---- */

typedef enum cst__whole_kind {
  CST__WHOLE_NONE, /* anything else */
  CST__WHOLE_64,
  CST__WHOLE_HUGE /* more than uint64 counts, the sign aside */
} cst__whole_kind;

/* For cst__parse_whole: digits, none or many. */
cst__whole_kind cst__parse_long_whole(const uint8_t *at, const uint8_t *end, uint64_t *magnitude);

/* A sign or none, and digits. */
static inline cst__whole_kind cst__parse_whole(const void *text, size_t size, bool *negative,
                                               uint64_t *magnitude) {
  enum { SHORT = 16 };
  const uint8_t *at = text;
  const uint8_t *const end = at + size;
  *negative = size > 0 && *at == '-';
  at += *negative || (size > 0 && *at == '+');
  if (end - at > SHORT || at == end) {
    return cst__parse_long_whole(at, end, magnitude);
  }
  uint64_t value = 0;
  for (; at < end; at++) {
    uint8_t digit = (uint8_t)(*at - '0');
    if (digit > 9) {
      return CST__WHOLE_NONE;
    }
    value = value * 10 + digit;
  }
  *magnitude = value;
  return CST__WHOLE_64;
}

/* The same within the type. */
bool cst__parse_int64(const void *text, size_t size, int64_t *out);
bool cst__parse_uint64(const void *text, size_t size, uint64_t *out);

/* What a text says: digits * 10^exponent. */
typedef struct cst__number {
  uint64_t digits;
  int64_t exponent;
  size_t num_digits; /* without zeros in front; beyond 19, `digits` means nothing */
  bool negative;
  bool is_word;  /* nan, inf or infinity, in letters of any case */
  bool is_int;   /* neither point nor exponent */
  bool is_plain; /* no plus sign, and no needless zero in front */
} cst__number;

/* What Python's float() takes, without spaces and underscores; false for any other text. */
bool cst__parse_number(const void *text, size_t size, cst__number *out);
/* 1e0 to 1e22: the powers of ten that a double holds exactly. */
extern const double cst__tens[23];

/* digits / 10^decimals where both are exact doubles: their quotient is rounded once (Clinger,
 * 1990). False: they are not. */
static inline bool cst__quotient(uint64_t digits, size_t decimals, double *out) {
  if (digits > UINT64_C(1) << DBL_MANT_DIG || decimals >= sizeof cst__tens / sizeof *cst__tens) {
    return false;
  }
  *out = (double)(int64_t)digits / cst__tens[decimals];
  return true;
}

/* The value of such a text; false if it is beyond the type. The text is looked at for more than 19
 * digits only. */
bool cst__number_float64(const void *text, size_t size, const cst__number *number, double *out);
bool cst__number_float32(const void *text, size_t size, const cst__number *number, float *out);

/* Both in one. */
bool cst__parse_float64(const void *text, size_t size, double *out);
bool cst__parse_float32(const void *text, size_t size, float *out);

#endif /* TEXT_NUMBER_H */
