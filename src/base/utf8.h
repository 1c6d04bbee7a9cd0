/* UTF-8: validity, as the Unicode standard and protobuf define it (no surrogates, no overlongs). */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The bytes (1 to 4) of the valid character at the start; 0 if there is none. */
size_t cst__utf8_char_size(const uint8_t *bytes, size_t size);

/* True if the valid character at the start, which has this size, is not shown but obeyed: a control
 * character (C0, DEL, C1), an end of a line, or one that turns the direction of the text. */
static inline bool cst__utf8_is_hidden(const uint8_t *bytes, size_t size) {
  uint8_t c = bytes[0];
  if (size == 1) {
    return c < 0x20 || c == 0x7f;
  }
  if (c == 0xe2 && size == 3) { /* U+200E, 200F, 2028 to 202E, 2066 to 2069 */
    return (bytes[1] == 0x80 &&
            (bytes[2] == 0x8e || bytes[2] == 0x8f || (bytes[2] >= 0xa8 && bytes[2] <= 0xae))) ||
           (bytes[1] == 0x81 && bytes[2] >= 0xa6 && bytes[2] <= 0xa9);
  }
  return (c == 0xc2 && bytes[1] < 0xa0) || (c == 0xd8 && bytes[1] == 0x9c); /* C1, U+061C */
}

/* How many bytes at the start are ASCII: all of them, or a multiple of 64 before the first one that
 * is not. */
size_t cst__utf8_ascii_prefix(const uint8_t *bytes, size_t size);

/* The index of the first byte that is not UTF-8; `size` if all is valid. */
size_t cst__utf8_valid_prefix(const uint8_t *bytes, size_t size);

static inline bool cst__utf8_valid(const uint8_t *bytes, size_t size) {
  return cst__utf8_valid_prefix(bytes, size) == size;
}

/* Text in any encoding that contains ASCII: no control characters but tabs and ends of lines. */
static inline bool cst__is_text(const uint8_t *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] == 0x7f || (bytes[i] < 0x20 && !(bytes[i] >= '\t' && bytes[i] <= '\r'))) {
      return false;
    }
  }
  return true;
}

/* The bytes (3 or 0) of a byte order mark at the start. */
enum { CST__UTF8_MARK = 3 };
static inline size_t cst__utf8_mark_size(const void *bytes, size_t size) {
  bool marked = size >= CST__UTF8_MARK && memcmp(bytes, "\xef\xbb\xbf", CST__UTF8_MARK) == 0;
  return marked ? CST__UTF8_MARK : 0;
}

#endif /* BASE_UTF8_H */
