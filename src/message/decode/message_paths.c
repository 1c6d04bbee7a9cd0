/* Wanted columns: paths of messages as a tree of steps. */
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "message/decode/message_plan.h"

/* The size of the step that a path begins with: up to a dot outside of parentheses. */
static size_t path_step_size(const char *path) {
  size_t size = 0;
  bool inside = false;
  for (; path[size] != '\0' && (inside || path[size] != '.'); size++) {
    inside = path[size] == '(' || (inside && path[size] != ')');
  }
  return size;
}

static cst__wanted *find_wanted(const cst__wanted *above, const char *name, size_t size) {
  for (cst__wanted *step = above->first; step != NULL; step = step->next) {
    if (strlen(step->name) == size && memcmp(step->name, name, size) == 0) {
      return step;
    }
  }
  return NULL;
}

static cst__wanted *add_wanted(cst__wanted *above, const char *name, size_t size,
                               cst__arena *arena) {
  cst__wanted *step = cst__arena_take_zero(arena, sizeof *step);
  char *copy = cst__arena_copy(arena, name, size);
  if (step == NULL || copy == NULL) {
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

static cst_status add_wanted_path(cst__wanted *top, const char *path, cst__arena *arena,
                                  cst_error *error) {
  cst__wanted *at = top;
  bool is_new = false;
  for (const char *rest = path;; rest++) {
    size_t size = path_step_size(rest);
    if (size == 0) {
      cst_status status = cst__fail(error, CST_INVALID_ARGUMENT, "steps are divided by one dot",
                                    "a path of a column has an empty step");
      cst__error_add_path(error, path, strlen(path));
      return status;
    }
    cst__wanted *step = find_wanted(at, rest, size);
    if (step != NULL && step->num_below == 0) {
      is_new = false; /* all of it is wanted already */
      break;
    }
    is_new = step == NULL;
    step = is_new ? add_wanted(at, rest, size, arena) : step;
    if (step == NULL) {
      return cst__fail_memory(error, size);
    }
    at = step;
    rest += size;
    if (*rest == '\0') {
      break;
    }
  }
  if (!is_new) {
    cst_status status =
        cst__fail(error, CST_INVALID_ARGUMENT, "name the shorter path alone",
                  "a column is wanted twice: by this path, and by one before it that is the same, "
                  "or begins or goes on as this one does");
    cst__error_add_path(error, path, strlen(path));
    return status;
  }
  return CST_OK;
}

cst_status cst__wanted_parse(const char *const *columns, size_t count, cst__arena *arena,
                             cst__wanted *out, cst_error *error) {
  *out = (cst__wanted){.name = "", .is_nothing = columns != NULL && count == 0};
  for (size_t i = 0; columns != NULL && i < count; i++) {
    CST__TRY(add_wanted_path(out, columns[i], arena, error));
  }
  return CST_OK;
}

static const char *nth_field_name(const void *fields, size_t i) {
  return ((const cst__field_def *)fields)[i].name;
}

cst_status cst__wanted_fail(const cst__wanted *wanted, const cst__message_def *def,
                            cst_error *error) {
  const cst__wanted *step = wanted->first;
  while (step->is_used) {
    step = step->next;
  }
  char what[128];
  snprintf(what, sizeof what, "the message %.60s has no field of this name", def->full_name);
  const cst__name_list names = {def->fields, def->num_fields, nth_field_name};
  return cst__fail_unknown(error, CST_NOT_FOUND, what, step->name, &names);
}
