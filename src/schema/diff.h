/* What has to change in one schema to get another one. */
#ifndef SCHEMA_DIFF_H
#define SCHEMA_DIFF_H

#include <columnstone/validate.h>

#include "base/alloc.h"

/* The contract is that of cst_schema_diff; on_change may be NULL. */
cst_status cst__schema_diff(const cst_schema *before, const cst_schema *after,
                            cst_change_callback on_change, void *ctx, size_t *num_changes,
                            cst_error *error);

#endif /* SCHEMA_DIFF_H */
