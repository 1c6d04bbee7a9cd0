/* Choosing elements: the steps through dimensions. */
#include "structured/selection.h"

#include <string.h>

#include "base/interrupt.h"
#include "structured/arrange.h"

/* ---- places ---- */

static inline int64_t place_at(const cst__places *places, int64_t i) {
  return places->at != NULL ? places->at[i] : places->begin + i;
}

static cst_status take_numbers(cst__selection *s, int64_t count, int64_t **out) {
  *out = cst__levels_take(&s->source, count, s->error);
  return *out != NULL ? CST_OK : CST_NO_MEMORY;
}

/* Spans as places one by one. */
static cst_status places_spread_out(cst__selection *s) {
  cst__places *p = &s->places;
  int64_t *at;
  if (p->begins == NULL) {
    return CST_OK;
  }
  CST__TRY(take_numbers(s, p->count, &at));
  for (int64_t i = 0; i < p->num_spans; i++) {
    int64_t place = p->begins[i];
    for (int64_t k = p->ends[i]; k < p->ends[i + 1]; k++, place += p->step) {
      at[k] = place;
    }
  }
  *p = (cst__places){.count = p->count, .at = at};
  return CST_OK;
}

cst_status cst__selection_slots(cst__selection *s, const int64_t **out) {
  CST__TRY(places_spread_out(s));
  if (s->places.at == NULL) {
    CST__TRY(take_numbers(s, s->places.count, &s->places.at));
    for (int64_t i = 0; i < s->places.count; i++) {
      s->places.at[i] = s->places.begin + i;
    }
  }
  *out = s->places.at;
  return CST_OK;
}

/* ---- levels ---- */

static inline bool level_is_null(const cst__dim *level, int64_t list) {
  return list < 0 || (level->nulls != NULL && level->nulls[list] != 0);
}

static inline int64_t list_length(const cst__dim *level, int64_t list) {
  return level->splits[list + 1] - level->splits[list];
}

static const cst__dim *next_level(const cst__selection *s) { return &s->source.items[s->depth]; }

/* A new dimension of a list per place, whose splits and nulls are to be filled. */
static cst_status level_begin(cst__selection *s, bool with_nulls, cst__dim *out) {
  size_t bytes = (size_t)s->places.count + 1;
  *out = (cst__dim){.num_lists = s->places.count, .size = -1};
  CST__TRY(cst__interrupted(s->error));
  CST__TRY(take_numbers(s, s->places.count + 1, &out->splits));
  out->splits[0] = 0;
  if (!with_nulls) {
    return CST_OK;
  }
  out->nulls = cst__arena_take(&s->source.arena, bytes);
  return out->nulls != NULL ? CST_OK : cst__fail_memory(s->error, bytes);
}

static void level_end(cst__selection *s, cst__dim *level, uint8_t any_null) {
  if (any_null == 0) {
    level->nulls = NULL;
  }
  s->made[s->num_made++] = *level;
}

/* The indices beside the places, where each of these becomes as many as the splits say. */
static cst_status beside_repeat(cst__selection *s, const int64_t *splits) {
  int64_t *beside;
  int64_t count = s->places.count;
  if (s->indices == NULL || (s->beside == NULL && s->beside_step == 0)) {
    return CST_OK;
  }
  CST__TRY(take_numbers(s, splits[count], &beside));
  for (int64_t i = 0; i < count; i++) {
    int64_t place = cst__selection_beside(s, i);
    for (int64_t k = splits[i]; k < splits[i + 1]; k++) {
      beside[k] = place;
    }
  }
  s->beside = beside;
  return CST_OK;
}

/* ---- errors ---- */

enum { ROW_TEXT = 100 };

