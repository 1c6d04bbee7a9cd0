/* The walk down, and what it ends with as an array of its own. */
#include "nested/slots.h"

#include "arrow/owned.h"
#include "nested/gather.h"

cst_status cst__slots_enter(cst__slots *slots, int64_t i, cst__arena *arena, cst_error *error) {
  if (slots->view->null_count > 0) {
    cst__mask *mask = cst__arena_take(arena, sizeof *mask);
    if (mask == NULL) {
      return cst__fail_memory(error, sizeof *mask);
    }
    *mask = (cst__mask){slots->view, slots->mask};
    slots->mask = mask;
  }
  slots->view = &slots->view->children[i];
  return CST_OK;
}

/* ---- items: stretches that are added one after the other ---- */

typedef struct item_runs {
  cst__arena *arena;
  int64_t *begins;
  int64_t *ends;
  int64_t count; /* of stretches */
  int64_t capacity;
  int64_t total;
  int64_t last; /* where the last one ends, in the array */
  cst_error *error;
} item_runs;

static cst_status items_grow(item_runs *s) {
  int64_t capacity = s->capacity == 0 ? 4 : 2 * s->capacity;
  int64_t *begins = cst__numbers_new(s->arena, capacity, s->error);
  int64_t *ends = begins != NULL ? cst__numbers_new(s->arena, capacity + 1, s->error) : NULL;
  if (ends == NULL) {
    return CST_NO_MEMORY;
  }
  if (s->count > 0) {
    memcpy(begins, s->begins, (size_t)s->count * sizeof *begins);
    memcpy(ends, s->ends, ((size_t)s->count + 1) * sizeof *ends);
  }
  ends[0] = 0;
  s->begins = begins;
  s->ends = ends;
  s->capacity = capacity;
  return CST_OK;
}

static inline cst_status items_add(item_runs *s, int64_t begin, int64_t count) {
  if (count == 0) {
    return CST_OK;
  }
  if (__builtin_add_overflow(s->total, count, &s->total)) {
    return cst__fail(s->error, CST_LIMIT, "use smaller batches", "more items than 64 bits count");
  }
  if (s->count == 0 || begin != s->last) {
    if (s->count == s->capacity) {
      CST__TRY(items_grow(s));
    }
    s->begins[s->count++] = begin;
  }
  s->ends[s->count] = s->total;
  s->last = begin + count;
  return CST_OK;
}

static cst__chosen items_chosen(const item_runs *s) {
  if (s->count <= 1) {
    return (cst__chosen){.count = s->total, .begin = s->count == 1 ? s->begins[0] : 0};
  }
  return (cst__chosen){.count = s->total, .spans = {s->begins, s->ends, s->count, 1}};
}

/* ---- lists of which none hides anything ---- */

/* What slots keep if their bits say that they are null, as many as 16 bytes hold. */
typedef int32_t four_sizes __attribute__((vector_size(16)));
typedef int64_t two_sizes __attribute__((vector_size(16)));
static const four_sizes hidden_fours[16] = {
    {-1, -1, -1, -1}, {0, -1, -1, -1}, {-1, 0, -1, -1}, {0, 0, -1, -1},
    {-1, -1, 0, -1},  {0, -1, 0, -1},  {-1, 0, 0, -1},  {0, 0, 0, -1},
    {-1, -1, -1, 0},  {0, -1, -1, 0},  {-1, 0, -1, 0},  {0, 0, -1, 0},
    {-1, -1, 0, 0},   {0, -1, 0, 0},   {-1, 0, 0, 0},   {0, 0, 0, 0},
};
static const two_sizes hidden_twos[4] = {{-1, -1}, {0, -1}, {-1, 0}, {0, 0}};

/* The items that null lists of a run hold, or'ed: 0 if there are none. The slots of a byte of bits
 * are taken together, without a branch on the bits. */
