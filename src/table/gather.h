/* Copies of chosen slots, of every layout.
 */
#ifndef TABLE_GATHER_H
#define TABLE_GATHER_H

#include "table/runs.h"

/* Slots to be copied, in this order; -1 is a null. */
typedef struct cst__chosen {
  const int64_t *at; /* of the view */
  int64_t count;
  bool has_null; /* some are -1 */
} cst__chosen;

/* Makes an array of the slots. Blocks of views, items of list views and dictionaries are shared
 * with `owner`, to which the node belongs; all else is copied. With `is_batch`, a struct's -1 is a
 * row that is there, with nulls in all fields. CST_UNSUPPORTED, with the column's path, for types
 * that cst__view does not know; CST_LIMIT if 32-bit offsets do not suffice. */
cst_status cst__gather(const cst_array *owner, const cst__node *node, const cst__chosen *slots,
                       bool is_batch, struct ArrowArray *out, cst_error *error);

/* Stretches of slots: that number i has ends[i + 1] - ends[i] slots (ends[0] is 0), `step` apart,
 * from begins[i] on (whatever, if it has none). None of them is null. */
typedef struct cst__spans {
  const int64_t *begins;
  const int64_t *ends;
  int64_t count;
  int64_t step;
} cst__spans;

/* The same for the slots of spans, one span after the other. */
cst_status cst__gather_spans(const cst_array *owner, const cst__node *node, const cst__spans *spans,
                             struct ArrowArray *out, cst_error *error);

/* ---- for both ---- */

/* Bytes of a slot of values, or of an index of a dictionary; 0: not of a fixed number of bytes. */
size_t cst__gather_width(const cst__view *view);

/* An empty array of the node's layout whose buffers and children are to be filled; a dictionary is
 * the node's own. On failure *out is released. */
cst_status cst__gather_new(const cst_array *owner, const cst__node *node, struct ArrowArray *out,
                           cst_error *error);

/* CST_LIMIT: more bytes, or items, than offsets of `width` bytes reach. */
cst_status cst__gather_fail_limit(const char *what, int width, cst_error *error);

#endif /* TABLE_GATHER_H */