/* The row of the outermost dimension that a list lies in, for the record of an error; -1: all. */
static int64_t outermost_row(const cst__selection *s, int64_t list) {
  const cst__dim *levels = s->source.items;
  for (size_t i = s->depth; i-- > 1;) {
    int64_t above = 0;
    while (above + 1 < levels[i].num_lists && levels[i].splits[above + 1] <= list) {
      above++;
    }
    list = above;
  }
  return s->origin.is_row ? s->origin.row : s->depth > 0 ? s->origin.row + list : -1;
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
            (long long)list_length(next_level(s), list));
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
  CST__TRY(cst__levels_open_as_is(tensor, dims, &s->source, error));
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
  cst__dim level = {.num_lists = s->places.count, .size = 1};
  CST__TRY(take_numbers(s, s->places.count + 1, &level.splits));
  for (int64_t i = 0; i <= s->places.count; i++) {
    level.splits[i] = i;
  }
  level_end(s, &level, 0);
  return CST_OK;
}

/* Lists [begin, begin + count) of a level, as a level. */
static cst_status level_part(cst__selection *s, const cst__dim *from, cst__dim *out) {
  int64_t begin = s->places.begin;
  int64_t count = s->places.count;
  uint8_t any = 0;
  *out = *from;
  if (begin == 0 && count == from->num_lists) {
    return CST_OK;
  }
  out->num_lists = count;
  CST__TRY(take_numbers(s, count + 1, &out->splits));
  for (int64_t i = 0; i <= count; i++) {
    out->splits[i] = from->splits[begin + i] - from->splits[begin];
  }
  for (int64_t i = 0; from->nulls != NULL && i < count; i++) {
    any |= from->nulls[begin + i];
  }
  out->nulls = any != 0 ? from->nulls + begin : NULL;
  return CST_OK;
}

/* All items of spans of lists, which have no nulls: spans again. */
static cst_status select_all_of_spans(cst__selection *s) {
  const cst__dim *from = next_level(s);
  cst__places *p = &s->places;
  cst__dim level = {.num_lists = p->count, .size = from->size};
  int64_t *begins;
  int64_t *ends;
  CST__TRY(take_numbers(s, p->count + 1, &level.splits));
  CST__TRY(take_numbers(s, p->num_spans, &begins));
  CST__TRY(take_numbers(s, p->num_spans + 1, &ends));
  level.splits[0] = ends[0] = 0;
  for (int64_t i = 0; i < p->num_spans; i++) {
    const int64_t *splits = from->splits + p->begins[i];
    int64_t *to = level.splits + p->ends[i];
    int64_t count = p->ends[i + 1] - p->ends[i];
    int64_t total = to[0];
    begins[i] = splits[0];
    for (int64_t k = 1; k <= count; k++) {
      to[k] = splits[k] - splits[0] + total;
    }
    ends[i + 1] = to[count];
  }
  CST__TRY(beside_repeat(s, level.splits));
  level_end(s, &level, 0);
  *p = (cst__places){.count = ends[p->num_spans],
                     .begins = begins,
                     .ends = ends,
                     .num_spans = p->num_spans,
                     .step = 1};
  return CST_OK;
}

static const cst__slice whole = {CST_INDEX_OPEN, CST_INDEX_OPEN, 1};

cst_status cst__select_all(cst__selection *s) {
  const cst__dim *from = next_level(s);
  cst__dim level;
  if (s->places.begins != NULL && s->places.step == 1 && from->nulls == NULL) {
    CST__TRY(select_all_of_spans(s));
    s->depth++;
    return CST_OK;
  }
  if (s->places.begins != NULL || s->places.at != NULL) {
    return cst__select_slice(s, &whole);
  }
  CST__TRY(level_part(s, from, &level));
  CST__TRY(beside_repeat(s, level.splits));
  s->places.begin = from->splits[s->places.begin];
  s->places.count = cst__dim_total(&level);
  s->made[s->num_made++] = level;
  s->depth++;
  return CST_OK;
}

static inline int64_t clamp(int64_t place, int64_t length, int64_t least, int64_t most) {
  place = place < 0 ? place + length : place;
  return place < least ? least : place > most ? most : place;
}

