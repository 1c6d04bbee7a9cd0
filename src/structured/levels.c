/* Opening the dimensions of a tensor, and putting them on top of an array again. */
#include "structured/levels.h"

#include <stdio.h>

#include "arrow/owned.h"
#include "structured/made.h"
#include "table/rows.h"

/* ---- opening ---- */

int64_t *cst__levels_take(cst__levels *levels, int64_t count, cst_error *error) {
  size_t size = SIZE_MAX;
  int64_t *numbers = cst__mul((size_t)count, sizeof *numbers, &size)
                         ? cst__arena_take(&levels->arena, size)
                         : NULL;
  if (numbers == NULL) {
    cst__fail_memory(error, size);
  }
  return numbers;
}

/* Which of the lists that are about to be opened are null. */
static cst_status level_note_nulls(cst__levels *levels, cst__dim *level, cst_error *error) {
  const cst__runs *lists = &levels->rest;
  if (lists->node.view->null_count == 0) {
    return CST_OK;
  }
  level->nulls = cst__arena_take(&levels->arena, (size_t)lists->total + 1);
  if (level->nulls == NULL) {
    return cst__fail_memory(error, (size_t)lists->total + 1);
  }
  uint8_t *to = level->nulls;
  unsigned any = 0;
  for (size_t i = 0; i < lists->count; i++) {
    for (int64_t k = 0; k < lists->items[i].length; k++, to++) {
      *to = cst__view_is_null(lists->node.view, lists->items[i].begin + k);
      any |= *to;
    }
  }
  if (any == 0) {
    level->nulls = NULL;
  }
  return CST_OK;
}

/* The offsets of lists that are all of their array, if these are splits: else NULL. */
static const int64_t *level_own_splits(const cst__runs *lists) {
  const cst__view *view = lists->node.view;
  if (view->layout != CST__LAYOUT_LIST || view->offset_width != 8 || view->validity != NULL ||
      view->offsets == NULL || lists->count != 1 || lists->veil != NULL) {
    return NULL;
  }
  const int64_t *splits = (const int64_t *)view->offsets + view->offset + lists->items[0].begin;
  return splits[0] == 0 ? splits : NULL;
}

static cst_status level_open(cst__levels *levels, cst__dim *level, bool as_is, cst_error *error) {
  const int64_t *own = as_is ? level_own_splits(&levels->rest) : NULL;
  const cst__view *view = levels->rest.node.view;
  level->num_lists = levels->rest.total;
  CST__TRY(level_note_nulls(levels, level, error));
  level->size =
      view->layout == CST__LAYOUT_FIXED_LIST && level->nulls == NULL ? view->fixed_size : -1;
  level->splits = (int64_t *)(uintptr_t)own;
  return cst__runs_open(&levels->rest, own != NULL ? NULL : &level->splits, error);
}

/* The outermost dimension of a tensor that is a whole array: its rows are one list. */
static cst_status level_of_rows(cst__levels *levels, cst__dim *level, cst_error *error) {
  level->num_lists = 1;
  level->size = -1;
  level->splits = cst__levels_take(levels, 2, error);
  if (level->splits == NULL) {
    return CST_NO_MEMORY;
  }
  level->splits[0] = 0;
  level->splits[1] = levels->rest.total;
  return CST_OK;
}

static cst_status levels_open_all(const cst_structured *tensor, bool as_is, cst__levels *levels,
                                  cst_error *error) {
  const cst__node root = cst__structured_root(tensor);
  size_t size = (levels->count + 1) * sizeof *levels->items;
  levels->items = cst__arena_take_zero(&levels->arena, size);
  if (levels->items == NULL) {
    return cst__fail_memory(error, size);
  }
  CST__TRY(cst__runs_all(&root, &levels->arena, &levels->rest, error));
  for (size_t i = 0; i < levels->count; i++) {
    CST__TRY(i == 0 && !tensor->is_row ? level_of_rows(levels, &levels->items[i], error)
                                       : level_open(levels, &levels->items[i], as_is, error));
  }
  return CST_OK;
}

static cst_status levels_begin(const cst_structured *tensor, size_t count, bool as_is,
                               cst__levels *out, cst_error *error) {
  *out = (cst__levels){.count = count};
  cst__arena_init(&out->arena, &tensor->array->allocator);
  cst_status status = levels_open_all(tensor, as_is, out, error);
  if (status != CST_OK) {
    cst__levels_close(out);
    return status;
  }
  out->rest.arena = NULL; /* *out moves with its arena; nothing more is added to the runs */
  return CST_OK;
}

cst_status cst__levels_open(const cst_structured *tensor, size_t count, cst__levels *out,
                            cst_error *error) {
  return levels_begin(tensor, count, false, out, error);
}

cst_status cst__levels_open_as_is(const cst_structured *tensor, size_t count, cst__levels *out,
                                  cst_error *error) {
  return levels_begin(tensor, count, true, out, error);
}

void cst__levels_close(cst__levels *levels) { cst__arena_reset(&levels->arena); }

cst_status cst__levels_rest(const cst__levels *levels, const cst_structured *tensor,
                            cst_array **out, cst_error *error) {
  struct ArrowArray made;
  CST__TRY(cst__runs_array(&levels->rest, tensor->array, &made, error));
  return cst__array_result(tensor->array, levels->rest.node.schema, &made, out, error);
}

