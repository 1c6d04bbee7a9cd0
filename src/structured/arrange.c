/* Adding, removing, merging and dividing dimensions: what changes is lists, never elements. */
#include "structured/arrange.h"

#include <columnstone/structured.h>
#include <stdio.h>
#include <string.h>

#include "base/arguments.h"

cst_status cst__structured_axis(int axis, size_t count, size_t *out, cst_error *error) {
  int64_t dimension = axis < 0 ? (int64_t)axis + (int64_t)count : axis;
  if (dimension < 0 || dimension >= (int64_t)count) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     count == 0 ? "axis %d of a scalar, which has no dimensions"
                                : "axis %d, expected one from %d to %d",
                     axis, -(int)count, (int)count - 1);
  }
  *out = (size_t)dimension;
  return CST_OK;
}

/* ---- naming lists ---- */

void cst__levels_name_list(const cst__lists *levels, size_t level, int64_t list, char *text,
                           size_t size) {
  cst__levels_name_list_from(&(cst__row_origin){0}, levels, level, list, text, size);
}

void cst__levels_name_list_from(const cst__row_origin *origin, const cst__lists *levels,
                                size_t level, int64_t list, char *text, size_t size) {
  enum { MOST_NAMED = 8 };
  int64_t places[MOST_NAMED];
  size_t count = 0;
  for (size_t k = level; k-- > 0;) { /* a list of a level is a place of the one above */
    int64_t above = cst__splits_find(levels[k].splits, levels[k].count, list);
    if (k < MOST_NAMED) {
      places[k] = list - levels[k].splits[above];
      count = count > k + 1 ? count : k + 1;
    }
    list = above;
  }
  size_t used = (size_t)snprintf(text, size,
                                 count > 0 || origin->is_row ? "row " : "the outermost dimension");
  if (origin->is_row) {
    used += (size_t)snprintf(text + used, size - used, "[%lld]", (long long)origin->row);
  } else if (count > 0) {
    places[0] += origin->row;
  }
  for (size_t k = 0; k < count && used < size; k++) {
    used += (size_t)snprintf(text + used, size - used, "[%lld]", (long long)places[k]);
  }
}

/* ---- adding ---- */

static cst_status expand_within(const cst_structured *tensor, size_t axis, cst_structured **out,
                                cst_error *error) {
  cst__levels levels;
  cst_array *rest = NULL;
  CST__TRY(cst__levels_open(tensor, axis, &levels, error));
  cst__lists *items = cst__arena_take(&levels.arena, (axis + 1) * sizeof *items);
  cst_status status = items != NULL ? cst__levels_rest(&levels, tensor, &rest, error)
                                    : cst__fail_memory(error, (axis + 1) * sizeof *items);
  if (status == CST_OK) {
    memcpy(items, levels.items, axis * sizeof *items);
    status = cst__lists_fixed(levels.rest.chosen.count, 1, &levels.arena, &items[axis], error);
    status = status == CST_OK ? cst__levels_tensor(items, axis + 1, rest, out, error) : status;
    cst_array_release(rest);
  }
  cst__levels_close(&levels);
  return status;
}

static cst_status expand_rows(const cst_structured *tensor, cst_structured **out,
                              cst_error *error) {
  int64_t one[2] = {0, 1};
  int64_t all[2] = {0, tensor->view.length};
  const cst__lists levels[2] = {{1, -1, one, NULL}, {1, -1, all, NULL}};
  return tensor->is_row ? cst_structured_new(tensor->array, false, out, error)
                        : cst__levels_tensor(levels, 2, tensor->array, out, error);
}

cst_status cst_structured_expand_dims(const cst_structured *tensor, int axis, cst_structured **out,
                                      cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  size_t at = 0;
  CST__TRY(cst__structured_axis(axis, cst__structured_rank(tensor) + 1, &at, error));
  return at == 0 ? expand_rows(tensor, out, error) : expand_within(tensor, at, out, error);
}

/* ---- removing ---- */

