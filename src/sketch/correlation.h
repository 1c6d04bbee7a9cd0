/* Covariance and correlation of the numbers of two columns.
 *
 * The sums of x, y, x^2, y^2 and x * y, by weights if there are any, are exact (exact_sum.h). So
 * every order of the pairs and every way to merge states gives the same bytes and the same results:
 * means, variances and the covariance are the doubles nearest to the true ones, and the correlation
 * (Pearson's) is within three units of its last place.
 *
 * Pairs in which a number is NaN or infinite are counted, and left out. Counts stop at 2^64 - 1.
 *
 * Memory: 120 bytes, for numbers of like size 230 more, and at most 4 KB.
 */
#ifndef SKETCH_CORRELATION_H
#define SKETCH_CORRELATION_H

#include "sketch/exact_sum.h"
#include "sketch/sketch.h"

typedef struct cst__correlation {
  const cst_allocator *allocator;
  uint64_t count; /* of the pairs of finite numbers */
  uint64_t num_not_finite;
  cst__exact_sum x[2]; /* the sums of weight * x, weight * x^2 */
  cst__exact_sum y[2];
  cst__exact_sum products; /* of weight * x * y */
  cst__exact_sum weight;
} cst__correlation;

extern const cst__sketch_kind cst__correlation_kind;

/* The caller's storage. The allocator, or NULL, outlives it. */
void cst__correlation_init(cst__correlation *correlation, const cst_allocator *allocator);
void cst__correlation_reset(cst__correlation *correlation);

/* Adds pairs; false: out of memory, and it may only be reset. */
bool cst__correlation_add(cst__correlation *correlation, const cst__value_block *x,
                          const cst__value_block *y);
bool cst__correlation_merge(cst__correlation *into, const cst__correlation *from);
/* Both ways; loading fills an empty one. */
void cst__correlation_archive(cst__correlation *correlation, cst__archive *a);
/* Bytes, with the struct's own. */
size_t cst__correlation_memory(const cst__correlation *correlation);

/* What there is not is NaN. */
void cst__correlation_tell(const cst__correlation *correlation, cst_correlation *out);

#endif /* SKETCH_CORRELATION_H */
