/* Mutual information of the values of two columns: how much one tells of the other, from the counts
 * of the pairs of values that occur together.
 *
 * Of each column, `most` values are counted by themselves: those with the smallest hashes, so that
 * it does not matter which were seen first. All others share `most` cells, by their hashes, too. So
 * the counts are exact, and the state is the same in any order and merge tree. Of columns of at
 * most `most` different values the result is that of all pairs; else it is the mutual information
 * of coarser columns, which is never more than that of the columns themselves.
 *
 * Values are compared by hashes of 63 bits. All NaN are one value, and both zeros. Counts stop at
 * 2^64 - 1. Memory: 48 to 96 bytes for each pair of values that occurs, and 16 for each value; of
 * columns of very many values at most 900 * most^2 bytes and 100 KB, while states are merged.
 */
#ifndef SKETCH_MUTUAL_INFORMATION_H
#define SKETCH_MUTUAL_INFORMATION_H

#include "sketch/sketch.h"

/* Of one column. Ids: a kept value is its hash with the highest bit set; a cell of others is the
 * number of the cell. */
typedef struct cst__mutual_side {
  uint64_t *kept; /* ids, which rise */
  size_t count;
  size_t capacity;
  uint64_t limit; /* values of larger ids are not kept; UINT64_MAX: all are, so far */
} cst__mutual_side;

typedef struct cst__mutual_cell {
  uint64_t ids[2];
  uint64_t count; /* 0: a free place of the table */
} cst__mutual_cell;

typedef struct cst__mutual {
  const cst_allocator *allocator;
  size_t most;
  uint64_t key; /* of the hashes */
  uint64_t count;
  cst__mutual_side sides[2];
  cst__mutual_cell *cells; /* by a hash of the ids */
  size_t num_cells;
  size_t num_places; /* a power of two; 0: none yet */
} cst__mutual;

enum { CST__MUTUAL_MOST = 1000 };

extern const cst__sketch_kind cst__mutual_kind;

/* The caller's storage. The allocator, or NULL, outlives it. */
void cst__mutual_init(cst__mutual *mutual, size_t most, uint64_t seed,
                      const cst_allocator *allocator);
void cst__mutual_reset(cst__mutual *mutual);

/* Adds pairs, whose weights do not matter; false: out of memory, and it may only be reset. */
bool cst__mutual_add(cst__mutual *mutual, const cst__value_block *x, const cst__value_block *y);
/* Both have the same options. Fails in the same way. */
bool cst__mutual_merge(cst__mutual *into, const cst__mutual *from);
/* Both ways; loading fills an empty one. */
void cst__mutual_archive(cst__mutual *mutual, cst__archive *a);
/* Bytes, with the struct's own. */
size_t cst__mutual_memory(const cst__mutual *mutual);
/* False: out of memory. */
bool cst__mutual_tell(const cst__mutual *mutual, cst_mutual_information *out);

#endif /* SKETCH_MUTUAL_INFORMATION_H */
