/* What a file becomes when it is read as Arrow data, against its size: a few bytes of a hostile
 * file may stand for any number of values. Formats of columns (Arrow, plug-ins, streams of files)
 * count by this; compressed bytes are counted where they are inflated (io/input.c).
 */
#ifndef ARROW_IPC_GROWTH_H
#define ARROW_IPC_GROWTH_H

#include "arrow/view.h"

/* So much a file may always give. */
#define CST__FREE_INFLATION ((uint64_t)64 << 20)

typedef struct cst__growth {
  uint64_t max_inflation;   /* see cst__growth_ratio */
  uint64_t max_record_size; /* bytes of one row; 0: any number */
  uint64_t taken;           /* bytes of the file */
  uint64_t given;           /* bytes of the values that it became */
} cst__growth;

/* The bytes of the values in slots [begin, begin + count): of strings their lengths, also where
 * views share them; a slot that is null or empty takes one bit. */
uint64_t cst__view_value_bytes(const cst__view *view, int64_t begin, int64_t count);

/* The ratio that an option means. */
static inline uint64_t cst__growth_ratio(uint64_t max_inflation) {
  return max_inflation != 0 ? max_inflation : 200;
}

/* True if `given` bytes are too many for the `taken` ones. */
bool cst__growth_exceeds(uint64_t given, uint64_t taken, uint64_t max_inflation);

/* Counts a batch. CST_LIMIT if the file has given too much, or, with its number in the batch, for a
 * row that is too large. */
cst_status cst__growth_add(cst__growth *growth, const cst__view *batch, cst_error *error);

#endif /* ARROW_IPC_GROWTH_H */
