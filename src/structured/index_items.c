/* Indexing: the items of a key, what each stands for, and in which order the walk goes through
 * them.
 */
#include <columnstone/structured.h>

#include "base/arguments.h"
#include "structured/index_arrays.h"
#include "structured/selection.h"

_Static_assert(CST__OPEN == CST_INDEX_OPEN, /* NOLINT(misc-redundant-expression) */
               "slices are those of keys");

/* What is left of a key without its names. */
typedef struct key {
  const cst_structured *tensor;
  cst_index_item *items;
  size_t count;
  size_t num_made; /* at most as many dimensions come out */
  bool has_arrays;
  bool by_row;
  cst__row_origin origin;
  cst_error *error;
} key;

static bool is_name(const cst_index_item *item) {
  return item->kind == CST_INDEX_NAME || item->kind == CST_INDEX_NAMES;
}

static bool is_mask(const cst_structured *tensor) {
  return cst__structured_elements(tensor)->layout == CST__LAYOUT_BOOL;
}

/* How many dimensions an item stands for. */
static size_t item_dims(const cst_index_item *item) {
  switch (item->kind) {
    case CST_INDEX_AT:
    case CST_INDEX_SLICE:
      return 1;
    case CST_INDEX_BY_ROW:
      return cst__structured_rank(item->tensor);
    case CST_INDEX_ARRAY:
      return is_mask(item->tensor) ? cst__structured_rank(item->tensor) : 1;
    default:
      return 0;
  }
}

static bool is_whole(const cst_index_item *item) {
  return item->kind == CST_INDEX_SLICE && item->step == 1 &&
         (item->begin == 0 || item->begin == CST_INDEX_OPEN) &&
         (item->end == CST_INDEX_OPEN || item->end == INT64_MAX);
}

/* ---- names ---- */

static cst_status fail_before_name(const cst_index_item *items, size_t at, size_t rank,
                                   cst_error *error) {
  const cst_path *path = &items[at].paths[0];
  return cst__fail(error, CST_INVALID_ARGUMENT, "put the name before the items",
                   "the items before '%.80s', item %zu, stand for more than the %zu dimensions "
                   "that there are without it",
                   items[at].num_paths > 0 && path->count > 0 ? path->steps[0] : "", at, rank);
}

/* The tensor that the names lead to. */
static cst_status look_up_names(const cst_structured *tensor, const cst_index_item *items,
                                size_t count, cst_structured **out, cst_error *error) {
  cst_structured *at = cst_structured_retain(tensor);
  cst_status status = CST_OK;
  size_t dims = 0;
  for (size_t i = 0; i < count && status == CST_OK; i++) {
    cst_structured *next = NULL;
    if (!is_name(&items[i])) {
      dims += item_dims(&items[i]);
      continue;
    }
    if (dims > cst__structured_rank(at)) {
      status = fail_before_name(items, i, cst__structured_rank(at), error);
    } else if (items[i].kind == CST_INDEX_NAME) {
      status = cst_structured_field(at, items[i].paths, &next, error);
    } else {
      status = cst_structured_only(at, items[i].paths, items[i].num_paths, &next, error);
    }
    if (status == CST_OK) {
      cst_structured_release(at);
      at = next;
    }
  }
  if (status != CST_OK) {
    cst_structured_release(at);
    return status;
  }
  *out = at;
  return CST_OK;
}

/* ---- checks ---- */

static cst_status key_fail_dims(const key *k, size_t item) {
  cst_index_kind kind = k->items[item].kind;
  return cst__fail(
      k->error, CST_INVALID_ARGUMENT, NULL,
      "too many indices: item %zu, %s, stands for more dimensions than are left of %zu", item,
      kind == CST_INDEX_AT      ? "an integer"
      : kind == CST_INDEX_SLICE ? "a slice"
                                : "an array",
      cst__structured_rank(k->tensor));
}

/* True if the only array is a mask of whole rows, and nothing that is broadcast stands beside it:
 * choosing row by row gives the same, without coordinates. */
