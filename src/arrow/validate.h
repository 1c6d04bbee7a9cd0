/* The deep checks of Arrow data from outside: all that reading a view trusts. */
#ifndef ARROW_VALIDATE_H
#define ARROW_VALIDATE_H

#include "arrow/view.h"

/* Checks what the view's own slots refer to: order and range of offsets, UTF-8, view references.
 * Structure, alignment and the children have been checked before. CST_CORRUPT. */
cst_status cst__validate_slots(const cst__view *view, cst_error *error);

#endif /* ARROW_VALIDATE_H */
