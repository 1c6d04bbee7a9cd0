/* Indexes: numbers and spans of the same elements, and the steps that make indexes alone. */
#include "query/run/slots.h"

enum { LONG_SPAN = 3 /* elements, on average, from which on spans are copied at once */ };

/* ---- numbers and spans ---- */

static cst_status index_fill_all(int64_t *at, int64_t count, cst_error *error) {
  cst__numbers_writer w = {at, 0, error};
  return cst__numbers_put(&w, 0, 1, count);
}

static cst_status index_fill_from_spans(const cst__spans *spans, int64_t *at, cst_error *error) {
  cst__numbers_writer w = {at + spans->ends[0], 0, error};
  for (int64_t i = 0; i < spans->count; i++) {
    CST__TRY(cst__numbers_put(&w, spans->begins[i], 1, spans->ends[i + 1] - spans->ends[i]));
  }
  return CST_OK;
}

cst_status cst__index_numbers(const cst__step_call *c, cst__step_index *index, int64_t count,
                              const int64_t **out) {
  if (index->at == NULL) {
    int64_t *at = cst__step_numbers(c, count);
    if (at == NULL) {
      return CST_NO_MEMORY;
    }
    CST__TRY(index->is_all ? index_fill_all(at, count, c->error)
                           : index_fill_from_spans(&index->spans, at, c->error));
    index->at = at;
  }
  *out = index->at;
  return CST_OK;
}

static cst_status index_count_spans(const int64_t *at, int64_t count, int64_t *out,
                                    cst_error *error) {
  int64_t spans = 1;
  for (int64_t i = 1, end = 1; i < count;) {
    CST__TRY(cst__next_stretch(&end, count, error));
    for (; i < end; i++) {
      spans += at[i] != at[i - 1] + 1;
    }
  }
  *out = spans;
  return CST_OK;
}

/* Without branches, which short spans would have guessed wrong: what may be the next one is noted
 * again and again. There is room for one more than there are spans. */
static cst_status index_fill_spans(const int64_t *at, int64_t count, int64_t *begins, int64_t *ends,
                                   cst_error *error) {
  int64_t span = 0;
  begins[0] = at[0];
  ends[0] = 0;
  for (int64_t i = 1, end = 1; i < count;) {
    CST__TRY(cst__next_stretch(&end, count, error));
    for (; i < end; i++) {
      begins[span + 1] = at[i];
      ends[span + 1] = i;
      span += at[i] != at[i - 1] + 1;
    }
  }
  ends[span + 1] = count;
  return CST_OK;
}

cst_status cst__index_spans(const cst__step_call *c, cst__step_index *index, int64_t count,
                            cst__spans *out) {
  *out = (cst__spans){.count = 0};
  if (index->has_none || count == 0) {
    return CST_OK;
  }
  if (index->num_spans < 0) {
    CST__TRY(index_count_spans(index->at, count, &index->num_spans, c->error));
  }
  if (index->num_spans > 1 && count / LONG_SPAN < index->num_spans) {
    return CST_OK;
  }
  if (index->spans.begins == NULL) {
    int64_t *begins = cst__step_numbers(c, index->num_spans + 1);
    int64_t *ends = cst__step_numbers(c, index->num_spans + 1);
    if (begins == NULL || ends == NULL) {
      return CST_NO_MEMORY;
    }
    CST__TRY(index_fill_spans(index->at, count, begins, ends, c->error));
    index->spans = (cst__spans){begins, ends, index->num_spans, 1};
  }
  *out = index->spans;
  return CST_OK;
}

/* An index that is to be filled, of `count` elements; NULL: no memory. */
static int64_t *index_new(const cst__step_call *c, int64_t count) {
  c->out->count = count;
  c->out->index = (cst__step_index){.num_spans = -1};
  c->out->index.at = cst__step_numbers(c, count);
  return c->out->index.at;
}

/* ---- parents ---- */

enum { PARENTS_BLOCK = 8 /* numbers that are written at once, the rest written over */ };

cst_status cst__step_parents(const cst__step_call *c) {
  const cst__step_slot *lists = cst__step_arg(c, 0);
  int64_t num_lists = cst__place_parent_slot(c->run, c->step->args[0])->count;
  int64_t *at = cst__step_numbers(c, lists->count + PARENTS_BLOCK);
  if (at == NULL) {
    return CST_NO_MEMORY;
  }
  size_t work = 0;
  for (int64_t i = 0; i < num_lists; i++) {
    int64_t last = lists->splits[i + 1];
    for (int64_t k = lists->splits[i], end = k; k < last;) {
      CST__TRY(cst__next_stretch(&end, last, c->error));
      for (; k < end; k += PARENTS_BLOCK) {
        for (int64_t n = 0; n < PARENTS_BLOCK; n++) {
          at[k + n] = i;
        }
      }
    }
    if (cst__stretch_is_over(&work, (size_t)(last - lists->splits[i] + 1) * sizeof *at)) {
      CST__TRY(cst__interrupted(c->error));
    }
  }
  c->out->count = lists->count;
  c->out->index = (cst__step_index){.at = at, .num_spans = -1};
  return CST_OK;
}

