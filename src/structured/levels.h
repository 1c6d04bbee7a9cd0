/* A tensor with its dimensions opened: where the lists of each begin, and what the innermost hold.
 *
 * Operations that move elements open as many dimensions as they concern, change the splits, take
 * elements of the rest (which may hold further lists) and put levels on top of it again.
 */
#ifndef STRUCTURED_LEVELS_H
#define STRUCTURED_LEVELS_H

#include "structured/structured.h"
#include "table/gather.h"

/* One dimension: a list per place of the dimensions before it. */
typedef struct cst__dim {
  int64_t num_lists;
  int64_t size;    /* of each list, by the type; -1: they may differ */
  int64_t *splits; /* [num_lists + 1], from 0 on: where each begins and ends */
  uint8_t *nulls;  /* [num_lists]: not 0 for a null list, which is empty; NULL: none is null */
} cst__dim;

static inline int64_t cst__dim_total(const cst__dim *level) {
  return level->splits[level->num_lists];
}

/* The size of lists that are put together of lists of two sizes, or of so many lists; -1: they may
 * differ, or 64 bits do not count it (of no lists, say). */
static inline int64_t cst__dim_size_sum(int64_t size, int64_t other) {
  int64_t sum;
  return size < 0 || other < 0 || __builtin_add_overflow(size, other, &sum) ? -1 : sum;
}

static inline int64_t cst__dim_size_product(int64_t size, int64_t times) {
  int64_t product;
  return size < 0 || times < 0 || __builtin_mul_overflow(size, times, &product) ? -1 : product;
}

/* Gives an array of a slot per list a bitmap, if some are null. */
cst_status cst__dim_validity(const cst__dim *dim, struct ArrowArray *out, cst_error *error);

typedef struct cst__levels {
  cst__arena arena; /* holds the levels, and what operations make of them */
  size_t count;
  cst__dim *items; /* outermost first; the first has one list */
  cst__runs rest;  /* the slots that the innermost lists hold, one after the other */
} cst__levels;

/* Opens the first `count` dimensions, at most the rank. To be closed if it succeeds. The tensor
 * lives as long. CST_LIMIT if list views share their items too often. */
cst_status cst__levels_open(const cst_structured *tensor, size_t count, cst__levels *out,
                            cst_error *error);
/* The same, where the splits may lie in the tensor's buffers: nothing writes to them. */
cst_status cst__levels_open_as_is(const cst_structured *tensor, size_t count, cst__levels *out,
                                  cst_error *error);
void cst__levels_close(cst__levels *levels);

/* Numbers in the arena of the levels; NULL: no memory, and *error is filled. */
int64_t *cst__levels_take(cst__levels *levels, int64_t count, cst_error *error);

/* What the innermost lists hold as an array, shared where it lies in one run. */
cst_status cst__levels_rest(const cst__levels *levels, const cst_structured *tensor,
                            cst_array **out, cst_error *error);

/* Of what the innermost lists hold, the places in this order, counted from 0; -1 is a null. */
cst_status cst__levels_choose(const cst__levels *levels, const cst_structured *tensor,
                              const int64_t *places, int64_t count, cst_array **out,
                              cst_error *error);

/* The same of spans of places. */
cst_status cst__levels_choose_spans(const cst__levels *levels, const cst_structured *tensor,
                                    const cst__spans *spans, cst_array **out, cst_error *error);

/* The tensor of `count` levels over the rows of `rest`, which are as many as the innermost lists
 * hold (without levels: one). The level at the top has one list. A level has lists of fixed size in
 * the result if `size` says so and none is null. */
cst_status cst__levels_tensor(const cst__dim *levels, size_t count, const cst_array *rest,
                              cst_structured **out, cst_error *error);

/* Where in the tensor that the user has given the one lies that is looked at, for errors: it is one
 * row of it, or its rows are counted from `row` on. */
typedef struct cst__row_origin {
  bool is_row;
  int64_t row;
} cst__row_origin;

#endif /* STRUCTURED_LEVELS_H */
