/* Promotion and broadcasting: fields for structs above and below their own, or one after the other.
 * Each copy is a change of edit.h. */
#include <columnstone/structured.h>
#include <string.h>

#include "arrow/owned.h"
#include "base/arguments.h"
#include "nested/gather.h"
#include "structured/edit.h"

typedef enum transfer_direction { UP, DOWN, UP_AND_DOWN } transfer_direction;

/* The ways of one copy, from the last struct that the path of the field and that of the structs
 * which get it have in common. */
typedef struct transfer {
  cst_path up;   /* to the field, at least one step */
  cst_path down; /* to the structs */
  size_t lists;  /* levels of lists on the way up that become one */
} transfer;

/* ---- promoting ---- */

static cst_status promote_enter(const cst__assembly *a, cst__slots *at, const char *step) {
  int64_t place;
  CST__TRY(cst__field_find(at->view, step, &place, a->error));
  return cst__slots_enter(at, place, a->arena, a->error);
}

/* Lists that become no longer by what is taken out of their structs: they are shared. */
static cst_status promote_level(const cst__assembly *a, const cst__slots *lists,
                                const cst_path *rest, cst__made *out) {
  cst__slots items = cst__slots_all(&lists->view->children[0]);
  cst__made made;
  for (size_t i = 0; i < rest->count; i++) {
    CST__TRY(promote_enter(a, &items, rest->steps[i]));
  }
  CST__TRY(cst__made_share(a, &items, &made));
  return cst__made_list(a, lists, &made, out);
}

/* Opens the lists on a path, and the first level of those at its end. The splits divide the slots
 * that the walk stands at among the outermost lists. */
static cst_status promote_open(const cst__assembly *a, cst__slots *at, const cst_path *rest,
                               int64_t *splits, int64_t count) {
  for (size_t i = 0; i <= rest->count; i++) {
    bool is_last = i == rest->count;
    while (cst__view_is_list(at->view)) {
      CST__TRY(cst__slots_descend(at, splits, count, a->arena, a->error));
      if (is_last) {
        return CST_OK;
      }
    }
    if (!is_last) {
      CST__TRY(promote_enter(a, at, rest->steps[i]));
    }
  }
  return CST_OK;
}

static cst_status promote_levels(const cst__assembly *a, const cst__slots *lists,
                                 const cst_path *rest, cst__made *out) {
  int64_t count = lists->chosen.count;
  cst__slots at = *lists;
  struct ArrowArray made;
  int64_t *offsets;
  CST__TRY(cst__made_offsets(a, count, &offsets, &made));
  cst_status status = cst__numbers_count(offsets, count + 1, a->error);
  if (status == CST_OK) {
    status = promote_open(a, &at, rest, offsets, count);
  }
  if (status == CST_OK && cst__slots_may_be_null(lists)) {
    status = cst__slots_put_validity(lists, &made, a->error);
  }
  if (status == CST_OK) {
    status = cst__made_share(a, &at, out);
  }
  if (status != CST_OK) {
    cst__array_release(&made);
    return status;
  }
  return cst__made_wrap(a, &made, -1, out);
}

/* The field, once for each of the structs that its way begins at. */
static cst_status promote_make(const cst__assembly *a, const cst__slots *structs, const transfer *t,
                               cst__made *out) {
  cst__slots at = *structs;
  cst_path rest = t->up;
  do {
    CST__TRY(promote_enter(a, &at, rest.steps[0]));
    rest = (cst_path){rest.steps + 1, rest.count - 1};
  } while (rest.count > 0 && !cst__view_is_list(at.view));
  if (t->lists == 0) {
    return cst__made_share(a, &at, out);
  }
  return t->lists == 1 && cst__slots_are_all(&at) ? promote_level(a, &at, &rest, out)
                                                  : promote_levels(a, &at, &rest, out);
}

/* ---- broadcasting ---- */

/* The structs at the end of a path that lie in each of those that it begins at; splits are NULL if
 * they are the same slots. */
