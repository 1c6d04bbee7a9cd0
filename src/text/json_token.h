/* The tokens of a JSON text that lies in memory. Each step takes the place of a token and returns
 * the place after it; NULL: this is not JSON, or not as these steps know it. The text goes to
 * the parser of trees (json_document.h) then, which tells what is wrong; the steps accept
 * nothing that it does not.
 *
 * The steps look for the end of the buffer, not for that of the text: NULs stand there
 * (CST__JSON_SLACK), which no token takes. A text that goes on where it should end is seen in the
 * end, as every step goes forward (cst__json_ends_at).
 */
#ifndef TEXT_JSON_TOKEN_H
#define TEXT_JSON_TOKEN_H

#include <string.h>

#include "base/alloc.h"
#include "text/decimal.h"
#include "text/digits.h"
#include "text/number.h"
#include "text/sixteen_digits.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { CST__JSON_SLACK = 64 /* bytes after a text that may be read */ };

/* The text that is read. */
typedef struct cst__json_text {
  const uint8_t *end;
  int levels; /* of lists and objects that may still open */
} cst__json_text;

/* ---- blanks and marks ---- */

/* A step past a byte that is there, for a branch that is to stay one: a processor foresees it, and
 * goes on before the byte is loaded and compared, which a sum would wait for. */
static inline const uint8_t *cst__json_past(const uint8_t *at) {
  at++;
  __asm__ volatile("" : "+r"(at));
  return at;
}

