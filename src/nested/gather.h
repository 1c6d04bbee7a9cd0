/* Copies of what is chosen of an array, of every layout.
 */
#ifndef NESTED_GATHER_H
#define NESTED_GATHER_H

#include "arrow/concat.h"
#include "nested/chosen.h"

/* Makes an array of the slots of a view that are chosen; the view is one of an array of the
 * owner's. A run shares its buffers; blocks of views, items of list views and dictionaries are
 * shared, too; all else is copied. With `is_batch`, a struct's -1 is a row that is there, with
 * nulls in all fields. CST_UNSUPPORTED, with the column's path, for types that cst__view does not
 * know; CST_LIMIT if 32-bit offsets do not suffice. */
cst_status cst__take(const cst__owner *owner, const cst__view *view, const cst__chosen *chosen,
                     bool is_batch, struct ArrowArray *out, cst_error *error);

/* ---- of it: numbers, and spans ---- */

cst_status cst__gather(const cst__owner *owner, const cst__view *view, const cst__chosen *numbers,
                       bool is_batch, struct ArrowArray *out, cst_error *error);
cst_status cst__gather_spans(const cst__owner *owner, const cst__view *view,
                             const cst__spans *spans, struct ArrowArray *out, cst_error *error);

/* ---- for both ---- */

/* Bytes of a slot of values, or of an index of a dictionary; 0: not of a fixed number of bytes. */
size_t cst__gather_width(const cst__view *view);

/* An empty array of the view's layout whose buffers and children are to be filled; a dictionary is
 * the array's own. On failure *out is released. */
cst_status cst__gather_new(const cst__owner *owner, const cst__view *view, struct ArrowArray *out,
                           cst_error *error);

/* CST_LIMIT: more bytes, or items, than offsets of `width` bytes reach. */
cst_status cst__gather_fail_limit(const char *what, int width, cst_error *error);

#endif /* NESTED_GATHER_H */
