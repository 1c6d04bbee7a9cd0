/* UTF-8 validation: ASCII in strides, other characters one by one. */
#include "base/utf8.h"

static bool is_tail(uint8_t c) { return (c & 0xc0) == 0x80; }

size_t cst__utf8_char_size(const uint8_t *s, size_t size) {
  if (size == 0) {
    return 0;
  }
  uint8_t c = s[0];
  if (c < 0x80) {
    return 1;
  }
  if (c >= 0xc2 && c <= 0xdf) {
    return size >= 2 && is_tail(s[1]) ? 2 : 0;
  }
  if (c >= 0xe0 && c <= 0xef) {
    /* The second byte excludes overlongs (E0) and surrogates (ED). */
    uint8_t low = c == 0xe0 ? 0xa0 : 0x80;
    uint8_t high = c == 0xed ? 0x9f : 0xbf;
    return size >= 3 && s[1] >= low && s[1] <= high && is_tail(s[2]) ? 3 : 0;
  }
  if (c >= 0xf0 && c <= 0xf4) {
    uint8_t low = c == 0xf0 ? 0x90 : 0x80;
    uint8_t high = c == 0xf4 ? 0x8f : 0xbf;
    return size >= 4 && s[1] >= low && s[1] <= high && is_tail(s[2]) && is_tail(s[3]) ? 4 : 0;
  }
  return 0;
}

size_t cst__utf8_ascii_prefix(const uint8_t *bytes, size_t size) {
  enum { STRIDE = 64 };
  size_t i = 0;
  uint8_t high = 0;
  for (; size - i >= STRIDE; i += STRIDE) { /* the compiler makes vectors of it */
    for (size_t k = 0; k < STRIDE; k++) {
      high |= bytes[i + k];
    }
    if (high & 0x80) {
      return i;
    }
  }
  for (size_t k = i; k < size; k++) {
    high |= bytes[k];
  }
  return high & 0x80 ? i : size;
}

/* The index of the next byte that is not ASCII; `size`: there is none. */
static inline size_t pass_ascii(const uint8_t *bytes, size_t size, size_t i) {
  const uint64_t highs = UINT64_C(0x8080808080808080);
  uint64_t words[4];
  for (; size - i >= sizeof words; i += sizeof words) {
    memcpy(words, bytes + i, sizeof words);
    if (((words[0] | words[1] | words[2] | words[3]) & highs) != 0) {
      break;
    }
  }
  for (; size - i >= sizeof *words; i += sizeof *words) {
    memcpy(words, bytes + i, sizeof *words);
    if ((words[0] & highs) != 0) {
      return i + (size_t)__builtin_ctzll(words[0] & highs) / 8; /* little-endian */
    }
  }
  while (i < size && bytes[i] < 0x80) {
    i++;
  }
  return i;
}

size_t cst__utf8_valid_prefix(const uint8_t *bytes, size_t size) {
  size_t i = cst__utf8_ascii_prefix(bytes, size);
  while (i < size) {
    if (bytes[i] < 0x80) {
      i = pass_ascii(bytes, size, i);
      continue;
    }
    size_t length = cst__utf8_char_size(bytes + i, size - i);
    if (length == 0) {
      return i;
    }
    i += length;
  }
  return size;
}
