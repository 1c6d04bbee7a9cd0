/* Choosing elements: the steps through dimensions. */
#include "structured/selection.h"

#include <string.h>

#include "structured/arrange.h"

/* ---- places ---- */

static cst_status take_numbers(cst__selection *s, int64_t count, int64_t **out) {
  *out = cst__levels_take(&s->source, count, s->error);
  return *out != NULL ? CST_OK : CST_NO_MEMORY;
}

/* Spans as places one by one. */
static cst_status places_spread_out(cst__selection *s) {
  if (s->places.spans.begins != NULL) {
    CST__TRY(cst__chosen_need_numbers(&s->places, &s->source.arena, s->error));
    s->places.spans = (cst__spans){.begins = NULL};
  }
  return CST_OK;
}

/* ---- levels ---- */

static const cst__lists *next_level(const cst__selection *s) { return &s->source.items[s->depth]; }

/* A new dimension of a list per place, whose splits and nulls are to be filled. */
typedef struct level {
  int64_t count;
  int64_t *splits;
  uint8_t *nulls;
  uint8_t any_null;
} level;

static cst_status level_begin(cst__selection *s, level *out) {
  size_t bytes = (size_t)s->places.count + 1;
  *out = (level){.count = s->places.count};
  CST__TRY(cst__interrupted(s->error));
  CST__TRY(take_numbers(s, out->count + 1, &out->splits));
  out->splits[0] = 0;
  out->nulls = cst__arena_take(&s->source.arena, bytes);
  return out->nulls != NULL ? CST_OK : cst__fail_memory(s->error, bytes);
}

static void level_end(cst__selection *s, const level *l, int64_t size) {
  s->made[s->num_made++] =
      (cst__lists){l->count, size, l->splits, l->any_null != 0 ? l->nulls : NULL};
}

/* What has been picked of the next dimension, which is behind then. */
static cst_status select_picked(cst__selection *s, const cst__picked *picked) {
  const int64_t *splits = picked->lists.splits;
  int64_t count = s->places.count;
  if (s->indices != NULL && (s->beside != NULL || s->beside_step != 0)) {
    int64_t *beside; /* of a place becomes that of all that it holds */
    CST__TRY(take_numbers(s, splits[count], &beside));
    cst__numbers_writer w = {beside, 0, s->error};
    for (int64_t i = 0; i < count; i++) {
      CST__TRY(cst__numbers_put(&w, cst__selection_beside(s, i), 0, splits[i + 1] - splits[i]));
    }
    s->beside = beside;
  }
  s->made[s->num_made++] = picked->lists;
  s->places = picked->items;
  s->depth++;
  return CST_OK;
}

/* ---- errors ---- */

enum { ROW_TEXT = 100 };

/* The row of the outermost dimension that a list lies in, for the record of an error; -1: all. */
static int64_t outermost_row(const cst__selection *s, int64_t list) {
  if (s->depth == 0 || s->origin.is_row) {
    return s->origin.is_row ? s->origin.row : -1;
  }
  return s->origin.row + cst__levels_find(s->source.items + 1, s->depth - 1, list);
}

static void name_row(const cst__selection *s, int64_t list, char *text, size_t size) {
  cst__levels_name_list_from(&s->origin, s->source.items, s->depth, list, text, size);
}

/* The next dimension, of what was given by the user. */
static size_t dimension_of_user(const cst__selection *s) { return s->depth + s->origin.is_row; }

static cst_status select_fail_place(const cst__selection *s, int64_t list, int64_t place) {
  char row[ROW_TEXT];
  size_t dim = dimension_of_user(s);
  name_row(s, list, row, sizeof row);
  cst__fail(s->error, CST_INVALID_ARGUMENT, NULL,
            "index %lld is out of range in dimension %zu: the length of %s is %lld",
            (long long)place, dim, dim > 0 ? row : "it",
            (long long)cst__list_size(next_level(s), list));
  cst__error_add_record(s->error, outermost_row(s, list), -1);
  return CST_INVALID_ARGUMENT;
}

