/* Concatenating, stacking and tiling: the lists of one dimension become longer. */
#include <columnstone/structured.h>
#include <string.h>

#include "arrow/concat.h"
#include "base/arguments.h"
#include "structured/arrange.h"
#include "table/array.h"
#include "table/rows.h"

typedef struct joining {
  const cst_structured *const *tensors;
  size_t count;
  size_t axis;
  const cst_allocator *allocator;
  cst__levels *levels; /* of each tensor, axis + 1 opened */
  size_t num_open;
  cst_error *error;
} joining;

static cst_status join_fail_lists(const joining *j, size_t which, size_t at, int64_t list) {
  const cst__lists *first = &j->levels[0].items[at];
  const cst__lists *other = &j->levels[which].items[at];
  char row[128];
  cst__levels_name_list(j->levels[0].items, at, list, row, sizeof row);
  return cst__fail(
      j->error, CST_INVALID_ARGUMENT, "the dimensions before the axis have to be the same",
      "%s has length %lld in tensor 0 and %lld in tensor %zu (dimension %zu)", row,
      (long long)cst__list_size(first, list), (long long)cst__list_size(other, list), which, at);
}

/* A list is null if it is in all tensors. */
static cst_status join_nulls(joining *j, size_t at, const uint8_t **out) {
  const cst__lists *first = &j->levels[0].items[at];
  *out = NULL;
  for (size_t i = 0; i < j->count; i++) {
    if (j->levels[i].items[at].nulls == NULL) {
      return CST_OK;
    }
  }
  uint8_t *nulls = cst__arena_take(&j->levels[0].arena, (size_t)first->count);
  if (nulls == NULL) {
    return cst__fail_memory(j->error, (size_t)first->count);
  }
  memset(nulls, 1, (size_t)first->count);
  uint8_t any = 0;
  for (int64_t k = 0; k < first->count; k++) {
    for (size_t i = 0; i < j->count; i++) {
      nulls[k] &= j->levels[i].items[at].nulls[k];
    }
    any |= nulls[k];
  }
  *out = any != 0 ? nulls : NULL;
  return CST_OK;
}

/* The dimensions before the axis are those of the first tensor. */
static cst_status join_check_outer(joining *j) {
  for (size_t at = 0; at < j->axis; at++) {
    cst__lists *first = &j->levels[0].items[at];
    for (size_t i = 1; i < j->count; i++) {
      const cst__lists *other = &j->levels[i].items[at];
      int64_t list = cst__lists_differ(first, other);
      if (list >= 0) {
        return join_fail_lists(j, i, at, list);
      }
      first->size = other->size >= 0 ? first->size : -1;
    }
    const uint8_t *nulls;
    CST__TRY(join_nulls(j, at, &nulls));
    first->nulls = nulls;
  }
  return CST_OK;
}

/* The lists of the axis, with the sums of all lengths. */
static cst_status join_add_lists(joining *j, cst__lists *out) {
  const cst__lists *first = &j->levels[0].items[j->axis];
  int64_t *splits = cst__levels_take(&j->levels[0], first->count + 1, j->error);
  if (splits == NULL) {
    return CST_NO_MEMORY;
  }
  *out = (cst__lists){.count = first->count, .splits = splits};
  memset(splits, 0, ((size_t)first->count + 1) * sizeof *splits);
  for (size_t i = 0; i < j->count; i++) {
    const cst__lists *lists = &j->levels[i].items[j->axis];
    for (int64_t k = 0; k <= out->count; k++) {
      splits[k] += lists->splits[k];
    }
    if (out->size < 0 || lists->size < 0 ||
        __builtin_add_overflow(out->size, lists->size, &out->size)) {
      out->size = -1;
    }
  }
  return join_nulls(j, j->axis, &out->nulls);
}

static cst_status join_rests(const joining *j, cst_array **out) {
  size_t size = j->count * sizeof(cst_array *);
  cst_array **rests = cst__new_zero(j->allocator, size);
  if (rests == NULL) {
    return cst__fail_memory(j->error, size);
  }
  cst_status status = CST_OK;
  for (size_t i = 0; i < j->count && status == CST_OK; i++) {
    status = cst__levels_rest(&j->levels[i], j->tensors[i], &rests[i], j->error);
  }
  if (status == CST_OK) {
    status = cst_array_concat((const cst_array *const *)rests, j->count, out, j->error);
  }
  for (size_t i = 0; i < j->count; i++) {
    cst_array_release(rests[i]);
  }
  cst__delete(rests);
  return status;
}

