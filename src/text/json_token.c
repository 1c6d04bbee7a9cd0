/* Tokens of JSON text that take longer: strings beyond ASCII, escapes, and values to pass over. */
#include "text/json_token.h"

#include "base/utf8.h"
#include "text/number.h"

/* ---- strings ---- */

const uint8_t *cst__json_long_string(const uint8_t *at, cst__json_span *out) {
  const uint8_t *const begin = ++at;
  bool has_escapes = false;
  bool is_ascii = true;
  for (;;) {
    size_t plain = cst__json_plain(at);
    at += plain;
    if (plain == CST__JSON_STEP) {
      continue;
    }
    if (*at == '"') {
      break;
    }
    if (*at < ' ') {
      return NULL;
    }
    if (*at == '\\') {
      has_escapes = true;
      at += 2;
    }
    for (; *at >= 0x80; at++) {
      is_ascii = false;
    }
  }
  *out = (cst__json_span){begin, (size_t)(at - begin), has_escapes};
  return is_ascii || cst__utf8_valid(begin, out->size) ? at + 1 : NULL;
}

/* ---- numbers ---- */

bool cst__json_long_float64(const cst__json_digits *digits, double *out) {
  enum { MOST_DIGITS = 19 };
  if (digits->num_digits > MOST_DIGITS || digits->has_exponent) {
    return cst__parse_float64(digits->text, digits->size, out);
  }
  const cst__number number = {.digits = digits->magnitude,
                              .exponent = -(int64_t)digits->num_decimals,
                              .num_digits = digits->num_digits,
                              .negative = digits->is_negative};
  return cst__number_float64(digits->text, digits->size, &number, out);
}

/* ---- keys ---- */

bool cst__json_key_init(cst__json_key_text *key, const char *name, size_t size, cst__arena *arena) {
  *key = (cst__json_key_text){.masks = {UINT64_MAX, UINT64_MAX}};
  for (size_t i = 0; i < size; i++) {
    if ((uint8_t)name[i] < ' ' || name[i] == '"' || name[i] == '\\') {
      return true;
    }
  }
  char *text = cst__arena_take(arena, size + 3);
  if (text == NULL) {
    return false;
  }
  text[0] = text[1 + size] = '"';
  text[2 + size] = ':';
  memcpy(text + 1, name, size);
  key->text = text;
  key->size = size + 3;
  size_t first = key->size < sizeof key->words ? key->size : sizeof key->words;
  memcpy(key->words, text, first);
  memset((uint8_t *)key->masks + first, 0, sizeof key->masks - first);
  return true;
}

/* ---- escapes ---- */

/* The four digits of \uXXXX; -1: they are none. */
static int32_t code_unit(const uint8_t *at, const uint8_t *end) {
  int32_t unit = 0;
  if (end - at < 4) {
    return -1;
  }
  for (int i = 0; i < 4; i++) {
    uint8_t c = at[i];
    int digit = cst__is_digit(c)                  ? c - '0'
                : (uint8_t)((c | 0x20) - 'a') < 6 ? (c | 0x20) - 'a' + 10
                                                  : -1;
    if (digit < 0) {
      return -1;
    }
    unit = unit << 4 | digit;
  }
  return unit;
}

/* The character of \uXXXX, or of two of them, with `at` after the first 'u'; moves past it. */
static bool take_character(const uint8_t **at, const uint8_t *end, uint32_t *out) {
  int32_t unit = code_unit(*at, end);
  if (unit < 0 || (unit >= 0xdc00 && unit < 0xe000)) {
    return false;
  }
  *at += 4;
  *out = (uint32_t)unit;
  if (unit < 0xd800 || unit >= 0xe000) {
    return true;
  }
  int32_t low =
      end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u' ? code_unit(*at + 2, end) : -1;
  if (low < 0xdc00 || low >= 0xe000) {
    return false;
  }
  *at += 6;
  *out = 0x10000 + (((uint32_t)unit - 0xd800) << 10) + ((uint32_t)low - 0xdc00);
  return true;
}

static uint8_t *put_character(uint8_t *to, uint32_t c) {
  static const uint8_t leads[] = {0x00, 0xc0, 0xe0, 0xf0};
  int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  *to++ = (uint8_t)(leads[more] | c >> 6 * more);
  while (more-- > 0) {
    *to++ = (uint8_t)(0x80 | (c >> 6 * more & 0x3f));
  }
  return to;
}

/* What \c stands for; 0: it is none of the short escapes. */
static uint8_t short_escape(uint8_t c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return 0;
  }
}

bool cst__json_unescape(cst__json_span span, uint8_t *to, size_t *size) {
  const uint8_t *at = span.data;
  const uint8_t *const end = at + span.size;
  uint8_t *const begin = to;
  while (at < end) {
    const uint8_t *slash = memchr(at, '\\', (size_t)(end - at));
    size_t plain = (size_t)((slash != NULL ? slash : end) - at);
    memcpy(to, at, plain);
    to += plain;
    at += plain;
    if (at == end) {
      break;
    }
    uint8_t kind = at[1]; /* there is one: the string's end is not escaped */
    uint32_t c = short_escape(kind);
    at += 2;
    if (c == 0 && (kind != 'u' || !take_character(&at, end, &c))) {
      return false;
    }
    to = put_character(to, c);
  }
  *size = (size_t)(to - begin);
  return true;
}

bool cst__json_escapes_are_sound(cst__json_span span) {
  const uint8_t *at = span.data;
  const uint8_t *const end = at + span.size;
  while (at < end && (at = memchr(at, '\\', (size_t)(end - at))) != NULL) {
    uint8_t kind = at[1];
    uint32_t c = short_escape(kind);
    at += 2;
    if (c == 0 && (kind != 'u' || !take_character(&at, end, &c))) {
      return false;
    }
  }
  return true;
}

/* ---- what nobody wants ---- */

const uint8_t *cst__json_skip_long_string(const uint8_t *at) {
  cst__json_span span;
  at = *at == '"' ? cst__json_long_string(at, &span) : NULL;
  return at == NULL || !span.has_escapes || cst__json_escapes_are_sound(span) ? at : NULL;
}

static const uint8_t *skip_list(const uint8_t *at, cst__json_text *text) {
  bool more;
  at = cst__json_enter(at, text, ']', &more);
  while (at != NULL && more) {
    at = cst__json_skip_value(at, text);
    at = at != NULL ? cst__json_next(at, text, ']', &more) : NULL;
  }
  return at;
}

static const uint8_t *skip_member(const uint8_t *at, cst__json_text *text) {
  at = cst__json_skip_string(at);
  if (at == NULL || (at = cst__json_mark(at, ':')) == NULL) {
    return NULL;
  }
  return cst__json_skip_value(cst__json_blanks(at), text);
}

static const uint8_t *skip_object(const uint8_t *at, cst__json_text *text) {
  bool more;
  at = cst__json_enter(at, text, '}', &more);
  while (at != NULL && more) {
    at = skip_member(at, text);
    at = at != NULL ? cst__json_next(at, text, '}', &more) : NULL;
  }
  return at;
}

const uint8_t *cst__json_skip_value(const uint8_t *at, cst__json_text *text) {
  cst__json_digits digits;
  switch (*at) {
    case '"':
      return cst__json_skip_string(at);
    case '[':
      return skip_list(at, text);
    case '{':
      return skip_object(at, text);
    case 't':
      return cst__json_word(at, "true", 4);
    case 'f':
      return cst__json_word(at, "false", 5);
    case 'n':
      return cst__json_word(at, "null", 4);
    default:
      return cst__json_number_at(at, &digits);
  }
}