static cst_status select_fail_length(const cst__selection *s, int64_t list, int64_t found,
                                     int64_t wanted) {
  char row[ROW_TEXT] = "a null row";
  size_t dim = dimension_of_user(s);
  if (list >= 0) {
    name_row(s, list, row, sizeof row);
  }
  cst__fail(s->error, CST_INVALID_ARGUMENT, NULL,
            "the length of %s in dimension %zu is %lld, not %lld as its indices are for",
            dim > 0 ? row : "the rows", dim, (long long)found, (long long)wanted);
  cst__error_add_record(s->error, list >= 0 ? outermost_row(s, list) : -1, -1);
  return CST_INVALID_ARGUMENT;
}

/* ---- beginning ---- */

cst_status cst__selection_begin(cst__selection *s, const cst_structured *tensor, size_t dims,
                                size_t most, cst_error *error) {
  *s = (cst__selection){.tensor = tensor, .places = {.count = 1}, .error = error};
  CST__TRY(cst__levels_open(tensor, dims, &s->source, error));
  size_t size = (most + 1) * sizeof *s->made;
  s->made = cst__arena_take(&s->source.arena, size);
  if (s->made == NULL) {
    cst__levels_close(&s->source);
    return cst__fail_memory(error, size);
  }
  return CST_OK;
}

void cst__selection_end(cst__selection *s) { cst__levels_close(&s->source); }

/* ---- new axes, slices ---- */

cst_status cst__select_new_axis(cst__selection *s) {
  return cst__lists_fixed(s->places.count, 1, &s->source.arena, &s->made[s->num_made++], s->error);
}

cst_status cst__select_all(cst__selection *s) {
  cst__picked picked;
  CST__TRY(cst__interrupted(s->error));
  CST__TRY(cst__lists_choose(next_level(s), &s->places, &s->source.arena, &picked, s->error));
  return select_picked(s, &picked);
}

cst_status cst__select_slice(cst__selection *s, const cst__slice *slice) {
  const cst__slices slices = {slice, true};
  cst__picked picked;
  if (slice->step == 1 && (slice->begin == 0 || slice->begin == CST__OPEN) &&
      (slice->end == CST__OPEN || slice->end == INT64_MAX)) {
    return cst__select_all(s);
  }
  CST__TRY(cst__interrupted(s->error));
  CST__TRY(
      cst__lists_slice(next_level(s), &s->places, slices, &s->source.arena, &picked, s->error));
  return select_picked(s, &picked);
}

/* ---- one of each list ---- */

/* The item of each list that the values name, at beside * stride + shift. */
static cst_status select_items(cst__selection *s, const int64_t *values, int64_t stride,
                               int64_t shift) {
  const cst__lists *from = next_level(s);
  int64_t *at;
  CST__TRY(cst__interrupted(s->error));
  CST__TRY(places_spread_out(s));
  CST__TRY(take_numbers(s, s->places.count, &at));
  for (int64_t i = 0; i < s->places.count; i++) {
    int64_t list = cst__chosen_at(&s->places, i);
    int64_t place = values[cst__selection_beside(s, i) * stride + shift];
    at[i] = place == CST__INDEX_NULL ? CST__ITEM_NULL : cst__list_item(from, list, place);
    if (at[i] == CST__ITEM_OUTSIDE) {
      return select_fail_place(s, list, place);
    }
  }
  bool is_one = s->places.count == 1 && at[0] >= 0;
  s->places = is_one ? (cst__chosen){.count = 1, .begin = at[0]}
                     : (cst__chosen){.count = s->places.count, .at = at, .has_null = true};
  s->depth++;
  return CST_OK;
}

cst_status cst__select_at(cst__selection *s, int64_t place) {
  return select_items(s, &place, 0, 0);
}

cst_status cst__select_at_value(cst__selection *s, int64_t stride, int64_t shift) {
  return select_items(s, s->indices->values, stride, shift);
}

/* ---- beside indices ---- */

void cst__select_by(cst__selection *s, const cst__indices *indices) {
  s->indices = indices;
  s->indices_depth = 0;
  s->beside = NULL;
  s->beside_begin = s->beside_step = 0;
}

