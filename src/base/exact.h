/* Integers that a float holds exactly: from the first bit to the last that is set they have no more
 * bits than its significand, DBL_MANT_DIG (53) or FLT_MANT_DIG (24).
 */
#ifndef BASE_EXACT_H
#define BASE_EXACT_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>

/* `size`: the integer without its sign. */
static inline bool cst__float_holds(uint64_t size, int bits) {
  int spare = size == 0 ? 0 : 64 - __builtin_clzll(size) - bits; /* what the float cannot keep */
  return spare <= 0 || (size & ((UINT64_C(1) << spare) - 1)) == 0;
}

/* The integer without its sign; of INT64_MIN, too. */
static inline uint64_t cst__int_size(int64_t value) {
  return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

#endif /* BASE_EXACT_H */