#define DEFINE_HIDDEN(name, type, sizes, masks)                                              \
  static int64_t name(const type *offsets, const uint8_t *bits, int64_t at, int64_t count) { \
    enum { LANES = sizeof(sizes) / sizeof(type) };                                           \
    sizes found = {0};                                                                       \
    type hidden = 0;                                                                         \
    int64_t i = at;                                                                          \
    for (; i < at + count && (i & 7) != 0; i++) {                                            \
      hidden |= (offsets[i + 1] - offsets[i]) & masks[(bits[i >> 3] >> (i & 7)) & 1][0];     \
    }                                                                                        \
    for (; i + 8 <= at + count; i += 8) {                                                    \
      unsigned byte = bits[i >> 3];                                                          \
      for (int k = 0; k < 8; k += LANES) {                                                   \
        sizes begins;                                                                        \
        sizes ends;                                                                          \
        memcpy(&begins, offsets + i + k, sizeof begins);                                     \
        memcpy(&ends, offsets + i + k + 1, sizeof ends);                                     \
        found |= (ends - begins) & masks[byte >> k & ((1 << LANES) - 1)];                    \
      }                                                                                      \
    }                                                                                        \
    for (; i < at + count; i++) {                                                            \
      hidden |= (offsets[i + 1] - offsets[i]) & masks[(bits[i >> 3] >> (i & 7)) & 1][0];     \
    }                                                                                        \
    for (int k = 0; k < LANES; k++) {                                                        \
      hidden |= found[k];                                                                    \
    }                                                                                        \
    return hidden;                                                                           \
  }
DEFINE_HIDDEN(hidden_32, int32_t, four_sizes, hidden_fours)
DEFINE_HIDDEN(hidden_64, int64_t, two_sizes, hidden_twos)

/* True if the offsets alone say what the lists hold: every null among them is empty. */
static bool slots_are_plain(const cst__slots *lists) {
  const cst__view *v = lists->view;
  if (v->layout != CST__LAYOUT_LIST || lists->mask != NULL || lists->chosen.at != NULL ||
      v->offsets == NULL) {
    return false;
  }
  int64_t num_runs = v->validity != NULL ? cst__chosen_num_runs(&lists->chosen) : 0;
  int64_t hidden = 0;
  for (int64_t i = 0; i < num_runs && hidden == 0; i++) {
    cst__range run = cst__chosen_run(&lists->chosen, i);
    int64_t at = v->offset + run.begin;
    hidden = v->offset_width == 8 ? hidden_64(v->offsets, v->validity, at, run.count)
                                  : hidden_32(v->offsets, v->validity, at, run.count);
  }
  return hidden == 0;
}

static inline int64_t offset_at(const cst__view *v, int64_t slot) {
  return cst__view_entry(v->offsets, v->offset_width, v->offset + slot);
}

/* Where the items of one run begin, after `splits[0]`. */
static cst_status split_plain(const cst__view *view, cst__range run, int64_t *splits,
                              cst_error *error) {
  const int64_t *wide = (const int64_t *)view->offsets + view->offset + run.begin;
  const int32_t *narrow = (const int32_t *)view->offsets + view->offset + run.begin;
  int64_t move = splits[0] - offset_at(view, run.begin);
  for (int64_t i = 1, end = 1; i <= run.count;) {
    CST__TRY(cst__next_stretch(&end, run.count + 1, error));
    for (; i < end && view->offset_width == 8; i++) {
      splits[i] = wide[i] + move;
    }
    for (; i < end; i++) {
      splits[i] = narrow[i] + move;
    }
  }
  return CST_OK;
}

/* Splits that lie in the array as they are; NULL: there are none. */
static const int64_t *own_splits(const cst__slots *lists) {
  const cst__view *v = lists->view;
  bool is_own = v->offset_width == 8 && cst__chosen_is_run(&lists->chosen) &&
                offset_at(v, lists->chosen.begin) == 0;
  return is_own ? (const int64_t *)v->offsets + v->offset + lists->chosen.begin : NULL;
}