/* Lists may come several times, and what they hold be more than numbers count. */
static cst_status select_check_total(const cst__selection *s, int64_t most) {
  int64_t total;
  return __builtin_mul_overflow(most, s->places.count, &total)
             ? cst__fail(s->error, CST_LIMIT, NULL, "more elements than 64 bits count")
             : CST_OK;
}

cst_status cst__select_spread(cst__selection *s, size_t dims, bool rows_stay) {
  for (size_t d = 0; d < dims; d++) {
    const cst__lists *by = &s->indices->levels.items[s->indices_depth++];
    const cst__lists *lists =
        d == 0 && rows_stay && s->depth < s->source.count ? next_level(s) : NULL;
    int64_t total = 0;
    level l;
    int64_t *at;
    int64_t *beside;
    CST__TRY(places_spread_out(s));
    CST__TRY(select_check_total(s, cst__lists_total(by)));
    CST__TRY(level_begin(s, &l));
    for (int64_t i = 0; i < l.count; i++) {
      int64_t list = cst__selection_beside(s, i);
      int64_t place = cst__chosen_at(&s->places, i);
      l.nulls[i] =
          cst__list_is_null(by, list) || (lists != NULL && cst__list_is_null(lists, place));
      l.any_null |= l.nulls[i];
      total += l.nulls[i] == 0 ? cst__list_size(by, list) : 0;
      l.splits[i + 1] = total;
    }
    CST__TRY(take_numbers(s, total, &at));
    CST__TRY(take_numbers(s, total, &beside));
    for (int64_t i = 0; i < l.count; i++) {
      int64_t place = cst__chosen_at(&s->places, i);
      int64_t other = by->splits[cst__selection_beside(s, i)];
      for (int64_t k = l.splits[i]; k < l.splits[i + 1]; k++) {
        at[k] = place;
        beside[k] = other++;
      }
    }
    level_end(s, &l, by->count == 1 && by->nulls == NULL ? cst__lists_total(by) : by->size);
    s->places = (cst__chosen){.count = total, .at = at, .has_null = true};
    s->beside = beside;
  }
  return CST_OK;
}

/* True if the lists of the indices are those of the tensor, one after the other in both. */
static bool is_side_by_side(const cst__selection *s, const cst__lists *from, const cst__lists *by) {
  int64_t begin = s->places.begin;
  int64_t other = s->beside_begin;
  int64_t count = s->places.count;
  if (!cst__chosen_is_run(&s->places) || s->beside != NULL || (s->beside_step == 0 && count != 1) ||
      from->nulls != NULL || by->nulls != NULL) {
    return false;
  }
  int64_t shift = from->splits[begin] - by->splits[other];
  int64_t differs = 0;
  for (int64_t i = 0; i <= count; i++) {
    differs |= from->splits[begin + i] ^ (by->splits[other + i] + shift);
  }
  return differs == 0;
}

/* The dimension that tensor and indices have in common, with its splits and nulls. */
static cst_status common_level(cst__selection *s, const cst__lists *from, const cst__lists *by,
                               cst__null_rule rule, level *out) {
  int64_t total = 0;
  CST__TRY(level_begin(s, out));
  for (int64_t i = 0; i < out->count; i++) {
    int64_t list = cst__chosen_at(&s->places, i);
    int64_t other = cst__selection_beside(s, i);
    bool own = cst__list_is_null(from, list);
    bool others = cst__list_is_null(by, other);
    bool is_null = rule == CST__NULL_OF_TENSOR    ? own
                   : rule == CST__NULL_OF_INDICES ? others
                                                  : own || others;
    bool is_passed = is_null && rule != CST__NULL_OF_TENSOR;
    int64_t size = own || is_passed ? 0 : cst__list_size(from, list);
    int64_t wanted = is_passed ? 0 : cst__list_size(by, other); /* 0 for null */
    if (size != wanted) {
      return select_fail_length(s, list, size, wanted);
    }
    out->nulls[i] = is_null;
    out->any_null |= out->nulls[i];
    total += size;
    out->splits[i + 1] = total;
  }
  return CST_OK;
}

