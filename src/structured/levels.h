/* A tensor with its dimensions opened: the lists of each, and what the innermost hold.
 *
 * Operations that move elements open as many dimensions as they concern, make other lists, take
 * elements of the rest (which may hold further lists) and put the lists on top of it again.
 */
#ifndef STRUCTURED_LEVELS_H
#define STRUCTURED_LEVELS_H

#include "structured/structured.h"

typedef struct cst__levels {
  cst__arena arena; /* holds the lists, and what operations make of them */
  size_t count;
  cst__lists *items; /* outermost first; the first has one list */
  cst__slots rest;   /* the slots that the innermost lists hold, one after the other */
} cst__levels;

/* Opens the first `count` dimensions, at most the rank. To be closed if it succeeds. The tensor
 * lives as long. CST_LIMIT if list views share their items too often. */
cst_status cst__levels_open(const cst_structured *tensor, size_t count, cst__levels *out,
                            cst_error *error);
void cst__levels_close(cst__levels *levels);

/* Numbers in the arena of the levels; NULL: no memory, and *error is filled. */
int64_t *cst__levels_take(cst__levels *levels, int64_t count, cst_error *error);

/* What the innermost lists hold as an array, shared where it lies in one run. */
cst_status cst__levels_rest(const cst__levels *levels, const cst_structured *tensor,
                            cst_array **out, cst_error *error);

/* Of what the innermost lists hold, counted from 0. */
cst_status cst__levels_choose(const cst__levels *levels, const cst_structured *tensor,
                              const cst__chosen *chosen, cst_array **out, cst_error *error);

/* The tensor of `count` levels over the rows of `rest`, which are as many as the innermost lists
 * hold (without levels: one). The level at the top has one list. A level has lists of fixed size in
 * the result if `size` says so and none is null. */
cst_status cst__levels_tensor(const cst__lists *levels, size_t count, const cst_array *rest,
                              cst_structured **out, cst_error *error);

/* Where in the tensor that the user has given the one lies that is looked at, for errors: it is one
 * row of it, or its rows are counted from `row` on. */
typedef struct cst__row_origin {
  bool is_row;
  int64_t row;
} cst__row_origin;

#endif /* STRUCTURED_LEVELS_H */
