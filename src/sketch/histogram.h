/* Histograms of buckets of equal width between two ends that are given.
 *
 * Bucket i holds the values from edge i on, which lies at low + i * ((high - low) / buckets), below
 * edge i + 1; the last one holds `high`, too. These are the buckets of numpy.histogram, value by
 * value. What lies below, above (infinities too), and NaN have places of their own. Integers are
 * compared as the doubles that are nearest to them.
 *
 * Counts stop at 2^64 - 1; weights are summed exactly (sketch/exact_sum.h). So results and bytes
 * are the same in any order and merge tree.
 *
 * Memory: 72 bytes, from the first value on 8 bytes for each bucket, and from the first weight on
 * 24 more and 32 for each of them that has weights.
 */
#ifndef SKETCH_HISTOGRAM_H
#define SKETCH_HISTOGRAM_H

#include "sketch/exact_sum.h"
#include "sketch/sketch.h"

typedef struct cst__histogram {
  double low, high;
  double step, scale;
  size_t num_buckets;
  const cst_allocator *allocator;
  uint64_t *counts;        /* of each place; NULL: no values so far */
  cst__exact_sum *weights; /* the same; NULL: all weights are 1 */
} cst__histogram;

/* Places: below, the buckets, above, NaN. */
static inline size_t cst__histogram_num_places(const cst__histogram *histogram) {
  return histogram->num_buckets + 3;
}

enum { CST__HISTOGRAM_MOST = 65536 };

extern const cst__sketch_kind cst__histogram_kind;

/* The caller's storage. False: these are no ends of so many buckets (at most CST__HISTOGRAM_MOST):
 * they are not finite or too far from each other, or buckets are narrower than doubles are apart.
 * The allocator, or NULL, outlives it. */
bool cst__histogram_init(cst__histogram *histogram, double low, double high, size_t num_buckets,
                         const cst_allocator *allocator);
void cst__histogram_reset(cst__histogram *histogram);

/* Adds numbers; false: out of memory, and the histogram may only be reset. */
bool cst__histogram_add(cst__histogram *histogram, const cst__value_block *values);
/* Both have the same buckets. Fails in the same way. */
bool cst__histogram_merge(cst__histogram *into, const cst__histogram *from);
/* Both ways, without the buckets; loading fills an empty one. */
void cst__histogram_archive(cst__histogram *histogram, cst__archive *a);
/* Bytes, with the struct's own. */
size_t cst__histogram_memory(const cst__histogram *histogram);

/* The i-th of num_buckets + 1 edges. */
double cst__histogram_edge(const cst__histogram *histogram, size_t i);
/* Of a place. Without weights the weight is the count. */
uint64_t cst__histogram_count(const cst__histogram *histogram, size_t place);
double cst__histogram_weight(const cst__histogram *histogram, size_t place);

#endif /* SKETCH_HISTOGRAM_H */
