/* Opening the dimensions of a tensor, and putting them on top of an array again. */
#include "structured/levels.h"

#include "structured/made.h"
#include "table/rows.h"

/* ---- opening ---- */

int64_t *cst__levels_take(cst__levels *levels, int64_t count, cst_error *error) {
  return cst__numbers_new(&levels->arena, count, error);
}

static cst_status levels_open_all(const cst_structured *tensor, cst__levels *levels,
                                  cst_error *error) {
  size_t size = (levels->count + 1) * sizeof *levels->items;
  levels->items = cst__arena_take_zero(&levels->arena, size);
  if (levels->items == NULL) {
    return cst__fail_memory(error, size);
  }
  for (size_t i = 0; i < levels->count; i++) {
    cst__lists *level = &levels->items[i];
    if (i == 0 && !tensor->is_row) { /* of a whole array: its rows are one list */
      CST__TRY(cst__lists_one(levels->rest.chosen.count, &levels->arena, level, error));
      continue;
    }
    const uint8_t *nulls;
    CST__TRY(cst__slots_nulls(&levels->rest, &levels->arena, &nulls, error));
    CST__TRY(cst__slots_open(&levels->rest, &levels->arena, level, error));
    level->nulls = nulls;
    level->size = nulls == NULL ? level->size : -1;
  }
  return CST_OK;
}

cst_status cst__levels_open(const cst_structured *tensor, size_t count, cst__levels *out,
                            cst_error *error) {
  *out = (cst__levels){.count = count, .rest = cst__slots_all(&tensor->view)};
  cst__arena_init(&out->arena, &tensor->array->allocator);
  cst_status status = levels_open_all(tensor, out, error);
  if (status != CST_OK) {
    cst__levels_close(out);
  }
  return status;
}

void cst__levels_close(cst__levels *levels) { cst__arena_reset(&levels->arena); }

cst_status cst__levels_rest(const cst__levels *levels, const cst_structured *tensor,
                            cst_array **out, cst_error *error) {
  const cst__owner owner = cst__array_owner(tensor->array);
  struct ArrowArray made;
  CST__TRY(cst__slots_array(&levels->rest, &owner, &made, error));
  return cst__array_result(tensor->array, levels->rest.view->schema, &made, out, error);
}

cst_status cst__levels_choose(const cst__levels *levels, const cst_structured *tensor,
                              const cst__chosen *chosen, cst_array **out, cst_error *error) {
  cst_array *rest;
  CST__TRY(cst__levels_rest(levels, tensor, &rest, error));
  cst_status status = cst__array_choose(rest, chosen, out, error);
  cst_array_release(rest);
  return status;
}

/* ---- putting together ---- */

cst_status cst__levels_tensor(const cst__lists *levels, size_t count, const cst_array *rest,
                              cst_structured **out, cst_error *error) {
  cst__arena arena;
  const cst__assembly a = {cst__array_owner(rest), &arena, error};
  cst__made made;
  bool is_row = count == 0 || cst__list_is_null(&levels[0], 0);
  if (count <= 1 && (count == 0 || !is_row)) {
    return cst_structured_new(rest, is_row, out, error);
  }
  cst__arena_init(&arena, &rest->allocator);
  cst_status status = cst__made_array(&a, rest, &made);
  for (size_t i = count; i-- > (is_row ? 0 : 1) && status == CST_OK;) {
    status = cst__made_around(&a, &levels[i], &made);
  }
  if (status == CST_OK) {
    status = cst__made_tensor(&a, &made, is_row, out);
  }
  cst__arena_reset(&arena);
  return status;
}
