/* Windows of records that are not decoded yet: whoever makes a batch decodes the records that it
 * has, so that no row is decoded for another shard or worker, and none is copied as columns.
 */
#ifndef DATASET_WINDOW_H
#define DATASET_WINDOW_H

#include "source/block/unit.h"

/* Filled by one thread, then unchanging and shared; counted. */
typedef struct cst__window {
  cst__refcount owners;
  cst_allocator allocator;
  const cst_source *source; /* of the records; borrowed */
  cst__unit unit;
  uint64_t *starts; /* the first row of each run */
  size_t capacity;
} cst__window;

/* NULL: no memory. */
cst__window *cst__window_new(const cst_source *source, const cst_allocator *allocator);
cst__window *cst__window_retain(cst__window *window);
void cst__window_release(cst__window *window); /* NULL is allowed */

/* Adds records [first, first + count) of a run, which stays its owner's. False: no memory. */
bool cst__window_add(cst__window *window, const cst__run *run, size_t first, size_t count);

/* Adds the rows of these numbers to a unit, in their order. False: no memory. */
bool cst__window_pick(const cst__window *window, const uint64_t *rows, size_t count,
                      cst__unit *out);

#endif /* DATASET_WINDOW_H */
