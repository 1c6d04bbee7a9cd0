/* More columns after those of a batch.
 */
#ifndef ARROW_APPEND_H
#define ARROW_APPEND_H

#include <columnstone/arrow_abi.h>
#include <columnstone/status.h>

#include "base/alloc.h"

/* Moves the columns of `from` after those of `batch`, which must have as many rows; no value is
 * copied. On success `from` is released; on failure both are as before. */
cst_status cst__append_arrays(struct ArrowArray *batch, struct ArrowArray *from,
                              const cst_allocator *allocator, cst_error *error);

/* The same for their schemas. */
cst_status cst__append_fields(struct ArrowSchema *schema, struct ArrowSchema *from,
                              cst_error *error);

#endif /* ARROW_APPEND_H */
