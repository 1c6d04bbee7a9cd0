/* Columns by their path: down through structs, and through lists of them.
 */
#include <columnstone/array.h>

#include "arrow/concat.h"
#include "base/arguments.h"
#include "table/array.h"
#include "table/walk.h"

/* ---- arguments ---- */

cst_status cst__check_path(const cst_path *path, cst_error *error) {
  if (path == NULL || (path->steps == NULL && path->count > 0)) {
    return cst__missing("path", error);
  }
  for (size_t i = 0; i < path->count; i++) {
    if (path->steps[i] == NULL) {
      return cst__missing("path->steps[i]", error);
    }
  }
  return CST_OK;
}

cst_status cst__check_paths(const cst_path *paths, size_t count, cst_error *error) {
  if (paths == NULL && count > 0) {
    return cst__missing("paths", error);
  }
  for (size_t i = 0; i < count; i++) {
    CST__TRY(cst__check_path(&paths[i], error));
  }
  return CST_OK;
}

/* ---- going down ---- */

static cst_status path_take_step(cst__walk *walk, const char *step, cst_error *error) {
  int64_t place;
  while (cst__view_is_list(walk->slots.view)) {
    CST__TRY(cst__walk_open(walk, error));
  }
  if (walk->slots.view->layout != CST__LAYOUT_STRUCT) {
    char type[64];
    cst__view_type_name(walk->slots.view, type, sizeof type);
    cst__fail(error, CST_SCHEMA, NULL, "there are no fields below a column of type %s", type);
    cst__error_add_path(error, step, strlen(step));
    return CST_SCHEMA;
  }
  CST__TRY(cst__find_columns(&step, 1, walk->slots.view->schema, &place, error));
  return cst__slots_enter(&walk->slots, place, &walk->arena, error);
}

cst_status cst__walk_path(cst__walk *walk, const cst_path *path, cst_error *error) {
  for (size_t i = 0; i < path->count; i++) {
    cst_status status = path_take_step(walk, path->steps[i], error);
    if (status != CST_OK) {
      for (size_t above = i; above-- > 0;) {
        cst__error_add_path(error, path->steps[above], strlen(path->steps[above]));
      }
      return status;
    }
  }
  return CST_OK;
}

cst_status cst_array_column(const cst_array *array, const cst_path *path, cst_array **out,
                            cst_array **rows, cst_error *error) {
  CST__CLEAR(out);
  CST__CLEAR(rows);
  CST__TRY(cst__check_given(array, "array", out, error));
  CST__TRY(cst__check_path(path, error));
  if (path->count == 0) {
    return cst__missing("path->steps", error);
  }
  cst__walk walk;
  CST__TRY(cst__walk_begin(&walk, array, rows != NULL, error));
  cst_status status = cst__walk_path(&walk, path, error);
  if (status == CST_OK) {
    status = cst__walk_finish(&walk, out, rows, error);
  }
  cst__walk_end(&walk);
  return status;
}

cst_status cst_array_child(const cst_array *array, int64_t i, cst_array **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(array, "array", out, error));
  if (i < 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "column %lld", (long long)i);
  }
  cst__walk walk;
  CST__TRY(cst__walk_begin(&walk, array, false, error));
  cst_status status =
      walk.view.layout == CST__LAYOUT_STRUCT ? CST_OK : cst__fail_type(&walk.view, "struct", error);
  if (status == CST_OK && i >= walk.view.num_children) {
    status = cst__fail(error, CST_INVALID_ARGUMENT, NULL, "column %lld of %lld", (long long)i,
                       (long long)walk.view.num_children);
  }
  if (status == CST_OK) {
    status = cst__slots_enter(&walk.slots, i, &walk.arena, error);
  }
  if (status == CST_OK) {
    status = cst__walk_finish(&walk, out, NULL, error);
  }
  cst__walk_end(&walk);
  return status;
}
