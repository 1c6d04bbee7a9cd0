/* Saving views.
 */
#ifndef QUERY_VIEW_VIEW_WRITE_H
#define QUERY_VIEW_VIEW_WRITE_H

#include "query/view/query_view.h"

/* The saved form, which the view keeps once it is made: borrowed. As cst_view_to_bytes. */
cst_status cst__query_view_saved(const cst_view *view, cst_bytes *out, cst_error *error);

#endif /* QUERY_VIEW_VIEW_WRITE_H */
