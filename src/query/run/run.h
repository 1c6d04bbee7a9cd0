/* Running a plan over batches: one run per thread, which keeps its memory from batch to batch.
 */
#ifndef QUERY_RUN_RUN_H
#define QUERY_RUN_RUN_H

#include "arrow/stage.h"
#include "query/plan/plan.h"

typedef struct cst__query_run cst__query_run;

/* Finds the plan's paths in the type of the batches (a struct; other columns do not matter).
 * CST_SCHEMA, with the path, if one is missing or of another type than the plan was made for. */
cst_status cst__query_run_open(cst__query_plan *plan, const struct ArrowSchema *input,
                               cst__query_run **out, cst_error *error);
void cst__query_run_close(cst__query_run *run); /* NULL is allowed */

/* Makes the output batch, and takes `batch` over, also on failure. origin may be NULL; it is filled
 * if the plan does not keep rows. CST_SCHEMA with the row of `batch` for what a query refuses; if
 * on_bad is set, such a row is told of instead, and becomes nulls (or, with `rows`, none). The data
 * of the batch is valid (cst__view_init has looked at it, or the library has made it). */
typedef struct cst__query_input {
  struct ArrowArray *batch;
  const int64_t *numbers; /* of the rows' records, for record_index(); NULL: 0, 1, ... */
  int64_t *sizes;         /* filled: how many elements each step has made; NULL: not asked */
  const uint8_t *bad; /* by row: 1 for those that are bad already and told of, which nobody looks
                         at; NULL: none is */
  cst__bad_row_callback on_bad; /* NULL: fail */
  void *ctx;
} cst__query_input;

cst_status cst__query_run_batch(cst__query_run *run, const cst__query_input *input,
                                struct ArrowArray *out, cst__row_map *origin, cst_error *error);

#endif /* QUERY_RUN_RUN_H */
