/* How many different values there are, as tfx_bsl's KmvSketch counts: by the `buckets` smallest
 * hashes of the values ("k minimum values": Bar-Yossef and others, 2002). It finds what tfx_bsl
 * finds, and takes and gives its saved sketches (tfx_forms.c); the kind "distinct" is more accurate
 * in less memory.
 *
 * A value is known by FarmHash's Fingerprint64 of its text: bytes as they are, integers in decimal
 * digits, floats as C's "%a" writes the double. So 0 and -0 are two values, and all NaN one. A hash
 * of 2^64 - 1 is never counted.
 *
 * The state is a function of the set of values: any order and any merges give the same bytes. Its
 * table has at most 8 * buckets places of 8 bytes; twice as much while it grows.
 */
#ifndef SKETCH_KMV_H
#define SKETCH_KMV_H

#include "sketch/sketch.h"

enum { CST__KMV_BUCKETS_MOST = 1 << 24 };

typedef struct cst__kmv {
  cst_allocator allocator;
  uint64_t *slots; /* hashes at their places, a power of two of them; UINT64_MAX: free */
  size_t num_slots;
  size_t count;   /* of hashes in slots: at most twice the buckets */
  uint64_t limit; /* hashes from here on are dropped */
  size_t buckets;
} cst__kmv;

void cst__kmv_init(cst__kmv *kmv, size_t buckets, const cst_allocator *allocator);
void cst__kmv_reset(cst__kmv *kmv);
cst_status cst__kmv_add(cst__kmv *kmv, const cst__value_block *values, cst_error *error);
cst_status cst__kmv_add_hash(cst__kmv *kmv, uint64_t hash, cst_error *error);
cst_status cst__kmv_merge(cst__kmv *into, const cst__kmv *from, cst_error *error);
void cst__kmv_archive(cst__kmv *kmv, cst__archive *a);

/* The smallest hashes, at most `buckets`, rising; the caller's (cst__delete). NULL: no memory. */
uint64_t *cst__kmv_hashes(const cst__kmv *kmv, size_t *count);
/* The estimate as tfx_bsl's. */
cst_status cst__kmv_estimate(const cst__kmv *kmv, double *out, cst_error *error);
/* So many standard deviations, each 1 / sqrt(buckets - 2) of the estimate, below and above it; all
 * are equal while there are fewer values than buckets. */
void cst__kmv_bounds(const cst__kmv *kmv, double deviations, double estimate, double *lower,
                     double *upper);
size_t cst__kmv_memory(const cst__kmv *kmv);

extern const cst__sketch_kind cst__kmv_kind;

#endif /* SKETCH_KMV_H */
