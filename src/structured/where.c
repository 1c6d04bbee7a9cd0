/* Choosing between two tensors, and where something is true. */
#include <columnstone/structured.h>

#include "arrow/owned.h"

#include "base/arguments.h"
#include "structured/selection.h"
#include "table/array.h"
#include "table/rows.h"
#include "table/walk.h"

/* ---- a condition without dimensions ---- */

/* Null, in the shape of a tensor. */
static cst_status where_null(const cst_structured *like, cst_structured **out, cst_error *error) {
  cst__selection s;
  size_t dims = like->is_row ? 0 : 1;
  int64_t null = -1;
  CST__TRY(cst__selection_begin(&s, like, dims, 1, error));
  s.places = (cst__chosen){.count = 1, .at = &null, .has_null = true};
  cst_status status = dims > 0 ? cst__select_all(&s) : CST_OK;
  if (status == CST_OK) {
    status = cst__selection_finish(&s, out);
  }
  cst__selection_end(&s);
  return status;
}

static bool is_null_at(const cst__indices *condition, int64_t i) {
  return condition->nulls != NULL && condition->nulls[i] != 0;
}

/* ---- dimensions ---- */

/* One of the two: the parts that stand beside the values of the condition. */
typedef struct where_side {
  cst__selection walk;
  cst_array *parts;
  const int64_t *at; /* of the parts, for each value of the condition; NULL: the only one */
} where_side;

static cst_status side_walk(where_side *side, const cst__indices *condition, size_t dims,
                            cst_error *error) {
  cst__select_by(&side->walk, condition);
  for (size_t i = 0; i < dims; i++) {
    CST__TRY(cst__select_together(&side->walk, CST__NULL_OF_INDICES));
  }
  CST__TRY(cst__chosen_need_numbers(&side->walk.places, &side->walk.source.arena, error));
  side->at = side->walk.places.at;
  return cst__levels_rest(&side->walk.source, side->walk.tensor, &side->parts, error);
}

/* To be closed if it succeeds. */
static cst_status side_open(where_side *side, const cst__indices *condition,
                            const cst_structured *tensor, cst_error *error) {
  size_t dims = condition->levels.count;
  *side = (where_side){.at = NULL};
  if (cst__structured_rank(tensor) == 0) {
    side->parts = cst_array_retain(tensor->array);
    return CST_OK;
  }
  if (cst__structured_rank(tensor) < dims) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "a condition of %zu dimensions for a tensor of %zu", dims,
                     cst__structured_rank(tensor));
  }
  CST__TRY(cst__selection_begin(&side->walk, tensor, dims, dims, error));
  cst_status status = side_walk(side, condition, dims, error);
  if (status != CST_OK) {
    cst__selection_end(&side->walk);
  }
  return status;
}

static void side_close(where_side *side) {
  cst_array_release(side->parts);
  if (side->walk.tensor != NULL) {
    cst__selection_end(&side->walk);
  }
}

/* The places, in the parts of x with those of y after them, that the condition chooses. */
static cst_status where_places(cst__indices *condition, const where_side *x, const where_side *y,
                               cst__chosen *out, cst_error *error) {
  int64_t *places = cst__levels_take(&condition->levels, condition->count, error);
  int64_t after = x->parts->array.length;
  if (places == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0; i < condition->count; i++) {
    int64_t of_x = x->at != NULL ? x->at[i] : 0;
    int64_t of_y = y->at != NULL ? y->at[i] : 0;
    places[i] = condition->mask[i] != 0 ? of_x : of_y >= 0 ? of_y + after : -1;
    places[i] = is_null_at(condition, i) ? -1 : places[i];
  }
  *out = (cst__chosen){.count = condition->count, .at = places, .has_null = true};
  return CST_OK;
}

static cst_status where_choose(cst__indices *condition, const where_side *x, const where_side *y,
                               cst_structured **out, cst_error *error) {
  const cst_array *sides[] = {x->parts, y->parts};
  cst_array *both;
  cst_array *chosen;
  cst__chosen places;
  CST__TRY(where_places(condition, x, y, &places, error));
  CST__TRY(cst_array_concat(sides, 2, &both, error));
  cst_status status = cst__array_choose(both, &places, &chosen, error);
  cst_array_release(both);
  if (status == CST_OK) {
    status =
        cst__levels_tensor(condition->levels.items, condition->levels.count, chosen, out, error);
    cst_array_release(chosen);
  }
  return status;
}

static cst_status where_each(cst__indices *condition, const cst_structured *x,
                             const cst_structured *y, cst_structured **out, cst_error *error) {
  where_side of_x;
  where_side of_y;
  CST__TRY(side_open(&of_x, condition, x, error));
  cst_status status = side_open(&of_y, condition, y, error);
  if (status == CST_OK) {
    status = where_choose(condition, &of_x, &of_y, out, error);
    side_close(&of_y);
  }
  side_close(&of_x);
  return status;
}

/* The rank that a side has in the result. */
static size_t side_rank(const cst_structured *side, size_t dims) {
  size_t rank = cst__structured_rank(side);
  return rank == 0 ? dims : rank;
}

