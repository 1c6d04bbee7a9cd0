/* Slices of lists. */
#include "nested/list.h"

static inline int64_t clamp_place(int64_t place, int64_t size, int64_t least, int64_t most) {
  place = place < 0 ? place + size : place;
  return place < least ? least : place > most ? most : place;
}

cst__range cst__slice_of(const cst__slice *slice, int64_t size) {
  bool is_forward = slice->step > 0;
  int64_t least = is_forward ? 0 : -1;
  int64_t most = is_forward ? size : size - 1;
  int64_t begin = slice->begin == CST__OPEN ? (is_forward ? least : most)
                                            : clamp_place(slice->begin, size, least, most);
  int64_t end = slice->end == CST__OPEN ? (is_forward ? most : least)
                                        : clamp_place(slice->end, size, least, most);
  int64_t distance = is_forward ? end - begin : begin - end;
  int64_t step = is_forward ? slice->step : slice->step < -INT64_MAX ? INT64_MAX : -slice->step;
  if (distance <= 0) {
    return (cst__range){0, 0};
  }
  return (cst__range){begin, step == 1 ? distance : (distance - 1) / step + 1};
}

enum { SHORT = 64 /* lists whose slices are looked up */ };

typedef struct slicing {
  const cst__lists *lists;
  const cst__chosen *chosen;
  const cst__slice *slices;
  bool is_one;
  int64_t num_known;
  cst__range known[SHORT]; /* the one slice, by the size of a list */
  int64_t *splits;
  uint8_t *nulls; /* NULL: there can be none */
  uint8_t any_null;
  cst_error *error;
} slicing;

/* Loops are made three times: for lists of which some may be null, and, where none is, for a run of
 * them and for numbers. */
typedef enum slice_way { WITH_NULLS, AS_RUN, AS_NUMBERS } slice_way;
#define EACH_WAY static inline __attribute__((always_inline))
#define ANY_WAY(c, loop, ...)                                   \
  ((c)->nulls != NULL        ? loop(c, WITH_NULLS, __VA_ARGS__) \
   : (c)->chosen->at != NULL ? loop(c, AS_NUMBERS, __VA_ARGS__) \
                             : loop(c, AS_RUN, __VA_ARGS__))

/* What is taken of list i of those that are chosen, in the items of the lists. */
EACH_WAY cst__range slice_list(slicing *c, slice_way way, int64_t i) {
  int64_t list = way == AS_RUN ? c->chosen->begin + i : cst__chosen_at(c->chosen, i);
  if (way == WITH_NULLS) {
    c->nulls[i] = cst__list_is_null(c->lists, list);
    c->any_null |= c->nulls[i];
    if (c->nulls[i] != 0) {
      return (cst__range){0, 0};
    }
  }
  int64_t size = cst__list_size(c->lists, list);
  cst__range part = size < c->num_known
                        ? c->known[size]
                        : cst__slice_of(c->is_one ? c->slices : &c->slices[i], size);
  part.begin += c->lists->splits[list];
  return part;
}

/* ---- the items: as few spans as there can be, or numbers ---- */

/* Spans that are added one after the other. */
typedef struct spans_made {
  int64_t *begins;
  int64_t *ends;
  int64_t count;
  int64_t total;
  int64_t last; /* where the last one ends */
} spans_made;

/* Without branches: what may be the next span is noted again and again. */
EACH_WAY void add_spans(slicing *c, slice_way way, int64_t from, int64_t to, spans_made *s) {
  spans_made at = *s;
  for (int64_t i = from; i < to; i++) {
    cst__range part = slice_list(c, way, i);
    at.begins[at.count] = part.begin;
    at.ends[at.count] = at.total;
    at.count += (int64_t)((part.count > 0) & (part.begin != at.last));
    at.last = part.count > 0 ? part.begin + part.count : at.last;
    at.total += part.count;
    c->splits[i + 1] = at.total;
  }
  *s = at;
}

static cst_status slice_to_spans(slicing *c, cst__arena *arena, cst__chosen *out) {
  int64_t count = c->chosen->count;
  spans_made s = {.begins = cst__numbers_new(arena, count + 1, c->error), .last = -1};
  s.ends = s.begins != NULL ? cst__numbers_new(arena, count + 1, c->error) : NULL;
  if (s.ends == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0, end = 0; i < count; i = end) {
    CST__TRY(cst__next_stretch(&end, count, c->error));
    ANY_WAY(c, add_spans, i, end, &s);
  }
  s.ends[s.count] = s.total;
  *out = s.count > 1 ? (cst__chosen){.count = s.total, .spans = {s.begins, s.ends, s.count, 1}}
                     : (cst__chosen){.count = s.total, .begin = s.count > 0 ? s.begins[0] : 0};
  return CST_OK;
}

