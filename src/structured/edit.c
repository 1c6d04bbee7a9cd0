/* The walk to the structs whose fields change: lists are opened where a change has to know their
 * items, structs are made anew, and all beside the way is shared. */
#include "structured/edit.h"

#include <string.h>

#include "base/arguments.h"

typedef struct editing {
  cst__assembly assembly;
  const cst__edit *edits;
} editing;

/* What the walk stands at: lists or structs, and the changes below. */
typedef struct edit_step {
  const cst__path_set *set;
  const cst__edit_place *above;
} edit_step;

static cst_status edit_node(const editing *e, const cst__slots *at, const edit_step *step,
                            cst__made *out);

/* ---- lists ---- */

static bool edit_needs_slots(const editing *e, const cst__path_set *set) {
  for (size_t i = 0; i < set->count; i++) {
    if (e->edits[set->members[i]].needs_slots) {
      return true;
    }
  }
  return false;
}

/* True if the lists can keep their offsets when their child is cut to these items. */
static bool edit_fits(const cst__slots *lists, const cst__slots *items) {
  const cst__view *view = lists->view;
  int64_t total = items->chosen.count;
  if (!cst__slots_are_all(lists) || !cst__chosen_is_run(&items->chosen) ||
      items->chosen.begin > 0) {
    return false;
  }
  switch (view->layout) {
    case CST__LAYOUT_LIST:
      return view->length == 0 || total == cst__view_entry(view->offsets, view->offset_width,
                                                           view->offset + view->length);
    case CST__LAYOUT_FIXED_LIST:
      return total == (view->offset + view->length) * view->fixed_size;
    default:
      return total == view->children[0].length;
  }
}

/* The items that the lists reach; *splits is NULL if the lists can stay as they are. */
static cst_status edit_open(const cst__assembly *a, const cst__slots *lists, cst__slots *items,
                            const int64_t **splits) {
  cst__lists opened;
  *splits = NULL;
  *items = *lists;
  CST__TRY(cst__slots_open(items, a->arena, NULL, a->error));
  if (edit_fits(lists, items)) {
    return CST_OK;
  }
  *items = *lists;
  CST__TRY(cst__slots_open(items, a->arena, &opened, a->error));
  *splits = opened.splits;
  return CST_OK;
}

/* The lists, with items that are taken over. */
static cst_status edit_close(const cst__assembly *a, const cst__slots *lists, const int64_t *splits,
                             cst__made *items, cst__made *out) {
  cst__slots bare = *lists; /* what is null above, hides these in the result as well */
  bare.mask = NULL;
  return splits == NULL ? cst__made_list(a, &bare, items, out)
                        : cst__made_new_list(a, &bare, splits, items, out);
}

static cst_status edit_lists(const editing *e, const cst__slots *lists, const edit_step *step,
                             cst__made *out) {
  const cst__assembly *a = &e->assembly;
  cst__slots items = cst__slots_all(&lists->view->children[0]);
  cst__made made;
  const int64_t *splits = NULL;
  if (edit_needs_slots(e, step->set) || !cst__slots_are_all(lists)) {
    CST__TRY(edit_open(a, lists, &items, &splits));
  }
  CST__TRY(edit_node(e, &items, step, &made));
  return edit_close(a, lists, splits, &made, out);
}

/* ---- structs ---- */

static cst_status edit_fail(const editing *e, const cst__branch *branch, const char *what) {
  cst__fail(e->assembly.error, CST_INVALID_ARGUMENT, NULL, "%s", what);
  cst__error_add_path(e->assembly.error, branch->step, strlen(branch->step));
  return CST_INVALID_ARGUMENT;
}

static cst_status edit_check(const editing *e, const cst__slots *structs,
                             const cst__branch *branch) {
  const cst__edit *edit = branch->end != NULL ? &e->edits[*branch->end] : NULL;
  if (edit != NULL && branch->below.count > 1) {
    /* A field that goes may go twice, and what lies in it with it. */
    const cst__path_set *set = &branch->below;
    for (size_t i = 0; i < set->count; i++) {
      if (e->edits[set->members[i]].make != NULL) {
        return edit_fail(e, branch,
                         "it is changed twice, or together with a field that lies in it");
      }
      CST__TRY(cst__field_check(structs->view, &set->paths[set->members[i]], set->depth - 1,
                                e->assembly.error));
    }
  }
  if (branch->place < 0 && (edit == NULL || edit->make == NULL)) {
    return cst__fail_field(structs->view->schema, branch->step, e->assembly.error);
  }
  if (branch->place >= 0 && edit != NULL && edit->is_new) {
    edit_fail(e, branch, "the field already exists");
    cst__error_set_hint(e->assembly.error, "replace it explicitly, or choose another name");
    return CST_INVALID_ARGUMENT;
  }
  return CST_OK;
}

/* The field at a place of the struct; `branch` is NULL if nothing changes there. */
static cst_status edit_old_field(const editing *e, const cst__edit_place *at, int64_t place,
                                 const cst__branch *branch, cst__made *out) {
  cst__slots field = *at->structs;
  if (branch != NULL) {
    const edit_step step = {&branch->below, at};
    CST__TRY(cst__slots_enter(&field, place, e->assembly.arena, e->assembly.error));
    return edit_node(e, &field, &step, out);
  }
  field.mask = NULL;
  field.view = &at->structs->view->children[place];
  return cst__made_share(&e->assembly, &field, out);
}

