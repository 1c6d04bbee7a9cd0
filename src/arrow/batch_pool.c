/* The list of free batches, and the chunks of those that are kept. */
#include "arrow/batch_pool.h"

enum {
  KEEP_FREE_BYTES = 64 << 20, /* of recycled batches, beyond the first two */
  KEEP_FREE_COUNT = 64,
  KEPT_ITEMS = 4,        /* so many are out at a time where batches are just handed on */
  CUT_LEAST = 256 << 10, /* bytes of an item: for smaller ones a chunk would be many */
  LARGE_PAGE = 2 << 20,
  CHUNK_ITEMS = 4,
  CHUNK_MOST = 16 << 20,
  CHUNK_HEADER = 64 /* keeps what is cut aligned */
};

/* Stands before what is cut out of it. */
struct cst__pool_chunk {
  cst__refcount owners; /* items, and the pool while it cuts from it */
  size_t size;
  size_t used; /* both with this header */
};

struct cst__batch_pool {
  cst_allocator allocator;
  cst__pooled_kind kind;
  cst__refcount owners; /* the decoder, and every item that is out or free */
  cst__mutex lock;
  cst__pooled *free_list; /* newest first */
  size_t free_count;
  size_t free_bytes;
  bool closed; /* the decoder is gone: nothing is worth keeping */
  /* For the thread that takes, without the lock: */
  uint64_t turns;         /* items handed out so far */
  size_t usual_bytes;     /* of the last item */
  cst__pool_chunk *chunk; /* from which to cut next, or NULL */
};

cst__batch_pool *cst__batch_pool_new_of(const cst_allocator *allocator, cst__pooled_kind kind) {
  cst__batch_pool *pool = cst__new_zero(allocator, sizeof *pool);
  if (pool != NULL) {
    pool->allocator = cst__allocator_of(allocator);
    pool->kind = kind;
    cst__refcount_init(&pool->owners);
    cst__mutex_init(&pool->lock);
  }
  return pool;
}

const cst_allocator *cst__batch_pool_allocator(const cst__batch_pool *pool) {
  return &pool->allocator;
}

static void batch_pool_unref(cst__batch_pool *pool) {
  if (cst__refcount_down(&pool->owners)) {
    cst__mutex_destroy(&pool->lock);
    cst__delete(pool);
  }
}

static void chunk_unref(const cst__batch_pool *pool, cst__pool_chunk *chunk) {
  if (chunk != NULL && cst__refcount_down(&chunk->owners)) {
    pool->allocator.release(pool->allocator.ctx, chunk, chunk->size, CHUNK_HEADER);
  }
}

void cst__batch_pool_adopt(cst__batch_pool *pool, cst__pooled *item) {
  /* All that there are are out: none was free. One of the owners is the decoder. */
  int out = atomic_load_explicit(&pool->owners, memory_order_relaxed) - 1;
  item->pool = pool;
  item->turn = pool->turns;
  item->is_cold = true;
  item->cuts = out >= KEPT_ITEMS && pool->usual_bytes >= CUT_LEAST;
  cst__refcount_up(&pool->owners);
}

void cst__batch_pool_free(cst__pooled *item) {
  cst__batch_pool *pool = item->pool;
  cst__pool_chunk *const chunks[2] = {item->chunks[0], item->chunks[1]};
  pool->kind.free(item);
  chunk_unref(pool, chunks[0]);
  chunk_unref(pool, chunks[1]);
  batch_pool_unref(pool);
}

void cst__batch_pool_release(cst__batch_pool *pool) {
  if (pool == NULL) {
    return;
  }
  cst__mutex_lock(&pool->lock);
  cst__pooled *item = pool->free_list;
  pool->free_list = NULL;
  pool->closed = true;
  cst__mutex_unlock(&pool->lock);
  while (item != NULL) {
    cst__pooled *next = item->next;
    cst__batch_pool_free(item);
    item = next;
  }
  chunk_unref(pool, pool->chunk);
  batch_pool_unref(pool);
}

