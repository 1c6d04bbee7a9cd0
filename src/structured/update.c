/* Updates: fields whose values somebody gives. Their dimensions are compared with those of the
 * structs, and each is a change of edit.h. */
#include <stdio.h>
#include <string.h>

#include "structured/edit.h"
#include "table/repeat.h"

/* ---- dimensions, side by side ---- */

/* A tensor of which some dimensions are open. */
typedef struct opened {
  cst__runs slots;
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
  cst_error *error;
} comparing;

static cst_status opened_init(const cst_structured *tensor, cst__arena *arena, opened *out,
                              cst_error *error) {
  const cst__node root = cst__structured_root(tensor);
  out->has_rows = !tensor->is_row;
  return cst__runs_all(&root, arena, &out->slots, error);
}

static cst_status opened_rows(opened *o, int64_t **splits, cst_error *error) {
  size_t size = 2 * sizeof **splits;
  o->has_rows = false;
  *splits = cst__arena_take(o->slots.arena, size);
  if (*splits == NULL) {
    return cst__fail_memory(error, size);
  }
  (*splits)[0] = 0;
  (*splits)[1] = o->slots.total;
  return CST_OK;
}

static cst_status opened_next(opened *o, int64_t **splits, cst_error *error) {
  return o->has_rows ? opened_rows(o, splits, error) : cst__runs_open(&o->slots, splits, error);
}

static bool opened_is_all(const opened *o) {
  return !o->has_rows && o->slots.veil == NULL && cst__runs_are_all(&o->slots);
}

/* True if both have the same lists, so that there is nothing to compare. */
static bool opened_same(const opened *a, const opened *b) {
  const cst__view *x = a->slots.node.view;
  const cst__view *y = b->slots.node.view;
  return opened_is_all(a) && opened_is_all(b) && x->layout == CST__LAYOUT_LIST &&
         y->layout == CST__LAYOUT_LIST && x->offsets == y->offsets && x->offset == y->offset &&
         x->length == y->length && x->offset_width == y->offset_width && x->validity == y->validity;
}

/* ---- comparing ---- */

enum { MOST_DIMENSIONS = 128 /* more than a type can have */ };

/* Where list i of a dimension lies in those above: coordinates[0 .. *count - 1], innermost first.
 */
static cst_status find_coordinates(const dimension *d, int64_t i, int64_t *coordinates,
                                   size_t *count, cst_error *error) {
  for (d = d->above; d != NULL && *count < MOST_DIMENSIONS; d = d->above) {
    opened lists = d->lists;
    int64_t *splits;
    int64_t list = 0;
    CST__TRY(opened_next(&lists, &splits, error));
    while (splits[list + 1] <= i) {
      list++;
    }
    coordinates[(*count)++] = i - splits[list];
    i = list;
  }
  return CST_OK;
}

static cst_status fail_lengths(const dimension *d, const int64_t *own, const int64_t *given,
                               cst_error *error) {
  int64_t coordinates[MOST_DIMENSIONS];
  char row[64] = "";
  size_t used = 0;
  size_t count = 0;
  int64_t i = 0;
  while (own[i + 1] == given[i + 1]) {
    i++;
  }
  CST__TRY(find_coordinates(d, i, coordinates, &count, error));
  for (size_t k = count; k-- > 0 && used + 24 < sizeof row;) {
    used += (size_t)snprintf(row + used, sizeof row - used, "%s[%lld]",
                             k + 1 == count ? "row " : "", (long long)coordinates[k]);
  }
  cst__fail(error, CST_INVALID_ARGUMENT, NULL, "%s%s%lld values for %lld structs", row,
            count > 0 ? ": " : "", (long long)(given[i + 1] - given[i]),
            (long long)(own[i + 1] - own[i]));
  cst__error_add_record(error, count > 0 ? coordinates[count - 1] : -1, -1);
  return CST_INVALID_ARGUMENT;
}