cst__sliced cst__slice_length(const cst__slice *slice, int64_t length) {
  bool is_forward = slice->step > 0;
  int64_t least = is_forward ? 0 : -1;
  int64_t most = is_forward ? length : length - 1;
  int64_t begin = slice->begin == CST_INDEX_OPEN ? (is_forward ? least : most)
                                                 : clamp(slice->begin, length, least, most);
  int64_t end = slice->end == CST_INDEX_OPEN ? (is_forward ? most : least)
                                             : clamp(slice->end, length, least, most);
  int64_t distance = is_forward ? end - begin : begin - end;
  int64_t step = is_forward ? slice->step : slice->step < -INT64_MAX ? INT64_MAX : -slice->step;
  if (distance <= 0) {
    return (cst__sliced){0, 0};
  }
  return (cst__sliced){begin, step == 1 ? distance : (distance - 1) / step + 1};
}

enum { SHORT = 64 /* lists whose slices are looked up */ };

typedef struct slicing {
  const cst__slice *slice;
  int64_t num_known;
  cst__sliced known[SHORT];
} slicing;

static void slicing_init(slicing *c, const cst__slice *slice, int64_t num_lists) {
  c->slice = slice;
  c->num_known = num_lists > SHORT ? SHORT : 0;
  for (int64_t i = 0; i < c->num_known; i++) {
    c->known[i] = cst__slice_length(slice, i);
  }
}

static inline cst__sliced slice_of(const slicing *c, int64_t length) {
  return length < c->num_known ? c->known[length] : cst__slice_length(c->slice, length);
}

/* Slices of lists of which none is null, begin with `begin`. */
static void slice_plain(const slicing *c, const cst__dim *from, int64_t begin, cst__dim *level,
                        int64_t *begins) {
  const int64_t *splits = from->splits + begin;
  int64_t total = 0;
  for (int64_t i = 0; i < level->num_lists; i++) {
    cst__sliced part = slice_of(c, splits[i + 1] - splits[i]);
    begins[i] = splits[i] + part.first;
    total += part.count;
    level->splits[i + 1] = total;
  }
}

static uint8_t slice_places(const slicing *c, const cst__dim *from, const cst__places *places,
                            cst__dim *level, int64_t *begins) {
  int64_t total = 0;
  uint8_t any = 0;
  for (int64_t i = 0; i < level->num_lists; i++) {
    int64_t list = place_at(places, i);
    level->nulls[i] = level_is_null(from, list);
    any |= level->nulls[i];
    begins[i] = 0;
    if (level->nulls[i] == 0) {
      cst__sliced part = slice_of(c, list_length(from, list));
      begins[i] = from->splits[list] + part.first;
      total += part.count;
    }
    level->splits[i + 1] = total;
  }
  return any;
}

/* A single span that is one run. */
static void places_join(cst__places *places) {
  if (places->num_spans == 1 && (places->step == 1 || places->count <= 1)) {
    *places = (cst__places){.count = places->count, .begin = places->begins[0]};
  }
}

/* Lists may come several times, and their slices be more than numbers count. */
static cst_status select_check_total(const cst__selection *s, int64_t most) {
  int64_t total;
  return __builtin_mul_overflow(most, s->places.count, &total)
             ? cst__fail(s->error, CST_LIMIT, NULL, "more elements than 64 bits count")
             : CST_OK;
}

/* Beyond the length of any list steps are all the same: there is one place. */
static int64_t clamp_step(int64_t step) {
  const int64_t most = (int64_t)1 << 56;
  return step > most ? most : step < -most ? -most : step;
}