cst_status cst_structured_where(const cst_structured *condition, const cst_structured *x,
                                const cst_structured *y, cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(condition, "condition", out, error));
  if (x == NULL || y == NULL) {
    return cst__missing(x == NULL ? "x" : "y", error);
  }
  cst__indices opened;
  size_t dims = cst__structured_rank(condition);
  if (side_rank(x, dims) != side_rank(y, dims)) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "x is of %zu dimensions, and y of %zu, where the condition has %zu",
                     cst__structured_rank(x), cst__structured_rank(y), dims);
  }
  CST__TRY(cst__indices_open_mask(condition, &opened, error));
  cst_status status = CST_OK;
  if (dims > 0) {
    status = where_each(&opened, x, y, out, error);
  } else if (is_null_at(&opened, 0)) {
    status = where_null(x, out, error);
  } else {
    *out = cst_structured_retain(opened.mask[0] != 0 ? x : y);
  }
  cst__indices_close(&opened);
  return status;
}

/* ---- masks that keep the shape ---- */

/* To the places beside the condition, null where it is not true. */
static cst_status mask_steps(cst__selection *s, cst__indices *condition) {
  cst__select_by(s, condition);
  for (size_t i = 0; i < condition->levels.count; i++) {
    CST__TRY(cst__select_together(s, CST__NULL_OF_EITHER));
  }
  int64_t count = s->places.count;
  CST__TRY(cst__chosen_need_numbers(&s->places, &s->source.arena, s->error));
  int64_t *at = cst__levels_take(&condition->levels, count + 1, s->error);
  if (at == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0; i < count; i++) {
    int64_t beside = cst__selection_beside(s, i);
    bool is_true = beside >= 0 && condition->mask[beside] != 0 && !is_null_at(condition, beside);
    at[i] = is_true ? s->places.at[i] : -1;
  }
  s->places = (cst__chosen){.count = count, .at = at, .has_null = true};
  cst__select_by(s, NULL);
  return CST_OK;
}

static cst_status mask_each(cst__indices *condition, const cst_structured *tensor,
                            cst_structured **out, cst_error *error) {
  cst__selection s;
  CST__TRY(cst__selection_begin(&s, tensor, condition->levels.count, cst__structured_rank(tensor),
                                error));
  cst_status status = mask_steps(&s, condition);
  if (status == CST_OK) {
    status = cst__selection_finish(&s, out);
  }
  cst__selection_end(&s);
  return status;
}

cst_status cst_structured_mask(const cst_structured *tensor, const cst_structured *condition,
                               cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  if (condition == NULL) {
    return cst__missing("condition", error);
  }
  cst__indices opened;
  size_t dims = cst__structured_rank(condition);
  if (dims > cst__structured_rank(tensor)) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "a condition of %zu dimensions for a tensor of %zu", dims,
                     cst__structured_rank(tensor));
  }
  CST__TRY(cst__indices_open_mask(condition, &opened, error));
  cst_status status = CST_OK;
  if (dims > 0) {
    status = mask_each(&opened, tensor, out, error);
  } else if (opened.mask[0] != 0 && !is_null_at(&opened, 0)) {
    *out = cst_structured_retain(tensor);
  } else {
    status = where_null(tensor, out, error);
  }
  cst__indices_close(&opened);
  return status;
}

/* ---- where it is true ---- */

static cst_status true_coordinates(cst__indices *condition, int64_t *count, cst_array **out,
                                   cst_error *error) {
  const cst__levels *levels = &condition->levels;
  const cst_allocator *allocator = &condition->elements->allocator;
  int64_t *items = cst__levels_take(&condition->levels, condition->count + 1, error);
  struct ArrowArray made;
  int64_t found = 0;
  int64_t total;
  if (items == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0; i < condition->count; i++) {
    items[found] = i;
    found += condition->mask[i];
  }
  if (__builtin_mul_overflow(found, (int64_t)levels->count, &total)) {
    return cst__fail(error, CST_LIMIT, NULL, "more coordinates than 64 bits count");
  }
  int64_t *values = cst__new_int64(allocator, total, &made, error);
  if (values == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t d = levels->count; d-- > 0;) {
    const int64_t *splits = levels->items[d].splits;
    int64_t list = 0; /* that an item lies in: its own place in the dimension above */
    for (int64_t i = 0; i < found; i++) {
      while (splits[list + 1] <= items[i]) {
        list++;
      }
      values[(size_t)i * levels->count + d] = items[i] - splits[list];
      items[i] = list;
    }
  }
  *count = found;
  return cst__int64_result(allocator, &made, out, error);
}

static cst_status make_true_places(cst__indices *condition, cst_structured **out,
                                   cst_error *error) {
  int64_t rank = (int64_t)condition->levels.count;
  int64_t count = 0;
  cst_array *values;
  CST__TRY(true_coordinates(condition, &count, &values, error));
  const int64_t rows[] = {0, count};
  cst__lists dims[] = {{1, -1, rows, NULL}, {0}};
  cst_status status = cst__lists_fixed(count, rank, &condition->levels.arena, &dims[1], error);
  if (status == CST_OK) {
    status = cst__levels_tensor(dims, 2, values, out, error);
  }
  cst_array_release(values);
  return status;
}

cst_status cst_structured_true_places(const cst_structured *condition, cst_structured **out,
                                      cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(condition, "condition", out, error));
  cst__indices opened;
  CST__TRY(cst__indices_open_mask(condition, &opened, error));
  cst_status status = make_true_places(&opened, out, error);
  cst__indices_close(&opened);
  return status;
}