static bool is_mask_of_rows(const key *k) {
  const cst_index_item *first = &k->items[0];
  if (first->kind != CST_INDEX_ARRAY || !is_mask(first->tensor) || first->tensor->is_row ||
      cst__structured_rank(first->tensor) != 1 || k->tensor->is_row) {
    return false;
  }
  for (size_t i = 1; i < k->count; i++) {
    if (k->items[i].kind != CST_INDEX_SLICE && k->items[i].kind != CST_INDEX_ELLIPSIS) {
      return false;
    }
  }
  return true;
}

/* Counts what the items stand for. An ellipsis gets the number of its dimensions in `begin`. */
static cst_status key_check(key *k) {
  size_t rank = cst__structured_rank(k->tensor);
  size_t dims = 0;
  size_t ellipsis = k->count;
  k->num_made = rank + k->count;
  if (k->count > 0 && is_mask_of_rows(k)) {
    k->items[0].kind = CST_INDEX_BY_ROW;
  }
  for (size_t i = 0; i < k->count; i++) {
    const cst_index_item *item = &k->items[i];
    if (item->kind == CST_INDEX_ELLIPSIS && ellipsis < k->count) {
      return cst__fail(k->error, CST_INVALID_ARGUMENT, NULL, "items %zu and %zu are both '...'",
                       ellipsis, i);
    }
    ellipsis = item->kind == CST_INDEX_ELLIPSIS ? i : ellipsis;
    k->has_arrays |= item->kind == CST_INDEX_ARRAY;
    k->by_row |= item->kind == CST_INDEX_BY_ROW;
    if (item->kind == CST_INDEX_ARRAY || item->kind == CST_INDEX_BY_ROW) {
      k->num_made += cst__structured_rank(item->tensor) + 1;
    }
    if (item->kind == CST_INDEX_BY_ROW && cst__structured_rank(item->tensor) == 0) {
      return cst__fail(k->error, CST_INVALID_ARGUMENT, NULL,
                       "item %zu chooses row by row, but is a scalar", i);
    }
    dims += item_dims(item);
    if (dims > rank) {
      return key_fail_dims(k, i);
    }
  }
  if (k->has_arrays && k->by_row) {
    return cst__fail(k->error, CST_INVALID_ARGUMENT, "index twice",
                     "arrays that choose row by row, and such that are broadcast, in one key");
  }
  if (ellipsis < k->count) {
    k->items[ellipsis].begin = (int64_t)(rank - dims);
  }
  return CST_OK;
}

/* ---- going through ---- */

static cst_status select_row_by_row(cst__selection *s, const cst_structured *tensor) {
  cst__indices by;
  size_t rank = cst__structured_rank(tensor);
  cst_status status = CST_OK;
  CST__TRY(cst__indices_open(tensor, &by, s->error));
  cst__select_by(s, &by);
  for (size_t i = 0; i + 1 < rank && status == CST_OK; i++) {
    status = cst__select_together(s, CST__NULL_OF_EITHER);
  }
  if (status == CST_OK && by.mask != NULL) {
    status = cst__select_true(s, CST__NULL_OF_EITHER);
  } else if (status == CST_OK) {
    status = cst__select_spread(s, 1, true);
    status = status == CST_OK ? cst__select_at_value(s, 1, 0) : status;
  }
  cst__select_by(s, NULL);
  cst__indices_close(&by);
  return status;
}

/* An item that is neither an array nor, if there are arrays, a place. */
static cst_status select_item(cst__selection *s, const cst_index_item *item) {
  switch (item->kind) {
    case CST_INDEX_AT:
      return cst__select_at(s, item->begin);
    case CST_INDEX_SLICE:
      return cst__select_slice(s, &(cst__slice){item->begin, item->end, item->step});
    case CST_INDEX_ELLIPSIS:
      for (int64_t i = 0; i < item->begin; i++) {
        CST__TRY(cst__select_all(s));
      }
      return CST_OK;
    case CST_INDEX_NEW_AXIS:
      return cst__select_new_axis(s);
    default:
      return select_row_by_row(s, item->tensor);
  }
}

static bool is_broadcast(const cst_index_item *item) {
  return item->kind == CST_INDEX_ARRAY || item->kind == CST_INDEX_AT;
}

