/* Sums without any rounding, so that the order of what is added, and the way in which sums are
 * merged, change nothing: neither the result nor the bytes of the state. A sum is a whole number of
 * 64-bit limbs at a binary point of its own, in two's complement: a "superaccumulator" (Kulisch;
 * R. M. Neal, Fast Exact Summation Using Small and Large Superaccumulators, 2015) that holds only
 * the limbs between the lowest and the highest bit that were added. An empty one is 16 bytes; sums
 * of doubles of like size have 4 limbs. The most: 37 limbs for a sum of doubles, 71 for one of
 * products of two, 105 for products of three.
 *
 * Values are finite: NaN and infinities are counted elsewhere. Sums of up to 2^63 values of any
 * size fit.
 */
#ifndef SKETCH_EXACT_SUM_H
#define SKETCH_EXACT_SUM_H

#include "base/alloc.h"
#include "base/archive.h"

typedef struct cst__exact_sum {
  uint64_t *limbs; /* the lowest first; NULL: the sum is 0 */
  int32_t low;     /* limb 0 counts 2^(64 * low) */
  uint32_t count;
} cst__exact_sum;

/* One thing that is added: size * 2^exponent. */
typedef struct cst__exact_term {
  uint64_t size[3]; /* the lowest first */
  int exponent;
  bool negative;
} cst__exact_term;

/* The factors of products: size * 2^exponent. */
typedef struct cst__exact_factor {
  uint64_t size;
  int exponent;
  bool negative;
} cst__exact_factor;

/* Of a finite double. */
static inline cst__exact_factor cst__exact_of_double(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  int exponent = (int)(bits >> 52) & 0x7ff;
  uint64_t size = (bits & ((UINT64_C(1) << 52) - 1)) | (uint64_t)(exponent != 0) << 52;
  return (cst__exact_factor){size, (exponent == 0 ? 1 : exponent) - 1075, bits >> 63 != 0};
}
static inline cst__exact_factor cst__exact_of_int(int64_t value) {
  return (cst__exact_factor){value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 0, value < 0};
}

cst__exact_term cst__exact_product2(cst__exact_factor a, cst__exact_factor b);
cst__exact_term cst__exact_product3(cst__exact_factor a, cst__exact_factor b, cst__exact_factor c);

/* Adding; false: out of memory; of several values, some have been added. */
bool cst__exact_sum_add(cst__exact_sum *sum, const cst_allocator *allocator,
                        const cst__exact_term *term);
bool cst__exact_sum_merge(cst__exact_sum *into, const cst_allocator *allocator,
                          const cst__exact_sum *from);
/* At most 1024 values and their squares. Doubles are finite. */
bool cst__exact_sum_doubles(cst__exact_sum sums[2], const cst_allocator *allocator,
                            const double *values, size_t count);
bool cst__exact_sum_ints(cst__exact_sum sums[2], const cst_allocator *allocator,
                         const int64_t *values, size_t count);
bool cst__exact_sum_uints(cst__exact_sum sums[2], const cst_allocator *allocator,
                          const uint64_t *values, size_t count);
/* The weights, weight * value and weight * value^2 of at most 1024 finite doubles. */
bool cst__exact_sum_weighted(cst__exact_sum sums[3], const cst_allocator *allocator,
                             const double *values, const double *weights, size_t count);
/* x * y of at most 1024 finite doubles each. */
bool cst__exact_sum_products(cst__exact_sum *sum, const cst_allocator *allocator, const double *x,
                             const double *y, size_t count);

void cst__exact_sum_reset(cst__exact_sum *sum);

/* -1, 0 or 1. */
int cst__exact_sum_sign(const cst__exact_sum *sum);

/* Both ways, in the one form that a number has: equal sums are equal bytes. Loading fills an empty
 * sum of products of `degree` doubles (1, 2 or 3), and takes no other form. */
void cst__exact_sum_archive(cst__exact_sum *sum, const cst_allocator *allocator, int degree,
                            cst__archive *a);
/* Bytes on the heap. */
static inline size_t cst__exact_sum_memory(const cst__exact_sum *sum) {
  return sum->count * sizeof *sum->limbs;
}

#endif /* SKETCH_EXACT_SUM_H */
