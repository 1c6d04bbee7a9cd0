/* Hashes of values for sketches: a fixed function of the value and the seed, the same on every
 * machine and in every version, because saved sketches hold what it gives.
 *
 * Every value becomes one word of 64 bits and a key, and the hash is mix(word ^ key), where mix is
 * the 13th variant of David Stafford ("Better Bit Mixing", 2011), which is one to one. So integers
 * of one sign, floating-point numbers, and strings of one length up to 8 bytes never share a hash.
 *
 *   seed key         K = mix(seed + 0x9e3779b97f4a7c15)
 *   integers         two's complement, key K; K + D for those below 0, so that int64 and uint64
 * agree where they are equal, and only there (D = 0xa0761d6478bd642f) floats           the bits of
 * the double, key K; -0 is 0, and every NaN 0x7ff8000000000000 n <= 8 bytes     the bytes,
 * little-endian, and zeros above them; key K + n * D more bytes       h = K, and for each 16 bytes
 * but the last 1 to 16: h = fold(first 8 ^ h, last 8 ^ E); then of the last 16 bytes of all: h =
 * fold(first 8 ^ h, last 8 ^ E), where 9 to 15 bytes have two overlapping words; h is the word, and
 * K + n * D the key (E = 0xe7037ed1a0b428db; fold: both halves of the product, xor)
 *
 * Whoever knows the seed can choose values whose hashes are alike: a secret one prevents that.
 */
#ifndef SKETCH_HASHES_H
#define SKETCH_HASHES_H

#include <string.h>

#include "sketch/values.h"

uint64_t cst__hash_key(uint64_t seed);
/* One value: an int64_t, uint64_t, double (as it is) or cst_bytes. */
uint64_t cst__hash_bytes(cst_bytes value, uint64_t key);
/* The hashes of a block; `hashes` has room for them. */
void cst__hash_values(const cst__value_block *values, uint64_t key, uint64_t *hashes);

/* At most 8 bytes as a word. */
static inline uint64_t cst__word_of_few(const uint8_t *at, size_t size) {
  uint16_t parts[4];
  if (size < 2) {
    return size > 0 ? *at : 0;
  }
  /* Four pairs, which overlap where there are fewer than 8 bytes, and no branch: lengths vary. */
  size_t second = size < 4 ? size - 2 : 2;
  size_t third = size < 4 ? 0 : size - 4;
  memcpy(&parts[0], at, 2);
  memcpy(&parts[1], at + second, 2);
  memcpy(&parts[2], at + third, 2);
  memcpy(&parts[3], at + size - 2, 2);
  return (uint64_t)parts[0] | (uint64_t)parts[1] << (8 * second) |
         (uint64_t)parts[2] << (8 * third) | (uint64_t)parts[3] << (8 * (size - 2));
}

/* The bits of a double as sketches take it: one zero, one NaN. */
uint64_t cst__float_bits(double value);

#endif /* SKETCH_HASHES_H */