static cst_status select_by_arrays(cst__selection *s, const key *k, cst__index_arrays *arrays) {
  size_t parts = 0; /* of arrays and places without another item between them */
  for (size_t i = 0; i < k->count; i++) {
    parts += is_broadcast(&k->items[i]) && (i == 0 || !is_broadcast(&k->items[i - 1]));
  }
  bool is_spread = parts != 1;
  size_t at = 0;
  cst__select_by(s, &arrays->by);
  if (is_spread) {
    CST__TRY(cst__select_spread(s, arrays->by.levels.count, true));
  }
  for (size_t i = 0; i < k->count; i++) {
    if (!is_broadcast(&k->items[i])) {
      CST__TRY(select_item(s, &k->items[i]));
      continue;
    }
    if (!is_spread) {
      CST__TRY(cst__select_spread(s, arrays->by.levels.count, true));
      is_spread = true;
    }
    for (; at < arrays->num_dims && arrays->dims[at].item == i; at++) {
      const cst__index_array *dim = &arrays->dims[at];
      if (dim->values == NULL) { /* a mask without dimensions */
        continue;
      }
      if (dim->length >= 0) {
        CST__TRY(cst__select_check_length(s, dim->length));
      }
      arrays->by.values = dim->values;
      CST__TRY(cst__select_at_value(s, 1, 0));
    }
  }
  cst__select_by(s, NULL);
  return CST_OK;
}

/* Rows are as long as a mask, also where nothing of it is true. What comes after an array of
 * integers is looked at only where it is chosen. */
static cst_status check_masks(cst__selection *s, const key *k, const cst__index_arrays *arrays) {
  size_t at = 0;
  for (size_t i = 0; i < k->count; i++) {
    const cst_index_item *item = &k->items[i];
    if (is_broadcast(item) && arrays->dims[at].length < 0 && arrays->dims[at].values != NULL) {
      return CST_OK;
    }
    if (!is_broadcast(item) && item->kind != CST_INDEX_NEW_AXIS) {
      CST__TRY(select_item(s, item));
    }
    for (; at < arrays->num_dims && arrays->dims[at].item == i; at++) {
      if (arrays->dims[at].values != NULL) {
        CST__TRY(cst__select_check_length(s, arrays->dims[at].length));
        CST__TRY(cst__select_all(s));
      }
    }
  }
  return CST_OK;
}

/* A key with arrays. Masks are compared with the dimensions that they stand for in a walk of their
 * own, for the one that follows leaves dimensions out in which nothing is chosen. */
static cst_status select_with_arrays(cst__selection *s, const key *k, size_t dims) {
  cst__index_arrays arrays;
  bool has_mask = false;
  CST__TRY(
      cst__index_arrays_open(k->items, k->count, &k->tensor->array->allocator, &arrays, k->error));
  for (size_t i = 0; i < arrays.num_dims; i++) {
    has_mask |= arrays.dims[i].length >= 0;
  }
  cst_status status = CST_OK;
  if (has_mask) {
    cst__selection masked;
    status = cst__selection_begin(&masked, k->tensor, dims, k->num_made, k->error);
    if (status == CST_OK) {
      status = check_masks(&masked, k, &arrays);
      cst__selection_end(&masked);
    }
  }
  if (status == CST_OK) {
    status = select_by_arrays(s, k, &arrays);
  }
  cst__index_arrays_close(&arrays);
  return status;
}

/* ---- all of it ---- */

/* Does the first item alone where it takes one row, or some that follow each other: nothing but
 * these is looked at then. They are the key's tensor from then on, and to be released. */
static cst_status key_take_rows(key *k, cst_structured **out) {
  const cst_array *array = k->tensor->array;
  int64_t length = array->array.length;
  cst_array *rows;
  if (k->tensor->is_row || k->count == 0 || k->has_arrays) {
    return CST_OK;
  }
  cst_index_item *item = &k->items[0];
  bool is_at = item->kind == CST_INDEX_AT;
  if (is_at) {
    int64_t at = item->begin < 0 ? item->begin + length : item->begin;
    if (at < 0 || at >= length) {
      return CST_OK; /* the walk says so */
    }
    CST__TRY(cst_array_slice(array, at, 1, &rows, k->error));
    k->origin = (cst__row_origin){.is_row = true, .row = at};
    k->items++;
    k->count--;
  } else if (item->kind == CST_INDEX_SLICE && item->step == 1) {
    cst__range part = cst__slice_of(&(cst__slice){item->begin, item->end, item->step}, length);
    CST__TRY(cst_array_slice(array, part.begin, part.count, &rows, k->error));
    k->origin.row = part.begin;
    item->begin = item->end = CST_INDEX_OPEN;
  } else {
    return CST_OK;
  }
  CST__TRY(cst__structured_result(rows, is_at, out, k->error));
  k->tensor = *out;
  return CST_OK;
}

