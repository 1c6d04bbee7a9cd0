/* Indexes: for each element of one place the element of another. */
#include "query/run/steps_run.h"

#include "base/bytes.h"

/* An index that is to be filled, of `count` elements; NULL: no memory. */
static int64_t *index_new(const cst__step_call *c, int64_t count, bool has_null) {
  int64_t *at = cst__step_numbers(c, count);
  c->out->count = count;
  c->out->index = (cst__chosen){.count = count, .at = at, .has_null = has_null};
  return at;
}

/* ---- parents, and indexes of indexes ---- */

cst_status cst__step_parents(const cst__step_call *c) {
  const cst__lists *lists = &cst__step_arg(c, 0)->lists;
  cst__chosen all = {.count = lists->count};
  c->out->count = cst__lists_total(lists);
  return cst__chosen_repeat(&all, lists->splits, &c->run->numbers, &c->out->index, c->error);
}

cst_status cst__step_compose(const cst__step_call *c) {
  cst__step_result *outer = &c->run->slots[c->step->args[0]];
  cst__step_result *inner = &c->run->slots[c->step->args[1]];
  c->out->count = outer->count;
  return cst__chosen_compose(&outer->index, &inner->index, &c->run->numbers, &c->out->index,
                             c->error);
}

cst_status cst__step_kept(const cst__step_call *c) {
  const cst__step_result *place = cst__step_arg(c, 0);
  const cst__view *bools = &cst__step_arg(c, 1)->view;
  bool is_one = c->run->plan->steps[c->step->args[1]].is_one;
  const uint64_t *words = cst__bool_words(c, bools, is_one, place->count);
  if (words == NULL) {
    return CST_NO_MEMORY;
  }
  if (cst__words_count(words, place->count) == place->count) {
    c->out->count = place->count;
    c->out->index = cst__index_all(place->count);
    return CST_OK;
  }
  int64_t *at = index_new(c, place->count, true);
  if (at == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0, end = 0; i < place->count;) {
    CST__TRY(cst__next_stretch(&end, place->count, c->error));
    for (; i < end; i++) {
      at[i] = words[i >> 6] >> (i & 63) & 1 ? i : -1;
    }
  }
  return CST_OK;
}

/* ---- an element of each list ---- */

cst_status cst__step_at(const cst__step_call *c) {
  const cst__lists *lists = &cst__step_arg(c, 0)->lists;
  const cst__view *numbers = &cst__step_arg(c, 1)->view;
  bool is_one = c->run->plan->steps[c->step->args[1]].is_one;
  int64_t *at = index_new(c, lists->count, false);
  if (at == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0, end = 0; i < lists->count;) {
    CST__TRY(cst__next_stretch(&end, lists->count, c->error));
    for (; i < end; i++) {
      int64_t slot = is_one ? 0 : i;
      int64_t item = cst__view_is_null(numbers, slot)
                         ? CST__ITEM_NULL
                         : cst__list_item(lists, i, cst__view_int(numbers, slot));
      at[i] = item < 0 ? -1 : item; /* outside of a list there is null */
      c->out->index.has_null |= item < 0;
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
  return cst__bytes_equal(cst__view_bytes(keys, i), cst__view_bytes(wanted, k));
}

typedef struct key_search {
  const cst__lists *maps;
  const cst__view *keys;
  const cst__view *wanted;
} key_search;

/* The last one, as in messages, where a key stands twice; -1: there is none. */
static cst_status find_key(const key_search *s, int64_t map, int64_t k, int64_t *out,
                           cst_error *error) {
  int64_t begin = s->maps->splits[map];
  int64_t size = cst__list_size(s->maps, map);
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
  const cst__lists *maps = &cst__step_arg(c, 0)->lists;
  const key_search s = {maps, &cst__step_arg(c, 1)->view, &cst__step_arg(c, 2)->view};
  bool is_one = c->run->plan->steps[c->step->args[2]].is_one;
  int64_t *at = index_new(c, maps->count, false);
  if (at == NULL) {
    return CST_NO_MEMORY;
  }
  size_t work = 0;
  for (int64_t i = 0; i < maps->count; i++) {
    if (cst__stretch_is_over(&work, 16 * (size_t)(cst__list_size(maps, i) + 1))) {
      CST__TRY(cst__interrupted(c->error));
    }
    CST__TRY(find_key(&s, i, is_one ? 0 : i, &at[i], c->error));
    c->out->index.has_null |= at[i] < 0;
  }
  return CST_OK;
}

/* ---- padding ---- */

/* One level: each element of `from` (-1: there is none) becomes `size` of its list. */
typedef struct padding {
  const cst__lists *lists;
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
    int64_t size = list < 0 ? 0 : cst__list_size(p->lists, list);
    bool is_null = list >= 0 && cst__list_is_null(p->lists, list);
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
  cst__chosen all = {.count = cst__step_arg(c, 0)->count};
  bool has_none = false;
  CST__TRY(cst__chosen_need_numbers(&all, &c->run->numbers, c->error));
  for (size_t i = 0; i < step->num_dims; i++) {
    const padding p = {&cst__step_arg(c, i + 1)->lists, all.at, all.count, step->dims[i]};
    int64_t count;
    if (__builtin_mul_overflow(all.count, step->dims[i], &count)) {
      count = INT64_MAX;
    }
    CST__TRY(cst__step_check_count(c, count));
    int64_t *at = cst__step_numbers(c, count);
    if (at == NULL) {
      return CST_NO_MEMORY;
    }
    CST__TRY(padding_level(c, &p, at, &has_none));
    all = (cst__chosen){.count = count, .at = at, .has_null = has_none};
  }
  c->out->count = all.count;
  c->out->index = all;
  return CST_OK;
}
