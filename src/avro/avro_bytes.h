/* Numbers of Avro's binary encoding: variable-length zig-zag integers.
 *
 * Source: Apache Avro 1.12 Specification, "Binary Encoding".
 */
#ifndef AVRO_AVRO_BYTES_H
#define AVRO_AVRO_BYTES_H

#include "base/alloc.h"

void cst__avro_put_long(cst__text *out, int64_t value);

/* Reads one that may end at `end`: what follows it, or NULL if it is cut, or longer than 64 bits.
 */
static inline const uint8_t *cst__avro_read_long(const uint8_t *at, const uint8_t *end,
                                                 int64_t *out) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 70 && at < end; shift += 7) {
    uint8_t byte = *at++;
    if (shift == 63 && byte > 1) {
      return NULL;
    }
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *out = (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
      return at;
    }
  }
  return NULL;
}

#endif /* AVRO_AVRO_BYTES_H */
