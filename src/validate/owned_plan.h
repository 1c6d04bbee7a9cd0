/* The plans of the accumulators of <columnstone/accumulate.h>: copies of what the options say,
 * which an accumulator's handle owns. */
#ifndef VALIDATE_OWNED_PLAN_H
#define VALIDATE_OWNED_PLAN_H

#include "arrow/accumulator_handle.h"

/* The options have a schema. */
cst_status cst__owned_plan_of_validation(const cst_validate_options *options,
                                         const cst_allocator *allocator, cst__owned_plan *out,
                                         cst_error *error);
/* The options are complete. */
cst_status cst__owned_plan_of_proposal(const cst_propose_options *options,
                                       const cst_allocator *allocator, cst__owned_plan *out,
                                       cst_error *error);

#endif /* VALIDATE_OWNED_PLAN_H */
