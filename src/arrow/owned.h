/* Arrow arrays that own their buffers, or a share of somebody else's: one block per array, which
 * may be released, or moved out of its parent, on its own.
 */
#ifndef ARROW_OWNED_H
#define ARROW_OWNED_H

#include <columnstone/arrow_abi.h>
#include <columnstone/status.h>

#include "arrow/batch.h"

/* An array of length 0 without nulls whose buffers are NULL. Its children (and its dictionary, if
 * it is to have one) are released ones, to be filled; until then releasing the array passes them
 * over. On failure *out is released. */
cst_status cst__owned_new(const cst_allocator *allocator, int64_t num_buffers, int64_t num_children,
                          bool has_dictionary, struct ArrowArray *out, cst_error *error);

/* Gives buffer `index` of an owned array `size` bytes, aligned and padded to 64; NULL: no memory.
 * Never NULL for 0 bytes, because consumers dislike that. The last byte is 0: whoever sets the bits
 * of a bitmap one after the other leaves no bit of it unset. */
void *cst__owned_buffer(struct ArrowArray *array, int64_t index, size_t size);

/* Hands a buffer over, which has to be of the array's allocator. */
void cst__owned_give(struct ArrowArray *array, int64_t index, cst__buffer *buffer);

/* What the array's release is to call, once, after its children. */
void cst__owned_keep(struct ArrowArray *array, void *owner, void (*release)(void *owner));

/* Whom an array keeps with this release, if it has no more of its own than the struct: who shares
 * its buffers may keep that owner instead of the array's. Else NULL. */
void *cst__owned_keeper(const struct ArrowArray *array, void (*release)(void *owner));

/* The structs of an array, copied into the arena: the copy may be taken apart, and releasing it
 * does nothing. The schema is whole; CST_INVALID_ARGUMENT if the array has other children than it,
 * or a dictionary where it has none. */
cst_status cst__array_lend(const struct ArrowSchema *schema, const struct ArrowArray *array,
                           cst__arena *arena, struct ArrowArray *out, cst_error *error);

/* Releases what is not released yet. */
static inline void cst__array_release(struct ArrowArray *array) {
  if (array->release != NULL) {
    array->release(array);
  }
}

/* Sets `count` bits from bit `to` on to those of `from`, from bit `begin` on. Nothing after the
 * last byte that holds such a bit is touched. */
void cst__bits_copy(uint8_t *bits, int64_t to, const uint8_t *from, int64_t begin, int64_t count);

/* Sets `count` bits from bit `to` on. */
void cst__bits_set(uint8_t *bits, int64_t to, int64_t count);

/* `count` bits from bit `from` on as bytes, 0 or 1. */
void cst__bits_to_bytes(const uint8_t *bits, int64_t from, int64_t count, uint8_t *to);

/* Bits from 0 on of `count` bytes, set where these are not 0; turned round, if `invert` is 1. */
void cst__bytes_to_bits(const uint8_t *bytes, int64_t count, unsigned invert, uint8_t *bits);

static inline size_t cst__bits_size(int64_t count) { return ((size_t)count + 7) / 8; }

#endif /* ARROW_OWNED_H */
