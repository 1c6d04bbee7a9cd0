/* What decides about the rows of a view: the statements that its `rows` is made of. */
#include "query/view/view_rows.h"

#include <string.h>

#include "base/arguments.h"
#include "query/plan/steps.h"

bool cst__query_view_has_row_name(const cst__name_map *names, const char *name) {
  return cst__name_map_find(names, name, strlen(name)) != SIZE_MAX;
}

static bool add_row_name(cst__name_map *names, const char *name) {
  return cst__query_view_has_row_name(names, name) ||
         cst__name_map_add(names, name, strlen(name), 0);
}

static bool add_row_names(cst__name_map *names, const cst__expr *expr) {
  if (expr == NULL) {
    return true;
  }
  bool added = (expr->kind != CST__EXPR_NAME && expr->kind != CST__EXPR_STEP) ||
               add_row_name(names, expr->name);
  for (size_t i = 0; added && i < expr->num_args; i++) {
    added = add_row_names(names, expr->args[i]);
  }
  return added;
}

size_t cst__query_view_count_row_statements(const cst_view *view) {
  size_t count = view->query->num_statements;
  while (count > 0 && view->query->statements[count - 1].kind != CST__STATEMENT_ROWS) {
    count--;
  }
  return count;
}

bool cst__query_view_makes_rows(const cst__name_map *names, const cst__statement *statement) {
  switch (statement->kind) {
    case CST__STATEMENT_ROWS:
      return true;
    case CST__STATEMENT_LET:
      return cst__query_view_has_row_name(names, statement->path->name);
    case CST__STATEMENT_RENAME:
      return cst__query_view_has_row_name(names, statement->name);
    default:
      return false;
  }
}

/* Upwards, as each name is made above what uses it. */
bool cst__query_view_find_row_names(const cst_view *view, cst__name_map *names) {
  bool found = true;
  for (size_t i = cst__query_view_count_row_statements(view); found && i-- > 0;) {
    const cst__statement *statement = &view->query->statements[i];
    if (cst__query_view_makes_rows(names, statement)) {
      found = add_row_names(names, statement->path) && add_row_names(names, statement->value);
    }
  }
  return found;
}

/* True if the rows are made of a parameter that says yes or no. */
static bool have_switch(const cst_view *view, const cst__name_map *names) {
  for (size_t i = 0; i < view->query->num_statements; i++) {
    const cst__statement *statement = &view->query->statements[i];
    if (statement->kind == CST__STATEMENT_PARAM && strcmp(statement->type->name, "bool") == 0 &&
        cst__query_view_has_row_name(names, statement->name)) {
      return true;
    }
  }
  return false;
}

cst_status cst_view_row_paths(const cst_view *view, const char *const **paths, size_t *count,
                              cst_error *error) {
  CST__CLEAR(paths);
  CST__CLEAR(count);
  if (view == NULL || paths == NULL || count == NULL) {
    return cst__missing(view == NULL ? "view" : paths == NULL ? "paths" : "count", error);
  }
  cst__name_map names = {0};
  bool found = cst__query_view_find_row_names(view, &names);
  bool is_switched = found && have_switch(view, &names);
  cst__name_map_reset(&names);
  if (!found) {
    return cst__fail_memory(error, sizeof names);
  }
  *paths = view->plan->of_rows.items; /* what the filters read of which the rows are made */
  *count = is_switched ? 0 : view->plan->of_rows.count;
  return CST_OK;
}
