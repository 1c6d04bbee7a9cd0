/* The tensors of a query's outputs.
 */
#ifndef QUERY_VIEW_VIEW_SPECS_H
#define QUERY_VIEW_VIEW_SPECS_H

#include "query/plan/plan.h"
#include "schema/schema.h"

/* The specs of a plan's outputs. One of a type that no tensor has (a time, a decimal) has none, if
 * the query does not ask for a tensor; *without is then the name of the first of these, which the
 * plan owns, else NULL. */
cst_status cst__query_view_specs_new(const cst__query_plan *plan, const cst_allocator *allocator,
                                     cst_specs **out, const char **without, cst_error *error);

/* "dense", "sparse" (of both kinds), "ragged", "structured"; "" for 0. */
const char *cst__query_view_kind_name(cst_tensor_kind kind);

#endif /* QUERY_VIEW_VIEW_SPECS_H */
