/* Updates: fields whose values somebody gives. Their dimensions are compared with those of the
 * structs, and each is a change of edit.h. */
#include <columnstone/structured.h>
#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "nested/gather.h"
#include "structured/edit.h"

/* ---- dimensions, side by side ---- */

/* A tensor of which some dimensions are open. */
typedef struct opened {
  cst__slots slots;
  bool has_rows; /* the next dimension is that of the rows of a whole array */
} opened;

/* A dimension of the structs: the tensor before it was opened, and the dimension above. */
typedef struct dimension {
  opened lists;
  const struct dimension *above;
} dimension;

typedef struct comparing {
  opened own;
  opened given;
  const dimension *last; /* innermost so far */
  const cst__assembly *a;
} comparing;

static opened opened_init(const cst_structured *tensor) {
  return (opened){cst__slots_all(&tensor->view), !tensor->is_row};
}

static cst_status opened_next(opened *o, const cst__assembly *a, cst__lists *lists) {
  if (!o->has_rows) {
    return cst__slots_open(&o->slots, a->arena, lists, a->error);
  }
  o->has_rows = false;
  return cst__lists_one(o->slots.chosen.count, a->arena, lists, a->error);
}

static bool opened_is_all(const opened *o) {
  return !o->has_rows && o->slots.mask == NULL && cst__slots_are_all(&o->slots);
}

/* True if both have the same lists, so that there is nothing to compare. */
static bool opened_same(const opened *a, const opened *b) {
  const cst__view *x = a->slots.view;
  const cst__view *y = b->slots.view;
  return opened_is_all(a) && opened_is_all(b) && x->layout == CST__LAYOUT_LIST &&
         y->layout == CST__LAYOUT_LIST && x->offsets == y->offsets && x->offset == y->offset &&
         x->length == y->length && x->offset_width == y->offset_width && x->validity == y->validity;
}

/* ---- comparing ---- */

enum { MOST_DIMENSIONS = 128 /* more than a type can have */ };

static cst_status fail_lengths(const comparing *c, const dimension *d, const cst__lists *own,
                               const cst__lists *given, int64_t i) {
  cst_error *error = c->a->error;
  int64_t coordinates[MOST_DIMENSIONS];
  char row[64] = "";
  size_t used = 0;
  size_t count = 0;
  int64_t at = i; /* where the list lies in the dimensions above, innermost first */
  for (d = d->above; d != NULL && count < MOST_DIMENSIONS; d = d->above) {
    opened above = d->lists;
    cst__lists lists;
    CST__TRY(opened_next(&above, c->a, &lists));
    int64_t list = cst__splits_find(lists.splits, lists.count, at);
    coordinates[count++] = at - lists.splits[list];
    at = list;
  }
  for (size_t k = count; k-- > 0 && used + 24 < sizeof row;) {
    used += (size_t)snprintf(row + used, sizeof row - used, "%s[%lld]",
                             k + 1 == count ? "row " : "", (long long)coordinates[k]);
  }
  cst__fail(error, CST_INVALID_ARGUMENT, NULL, "%s%s%lld values for %lld structs", row,
            count > 0 ? ": " : "", (long long)cst__list_size(given, i),
            (long long)cst__list_size(own, i));
  cst__error_add_record(error, count > 0 ? coordinates[count - 1] : -1, -1);
  return CST_INVALID_ARGUMENT;
}

static cst_status compare_dimension(comparing *c) {
  const cst__assembly *a = c->a;
  dimension *d = cst__arena_take(a->arena, sizeof *d);
  cst__lists own;
  cst__lists given;
  if (d == NULL) {
    return cst__fail_memory(a->error, sizeof *d);
  }
  *d = (dimension){c->own, c->last};
  c->last = d;
  if (opened_same(&c->own, &c->given)) {
    CST__TRY(cst__slots_open(&c->own.slots, a->arena, NULL, a->error));
    return cst__slots_open(&c->given.slots, a->arena, NULL, a->error);
  }
  CST__TRY(opened_next(&c->own, a, &own));
  CST__TRY(opened_next(&c->given, a, &given));
  int64_t at = cst__lists_differ(&own, &given);
  return at < 0 ? CST_OK : fail_lengths(c, d, &own, &given, at);
}

