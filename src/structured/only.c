/* Projection that keeps the structs: the fields at some paths and no others. */
#include <columnstone/structured.h>

#include "base/arguments.h"
#include "structured/branches.h"
#include "structured/made.h"

static cst_status only_node(const cst__assembly *a, cst__slots *at, const void *how,
                            cst__made *out);

static cst_status only_branch(const cst__assembly *a, const cst__slots *structs,
                              const cst__branch *branch, cst__made *out) {
  cst__slots field = *structs;
  if (branch->place < 0) {
    return cst__fail_field(structs->view->schema, branch->step, a->error);
  }
  field.view = &structs->view->children[branch->place];
  if (branch->end != NULL) {
    /* Of a field that is kept whole, what lies in it may be named as well: if it is there. */
    for (size_t i = 0; i < branch->below.count; i++) {
      CST__TRY(cst__field_check(structs->view, &branch->below.paths[branch->below.members[i]],
                                branch->below.depth - 1, a->error));
    }
    return cst__made_share(a, &field, out);
  }
  cst_status status = only_node(a, &field, &branch->below, out);
  if (status != CST_OK) {
    cst__error_add_path(a->error, branch->step, strlen(branch->step));
  }
  return status;
}

static cst_status only_of_structs(const cst__assembly *a, const cst__slots *structs,
                                  const cst__path_set *set, cst__made *out) {
  cst__branches branches;
  if (structs->view->layout != CST__LAYOUT_STRUCT) {
    return cst__fail_step(structs->view, set->paths[set->members[0]].steps[set->depth], a->error);
  }
  CST__TRY(cst__branches_make(set, structs->view->schema, a->arena, &branches, a->error));
  size_t size = branches.count * sizeof(cst__made);
  cst__made *fields = cst__arena_take(a->arena, size);
  if (fields == NULL) {
    return cst__fail_memory(a->error, size);
  }
  for (size_t i = 0; i < branches.count; i++) {
    cst_status status = only_branch(a, structs, &branches.items[i], &fields[i]);
    if (status != CST_OK) {
      cst__made_release_all(fields, i);
      return status;
    }
  }
  return cst__made_struct(a, structs, fields, branches.count, out);
}

/* how: a cst__path_set. */
static cst_status only_node(const cst__assembly *a, cst__slots *at, const void *how,
                            cst__made *out) {
  return cst__view_is_list(at->view) ? cst__made_lists(a, at, only_node, how, out)
                                     : only_of_structs(a, at, how, out);
}

cst_status cst_structured_only(const cst_structured *tensor, const cst_path *paths, size_t count,
                               cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  CST__TRY(cst__check_paths(paths, count, error));
  cst__arena arena;
  cst__path_set set;
  bool is_whole = false;
  for (size_t i = 0; i < count; i++) {
    is_whole |= paths[i].count == 0;
  }
  for (size_t i = 0; i < count && is_whole; i++) {
    CST__TRY(cst__field_check(cst__structured_elements(tensor), &paths[i], 0, error));
  }
  if (is_whole) {
    *out = cst_structured_retain(tensor);
    return CST_OK;
  }
  if (!tensor->is_struct) {
    return cst__fail_leaf(tensor, error);
  }
  cst__arena_init(&arena, &tensor->array->allocator);
  cst_status status = cst__path_set_make(paths, count, &arena, &set, error);
  if (status == CST_OK) {
    status = cst__made_of(tensor, only_node, &set, out, error);
  }
  cst__arena_reset(&arena);
  return status;
}