static cst_status broadcast_open(const cst__assembly *a, const cst__slots *structs,
                                 const cst_path *down, cst__lists *out) {
  cst__slots at = *structs;
  out->splits = NULL;
  for (size_t i = 0; i < down->count; i++) {
    CST__TRY(promote_enter(a, &at, down->steps[i]));
    while (cst__view_is_list(at.view)) {
      cst__lists lists;
      CST__TRY(cst__slots_open(&at, a->arena, &lists, a->error));
      CST__TRY(out->splits != NULL ? cst__lists_join(out, &lists, a->arena, &lists, a->error)
                                   : CST_OK);
      *out = lists;
    }
  }
  return CST_OK;
}

/* Slots of an array of the owner's, each as often as the splits say. */
static cst_status broadcast_slots(const cst__assembly *a, const cst__owner *owner,
                                  cst__slots *slots, const int64_t *splits,
                                  struct ArrowArray *out) {
  cst__chosen repeated;
  CST__TRY(cst__chosen_repeat(&slots->chosen, splits, a->arena, &repeated, a->error));
  return cst__take(owner, slots->view, &repeated, false, out, a->error);
}

/* What has been made is an array for a moment, to be taken from. */
static cst_status broadcast_made(const cst__assembly *a, const int64_t *splits, cst__made *made) {
  cst_array *array;
  cst__view view;
  CST__TRY(cst__array_result_as(a->owner.allocator, made->schema, &made->array, &array, a->error));
  cst_status status = cst__array_view(array, &view, a->arena, a->error);
  if (status == CST_OK) {
    const cst__owner owner = cst__array_owner(array);
    cst__slots slots = cst__slots_all(&view);
    status = broadcast_slots(a, &owner, &slots, splits, &made->array);
  }
  cst_array_release(array);
  return status;
}

static cst_status transfer_make(const cst__assembly *a, const cst__edit *edit,
                                const cst__edit_place *at, cst__made *out) {
  const transfer *t = edit->source;
  cst__lists lists;
  for (size_t i = 0; i < t->down.count; i++) {
    at = at->above;
  }
  CST__TRY(broadcast_open(a, at->structs, &t->down, &lists));
  if (lists.splits != NULL && t->up.count == 1) {
    cst__slots field = *at->structs;
    CST__TRY(promote_enter(a, &field, t->up.steps[0]));
    out->schema = field.view->schema;
    return broadcast_slots(a, &a->owner, &field, lists.splits, &out->array);
  }
  CST__TRY(promote_make(a, at->structs, t, out));
  return lists.splits != NULL ? broadcast_made(a, lists.splits, out) : CST_OK;
}

/* ---- planning ---- */

static void transfer_add_path(const cst_path *path, size_t count, cst_error *error) {
  while (count-- > 0) {
    cst__error_add_path(error, path->steps[count], strlen(path->steps[count]));
  }
}

static cst_status transfer_plan(const cst_structured *tensor, const cst_field_copy *copy,
                                transfer *t, cst_error *error) {
  const cst_path *from = &copy->from;
  const cst_path *to = &copy->to;
  size_t common = 0;
  if (from->count == 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "an empty path names no field");
  }
  while (common + 1 < from->count && common < to->count &&
         strcmp(from->steps[common], to->steps[common]) == 0) {
    common++;
  }
  t->up = (cst_path){from->steps + common, from->count - common};
  t->down = (cst_path){common > 0 ? to->steps + common : to->steps, to->count - common};
  /* A promotion makes one of all lists after the steps that both have in common. */
  const cst__view *view = cst__structured_elements(tensor);
  t->lists = 0;
  for (size_t i = 0; i < from->count; i++) {
    int64_t place;
    cst_status status = cst__field_find(view, from->steps[i], &place, error);
    if (status != CST_OK) {
      transfer_add_path(from, i, error);
      return status;
    }
    view = &view->children[place];
    bool is_last = i + 1 == from->count;
    if (is_last && t->lists > 0 && cst__view_is_list(view)) {
      t->lists++;
    }
    for (; !is_last && cst__view_is_list(view); view = view->children) {
      t->lists += i >= common;
    }
  }
  return CST_OK;
}

