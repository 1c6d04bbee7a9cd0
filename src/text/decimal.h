/* The double nearest to a decimal number of up to 19 digits, by one or two products of 64 bits.
 *
 * Source: Lemire, "Number parsing at a gigabyte per second" (2021), and Mushtak and Lemire, "Fast
 * number parsing without fallback" (2022), which proves that no case is left open.
 */
#ifndef TEXT_DECIMAL_H
#define TEXT_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "text/powers_of_ten.h"

/* Powers of ten for which no digits of 64 bits are infinite or subnormal. */
static inline bool cst__decimal_has(int64_t exponent) {
  return exponent >= CST__LEAST_POWER && exponent <= 288;
}

/* digits * 10^exponent, rounded once, to even. Without branches that depend on the digits, but for
 * one that one number in 512 takes and one for the middle between two doubles. */
static inline double cst__decimal_float64(uint64_t digits, int exponent, bool negative) {
  enum {
    BIAS = 1023,
    BITS = 52,
    SPARE = 64 - BITS - 3 /* bits of the product that may be wrong */
  };
  const cst__power *power = &cst__powers_of_ten[exponent - CST__LEAST_POWER];
  const int zeros = __builtin_clzll(digits | 1);
  const uint64_t scaled = digits << zeros;
  unsigned __int128 product = (unsigned __int128)scaled * power->high;
  if ((~(uint64_t)(product >> 64) & ((UINT64_C(1) << SPARE) - 1)) == 0) {
    /* Where a quotient can be exact, the product is not to lie below it. */
    const uint64_t low = power->low + (exponent < 0 && exponent >= -27);
    product += (uint64_t)(((unsigned __int128)scaled * low) >> 64);
  }
  const uint64_t high = (uint64_t)(product >> 64);
  const int top = (int)(high >> 63);
  uint64_t mantissa = high >> (top + SPARE); /* with one bit more than a double has */
  /* Exactly in the middle: only where 5^q, or the digits by 5^-q, fit a word. */
  if ((uint64_t)product <= 1 && (mantissa & 3) == 1 && exponent >= -4 && exponent <= 23 &&
      mantissa << (top + SPARE) == high) {
    mantissa--;
  }
  mantissa = (mantissa + (mantissa & 1)) >> 1; /* of 53 bits, or 2^53, which the sum carries on */
  /* floor(log2(10^q)), by a product that is right for |q| < 350 */
  const int binary = ((217706 * exponent) >> 16) + 63 + top - zeros;
  uint64_t bits = mantissa + ((uint64_t)(binary + BIAS - 1) << BITS);
  bits &= 0 - (uint64_t)(digits != 0);
  bits |= (uint64_t)negative << 63;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

#endif /* TEXT_DECIMAL_H */