/* ---- of indexes and bools ---- */

cst_status cst__step_compose(const cst__step_call *c) {
  cst__step_slot *outer = &c->run->slots[c->step->args[0]];
  cst__step_slot *inner = &c->run->slots[c->step->args[1]];
  if (outer->index.is_all || inner->index.is_all) {
    c->out->count = outer->count;
    c->out->index = outer->index.is_all ? inner->index : outer->index;
    return CST_OK;
  }
  const int64_t *from;
  const int64_t *to;
  CST__TRY(cst__index_numbers(c, &outer->index, outer->count, &from));
  CST__TRY(cst__index_numbers(c, &inner->index, inner->count, &to));
  int64_t *at = index_new(c, outer->count);
  if (at == NULL) {
    return CST_NO_MEMORY;
  }
  c->out->index.has_none = outer->index.has_none || inner->index.has_none;
  for (int64_t i = 0, end = 0; i < outer->count;) {
    CST__TRY(cst__next_stretch(&end, outer->count, c->error));
    for (; i < end && !outer->index.has_none; i++) {
      at[i] = to[from[i]];
    }
    for (; i < end; i++) {
      at[i] = from[i] < 0 ? -1 : to[from[i]];
    }
  }
  return CST_OK;
}

cst_status cst__step_kept(const cst__step_call *c) {
  const cst__step_slot *place = cst__step_arg(c, 0);
  const cst__view *bools = &cst__step_arg(c, 1)->view;
  bool is_one = c->run->plan->steps[c->step->args[1]].is_one;
  const uint64_t *words = cst__bool_words(c, bools, is_one, place->count);
  if (words == NULL) {
    return CST_NO_MEMORY;
  }
  if (cst__words_count(words, place->count) == place->count) {
    c->out->count = place->count;
    c->out->index = (cst__step_index){.is_all = true, .num_spans = -1};
    return CST_OK;
  }
  int64_t *at = index_new(c, place->count);
  if (at == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0, end = 0; i < place->count;) {
    CST__TRY(cst__next_stretch(&end, place->count, c->error));
    for (; i < end; i++) {
      at[i] = words[i >> 6] >> (i & 63) & 1 ? i : -1;
    }
  }
  c->out->index.has_none = true;
  return CST_OK;
}

/* ---- an element of each list ---- */

/* The element that slot `slot` of `numbers` names; -1: there is none. */
static inline int64_t element_at(const int64_t *splits, int64_t list, const cst__view *numbers,
                                 int64_t slot) {
  int64_t size = splits[list + 1] - splits[list];
  int64_t number = cst__view_is_null(numbers, slot) ? size : cst__view_int(numbers, slot);
  number += number < 0 ? size : 0;
  return number >= 0 && number < size ? splits[list] + number : -1;
}

cst_status cst__step_at(const cst__step_call *c) {
  const cst__step_slot *lists = cst__step_arg(c, 0);
  const cst__view *numbers = &cst__step_arg(c, 1)->view;
  bool is_one = c->run->plan->steps[c->step->args[1]].is_one;
  int64_t num_lists = cst__place_parent_slot(c->run, c->step->args[0])->count;
  int64_t *at = index_new(c, num_lists);
  if (at == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0, end = 0; i < num_lists;) {
    CST__TRY(cst__next_stretch(&end, num_lists, c->error));
    for (; i < end; i++) {
      at[i] = element_at(lists->splits, i, numbers, is_one ? 0 : i);
      c->out->index.has_none |= at[i] < 0;
    }
  }
  return CST_OK;
}

/* ---- keys ---- */