static inline bool cst__json_is_blank(uint8_t c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static inline const uint8_t *cst__json_blanks(const uint8_t *at) {
  if (*at == ' ') { /* the one that most writers put there */
    at = cst__json_past(at);
  }
  while (__builtin_expect(*at <= ' ', 0) && cst__json_is_blank(*at)) {
    at++;
  }
  return at;
}

/* A mark of one byte, and blanks before it. */
static inline const uint8_t *cst__json_mark(const uint8_t *at, uint8_t mark) {
  at = cst__json_blanks(at);
  return *at == mark ? at + 1 : NULL;
}

/* Whether nothing but blanks stands between a place and the end of the text. */
static inline bool cst__json_ends_at(const uint8_t *at, const cst__json_text *text) {
  while (at < text->end && cst__json_is_blank(*at)) {
    at++;
  }
  return at == text->end;
}

/* At '{' or '[': the place of the first key or item, one level down, if one may open.
 * *more is false where it is empty. */
static inline const uint8_t *cst__json_enter(const uint8_t *at, cst__json_text *text, uint8_t close,
                                             bool *more) {
  at = cst__json_blanks(at + 1);
  *more = *at != close;
  if (text->levels <= 0) {
    return NULL;
  }
  if (!*more) {
    return cst__json_past(at);
  }
  text->levels--;
  return at;
}

/* After a member or an item: the place of the next; or with *more false the place after the
 * object or list. */
static inline const uint8_t *cst__json_next(const uint8_t *at, cst__json_text *text, uint8_t close,
                                            bool *more) {
  if (__builtin_expect(*at != ',', 0)) {
    at = cst__json_blanks(at);
    if (*at != ',') {
      *more = false;
      text->levels++;
      return *at == close ? at + 1 : NULL;
    }
  }
  return cst__json_blanks(at + 1);
}

static inline const uint8_t *cst__json_word(const uint8_t *at, const char *word, size_t size) {
  return memcmp(at, word, size) == 0 ? at + size : NULL;
}

/* ---- strings ---- */

typedef struct cst__json_span {
  const uint8_t *data; /* between the quotes */
  size_t size;
  bool has_escapes;
} cst__json_span;

enum { CST__JSON_STEP = 16 }; /* bytes that are looked at together */

/* How many of the next 16 bytes stand for themselves: up to the first that is a quote, a backslash,
 * a control character or not ASCII. */
static inline size_t cst__json_plain(const uint8_t *at) {
#ifdef __SSE2__
  __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
  __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
  __m128i slashes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
  __m128i others = _mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')); /* signed: beyond ASCII, too */
  unsigned stops = (unsigned)_mm_movemask_epi8(_mm_or_si128(others, _mm_or_si128(quotes, slashes)));
  return (unsigned)__builtin_ctz(stops | 1U << CST__JSON_STEP);
#else
  const uint64_t ones = UINT64_C(0x0101010101010101);
  for (size_t i = 0; i < CST__JSON_STEP; i += 8) {
    uint64_t word; /* of a little-endian machine */
    memcpy(&word, at + i, sizeof word);
    uint64_t quotes = word ^ ones * '"';
    uint64_t slashes = word ^ ones * '\\';
    uint64_t stops = (((quotes - ones) | (slashes - ones) | (word - ones * ' ')) | word) & ones
                                                                                               << 7;
    if (stops != 0) {
      return i + ((size_t)__builtin_ctzll(stops) >> 3);
    }
  }
  return CST__JSON_STEP;
#endif
}

/* The size of a string of ASCII without escapes, of 32 bytes at most; SIZE_MAX: it is another one,
 * or none. */
static inline size_t cst__json_short_string(const uint8_t *at) {
  size_t size = cst__json_plain(at + 1);
  size += size == CST__JSON_STEP ? cst__json_plain(at + 1 + CST__JSON_STEP) : 0;
  return __builtin_expect(*at == '"' && at[1 + size] == '"', 1) ? size : SIZE_MAX;
}

/* A string, at its quote: its bytes, which are UTF-8. Escapes are checked by cst__json_unescape. */
const uint8_t *cst__json_long_string(const uint8_t *at, cst__json_span *out);
static inline const uint8_t *cst__json_string(const uint8_t *at, cst__json_span *out) {
  size_t size = cst__json_short_string(at);
  if (__builtin_expect(size != SIZE_MAX, 1)) {
    *out = (cst__json_span){at + 1, size, false};
    return at + 1 + size + 1;
  }
  cst__json_span span; /* *out may stay in registers */
  at = cst__json_long_string(at, &span);
  *out = span;
  return at;
}

/* Writes a string with its escapes resolved to `to`, which has room for span.size bytes; *size
 * bytes. False for an escape that JSON does not have, and for half a surrogate pair. */
bool cst__json_unescape(cst__json_span span, uint8_t *to, size_t *size);
/* The same without the text. */
bool cst__json_escapes_are_sound(cst__json_span span);

/* ---- keys ---- */

/* A key as most writers spell it, `"name":`, for a comparison by words. */
typedef struct cst__json_key_text {
  uint64_t words[2]; /* of the first 16 bytes */
  uint64_t masks[2]; /* the bits that count */
  const char *text;
  size_t size; /* 0: the name has a character that is escaped */
} cst__json_key_text;

/* False: no memory. */
bool cst__json_key_init(cst__json_key_text *key, const char *name, size_t size, cst__arena *arena);

/* Goes past this key and its colon; NULL for another key or another spelling. */
static inline const uint8_t *cst__json_take_key(const uint8_t *at, const cst__json_text *text,
                                                const cst__json_key_text *key) {
  uint64_t words[2];
  memcpy(words, at, sizeof words);
  if ((((words[0] ^ key->words[0]) & key->masks[0]) |
       ((words[1] ^ key->words[1]) & key->masks[1])) != 0) {
    return NULL;
  }
  if (key->size > sizeof words &&
      (text->end - at < (ptrdiff_t)key->size ||
       memcmp(at + sizeof words, key->text + sizeof words, key->size - sizeof words) != 0)) {
    return NULL;
  }
  return key->size > 0 ? at + key->size : NULL;
}

/* ---- numbers ---- */

typedef struct cst__json_digits {
  const uint8_t *text;
  size_t size;
  bool is_negative;
  bool is_whole;      /* neither point nor exponent */
  uint64_t magnitude; /* all digits, without the point; means nothing if there are more than 19 */
  size_t num_digits;
  size_t num_decimals; /* digits after the point */
  bool has_exponent;   /* not counted above */
} cst__json_digits;

/* Adds the digits that stand here, none or many, to *value. */
static inline const uint8_t *cst__json_take_digits(const uint8_t *at, uint64_t *value) {
  size_t count;
  do {
    uint64_t word = cst__load64(at);
    count = cst__count_digits(word);
    if (count == 0) {
      break;
    }
    *value = cst__append_digits(*value, word, count);
    at += count;
  } while (count == 8);
  return at;
}

/* A number: as JSON has it, without a needless zero in front. */
static inline const uint8_t *cst__json_number_at(const uint8_t *at, cst__json_digits *out) {
  cst__json_digits found = {.text = at, .is_negative = *at == '-', .is_whole = true};
  if (found.is_negative) {
    at = cst__json_past(at);
  }
  const uint8_t *digits = at;
  at = cst__json_take_digits(at, &found.magnitude);
  found.num_digits = (size_t)(at - digits);
  if (found.num_digits == 0 || (*digits == '0' && found.num_digits > 1)) {
    return NULL;
  }
  if (*at == '.') {
    const uint8_t *decimals = at + 1;
    at = cst__json_take_digits(decimals, &found.magnitude);
    found.num_decimals = (size_t)(at - decimals);
    found.num_digits += found.num_decimals;
    found.is_whole = false;
    if (found.num_decimals == 0) {
      return NULL;
    }
  }
  if (__builtin_expect((*at | 0x20) == 'e', 0)) {
    uint64_t exponent = 0;
    at += 1 + (at[1] == '+' || at[1] == '-');
    digits = at;
    at = cst__json_take_digits(at, &exponent);
    found.has_exponent = true;
    found.is_whole = false;
    if (at == digits) {
      return NULL;
    }
  }
  found.size = (size_t)(at - found.text);
  *out = found;
  return at;
}

/* The number as a double, rounded once; false if it is beyond them. */
bool cst__json_long_float64(const cst__json_digits *digits, double *out);
static inline bool cst__json_digits_float64(const cst__json_digits *digits, double *out) {
  enum { MOST_DIGITS = 19 };
  double value;
  if (__builtin_expect(digits->num_digits <= MOST_DIGITS && !digits->has_exponent &&
                           cst__quotient(digits->magnitude, digits->num_decimals, &value),
                       1)) {
    *out = digits->is_negative ? -value : value;
    return true;
  }
  cst__json_digits copy = *digits; /* *digits may stay in registers */
  return cst__json_long_float64(&copy, out);
}

/* A number with a point, no exponent and 19 digits at most, 16 of them in front of the point, as a
 * double: most floats are such numbers, and no branch depends on how many digits they have. NULL:
 * none, or this is not x86-64: take the steps above. */
static inline const uint8_t *cst__json_pointed_float64(const uint8_t *at, double *out) {
#ifdef __SSE2__
  enum { FULL = 16, MOST = 19 };
  const bool negative = *at == '-';
  if (negative) {
    at = cst__json_past(at);
  }
  const uint32_t others = cst__find_others(at) | cst__find_others(at + FULL) << FULL;
  const uint32_t after_point = others & (others - 1);
  if (after_point == 0) {
    return NULL;
  }
  const size_t whole = (unsigned)__builtin_ctz(others);
  const size_t end = (unsigned)__builtin_ctz(after_point);
  const size_t count = end - 1;
  if (at[whole] != '.' || whole - 1 >= FULL || end - whole == 1 || count > MOST ||
      (*at == '0' && whole > 1) || (at[end] | 0x20) == 'e') {
    return NULL;
  }
  uint64_t digits = cst__first_digits(at, whole, count);
  if (count < FULL) { /* even and below 10^16: exact as a double; their quotient is rounded once */
    static const double signs[] = {1, -1};
    *out = (double)(int64_t)digits / cst__tens[FULL - whole] * signs[negative];
    return at + end;
  }
  if (count > FULL) {
    digits = cst__append_digits(digits, cst__load64(at + FULL + 1), count - FULL);
  }
  *out = cst__decimal_float64(digits, (int)whole - (int)count, negative);
  return at + end;
#else
  (void)at;
  (void)out;
  return NULL;
#endif
}

/* ---- what nobody wants ---- */

/* Goes past a string, with its escapes checked. */
const uint8_t *cst__json_skip_long_string(const uint8_t *at);
static inline const uint8_t *cst__json_skip_string(const uint8_t *at) {
  size_t size = cst__json_short_string(at);
  return size != SIZE_MAX ? at + size + 2 : cst__json_skip_long_string(at);
}

/* Goes past a value of any kind. */
const uint8_t *cst__json_skip_value(const uint8_t *at, cst__json_text *text);

#endif /* TEXT_JSON_TOKEN_H */
