/* Arenas that are kept warm from batch to batch: tensors lie in one, and are freed at once.
 */
#ifndef TENSOR_ARENA_POOL_H
#define TENSOR_ARENA_POOL_H

#include "base/alloc.h"

/* Counted, by every arena that is lent as well; any thread. */
typedef struct cst__arena_pool cst__arena_pool;

cst__arena_pool *cst__arena_pool_new(const cst_allocator *allocator); /* NULL: no memory */
void cst__arena_pool_release(cst__arena_pool *pool);                  /* NULL is allowed */
const cst_allocator *cst__arena_pool_allocator(const cst__arena_pool *pool);

/* An arena whose blocks are aligned to 64 bytes. One that comes back keeps the memory that its
 * batch needed, as one block, for the next. */
void cst__arena_pool_lend(cst__arena_pool *pool, cst__arena *out);
void cst__arena_pool_take_back(cst__arena_pool *pool, cst__arena *arena);

#endif /* TENSOR_ARENA_POOL_H */