/* Brings the items of all tensors into the order of the lists. */
static cst_status join_order(const joining *j, const cst__lists *lists, cst_array **items) {
  int64_t count;
  if (__builtin_mul_overflow(lists->count, (int64_t)j->count, &count)) {
    return cst__fail_memory(j->error, SIZE_MAX);
  }
  int64_t *begins = cst__levels_take(&j->levels[0], count, j->error);
  int64_t *ends = cst__levels_take(&j->levels[0], count + 1, j->error);
  cst_array *ordered;
  if (begins == NULL || ends == NULL) {
    return CST_NO_MEMORY;
  }
  ends[0] = 0;
  int64_t at = 0;
  for (int64_t k = 0; k < lists->count; k++) {
    int64_t base = 0; /* of the tensor's items, which lie one after the other */
    for (size_t i = 0; i < j->count; i++, at++) {
      const cst__lists *level = &j->levels[i].items[j->axis];
      begins[at] = base + level->splits[k];
      ends[at + 1] = ends[at] + level->splits[k + 1] - level->splits[k];
      base += cst__lists_total(level);
    }
  }
  const cst__chosen chosen = {.count = ends[count], .spans = {begins, ends, count, 1}};
  CST__TRY(cst__array_choose(*items, &chosen, &ordered, j->error));
  cst_array_release(*items);
  *items = ordered;
  return CST_OK;
}

static cst_status join_all(joining *j, cst_structured **out) {
  cst__lists lists;
  cst_array *items;
  for (; j->num_open < j->count; j->num_open++) {
    CST__TRY(
        cst__levels_open(j->tensors[j->num_open], j->axis + 1, &j->levels[j->num_open], j->error));
  }
  CST__TRY(join_check_outer(j));
  CST__TRY(join_add_lists(j, &lists));
  /* Joined as they are, which is fast, then brought into order, if there are several lists. */
  CST__TRY(join_rests(j, &items));
  cst_status status = lists.count > 1 ? join_order(j, &lists, &items) : CST_OK;
  if (status == CST_OK) {
    j->levels[0].items[j->axis] = lists;
    status = cst__levels_tensor(j->levels[0].items, j->axis + 1, items, out, j->error);
  }
  cst_array_release(items);
  return status;
}

static cst_status join_check_ranks(const cst_structured *const *tensors, size_t count,
                                   cst_error *error) {
  for (size_t i = 1; i < count; i++) {
    if (cst__structured_rank(tensors[i]) != cst__structured_rank(tensors[0])) {
      return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                       "tensor 0 is of rank %zu, tensor %zu of rank %zu",
                       cst__structured_rank(tensors[0]), i, cst__structured_rank(tensors[i]));
    }
  }
  return CST_OK;
}

static cst_status check_tensors(const cst_structured *const *tensors, size_t count, const void *out,
                                cst_error *error) {
  if (tensors == NULL || out == NULL) {
    return cst__missing(out == NULL ? "out" : "tensors", error);
  }
  for (size_t i = 0; i < count; i++) {
    if (tensors[i] == NULL) {
      return cst__missing("tensors[i]", error);
    }
  }
  return count > 0 ? CST_OK : cst__fail(error, CST_INVALID_ARGUMENT, NULL, "no tensors at all");
}

cst_status cst_structured_concat(const cst_structured *const *tensors, size_t count, int axis,
                                 cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(check_tensors(tensors, count, out, error));
  joining j = {.tensors = tensors,
               .count = count,
               .allocator = &tensors[0]->array->allocator,
               .error = error};
  CST__TRY(join_check_ranks(tensors, count, error));
  CST__TRY(cst__structured_axis(axis, cst__structured_rank(tensors[0]), &j.axis, error));
  if (count == 1) {
    *out = cst_structured_retain(tensors[0]);
    return CST_OK;
  }
  size_t size = count * sizeof *j.levels;
  j.levels = cst__new(j.allocator, size);
  if (j.levels == NULL) {
    return cst__fail_memory(error, size);
  }
  cst_status status = join_all(&j, out);
  for (size_t i = 0; i < j.num_open; i++) {
    cst__levels_close(&j.levels[i]);
  }
  cst__delete(j.levels);
  return status;
}

/* ---- stacking ---- */

