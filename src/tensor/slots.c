/* Walking a column's levels: nulls, runs, and row splits. */
#include "tensor/slots.h"

bool cst__slot_is_null(const cst__slots *slots, int64_t k) {
  int64_t at = cst__slot_at(slots, k);
  if (cst__view_is_null(slots->view, at)) {
    return true;
  }
  for (const cst__mask *mask = slots->mask; mask != NULL; mask = mask->outer) {
    if (cst__view_is_null(mask->view, at)) {
      return true;
    }
  }
  return false;
}

int64_t cst__slots_first_null(const cst__slots *slots) {
  const cst__view *v = slots->view;
  if (!cst__slots_may_be_null(slots)) {
    return -1;
  }
  if (slots->index == NULL && slots->mask == NULL && v->validity != NULL &&
      cst__bitmap_count(v->validity, v->offset + slots->first, slots->count) == slots->count) {
    return -1;
  }
  for (int64_t k = 0; k < slots->count; k++) {
    if (cst__slot_is_null(slots, k)) {
      return k;
    }
  }
  return -1;
}

bool cst__slots_enter(const cst__slots *structs, int64_t child, cst__scratch *scratch,
                      cst__slots *out) {
  cst__slots entered = *structs;
  entered.view = &structs->view->children[child];
  if (structs->view->null_count > 0) {
    cst__mask *mask = cst__scratch_take(scratch, 1, sizeof *mask);
    if (mask == NULL) {
      return false;
    }
    *mask = (cst__mask){structs->view, structs->mask};
    entered.mask = mask;
  }
  *out = entered;
  return true;
}

