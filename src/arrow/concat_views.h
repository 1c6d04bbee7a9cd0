/* The part of concatenation that knows the view layouts; for concat.c alone. */
#ifndef ARROW_CONCAT_VIEWS_H
#define ARROW_CONCAT_VIEWS_H

#include "arrow/concat_parts.h"

/* Makes the whole array, but for length, null count and validity. Values follow each other into
 * new blocks, unless a piece's views share bytes: then its blocks are copied as they are, so that
 * the result is never larger than what the pieces hold. */
cst_status cst__join_binary_views(const cst__level *level, int64_t length, struct ArrowArray *out,
                                  cst_error *error);

/* The items from the first to the last one that the list views of a piece refer to. */
void cst__list_views_span(const cst__piece *piece, int64_t *begin, int64_t *length);

/* Fills offsets and sizes of an array whose items are the spans of the pieces. */
cst_status cst__join_list_views(const cst__level *level, struct ArrowArray *out, cst_error *error);

#endif /* ARROW_CONCAT_VIEWS_H */
