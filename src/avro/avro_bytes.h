/* Numbers of Avro's binary encoding: variable-length zig-zag integers.
 *
 * Source: Apache Avro 1.12 Specification, "Binary Encoding".
 */
#ifndef AVRO_AVRO_BYTES_H
#define AVRO_AVRO_BYTES_H

#include <string.h>

#include "base/alloc.h"

/* Bytes that a number may take, and a writer may touch. */
enum { CST__AVRO_MOST_LONG = 10, CST__AVRO_LONG_ROOM = 16 };

void cst__avro_put_long(cst__text *out, int64_t value);

/* Writes a number where there is room for CST__AVRO_LONG_ROOM bytes: the place after it. */
static inline uint8_t *cst__avro_write_long(uint8_t *at, int64_t value) {
  uint64_t bits = ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
  if (bits < 0x80) {
    *at = (uint8_t)bits;
    return at + 1;
  }
  if (bits >> 56 == 0) { /* groups of 7 bits are spread over bytes, in eights, fours and pairs */
    uint64_t x = bits;
    x = (x & UINT64_C(0x000000000fffffff)) | (x & UINT64_C(0x00fffffff0000000)) << 4;
    x = (x & UINT64_C(0x00003fff00003fff)) | (x & UINT64_C(0x0fffc0000fffc000)) << 2;
    x = (x & UINT64_C(0x007f007f007f007f)) | (x & UINT64_C(0x3f803f803f803f80)) << 1;
    unsigned last =
        (63U - (unsigned)__builtin_clzll(x)) / 8 * 8; /* its byte, of which more may come */
    x |= UINT64_C(0x8080808080808080) & ((UINT64_C(1) << last) - 1);
    memcpy(at, &x, sizeof x); /* little-endian */
    return at + last / 8 + 1;
  }
  for (; bits >= 0x80; bits >>= 7) {
    *at++ = (uint8_t)(bits | 0x80);
  }
  *at++ = (uint8_t)bits;
  return at;
}

/* Reads the bits of a number that may end at `end`: what follows it, or NULL if it is cut, or
 * longer than 64 bits. */
static inline const uint8_t *cst__avro_read_bits(const uint8_t *at, const uint8_t *end,
                                                 uint64_t *out) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 70 && at < end; shift += 7) {
    uint8_t byte = *at++;
    if (shift == 63 && byte > 1) {
      return NULL;
    }
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *out = value;
      return at;
    }
  }
  return NULL;
}

/* Of a long, or an int, whose sign is the lowest bit. */
static inline int64_t cst__avro_signed(uint64_t bits) {
  return (int64_t)(bits >> 1) ^ -(int64_t)(bits & 1);
}

static inline const uint8_t *cst__avro_read_long(const uint8_t *at, const uint8_t *end,
                                                 int64_t *out) {
  uint64_t bits;
  at = cst__avro_read_bits(at, end, &bits);
  if (at != NULL) {
    *out = cst__avro_signed(bits);
  }
  return at;
}

#endif /* AVRO_AVRO_BYTES_H */
