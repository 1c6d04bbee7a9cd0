/* Moments of a column of numbers: how many there are, their sum, mean, variance and extremes, the
 * zeros, the negative ones, NaN and infinities.
 *
 * All sums are exact (sketch/exact_sum.h), those of squares and of weights too. So every order of
 * the values and every way to merge states gives the same bytes and the same results, and sum, mean
 * and variance are the doubles nearest to the true ones: the variance is
 * (n * sum(x^2) - sum(x)^2) / n^2 in whole numbers, of which nothing cancels.
 *
 * NaN and infinities are counted, and are part of no sum. The least and the largest value may be
 * infinite, but never NaN. Both zeros are zero, neither is negative, and as a least or a largest
 * value they are +0. A weight belongs to a value: one of weight 0 counts, and is no part of
 * weighted sums. Values that are added without weights have the weight 1. Counts stop at 2^64 - 1.
 *
 * Memory: 128 bytes, on the heap nothing when empty, 64 bytes for integers and doubles of like
 * size, and at most 900 bytes, with weights 2.7 KB.
 */
#ifndef SKETCH_MOMENTS_H
#define SKETCH_MOMENTS_H

#include "sketch/exact_sum.h"
#include "sketch/sketch.h"

typedef union cst__moments_number {
  int64_t as_int;
  uint64_t as_uint;
  double as_double;
} cst__moments_number;

typedef struct cst__moments {
  cst__family family; /* NONE: there are no values yet */
  const cst_allocator *allocator;
  uint64_t count; /* those below among them */
  uint64_t num_zeros;
  uint64_t num_negative; /* finite ones */
  uint64_t num_nan;
  uint64_t num_plus_infinity;
  uint64_t num_minus_infinity;
  cst__moments_number least, largest; /* of the finite values; 0 if there are none */
  cst__exact_sum sums[2];             /* of the finite values, and of their squares */
  cst__exact_sum *weighted;           /* three: of their weights, weight * value, weight * value^2;
                                         NULL: all weights are 1 */
} cst__moments;

/* What they say. Numbers are rounded once; what cannot be said is NaN: the mean and the variances
 * of no finite values (or of weights that are all 0), the sample variance of one. */
typedef struct cst__moments_result {
  double weight; /* of the finite values: without weights, their number */
  double sum;
  double mean;
  double variance;        /* of all there is: divided by the weight */
  double sample_variance; /* of a sample: divided by the weight - 1, as if each weight were a number
                             of equal values */
} cst__moments_result;

extern const cst__sketch_kind cst__moments_kind;

/* The caller's storage. The allocator, or NULL, outlives it. */
void cst__moments_init(cst__moments *moments, const cst_allocator *allocator);
void cst__moments_reset(cst__moments *moments);

/* Adds numbers of the same family as before; false: out of memory, and the moments may only be
 * reset. */
bool cst__moments_add(cst__moments *moments, const cst__value_block *values);
/* Both have the same family, or one is empty. Fails in the same way. */
bool cst__moments_merge(cst__moments *into, const cst__moments *from);
/* Both ways; loading fills empty ones. */
void cst__moments_archive(cst__moments *moments, cst__archive *a);
/* Bytes, with the struct's own. */
size_t cst__moments_memory(const cst__moments *moments);

/* By the weights, or with the weight 1 for each value. */
void cst__moments_tell(const cst__moments *moments, bool by_weights, cst__moments_result *out);
/* The least and the largest value, which may be infinite; false: there are none but NaN. */
bool cst__moments_extremes(const cst__moments *moments, cst__moments_number *least,
                           cst__moments_number *largest);

#endif /* SKETCH_MOMENTS_H */
