/* Wanted columns: paths as a tree of steps. */
#include "arrow/records/wanted.h"

#include <string.h>

#include "base/hash.h"

/* The size of the step that a path begins with: up to a dot outside of parentheses. */
static size_t path_step_size(const char *path) {
  size_t size = 0;
  bool inside = false;
  for (; path[size] != '\0' && (inside || path[size] != '.'); size++) {
    inside = path[size] == '(' || (inside && path[size] != ')');
  }
  return size;
}

/* The tree while it is made. */
typedef struct wanted_maker {
  cst__arena *arena;
  cst__name_map steps; /* by the step above; the values are pointers to cst__wanted */
  cst_error *error;
} wanted_maker;

static cst__wanted *find_wanted(const wanted_maker *m, const cst__wanted *above, const char *name,
                                size_t size) {
  size_t found = cst__name_map_find_of(&m->steps, above, name, size);
  return found != SIZE_MAX ? (cst__wanted *)(uintptr_t)found : NULL;
}

static cst__wanted *add_wanted(wanted_maker *m, cst__wanted *above, const char *name, size_t size) {
  cst__wanted *step = cst__arena_take_zero(m->arena, sizeof *step);
  char *copy = cst__arena_copy(m->arena, name, size);
  if (step == NULL || copy == NULL ||
      !cst__name_map_add_of(&m->steps, above, copy, size, (size_t)(uintptr_t)step)) {
    return NULL;
  }
  step->name = copy;
  if (above->last != NULL) {
    above->last->next = step;
  } else {
    above->first = step;
  }
  above->last = step;
  above->num_below++;
  return step;
}

static cst_status add_wanted_path(wanted_maker *m, cst__wanted *top, const char *path) {
  cst__wanted *at = top;
  bool is_new = false;
  for (const char *rest = path;; rest++) {
    size_t size = path_step_size(rest);
    if (size == 0) {
      cst_status status =
          cst__fail(m->error, CST_INVALID_ARGUMENT, "separate the steps by single dots",
                    "the column path has an empty step");
      cst__error_add_path(m->error, path, strlen(path));
      return status;
    }
    cst__wanted *step = find_wanted(m, at, rest, size);
    if (step != NULL && step->num_below == 0) {
      is_new = false; /* all of it is wanted already */
      break;
    }
    is_new = step == NULL;
    step = is_new ? add_wanted(m, at, rest, size) : step;
    if (step == NULL) {
      return cst__fail_memory(m->error, size);
    }
    at = step;
    rest += size;
    if (*rest == '\0') {
      break;
    }
  }
  if (!is_new) {
    cst_status status = cst__fail(m->error, CST_INVALID_ARGUMENT, "name only the shorter path",
                                  "this path overlaps with an earlier one");
    cst__error_add_path(m->error, path, strlen(path));
    return status;
  }
  return CST_OK;
}

cst_status cst__wanted_parse(const char *const *columns, size_t count, cst__arena *arena,
                             cst__wanted *out, cst_error *error) {
  *out = (cst__wanted){.name = "", .is_nothing = columns != NULL && count == 0};
  wanted_maker m = {.arena = arena, .error = error};
  cst_status status = CST_OK;
  for (size_t i = 0; columns != NULL && i < count && status == CST_OK; i++) {
    status = add_wanted_path(&m, out, columns[i]);
  }
  cst__name_map_reset(&m.steps);
  return status;
}
