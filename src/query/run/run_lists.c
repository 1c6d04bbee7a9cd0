/* Places: lists of lists as one, lists that are chosen, and elements that are chosen from lists. */
#include "arrow/owned.h"
#include "query/run/slots.h"

/* ---- for all ---- */

static int64_t lists_count(const cst__step_call *c, size_t arg) {
  return cst__place_parent_slot(c->run, c->step->args[arg])->count;
}

/* The same lists, of which nothing is left out. */
static cst_status lists_keep_all(const cst__step_call *c, const cst__step_slot *lists) {
  c->out->count = lists->count;
  c->out->splits = lists->splits;
  c->out->nulls = lists->nulls;
  c->out->index = (cst__step_index){.is_all = true, .num_spans = -1};
  return CST_OK;
}

/* Spans of elements that are added one after the other; those that follow each other are one. */
typedef struct span_list {
  int64_t *begins;
  int64_t *ends;
  int64_t count;
  int64_t last; /* where the last one ends, in what it is a span of */
} span_list;

static bool span_list_new(const cst__step_call *c, int64_t most, span_list *out) {
  *out = (span_list){
      .begins = cst__step_numbers(c, most + 1), .ends = cst__step_numbers(c, most + 1), .last = -1};
  return out->begins != NULL && out->ends != NULL;
}

/* `total`: how many elements there were before. Without branches. */
static inline void span_list_add(span_list *s, int64_t begin, int64_t end, int64_t total) {
  s->begins[s->count] = begin;
  s->ends[s->count] = total;
  s->count += (int64_t)((begin < end) & (begin != s->last));
  s->last = begin < end ? end : s->last;
}

static cst_status lists_finish_spans(const cst__step_call *c, span_list *s, int64_t total) {
  s->ends[s->count] = total;
  c->out->count = total;
  c->out->index =
      (cst__step_index){.num_spans = s->count, .spans = {s->begins, s->ends, s->count, 1}};
  return cst__step_check_count(c, total);
}

/* ---- lists of lists, and lists again ---- */

cst_status cst__step_join(const cst__step_call *c) {
  const cst__step_slot *upper = cst__step_arg(c, 0);
  const cst__step_slot *lower = cst__step_arg(c, 1);
  int64_t count = lists_count(c, 0);
  int64_t *splits = cst__step_numbers(c, count + 1);
  if (splits == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0, end = 0; i <= count;) {
    CST__TRY(cst__next_stretch(&end, count + 1, c->error));
    for (; i < end; i++) {
      splits[i] = lower->splits[upper->splits[i]];
    }
  }
  c->out->count = lower->count;
  c->out->splits = splits;
  c->out->nulls = upper->nulls;
  c->out->index = (cst__step_index){.is_all = true, .num_spans = -1};
  return CST_OK;
}

/* Which of the chosen lists are null, -1 being one. */
static cst_status choose_nulls(const cst__step_call *c, const int64_t *at, int64_t count,
                               const uint8_t *from) {
  uint8_t *nulls = cst__step_bytes(c, count);
  if (nulls == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0, end = 0; i < count;) {
    CST__TRY(cst__next_stretch(&end, count, c->error));
    for (; i < end; i++) {
      nulls[i] = at[i] < 0 || (from != NULL && from[at[i]]);
    }
  }
  c->out->nulls = nulls;
  return CST_OK;
}

/* Sums may not pass 64 bits, however often the lists are chosen. */
static cst_status choose_check(const cst__step_call *c, int64_t count, int64_t elements) {
  int64_t most;
  return __builtin_mul_overflow(count, elements, &most) ? cst__step_check_count(c, INT64_MAX)
                                                        : CST_OK;
}

cst_status cst__step_choose_lists(const cst__step_call *c) {
  cst__step_slot *chosen = &c->run->slots[c->step->args[1]];
  const cst__step_slot *lists = cst__step_arg(c, 2);
  int64_t count = chosen->count;
  if (chosen->index.is_all) {
    return lists_keep_all(c, lists);
  }
  span_list spans;
  CST__TRY(choose_check(c, count, lists->count));
  const int64_t *at;
  CST__TRY(cst__index_numbers(c, &chosen->index, count, &at));
  int64_t *splits = cst__step_numbers(c, count + 1);
  if (splits == NULL || !span_list_new(c, count, &spans)) {
    return CST_NO_MEMORY;
  }
  int64_t total = 0;
  splits[0] = 0;
  for (int64_t i = 0, stop = 0; i < count;) {
    CST__TRY(cst__next_stretch(&stop, count, c->error));
    for (; i < stop; i++) {
      int64_t begin = at[i] < 0 ? 0 : lists->splits[at[i]];
      int64_t end = at[i] < 0 ? 0 : lists->splits[at[i] + 1];
      span_list_add(&spans, begin, end, total);
      total += end - begin;
      splits[i + 1] = total;
    }
  }
  c->out->splits = splits;
  if (chosen->index.has_none || lists->nulls != NULL) {
    CST__TRY(choose_nulls(c, at, count, lists->nulls));
  }
  return lists_finish_spans(c, &spans, total);
}

/* ---- filters ---- */