static cst_status new_splits(const cst__slots *lists, const item_runs *out, int64_t **splits) {
  *splits = cst__numbers_new(out->arena, lists->chosen.count + 1, out->error);
  if (*splits == NULL) {
    return CST_NO_MEMORY;
  }
  (*splits)[0] = 0;
  return CST_OK;
}

static cst_status open_plain(const cst__slots *lists, const int64_t **splits, item_runs *out) {
  const cst__view *v = lists->view;
  int64_t num_runs = cst__chosen_num_runs(&lists->chosen);
  int64_t *to = NULL;
  if (splits != NULL) {
    *splits = own_splits(lists);
    if (*splits == NULL) {
      CST__TRY(new_splits(lists, out, &to));
      *splits = to;
    }
  }
  for (int64_t i = 0; i < num_runs; i++) {
    cst__range run = cst__chosen_run(&lists->chosen, i);
    int64_t begin = offset_at(v, run.begin);
    if (to != NULL) {
      CST__TRY(split_plain(v, run, to, out->error));
      to += run.count;
    }
    CST__TRY(items_add(out, begin, offset_at(v, run.begin + run.count) - begin));
  }
  return CST_OK;
}

/* Lists of a fixed size, or of one, of which none is null. */
static bool slots_are_fixed(const cst__slots *lists) {
  bool is_fixed = lists->view->layout == CST__LAYOUT_FIXED_LIST || !cst__view_is_list(lists->view);
  return is_fixed && !cst__slots_may_be_null(lists);
}

static cst_status open_fixed(const cst__slots *lists, const int64_t **splits, item_runs *out) {
  const cst__view *v = lists->view;
  bool is_list = cst__view_is_list(v);
  int64_t size = is_list ? v->fixed_size : 1;
  int64_t first = is_list ? v->offset * size : 0; /* the items of slot 0 */
  cst__lists made;
  if (splits != NULL) {
    CST__TRY(cst__lists_fixed(lists->chosen.count, size, out->arena, &made, out->error));
    *splits = made.splits;
  }
  for (int64_t i = 0; i < cst__chosen_num_runs(&lists->chosen); i++) {
    cst__range run = cst__chosen_run(&lists->chosen, i);
    CST__TRY(items_add(out, first + run.begin * size, run.count * size));
  }
  return CST_OK;
}

/* ---- everything else: slot by slot ---- */

enum { LIST_WORK = 16 /* that a list makes */ };

static inline void list_range(const cst__slots *lists, int64_t slot, int64_t *begin, int64_t *end) {
  const cst__view *v = lists->view;
  *begin = *end = 0;
  if (cst__slots_hide(lists, slot)) {
    return;
  }
  if (v->layout == CST__LAYOUT_LIST) {
    *begin = offset_at(v, slot);
    *end = offset_at(v, slot + 1);
  } else if (cst__view_is_list(v)) {
    cst__view_list(v, slot, begin, end);
  } else {
    *begin = slot;
    *end = slot + 1;
  }
}

static cst_status open_each(const cst__slots *lists, const int64_t **splits, item_runs *out) {
  int64_t num_runs = cst__chosen_num_runs(&lists->chosen);
  int64_t *to = NULL;
  size_t work = 0;
  if (splits != NULL) {
    CST__TRY(new_splits(lists, out, &to));
    *splits = to;
  }
  for (int64_t i = 0; i < num_runs; i++) {
    cst__range run = cst__chosen_run(&lists->chosen, i);
    for (int64_t slot = run.begin; slot < run.begin + run.count; slot++) {
      int64_t begin;
      int64_t end;
      if (cst__stretch_is_over(&work, LIST_WORK)) {
        CST__TRY(cst__interrupted(out->error));
      }
      list_range(lists, slot, &begin, &end);
      CST__TRY(items_add(out, begin, end - begin));
      if (to != NULL) {
        *++to = out->total;
      }
    }
  }
  return CST_OK;
}

/* ---- opening ---- */

