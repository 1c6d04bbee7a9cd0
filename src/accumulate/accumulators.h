/* All accumulators, by their names. */
#ifndef ACCUMULATE_ACCUMULATORS_H
#define ACCUMULATE_ACCUMULATORS_H

#include "arrow/accumulator.h"

/* CST_INVALID_ARGUMENT with what the name may have been meant for. */
cst_status cst__accumulator_find(const char *name, const cst__accumulator **out, cst_error *error);
/* That which a state was saved by. CST_CORRUPT: by none that is known. */
cst_status cst__accumulator_find_saved(cst_bytes bytes, const cst__accumulator **out,
                                       cst_error *error);

#endif /* ACCUMULATE_ACCUMULATORS_H */
