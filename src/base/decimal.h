/* Floats in decimal: the fewest digits that read back as the same value. */
#ifndef BASE_DECIMAL_H
#define BASE_DECIMAL_H

#include <stdint.h>

/* digits * 10^exponent; no zeros at the end of the digits. */
typedef struct cst__decimal {
  uint64_t digits;
  int num_digits;
  int exponent;
} cst__decimal;

/* Of a finite value above zero. */
cst__decimal cst__decimal_of_float32(float value);
cst__decimal cst__decimal_of_float64(double value);

#endif /* BASE_DECIMAL_H */