cst_status cst__select_slice(cst__selection *s, const cst__slice *slice) {
  const cst__dim *from = next_level(s);
  slicing c;
  cst__dim level;
  int64_t *begins;
  uint8_t any = 0;
  if (slice->step == 1 && (slice->begin == 0 || slice->begin == CST_INDEX_OPEN) &&
      (slice->end == CST_INDEX_OPEN || slice->end == INT64_MAX) && s->places.at == NULL &&
      s->places.begins == NULL) {
    return cst__select_all(s);
  }
  CST__TRY(places_spread_out(s));
  CST__TRY(select_check_total(s, cst__dim_total(from)));
  bool is_plain = s->places.at == NULL && from->nulls == NULL;
  CST__TRY(level_begin(s, !is_plain, &level));
  CST__TRY(take_numbers(s, s->places.count, &begins));
  slicing_init(&c, slice, s->places.count);
  if (is_plain) {
    slice_plain(&c, from, s->places.begin, &level, begins);
  } else {
    any = slice_places(&c, from, &s->places, &level, begins);
  }
  if (from->size >= 0) {
    level.size = cst__slice_length(slice, from->size).count;
  }
  CST__TRY(beside_repeat(s, level.splits));
  level_end(s, &level, any);
  s->places = (cst__places){.count = cst__dim_total(&level),
                            .begins = begins,
                            .ends = level.splits,
                            .num_spans = level.num_lists,
                            .step = clamp_step(slice->step)};
  places_join(&s->places);
  s->depth++;
  return CST_OK;
}

/* ---- one of each list ---- */

/* The item of a list, -1 for null; -2: out of range. */
static inline int64_t item_at(const cst__dim *level, int64_t list, int64_t place) {
  if (level_is_null(level, list) || place == CST__INDEX_NULL) {
    return -1;
  }
  int64_t begin = level->splits[list];
  int64_t size = level->splits[list + 1] - begin;
  int64_t at = place < 0 ? place + size : place;
  return at >= 0 && at < size ? begin + at : -2;
}

