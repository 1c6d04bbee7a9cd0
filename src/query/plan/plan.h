/* A query bound to what its input holds: which paths it needs, the steps from them to its outputs,
 * and the type of what goes out. Immutable; shared by all threads.
 */
#ifndef QUERY_PLAN_PLAN_H
#define QUERY_PLAN_PLAN_H

#include "query/plan/source_tree.h"
#include "query/text/ast.h"

typedef struct cst__query_plan cst__query_plan;

/* What a batch may come to; 0: as cst_view_options says. */
typedef struct cst__query_limits {
  int64_t max_elements;
  int64_t max_bytes;
  int64_t max_work;
} cst__query_limits;

typedef struct cst__query_plan_options {
  const cst_query *query;
  const cst__source_tree *tree; /* looked at only while the plan is made */
  const cst_query_value *params;
  size_t num_params;
  const char *const *outputs; /* NULL: all */
  size_t num_outputs;
  cst__query_limits limits;
  const cst_allocator *allocator;
} cst__query_plan_options;

/* An output, for specs and signatures. */
typedef struct cst__query_output {
  const char *name;
  cst_tensor_kind kind; /* 0: what its type says */
  cst_dtype row_splits; /* ragged: INT64 or INT32 */
  size_t num_dims;      /* dense: the shape; sparse: levels of lists */
  const int64_t *dims;
  size_t num_columns; /* of the batch that goes out; more than one for sparse ones */
  size_t first_column;
  const char *const *paths; /* of the input, sorted, none beginning with another */
  size_t num_paths;
} cst__query_output;

cst_status cst__query_plan_new(const cst__query_plan_options *options, cst__query_plan **out,
                               cst_error *error);
cst__query_plan *cst__query_plan_retain(cst__query_plan *plan);
void cst__query_plan_release(cst__query_plan *plan); /* NULL is allowed */

/* Borrowed from the plan. */
const struct ArrowSchema *cst__query_plan_schema(const cst__query_plan *plan);
const cst__query_output *cst__query_plan_outputs(const cst__query_plan *plan, size_t *count);
/* Of all outputs: what a decoder is to be asked for, and nothing else (for structs of which only
 * their number matters, a cheap field of theirs): sorted, none begins with another, and of examples
 * and tables, columns are their first steps; and what is needed. */
const char *const *cst__query_plan_paths(const cst__query_plan *plan, size_t *count);
const char *const *cst__query_plan_sources(const cst__query_plan *plan, size_t *count);
/* True if every record gives one row, in order: there is no `rows`. */
bool cst__query_plan_keeps_rows(const cst__query_plan *plan);
/* True if an output needs the numbers of records: record_index(). */
bool cst__query_plan_has_numbers(const cst__query_plan *plan);

/* See cst_view_explain. */
typedef struct cst__explain_options {
  uint32_t flags;       /* CST_EXPLAIN_... */
  const int64_t *sizes; /* how many elements each step has made of some batch; NULL: not known */
} cst__explain_options;
cst_status cst__query_plan_explain(const cst__query_plan *plan, const cst__explain_options *options,
                                   char **text, size_t *size, cst_error *error);

#endif /* QUERY_PLAN_PLAN_H */