/* List views may hold the same items again and again, below each other with each level more: all
 * levels together are limited, as one is by cst__view_most_items. */
static cst_status slots_check_views(const cst__slots *lists, int64_t total, cst_error *error) {
  const cst__view *view = lists->view;
  int64_t most = lists->view_slots < INT64_MAX / 256 ? lists->view_slots * 64 : INT64_MAX / 4;
  if (view->layout != CST__LAYOUT_LIST_VIEW ||
      total <= cst__view_most_items(view) + most - lists->view_items) {
    return CST_OK;
  }
  return cst__fail(error, CST_LIMIT, "cast the list views to large_list",
                   "%lld lists share %lld items so often that they hold %lld",
                   (long long)view->length, (long long)view->children[0].length, (long long)total);
}

/* Goes to the items, and counts what the list views on the way have held. */
static void slots_go_down(cst__slots *slots, const item_runs *found) {
  const cst__view *view = slots->view;
  if (view->layout == CST__LAYOUT_LIST_VIEW) {
    slots->view_items += found->total;
    slots->view_slots += view->length + view->children[0].length;
  }
  if (cst__view_is_list(view)) {
    slots->view = &view->children[0];
  }
  slots->mask = NULL;
  slots->chosen = items_chosen(found);
}

static bool is_bare(const cst__view *v) {
  return v->layout == CST__LAYOUT_NULL ||
         (v->layout == CST__LAYOUT_FIXED_LIST && v->fixed_size == 0);
}

cst_status cst__slots_open(cst__slots *slots, cst__arena *arena, cst__lists *lists,
                           cst_error *error) {
  static const int64_t zero = 0;
  const cst__view *v = slots->view;
  const int64_t *splits = &zero;
  const int64_t **wanted = lists != NULL ? &splits : NULL;
  item_runs found = {.arena = arena, .error = error};
  int64_t count = slots->chosen.count;
  if (is_bare(v) && count > CST__MAX_BARE_SLOTS) {
    return cst__fail(error, CST_LIMIT, "use smaller batches", "%lld slots without any values",
                     (long long)count);
  }
  if (count > 0) {
    CST__TRY(slots_are_plain(slots)   ? open_plain(slots, wanted, &found)
             : slots_are_fixed(slots) ? open_fixed(slots, wanted, &found)
                                      : open_each(slots, wanted, &found));
    CST__TRY(slots_check_views(slots, found.total, error));
  }
  if (lists != NULL) {
    bool is_fixed = v->layout == CST__LAYOUT_FIXED_LIST && found.total == v->fixed_size * count;
    *lists = (cst__lists){count, is_fixed ? v->fixed_size : -1, splits, NULL};
  }
  slots_go_down(slots, &found);
  return CST_OK;
}

/* Looks where the lists' own offsets lead, without a copy of all of them. */
static cst_status descend_plain(const cst__slots *lists, int64_t *splits, int64_t count,
                                cst_error *error) {
  const cst__view *view = lists->view;
  int64_t at = view->offset + lists->chosen.begin;
  int64_t first = offset_at(view, lists->chosen.begin);
  const int64_t *wide = (const int64_t *)view->offsets + at;
  const int32_t *narrow = (const int32_t *)view->offsets + at;
  for (int64_t i = 0, end = 0; i <= count;) {
    CST__TRY(cst__next_stretch(&end, count + 1, error));
    for (; i < end && view->offset_width == 8; i++) {
      splits[i] = wide[splits[i]] - first;
    }
    for (; i < end; i++) {
      splits[i] = narrow[splits[i]] - first;
    }
  }
  return CST_OK;
}