static cst_status compare_dimension(comparing *c) {
  dimension *d = cst__arena_take(c->own.slots.arena, sizeof *d);
  int64_t count = c->own.has_rows ? 1 : c->own.slots.total;
  int64_t *own;
  int64_t *given;
  if (d == NULL) {
    return cst__fail_memory(c->error, sizeof *d);
  }
  *d = (dimension){c->own, c->last};
  c->last = d;
  if (opened_same(&c->own, &c->given)) {
    CST__TRY(cst__runs_open(&c->own.slots, NULL, c->error));
    return cst__runs_open(&c->given.slots, NULL, c->error);
  }
  CST__TRY(opened_next(&c->own, &own, c->error));
  CST__TRY(opened_next(&c->given, &given, c->error));
  return memcmp(own, given, ((size_t)count + 1) * sizeof *own) == 0
             ? CST_OK
             : fail_lengths(d, own, given, c->error);
}

/* Opens the dimensions of the structs at a path, and as many of the value that is given. */
static cst_status compare_dimensions(comparing *c, const cst_structured *tensor,
                                     const cst_path *path) {
  for (size_t i = 0; i < cst__structured_rank(tensor); i++) {
    CST__TRY(compare_dimension(c));
  }
  for (size_t i = 0; i + 1 < path->count; i++) {
    int64_t place;
    CST__TRY(cst__field_find(&c->own.slots.node, path->steps[i], &place, c->error));
    CST__TRY(cst__runs_enter(&c->own.slots, place, c->error));
    while (cst__view_is_list(c->own.slots.node.view)) {
      CST__TRY(compare_dimension(c));
    }
  }
  return CST_OK;
}

/* ---- making ---- */

/* How many dimensions the structs at a path have that lies in the tensor. */
static cst_status update_rank(const cst_structured *tensor, const cst_path *path, size_t *out,
                              cst_error *error) {
  cst__node node = cst__structured_elements(tensor);
  *out = cst__structured_rank(tensor);
  for (size_t i = 0; i + 1 < path->count; i++) {
    int64_t place;
    CST__TRY(cst__field_find(&node, path->steps[i], &place, error));
    node = cst__node_child(&node, place);
    for (; cst__view_is_list(node.view); node = cst__node_child(&node, 0)) {
      (*out)++;
    }
  }
  return CST_OK;
}

/* One value, for every struct. */
static cst_status update_repeat(const cst__assembly *a, const cst_structured *value, int64_t count,
                                cst__made *out) {
  const cst__node root = cst__structured_root(value);
  const int64_t splits[] = {0, count};
  cst__runs all;
  CST__TRY(cst__runs_all(&root, a->arena, &all, a->error));
  out->schema = root.schema;
  return cst__repeat(value->array, &all, splits, &out->array, a->error);
}

/* All rows of a value as one list, for the only struct of a scalar. */
static cst_status update_wrap(const cst__assembly *a, cst__made *made) {
  struct ArrowArray list;
  int64_t *offsets;
  cst_status status = cst__made_offsets(a, 1, &offsets, &list);
  if (status != CST_OK) {
    cst__made_release(made);
    return status;
  }
  offsets[0] = 0;
  offsets[1] = made->array.length;
  return cst__made_wrap(a, &list, made);
}

static cst_status update_make(const cst__assembly *a, const cst__edit *edit, const cst__place *at,
                              cst__made *out) {
  const cst_structured *value = edit->source;
  const cst__assembly of_value = {value->array, a->arena, a->error};
  comparing c = {.error = a->error};
  size_t rank;
  size_t given = cst__structured_rank(value);
  CST__TRY(update_rank(edit->tensor, edit->path, &rank, a->error));
  if (given == 0 && rank > 0) {
    return update_repeat(a, value, at->structs->total, out);
  }
  if (given < rank) {
    return cst__fail(a->error, CST_INVALID_ARGUMENT, NULL,
                     "a value of rank %zu for structs of rank %zu", given, rank);
  }
  CST__TRY(opened_init(edit->tensor, a->arena, &c.own, a->error));
  CST__TRY(opened_init(value, a->arena, &c.given, a->error));
  CST__TRY(compare_dimensions(&c, edit->tensor, edit->path));
  CST__TRY(cst__made_share(&of_value, &c.given.slots, out));
  return c.given.has_rows ? update_wrap(a, out) : CST_OK;
}

cst_status cst__structured_update(const cst_structured *tensor, const cst_field_update *updates,
                                  size_t count, cst_structured **out, cst_error *error) {
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