cst_status cst_structured_stack(const cst_structured *const *tensors, size_t count, int axis,
                                cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(check_tensors(tensors, count, out, error));
  size_t at = 0;
  CST__TRY(join_check_ranks(tensors, count, error));
  CST__TRY(cst__structured_axis(axis, cst__structured_rank(tensors[0]) + 1, &at, error));
  size_t size = count * sizeof(cst_structured *);
  cst_structured **wider = cst__new_zero(&tensors[0]->array->allocator, size);
  if (wider == NULL) {
    return cst__fail_memory(error, size);
  }
  cst_status status = CST_OK;
  for (size_t i = 0; i < count && status == CST_OK; i++) {
    status = cst_structured_expand_dims(tensors[i], (int)at, &wider[i], error);
  }
  if (status == CST_OK) {
    status =
        cst_structured_concat((const cst_structured *const *)wider, count, (int)at, out, error);
  }
  for (size_t i = 0; i < count; i++) {
    cst_structured_release(wider[i]);
  }
  cst__delete(wider);
  return status;
}

/* ---- tiling ---- */

static cst_status tile_limit(cst_error *error) {
  return cst__fail(error, CST_LIMIT, NULL, "more elements than an array can have");
}

/* The items of each list, as often as it is repeated. */
static cst_status tile_items(const cst_structured *tensor, cst__levels *levels, int64_t times,
                             cst_array **out, cst_error *error) {
  const cst__lists *lists = &levels->items[levels->count - 1];
  int64_t count;
  if (cst__lists_total(lists) == 0) {
    return cst__levels_rest(levels, tensor, out, error);
  }
  if (__builtin_mul_overflow(lists->count, times, &count) || count == INT64_MAX) {
    return tile_limit(error);
  }
  int64_t *begins = cst__levels_take(levels, count, error);
  int64_t *ends = cst__levels_take(levels, count + 1, error);
  if (begins == NULL || ends == NULL) {
    return CST_NO_MEMORY;
  }
  ends[0] = 0;
  for (int64_t i = 0, at = 0; i < lists->count; i++) {
    int64_t size = cst__list_size(lists, i);
    for (int64_t k = 0; k < times; k++, at++) {
      begins[at] = lists->splits[i];
      ends[at + 1] = ends[at] + size;
    }
  }
  const cst__chosen chosen = {.count = ends[count], .spans = {begins, ends, count, 1}};
  return cst__levels_choose(levels, tensor, &chosen, out, error);
}

/* Lists that are as many times as long. */
static cst_status tile_splits(cst__levels *levels, int64_t times, cst__lists *lists,
                              cst_error *error) {
  int64_t *splits = cst__levels_take(levels, lists->count + 1, error);
  int64_t size;
  if (splits == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0; i <= lists->count; i++) {
    splits[i] = lists->splits[i] * times;
  }
  bool is_fixed = lists->size >= 0 && !__builtin_mul_overflow(lists->size, times, &size);
  lists->splits = splits;
  lists->size = is_fixed ? size : -1;
  return CST_OK;
}

/* Repeats the lists of one dimension, the last that is open. */
static cst_status tile_lists(const cst_structured *tensor, cst__levels *levels, int64_t times,
                             cst_structured **out, cst_error *error) {
  cst__lists *lists = &levels->items[levels->count - 1];
  int64_t total;
  cst_array *rest;
  if (__builtin_mul_overflow(cst__lists_total(lists), times, &total) || total > CST__MAX_SLOTS) {
    return tile_limit(error);
  }
  CST__TRY(tile_items(tensor, levels, times, &rest, error));
  cst_status status = tile_splits(levels, times, lists, error);
  if (status == CST_OK) {
    status = cst__levels_tensor(levels->items, levels->count, rest, out, error);
  }
  cst_array_release(rest);
  return status;
}

static cst_status tile_axis(const cst_structured *tensor, size_t axis, int64_t times,
                            cst_structured **out, cst_error *error) {
  cst__levels levels;
  CST__TRY(cst__levels_open(tensor, axis + 1, &levels, error));
  cst_status status = tile_lists(tensor, &levels, times, out, error);
  cst__levels_close(&levels);
  return status;
}

cst_status cst_structured_tile(const cst_structured *tensor, const int64_t *multiples,
                               cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  if (multiples == NULL && cst__structured_rank(tensor) > 0) {
    return cst__missing("multiples", error);
  }
  cst_structured *made = cst_structured_retain(tensor);
  for (size_t axis = cst__structured_rank(tensor); axis-- > 0;) {
    cst_structured *next = NULL;
    cst_status status = CST_OK;
    if (multiples[axis] < 0) {
      status = cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a multiple of %lld for dimension %zu",
                         (long long)multiples[axis], axis);
    } else if (multiples[axis] != 1) {
      status = tile_axis(made, axis, multiples[axis], &next, error);
    } else {
      continue;
    }
    cst_structured_release(made);
    if (status != CST_OK) {
      return status;
    }
    made = next;
  }
  *out = made;
  return CST_OK;
}