/* Goes from item to item, from the outermost dimension on, and takes what lies below the last. */
static cst_status key_walk(key *k, cst_structured **out) {
  cst__selection s;
  size_t dims = 0; /* that are looked at */
  while (k->count > 0 &&
         (k->items[k->count - 1].kind == CST_INDEX_ELLIPSIS || is_whole(&k->items[k->count - 1]))) {
    k->count--; /* it takes all of the last dimensions */
  }
  if (k->count == 0) {
    *out = cst_structured_retain(k->tensor);
    return CST_OK;
  }
  for (size_t i = 0; i < k->count; i++) {
    dims += k->items[i].kind == CST_INDEX_ELLIPSIS ? (size_t)k->items[i].begin
                                                   : item_dims(&k->items[i]);
  }
  dims = dims > 0 || k->tensor->is_row ? dims : 1;
  CST__TRY(cst__selection_begin(&s, k->tensor, dims, k->num_made, k->error));
  s.origin = k->origin;
  cst_status status = k->has_arrays ? select_with_arrays(&s, k, dims) : CST_OK;
  for (size_t i = 0; i < k->count && !k->has_arrays && status == CST_OK; i++) {
    status = select_item(&s, &k->items[i]);
  }
  while (status == CST_OK && s.depth < dims) {
    status = cst__select_all(&s);
  }
  if (status == CST_OK) {
    status = cst__selection_finish(&s, out);
  }
  cst__selection_end(&s);
  return status;
}

enum { FEW_ITEMS = 16 };

static cst_status check_item(const cst_index_item *item, size_t i, cst_error *error) {
  switch (item->kind) {
    case CST_INDEX_NAME:
      return item->num_paths == 1 ? cst__check_paths(item->paths, 1, error)
                                  : cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                                              "item %zu is one name, not %zu", i, item->num_paths);
    case CST_INDEX_NAMES:
      return cst__check_paths(item->paths, item->num_paths, error);
    case CST_INDEX_SLICE:
      return item->step != 0 ? CST_OK
                             : cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                                         "item %zu is a slice with a step of 0", i);
    case CST_INDEX_ARRAY:
    case CST_INDEX_BY_ROW:
      return item->tensor != NULL ? CST_OK : cst__missing("items[i].tensor", error);
    case CST_INDEX_AT:
    case CST_INDEX_ELLIPSIS:
    case CST_INDEX_NEW_AXIS:
      return CST_OK;
  }
  return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "item %zu has the unknown kind %d", i,
                   (int)item->kind);
}

cst_status cst_structured_index(const cst_structured *tensor, const cst_index_item *items,
                                size_t count, cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  if (items == NULL && count > 0) {
    return cst__missing("items", error);
  }
  for (size_t i = 0; i < count; i++) {
    CST__TRY(check_item(&items[i], i, error));
  }
  cst_index_item few[FEW_ITEMS];
  cst_index_item *left = few;
  cst_structured *named;
  if (count > FEW_ITEMS) {
    size_t size = SIZE_MAX;
    left = cst__mul(count, sizeof *left, &size) ? cst__new(&tensor->array->allocator, size) : NULL;
    if (left == NULL) {
      return cst__fail_memory(error, size);
    }
  }
  cst_status status = look_up_names(tensor, items, count, &named, error);
  if (status == CST_OK) {
    key k = {.tensor = named, .items = left, .error = error};
    for (size_t i = 0; i < count; i++) {
      if (!is_name(&items[i])) {
        left[k.count++] = items[i];
      }
    }
    cst_structured *rows = NULL;
    status = key_check(&k);
    if (status == CST_OK) {
      status = key_take_rows(&k, &rows);
    }
    if (status == CST_OK) {
      status = key_walk(&k, out);
    }
    cst_structured_release(rows);
    cst_structured_release(named);
  }
  if (left != few) {
    cst__delete(left);
  }
  return status;
}
