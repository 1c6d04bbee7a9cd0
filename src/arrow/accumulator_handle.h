/* An accumulator as callers hold it: the state and the plan that it is made by, with batches that
 * come from outside. The rooms of the accumulators make and finish it.
 */
#ifndef ARROW_ACCUMULATOR_HANDLE_H
#define ARROW_ACCUMULATOR_HANDLE_H

#include <columnstone/accumulate.h>

#include "arrow/accumulator.h"

/* A plan that a handle owns. */
typedef struct cst__owned_plan {
  const void *plan;
  void (*free)(const void *plan); /* NULL: the plan is nobody's */
  uint64_t mark;                  /* the same for plans whose states may be merged */
} cst__owned_plan;

struct cst_accumulator {
  const cst__accumulator *accumulator;
  cst__owned_plan plan;
  void *state;
  cst_allocator allocator;
  bool is_broken; /* a failure in the middle of counting: some rows have been counted */
};

/* Takes the plan over, also on failure. */
cst_status cst__accumulator_handle_new(const cst__accumulator *accumulator,
                                       const cst__owned_plan *plan, const cst_allocator *allocator,
                                       cst_accumulator **out, cst_error *error);
/* `out` is what `accumulator` finishes as; CST_INVALID_ARGUMENT if the handle is of another one. */
cst_status cst__accumulator_handle_finish(const cst_accumulator *handle,
                                          const cst__accumulator *accumulator, void *out,
                                          cst_error *error);

#endif /* ARROW_ACCUMULATOR_HANDLE_H */
