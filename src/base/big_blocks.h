/* Large blocks of the default allocator, which are kept for the next one who asks for as much:
 * first touch of fresh pages costs several times what is done with them.
 *
 * What is kept is bounded (64 MiB, and 32 blocks) and shared by all threads.
 */
#ifndef BASE_BIG_BLOCKS_H
#define BASE_BIG_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

/* Smaller ones are malloc's. */
enum { CST__BIG_BLOCK = 128 << 10 };

/* A block of at least CST__BIG_BLOCK bytes, aligned to 64; NULL: no memory. */
void *cst__big_take(size_t size);
/* Gives it back, with the size that was asked for. */
void cst__big_give(void *block, size_t size);

/* Frees what is kept, and says how many bytes that was. */
size_t cst__big_drop(void);
/* Bytes that are kept. */
size_t cst__big_kept(void);

/* Keeps blocks from now on, or frees all and keeps none: for who counts allocations. */
void cst__big_keep(bool keep);

#endif /* BASE_BIG_BLOCKS_H */
