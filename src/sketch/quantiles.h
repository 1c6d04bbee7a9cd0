/* Quantiles of numbers: ranks within a bound, from a sketch whose size does not depend on how many
 * there are.
 *
 * Papers: Karnin, Lang and Liberty, "Optimal Quantile Approximation in Streams" (2016), for levels
 * and the sampler below them (KLL); Ivkin, Liberty, Lang, Karnin and Braverman, "Streaming
 * Quantiles Algorithms with Small Space and Update Time" (2019), for compacting only when all is
 * full, and for coins in opposite pairs; Cormode, Karnin, Liberty, Thaler and Vesely, "Relative
 * Error Streaming Quantiles" (2021), for the form with exact tails (REQ).
 *
 * Values. int64, uint64 and double, compared exactly. -0 equals 0; infinities are values like
 * others; NaN has no rank: it is counted apart and otherwise left out. So are values of the weight
 * 0, which count among the values only. The least and the greatest value are exact.
 *
 * Levels. A key of the level e stands for the weight 2^e. A level that is full is sorted, and every
 * other key of it goes up one level: the odd ones or the even ones, by a coin. So for any x the
 * weight of what is <= x changes by 2^e or not at all, and by 0 on average. The levels begin at
 * `exponent`, which may be negative: the weight of a value is split into the powers of two of its
 * binary digits, and what lies below the lowest level goes into a sampler. That gathers values
 * until their weights make up 2^exponent, and hands on one of them, chosen by weight. As the total
 * weight W grows, so does the exponent: 2^exponent is at most W / k^2, and the levels below are
 * emptied into the sampler. No weight is lost or made, so that the weights of all that is kept have
 * the sum W.
 *
 * The bound. Let k = 4.2 / error, and H the least level with 2^H >= W / k. Level e has room for
 * k (2/3)^(H-e) keys, 8 at least, and is compacted only when it has as many; levels from H on are
 * not compacted. A unit of weight passes level e once, so there are at most W / (2^e room(e))
 * compactions of it, and of two with opposite coins only one can change the rank of x: their sum
 * has the variance 2^(2e) at most. Summed over all levels, with W growing, that makes 1.125
 * (W/k)^2. A block of the sampler adds 2^(2e)/4 at most; blocks of all exponents together W^2 / (2
 * k^2). All of these are bounded and independent, so by Hoeffding's inequality the rank of any x is
 * wrong by more than error * W with a probability of 2 exp(-(4.2)^2 / (2 * 1.625)) < 1 %. Merging
 * puts levels together and changes nothing in this. Measured (tests/unit/test_sketch_quantiles.c,
 * python/tests/test_sketch_quantiles.py), all ranks at once keep the bound in more than 99 of 100
 * sketches.
 *
 * Tails. With `tails` the ranks of the lowest values, the highest ones or both are exact, and the
 * error grows with the distance from that end: it is error * (weight beyond x) for values of equal
 * weight. A level then compacts only what lies beyond its protected keys. There is more to keep:
 * the size grows with the logarithm of the number of values, and is bounded by that of 2^63.
 * Weights are rounded to 10 binary digits, up or down by chance so that they stay the same on
 * average.
 *
 * Chance is splitmix64 over the seed, and takes in some of the keys, so that sketches of different
 * data with the same seed err independently. The same adds and merges in the same order give the
 * same bytes.
 *
 * Memory. 16 bytes while nothing was added; then 500 bytes and what is kept, at most
 * 8 (3 k + 512 + 8 * 24) bytes of keys and 4 KiB for weighted values: 19 KiB for the error 1 %.
 * cst__quantiles_most_memory says the bound.
 */
#ifndef SKETCH_QUANTILES_H
#define SKETCH_QUANTILES_H

#include <columnstone/status.h>

#include "base/archive.h"
#include "sketch/quantiles_keys.h"
#include "sketch/values.h"

/* Whose ranks are exact; BOTH is a sum. */
typedef enum cst__tails {
  CST__TAILS_NONE = 0,
  CST__TAILS_LOW = 1,
  CST__TAILS_HIGH = 2,
  CST__TAILS_BOTH = 3
} cst__tails;

enum { CST__QUANTILES_DEPTHS = 24 };

