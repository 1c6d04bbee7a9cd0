/* Running a bound query in one process: records are decoded, as far as the plan wants them, and
 * made into batches and tensors. Shared by threads: what a call needs for itself is taken from a
 * pool, and put back for the next.
 */
#ifndef QUERY_VIEW_VIEW_RUN_H
#define QUERY_VIEW_VIEW_RUN_H

#include <columnstone/query.h>

#include "query/plan/plan.h"
#include "query/view/view_input.h"

typedef struct cst__query_view_runner cst__query_view_runner;

typedef struct cst__query_view_runner_options {
  const cst__query_view_input *input; /* these outlive the runner */
  cst__query_plan *plan;
  const cst_specs *specs;
  const char *without; /* an output that no tensor can be made of; NULL: none */
  const cst_allocator *allocator;
} cst__query_view_runner_options;

cst_status cst__query_view_runner_new(const cst__query_view_runner_options *options,
                                      cst__query_view_runner **out, cst_error *error);
void cst__query_view_runner_free(cst__query_view_runner *runner); /* NULL is allowed */

/* What a call is given; the options are there. */
typedef struct cst__query_view_records {
  const cst_bytes *items;
  size_t count;
  const cst_view_run_options *options;
} cst__query_view_records;

typedef struct cst__query_view_batch {
  const struct ArrowSchema *schema;
  struct ArrowArray *array; /* taken over, also on failure */
  const cst_view_run_options *options;
} cst__query_view_batch;

/* Records through the query. One of `out` and `tensors` is wanted, the other NULL. */
cst_status cst__query_view_runner_decode(cst__query_view_runner *runner,
                                         const cst__query_view_records *records,
                                         struct ArrowArray *out, cst_tensors **tensors,
                                         cst_error *error);
/* A batch through it. sizes: how many elements each step of the plan has made; NULL: nobody asks.
 */
cst_status cst__query_view_runner_apply(cst__query_view_runner *runner,
                                        const cst__query_view_batch *batch, int64_t *sizes,
                                        struct ArrowArray *out, cst_tensors **tensors,
                                        cst_error *error);

#endif /* QUERY_VIEW_VIEW_RUN_H */