/* Which elements are chosen, 64 to a word, and how many before each word. */
typedef struct chosen_words {
  const uint64_t *words; /* [count + 1] */
  int64_t *ranks;        /* [count + 1] */
  int64_t count;
} chosen_words;

static cst_status words_new(const cst__step_call *c, const cst__view *bools, int64_t elements,
                            chosen_words *out) {
  bool is_one = c->run->plan->steps[c->step->args[1]].is_one;
  out->count = elements / 64;
  out->words = cst__bool_words(c, bools, is_one, elements);
  out->ranks = cst__step_numbers(c, out->count + 1);
  if (out->words == NULL || out->ranks == NULL) {
    return CST_NO_MEMORY;
  }
  int64_t rank = 0;
  for (int64_t i = 0; i <= out->count; i++) {
    out->ranks[i] = rank;
    rank += __builtin_popcountll(out->words[i]);
  }
  return CST_OK;
}

/* Chosen elements before this one. */
static inline int64_t words_rank(const chosen_words *w, int64_t at) {
  uint64_t before = (UINT64_C(1) << (at & 63)) - 1;
  return w->ranks[at >> 6] + __builtin_popcountll(w->words[at >> 6] & before);
}

static cst_status words_fill(const chosen_words *w, int64_t *at, cst_error *error) {
  for (int64_t i = 0, end = 0; i <= w->count;) {
    CST__TRY(cst__next_stretch(&end, w->count + 1, error));
    for (; i < end; i++) {
      for (uint64_t word = w->words[i]; word != 0; word &= word - 1) {
        *at++ = i * 64 + __builtin_ctzll(word);
      }
    }
  }
  return CST_OK;
}

cst_status cst__step_filter(const cst__step_call *c) {
  const cst__step_slot *lists = cst__step_arg(c, 0);
  const cst__view *bools = &cst__step_arg(c, 1)->view;
  int64_t count = lists_count(c, 0);
  chosen_words words;
  CST__TRY(words_new(c, bools, lists->count, &words));
  int64_t total = words_rank(&words, lists->count);
  if (total == lists->count) {
    return lists_keep_all(c, lists);
  }
  int64_t *splits = cst__step_numbers(c, count + 1);
  int64_t *at = cst__step_numbers(c, total);
  if (splits == NULL || at == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0, end = 0; i <= count;) {
    CST__TRY(cst__next_stretch(&end, count + 1, c->error));
    for (; i < end; i++) {
      splits[i] = words_rank(&words, lists->splits[i]);
    }
  }
  CST__TRY(words_fill(&words, at, c->error));
  c->out->count = total;
  c->out->splits = splits;
  c->out->nulls = lists->nulls;
  c->out->index = (cst__step_index){.at = at, .num_spans = -1};
  return CST_OK;
}

/* ---- slices ---- */

/* A bound of slices: a value for each list, one for all, or none. */
typedef struct slice_bound {
  const cst__view *view; /* NULL: it is left out */
  bool is_one;
} slice_bound;

static inline int64_t slice_bound_slot(const slice_bound *bound, int64_t i) {
  return bound->is_one ? 0 : i;
}

static inline bool slice_bound_is_null(const slice_bound *bound, int64_t i) {
  return bound->view != NULL && cst__view_is_null(bound->view, slice_bound_slot(bound, i));
}

/* False: it is left out. */
static inline bool slice_bound_at(const slice_bound *bound, int64_t i, int64_t *out) {
  if (bound->view == NULL) {
    return false;
  }
  *out = cst__view_int(bound->view, slice_bound_slot(bound, i));
  return true;
}

typedef struct slice_bounds {
  slice_bound begin;
  slice_bound end;
  slice_bound step;
  const uint8_t *nulls; /* lists that are null, in themselves or through a bound */
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

/* A null bound makes the list null. */
static cst_status slice_nulls(const cst__step_call *c, int64_t count, slice_bounds *b) {
  const uint8_t *from = cst__step_arg(c, 0)->nulls;
  b->nulls = from;
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
  b->nulls = nulls;
  return CST_OK;
}

/* As Python counts: negative ones from the end, what is out of reach as far as there is. */
static inline int64_t slice_clamp(int64_t at, int64_t size, int64_t low, int64_t high) {
  at += at < 0 ? size : 0;
  return at < low ? low : at > high ? high : at;
}

/* Elements of a list of `size` elements that a slice has: from *begin on, *step apart. */
static inline int64_t slice_of_list(const slice_bounds *b, int64_t i, int64_t size, int64_t *begin,
                                    int64_t *step) {
  *begin = 0;
  *step = 1;
  if (b->nulls != NULL && b->nulls[i]) {
    return 0;
  }
  if (!slice_bound_at(&b->step, i, step)) {
    *step = 1;
  }
  bool is_back = *step < 0;
  int64_t low = is_back ? -1 : 0;
  int64_t high = is_back ? size - 1 : size;
  int64_t end = is_back ? low : high;
  int64_t bound;
  *begin = is_back ? high : low;
  if (slice_bound_at(&b->begin, i, &bound)) {
    *begin = slice_clamp(bound, size, low, high);
  }
  if (slice_bound_at(&b->end, i, &bound)) {
    end = slice_clamp(bound, size, low, high);
  }
  int64_t reach = is_back ? *begin - end : end - *begin;
  uint64_t stride = is_back ? 0 - (uint64_t)*step : (uint64_t)*step;
  return reach <= 0 || stride == 0 ? 0 : (int64_t)((uint64_t)(reach - 1) / stride) + 1;
}

static cst_status slice_by_spans(const cst__step_call *c, const slice_bounds *b, int64_t count,
                                 int64_t *splits) {
  const int64_t *from = cst__step_arg(c, 0)->splits;
  int64_t total = 0;
  span_list spans;
  if (!span_list_new(c, count, &spans)) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0, end = 0; i < count;) {
    CST__TRY(cst__next_stretch(&end, count, c->error));
    for (; i < end; i++) {
      int64_t begin;
      int64_t step;
      int64_t size = slice_of_list(b, i, from[i + 1] - from[i], &begin, &step);
      span_list_add(&spans, from[i] + begin, from[i] + begin + size, total);
      total += size;
      splits[i + 1] = total;
    }
  }
  return lists_finish_spans(c, &spans, total);
}

