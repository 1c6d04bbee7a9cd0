/* The values of each row of a column. */
#include "statistics/column_values.h"

static cst_status take_items(void *ctx, const cst__value_block *values, cst_error *error) {
  cst__column_values *rows = ctx;
  const size_t size = cst__column_values_item_size(rows);
  (void)error;
  memcpy((char *)rows->items + (size_t)rows->count * size, values->items, values->count * size);
  rows->count += (int64_t)values->count;
  return CST_OK;
}

/* From splits of items to those of the items that are not null. */
static void leave_nulls_out(const cst__slots *slots, int64_t *splits, int64_t count) {
  int64_t valid = 0;
  int64_t item = 0;
  for (int64_t row = 0; row < count; row++) {
    for (const int64_t end = splits[row + 1]; item < end; item++) {
      valid += !cst__slot_is_null(slots, item);
    }
    splits[row + 1] = valid;
  }
}

cst_status cst__column_values_read(const cst__view *column, cst__arena *arena,
                                   cst__column_values *out, cst_error *error) {
  cst__slots slots = cst__slots_all(column);
  int64_t num_nulls = 0;
  *out = (cst__column_values){.splits = cst__numbers_new(arena, column->length + 1, error)};
  if (out->splits == NULL) {
    return CST_NO_MEMORY;
  }
  CST__TRY(cst__numbers_count(out->splits, column->length + 1, error));
  while (cst__view_is_list(slots.view)) {
    CST__TRY(cst__slots_descend(&slots, out->splits, column->length, arena, error));
  }
  CST__TRY(cst__family_of(slots.view, &out->family, error));
  out->is_bool = slots.view->layout == CST__LAYOUT_BOOL;
  out->items = cst__arena_take_items(arena, slots.chosen.count, cst__column_values_item_size(out));
  if (out->items == NULL) {
    return cst__fail_memory(error, (size_t)slots.chosen.count);
  }
  CST__TRY(cst__values_each(&slots, NULL, take_items, out, &num_nulls, error));
  if (num_nulls > 0) {
    CST__TRY(cst__chosen_need_numbers(&slots.chosen, arena, error));
    leave_nulls_out(&slots, out->splits, column->length);
  }
  return CST_OK;
}
