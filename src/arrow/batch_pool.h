/* Memory of batches that is used again: what a batch was built in comes back here once the consumer
 * has released every part of it, on whatever thread, and the next batch fills warm memory instead
 * of fresh pages. A pool lives as long as its owner or anything that is taken from it.
 */
#ifndef ARROW_BATCH_POOL_H
#define ARROW_BATCH_POOL_H

#include <columnstone/arrow_abi.h>

#include "base/alloc.h"
#include "base/thread.h"

typedef struct cst__batch_pool cst__batch_pool;

/* The head of what a pool holds; all in one pool are of one kind. */
typedef struct cst__pooled {
  cst__batch_pool *pool;
  struct cst__pooled *next; /* in the pool's list */
  cst__refcount arrays;     /* exported and not yet released */
} cst__pooled;

/* How a pool measures and frees what it holds. */
typedef struct cst__pooled_kind {
  size_t (*bytes)(const cst__pooled *item);
  void (*free)(cst__pooled *item); /* all but the count of the pool */
} cst__pooled_kind;

/* NULL: no memory. */
cst__batch_pool *cst__batch_pool_new_of(const cst_allocator *allocator, cst__pooled_kind kind);
void cst__batch_pool_release(cst__batch_pool *pool);
const cst_allocator *cst__batch_pool_allocator(const cst__batch_pool *pool);

/* What was put in last, because its memory is the warmest; NULL: the pool is empty. */
cst__pooled *cst__batch_pool_take(cst__batch_pool *pool);
/* Makes a fresh item one of the pool's, from its first put on. */
void cst__batch_pool_adopt(cst__batch_pool *pool, cst__pooled *item);
/* Keeps an item for the next taker, or frees it if there are enough. */
void cst__batch_pool_put(cst__pooled *item);
/* Frees an item that was taken. */
void cst__batch_pool_free(cst__pooled *item);

/* What the release callback of an item's exported array does: releases what the consumer has not
 * moved out of it. True with the last array of the item, which is then to be put back. */
bool cst__pooled_array_release(struct ArrowArray *array, cst__pooled *item);

#endif /* ARROW_BATCH_POOL_H */