cst_status cst__slots_descend(cst__slots *slots, int64_t *splits, int64_t count, cst__arena *arena,
                              cst_error *error) {
  cst__lists lists;
  if (slots->chosen.count > 0 && cst__chosen_is_run(&slots->chosen) && slots_are_plain(slots)) {
    CST__TRY(descend_plain(slots, splits, count, error));
    return cst__slots_open(slots, arena, NULL, error);
  }
  CST__TRY(cst__slots_open(slots, arena, &lists, error));
  for (int64_t i = 0, end = 0; i <= count;) {
    CST__TRY(cst__next_stretch(&end, count + 1, error));
    for (; i < end; i++) {
      splits[i] = lists.splits[splits[i]];
    }
  }
  return CST_OK;
}

cst_status cst__slots_items(const cst__slots *slots, cst__arena *arena, cst__lists *lists,
                            cst__slots *items, cst_error *error) {
  *items = *slots;
  CST__TRY(cst__slots_open(items, arena, lists, error));
  return cst__chosen_is_run(&items->chosen)
             ? CST_OK
             : cst__chosen_need_numbers(&items->chosen, arena, error);
}

/* ---- nulls ---- */

int64_t cst__slots_count_valid(const cst__slots *slots) {
  const cst__view *v = slots->view;
  const cst__chosen *chosen = &slots->chosen;
  int64_t valid = 0;
  if (!cst__slots_may_be_null(slots) || v->layout == CST__LAYOUT_NULL) {
    return v->layout == CST__LAYOUT_NULL ? 0 : chosen->count;
  }
  for (int64_t i = 0; chosen->at == NULL && i < cst__chosen_num_runs(chosen); i++) {
    const cst__range run = cst__chosen_run(chosen, i);
    if (slots->mask == NULL) {
      valid += cst__bitmap_count(v->validity, v->offset + run.begin, run.count);
      continue;
    }
    for (int64_t slot = run.begin; slot < run.begin + run.count; slot++) {
      valid += !cst__slots_hide(slots, slot);
    }
  }
  for (int64_t k = 0; chosen->at != NULL && k < chosen->count; k++) {
    valid += !cst__slot_is_null(slots, k);
  }
  return valid;
}

int64_t cst__slots_first_null(const cst__slots *slots) {
  const cst__chosen *chosen = &slots->chosen;
  int64_t k = 0;
  if (!cst__slots_may_be_null(slots) || cst__slots_count_valid(slots) == chosen->count) {
    return -1;
  }
  if (chosen->at != NULL) {
    while (!cst__slot_is_null(slots, k)) {
      k++;
    }
    return k;
  }
  for (int64_t i = 0;; i++) {
    const cst__range run = cst__chosen_run(chosen, i);
    for (int64_t slot = run.begin; slot < run.begin + run.count; slot++, k++) {
      if (cst__slots_hide(slots, slot)) {
        return k;
      }
    }
  }
}

/* bits &= from, of `count` bits. */
static void slots_and_bits(uint8_t *bits, int64_t to, const uint8_t *from, int64_t begin,
                           int64_t count) {
  enum { CHUNK = 1024 };
  uint8_t part[CHUNK / 8 + 1];
  while (count > 0) {
    int64_t shift = to & 7;
    int64_t some = count < CHUNK - shift ? count : CHUNK - shift;
    size_t bytes = cst__bits_size(shift + some);
    memset(part, 0xff, bytes);
    cst__bits_copy(part, shift, from, begin, some);
    for (size_t i = 0; i < bytes; i++) {
      bits[(size_t)(to >> 3) + i] &= part[i];
    }
    to += some;
    begin += some;
    count -= some;
  }
}

void cst__slots_valid_bits(const cst__slots *slots, uint8_t *bits, int64_t to) {
  const cst__view *view = slots->view;
  int64_t num_runs = cst__chosen_num_runs(&slots->chosen);
  for (int64_t i = 0; i < num_runs && view->layout != CST__LAYOUT_NULL; i++) {
    cst__range run = cst__chosen_run(&slots->chosen, i);
    if (view->validity != NULL) {
      cst__bits_copy(bits, to, view->validity, view->offset + run.begin, run.count);
    } else {
      cst__bits_set(bits, to, run.count);
    }
    for (const cst__mask *mask = slots->mask; mask != NULL; mask = mask->outer) {
      if (mask->view->validity != NULL) {
        slots_and_bits(bits, to, mask->view->validity, mask->view->offset + run.begin, run.count);
      }
    }
    to += run.count;
  }
}