static bool level_is_ones(const cst__lists *level) {
  int64_t differs = level->nulls != NULL;
  for (int64_t i = 0; i <= level->count; i++) {
    differs |= level->splits[i] ^ i;
  }
  return differs == 0 && level->count > 0;
}

static cst_status squeeze_fail(const cst__lists *levels, size_t at, cst_error *error) {
  char row[128];
  int64_t list = 0;
  const cst__lists *level = &levels[at];
  while (level->splits[list + 1] - level->splits[list] == 1 ||
         (level->nulls != NULL && level->nulls[list] != 0)) {
    list++;
  }
  cst__levels_name_list(levels, at, list, row, sizeof row);
  return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                   "dimension %zu cannot be squeezed: %s has length %lld instead of 1", at, row,
                   (long long)(level->splits[list + 1] - level->splits[list]));
}

/* Drops one dimension whose lists have length 1, or are null. */
static cst_status squeeze_one(const cst_structured *tensor, cst__levels *levels, size_t at,
                              cst_structured **out, cst_error *error) {
  const cst__lists *level = &levels->items[at];
  cst_array *rest;
  int64_t *places = cst__levels_take(levels, level->count, error);
  if (places == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0; i < level->count; i++) {
    int64_t length = level->splits[i + 1] - level->splits[i];
    bool is_null = level->nulls != NULL && level->nulls[i] != 0;
    if (length != 1 && !is_null) {
      return squeeze_fail(levels->items, at, error);
    }
    places[i] = is_null ? -1 : level->splits[i];
  }
  const cst__chosen chosen = {.count = level->count, .at = places, .has_null = true};
  CST__TRY(cst__levels_choose(levels, tensor, &chosen, &rest, error));
  cst_status status = cst__levels_tensor(levels->items, at, rest, out, error);
  cst_array_release(rest);
  return status;
}

static cst_status squeeze_axis(const cst_structured *tensor, size_t at, cst_structured **out,
                               cst_error *error) {
  cst__levels levels;
  CST__TRY(cst__levels_open(tensor, at + 1, &levels, error));
  cst_status status = squeeze_one(tensor, &levels, at, out, error);
  cst__levels_close(&levels);
  return status;
}

/* Which dimensions are asked for; those of length 1 if none is named. */
static cst_status squeeze_choose(const cst_structured *tensor, const int *axes, size_t count,
                                 bool *chosen, cst_error *error) {
  size_t rank = cst__structured_rank(tensor);
  cst__levels levels;
  for (size_t i = 0; i < count; i++) {
    size_t at = 0;
    CST__TRY(cst__structured_axis(axes[i], rank, &at, error));
    chosen[at] = true;
  }
  if (count > 0) {
    return CST_OK;
  }
  CST__TRY(cst__levels_open(tensor, rank, &levels, error));
  for (size_t i = 0; i < rank; i++) {
    chosen[i] = level_is_ones(&levels.items[i]);
  }
  cst__levels_close(&levels);
  return CST_OK;
}

cst_status cst_structured_squeeze(const cst_structured *tensor, const int *axes, size_t count,
                                  cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  if (axes == NULL && count > 0) {
    return cst__missing("axes", error);
  }
  size_t rank = cst__structured_rank(tensor);
  bool *chosen = cst__new_zero(&tensor->array->allocator, rank + 1);
  if (chosen == NULL) {
    return cst__fail_memory(error, rank + 1);
  }
  cst_structured *made = cst_structured_retain(tensor);
  cst_status status = squeeze_choose(tensor, axes, count, chosen, error);
  for (size_t at = rank; at-- > 0 && status == CST_OK;) {
    if (chosen[at]) {
      cst_structured *next = NULL;
      status = squeeze_axis(made, at, &next, error);
      cst_structured_release(made);
      made = next;
    }
  }
  cst__delete(chosen);
  if (status != CST_OK) {
    cst_structured_release(made);
    return status;
  }
  *out = made;
  return CST_OK;
}

/* ---- merging ---- */

