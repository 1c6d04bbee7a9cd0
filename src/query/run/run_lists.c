/* Places: lists of lists as one, lists that are chosen, and elements that are chosen from lists. */
#include "query/run/steps_run.h"

static cst__arena *lists_arena(const cst__step_call *c) { return &c->run->numbers; }

/* The same lists, of which nothing is left out. */
static cst_status lists_keep_all(const cst__step_call *c, const cst__step_result *from) {
  c->out->count = from->count;
  c->out->lists = from->lists;
  c->out->index = cst__index_all(from->count);
  return CST_OK;
}

static cst_status lists_keep(const cst__step_call *c, const cst__picked *picked) {
  c->out->count = picked->items.count;
  c->out->lists = picked->lists;
  c->out->index = picked->items;
  return cst__step_check_count(c, c->out->count);
}

/* ---- lists of lists, and lists again ---- */

cst_status cst__step_join(const cst__step_call *c) {
  const cst__step_result *lower = cst__step_arg(c, 1);
  CST__TRY(lists_keep_all(c, lower));
  return cst__lists_join(&cst__step_arg(c, 0)->lists, &lower->lists, lists_arena(c), &c->out->lists,
                         c->error);
}

cst_status cst__step_choose_lists(const cst__step_call *c) {
  cst__step_result *chosen = &c->run->slots[c->step->args[1]];
  const cst__lists *lists = &cst__step_arg(c, 2)->lists;
  cst__picked picked;
  int64_t most; /* sums may not pass 64 bits, however often the lists are chosen */
  if (__builtin_mul_overflow(chosen->count, cst__lists_total(lists), &most)) {
    return cst__step_check_count(c, INT64_MAX);
  }
  CST__TRY(cst__lists_choose(lists, &chosen->index, lists_arena(c), &picked, c->error));
  return lists_keep(c, &picked);
}

cst_status cst__step_filter(const cst__step_call *c) {
  const cst__step_result *from = cst__step_arg(c, 0);
  const cst__view *bools = &cst__step_arg(c, 1)->view;
  bool is_one = c->run->plan->steps[c->step->args[1]].is_one;
  cst__picked picked;
  const uint64_t *words = cst__bool_words(c, bools, is_one, from->count);
  if (words == NULL) {
    return CST_NO_MEMORY;
  }
  CST__TRY(cst__lists_filter(&from->lists, words, lists_arena(c), &picked, c->error));
  return lists_keep(c, &picked);
}

/* ---- slices ---- */

/* A bound of slices: a value for each list, one for all, or none. */
typedef struct slice_bound {
  const cst__view *view; /* NULL: it is left out */
  bool is_one;
} slice_bound;

typedef struct slice_bounds {
  slice_bound begin;
  slice_bound end;
  slice_bound step;
} slice_bounds;

static slice_bound slice_bound_of(const cst__step_call *c, size_t arg) {
  uint32_t number = c->step->args[arg];
  return arg >= c->step->num_args || number == CST__NO_STEP
             ? (slice_bound){NULL, true}
             : (slice_bound){&c->run->slots[number].view, c->run->plan->steps[number].is_one};
}

static bool slice_bound_has_null(const slice_bound *bound) {
  return bound->view != NULL &&
         (bound->view->null_count > 0 || bound->view->layout == CST__LAYOUT_NULL);
}

static inline bool slice_bound_is_null(const slice_bound *bound, int64_t i) {
  return bound->view != NULL && cst__view_is_null(bound->view, bound->is_one ? 0 : i);
}

/* `left_out` where there is none, or it is null. */
static inline int64_t slice_bound_at(const slice_bound *bound, int64_t i, int64_t left_out) {
  if (bound->view == NULL || slice_bound_is_null(bound, i)) {
    return left_out;
  }
  int64_t at = cst__view_int(bound->view, bound->is_one ? 0 : i);
  return at == CST__OPEN ? CST__OPEN + 1 : at; /* as far out of reach */
}

static inline cst__slice slice_at(const slice_bounds *b, int64_t i) {
  return (cst__slice){slice_bound_at(&b->begin, i, CST__OPEN),
                      slice_bound_at(&b->end, i, CST__OPEN), slice_bound_at(&b->step, i, 1)};
}

/* A null bound makes the list null, and empty. */
static cst_status slice_nulls(const cst__step_call *c, const slice_bounds *b, cst__lists *lists) {
  const uint8_t *from = lists->nulls;
  int64_t count = lists->count;
  if (!slice_bound_has_null(&b->begin) && !slice_bound_has_null(&b->end) &&
      !slice_bound_has_null(&b->step)) {
    return CST_OK;
  }
  uint8_t *nulls = cst__step_bytes(c, count);
  if (nulls == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0, end = 0; i < count;) {
    CST__TRY(cst__next_stretch(&end, count, c->error));
    for (; i < end; i++) {
      nulls[i] = (from != NULL && from[i]) || slice_bound_is_null(&b->begin, i) ||
                 slice_bound_is_null(&b->end, i) || slice_bound_is_null(&b->step, i);
    }
  }
  lists->nulls = nulls;
  return CST_OK;
}