static cst_status edit_field(const editing *e, const cst__edit_place *at, const cst__branch *branch,
                             cst__made *out) {
  cst_status status;
  if (branch->end == NULL) {
    status = edit_old_field(e, at, branch->place, branch, out);
  } else {
    const cst__edit *edit = &e->edits[*branch->end];
    status = edit->make(&e->assembly, edit, at, out);
    if (status == CST_OK) {
      status = cst__made_name(&e->assembly, branch->step, out);
      if (status != CST_OK) {
        cst__made_release(out);
      }
    }
  }
  if (status != CST_OK) {
    cst__error_add_path(e->assembly.error, branch->step, strlen(branch->step));
  }
  return status;
}

/* Makes the fields in their order; *count is how many there are, on failure too. */
static cst_status edit_fields(const editing *e, const cst__edit_place *at,
                              const cst__branches *branches, cst__made *fields, size_t *count) {
  const int64_t num_fields = at->structs->view->schema->n_children;
  size_t size = ((size_t)num_fields + 1) * sizeof(cst__branch *);
  const cst__branch **of_place = cst__arena_take_zero(e->assembly.arena, size);
  if (of_place == NULL) {
    return cst__fail_memory(e->assembly.error, size);
  }
  for (size_t i = 0; i < branches->count; i++) {
    CST__TRY(edit_check(e, at->structs, &branches->items[i]));
    if (branches->items[i].place >= 0) {
      of_place[branches->items[i].place] = &branches->items[i];
    }
  }
  for (int64_t i = 0; i < num_fields; i++) {
    const cst__branch *branch = of_place[i];
    if (branch == NULL) {
      CST__TRY(edit_old_field(e, at, i, NULL, &fields[(*count)]));
    } else if (branch->end != NULL && e->edits[*branch->end].make == NULL) {
      continue;
    } else {
      CST__TRY(edit_field(e, at, branch, &fields[*count]));
    }
    (*count)++;
  }
  for (size_t i = 0; i < branches->count; i++) {
    if (branches->items[i].place < 0) {
      CST__TRY(edit_field(e, at, &branches->items[i], &fields[*count]));
      (*count)++;
    }
  }
  return CST_OK;
}

static cst_status edit_structs(const editing *e, const cst__slots *structs, const edit_step *step,
                               cst__made *out) {
  const cst__assembly *a = &e->assembly;
  const cst__path_set *set = step->set;
  const cst__edit_place at = {structs, step->above};
  cst__branches branches;
  cst__slots bare = *structs;
  bare.mask = NULL;
  if (structs->view->layout != CST__LAYOUT_STRUCT) {
    return cst__fail_step(structs->view, set->paths[set->members[0]].steps[set->depth], a->error);
  }
  CST__TRY(cst__branches_make(set, structs->view->schema, a->arena, &branches, a->error));
  size_t size =
      ((size_t)structs->view->schema->n_children + branches.count + 1) * sizeof(cst__made);
  cst__made *fields = cst__arena_take(a->arena, size);
  size_t count = 0;
  if (fields == NULL) {
    return cst__fail_memory(a->error, size);
  }
  cst_status status = edit_fields(e, &at, &branches, fields, &count);
  if (status != CST_OK) {
    cst__made_release_all(fields, count);
    return status;
  }
  return cst__made_struct(a, &bare, fields, count, out);
}

static cst_status edit_node(const editing *e, const cst__slots *at, const edit_step *step,
                            cst__made *out) {
  return cst__view_is_list(at->view) ? edit_lists(e, at, step, out)
                                     : edit_structs(e, at, step, out);
}

/* ---- the whole ---- */

cst_status cst__structured_edit(const cst_structured *tensor, const cst_path *paths,
                                const cst__edit *edits, size_t count, cst_structured **out,
                                cst_error *error) {
  const cst__slots all = cst__slots_all(&tensor->view);
  cst__arena arena;
  cst__path_set set;
  cst__made made;
  if (count == 0) {
    *out = cst_structured_retain(tensor);
    return CST_OK;
  }
  if (!tensor->is_struct) {
    return cst__fail_leaf(tensor, error);
  }
  for (size_t i = 0; i < count; i++) {
    if (paths[i].count == 0) {
      return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "an empty path names no field");
    }
  }
  cst__arena_init(&arena, &tensor->array->allocator);
  const editing e = {{cst__array_owner(tensor->array), &arena, error}, edits};
  const edit_step top = {&set, NULL};
  cst_status status = cst__path_set_make(paths, count, &arena, &set, error);
  if (status == CST_OK) {
    status = edit_node(&e, &all, &top, &made);
  }
  if (status == CST_OK) {
    status = cst__made_tensor(&e.assembly, &made, tensor->is_row, out);
  }
  cst__arena_reset(&arena);
  return status;
}

/* ---- elements ---- */

/* how: a cst_array. */
static cst_status elements_of(const cst__assembly *a, cst__slots *at, const void *how,
                              cst__made *out) {
  const cst_array *elements = how;
  cst__slots items;
  cst__made made;
  const int64_t *splits;
  if (cst__view_is_list(at->view)) {
    CST__TRY(edit_open(a, at, &items, &splits));
    CST__TRY(elements_of(a, &items, elements, &made));
    return edit_close(a, at, splits, &made, out);
  }
  if (elements->array.length != at->chosen.count) {
    return cst__fail(a->error, CST_INVALID_ARGUMENT, NULL, "%lld elements for %lld places",
                     (long long)elements->array.length, (long long)at->chosen.count);
  }
  return cst__made_array(a, elements, out);
}

cst_status cst_structured_with_elements(const cst_structured *tensor, const cst_array *elements,
                                        cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  if (elements == NULL) {
    return cst__missing("elements", error);
  }
  return cst__made_of(tensor, elements_of, elements, out, error);
}