cst_status cst__slots_nulls(const cst__slots *slots, cst__arena *arena, const uint8_t **out,
                            cst_error *error) {
  int64_t count = slots->chosen.count;
  *out = NULL;
  if (!cst__slots_may_be_null(slots)) {
    return CST_OK;
  }
  size_t size = cst__bits_size(count);
  uint8_t *bits = cst__arena_take_zero(arena, size);
  uint8_t *nulls = cst__arena_take(arena, (size_t)count);
  if (bits == NULL || nulls == NULL) {
    return cst__fail_memory(error, (size_t)count);
  }
  cst__slots_valid_bits(slots, bits, 0);
  if (cst__bitmap_count(bits, 0, count) == count) {
    return CST_OK;
  }
  for (size_t i = 0; i < size; i++) {
    bits[i] = (uint8_t)~bits[i];
  }
  cst__bits_to_bytes(bits, 0, count, nulls);
  *out = nulls;
  return cst__interrupted(error);
}

/* ---- arrays ---- */

cst_status cst__slots_put_validity(const cst__slots *slots, struct ArrowArray *out,
                                   cst_error *error) {
  size_t size = cst__bits_size(out->offset + out->length);
  uint8_t *bits = cst__owned_buffer(out, 0, size);
  if (bits == NULL) {
    return cst__fail_memory(error, size);
  }
  memset(bits, 0, size);
  cst__slots_valid_bits(slots, bits, out->offset);
  out->null_count = out->length - cst__bitmap_count(bits, out->offset, out->length);
  return CST_OK;
}

/* A root of its own for shared parts, so that it can have a bitmap of its own. */
static cst_status own_root(const cst__owner *owner, struct ArrowArray *shared, cst_error *error) {
  struct ArrowArray own;
  cst_status status =
      cst__owned_new(owner->allocator, shared->n_buffers, shared->n_children, false, &own, error);
  if (status != CST_OK) {
    cst__array_release(shared);
    return status;
  }
  for (int64_t i = 1; i < shared->n_buffers; i++) {
    own.buffers[i] = shared->buffers[i];
  }
  for (int64_t i = 0; i < shared->n_children; i++) {
    *own.children[i] = *shared->children[i];
    shared->children[i]->release = NULL;
  }
  own.length = shared->length;
  own.offset = shared->offset;
  owner->retain(owner->object);
  cst__owned_keep(&own, owner->object, owner->release);
  cst__array_release(shared);
  *shared = own;
  return CST_OK;
}

static cst_status fail_nulls(const cst__view *view, cst_error *error) {
  char type[64];
  cst__view_type_name(view, type, sizeof type);
  return cst__fail(error, CST_UNSUPPORTED, "cast the column, or leave it out",
                   "null structs hide values of type %s, which has no nulls of its own", type);
}

cst_status cst__slots_array(const cst__slots *slots, const cst__owner *owner,
                            struct ArrowArray *out, cst_error *error) {
  const cst__view *view = slots->view;
  bool is_hidden = slots->mask != NULL && view->layout != CST__LAYOUT_NULL;
  if (is_hidden && view->layout == CST__LAYOUT_OTHER) {
    return fail_nulls(view, error);
  }
  CST__TRY(cst__take(owner, view, &slots->chosen, false, out, error));
  if (view->layout == CST__LAYOUT_NULL) {
    out->null_count = out->length;
  }
  if (!is_hidden) {
    return CST_OK;
  }
  if (cst__chosen_is_run(&slots->chosen)) {
    CST__TRY(own_root(owner, out, error));
  }
  cst_status status = cst__slots_put_validity(slots, out, error);
  if (status != CST_OK) {
    cst__array_release(out);
  }
  return status;
}
