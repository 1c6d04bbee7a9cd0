/* A few arenas that wait, each with the memory of its last batch. */
#include "tensor/arena_pool.h"

#include "base/thread.h"

enum { ALIGN = 64, FIRST_BLOCK = 16 << 10, MAX_SPARE = 4 };

struct cst__arena_pool {
  cst__refcount owners;
  cst_allocator allocator;
  cst__mutex lock;
  cst__arena spare[MAX_SPARE];
  size_t num_spare;
};

cst__arena_pool *cst__arena_pool_new(const cst_allocator *allocator) {
  cst__arena_pool *pool = cst__new_zero(allocator, sizeof *pool);
  if (pool != NULL) {
    cst__refcount_init(&pool->owners);
    cst__mutex_init(&pool->lock);
    pool->allocator = cst__allocator_of(allocator);
  }
  return pool;
}

void cst__arena_pool_release(cst__arena_pool *pool) {
  if (pool == NULL || !cst__refcount_down(&pool->owners)) {
    return;
  }
  for (size_t i = 0; i < pool->num_spare; i++) {
    cst__arena_reset(&pool->spare[i]);
  }
  cst__mutex_destroy(&pool->lock);
  cst__delete(pool);
}

const cst_allocator *cst__arena_pool_allocator(const cst__arena_pool *pool) {
  return &pool->allocator;
}

void cst__arena_pool_lend(cst__arena_pool *pool, cst__arena *out) {
  cst__refcount_up(&pool->owners);
  *out = (cst__arena){.allocator = pool->allocator, .next = FIRST_BLOCK, .align = ALIGN};
  cst__mutex_lock(&pool->lock);
  if (pool->num_spare > 0) {
    *out = pool->spare[--pool->num_spare];
  }
  cst__mutex_unlock(&pool->lock);
}

void cst__arena_pool_take_back(cst__arena_pool *pool, cst__arena *arena) {
  cst__arena_rewind(arena);
  cst__mutex_lock(&pool->lock);
  bool is_kept = pool->num_spare < MAX_SPARE;
  if (is_kept) {
    pool->spare[pool->num_spare++] = *arena;
  }
  cst__mutex_unlock(&pool->lock);
  if (!is_kept) {
    cst__arena_reset(arena);
  }
  cst__arena_pool_release(pool);
}