int64_t cst__splits_find(const int64_t *splits, int64_t count, int64_t item) {
  int64_t low = 0;
  int64_t high = count;
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (splits[middle] <= item) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/* ---- lists with offsets, the usual case: no slot is looked at alone ---- */

/* The items that null lists of a run hold, or'ed: 0 if there are none. Slots are taken eight at a
 * time, without a branch on their bits, and those of a byte without nulls not at all. */
#define DEFINE_HIDDEN(name, type)                                                            \
  static int64_t name(const type *offsets, const uint8_t *bits, int64_t at, int64_t count) { \
    static const type masks[2] = {-1, 0};                                                    \
    type hidden = 0;                                                                         \
    int64_t i = at;                                                                          \
    for (; i < at + count && (i & 7) != 0; i++) {                                            \
      hidden |= (offsets[i + 1] - offsets[i]) & masks[(bits[i >> 3] >> (i & 7)) & 1];        \
    }                                                                                        \
    for (; i + 8 <= at + count; i += 8) {                                                    \
      unsigned byte = bits[i >> 3];                                                          \
      if (byte != 0xff) {                                                                    \
        for (int k = 0; k < 8; k++) {                                                        \
          hidden |= (offsets[i + k + 1] - offsets[i + k]) & ((type)((byte >> k) & 1) - 1);   \
        }                                                                                    \
      }                                                                                      \
    }                                                                                        \
    for (; i < at + count; i++) {                                                            \
      hidden |= (offsets[i + 1] - offsets[i]) & masks[(bits[i >> 3] >> (i & 7)) & 1];        \
    }                                                                                        \
    return hidden;                                                                           \
  }
DEFINE_HIDDEN(hidden_32, int32_t)
DEFINE_HIDDEN(hidden_64, int64_t)

/* True if every null among the slots is an empty list anyway. */
static bool are_nulls_empty(const cst__view *v, int64_t at, int64_t count) {
  return (v->offset_width == 8 ? hidden_64(v->offsets, v->validity, at, count)
                               : hidden_32(v->offsets, v->validity, at, count)) == 0;
}

static bool is_plain_list(const cst__slots *lists) {
  const cst__view *v = lists->view;
  return v->layout == CST__LAYOUT_LIST && lists->index == NULL && lists->mask == NULL &&
         (v->validity == NULL || are_nulls_empty(v, v->offset + lists->first, lists->count));
}

static void subtract_32(const int32_t *offsets, int64_t count, int64_t *out) {
  for (int64_t i = 0; i <= count; i++) {
    out[i] = offsets[i] - offsets[0];
  }
}

static void subtract_64(const int64_t *offsets, int64_t count, int64_t *out) {
  for (int64_t i = 0; i <= count; i++) {
    out[i] = offsets[i] - offsets[0];
  }
}

static cst_status slots_open_plain(const cst__slots *lists, cst__scratch *scratch,
                                   const int64_t **splits, cst__slots *items, cst_error *error) {
  const cst__view *v = lists->view;
  int64_t at = v->offset + lists->first;
  int64_t first = cst__view_entry(v->offsets, v->offset_width, at);
  int64_t last = cst__view_entry(v->offsets, v->offset_width, at + lists->count);
  *items = (cst__slots){&v->children[0], last - first, first, NULL, NULL};
  if (v->offset_width == 8 && first == 0) {
    *splits = (const int64_t *)v->offsets + at;
    return CST_OK;
  }
  int64_t *own = cst__scratch_take(scratch, lists->count + 1, sizeof *own);
  CST__TRY(CST__TAKEN(own, error));
  if (v->offset_width == 8) {
    subtract_64((const int64_t *)v->offsets + at, lists->count, own);
  } else {
    subtract_32((const int32_t *)v->offsets + at, lists->count, own);
  }
  *splits = own;
  return CST_OK;
}

/* ---- everything else: slot by slot ---- */

static void range_of(const cst__slots *lists, int64_t k, int64_t *begin, int64_t *end) {
  *begin = *end = 0;
  if (cst__slots_may_be_null(lists) && cst__slot_is_null(lists, k)) {
    return;
  }
  int64_t at = cst__slot_at(lists, k);
  if (cst__view_is_list(lists->view)) {
    cst__view_list(lists->view, at, begin, end);
  } else {
    *begin = at;
    *end = at + 1;
  }
}

/* Fills the splits; true if the items are one run, which then begins at *first. */
static bool slots_measure(const cst__slots *lists, int64_t *splits, int64_t *first) {
  bool is_run = true;
  int64_t next = -1;
  *first = 0;
  splits[0] = 0;
  for (int64_t k = 0; k < lists->count; k++) {
    int64_t begin;
    int64_t end;
    range_of(lists, k, &begin, &end);
    if (begin < end) {
      *first = next < 0 ? begin : *first;
      is_run = is_run && (next < 0 || begin == next);
      next = end;
    }
    if (__builtin_add_overflow(splits[k], end - begin, &splits[k + 1])) {
      splits[k + 1] = INT64_MAX;
    }
  }
  return is_run;
}

static int64_t *list_items(const cst__slots *lists, const int64_t *splits, cst__scratch *scratch) {
  int64_t *index = cst__scratch_take(scratch, splits[lists->count], sizeof *index);
  for (int64_t k = 0; index != NULL && k < lists->count; k++) {
    int64_t begin;
    int64_t end;
    range_of(lists, k, &begin, &end);
    for (int64_t i = begin; i < end; i++) {
      index[splits[k] + i - begin] = i;
    }
  }
  return index;
}

static bool is_bare(const cst__view *v) {
  return v->layout == CST__LAYOUT_NULL ||
         (v->layout == CST__LAYOUT_FIXED_LIST && v->fixed_size == 0);
}

cst_status cst__slots_open(const cst__slots *lists, cst__scratch *scratch, const int64_t **splits,
                           cst__slots *items, cst_error *error) {
  static const int64_t zero = 0;
  const cst__view *v = lists->view;
  const cst__view *below = cst__view_is_list(v) ? &v->children[0] : v;
  if (lists->count == 0) {
    *splits = &zero;
    *items = (cst__slots){below, 0, 0, NULL, NULL};
    return CST_OK;
  }
  if (is_plain_list(lists)) {
    return slots_open_plain(lists, scratch, splits, items, error);
  }
  if (is_bare(v) && lists->count > CST__MAX_BARE_SLOTS) {
    return cst__fail(error, CST_LIMIT, "use smaller batches", "%lld slots without any values",
                     (long long)lists->count);
  }
  int64_t *own = cst__scratch_take(scratch, lists->count + 1, sizeof *own);
  CST__TRY(CST__TAKEN(own, error));
  int64_t first;
  bool is_run = slots_measure(lists, own, &first);
  int64_t total = own[lists->count];
  if (!is_run && cst__view_is_list(v) && total > cst__view_most_items(v)) {
    return cst__fail(error, CST_LIMIT, "cast the list views to large_list",
                     "list views that hold %lld items hold the same ones again and again",
                     (long long)below->length);
  }
  *items = (cst__slots){below, total, first, NULL, NULL};
  if (!is_run) {
    items->index = list_items(lists, own, scratch);
    CST__TRY(CST__TAKEN(items->index, error));
  }
  *splits = own;
  return CST_OK;
}
