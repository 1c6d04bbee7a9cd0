/* Opening saved views.
 */
#ifndef QUERY_VIEW_VIEW_READ_H
#define QUERY_VIEW_VIEW_READ_H

#include "query/view/query_view.h"

/* As cst_view_read; options are complete. */
cst_status cst__query_view_read(cst_bytes bytes, const cst_view_options *options, cst_view **out,
                                cst_error *error);
/* As cst_view_open. */
cst_status cst__query_view_open(const char *path, const cst_view_options *options, cst_view **out,
                                cst_error *error);

#endif /* QUERY_VIEW_VIEW_READ_H */
