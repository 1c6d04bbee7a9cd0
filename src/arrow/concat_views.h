/* The part of concatenation that knows the view layouts; for concat.c alone. */
#ifndef ARROW_CONCAT_VIEWS_H
#define ARROW_CONCAT_VIEWS_H

#include "arrow/concat.h"

/* The pieces of one array; at least one. */
typedef struct cst__level {
  const cst__piece *pieces;
  size_t count;
  const cst_allocator *allocator;
} cst__level;

/* A buffer of an owned array, of `count` items; NULL: no memory, *error is filled. */
void *cst__level_take(struct ArrowArray *out, int64_t index, int64_t count, size_t width,
                      cst_error *error);

/* Adds to a number of items or bytes: CST_LIMIT if offsets of this width do not reach the sum. */
cst_status cst__level_add(int64_t *total, int64_t more, int width, const char *what,
                          cst_error *error);

/* Makes the whole array, but for length, null count and validity. Values go behind each other into
 * new blocks, unless a piece's views share bytes: then its blocks are copied as they are, so that
 * the result is never larger than what the pieces hold. */
cst_status cst__join_binary_views(const cst__level *level, int64_t length, struct ArrowArray *out,
                                  cst_error *error);

/* The items from the first to the last one that the list views of a piece refer to. */
void cst__list_views_span(const cst__piece *piece, int64_t *begin, int64_t *length);

/* Fills offsets and sizes of an array whose items are the spans of the pieces. */
cst_status cst__join_list_views(const cst__level *level, struct ArrowArray *out, cst_error *error);

#endif /* ARROW_CONCAT_VIEWS_H */
