/* UTF-8: validity, as the Unicode standard and protobuf define it (no surrogates, no overlongs). */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The bytes (1 to 4) of the valid character at the start; 0 if there is none. */
size_t cst__utf8_char_size(const uint8_t *bytes, size_t size);

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

#endif /* BASE_UTF8_H */
