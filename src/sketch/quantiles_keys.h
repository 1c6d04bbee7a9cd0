/* Numbers as unsigned integers of the same order, so that one code serves int64, uint64 and double,
 * each exactly. -0 is 0; NaN has no key.
 */
#ifndef SKETCH_QUANTILES_KEYS_H
#define SKETCH_QUANTILES_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CST__KEY_SIGN (UINT64_C(1) << 63)

static inline uint64_t cst__key_of_int(int64_t value) { return (uint64_t)value ^ CST__KEY_SIGN; }
static inline int64_t cst__key_int(uint64_t key) { return (int64_t)(key ^ CST__KEY_SIGN); }

static inline uint64_t cst__key_of_double(double value) {
  uint64_t bits;
  value += 0.0; /* of -0 it makes 0 */
  memcpy(&bits, &value, sizeof bits);
  return bits ^ ((0 - (bits >> 63)) | CST__KEY_SIGN);
}
static inline double cst__key_double(uint64_t key) {
  uint64_t bits = key ^ (((key >> 63) - 1) | CST__KEY_SIGN);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Sorts them; `scratch` has room for as many. */
void cst__keys_sort(uint64_t *keys, size_t count, uint64_t *scratch);

/* Merges two sorted runs: `a`, and the `num_b` keys that stand from out + num_a on. `a` may end
 * where `out` begins. */
void cst__keys_merge(const uint64_t *a, size_t num_a, uint64_t *out, size_t num_b);

#endif /* SKETCH_QUANTILES_KEYS_H */
