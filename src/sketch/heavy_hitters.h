/* The values with the largest weights, each with a lower and an upper bound.
 *
 * Misra and Gries's counters ("Finding repeated elements", 1982) for weights, with the bounds of
 * SpaceSaving (Metwally and others, 2005), merged as in Agarwal and others, "Mergeable summaries"
 * (2012), and cleaned not for each value but when there are twice as many counters as are asked for
 * (Anderson and others, "A high-performance algorithm for identifying frequent items in data
 * streams", 2017).
 *
 * A counter has the weight that was seen of its value, `lower`, and the most that had been
 * forgotten of it before, `error`; the true weight lies in [lower, lower + error]. A value without
 * a counter has at most `offset`, the error that a new counter begins with. Where there are more
 * than 2 * size counters, `offset` becomes the upper bound of the one at place size + 1, and all
 * that have no more than that go. For every weight that is forgotten that way, size counters lose
 * as much, so that in any order and any tree of merges
 *
 *   offset <= weight of all values / (size + 1)
 *
 * and no interval is wider. As long as there have been at most 2 * size different values, nothing
 * is forgotten: all is exact, and the bytes are the same in any order.
 *
 * Weights are doubles: whole numbers are added up exactly up to 2^53, and beyond the largest double
 * sums stay there. A value of weight 0 gets no counter. All NaN are one value, and so are both
 * zeros.
 *
 * A value of more than `longest` bytes is kept as so many of its first ones, its size and its hash
 * of 64 bits (hashes.h): two of them are taken for one where all of that is equal.
 *
 * At most 2 * size + 1 counters of 40 bytes, between 4 and 8 times as many places of 8 bytes, and
 * the bytes of the values that have counters, each at most `longest`, in a block of at most twice
 * as many; that again while it grows or merges.
 */
#ifndef SKETCH_HEAVY_HITTERS_H
#define SKETCH_HEAVY_HITTERS_H

#include "base/alloc.h"
#include "base/archive.h"
#include "sketch/sketch.h"

enum { CST__HEAVY_SIZE_MOST = 1000000, CST__HEAVY_LONGEST_MOST = 1 << 20 };

typedef struct cst__heavy_options {
  size_t size;    /* from 1 to CST__HEAVY_SIZE_MOST */
  size_t longest; /* from 16 to CST__HEAVY_LONGEST_MOST */
  uint64_t seed;
} cst__heavy_options;

typedef struct cst__heavy_counter {
  uint64_t hash;
  uint64_t word; /* the bits of a number, or at most 8 bytes; or where more bytes begin */
  uint64_t size; /* of all bytes, also of those that are not kept */
  double lower;
  double error;
} cst__heavy_counter;

typedef struct cst__heavy_table {
  cst__heavy_counter *counters; /* as their values came */
  uint64_t *places;             /* upper half of the hash, and the counter's number from 1 on */
  uint8_t *bytes;               /* of the values, as the counters lie */
  size_t count;
  size_t capacity;
  size_t num_places; /* a power of two, four times the capacity at least */
  size_t num_bytes;
  size_t bytes_capacity;
} cst__heavy_table;

typedef struct cst__heavy {
  cst_allocator allocator;
  cst__heavy_options options;
  cst__family family; /* NONE: nothing has been added */
  double offset;
  cst__heavy_table table;
} cst__heavy;

void cst__heavy_init(cst__heavy *heavy, const cst__heavy_options *options,
                     const cst_allocator *allocator);
void cst__heavy_reset(cst__heavy *heavy);

/* Values of the family of those before. CST_NO_MEMORY: some of them may have been added. */
cst_status cst__heavy_add(cst__heavy *heavy, const cst__value_block *values, cst_error *error);
/* The same with their hashes, of cst__hash_key(options.seed). */
cst_status cst__heavy_add_hashed(cst__heavy *heavy, const cst__value_block *values,
                                 const uint64_t *hashes, cst_error *error);
/* Of the same options, and of one family or one of them empty. On failure, `into` is as it was. */
cst_status cst__heavy_merge(cst__heavy *into, const cst__heavy *from, cst_error *error);
/* Loading: into one that has nothing yet. */
void cst__heavy_archive(cst__heavy *heavy, cst__archive *a);

/* A value that others have counted, and that has no counter yet (else CST_CORRUPT): its error is
 * the offset. There are at most `size` of them. */
cst_status cst__heavy_put(cst__heavy *heavy, const cst__value_block *one, double lower,
                          cst_error *error);

typedef struct cst__heavy_item {
  uint64_t bits;   /* of an int64_t, an uint64_t or a double, by the family; */
  cst_bytes bytes; /* or these, at most `longest`, borrowed */
  double lower;
  double upper;
} cst__heavy_item;

/* All counters, the largest upper bound first, and of equal ones the smallest value; NaN is the
 * largest. The caller's, for cst__delete; NULL where there are none. */
cst_status cst__heavy_items(const cst__heavy *heavy, cst__heavy_item **items, size_t *count,
                            cst_error *error);
size_t cst__heavy_memory(const cst__heavy *heavy);

extern const cst__sketch_kind cst__heavy_kind;

#endif /* SKETCH_HEAVY_HITTERS_H */
