/* Framing under CST_ON_ERROR_SKIP: damaged records become drops of the block, and what follows them
 * is found again.
 */
#ifndef SOURCE_BLOCK_RECOVER_H
#define SOURCE_BLOCK_RECOVER_H

#include "source/block/framing.h"

/* Frames what lies in the chunk from block->size on, as far as it is sound, and passes over the
 * rest. framed->needed: bytes that are wanted from block->size on; 0: none of them is left. A
 * failure waits in the cursor. */
void cst__recover_records(cst__framing *framing, cst__block *block, const cst__chunk *chunk,
                          cst__framed *framed);

/* True: a damaged compression has ended the file, and becomes a drop, too. The block is filled up
 * to `filled`; `unread`: bytes of the file that come after that. */
bool cst__recover_compression(cst__framing *framing, cst__block *block, size_t filled,
                              uint64_t unread);

#endif /* SOURCE_BLOCK_RECOVER_H */