/* A step of 0, of one list or (-1) of all: null lists have no elements to take. */
static cst_status slice_fail_step(const cst__step_call *c, const cst__lists *lists, int64_t list) {
  int64_t last = list < 0 ? lists->count : list + 1;
  list = list < 0 ? 0 : list;
  while (list < last && cst__list_is_null(lists, list)) {
    list++;
  }
  if (list == last) {
    return CST_OK;
  }
  cst__fail(c->error, CST_SCHEMA, "use 1, or -1 to reverse", "the slice step is 0");
  cst__error_add_record(c->error, list, -1);
  return CST_SCHEMA;
}

/* The slices of all lists, with steps that are not 0. */
static cst_status slice_all(const cst__step_call *c, const slice_bounds *b, const cst__lists *lists,
                            cst__slices *out) {
  out->is_one = b->begin.is_one && b->end.is_one && b->step.is_one;
  int64_t count = out->is_one ? 1 : lists->count;
  cst__slice *slices = cst__step_bytes(c, cst__limit_times(count, (int64_t)sizeof *slices));
  if (slices == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0, end = 0; i < count;) {
    CST__TRY(cst__next_stretch(&end, count, c->error));
    for (; i < end; i++) {
      slices[i] = slice_at(b, i);
      if (slices[i].step == 0) {
        CST__TRY(slice_fail_step(c, lists, out->is_one ? -1 : i));
        slices[i].step = 1; /* of null lists alone */
      }
    }
  }
  out->items = slices;
  return CST_OK;
}

cst_status cst__step_slice(const cst__step_call *c) {
  const slice_bounds bounds = {slice_bound_of(c, 1), slice_bound_of(c, 2), slice_bound_of(c, 3)};
  cst__lists lists = cst__step_arg(c, 0)->lists;
  const cst__chosen all = {.count = lists.count};
  cst__slices slices;
  cst__picked picked;
  CST__TRY(slice_nulls(c, &bounds, &lists));
  CST__TRY(slice_all(c, &bounds, &lists, &slices));
  CST__TRY(cst__lists_slice(&lists, &all, slices, lists_arena(c), &picked, c->error));
  return lists_keep(c, &picked);
}

cst_status cst__step_reverse(const cst__step_call *c) {
  static const cst__slice backwards = {CST__OPEN, CST__OPEN, -1};
  const cst__lists *lists = &cst__step_arg(c, 0)->lists;
  const cst__chosen all = {.count = lists->count};
  cst__picked picked;
  CST__TRY(cst__lists_slice(lists, &all, (cst__slices){&backwards, true}, lists_arena(c), &picked,
                            c->error));
  picked.lists = *lists;
  return lists_keep(c, &picked);
}

/* ---- lists side by side ---- */

static cst_status same_fail(const cst__step_call *c, int64_t list, int64_t a, int64_t b) {
  cst__fail(c->error, CST_SCHEMA, "zipped lists must have the same length",
            "lists of %lld and of %lld elements side by side", (long long)a, (long long)b);
  cst__error_add_record(c->error, list, -1);
  return CST_SCHEMA;
}

/* Null is what is null in both. */
static cst_status same_nulls(const cst__step_call *c, const uint8_t *a, const uint8_t *b,
                             int64_t count) {
  uint8_t *nulls = cst__step_bytes(c, count);
  if (nulls == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0, end = 0; i < count;) {
    CST__TRY(cst__next_stretch(&end, count, c->error));
    for (; i < end; i++) {
      nulls[i] = a[i] & b[i];
    }
  }
  c->out->lists.nulls = nulls;
  return CST_OK;
}

cst_status cst__step_same(const cst__step_call *c) {
  const cst__lists *a = &cst__step_arg(c, 0)->lists;
  const cst__lists *b = &cst__step_arg(c, 1)->lists;
  int64_t list = cst__lists_differ(a, b);
  if (list >= 0) {
    return same_fail(c, list, cst__list_size(a, list), cst__list_size(b, list));
  }
  CST__TRY(lists_keep_all(c, cst__step_arg(c, 0)));
  c->out->lists.nulls = NULL;
  return a->nulls != NULL && b->nulls != NULL ? same_nulls(c, a->nulls, b->nulls, a->count)
                                              : CST_OK;
}
