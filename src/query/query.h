/* Queries as handles: their statements, which are added as text or part by part. What views need of
 * them besides <columnstone/query.h>. */
#ifndef QUERY_QUERY_H
#define QUERY_QUERY_H

#include "query/text/ast.h"

/* The `from` of the query; an empty one is put first, if it has none. NULL: no memory. */
cst__statement *cst__query_need_from(cst_query *query);

#endif /* QUERY_QUERY_H */