/* ---- making ---- */

/* How many dimensions the structs at a path have that lies in the tensor. */
static cst_status update_rank(const cst_structured *tensor, const cst_path *path, size_t *out,
                              cst_error *error) {
  const cst__view *view = cst__structured_elements(tensor);
  *out = cst__structured_rank(tensor);
  for (size_t i = 0; i + 1 < path->count; i++) {
    int64_t place;
    CST__TRY(cst__field_find(view, path->steps[i], &place, error));
    view = &view->children[place];
    for (; cst__view_is_list(view); view = view->children) {
      (*out)++;
    }
  }
  return CST_OK;
}

static cst_status update_make(const cst__assembly *a, const cst__edit *edit,
                              const cst__edit_place *at, cst__made *out) {
  const cst_structured *value = edit->source;
  const cst__assembly of_value = {cst__array_owner(value->array), a->arena, a->error};
  comparing c = {opened_init(edit->tensor), opened_init(value), NULL, a};
  size_t rank;
  size_t given = cst__structured_rank(value);
  CST__TRY(update_rank(edit->tensor, edit->path, &rank, a->error));
  if (given == 0 && rank > 0) {
    /* One value, for every struct. */
    const cst__owner owner = cst__array_owner(value->array);
    const int64_t first = 0;
    const int64_t ends[] = {0, at->structs->chosen.count};
    const cst__chosen repeated = {.count = at->structs->chosen.count,
                                  .spans = {&first, ends, 1, 0}};
    out->schema = value->array->schema;
    return cst__take(&owner, &value->view, &repeated, false, &out->array, a->error);
  }
  if (given < rank) {
    return cst__fail(a->error, CST_INVALID_ARGUMENT, NULL,
                     "a value of rank %zu for structs of rank %zu", given, rank);
  }
  /* Open the dimensions of the structs at the path, and as many of the value that is given. */
  for (size_t i = 0; i < cst__structured_rank(edit->tensor); i++) {
    CST__TRY(compare_dimension(&c));
  }
  for (size_t i = 0; i + 1 < edit->path->count; i++) {
    int64_t place;
    CST__TRY(cst__field_find(c.own.slots.view, edit->path->steps[i], &place, c.a->error));
    CST__TRY(cst__slots_enter(&c.own.slots, place, c.a->arena, c.a->error));
    while (cst__view_is_list(c.own.slots.view)) {
      CST__TRY(compare_dimension(&c));
    }
  }
  CST__TRY(cst__made_share(&of_value, &c.given.slots, out));
  if (!c.given.has_rows) {
    return CST_OK;
  }
  const int64_t all[] = {0, out->array.length}; /* as one list, for the only struct of a scalar */
  return cst__made_around(a, &(cst__lists){1, -1, all, NULL}, out);
}

cst_status cst_structured_update(const cst_structured *tensor, const cst_field_update *updates,
                                 size_t count, cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  if (updates == NULL && count > 0) {
    return cst__missing("updates", error);
  }
  for (size_t i = 0; i < count; i++) {
    CST__TRY(cst__check_path(&updates[i].path, error));
  }
  size_t size = (count + 1) * (sizeof(cst_path) + sizeof(cst__edit));
  cst_path *paths = cst__new(&tensor->array->allocator, size);
  if (paths == NULL) {
    return cst__fail_memory(error, size);
  }
  cst__edit *edits = (cst__edit *)(void *)(paths + count);
  for (size_t i = 0; i < count; i++) {
    const cst_structured *value = updates[i].value;
    paths[i] = updates[i].path;
    edits[i] = (cst__edit){.make = value != NULL ? update_make : NULL,
                           .needs_slots = value != NULL,
                           .path = &paths[i],
                           .tensor = tensor,
                           .source = value};
  }
  cst_status status = cst__structured_edit(tensor, paths, edits, count, out, error);
  cst__delete(paths);
  return status;
}