EACH_WAY void note_begins(slicing *c, slice_way way, int64_t from, int64_t to, int64_t *begins) {
  int64_t *splits = c->splits;
  int64_t total = splits[from];
  for (int64_t i = from; i < to; i++) {
    cst__range part = slice_list(c, way, i);
    begins[i] = part.begin;
    total += part.count;
    splits[i + 1] = total;
  }
}

/* Where the slice of each list begins, and the splits. */
static cst_status find_begins(slicing *c, cst__arena *arena, int64_t **out) {
  int64_t count = c->chosen->count;
  *out = cst__numbers_new(arena, count, c->error);
  if (*out == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0, end = 0; i < count; i = end) {
    CST__TRY(cst__next_stretch(&end, count, c->error));
    ANY_WAY(c, note_begins, i, end, *out);
  }
  return CST_OK;
}

/* One span per list, with a step. Beyond the length of any list steps are all the same: there is
 * one item. */
static cst_status slice_to_steps(slicing *c, cst__arena *arena, cst__chosen *out) {
  const int64_t most = (int64_t)1 << 56;
  int64_t step = c->slices->step > most ? most : c->slices->step < -most ? -most : c->slices->step;
  int64_t count = c->chosen->count;
  int64_t *begins;
  CST__TRY(find_begins(c, arena, &begins));
  *out = (cst__chosen){.count = c->splits[count], .spans = {begins, c->splits, count, step}};
  return CST_OK;
}

/* Slices with steps of their own. */
static cst_status slice_to_numbers(slicing *c, cst__arena *arena, cst__chosen *out) {
  int64_t count = c->chosen->count;
  int64_t *begins;
  CST__TRY(find_begins(c, arena, &begins));
  int64_t *at = cst__numbers_new(arena, c->splits[count], c->error);
  cst__numbers_writer w = {at, 0, c->error};
  if (at == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0; i < count; i++) {
    CST__TRY(cst__numbers_put(&w, begins[i], c->slices[i].step, c->splits[i + 1] - c->splits[i]));
  }
  *out = (cst__chosen){.count = c->splits[count], .at = at};
  return CST_OK;
}

/* ---- all of it ---- */

static bool steps_are_one(const slicing *c) {
  int64_t differs = 0;
  for (int64_t i = 0; i < (c->is_one ? 1 : c->chosen->count); i++) {
    differs |= c->slices[i].step ^ 1;
  }
  return differs == 0;
}

/* Lists may come several times, and their slices be more than numbers count. */
static cst_status slice_check_total(const slicing *c) {
  int64_t most;
  return __builtin_mul_overflow(cst__lists_total(c->lists), c->chosen->count, &most)
             ? cst__fail(c->error, CST_LIMIT, NULL, "more elements than 64 bits count")
             : CST_OK;
}

cst_status cst__lists_slice(const cst__lists *lists, const cst__chosen *chosen, cst__slices slices,
                            cst__arena *arena, cst__picked *out, cst_error *error) {
  cst__chosen numbers = *chosen;
  slicing c = {lists, &numbers, slices.items, slices.is_one, .error = error};
  int64_t count = chosen->count;
  if (chosen->spans.begins != NULL) {
    CST__TRY(cst__chosen_need_numbers(&numbers, arena, error));
  }
  if (numbers.at != NULL) {
    CST__TRY(slice_check_total(&c));
  }
  c.splits = cst__numbers_new(arena, count + 1, error);
  if (c.splits == NULL) {
    return CST_NO_MEMORY;
  }
  c.splits[0] = 0;
  if (numbers.has_null || lists->nulls != NULL) {
    c.nulls = cst__arena_take(arena, (size_t)count);
    if (c.nulls == NULL) {
      return cst__fail_memory(error, (size_t)count);
    }
  }
  c.num_known = slices.is_one && count > SHORT ? SHORT : 0;
  for (int64_t i = 0; i < c.num_known; i++) {
    c.known[i] = cst__slice_of(slices.items, i);
  }
  CST__TRY(steps_are_one(&c) ? slice_to_spans(&c, arena, &out->items)
           : slices.is_one   ? slice_to_steps(&c, arena, &out->items)
                             : slice_to_numbers(&c, arena, &out->items));
  bool is_fixed = slices.is_one && lists->size >= 0;
  out->lists = (cst__lists){count, is_fixed ? cst__slice_of(slices.items, lists->size).count : -1,
                            c.splits, c.any_null != 0 ? c.nulls : NULL};
  return CST_OK;
}
