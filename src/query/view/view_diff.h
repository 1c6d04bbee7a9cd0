/* What changes for readers from one view to another.
 */
#ifndef QUERY_VIEW_VIEW_DIFF_H
#define QUERY_VIEW_VIEW_DIFF_H

#include "query/view/query_view.h"

/* As cst_view_diff. */
cst_status cst__query_view_diff(const cst_view *before, const cst_view *after, char **text,
                                size_t *num_breaking, size_t *num_rows, cst_error *error);

#endif /* QUERY_VIEW_VIEW_DIFF_H */