cst_status cst__levels_choose(const cst__levels *levels, const cst_structured *tensor,
                              const int64_t *places, int64_t count, cst_array **out,
                              cst_error *error) {
  cst_array *rest;
  CST__TRY(cst__levels_rest(levels, tensor, &rest, error));
  cst_status status = cst__array_take_slots(rest, places, (size_t)count, out, error);
  cst__array_handle_release(rest);
  return status;
}

cst_status cst__levels_choose_spans(const cst__levels *levels, const cst_structured *tensor,
                                    const cst__spans *spans, cst_array **out, cst_error *error) {
  cst_array *rest;
  CST__TRY(cst__levels_rest(levels, tensor, &rest, error));
  cst_status status = cst__array_take_spans(rest, spans, out, error);
  cst__array_handle_release(rest);
  return status;
}

/* ---- putting together ---- */

typedef struct stacking {
  cst__assembly assembly;
  const cst_allocator *allocator;
} stacking;

cst_status cst__dim_validity(const cst__dim *dim, struct ArrowArray *out, cst_error *error) {
  if (dim->nulls == NULL) {
    return CST_OK;
  }
  uint8_t *bits = cst__owned_buffer(out, 0, cst__bits_size(dim->num_lists));
  if (bits == NULL) {
    return cst__fail_memory(error, cst__bits_size(dim->num_lists));
  }
  memset(bits, 0, cst__bits_size(dim->num_lists));
  out->null_count = 0;
  for (int64_t i = 0; i < dim->num_lists; i++) {
    bits[i >> 3] = (uint8_t)(bits[i >> 3] | (unsigned)(dim->nulls[i] == 0) << (i & 7));
    out->null_count += dim->nulls[i] != 0;
  }
  return CST_OK;
}

static cst_status stack_offsets(const stacking *s, const cst__dim *level, struct ArrowArray *out) {
  size_t size = ((size_t)level->num_lists + 1) * sizeof *level->splits;
  int64_t *offsets = cst__owned_buffer(out, 1, size);
  if (offsets == NULL) {
    return cst__fail_memory(s->assembly.error, size);
  }
  memcpy(offsets, level->splits, size);
  return CST_OK;
}

/* The type of a level's lists; the format of one of fixed size lies in the arena. */
static cst_status stack_type(const stacking *s, const cst__dim *level, cst__made *made) {
  struct ArrowSchema *types = cst__arena_take(s->assembly.arena, 2 * sizeof *types);
  const struct ArrowSchema **child = cst__arena_take(s->assembly.arena, sizeof *child);
  char *format = cst__arena_take(s->assembly.arena, 32);
  if (types == NULL || child == NULL || format == NULL) {
    return cst__fail_memory(s->assembly.error, 2 * sizeof *types);
  }
  if (level->size >= 0) {
    (void)snprintf(format, 32, "+w:%lld", (long long)level->size);
  } else {
    (void)snprintf(format, 32, "+L");
  }
  types[0] = *made->schema;
  types[0].name = "item";
  types[0].flags |= ARROW_FLAG_NULLABLE;
  *child = &types[0];
  types[1] = cst__array_type_field(format, "", child, 1);
  made->schema = &types[1];
  return CST_OK;
}

static cst_status stack_level(const stacking *s, const cst__dim *level, cst__made *made) {
  /* Arrow's sizes have 32 bits; what is larger has no lists, or no memory. */
  bool is_fixed = level->size >= 0 && level->size <= INT32_MAX && level->nulls == NULL;
  struct ArrowArray lists;
  cst__dim plain = *level;
  plain.size = is_fixed ? level->size : -1;
  CST__TRY(cst__owned_new(s->allocator, is_fixed ? 1 : 2, 1, false, &lists, s->assembly.error));
  lists.length = level->num_lists;
  *lists.children[0] = made->array;
  made->array = lists;
  CST__TRY(cst__dim_validity(level, &made->array, s->assembly.error));
  if (!is_fixed) {
    CST__TRY(stack_offsets(s, level, &made->array));
  }
  return stack_type(s, &plain, made);
}

cst_status cst__levels_tensor(const cst__dim *levels, size_t count, const cst_array *rest,
                              cst_structured **out, cst_error *error) {
  cst__arena arena;
  stacking s = {{rest, &arena, error}, &rest->allocator};
  cst__made made;
  bool is_row = count == 0 || (levels[0].nulls != NULL && levels[0].nulls[0] != 0);
  if (count <= 1 && (count == 0 || !is_row)) {
    return cst__structured_new(rest, is_row, out, error);
  }
  cst__arena_init(&arena, &rest->allocator);
  cst_status status = cst__made_array(&s.assembly, rest, &made);
  for (size_t i = count; i-- > (is_row ? 0 : 1) && status == CST_OK;) {
    status = stack_level(&s, &levels[i], &made);
    if (status != CST_OK) {
      cst__made_release(&made);
    }
  }
  if (status == CST_OK) {
    status = cst__made_tensor(&s.assembly, &made, is_row, out);
  }
  cst__arena_reset(&arena);
  return status;
}