static cst_status transfer_check(const cst_field_copy *copy, const transfer *t,
                                 transfer_direction direction, cst_error *error) {
  const char *what = NULL;
  if (direction == UP && t->down.count > 0) {
    what = "the structs to promote it to are not above it";
  } else if (direction == DOWN && (t->up.count > 1 || t->down.count == 0)) {
    what = "the structs to broadcast it into are not below its own";
  }
  if (what == NULL) {
    return CST_OK;
  }
  cst__fail(error, CST_INVALID_ARGUMENT, NULL, "%s", what);
  transfer_add_path(&copy->from, copy->from.count, error);
  return CST_INVALID_ARGUMENT;
}

/* ---- the whole ---- */

typedef struct transfers {
  cst__arena arena; /* holds the following */
  cst_path *paths;
  cst__edit *edits;
  transfer *ways;
} transfers;

static cst_status transfers_take(transfers *all, size_t count, cst_error *error) {
  size_t size = (count + 1) * (sizeof(cst_path) + sizeof(cst__edit) + sizeof(transfer));
  all->paths = cst__arena_take(&all->arena, size);
  if (all->paths == NULL) {
    return cst__fail_memory(error, size);
  }
  all->edits = (cst__edit *)(void *)(all->paths + count);
  all->ways = (transfer *)(void *)(all->edits + count);
  return CST_OK;
}

/* Plans copy i. */
static cst_status transfers_add(transfers *all, size_t i, const cst_structured *tensor,
                                const cst_field_copy *copy, transfer_direction direction,
                                cst_error *error) {
  transfer *t = &all->ways[i];
  CST__TRY(transfer_plan(tensor, copy, t, error));
  CST__TRY(transfer_check(copy, t, direction, error));
  cst_path *out = &all->paths[i];
  size_t size = (copy->to.count + 1) * sizeof *out->steps;
  const char **steps = cst__arena_take(&all->arena, size);
  if (steps == NULL) {
    return cst__fail_memory(error, size);
  }
  if (copy->to.count > 0) {
    memcpy(steps, copy->to.steps, size - sizeof *steps);
  }
  steps[copy->to.count] = copy->name != NULL ? copy->name : copy->from.steps[copy->from.count - 1];
  *out = (cst_path){steps, copy->to.count + 1};
  all->edits[i] = (cst__edit){.make = transfer_make,
                              .is_new = !copy->replace,
                              .needs_slots = t->down.count > 0 || t->lists > 1,
                              .path = &all->paths[i],
                              .tensor = tensor,
                              .source = t};
  return CST_OK;
}

static cst_status transfer_fields(const cst_structured *tensor, const cst_field_copy *copies,
                                  size_t count, transfer_direction direction, cst_structured **out,
                                  cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  if (copies == NULL && count > 0) {
    return cst__missing("copies", error);
  }
  for (size_t i = 0; i < count; i++) {
    CST__TRY(cst__check_path(&copies[i].from, error));
    CST__TRY(cst__check_path(&copies[i].to, error));
  }
  transfers all = {.paths = NULL};
  cst__arena_init(&all.arena, &tensor->array->allocator);
  cst_status status = transfers_take(&all, count, error);
  for (size_t i = 0; i < count && status == CST_OK; i++) {
    status = transfers_add(&all, i, tensor, &copies[i], direction, error);
  }
  if (status == CST_OK) {
    status = cst__structured_edit(tensor, all.paths, all.edits, count, out, error);
  }
  cst__arena_reset(&all.arena);
  return status;
}

cst_status cst_structured_promote(const cst_structured *tensor, const cst_field_copy *copies,
                                  size_t count, cst_structured **out, cst_error *error) {
  return transfer_fields(tensor, copies, count, UP, out, error);
}

cst_status cst_structured_broadcast(const cst_structured *tensor, const cst_field_copy *copies,
                                    size_t count, cst_structured **out, cst_error *error) {
  return transfer_fields(tensor, copies, count, DOWN, out, error);
}

cst_status cst_structured_promote_and_broadcast(const cst_structured *tensor,
                                                const cst_field_copy *copies, size_t count,
                                                cst_structured **out, cst_error *error) {
  return transfer_fields(tensor, copies, count, UP_AND_DOWN, out, error);
}