/* What sketches with the same options share; it outlives them. */
typedef struct cst__quantiles_plan {
  cst_allocator allocator;
  double error;
  uint64_t seed;
  cst__tails tails;
  int exponents;    /* levels that there are below the total weight */
  size_t most_keys; /* in all levels; the sketch never keeps more */
  uint32_t section; /* with tails: the keys of a section at first */
  uint64_t flip;    /* over all keys that are kept: with exact high ranks, these are the low ones */
  uint32_t rooms[CST__QUANTILES_DEPTHS]; /* by the distance of a level from H */
  uint64_t k;
} cst__quantiles_plan;

/* `error` from 1e-5 to 0.5, else CST_INVALID_ARGUMENT. `allocator` may be NULL. */
cst_status cst__quantiles_plan_init(cst__quantiles_plan *plan, double error, cst__tails tails,
                                    uint64_t seed, const cst_allocator *allocator,
                                    cst_error *error_out);
size_t cst__quantiles_most_memory(const cst__quantiles_plan *plan);

typedef struct cst__quantiles {
  const cst__quantiles_plan *plan;
  struct cst__quantiles_store *store; /* NULL: nothing was added */
} cst__quantiles;

static inline void cst__quantiles_init(cst__quantiles *q, const cst__quantiles_plan *plan) {
  *q = (cst__quantiles){plan, NULL};
}
void cst__quantiles_reset(cst__quantiles *q);

/* All values of a sketch are of one family, which is not BYTES. Fails with CST_NO_MEMORY or, if the
 * sum of all weights is not finite, with CST_LIMIT, and leaves the sketch as it was. */
cst_status cst__quantiles_add(cst__quantiles *q, const cst__value_block *values, cst_error *error);
/* Adds what `from`, of a plan with the same options, has seen; the families are the same, or one
 * has none. They may be the same sketch. Fails as adding. */
cst_status cst__quantiles_merge(cst__quantiles *into, const cst__quantiles *from, cst_error *error);
/* Loading is for a sketch to which nothing was added; when it is bad, reset it. */
void cst__quantiles_archive(cst__quantiles *q, cst__archive *a);
size_t cst__quantiles_memory(const cst__quantiles *q);

/* What is known exactly. */
typedef struct cst__quantiles_totals {
  uint64_t count; /* of all values; INT64_MAX stands for more */
  uint64_t nans;  /* of them */
  double weight;  /* without NaN */
  double nan_weight;
  uint64_t least; /* keys, if the weight is not 0 */
  uint64_t most;
  cst__family family;
} cst__quantiles_totals;

cst__quantiles_totals cst__quantiles_get_totals(const cst__quantiles *q);

/* ---- reading: quantiles_view.c ---- */

/* The keys that are kept, in order, with the weight up to each. */
typedef struct cst__quantiles_view {
  cst__family family;
  size_t count; /* 0: there are no values */
  uint64_t *keys;
  double *upto;
  uint64_t least;
  uint64_t most;
} cst__quantiles_view;

cst_status cst__quantiles_view_init(cst__quantiles_view *view, const cst__quantiles *q,
                                    cst_error *error);
void cst__quantiles_view_reset(cst__quantiles_view *view);

/* The weight of all; 0: there are no values, and none of the functions below may be called. */
static inline double cst__quantiles_view_weight(const cst__quantiles_view *view) {
  return view->count > 0 ? view->upto[view->count - 1] : 0;
}
/* The smallest value whose rank is at least `rank`: the least one for 0, the greatest for 1. */
uint64_t cst__quantiles_at(const cst__quantiles_view *view, double rank);
/* The weight of values below the key, and of those that equal it if it `is_inclusive`. */
double cst__quantiles_upto(const cst__quantiles_view *view, uint64_t key, bool is_inclusive);
/* The share, from 0 to 1, of values <= x (or < x); NaN for NaN. */
double cst__quantiles_rank(const cst__quantiles_view *view, double x, bool is_inclusive);
/* A key as the nearest double. */
double cst__quantiles_double(cst__family family, uint64_t key);

/* `count` parts of the same weight, or nearly: count + 1 bounds, the first of which is the least
 * value and the last the greatest, and the weight of what is above a bound (the first: from it on)
 * and up to the next. */
void cst__quantiles_equal_depth(const cst__quantiles_view *view, size_t count, double *bounds,
                                double *weights);
/* `count` parts of the same width between the least and the greatest finite value: count + 1
 * bounds, and the weight of what is from a bound on and below the next (the last: up to it).
 * Infinities are in no part. False: no finite value is kept. */
bool cst__quantiles_equal_width(const cst__quantiles_view *view, size_t count, double *bounds,
                                double *weights);

#endif /* SKETCH_QUANTILES_H */
