/* Arithmetic on exact sums, and the one rounding at its end: to the nearest double, ties to even.
 * So a mean or a variance is what the exact numbers give, and no digit of it is lost by
 * cancellation.
 */
#ifndef SKETCH_EXACT_RATIO_H
#define SKETCH_EXACT_RATIO_H

#include "sketch/exact_sum.h"

/* The product of a sum of products of three doubles and of a sum of doubles has 142 limbs, the
 * difference of two such one more. */
enum { CST__EXACT_LIMBS = 148 };

typedef struct cst__exact_number {
  uint64_t limbs[CST__EXACT_LIMBS]; /* of the size, the lowest first; none above `count` */
  int count;                        /* 0: the number is 0; else the last limb is not 0 */
  int low;                          /* limb 0 counts 2^(64 * low) */
  bool negative;
} cst__exact_number;

void cst__exact_from_sum(cst__exact_number *number, const cst__exact_sum *sum);
void cst__exact_from_count(cst__exact_number *number, uint64_t count);

/* `out` is none of the others. */
void cst__exact_multiply(cst__exact_number *out, const cst__exact_number *a,
                         const cst__exact_number *b);
/* a - b. */
void cst__exact_subtract(cst__exact_number *out, const cst__exact_number *a,
                         const cst__exact_number *b);

double cst__exact_round(const cst__exact_number *number);
/* a / b, rounded once. NaN where b is 0. */
double cst__exact_divide(const cst__exact_number *a, const cst__exact_number *b);
/* The number is the result, which has a size from 1/4 to 1 and is rounded once, times 2^*exponent,
 * which is even. */
double cst__exact_scaled(const cst__exact_number *number, int *exponent);

/* The sum, rounded once. */
double cst__exact_sum_value(const cst__exact_sum *sum);

#endif /* SKETCH_EXACT_RATIO_H */
