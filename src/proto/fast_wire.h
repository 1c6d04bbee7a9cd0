/* Reading the wire format where loads may run over the end of a value: lengths, varints, copies,
 * for the loops that are compiled once per instruction set (CST_VARIANT names it).
 *
 * `slack` says that SLACK bytes after the value at hand may be read; it is known when a function
 * is compiled.
 */
#ifndef PROTO_FAST_WIRE_H
#define PROTO_FAST_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/hash.h"
#if defined(__BMI2__)
#include <immintrin.h>
#endif

/* One body, compiled with `slack` known. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define CST__PASTE_(a, b) a##b
#define CST__PASTE(a, b) CST__PASTE_(a, b)

enum {
  SLACK = 32, /* bytes after an entry that must be readable */
  SHORT_TAIL = 128,
  TAIL_BYTES = 512 /* the longest end of a record that is copied to get the slack */
};

/* A length of one or two bytes, by far the most; longer ones out of line. False: malformed. */
static __attribute__((noinline, unused)) bool long_size(const uint8_t **at, size_t *out) {
  size_t value = *out = 0;
  for (int i = 0; i < 5; i++) {
    uint8_t c = (*at)[i];
    value |= (size_t)(c & 0x7f) << (7 * i);
    if (c < 0x80) {
      *at += i + 1;
      *out = value;
      return value <= INT32_MAX;
    }
  }
  return false;
}

ALWAYS_INLINE bool read_size(const uint8_t **at, size_t *out) {
  const uint8_t *p = *at;
  if (LIKELY(p[0] < 0x80)) {
    *out = p[0];
    *at = p + 1;
    return true;
  }
  if (LIKELY(p[1] < 0x80)) {
    *out = (size_t)(p[0] & 0x7f) | (size_t)p[1] << 7;
    *at = p + 2;
    return true;
  }
  /* Of the caller's variables nobody takes the address: they stay in registers. */
  size_t value;
  bool ok = long_size(&p, &value);
  *at = p;
  *out = value;
  return ok;
}

/* The same where nothing after `end` may be read. */
static inline bool read_size_within(const uint8_t **at, const uint8_t *end, size_t *out) {
  if (LIKELY(end - *at >= 5)) {
    return read_size(at, out);
  }
  uint8_t copy[8] = {0};
  const uint8_t *in_copy = copy;
  size_t left = end > *at ? (size_t)(end - *at) : 0;
  memcpy(copy, *at, left);
  memset(copy + left, 0xff, sizeof copy - left);
  bool ok = read_size(&in_copy, out) && (size_t)(in_copy - copy) <= left;
  *at += in_copy - copy;
  return ok;
}

/* The 7-bit groups of a varint of up to 8 bytes, closed up. */
static inline uint64_t close_up(uint64_t word) {
#if defined(__BMI2__)
  return _pext_u64(word, UINT64_C(0x7f7f7f7f7f7f7f7f));
#else
  word &= UINT64_C(0x7f7f7f7f7f7f7f7f);
  word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
  word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
  return (word & UINT64_C(0x000000000fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
#endif
}

/* A varint of 9 or 10 bytes; bits beyond the 64th are dropped, as protobuf does. NULL: malformed.
 */
static __attribute__((noinline, unused)) const uint8_t *long_varint(const uint8_t *at,
                                                                    const uint8_t *end,
                                                                    int64_t *out) {
  uint64_t value = 0;
  for (int i = 0; i < 10 && at + i < end; i++) {
    value |= (uint64_t)(at[i] & 0x7f) << (7 * i);
    if (at[i] < 0x80) {
      *out = (int64_t)value;
      return at + i + 1;
    }
  }
  return NULL;
}

/* Packed varints up to `end`; there is room for one value per byte. NULL: malformed. */
ALWAYS_INLINE int64_t *unpack(const uint8_t *at, const uint8_t *end, bool slack, int64_t *out) {
  const uint8_t *wide_end = slack ? end : end - (end - at < 8 ? end - at : 7);
  while (at < wide_end) {
    uint64_t word = cst__load64(at);
    uint64_t stops = ~word & UINT64_C(0x8080808080808080);
    if (UNLIKELY(stops == 0)) {
      at = long_varint(at, end, out++);
      if (at == NULL) {
        return NULL;
      }
      continue;
    }
    uint64_t mask = stops ^ (stops - 1); /* up to the first byte that ends a varint */
    *out++ = (int64_t)close_up(word & mask);
    at += (__builtin_ctzll(stops) >> 3) + 1;
  }
  while (!slack && at != NULL && at < end) {
    at = long_varint(at, end, out++);
  }
  return at == end ? out : NULL;
}

ALWAYS_INLINE void copy_32(uint8_t *to, const uint8_t *from) {
#if defined(__AVX2__)
  __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)from);
  _mm256_storeu_si256((__m256i *)(void *)to, bytes);
#else
  memcpy(to, from, 32);
#endif
}

/* Copies `size` bytes; may write, and with slack read, up to 31 bytes more. */
ALWAYS_INLINE void copy_values(uint8_t *to, const uint8_t *from, size_t size, bool slack) {
  if (!slack) {
    memcpy(to, from, size);
    return;
  }
  copy_32(to, from);
  if (UNLIKELY(size > 32)) {
    if (UNLIKELY(size > 128)) {
      memcpy(to, from, size);
      return;
    }
    for (size_t i = 32; i < size; i += 32) {
      copy_32(to + i, from + i);
    }
  }
}

#endif /* PROTO_FAST_WIRE_H */
