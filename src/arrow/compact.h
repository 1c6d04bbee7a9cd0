/* Copies of slices that begin at slot 0 of buffers of their own, for consumers that know no
 * offsets.
 */
#ifndef ARROW_COMPACT_H
#define ARROW_COMPACT_H

#include "arrow/view.h"

/* True if no array of the batch begins behind its first slot and no column is longer than it. */
bool cst__array_is_compact(const struct ArrowArray *batch);

/* A copy of the slots of a validated view. All of it lives in the arena: releasing it does nothing,
 * and its children cannot be moved out. CST_UNSUPPORTED, with the column's path, for view types and
 * for types that cst__view does not know. */
cst_status cst__array_compact(const cst__view *view, cst__arena *arena, struct ArrowArray *out,
                              cst_error *error);

#endif /* ARROW_COMPACT_H */
