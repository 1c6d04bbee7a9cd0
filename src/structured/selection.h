/* Choosing elements: a walk through the dimensions of a tensor, from the outermost on, that makes
 * the dimensions of the result.
 *
 * Between two steps the walk holds places: of the next dimension's lists, or of the elements if
 * there is none, in the order of the result, in which the innermost lists that were made hold them.
 * A place may come several times, and may be null. Beside each may stand a place of a tensor of
 * indices. All operations that choose are such walks, and one taking of elements at the end.
 */
#ifndef STRUCTURED_SELECTION_H
#define STRUCTURED_SELECTION_H

#include "structured/indices.h"

typedef struct cst__selection {
  const cst_structured *tensor;
  cst__levels source; /* its arena holds all that the walk makes */
  size_t depth;       /* dimensions of the tensor that are behind */
  cst__lists *made;   /* dimensions of the result */
  size_t num_made;
  cst__chosen places;          /* of the next dimension */
  const cst__indices *indices; /* those that are gone through beside the tensor; NULL: none */
  size_t indices_depth;
  const int64_t *beside; /* [count]: places of the indices; NULL: beside_begin for all (step 0), or
                            counted from it on (step 1) */
  int64_t beside_begin;
  int64_t beside_step;
  cst__row_origin origin;
  cst_error *error;
} cst__selection;

/* Opens `dims` dimensions of a tensor, for a result of at most `most` dimensions. To be ended if it
 * succeeds; tensor and indices live as long. */
cst_status cst__selection_begin(cst__selection *s, const cst_structured *tensor, size_t dims,
                                size_t most, cst_error *error);
void cst__selection_end(cst__selection *s);

/* ---- steps ---- */

/* A dimension of size 1. */
cst_status cst__select_new_axis(cst__selection *s);
/* All of the next dimension, or a part of it; null lists stay null. */
cst_status cst__select_all(cst__selection *s);
cst_status cst__select_slice(cst__selection *s, const cst__slice *slice);
/* One place in each list of the next dimension, which is no dimension of the result. Negative ones
 * count from the end; null lists give null. CST_INVALID_ARGUMENT, with the row, outside of a list.
 */
cst_status cst__select_at(cst__selection *s, int64_t place);

/* The indices that the following steps use, from their first dimension on. */
void cst__select_by(cst__selection *s, const cst__indices *indices);
/* Which lists are null of those that tensor and indices have in common; other null lists count as
 * empty ones. */
typedef enum cst__null_rule {
  CST__NULL_OF_EITHER,
  CST__NULL_OF_TENSOR,
  CST__NULL_OF_INDICES
} cst__null_rule;
/* The next dimension of tensor and indices together, whose lists have to agree in length where they
 * are not null by the rule. */
cst_status cst__select_together(cst__selection *s, cst__null_rule rule);
/* The same for the last dimension of booleans, and what is true is kept. */
cst_status cst__select_true(cst__selection *s, cst__null_rule rule);
/* The next `dims` dimensions of the indices, with the same place of the tensor for all of it. Where
 * that is a null list, and `rows_stay`, the result is null as a whole. */
cst_status cst__select_spread(cst__selection *s, size_t dims, bool rows_stay);
/* As cst__select_at with the value of the indices at beside * stride + shift; null gives null. */
cst_status cst__select_at_value(cst__selection *s, int64_t stride, int64_t shift);
/* The last `count` dimensions of the result become one; null lists within it hold nothing. */
cst_status cst__select_merge(cst__selection *s, size_t count);

/* CST_INVALID_ARGUMENT, with the row, unless all lists of the next dimension have this length. */
cst_status cst__select_check_length(cst__selection *s, int64_t length);

/* ---- the end ---- */

/* The tensor of what is chosen. */
cst_status cst__selection_finish(cst__selection *s, cst_structured **out);
/* The place of the indices beside chosen place i. */
static inline int64_t cst__selection_beside(const cst__selection *s, int64_t i) {
  return s->beside != NULL ? s->beside[i] : s->beside_begin + s->beside_step * i;
}

#endif /* STRUCTURED_SELECTION_H */
