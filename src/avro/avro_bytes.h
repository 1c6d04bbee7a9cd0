/* Numbers of Avro's binary encoding: variable-length zig-zag integers.
 *
 * Source: Apache Avro 1.12 Specification, "Binary Encoding".
 */
#ifndef AVRO_AVRO_BYTES_H
#define AVRO_AVRO_BYTES_H

#include "base/alloc.h"

void cst__avro_put_long(cst__text *out, int64_t value);

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