static cst_status slice_by_numbers(const cst__step_call *c, const slice_bounds *b, int64_t count,
                                   int64_t *splits) {
  const cst__step_slot *lists = cst__step_arg(c, 0);
  int64_t *at = cst__step_numbers(c, lists->count);
  int64_t total = 0;
  if (at == NULL) {
    return CST_NO_MEMORY;
  }
  cst__numbers_writer w = {at, 0, c->error};
  for (int64_t i = 0; i < count; i++) {
    int64_t begin;
    int64_t step;
    int64_t size = slice_of_list(b, i, lists->splits[i + 1] - lists->splits[i], &begin, &step);
    if (step == 0) {
      cst__fail(c->error, CST_SCHEMA, "take 1, or -1 for the order turned round",
                "a slice with a step of 0");
      cst__error_add_record(c->error, i, -1);
      return CST_SCHEMA;
    }
    CST__TRY(cst__numbers_put(&w, lists->splits[i] + begin, step, size));
    total += size;
    splits[i + 1] = total;
  }
  c->out->count = total;
  c->out->index = (cst__step_index){.at = at, .num_spans = -1};
  return CST_OK;
}

cst_status cst__step_slice(const cst__step_call *c) {
  slice_bounds bounds = {slice_bound_of(c, 1), slice_bound_of(c, 2), slice_bound_of(c, 3), NULL};
  int64_t count = lists_count(c, 0);
  int64_t *splits = cst__step_numbers(c, count + 1);
  int64_t step = 1;
  if (splits == NULL) {
    return CST_NO_MEMORY;
  }
  splits[0] = 0;
  c->out->splits = splits;
  CST__TRY(slice_nulls(c, count, &bounds));
  c->out->nulls = bounds.nulls;
  bool is_plain = bounds.step.is_one && (!slice_bound_at(&bounds.step, 0, &step) || step == 1 ||
                                         slice_bound_is_null(&bounds.step, 0));
  return is_plain ? slice_by_spans(c, &bounds, count, splits)
                  : slice_by_numbers(c, &bounds, count, splits);
}

cst_status cst__step_reverse(const cst__step_call *c) {
  const cst__step_slot *lists = cst__step_arg(c, 0);
  int64_t count = lists_count(c, 0);
  int64_t *at = cst__step_numbers(c, lists->count);
  if (at == NULL) {
    return CST_NO_MEMORY;
  }
  cst__numbers_writer w = {at, 0, c->error};
  for (int64_t i = 0; i < count; i++) {
    int64_t end = lists->splits[i + 1];
    CST__TRY(cst__numbers_put(&w, end - 1, -1, end - lists->splits[i]));
  }
  CST__TRY(lists_keep_all(c, lists));
  c->out->index = (cst__step_index){.at = at, .num_spans = -1};
  return CST_OK;
}

/* ---- lists side by side ---- */

static cst_status same_fail(const cst__step_call *c, int64_t list, int64_t a, int64_t b) {
  cst__fail(c->error, CST_SCHEMA, "lists that are zipped have as many elements as each other",
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
  c->out->nulls = nulls;
  return CST_OK;
}

cst_status cst__step_same(const cst__step_call *c) {
  const cst__step_slot *a = cst__step_arg(c, 0);
  const cst__step_slot *b = cst__step_arg(c, 1);
  int64_t count = lists_count(c, 0);
  for (int64_t i = 1, end = 1; i <= count;) {
    CST__TRY(cst__next_stretch(&end, count + 1, c->error));
    for (; i < end; i++) {
      if (a->splits[i] != b->splits[i]) {
        return same_fail(c, i - 1, a->splits[i] - a->splits[i - 1],
                         b->splits[i] - b->splits[i - 1]);
      }
    }
  }
  CST__TRY(lists_keep_all(c, a));
  c->out->nulls = NULL;
  return a->nulls != NULL && b->nulls != NULL ? same_nulls(c, a->nulls, b->nulls, count) : CST_OK;
}
