/* Memory of one batch's tensors: taken piece by piece, freed at once, and kept warm for the batches
 * that follow.
 */
#ifndef TENSOR_SCRATCH_H
#define TENSOR_SCRATCH_H

#include "base/alloc.h"

/* Where scratches get their first block from and give it back to. Counted; any thread. */
typedef struct cst__scratch_pool cst__scratch_pool;

cst__scratch_pool *cst__scratch_pool_new(const cst_allocator *allocator); /* NULL: no memory */
cst__scratch_pool *cst__scratch_pool_retain(cst__scratch_pool *pool);
void cst__scratch_pool_release(cst__scratch_pool *pool);
const cst_allocator *cst__scratch_pool_allocator(const cst__scratch_pool *pool);

typedef struct cst__scratch_block cst__scratch_block;
typedef struct cst__scratch {
  cst__scratch_pool *pool; /* one count of it */
  cst__scratch_block *head;
  char *at;
  char *end;
  size_t taken; /* bytes, over all blocks */
} cst__scratch;

void cst__scratch_init(cst__scratch *scratch, cst__scratch_pool *pool);
/* Room for count items, aligned to 64 bytes; NULL if out of memory or too many. */
void *cst__scratch_take(cst__scratch *scratch, int64_t count, size_t item_size);
void cst__scratch_reset(cst__scratch *scratch);

#endif /* TENSOR_SCRATCH_H */
