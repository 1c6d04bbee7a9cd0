/* What a view promises, as a tree of its saved form (view_file.h): for the file, for people, and
 * for the comparison of two.
 */
#ifndef QUERY_VIEW_VIEW_CONTENT_H
#define QUERY_VIEW_VIEW_CONTENT_H

#include "query/view/query_view.h"
#include "query/view/view_file.h"

/* Puts the outputs and the source paths of a view into the tree. False: no memory. */
bool cst__query_view_put_outputs(const cst_view *view, cst__arena *arena, cst__message *content);

/* A type, in an open field of types of a message. */
bool cst__query_view_put_type(const struct ArrowSchema *type, cst__arena *arena, cst__message *to,
                              int32_t number);
/* The way back. CST_CORRUPT for what is no type, or no struct. */
cst_status cst__query_view_read_type(const cst__message *from, cst__arena *arena,
                                     struct ArrowSchema *out, cst_error *error);

/* A type in words: "large_list<struct<id: int64, name: large_string>>". */
void cst__query_view_print_type(const struct ArrowSchema *type, cst__text *out);

/* A parameter of a query, and the value that it has in a view: that which was given, or its
 * default; "" for none. */
typedef struct cst__query_view_param {
  const char *name;
  char *type; /* cst_free */
  char *value;
} cst__query_view_param;

/* The i-th parameter of the query; *found: there is one. */
cst_status cst__query_view_param_at(const cst_view *view, size_t i, bool *found,
                                    cst__query_view_param *out, cst_error *error);
void cst__query_view_param_reset(cst__query_view_param *param);

#endif /* QUERY_VIEW_VIEW_CONTENT_H */
