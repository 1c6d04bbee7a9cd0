/* Are bytes text?
 */
#ifndef ARROW_TEXT_H
#define ARROW_TEXT_H

#include "arrow/view.h"

/* The first of the slots below `limit` of bytes, or of lists of them at any depth, that holds bytes
 * which are not UTF-8; `limit` if there is none. Null slots hold nothing. */
int64_t cst__view_find_not_text(const cst__view *view, int64_t limit);

#endif /* ARROW_TEXT_H */
