/* The list of free batches. */
#include "arrow/batch_pool.h"

enum {
  KEEP_FREE_BYTES = 64 << 20, /* of recycled batches, beyond the first two */
  KEEP_FREE_COUNT = 64
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

void cst__batch_pool_adopt(cst__batch_pool *pool, cst__pooled *item) {
  item->pool = pool;
  cst__refcount_up(&pool->owners);
}

void cst__batch_pool_free(cst__pooled *item) {
  cst__batch_pool *pool = item->pool;
  pool->kind.free(item);
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
  return item;
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
