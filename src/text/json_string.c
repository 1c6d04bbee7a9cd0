/* Strings of JSON: runs that stand for themselves, and escapes. */
#include "text/json_string.h"

#include <string.h>

#include "base/hash.h"
#include "base/utf8.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

static inline bool is_plain(uint8_t c) { return c >= 0x20 && c != '"' && c != '\\'; }

/* The bytes of the word that have to be escaped have their high bit set here; bytes that are not
 * ASCII do not. */
static inline uint64_t find_escapes(uint64_t word) {
  const uint64_t ones = UINT64_C(0x0101010101010101);
  const uint64_t highs = ones * 0x80;
  uint64_t quote = word ^ (ones * '"');
  uint64_t backslash = word ^ (ones * '\\');
  uint64_t found = (word - ones * 0x20) | (quote - ones) | (backslash - ones);
  return found & ~word & highs;
}

/* The same for whatever may be a character that is not shown: all bytes from DEL on. */
static inline uint64_t find_hidden(uint64_t word) {
  const uint64_t ones = UINT64_C(0x0101010101010101);
  return (word | (word + ones)) & (ones * 0x80);
}

/* The size of the character if a terminal would obey it (all such have at most 3 bytes), else 0. */
static inline size_t hidden_size(const uint8_t *c) {
  if (c[0] < 0x7f) {
    return 0;
  }
  size_t size = c[0] == 0xe2 ? 3 : c[0] == 0xc2 || c[0] == 0xd8 ? 2 : c[0] == 0x7f;
  return size > 0 && cst__utf8_is_hidden(c, size) ? size : 0;
}

#if defined(__SSE2__)
enum { STEP = 16 };

/* Bits of the bytes of a step that have to be escaped or, if `shown`, that begin a character which
 * may not be shown: DEL, and the first bytes of all others (cst__utf8_is_hidden). */
static inline unsigned find_candidates(const uint8_t *bytes, bool shown) {
  const __m128i text = _mm_loadu_si128((const __m128i *)(const void *)bytes);
  const __m128i last_control = _mm_set1_epi8(0x1f);
  __m128i found = _mm_cmpeq_epi8(_mm_max_epu8(text, last_control), last_control);
  found = _mm_or_si128(found, _mm_cmpeq_epi8(text, _mm_set1_epi8('"')));
  found = _mm_or_si128(found, _mm_cmpeq_epi8(text, _mm_set1_epi8('\\')));
  if (shown) {
    found = _mm_or_si128(found, _mm_cmpeq_epi8(text, _mm_set1_epi8(0x7f)));
    found = _mm_or_si128(found, _mm_cmpeq_epi8(text, _mm_set1_epi8((char)0xc2)));
    found = _mm_or_si128(found, _mm_cmpeq_epi8(text, _mm_set1_epi8((char)0xd8)));
    found = _mm_or_si128(found, _mm_cmpeq_epi8(text, _mm_set1_epi8((char)0xe2)));
  }
  return (unsigned)_mm_movemask_epi8(found);
}

/* Steps without a byte that is escaped; the rest has one, or is shorter than a step. */
static inline size_t pass_plain(const uint8_t *bytes, size_t size, bool shown) {
  size_t i = 0;
  for (; size - i >= STEP; i += STEP) {
    unsigned found = find_candidates(bytes + i, shown);
    for (; found != 0; found &= found - 1) {
      const uint8_t *c = bytes + i + __builtin_ctz(found);
      if (!is_plain(*c) || (shown && hidden_size(c) > 0)) {
        return (size_t)(c - bytes);
      }
    }
  }
  return i;
}
#else
static inline size_t pass_plain(const uint8_t *bytes, size_t size, bool shown) {
  (void)bytes;
  (void)size;
  (void)shown;
  return 0;
}
#endif

/* The bytes before the first that is escaped. */
static inline size_t plain_size(const uint8_t *bytes, size_t size, bool shown) {
  size_t i = pass_plain(bytes, size, shown);
  while (i < size) {
    size_t end = size;
    if (size - i >= 8) {
      uint64_t word = cst__load64(bytes + i);
      if ((find_escapes(word) | (shown ? find_hidden(word) : 0)) == 0) {
        i += 8;
        continue;
      }
      end = i + 8;
    }
    for (; i < end; i++) {
      if (!is_plain(bytes[i]) || (shown && hidden_size(bytes + i) > 0)) {
        return i;
      }
    }
  }
  return size;
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
  size_t plain = plain_size(bytes, size, shown);
  size_t want;
  char *to = cst__add(size, 2, &want) ? cst__text_reserve(out, want) : NULL;
  if (to == NULL) {
    out->failed = true;
    return;
  }
  *to = '"';
  to += quotes;
  while (true) {
    memcpy(to, bytes, plain);
    to += plain;
    bytes += plain;
    size -= plain;
    if (size == 0) {
      break;
    }
    out->size = (size_t)(to - out->data);
    to = cst__text_reserve(out, size + ESCAPE_SIZE + 1);
    if (to == NULL) {
      return;
    }
    size_t hidden = shown ? hidden_size(bytes) : 0;
    to = hidden > 0 ? put_hidden(to, bytes, hidden) : put_escape(to, *bytes);
    bytes += hidden > 0 ? hidden : 1;
    size -= hidden > 0 ? hidden : 1;
    plain = plain_size(bytes, size, shown);
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
