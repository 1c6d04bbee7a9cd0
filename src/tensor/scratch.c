/* Scratch memory: blocks of one batch, of which the pool keeps a few as large as a batch needs. */
#include "tensor/scratch.h"

#include "base/thread.h"

enum { ALIGN = 64, FIRST_BLOCK = 16 << 10, MAX_SPARE = 4 };

struct cst__scratch_block {
  cst__scratch_block *next;
  size_t size; /* of the whole block, this header included */
};

struct cst__scratch_pool {
  cst__refcount owners;
  cst_allocator allocator;
  cst__mutex lock;
  cst__scratch_block *spare[MAX_SPARE];
  size_t num_spare;
  size_t usual; /* what a batch needed: the size of new first blocks */
};

cst__scratch_pool *cst__scratch_pool_new(const cst_allocator *allocator) {
  cst__scratch_pool *pool = cst__new_zero(allocator, sizeof *pool);
  if (pool != NULL) {
    cst__refcount_init(&pool->owners);
    cst__mutex_init(&pool->lock);
    pool->allocator = cst__allocator_of(allocator);
    pool->usual = FIRST_BLOCK;
  }
  return pool;
}

cst__scratch_pool *cst__scratch_pool_retain(cst__scratch_pool *pool) {
  cst__refcount_up(&pool->owners);
  return pool;
}

const cst_allocator *cst__scratch_pool_allocator(const cst__scratch_pool *pool) {
  return &pool->allocator;
}

static cst__scratch_block *scratch_new_block(cst__scratch_pool *pool, size_t size) {
  cst__scratch_block *block = pool->allocator.allocate(pool->allocator.ctx, size, ALIGN);
  if (block != NULL) {
    *block = (cst__scratch_block){NULL, size};
  }
  return block;
}

static void scratch_free_block(cst__scratch_pool *pool, cst__scratch_block *block) {
  pool->allocator.release(pool->allocator.ctx, block, block->size, ALIGN);
}

void cst__scratch_pool_release(cst__scratch_pool *pool) {
  if (pool == NULL || !cst__refcount_down(&pool->owners)) {
    return;
  }
  for (size_t i = 0; i < pool->num_spare; i++) {
    scratch_free_block(pool, pool->spare[i]);
  }
  cst__mutex_destroy(&pool->lock);
  cst__delete(pool);
}

/* A spare block, or a new one of the usual size. */
static cst__scratch_block *first_block(cst__scratch_pool *pool) {
  cst__scratch_block *block = NULL;
  cst__mutex_lock(&pool->lock);
  size_t usual = pool->usual;
  if (pool->num_spare > 0) {
    block = pool->spare[--pool->num_spare];
  }
  cst__mutex_unlock(&pool->lock);
  return block != NULL ? block : scratch_new_block(pool, usual);
}

void cst__scratch_init(cst__scratch *scratch, cst__scratch_pool *pool) {
  *scratch = (cst__scratch){.pool = cst__scratch_pool_retain(pool)};
}

static void push_block(cst__scratch *scratch, cst__scratch_block *block) {
  block->next = scratch->head;
  scratch->head = block;
  scratch->at = (char *)block + ALIGN;
  scratch->end = (char *)block + block->size;
}

static bool has_room(const cst__scratch *scratch, size_t bytes) {
  return (size_t)(scratch->end - scratch->at) >= bytes && scratch->at != NULL;
}

static bool scratch_add_block(cst__scratch *scratch, size_t bytes) {
  if (scratch->head == NULL) {
    cst__scratch_block *first = first_block(scratch->pool);
    if (first == NULL) {
      return false;
    }
    push_block(scratch, first);
    if (has_room(scratch, bytes)) {
      return true;
    }
  }
  size_t size = bytes + ALIGN > scratch->head->size ? bytes + ALIGN : scratch->head->size;
  cst__scratch_block *block = scratch_new_block(scratch->pool, size);
  if (block == NULL) {
    return false;
  }
  push_block(scratch, block);
  return true;
}

void *cst__scratch_take(cst__scratch *scratch, int64_t count, size_t item_size) {
  size_t bytes;
  if (count < 0 || !cst__mul((size_t)count, item_size, &bytes) || bytes > SIZE_MAX / 4) {
    return NULL;
  }
  bytes = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
  if (!has_room(scratch, bytes) && !scratch_add_block(scratch, bytes)) {
    return NULL;
  }
  void *ptr = scratch->at;
  scratch->at += bytes;
  scratch->taken += bytes;
  return ptr;
}

/* Keeps one block if it served the whole batch; else the next batch gets a block that can. */
static bool scratch_give_back(cst__scratch_pool *pool, cst__scratch_block *block, size_t needed) {
  bool is_kept = false;
  cst__mutex_lock(&pool->lock);
  if (needed > pool->usual) {
    pool->usual = needed;
  }
  if (block->next == NULL && block->size >= pool->usual && pool->num_spare < MAX_SPARE) {
    pool->spare[pool->num_spare++] = block;
    is_kept = true;
  }
  cst__mutex_unlock(&pool->lock);
  return is_kept;
}

void cst__scratch_reset(cst__scratch *scratch) {
  cst__scratch_block *block = scratch->head;
  if (block != NULL && !scratch_give_back(scratch->pool, block, scratch->taken + ALIGN)) {
    while (block != NULL) {
      cst__scratch_block *next = block->next;
      scratch_free_block(scratch->pool, block);
      block = next;
    }
  }
  cst__scratch_pool_release(scratch->pool);
  *scratch = (cst__scratch){0};
}
