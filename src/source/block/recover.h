/* Framing under CST_ON_ERROR_SKIP: damaged records become drops of the block, and what follows them
 * is found again.
 */
#ifndef SOURCE_BLOCK_RECOVER_H
#define SOURCE_BLOCK_RECOVER_H

#include "source/block/cursor.h"

/* Frames what lies in the chunk from block->size on, as far as it is sound, and passes over the
 * rest. framed->needed: bytes that are wanted from block->size on; 0: none of them is left. A
 * failure waits in the cursor. */
void cst__recover_records(cst__cursor *cursor, cst__block *block, const cst__chunk *chunk,
                          cst__framed *framed);

/* A damaged compression that has ended the cursor becomes a drop, too, true; the block is filled up
 * to `filled`. */
bool cst__recover_compression(cst__cursor *cursor, cst__block *block, size_t filled);

#endif /* SOURCE_BLOCK_RECOVER_H */