cst__pooled *cst__batch_pool_take(cst__batch_pool *pool) {
  cst__mutex_lock(&pool->lock);
  cst__pooled *item = pool->free_list;
  if (item != NULL) {
    pool->free_list = item->next;
    pool->free_count--;
    pool->free_bytes -= pool->kind.bytes(item);
    item->next = NULL;
  }
  cst__mutex_unlock(&pool->lock);
  pool->turns++;
  if (item != NULL) {
    item->is_cold = item->turn + 1 != pool->turns;
    item->turn = pool->turns;
    item->cuts = false;
  }
  return item;
}

/* ---- chunks ---- */

/* Goes on with another chunk; the one before belongs to the items in it. False: no memory. */
static bool chunk_begin(cst__batch_pool *pool) {
  size_t most = CHUNK_MOST / CHUNK_ITEMS;
  size_t size = (pool->usual_bytes < most ? pool->usual_bytes : most) * CHUNK_ITEMS;
  size = (size + LARGE_PAGE - 1) & ~(size_t)(LARGE_PAGE - 1);
  cst__pool_chunk *chunk = pool->allocator.allocate(pool->allocator.ctx, size, CHUNK_HEADER);
  if (chunk == NULL) {
    return false;
  }
  cst__refcount_init(&chunk->owners);
  chunk->size = size;
  chunk->used = CHUNK_HEADER;
  chunk_unref(pool, pool->chunk);
  pool->chunk = chunk;
  return true;
}

bool cst__pooled_cut(cst__pooled *item, size_t size, uint8_t **out) {
  cst__batch_pool *pool = item->pool;
  *out = NULL;
  /* What is large fills pages of its own, and would leave much of a chunk's end unused. */
  if (!item->cuts || size > CUT_LEAST) {
    return true;
  }
  if (pool->chunk == NULL || size > pool->chunk->size - pool->chunk->used) {
    if (item->chunks[1] != NULL) {
      return true; /* larger than expected */
    }
    if (!chunk_begin(pool)) {
      return false;
    }
  }
  cst__pool_chunk *chunk = pool->chunk;
  if (item->chunks[0] != chunk && item->chunks[1] != chunk) {
    item->chunks[item->chunks[0] == NULL ? 0 : 1] = chunk;
    cst__refcount_up(&chunk->owners);
  }
  *out = (uint8_t *)chunk + chunk->used;
  chunk->used += (size + CHUNK_HEADER - 1) & ~(size_t)(CHUNK_HEADER - 1);
  return true;
}

void cst__pooled_measure(const cst__pooled *item) {
  item->pool->usual_bytes = item->pool->kind.bytes(item);
}

void cst__batch_pool_put(cst__pooled *item) {
  cst__batch_pool *pool = item->pool;
  size_t bytes = pool->kind.bytes(item);
  cst__mutex_lock(&pool->lock);
  bool keep = !pool->closed && (pool->free_count < 2 || (pool->free_count < KEEP_FREE_COUNT &&
                                                         pool->free_bytes < KEEP_FREE_BYTES));
  if (keep) {
    item->next = pool->free_list;
    pool->free_list = item;
    pool->free_count++;
    pool->free_bytes += bytes;
  }
  cst__mutex_unlock(&pool->lock);
  if (!keep) {
    cst__batch_pool_free(item);
  }
}

bool cst__pooled_array_release(struct ArrowArray *array, cst__pooled *item) {
  for (int64_t i = 0; i < array->n_children; i++) {
    /* A consumer may have moved a child away; it then holds a count of its own. */
    if (array->children[i]->release != NULL) {
      array->children[i]->release(array->children[i]);
    }
  }
  if (array->dictionary != NULL && array->dictionary->release != NULL) {
    array->dictionary->release(array->dictionary);
  }
  array->release = NULL;
  return cst__refcount_down(&item->arrays);
}