static bool keys_are_equal(const cst__view *keys, int64_t i, const cst__view *wanted, int64_t k) {
  if (cst__view_is_null(keys, i) || cst__view_is_null(wanted, k)) {
    return false;
  }
  if (keys->layout == CST__LAYOUT_BOOL && wanted->layout == CST__LAYOUT_BOOL) {
    return cst__bool_is_true(keys, false, i) == cst__bool_is_true(wanted, false, k);
  }
  if (keys->layout == CST__LAYOUT_NUMBER && wanted->layout == CST__LAYOUT_NUMBER) {
    return cst__view_int(keys, i) == cst__view_int(wanted, k);
  }
  cst_bytes a = cst__view_bytes(keys, i);
  cst_bytes b = cst__view_bytes(wanted, k);
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

typedef struct key_search {
  const int64_t *splits; /* of the maps */
  const cst__view *keys;
  const cst__view *wanted;
} key_search;

/* The last one, as in messages, where a key stands twice; -1: there is none. */
static cst_status find_key(const key_search *s, int64_t map, int64_t k, int64_t *out,
                           cst_error *error) {
  int64_t begin = s->splits[map];
  int64_t size = s->splits[map + 1] - begin;
  *out = -1;
  for (int64_t left = size, below = 0; left > 0;) {
    CST__TRY(cst__next_stretch(&below, size, error));
    for (; left > size - below; left--) {
      if (keys_are_equal(s->keys, begin + left - 1, s->wanted, k)) {
        *out = begin + left - 1;
        return CST_OK;
      }
    }
  }
  return CST_OK;
}

cst_status cst__step_key(const cst__step_call *c) {
  const cst__step_slot *maps = cst__step_arg(c, 0);
  const key_search s = {maps->splits, &cst__step_arg(c, 1)->view, &cst__step_arg(c, 2)->view};
  bool is_one = c->run->plan->steps[c->step->args[2]].is_one;
  int64_t num_maps = cst__place_parent_slot(c->run, c->step->args[0])->count;
  int64_t *at = index_new(c, num_maps);
  if (at == NULL) {
    return CST_NO_MEMORY;
  }
  size_t work = 0;
  for (int64_t i = 0; i < num_maps; i++) {
    if (cst__stretch_is_over(&work, 16 * (size_t)(maps->splits[i + 1] - maps->splits[i] + 1))) {
      CST__TRY(cst__interrupted(c->error));
    }
    CST__TRY(find_key(&s, i, is_one ? 0 : i, &at[i], c->error));
    c->out->index.has_none |= at[i] < 0;
  }
  return CST_OK;
}

/* ---- padding ---- */

/* One level: each element of `from` (-1: there is none) becomes `size` of its list. */
typedef struct padding {
  const cst__step_slot *lists;
  const int64_t *from;
  int64_t count;
  int64_t size;
} padding;

static cst_status padding_fail(const cst__step_call *c, const padding *p, int64_t i,
                               int64_t found) {
  int64_t elements = cst__step_arg(c, 0)->count;
  cst_status status = found > p->size
                          ? cst__fail(c->error, CST_SCHEMA, "cut it: [:n], or give a larger shape",
                                      "a list of %lld values, where the shape has %lld",
                                      (long long)found, (long long)p->size)
                          : cst__fail(c->error, CST_SCHEMA, "give a default, which fills it up",
                                      "a list of %lld values, where the shape has %lld",
                                      (long long)found, (long long)p->size);
  cst__error_add_record(c->error, i / (p->count / elements), -1);
  return status;
}

static cst_status padding_level(const cst__step_call *c, const padding *p, int64_t *at,
                                bool *has_none) {
  cst__numbers_writer w = {at, 0, c->error};
  for (int64_t i = 0; i < p->count; i++) {
    int64_t list = p->from[i];
    int64_t begin = list < 0 ? 0 : p->lists->splits[list];
    int64_t size = list < 0 ? 0 : p->lists->splits[list + 1] - begin;
    bool is_null = list >= 0 && p->lists->nulls != NULL && p->lists->nulls[list];
    if (size > p->size || (!c->step->flag && (size < p->size || is_null))) {
      return padding_fail(c, p, i, size);
    }
    *has_none |= size < p->size;
    CST__TRY(cst__numbers_put(&w, begin, 1, size));
    CST__TRY(cst__numbers_put(&w, -1, 0, p->size - size));
  }
  return CST_OK;
}

cst_status cst__step_pad(const cst__step_call *c) {
  const cst__step *step = c->step;
  int64_t count = cst__step_arg(c, 0)->count;
  int64_t *at = cst__step_numbers(c, count);
  bool has_none = false;
  if (at == NULL) {
    return CST_NO_MEMORY;
  }
  CST__TRY(index_fill_all(at, count, c->error));
  for (size_t i = 0; i < step->num_dims; i++) {
    const padding p = {cst__step_arg(c, i + 1), at, count, step->dims[i]};
    if (__builtin_mul_overflow(count, step->dims[i], &count)) {
      count = INT64_MAX;
    }
    CST__TRY(cst__step_check_count(c, count));
    at = cst__step_numbers(c, count);
    if (at == NULL) {
      return CST_NO_MEMORY;
    }
    CST__TRY(padding_level(c, &p, at, &has_none));
  }
  c->out->count = count;
  c->out->index = (cst__step_index){.at = at, .has_none = has_none, .num_spans = -1};
  return CST_OK;
}
