/* The deep checks of Arrow data from outside: all that reading a view trusts. */
#ifndef ARROW_VIEW_VALIDATE_H
#define ARROW_VIEW_VALIDATE_H

#include "arrow/view.h"

/* Checks what the slots [from, from + count) refer to, at any depth: order and range of offsets,
 * UTF-8, view references. Nothing else is looked at, so that slices of one large array are checked
 * in a time that depends on the slices. Structure and alignment have been checked before.
 * CST_CORRUPT. */
cst_status cst__validate_slots(const cst__view *view, int64_t from, int64_t count,
                               cst_error *error);

/* Arrays whose slots take no memory (type null, fixed sizes of 0, structs without fields) can claim
 * any length. More than 2^24 of them are CST_LIMIT, unless they are a column beside others that do
 * take memory. */
cst_status cst__validate_backing(const cst__view *view, cst_error *error);

#endif /* ARROW_VIEW_VALIDATE_H */
