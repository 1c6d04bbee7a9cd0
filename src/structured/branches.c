/* Sorting paths by their next steps. */
#include "structured/branches.h"

#include <string.h>

#include "base/names.h"

static const char *branch_field_name(const void *structs, size_t i) {
  const char *name = ((const struct ArrowSchema *)structs)->children[i]->name;
  return name != NULL ? name : "";
}

cst_status cst__fail_field(const struct ArrowSchema *structs, const char *step, cst_error *error) {
  cst__name_list names = {structs, (size_t)structs->n_children, branch_field_name};
  return cst__fail_unknown(error, CST_NOT_FOUND, "there is no such field", step, &names);
}

static cst_status branch_fail_twice(const char *step, cst_error *error) {
  cst__fail(error, CST_INVALID_ARGUMENT, NULL, "two fields have this name");
  cst__error_add_path(error, step, strlen(step));
  return CST_INVALID_ARGUMENT;
}

cst_status cst__field_find(const cst__view *structs, const char *name, int64_t *place,
                           cst_error *error) {
  if (structs->layout != CST__LAYOUT_STRUCT) {
    return cst__fail_step(structs, name, error);
  }
  *place = -1;
  for (int64_t i = 0; i < structs->schema->n_children; i++) {
    if (strcmp(branch_field_name(structs->schema, (size_t)i), name) == 0) {
      if (*place >= 0) {
        return branch_fail_twice(name, error);
      }
      *place = i;
    }
  }
  return *place >= 0 ? CST_OK : cst__fail_field(structs->schema, name, error);
}

cst_status cst__field_check(const cst__view *structs, const cst_path *path, size_t depth,
                            cst_error *error) {
  const cst__view *view = structs;
  for (size_t i = depth; i < path->count; i++) {
    int64_t place;
    cst_status status = cst__field_find(view, path->steps[i], &place, error);
    if (status != CST_OK) {
      while (i-- > depth) {
        cst__error_add_path(error, path->steps[i], strlen(path->steps[i]));
      }
      return status;
    }
    view = &view->children[place];
    while (cst__view_is_list(view)) {
      view = view->children;
    }
  }
  return CST_OK;
}

cst_status cst__fail_step(const cst__view *view, const char *step, cst_error *error) {
  char type[64];
  cst__view_type_name(view, type, sizeof type);
  cst__fail(error, CST_SCHEMA, NULL, "there are no fields below values of type %s", type);
  cst__error_add_path(error, step, strlen(step));
  return CST_SCHEMA;
}

cst_status cst__fail_leaf(const cst_structured *tensor, cst_error *error) {
  char type[64];
  cst__view_type_name(cst__structured_elements(tensor), type, sizeof type);
  return cst__fail(error, CST_SCHEMA, NULL, "a leaf tensor, of type %s, has no fields", type);
}

/* ---- sorting ---- */

cst_status cst__path_set_make(const cst_path *paths, size_t count, cst__arena *arena,
                              cst__path_set *out, cst_error *error) {
  size_t *members = cst__arena_take(arena, (count + 1) * sizeof *members);
  if (members == NULL) {
    return cst__fail_memory(error, count * sizeof *members);
  }
  for (size_t i = 0; i < count; i++) {
    members[i] = i;
  }
  *out = (cst__path_set){.paths = paths, .members = members, .count = count};
  return CST_OK;
}

typedef struct sorting_steps {
  const cst__path_set *set;
  cst__branches *out;
  cst__name_map map;
  size_t *branch_of; /* of each member */
  size_t *members;   /* those of the first branch, then those of the next, ... */
} sorting_steps;

static cst_status branches_note_steps(sorting_steps *s, cst_error *error) {
  for (size_t i = 0; i < s->set->count; i++) {
    const cst_path *path = &s->set->paths[s->set->members[i]];
    const char *step = path->steps[s->set->depth];
    size_t at = cst__name_map_find(&s->map, step, strlen(step));
    if (at == SIZE_MAX) {
      at = s->out->count++;
      s->out->items[at] = (cst__branch){.step = step, .place = -1};
      if (!cst__name_map_add(&s->map, step, strlen(step), at)) {
        return cst__fail_memory(error, strlen(step));
      }
    }
    s->branch_of[i] = at;
    s->out->items[at].below.count++;
  }
  return CST_OK;
}

static cst_status branches_find_places(sorting_steps *s, const struct ArrowSchema *structs,
                                       cst_error *error) {
  for (int64_t i = 0; i < structs->n_children; i++) {
    const char *name = branch_field_name(structs, (size_t)i);
    size_t at = cst__name_map_find(&s->map, name, strlen(name));
    if (at != SIZE_MAX && s->out->items[at].place >= 0) {
      return branch_fail_twice(name, error);
    }
    if (at != SIZE_MAX) {
      s->out->items[at].place = i;
    }
  }
  return CST_OK;
}

static void branches_fill(sorting_steps *s) {
  size_t *at = s->members;
  for (size_t i = 0; i < s->out->count; i++) {
    cst__branch *branch = &s->out->items[i];
    branch->below.paths = s->set->paths;
    branch->below.members = at;
    branch->below.depth = s->set->depth + 1;
    at += branch->below.count;
    branch->below.count = 0;
  }
  for (size_t i = 0; i < s->set->count; i++) {
    cst__branch *branch = &s->out->items[s->branch_of[i]];
    size_t *to = (size_t *)(uintptr_t)branch->below.members + branch->below.count++;
    *to = s->set->members[i];
    if (branch->end == NULL && s->set->paths[*to].count == s->set->depth + 1) {
      branch->end = to;
    }
  }
}

cst_status cst__branches_make(const cst__path_set *set, const struct ArrowSchema *structs,
                              cst__arena *arena, cst__branches *out, cst_error *error) {
  sorting_steps s = {.set = set, .out = out};
  *out = (cst__branches){NULL, 0};
  size_t size = (set->count + 1) * (sizeof(cst__branch) + 2 * sizeof(size_t));
  out->items = cst__arena_take_zero(arena, size);
  if (out->items == NULL) {
    return cst__fail_memory(error, size);
  }
  s.branch_of = (size_t *)(void *)(out->items + set->count);
  s.members = s.branch_of + set->count;
  cst_status status = branches_note_steps(&s, error);
  if (status == CST_OK) {
    status = branches_find_places(&s, structs, error);
  }
  if (status == CST_OK) {
    branches_fill(&s);
  }
  cst__name_map_reset(&s.map);
  return status;
}
