/* Sorting the elements of each list by a value. */
#include "nested/order.h"
#include "query/run/steps_run.h"

cst_status cst__step_sort(const cst__step_call *c) {
  const cst__step_result *lists = cst__step_arg(c, 0);
  const cst__view *values = &cst__step_arg(c, 1)->view;
  const int64_t *splits = lists->lists.splits;
  int64_t count = lists->lists.count;
  c->out->count = lists->count;
  c->out->lists = lists->lists;
  c->out->index = cst__index_all(lists->count);
  if (c->run->plan->steps[c->step->args[1]].is_one || values->layout == CST__LAYOUT_NULL) {
    return CST_OK;
  }
  cst__order order;
  CST__TRY(cst__order_init(&order, values, c->step->flag, c->error));
  int64_t bytes = cst__lists_longest(&lists->lists) * (int64_t)sizeof(cst__order_item);
  order.items = cst__step_bytes(c, bytes);
  order.spare = cst__step_bytes(c, bytes);
  int64_t *at = cst__step_numbers(c, lists->count);
  if (order.items == NULL || order.spare == NULL || at == NULL) {
    return CST_NO_MEMORY;
  }
  size_t work = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t begin = splits[i];
    int64_t end = splits[i + 1];
    int64_t num_sorted;
    if (cst__stretch_is_over(&work, 64 * (size_t)(end - begin))) {
      CST__TRY(cst__interrupted(c->error));
    }
    order.at = at + begin;
    CST__TRY(cst__order_list(&order, begin, end, &num_sorted, c->error));
  }
  c->out->index = (cst__chosen){.count = lists->count, .at = at};
  return CST_OK;
}
