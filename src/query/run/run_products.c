/* Places of what belongs together: each element of a list with those of another, and elements side
 * by side that are equal.
 */
#include "base/interrupt.h"
#include "query/functions/same.h"
#include "query/run/steps_run.h"

/* ---- products ---- */

/* The elements of `others` that each element of `lists` goes with: all of the same parent, or those
 * after the one that it has already. */
typedef struct product {
  const cst__lists *lists;
  const cst__lists *others;
  bool is_after;       /* only those after */
  const int64_t *last; /* is_after: the element that each has; NULL: itself */
} product;

/* From argument `first` on: [list place, list place, index or CST__NO_STEP]. */
static cst_status product_of(const cst__step_call *c, size_t first, product *out) {
  uint32_t last = c->step->args[first + 2];
  *out = (product){.lists = &cst__step_arg(c, first)->lists,
                   .others = &cst__step_arg(c, first + 1)->lists,
                   .is_after = c->step->flag};
  if (last != CST__NO_STEP) {
    cst__chosen *index = &c->run->slots[last].index;
    CST__TRY(cst__chosen_need_numbers(index, &c->run->numbers, c->error));
    out->last = index->at;
  }
  return CST_OK;
}

/* Where the elements begin that element `at` of list `i` goes with; they end with the list. */
static inline int64_t product_begin(const product *p, int64_t i, int64_t at) {
  return !p->is_after ? p->others->splits[i] : (p->last != NULL ? p->last[at] : at) + 1;
}

static inline bool product_is_null(const product *p, int64_t i) {
  return cst__list_is_null(p->lists, i) || cst__list_is_null(p->others, i);
}

/* Where the elements of each list end; null lists have none. CST_LIMIT before more than 64 bits. */
static cst_status product_splits(const cst__step_call *c, const product *p, int64_t *splits) {
  int64_t total = 0;
  splits[0] = 0;
  for (int64_t i = 0; i < p->lists->count; i++) {
    int64_t last = p->others->splits[i + 1];
    for (int64_t at = p->lists->splits[i], end = at; at < p->lists->splits[i + 1];) {
      CST__TRY(cst__next_stretch(&end, p->lists->splits[i + 1], c->error));
      for (; at < end; at++) {
        if (__builtin_add_overflow(total, last - product_begin(p, i, at), &total)) {
          return cst__step_check_count(c, INT64_MAX);
        }
      }
    }
    splits[i + 1] = total;
  }
  return cst__step_check_count(c, total);
}

static cst_status product_nulls(const cst__step_call *c, const product *p) {
  if (p->lists->nulls == NULL && p->others->nulls == NULL) {
    return CST_OK;
  }
  uint8_t *nulls = cst__step_bytes(c, p->lists->count);
  if (nulls == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0, end = 0; i < p->lists->count;) {
    CST__TRY(cst__next_stretch(&end, p->lists->count, c->error));
    for (; i < end; i++) {
      nulls[i] = product_is_null(p, i);
    }
  }
  c->out->lists.nulls = nulls;
  return CST_OK;
}

/* For each element of the product the one of `lists`, or (of_others) that of `others`. */
static cst_status product_index(const cst__step_call *c, const product *p, int64_t total,
                                bool of_others) {
  int64_t *to = cst__step_numbers(c, total);
  cst__numbers_writer w = {to, 0, c->error};
  if (to == NULL) {
    return CST_NO_MEMORY;
  }
  c->out->index = (cst__chosen){.count = total, .at = to};
  for (int64_t i = 0; i < p->lists->count; i++) {
    for (int64_t at = p->lists->splits[i]; at < p->lists->splits[i + 1]; at++) {
      int64_t begin = product_begin(p, i, at);
      int64_t size = p->others->splits[i + 1] - begin;
      CST__TRY(cst__numbers_put(&w, of_others ? begin : at, of_others ? 1 : 0, size));
    }
  }
  return CST_OK;
}

cst_status cst__step_product(const cst__step_call *c) {
  product p;
  CST__TRY(product_of(c, 0, &p));
  int64_t count = p.lists->count;
  int64_t *splits = cst__step_numbers(c, count + 1);
  if (splits == NULL) {
    return CST_NO_MEMORY;
  }
  CST__TRY(product_splits(c, &p, splits));
  c->out->count = splits[count];
  c->out->lists = (cst__lists){count, -1, splits, NULL};
  CST__TRY(product_nulls(c, &p));
  return product_index(c, &p, splits[count], false);
}

cst_status cst__step_partners(const cst__step_call *c) {
  product p;
  CST__TRY(product_of(c, 1, &p));
  c->out->count = cst__step_arg(c, 0)->count;
  return product_index(c, &p, c->out->count, true);
}

/* ---- runs ---- */

cst_status cst__step_runs(const cst__step_call *c) {
  const cst__step_result *lists = cst__step_arg(c, 0);
  const cst__view *values = &cst__step_arg(c, 1)->view;
  const int64_t *from = lists->lists.splits;
  bool is_one = c->run->plan->steps[c->step->args[1]].is_one;
  int64_t count = lists->lists.count;
  int64_t *splits = cst__step_numbers(c, count + 1);
  int64_t *at = cst__step_numbers(c, lists->count);
  const cst__same same = cst__same_of(values);
  int64_t total = 0;
  if (splits == NULL || at == NULL) {
    return CST_NO_MEMORY;
  }
  CST__TRY(cst__step_take_work(c, 0, cst__limit_text_bytes(values)));
  for (int64_t i = 0; i < count; i++) {
    int64_t begin = from[i];
    splits[i] = total;
    for (int64_t k = begin, end = begin; k < from[i + 1];) {
      CST__TRY(cst__next_stretch(&end, from[i + 1], c->error));
      for (; k < end; k++) {
        at[total] = k;
        total += k == begin || !(is_one || cst__same_slots(&same, k - 1, k));
      }
    }
  }
  splits[count] = total;
  c->out->count = total;
  c->out->lists = (cst__lists){count, -1, splits, lists->lists.nulls};
  c->out->index = (cst__chosen){.count = total, .at = at};
  return CST_OK;
}
