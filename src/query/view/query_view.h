/* A view: a query bound to the types of its input, with all that running it takes. Immutable and
 * counted; what a call needs for itself lies in a pool of runs, of which every call takes one.
 *
 * Flow: view_bind.c makes a view of a query (query_view.c owns its parts), view_specs.c finds its
 * tensors, view_run.c runs it; view_write.c and view_read.c are its saved form (view_file.h).
 */
#ifndef QUERY_VIEW_QUERY_VIEW_H
#define QUERY_VIEW_QUERY_VIEW_H

#include <columnstone/query.h>

#include "base/thread.h"
#include "query/plan/plan.h"
#include "schema/schema.h"

/* What `from` says. */
typedef enum cst__query_from {
  CST__FROM_MESSAGE,
  CST__FROM_EXAMPLE,
  CST__FROM_SEQUENCE_EXAMPLE,
  CST__FROM_TABLE
} cst__query_from;

/* "message", "example", "sequence_example", "table". */
const char *cst__query_from_name(cst__query_from from);

/* What the columns of the input are bound by. */
typedef struct cst__query_view_input {
  cst__query_from from;
  const cst_message_options *message; /* MESSAGE: complete, with the full name of the message, and
                                         descriptors that are counted; else NULL */
  cst_schema *schema;                 /* of examples; NULL: `type` says it */
  struct ArrowSchema type;            /* what the plan was bound to (a struct): of examples after
                                         they were made flat; released for messages */
} cst__query_view_input;

typedef struct cst__view_run_pool cst__view_run_pool; /* view_run.c */

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
  cst__query_plan *plan;
  cst_specs *specs;
  cst__view_run_pool *pool;

  cst__mutex lock; /* of what is made when it is asked for first: */
  char digest[65]; /* "": not yet */
};

/* ---- making ---- */

/* As the functions of <columnstone/query.h> without `__query`; arguments are checked. */
cst_status cst__query_view_new(const cst_query *query, const cst_view_options *options,
                               cst_view **out, cst_error *error);
cst_view *cst__query_view_retain(const cst_view *view);
void cst__query_view_release(cst_view *view);

/* The same view with only these outputs, in this order: bound anew, so that what no other output
 * needs is neither computed nor parsed. CST_NOT_FOUND with near names for one that it does not
 * have. */
cst_status cst__query_view_with_outputs(const cst_view *view, const char *const *names,
                                        size_t count, cst_view **out, cst_error *error);
/* The same view of batches of another type: for `from table` and for examples. */
cst_status cst__query_view_with_type(const cst_view *view, const struct ArrowSchema *type,
                                     cst_view **out, cst_error *error);

/* ---- what sources read of a view; borrowed ---- */

static inline cst__query_from cst__query_view_from(const cst_view *view) {
  return view->input.from;
}
static inline const cst_message_options *cst__query_view_message(const cst_view *view) {
  return view->input.message;
}
static inline const cst_schema *cst__query_view_schema(const cst_view *view) {
  return view->input.schema;
}
static inline cst__query_plan *cst__query_view_plan(const cst_view *view) { return view->plan; }
static inline const cst_specs *cst__query_view_specs(const cst_view *view) { return view->specs; }

/* Paths of the input that are to be decoded, and nothing else: sorted, none begins with another. Of
 * examples and tables, columns are their first steps. */
static inline const char *const *cst__query_view_paths(const cst_view *view, size_t *count) {
  return cst__query_plan_paths(view->plan, count);
}
/* The type of the batches that go out. */
static inline const struct ArrowSchema *cst__query_view_output_type(const cst_view *view) {
  return cst__query_plan_schema(view->plan);
}
static inline bool cst__query_view_keeps_rows(const cst_view *view) {
  return cst__query_plan_keeps_rows(view->plan);
}

/* ---- running, as <columnstone/query.h> has it ---- */

cst_status cst__query_view_run(const cst_view *view, const cst_bytes *records, size_t count,
                               cst_tensors **out, cst_error *error);
cst_status cst__query_view_run_arrow(const cst_view *view, const cst_bytes *records, size_t count,
                                     struct ArrowSchema *out_schema, struct ArrowArray *out,
                                     cst_error *error);

#endif /* QUERY_VIEW_QUERY_VIEW_H */