cst_status cst__select_together(cst__selection *s, cst__null_rule rule) {
  const cst__lists *from = next_level(s);
  const cst__lists *by = &s->indices->levels.items[s->indices_depth];
  CST__TRY(places_spread_out(s));
  s->indices_depth++;
  if (is_side_by_side(s, from, by)) {
    cst__picked picked;
    CST__TRY(cst__lists_choose(from, &s->places, &s->source.arena, &picked, s->error));
    s->beside_begin = by->splits[s->beside_begin];
    s->beside_step = 1;
    s->made[s->num_made++] = picked.lists;
    s->places = picked.items;
  } else {
    level l;
    int64_t *at;
    int64_t *beside;
    CST__TRY(select_check_total(s, cst__lists_total(from)));
    CST__TRY(common_level(s, from, by, rule, &l));
    int64_t total = l.splits[l.count];
    CST__TRY(take_numbers(s, total, &at));
    CST__TRY(take_numbers(s, total, &beside));
    for (int64_t i = 0; i < l.count; i++) {
      int64_t list = cst__chosen_at(&s->places, i);
      int64_t place = list < 0 ? 0 : from->splits[list];
      int64_t other = by->splits[cst__selection_beside(s, i)];
      for (int64_t k = l.splits[i]; k < l.splits[i + 1]; k++) {
        at[k] = place++;
        beside[k] = other++;
      }
    }
    s->places = (cst__chosen){.count = total, .at = at};
    s->beside = beside;
    level_end(s, &l, from->size);
  }
  s->depth++;
  return CST_OK;
}

cst_status cst__select_true(cst__selection *s, cst__null_rule rule) {
  cst__arena *arena = &s->source.arena;
  const uint8_t *mask = s->indices->mask;
  cst__picked kept;
  CST__TRY(cst__select_together(s, rule));
  cst__lists *made = &s->made[s->num_made - 1];
  if (s->beside == NULL && s->beside_step == 1) {
    mask += s->beside_begin;
  } else {
    uint8_t *own = cst__arena_take(arena, (size_t)s->places.count);
    if (own == NULL) {
      return cst__fail_memory(s->error, (size_t)s->places.count);
    }
    for (int64_t i = 0; i < s->places.count; i++) {
      own[i] = mask[cst__selection_beside(s, i)];
    }
    mask = own;
  }
  const uint64_t *words = cst__words_of_bytes(mask, s->places.count, arena, s->error);
  if (words == NULL) {
    return CST_NO_MEMORY;
  }
  CST__TRY(cst__lists_filter(made, words, arena, &kept, s->error));
  CST__TRY(cst__chosen_compose(&kept.items, &s->places, arena, &s->places, s->error));
  *made = kept.lists;
  made->size = -1;
  s->indices = NULL; /* gone through */
  return CST_OK;
}

cst_status cst__select_merge(cst__selection *s, size_t count) {
  cst__lists *outer = &s->made[s->num_made - count];
  for (size_t d = 1; d < count; d++) {
    CST__TRY(cst__lists_join(outer, &outer[d], &s->source.arena, outer, s->error));
  }
  if (count > 1) {
    outer->size = -1;
    s->num_made -= count - 1;
  }
  return CST_OK;
}

cst_status cst__select_check_length(cst__selection *s, int64_t length) {
  const cst__lists *from = next_level(s);
  CST__TRY(places_spread_out(s));
  for (int64_t i = 0; i < s->places.count; i++) {
    int64_t list = cst__chosen_at(&s->places, i);
    if (!cst__list_is_null(from, list) && cst__list_size(from, list) != length) {
      return select_fail_length(s, list, cst__list_size(from, list), length);
    }
  }
  return CST_OK;
}

/* ---- the end ---- */

cst_status cst__selection_finish(cst__selection *s, cst_structured **out) {
  cst_array *taken;
  CST__TRY(cst__levels_choose(&s->source, s->tensor, &s->places, &taken, s->error));
  cst_status status = cst__levels_tensor(s->made, s->num_made, taken, out, s->error);
  cst_array_release(taken);
  return status;
}
