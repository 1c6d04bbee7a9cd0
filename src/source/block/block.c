/* Blocks and their pool. */
#include "source/block/block.h"

#include <string.h>

enum {
  BUFFER_ALIGN = 64,
  KEEP_BLOCK = 8 << 20, /* a buffer that grew beyond this is not kept */
  KEEP_TOTAL = 16 << 20 /* bytes of free buffers that a pool keeps */
};

struct cst__pool {
  cst_allocator allocator;
  cst__refcount owners;
  cst__mutex lock;
  cst__block *free_list; /* newest first: its memory is the warmest */
  size_t free_bytes;
  bool closed; /* the owner is gone: nothing is worth keeping */
};

cst__pool *cst__pool_new(const cst_allocator *allocator) {
  cst__pool *pool = cst__new_zero(allocator, sizeof *pool);
  if (pool != NULL) {
    pool->allocator = cst__allocator_of(allocator);
    cst__refcount_init(&pool->owners);
    cst__mutex_init(&pool->lock);
  }
  return pool;
}

static void release_pool(cst__pool *pool) {
  if (cst__refcount_down(&pool->owners)) {
    cst__mutex_destroy(&pool->lock);
    cst__delete(pool);
  }
}

static void free_block_buffer(cst__block *block) {
  const cst_allocator *allocator = &block->pool->allocator;
  if (block->buffer != NULL) {
    allocator->release(allocator->ctx, block->buffer, block->capacity + CST__BLOCK_PADDING,
                       BUFFER_ALIGN);
  }
  block->buffer = NULL;
  block->capacity = 0;
}

static void delete_block(cst__block *block) {
  cst__pool *pool = block->pool;
  free_block_buffer(block);
  cst__delete(block->frames);
  cst__drops_reset(&block->drops);
  cst__delete(block);
  release_pool(pool);
}

void cst__pool_release(cst__pool *pool) {
  if (pool == NULL) {
    return;
  }
  cst__mutex_lock(&pool->lock);
  cst__block *block = pool->free_list;
  pool->free_list = NULL;
  pool->closed = true;
  cst__mutex_unlock(&pool->lock);
  while (block != NULL) {
    cst__block *next = block->next;
    delete_block(block);
    block = next;
  }
  release_pool(pool);
}

static cst__block *take_free_block(cst__pool *pool) {
  cst__mutex_lock(&pool->lock);
  cst__block *block = pool->free_list;
  if (block != NULL) {
    pool->free_list = block->next;
    pool->free_bytes -= block->capacity;
  }
  cst__mutex_unlock(&pool->lock);
  return block;
}

static cst__block *make_block(cst__pool *pool) {
  cst__block *block = cst__new_zero(&pool->allocator, sizeof *block);
  if (block != NULL) {
    block->pool = pool;
    cst__refcount_up(&pool->owners);
  }
  return block;
}

cst__block *cst__block_take(cst__pool *pool, size_t capacity) {
  cst__block *block = take_free_block(pool);
  if (block == NULL) {
    block = make_block(pool);
  }
  if (block == NULL) {
    return NULL;
  }
  cst__refcount_init(&block->owners);
  block->next = NULL;
  block->size = 0;
  block->num_frames = 0;
  if (capacity > 0 && !cst__block_reserve(block, capacity, 0)) {
    delete_block(block);
    return NULL;
  }
  block->data = block->buffer;
  return block;
}

bool cst__block_reserve(cst__block *block, size_t capacity, size_t keep) {
  const cst_allocator *allocator = &block->pool->allocator;
  size_t total;
  if (block->buffer != NULL && capacity <= block->capacity) {
    return true;
  }
  if (!cst__add(capacity, CST__BLOCK_PADDING + BUFFER_ALIGN - 1, &total)) {
    return false;
  }
  total &= ~(size_t)(BUFFER_ALIGN - 1);
  uint8_t *buffer = allocator->allocate(allocator->ctx, total, BUFFER_ALIGN);
  if (buffer == NULL) {
    return false;
  }
  if (keep > 0) {
    memcpy(buffer, block->buffer, keep);
  }
  free_block_buffer(block);
  block->buffer = buffer;
  block->capacity = total - CST__BLOCK_PADDING;
  block->data = buffer;
  return true;
}

/* Copies what is in the block, whose padding is in place, to a buffer of its size. */
static bool trim_block_buffer(cst__block *block) {
  const cst_allocator *allocator = &block->pool->allocator;
  size_t total =
      (block->size + CST__BLOCK_PADDING + BUFFER_ALIGN - 1) & ~(size_t)(BUFFER_ALIGN - 1);
  uint8_t *buffer = allocator->allocate(allocator->ctx, total, BUFFER_ALIGN);
  if (buffer == NULL) {
    return false;
  }
  memcpy(buffer, block->buffer, block->size + CST__BLOCK_PADDING);
  free_block_buffer(block);
  block->buffer = buffer;
  block->capacity = total - CST__BLOCK_PADDING;
  block->data = buffer;
  return true;
}

bool cst__block_trim(cst__block *block) {
  if (block->data != block->buffer || block->size >= block->capacity / 4) {
    return true;
  }
  if (block->num_frames > 0 && block->num_frames < block->frames_capacity) {
    cst__frame *frames =
        cst__renew(&block->pool->allocator, block->frames, block->num_frames * sizeof *frames);
    if (frames == NULL) {
      return false;
    }
    block->frames = frames;
    block->frames_capacity = block->num_frames;
  }
  return trim_block_buffer(block);
}

bool cst__block_reserve_frames(cst__block *block, size_t count) {
  void *items = block->frames;
  bool done = cst__grow(&block->pool->allocator, &items, &block->frames_capacity, count,
                        sizeof *block->frames);
  block->frames = items;
  return done;
}

uint64_t cst__block_record(const cst__block *block, size_t frame) {
  size_t low = 0; /* drops before the record */
  size_t high = block->drops.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (block->drops.items[middle].before <= frame) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return block->record + frame + low;
}

void cst__block_retain(void *ptr) {
  cst__block *block = ptr;
  cst__refcount_up(&block->owners);
}

/* Puts the block into the pool, or says that it is too much. */
static bool return_block(cst__block *block) {
  cst__pool *pool = block->pool;
  cst__mutex_lock(&pool->lock);
  bool keep = !pool->closed && block->capacity <= KEEP_BLOCK &&
              pool->free_bytes + block->capacity <= KEEP_TOTAL;
  if (keep) {
    block->next = pool->free_list;
    pool->free_list = block;
    pool->free_bytes += block->capacity;
  }
  cst__mutex_unlock(&pool->lock);
  return keep;
}

void cst__block_release(void *ptr) {
  cst__block *block = ptr;
  if (block == NULL || !cst__refcount_down(&block->owners)) {
    return;
  }
  cst__mapping_release(block->mapping);
  block->mapping = NULL;
  cst__drops_clear(&block->drops, 0);
  if (!return_block(block)) {
    delete_block(block);
  }
}

cst__mapping *cst__mapping_new(const cst_allocator *allocator, cst__input *input) {
  cst__mapping *mapping = cst__new_zero(allocator, sizeof *mapping);
  if (mapping != NULL) {
    cst__refcount_init(&mapping->owners);
    mapping->input = input;
  }
  return mapping;
}

void cst__mapping_release(cst__mapping *mapping) {
  if (mapping != NULL && cst__refcount_down(&mapping->owners)) {
    cst__input_close(mapping->input);
    cst__delete(mapping);
  }
}
