/* What is concatenated: pieces of views, and the buffers that they come to lie in. */
#ifndef ARROW_CONCAT_PARTS_H
#define ARROW_CONCAT_PARTS_H

#include "arrow/view.h"

/* Rows [begin, begin + length) of a validated view of a struct. */
typedef struct cst__piece {
  const cst__view *view;
  int64_t begin;
  int64_t length;
} cst__piece;

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

#endif /* ARROW_CONCAT_PARTS_H */
