/* The groups that an aggregate's values are divided into.
 */
#ifndef QUERY_FUNCTIONS_GROUPS_H
#define QUERY_FUNCTIONS_GROUPS_H

#include "nested/list.h"
#include "query/functions/result.h"

/* The groups as lists. */
static inline cst__lists cst__call_lists(const cst__function_call *call) {
  return (cst__lists){call->count, -1, call->offsets, call->null_groups};
}

static inline bool cst__group_is_null(const cst__function_call *call, int64_t group) {
  return call->null_groups != NULL && call->null_groups[group] != 0;
}

/* Null lists make null results. */
static inline cst_status cst__groups_mark_null(const cst__function_call *call,
                                               struct ArrowArray *out, cst_error *error) {
  for (int64_t g = 0; call->null_groups != NULL && g < call->count; g++) {
    if (call->null_groups[g] != 0) {
      CST__TRY(cst__result_set_null(out, g, error));
    }
  }
  return CST_OK;
}

/* How many of the values [begin, end) are not null. */
static inline int64_t cst__group_valid(const cst__view *view, int64_t begin, int64_t end) {
  if (view->layout == CST__LAYOUT_NULL) {
    return 0;
  }
  return view->validity == NULL
             ? end - begin
             : cst__bitmap_count(view->validity, view->offset + begin, end - begin);
}

#endif /* QUERY_FUNCTIONS_GROUPS_H */
