/* Strings of JSON: runs that stand for themselves, and escapes. */
#include "text/json_string.h"

#include <string.h>

#include "base/utf8.h"

static inline bool is_plain(uint8_t c) { return c >= 0x20 && c != '"' && c != '\\'; }

/* The size of the character if a terminal would obey it (all such have at most 3 bytes), else 0. */
static inline size_t hidden_size(const uint8_t *c) {
  if (c[0] < 0x7f) {
    return 0;
  }
  size_t size = c[0] == 0xe2 ? 3 : c[0] == 0xc2 || c[0] == 0xd8 ? 2 : c[0] == 0x7f;
  return size > 0 && cst__utf8_is_hidden(c, size) ? size : 0;
}

/* Copies the bytes before the first that is escaped, and up to a stride more; returns their number.
 * So many bytes can be read as `readable` says, `size` or more. */
static inline size_t copy_plain(char *to, const uint8_t *bytes, size_t size, size_t readable,
                                bool shown) {
  for (size_t i = 0; i < size; i += CST__STRIDE) {
    const size_t rest = size - i;
    cst__stride_bits found;
    if (rest >= CST__STRIDE) {
      found = cst__json_candidates(cst__stride_copy(to + i, bytes + i), shown);
    } else {
      const cst__stride stride = cst__stride_copy_last(to + i, bytes + i, rest, readable - i);
      found = cst__stride_within(cst__json_candidates(stride, shown), rest);
    }
    for (; found != 0; found &= found - 1) {
      const size_t at = i + cst__stride_first(found);
      if (!is_plain(bytes[at]) || (shown && hidden_size(bytes + at) > 0)) {
        return at;
      }
    }
  }
  return size;
}

size_t cst__copy_json_plain(char *to, const uint8_t *bytes, size_t size, size_t readable) {
  return copy_plain(to, bytes, size, readable, true);
}

enum { ESCAPE_SIZE = 6 };

static char *put_code(char *to, unsigned code) {
  static const char digits[] = "0123456789abcdef";
  *to++ = '\\';
  *to++ = 'u';
  for (int shift = 12; shift >= 0; shift -= 4) {
    *to++ = digits[code >> shift & 15];
  }
  return to;
}

static char *put_escape(char *to, uint8_t c) {
  static const char letters[] = "btn\0fr"; /* 8 to 13; JSON has no \v */
  if (c == '"' || c == '\\' || (c >= 8 && c <= 13 && c != 11)) {
    *to++ = '\\';
    *to++ = c == '"' || c == '\\' ? (char)c : letters[c - 8];
    return to;
  }
  return put_code(to, c);
}

/* A character of several bytes, below U+10000. */
static char *put_hidden(char *to, const uint8_t *c, size_t size) {
  unsigned code = size == 1   ? c[0]
                  : size == 2 ? (c[0] & 0x1fU) << 6 | (c[1] & 0x3fU)
                              : (c[0] & 0x0fU) << 12 | (c[1] & 0x3fU) << 6 | (c[2] & 0x3fU);
  return put_code(to, code);
}

/* With what stands around the string: `quotes` is 0 or 1. */
static void put_string(cst__text *out, const uint8_t *bytes, size_t size, bool shown,
                       size_t quotes) {
  bytes = bytes != NULL ? bytes : (const uint8_t *)"";
  size_t want;
  char *to = cst__add(size, 2 + CST__STRIDE, &want) ? cst__text_reserve(out, want) : NULL;
  if (to == NULL) {
    out->failed = true;
    return;
  }
  *to = '"';
  to += quotes;
  while (true) {
    const size_t plain = copy_plain(to, bytes, size, size, shown);
    to += plain;
    bytes += plain;
    size -= plain;
    if (size == 0) {
      break;
    }
    out->size = (size_t)(to - out->data);
    to = cst__text_reserve(out, size + ESCAPE_SIZE + 1 + CST__STRIDE);
    if (to == NULL) {
      return;
    }
    size_t hidden = shown ? hidden_size(bytes) : 0;
    to = hidden > 0 ? put_hidden(to, bytes, hidden) : put_escape(to, *bytes);
    bytes += hidden > 0 ? hidden : 1;
    size -= hidden > 0 ? hidden : 1;
  }
  *to = '"';
  to[quotes] = '\0'; /* as behind all that is appended */
  out->size = (size_t)(to + quotes - out->data);
}

void cst__put_json_string(cst__text *out, const void *bytes, size_t size,
                          cst__json_escapes escapes) {
  if (escapes == CST__JSON_SHOWN) {
    put_string(out, bytes, size, true, 1);
  } else {
    put_string(out, bytes, size, false, 1);
  }
}

void cst__put_json_inside(cst__text *out, const void *bytes, size_t size,
                          cst__json_escapes escapes) {
  put_string(out, bytes, size, escapes == CST__JSON_SHOWN, 0);
}

void cst__put_json_in_html(cst__text *out, const void *bytes, size_t size) {
  const uint8_t *at = bytes;
  cst__text_puts(out, "\"");
  while (at != NULL && size > 0) {
    const size_t valid = cst__utf8_valid_prefix(at, size);
    const uint8_t *angle = valid > 0 ? memchr(at, '<', valid) : NULL;
    const size_t plain = angle != NULL ? (size_t)(angle - at) : valid;
    cst__put_json_inside(out, at, plain, CST__JSON_FEW);
    const size_t done = plain + (plain < size);
    if (plain < size) {
      cst__text_puts(out, angle != NULL ? "\\u003c" : "\xef\xbf\xbd");
    }
    at += done;
    size -= done;
  }
  cst__text_puts(out, "\"");
}

void cst__put_json_text(cst__text *out, const char *name) {
  put_string(out, (const uint8_t *)name, strlen(name), false, 1);
}
