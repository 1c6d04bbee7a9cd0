/* How many different values there are: exact for few, and estimated for more.
 *
 * Few are kept as the set of their hashes (hashes.h). From more than cst__distinct_exact_most of
 * them on, they become 2^precision registers of one byte: UltraLogLog (Ertl, "UltraLogLog: A
 * Practical and More Space-Efficient Alternative to HyperLogLog for Approximate Distinct Counting",
 * VLDB 2024). A hash chooses a register by its upper bits and has a rank, 1 + the number of zeros
 * at the end of the others; a register keeps the highest rank and whether the two below it were
 * there. Out of that the estimate is the number at which what the registers hold is likeliest
 * (maximum likelihood), with a relative standard error of 0.76 / sqrt(2^precision), 0.6 % for 14,
 * where HyperLogLog has 1.04 / sqrt(2^precision).
 *
 * The state is a function of the set of values: the bytes are the same in whatever order and with
 * whatever merges they came. Weights are not looked at: a value of weight 0 is there. It holds at
 * most max(2^precision, 256) bytes and its struct, and while it grows, or goes over to registers,
 * half as much besides.
 */
#ifndef SKETCH_DISTINCT_SKETCH_H
#define SKETCH_DISTINCT_SKETCH_H

#include "base/alloc.h"
#include "base/archive.h"
#include "sketch/sketch.h"

enum { CST__DISTINCT_PRECISION_LEAST = 4, CST__DISTINCT_PRECISION_MOST = 18 };

typedef struct cst__distinct_sketch {
  cst_allocator allocator;
  uint64_t *slots;    /* hashes at their places, a power of two of them; 0: free */
  uint8_t *registers; /* NULL: slots has all hashes */
  uint64_t seed;
  uint32_t num_slots;
  uint32_t count;  /* of hashes in slots; then of those that were added since `passed` was found */
  uint64_t passed; /* a hash with one of these bits changes no register */
  int precision;
} cst__distinct_sketch;

void cst__distinct_sketch_init(cst__distinct_sketch *sketch, int precision, uint64_t seed,
                               const cst_allocator *allocator);
void cst__distinct_sketch_reset(cst__distinct_sketch *sketch);

/* CST_NO_MEMORY: some of the values may have been added. */
cst_status cst__distinct_sketch_add(cst__distinct_sketch *sketch, const cst__value_block *values,
                                    cst_error *error);
/* The same by their hashes, of cst__hash_key(sketch->seed). */
cst_status cst__distinct_sketch_add_hashes(cst__distinct_sketch *sketch, const uint64_t *hashes,
                                           size_t count, cst_error *error);
/* Of one precision and seed. */
cst_status cst__distinct_sketch_merge(cst__distinct_sketch *into, const cst__distinct_sketch *from,
                                      cst_error *error);
/* Loading: into a sketch that has nothing yet. */
void cst__distinct_sketch_archive(cst__distinct_sketch *sketch, cst__archive *a);

/* So many different values are counted exactly, but for two values of one hash (one in 2^64). */
uint32_t cst__distinct_exact_most(int precision);
bool cst__distinct_sketch_is_exact(const cst__distinct_sketch *sketch);
double cst__distinct_sketch_estimate(const cst__distinct_sketch *sketch);
/* The estimate and so many standard deviations below and above it; all three are equal while it is
 * exact. */
void cst__distinct_sketch_bounds(const cst__distinct_sketch *sketch, double deviations,
                                 double *lower, double *upper);
size_t cst__distinct_sketch_memory(const cst__distinct_sketch *sketch);

extern const cst__sketch_kind cst__distinct_kind;

#endif /* SKETCH_DISTINCT_SKETCH_H */