static cst_status merge_levels(const cst_structured *tensor, cst__levels *levels, size_t outer,
                               size_t inner, cst_structured **out, cst_error *error) {
  cst__lists *merged = &levels->items[outer];
  cst_array *rest;
  for (size_t k = outer + 1; k <= inner; k++) {
    CST__TRY(cst__lists_join(merged, &levels->items[k], &levels->arena, merged, error));
  }
  CST__TRY(cst__levels_rest(levels, tensor, &rest, error));
  cst_status status = cst__levels_tensor(levels->items, outer + 1, rest, out, error);
  cst_array_release(rest);
  return status;
}

cst_status cst_structured_merge_dims(const cst_structured *tensor, int outer, int inner,
                                     cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  size_t rank = cst__structured_rank(tensor);
  size_t from = 0;
  size_t to = 0;
  cst__levels levels;
  CST__TRY(cst__structured_axis(outer, rank, &from, error));
  CST__TRY(cst__structured_axis(inner, rank, &to, error));
  if (from > to) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "dimensions %zu to %zu: the outer one is below the inner one", from, to);
  }
  if (from == to) {
    *out = cst_structured_retain(tensor);
    return CST_OK;
  }
  CST__TRY(cst__levels_open(tensor, to + 1, &levels, error));
  cst_status status = merge_levels(tensor, &levels, from, to, out, error);
  cst__levels_close(&levels);
  return status;
}

/* ---- dividing ---- */

static cst_status partition_check(const int64_t *splits, size_t count, int64_t rows,
                                  cst_error *error) {
  if (count == 0 || splits[0] != 0 || splits[count - 1] != rows) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "row splits go from 0 to the number of rows, which is %lld, not from %lld to "
                     "%lld",
                     (long long)rows, count == 0 ? -1LL : (long long)splits[0],
                     count == 0 ? -1LL : (long long)splits[count - 1]);
  }
  for (size_t i = 1; i < count; i++) {
    if (splits[i] < splits[i - 1]) {
      return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                       "row splits do not decrease; number %zu is %lld, after %lld", i,
                       (long long)splits[i], (long long)splits[i - 1]);
    }
  }
  return CST_OK;
}

static cst_status partition_rows(const cst_structured *tensor, cst__levels *levels,
                                 const cst__lists *lists, cst_structured **out, cst_error *error) {
  int64_t all[2] = {0, lists->count};
  const cst__lists items[2] = {{1, -1, all, NULL}, *lists};
  cst_array *rest;
  CST__TRY(cst__levels_rest(levels, tensor, &rest, error));
  cst_status status = cst__levels_tensor(items, 2, rest, out, error);
  cst_array_release(rest);
  return status;
}

static cst_status partition_uniform(const cst_structured *tensor, cst__levels *levels, int64_t size,
                                    cst_structured **out, cst_error *error) {
  int64_t rows = levels->rest.chosen.count;
  if (size <= 0 || rows % size != 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "%lld rows cannot be divided into lists of %lld", (long long)rows,
                     (long long)size);
  }
  cst__lists lists;
  CST__TRY(cst__lists_fixed(rows / size, size, &levels->arena, &lists, error));
  return partition_rows(tensor, levels, &lists, out, error);
}

cst_status cst_structured_partition(const cst_structured *tensor, const int64_t *splits,
                                    size_t count, int64_t size, cst_structured **out,
                                    cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  cst__levels levels;
  size_t first;
  CST__TRY(cst__structured_axis(0, cst__structured_rank(tensor), &first, error));
  CST__TRY(cst__levels_open(tensor, 1, &levels, error));
  cst_status status;
  if (splits == NULL) {
    status = partition_uniform(tensor, &levels, size, out, error);
  } else {
    status = partition_check(splits, count, levels.rest.chosen.count, error);
    if (status == CST_OK) {
      const cst__lists lists = {(int64_t)count - 1, -1, splits, NULL};
      status = partition_rows(tensor, &levels, &lists, out, error);
    }
  }
  cst__levels_close(&levels);
  return status;
}
