/* Sorting the elements of each list by a value. */
#include "query/functions/order.h"
#include "query/run/slots.h"

cst_status cst__step_sort(const cst__step_call *c) {
  const cst__step_slot *lists = cst__step_arg(c, 0);
  const cst__view *values = &cst__step_arg(c, 1)->view;
  int64_t count = cst__place_parent_slot(c->run, c->step->args[0])->count;
  c->out->count = lists->count;
  c->out->splits = lists->splits;
  c->out->nulls = lists->nulls;
  c->out->index = (cst__step_index){.is_all = true, .num_spans = -1};
  if (c->run->plan->steps[c->step->args[1]].is_one || values->layout == CST__LAYOUT_NULL) {
    return CST_OK;
  }
  cst__order order;
  CST__TRY(cst__order_init(&order, values, c->step->flag, c->error));
  int64_t bytes = cst__order_longest(lists->splits, count) * (int64_t)sizeof(cst__order_item);
  order.items = cst__step_bytes(c, bytes);
  order.spare = cst__step_bytes(c, bytes);
  int64_t *at = cst__step_numbers(c, lists->count);
  if (order.items == NULL || order.spare == NULL || at == NULL) {
    return CST_NO_MEMORY;
  }
  size_t work = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t begin = lists->splits[i];
    int64_t end = lists->splits[i + 1];
    int64_t num_sorted;
    if (cst__stretch_is_over(&work, 64 * (size_t)(end - begin))) {
      CST__TRY(cst__interrupted(c->error));
    }
    order.at = at + begin;
    CST__TRY(cst__order_list(&order, begin, end, &num_sorted, c->error));
  }
  c->out->index = (cst__step_index){.at = at, .num_spans = -1};
  return CST_OK;
}
