/* The order of the values of a list: what sorting, ranks and quantiles share.
 */
#ifndef NESTED_ORDER_H
#define NESTED_ORDER_H

#include "arrow/view.h"
#include "base/alloc.h"

typedef struct cst__order_item {
  uint64_t key;
  int64_t element;
} cst__order_item;

typedef struct cst__order {
  const cst__view *values;
  bool descending;
  bool by_bytes;          /* equal keys are not yet equal values */
  cst__order_item *items; /* the caller's, both: room for the longest list; they change places */
  cst__order_item *spare;
  int64_t *at; /* where a list's elements go in their order; the caller's, too */
  void *room;  /* of cst__order_take */
} cst__order;

/* CST_UNSUPPORTED for a type without an order. `items`, `spare` and `at` are the caller's to set.
 */
cst_status cst__order_init(cst__order *order, const cst__view *values, bool descending,
                           cst_error *error);

/* Room for lists of up to `longest` (cst__lists_longest) elements: `items`, `spare` and `at` in one
 * block, which cst__delete(order->room) frees. */
cst_status cst__order_take(cst__order *order, int64_t longest, const cst_allocator *allocator,
                           cst_error *error);

/* Writes the elements [begin, end) to order->at in their order: first *num_sorted values, equal
 * ones as they stand, then NaN, then nulls; the latter two as they stand, also if `descending`. */
cst_status cst__order_list(cst__order *order, int64_t begin, int64_t end, int64_t *num_sorted,
                           cst_error *error);

/* Whether two elements, neither NaN nor null, have the same value. */
bool cst__order_is_same(const cst__order *order, int64_t a, int64_t b);

#endif /* NESTED_ORDER_H */
