/* Queries as handles: their statements, which are added as text or part by part. The functions of
 * <columnstone/query.h> without the checks of arguments.
 */
#ifndef QUERY_QUERY_H
#define QUERY_QUERY_H

#include "query/text/ast.h"

cst_status cst__query_new(const cst_allocator *allocator, cst_query **out, cst_error *error);
cst_status cst__query_copy(const cst_query *query, cst_query **out, cst_error *error);
void cst__query_free(cst_query *query); /* NULL is allowed */

cst_status cst__query_add(cst_query *query, cst_bytes text, cst_error *error);
cst_status cst__query_from_message(cst_query *query, const char *message, cst_error *error);
cst_status cst__query_param(cst_query *query, const char *name, const char *type, const char *value,
                            cst_error *error);
cst_status cst__query_let(cst_query *query, const char *path, const char *expression,
                          cst_error *error);
cst_status cst__query_rows(cst_query *query, const char *path, cst_error *error);
cst_status cst__query_keep(cst_query *query, const char *const *patterns, size_t count, int depth,
                           cst_error *error);
cst_status cst__query_drop(cst_query *query, const char *const *patterns, size_t count,
                           cst_error *error);
cst_status cst__query_rename(cst_query *query, const char *path, const char *name,
                             cst_error *error);
cst_status cst__query_add_output(cst_query *query, const char *name, const char *expression,
                                 cst_error *error);

/* The `from` of the query; an empty one is put first, if it has none. NULL: no memory. */
cst__statement *cst__query_need_from(cst_query *query);

/* In its usual spelling; CST_LIMIT if that is longer than what is read again. */
cst_status cst__query_write_text(const cst_query *query, char **text, size_t *size,
                                 cst_error *error);

/* Takes the function over only on success. */
cst_status cst__query_add_function(cst_query *query, const cst_query_function *function,
                                   cst_error *error);

#endif /* QUERY_QUERY_H */
