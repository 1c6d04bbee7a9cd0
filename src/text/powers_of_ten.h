/* The leading bits of powers of ten. */
#ifndef TEXT_POWERS_OF_TEN_H
#define TEXT_POWERS_OF_TEN_H

#include <stdint.h>

/* 128 bits from the highest on, the others cut off. */
typedef struct cst__power {
  uint64_t high;
  uint64_t low;
} cst__power;

enum { CST__LEAST_POWER = -292, CST__MOST_POWER = 324 };

/* 10^(i + CST__LEAST_POWER): all that a double is scaled by to have 16 or 17 digits. */
extern const cst__power cst__powers_of_ten[CST__MOST_POWER - CST__LEAST_POWER + 1];

#endif /* TEXT_POWERS_OF_TEN_H */
