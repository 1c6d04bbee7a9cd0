/* Memory of batches that is used again: what a batch was built in comes back here once the consumer
 * has released every part of it, on whatever thread, and the next batch fills warm memory instead
 * of fresh pages. A pool lives as long as its owner or anything that is taken from it.
 *
 * Where the consumer keeps its batches, nothing comes back. The buffers of the further ones are
 * then cut out of chunks, large blocks for about four batches, which are freed with the last of
 * them: a few large pages cost much less than many small ones.
 */
#ifndef ARROW_BATCH_POOL_H
#define ARROW_BATCH_POOL_H

#include <columnstone/arrow_abi.h>

#include "base/alloc.h"
#include "base/thread.h"

typedef struct cst__batch_pool cst__batch_pool;
typedef struct cst__pool_chunk cst__pool_chunk;

/* The head of what a pool holds; all in one pool are of one kind. */
typedef struct cst__pooled {
  cst__batch_pool *pool;
  struct cst__pooled *next;   /* in the pool's list */
  cst__refcount arrays;       /* exported and not yet released */
  uint64_t turn;              /* the pool's count when the item was last handed out */
  bool is_cold;               /* other items were filled since, or it is new */
  bool cuts;                  /* its buffers come out of chunks: */
  cst__pool_chunk *chunks[2]; /* these, of which it keeps a count */
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
/* A buffer for an item, 64-byte aligned, which lives as long as the item. *out is NULL if it is to
 * be allocated by itself; false: no memory. Only for the thread that takes. */
bool cst__pooled_cut(cst__pooled *item, size_t size, uint8_t **out);
/* Tells the pool how large an item became. Only for the thread that takes. */
void cst__pooled_measure(const cst__pooled *item);
/* Keeps an item for the next taker, or frees it if there are enough. */
void cst__batch_pool_put(cst__pooled *item);
/* Frees an item that was taken. */
void cst__batch_pool_free(cst__pooled *item);

/* What the release callback of an item's exported array does: releases what the consumer has not
 * moved out of it. True with the last array of the item, which is then to be put back. */
bool cst__pooled_array_release(struct ArrowArray *array, cst__pooled *item);

#endif /* ARROW_BATCH_POOL_H */
