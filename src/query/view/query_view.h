/* A view: a query bound to the types of its input, with all that running it takes. Immutable and
 * counted.
 *
 * Flow: view_input.c finds out what the query reads, the plan (query/plan) what it takes and makes,
 * view_specs.c its tensors; view_run.c runs it, with a pool of what calls need for themselves.
 * view_write.c and view_read.c are its saved form (view_file.h), view_diff.c compares two.
 */
#ifndef QUERY_VIEW_QUERY_VIEW_H
#define QUERY_VIEW_QUERY_VIEW_H

#include <columnstone/query.h>

#include "base/sha256.h"
#include "base/thread.h"
#include "query/plan/plan.h"
#include "query/view/view_input.h"
#include "query/view/view_run.h"

struct cst_view {
  cst__refcount owners;
  cst__arena arena;
  cst_query *query; /* its own; lines of errors are those of the text that it came from */
  const char *text; /* the query in its usual spelling */
  cst__query_view_input input;
  const cst_query_value *params; /* that were given */
  size_t num_params;
  const char *const *wanted; /* names of outputs that were asked for; NULL: all */
  size_t num_wanted;
  cst__query_limits limits;
  cst__query_plan *plan;
  cst_specs *specs;
  cst__query_view_runner *runner;

  cst__mutex lock; /* of the saved form, which is made when it is asked for first */
  char *saved;     /* NULL: not yet; cst_free */
  size_t saved_size;
  char digest[CST__SHA256_HEX];
};

/* ---- making ---- */

/* Over `own`, which holds the defaults. */
cst_status cst__read_view_options(cst_view_options *own, const cst_view_options *options,
                                  cst_error *error);
const cst__query_output *cst__query_view_output(const cst_view *view, size_t i); /* NULL: none */

/* The same view with only these outputs, in this order: bound anew, so that what no other output
 * needs is neither computed nor parsed. CST_NOT_FOUND with near names for one that it does not
 * have. */
cst_status cst__query_view_with_outputs(const cst_view *view, const char *const *names,
                                        size_t count, cst_view **out, cst_error *error);

/* ---- what sources read of a view; borrowed ---- */

static inline cst__query_from cst__query_view_from(const cst_view *view) {
  return view->input.from;
}
static inline const cst_schema *cst__query_view_schema(const cst_view *view) {
  return view->input.schema;
}
static inline cst__query_plan *cst__query_view_plan(const cst_view *view) { return view->plan; }

/* The type of the batches that go out. */
static inline const struct ArrowSchema *cst__query_view_output_type(const cst_view *view) {
  return cst__query_plan_schema(view->plan);
}
static inline bool cst__query_view_keeps_rows(const cst_view *view) {
  return cst__query_plan_keeps_rows(view->plan);
}

#endif /* QUERY_VIEW_QUERY_VIEW_H */
