/* Which statements and names of a view decide about its rows, and which fields of the input do. */
#ifndef QUERY_VIEW_VIEW_ROWS_H
#define QUERY_VIEW_VIEW_ROWS_H

#include "base/hash.h"
#include "query/view/query_view.h"

/* Adds the names of fields, lets and parameters of which the rows are made. False: no memory. */
bool cst__query_view_find_row_names(const cst_view *view, cst__name_map *names);
bool cst__query_view_has_row_name(const cst__name_map *names, const char *name);

/* The statements up to the last `rows`: those below it change no rows. */
size_t cst__query_view_count_row_statements(const cst_view *view);
/* True for `rows`, and for what makes a name that the rows are made of. Names alone are compared,
 * not whole paths: rather one statement too many. */
bool cst__query_view_makes_rows(const cst__name_map *names, const cst__statement *statement);

#endif /* QUERY_VIEW_VIEW_ROWS_H */
