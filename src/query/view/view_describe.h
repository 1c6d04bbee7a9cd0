/* What a view is, for people and tools.
 */
#ifndef QUERY_VIEW_VIEW_DESCRIBE_H
#define QUERY_VIEW_VIEW_DESCRIBE_H

#include "query/view/query_view.h"

/* As cst_view_describe. */
cst_status cst__query_view_describe(const cst_view *view, uint32_t flags, char **text, size_t *size,
                                    cst_error *error);

#endif /* QUERY_VIEW_VIEW_DESCRIBE_H */
