/* Saving views.
 */
#ifndef QUERY_VIEW_VIEW_WRITE_H
#define QUERY_VIEW_VIEW_WRITE_H

#include "query/view/query_view.h"

/* The saved form, which the view keeps once it is made: borrowed. As cst_view_write. */
cst_status cst__query_view_saved(const cst_view *view, cst_bytes *out, cst_error *error);
/* As cst_view_save. */
cst_status cst__query_view_save(const cst_view *view, const char *path, cst_error *error);
/* As cst_view_digest. */
const char *cst__query_view_digest(const cst_view *view);

#endif /* QUERY_VIEW_VIEW_WRITE_H */