/* The item of each list that the values name, at beside * stride + shift. */
static cst_status select_items(cst__selection *s, const int64_t *values, int64_t stride,
                               int64_t shift) {
  const cst__dim *from = next_level(s);
  int64_t *at;
  CST__TRY(cst__interrupted(s->error));
  CST__TRY(places_spread_out(s));
  CST__TRY(take_numbers(s, s->places.count, &at));
  for (int64_t i = 0; i < s->places.count; i++) {
    int64_t list = place_at(&s->places, i);
    int64_t place = values[cst__selection_beside(s, i) * stride + shift];
    at[i] = item_at(from, list, place);
    if (at[i] == -2) {
      return select_fail_place(s, list, place);
    }
  }
  bool is_one = s->places.count == 1 && at[0] >= 0;
  s->places = is_one ? (cst__places){.count = 1, .begin = at[0]}
                     : (cst__places){.count = s->places.count, .at = at};
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

cst_status cst__select_spread(cst__selection *s, size_t dims, bool rows_stay) {
  for (size_t d = 0; d < dims; d++) {
    const cst__dim *by = &s->indices->levels.items[s->indices_depth++];
    const cst__dim *lists =
        d == 0 && rows_stay && s->depth < s->source.count ? next_level(s) : NULL;
    int64_t total = 0;
    uint8_t any = 0;
    cst__dim level;
    int64_t *at;
    int64_t *beside;
    CST__TRY(places_spread_out(s));
    CST__TRY(select_check_total(s, cst__dim_total(by)));
    CST__TRY(level_begin(s, true, &level));
    for (int64_t i = 0; i < level.num_lists; i++) {
      int64_t list = cst__selection_beside(s, i);
      int64_t place = place_at(&s->places, i);
      level.nulls[i] = level_is_null(by, list) || (lists != NULL && level_is_null(lists, place));
      any |= level.nulls[i];
      total += level.nulls[i] == 0 ? list_length(by, list) : 0;
      level.splits[i + 1] = total;
    }
    CST__TRY(take_numbers(s, total, &at));
    CST__TRY(take_numbers(s, total, &beside));
    for (int64_t i = 0; i < level.num_lists; i++) {
      int64_t place = place_at(&s->places, i);
      int64_t other = by->splits[cst__selection_beside(s, i)];
      for (int64_t k = level.splits[i]; k < level.splits[i + 1]; k++) {
        at[k] = place;
        beside[k] = other++;
      }
    }
    level.size = by->num_lists == 1 && by->nulls == NULL ? cst__dim_total(by) : by->size;
    level_end(s, &level, any);
    s->places = (cst__places){.count = total, .at = at};
    s->beside = beside;
  }
  return CST_OK;
}

/* True if the lists of the indices are those of the tensor, one after the other in both. */
static bool is_side_by_side(const cst__selection *s, const cst__dim *from, const cst__dim *by) {
  int64_t begin = s->places.begin;
  int64_t other = s->beside_begin;
  int64_t count = s->places.count;
  if (s->places.at != NULL || s->places.begins != NULL || s->beside != NULL ||
      (s->beside_step == 0 && count != 1) || from->nulls != NULL || by->nulls != NULL) {
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
static cst_status common_level(cst__selection *s, const cst__dim *from, const cst__dim *by,
                               cst__null_rule rule, cst__dim *out, uint8_t *any) {
  int64_t total = 0;
  CST__TRY(level_begin(s, true, out));
  for (int64_t i = 0; i < out->num_lists; i++) {
    int64_t list = place_at(&s->places, i);
    int64_t other = cst__selection_beside(s, i);
    bool own = level_is_null(from, list);
    bool others = level_is_null(by, other);
    bool is_null = rule == CST__NULL_OF_TENSOR    ? own
                   : rule == CST__NULL_OF_INDICES ? others
                                                  : own || others;
    bool is_passed = is_null && rule != CST__NULL_OF_TENSOR;
    int64_t size = own || is_passed ? 0 : list_length(from, list);
    int64_t wanted = is_passed ? 0 : list_length(by, other); /* 0 for null */
    if (size != wanted) {
      return select_fail_length(s, list, size, wanted);
    }
    out->nulls[i] = is_null;
    *any |= out->nulls[i];
    total += size;
    out->splits[i + 1] = total;
  }
  return CST_OK;
}

static cst_status together_each(cst__selection *s, const cst__dim *from, const cst__dim *by,
                                cst__dim *level) {
  int64_t *at;
  int64_t *beside;
  int64_t total = cst__dim_total(level);
  CST__TRY(take_numbers(s, total, &at));
  CST__TRY(take_numbers(s, total, &beside));
  for (int64_t i = 0; i < level->num_lists; i++) {
    int64_t list = place_at(&s->places, i);
    int64_t place = list < 0 ? 0 : from->splits[list];
    int64_t other = by->splits[cst__selection_beside(s, i)];
    for (int64_t k = level->splits[i]; k < level->splits[i + 1]; k++) {
      at[k] = place++;
      beside[k] = other++;
    }
  }
  s->places = (cst__places){.count = total, .at = at};
  s->beside = beside;
  return CST_OK;
}

cst_status cst__select_together(cst__selection *s, cst__null_rule rule) {
  const cst__dim *from = next_level(s);
  const cst__dim *by = &s->indices->levels.items[s->indices_depth];
  cst__dim level;
  uint8_t any = 0;
  CST__TRY(places_spread_out(s));
  if (is_side_by_side(s, from, by)) {
    int64_t other = by->splits[s->beside_begin];
    CST__TRY(level_part(s, from, &level));
    s->places.begin = from->splits[s->places.begin];
    s->places.count = cst__dim_total(&level);
    s->beside_begin = other;
    s->beside_step = 1;
    s->made[s->num_made++] = level;
  } else {
    CST__TRY(select_check_total(s, cst__dim_total(from)));
    CST__TRY(common_level(s, from, by, rule, &level, &any));
    CST__TRY(together_each(s, from, by, &level));
    level.size = from->size;
    level_end(s, &level, any);
  }
  s->depth++;
  s->indices_depth++;
  return CST_OK;
}

enum { COUNTED = 512 /* places whose numbers are at hand */ };

/* Goes through places that follow each other beside a mask, without branches on it: spans of what
 * is true, and the splits of the level, which count all places, for those. */
static cst_status keep_true_of_range(cst__selection *s, const uint8_t *mask, cst__dim *level,
                                     int64_t *splits) {
  int64_t total = s->places.count;
  int64_t *begins;
  int64_t *ends;
  int64_t before[COUNTED];
  int64_t kept = 0;
  int64_t list = 0;
  int64_t span = 0;
  unsigned was = 0;
  CST__TRY(take_numbers(s, total / 2 + 2, &begins));
  CST__TRY(take_numbers(s, total / 2 + 2, &ends));
  ends[0] = 0;
  for (int64_t i = 0; i < total; i += COUNTED) {
    int64_t some = total - i < COUNTED ? total - i : COUNTED;
    for (int64_t k = 0; k < some; k++) {
      unsigned is = mask[i + k];
      before[k] = kept;
      begins[span] = s->places.begin + i + k; /* stays if a span begins here */
      span += is & (was ^ 1);
      kept += is;
      ends[span] = kept;
      was = is;
    }
    for (; list < level->num_lists && level->splits[list] < i + some; list++) {
      splits[list] = before[level->splits[list] - i];
    }
  }
  for (; list <= level->num_lists; list++) {
    splits[list] = kept;
  }
  s->places =
      (cst__places){.count = kept, .begins = begins, .ends = ends, .num_spans = span, .step = 1};
  places_join(&s->places);
  return CST_OK;
}

static cst_status keep_true_each(cst__selection *s, cst__dim *level, int64_t *splits) {
  const uint8_t *mask = s->indices->mask;
  int64_t *at;
  int64_t kept = 0;
  int64_t i = 0;
  CST__TRY(take_numbers(s, s->places.count + 1, &at));
  for (int64_t list = 0; list < level->num_lists; list++) {
    splits[list] = kept;
    for (; i < level->splits[list + 1]; i++) {
      at[kept] = place_at(&s->places, i);
      kept += mask[cst__selection_beside(s, i)];
    }
  }
  splits[level->num_lists] = kept;
  s->places = (cst__places){.count = kept, .at = at};
  return CST_OK;
}

/* Keeps the places that are true. */
static cst_status keep_true(cst__selection *s, cst__dim *level) {
  bool is_range = s->places.at == NULL && s->beside == NULL && s->beside_step == 1;
  int64_t *splits;
  CST__TRY(take_numbers(s, level->num_lists + 1, &splits));
  CST__TRY(is_range ? keep_true_of_range(s, s->indices->mask + s->beside_begin, level, splits)
                    : keep_true_each(s, level, splits));
  level->splits = splits;
  level->size = -1;
  return CST_OK;
}

cst_status cst__select_true(cst__selection *s, cst__null_rule rule) {
  CST__TRY(cst__select_together(s, rule));
  CST__TRY(keep_true(s, &s->made[s->num_made - 1]));
  s->indices = NULL; /* gone through */
  return CST_OK;
}

cst_status cst__select_merge(cst__selection *s, size_t count) {
  cst__dim *outer = &s->made[s->num_made - count];
  cst__dim level = *outer;
  if (count <= 1) {
    return CST_OK;
  }
  CST__TRY(take_numbers(s, outer->num_lists + 1, &level.splits));
  memcpy(level.splits, outer->splits, ((size_t)outer->num_lists + 1) * sizeof *level.splits);
  for (size_t d = 1; d < count; d++) {
    for (int64_t i = 0; i <= level.num_lists; i++) {
      level.splits[i] = outer[d].splits[level.splits[i]];
    }
  }
  level.size = -1;
  *outer = level;
  s->num_made -= count - 1;
  return CST_OK;
}

cst_status cst__select_check_length(cst__selection *s, int64_t length) {
  const cst__dim *from = next_level(s);
  CST__TRY(places_spread_out(s));
  for (int64_t i = 0; i < s->places.count; i++) {
    int64_t list = place_at(&s->places, i);
    if (!level_is_null(from, list) && list_length(from, list) != length) {
      return select_fail_length(s, list, list_length(from, list), length);
    }
  }
  return CST_OK;
}
