/* Sorting the elements of each list by a value: stable; NaN come after all others, and nulls last.
 *
 * Values become numbers whose order is that of the values; of text and bytes the first eight bytes
 * do, and the rest is compared where these are equal.
 */
#include "base/interrupt.h"
#include "query/run/slots.h"

typedef struct sort_item {
  uint64_t key;
  int64_t element;
} sort_item;

typedef struct sorting {
  const cst__view *values;
  bool descending;
  bool by_bytes;    /* equal keys are not yet equal values */
  sort_item *items; /* of one list */
  sort_item *spare;
} sorting;

/* ---- keys ---- */

#define SORT_SIGN (UINT64_C(1) << 63)

static uint64_t key_of_double(double value) {
  uint64_t bits;
  value = value == 0 ? 0 : value; /* -0 is 0 */
  memcpy(&bits, &value, sizeof bits);
  return bits & SORT_SIGN ? ~bits : bits | SORT_SIGN;
}

static uint64_t key_of_bytes(cst_bytes bytes) {
  uint64_t key = 0;
  for (size_t i = 0; i < sizeof key; i++) {
    key = key << 8 | (i < bytes.size ? bytes.data[i] : 0);
  }
  return key;
}

/* Times are integers of four or eight bytes. */
static uint64_t key_of_opaque(const cst__view *v, int64_t i) {
  const uint8_t *slot = (const uint8_t *)v->data + (size_t)(v->offset + i) * (size_t)v->fixed_size;
  int32_t narrow;
  int64_t wide;
  if (v->fixed_size == 4) {
    memcpy(&narrow, slot, sizeof narrow);
    wide = narrow;
  } else {
    memcpy(&wide, slot, sizeof wide);
  }
  return (uint64_t)wide ^ SORT_SIGN;
}

static double sort_double(const cst__view *v, int64_t i) {
  return v->dtype == CST_DTYPE_FLOAT64 ? ((const double *)v->data)[v->offset + i]
                                       : (double)((const float *)v->data)[v->offset + i];
}

static bool sort_is_float(const cst__view *v) {
  return v->layout == CST__LAYOUT_NUMBER &&
         (v->dtype == CST_DTYPE_FLOAT32 || v->dtype == CST_DTYPE_FLOAT64);
}

static bool sort_is_nan(const cst__view *v, int64_t i) {
  return sort_is_float(v) && sort_double(v, i) != sort_double(v, i);
}

static uint64_t sort_key(const sorting *s, int64_t i) {
  const cst__view *v = s->values;
  if (s->by_bytes) {
    return key_of_bytes(cst__view_bytes(v, i));
  }
  if (sort_is_float(v)) {
    return key_of_double(sort_double(v, i));
  }
  if (v->layout == CST__LAYOUT_BOOL) {
    return cst__bool_is_true(v, false, i);
  }
  if (v->layout == CST__LAYOUT_OPAQUE) {
    return key_of_opaque(v, i);
  }
  return (uint64_t)cst__view_int(v, i) ^ (v->dtype == CST_DTYPE_UINT64 ? 0 : SORT_SIGN);
}

/* ---- order ---- */

static int sort_compare_bytes(const sorting *s, int64_t a, int64_t b) {
  cst_bytes x = cst__view_bytes(s->values, a);
  cst_bytes y = cst__view_bytes(s->values, b);
  size_t size = x.size < y.size ? x.size : y.size;
  int order = size > 0 ? memcmp(x.data, y.data, size) : 0;
  return order != 0 ? order : (x.size > y.size) - (x.size < y.size);
}

/* True if `b`, which came after `a`, has to stand before it. */
static inline bool sort_is_wrong(const sorting *s, const sort_item *a, const sort_item *b) {
  if (a->key != b->key) {
    return (a->key > b->key) != s->descending;
  }
  if (!s->by_bytes) {
    return false;
  }
  int order = sort_compare_bytes(s, a->element, b->element);
  return s->descending ? order < 0 : order > 0;
}

static void sort_insert(const sorting *s, sort_item *items, int64_t count) {
  for (int64_t i = 1; i < count; i++) {
    sort_item item = items[i];
    int64_t k = i;
    for (; k > 0 && sort_is_wrong(s, &items[k - 1], &item); k--) {
      items[k] = items[k - 1];
    }
    items[k] = item;
  }
}

static void sort_merge(const sorting *s, const sort_item *from, int64_t middle, int64_t count,
                       sort_item *to) {
  int64_t a = 0;
  int64_t b = middle;
  for (int64_t i = 0; i < count; i++) {
    bool second = a == middle || (b < count && sort_is_wrong(s, &from[a], &from[b]));
    to[i] = from[second ? b++ : a++];
  }
}

enum { SORT_INSERTED = 16 /* items at most that are inserted one by one */ };

/* Runs that were inserted are merged, from one array into the other and back. */
static cst_status sort_items(sorting *s, int64_t count, cst_error *error) {
  for (int64_t i = 0; i < count; i += SORT_INSERTED) {
    sort_insert(s, s->items + i, count - i < SORT_INSERTED ? count - i : SORT_INSERTED);
  }
  for (int64_t width = SORT_INSERTED; width < count; width *= 2) {
    CST__TRY(cst__interrupted(error));
    for (int64_t i = 0; i < count; i += 2 * width) {
      int64_t rest = count - i;
      sort_merge(s, s->items + i, rest < width ? rest : width, rest < 2 * width ? rest : 2 * width,
                 s->spare + i);
    }
    sort_item *items = s->items;
    s->items = s->spare;
    s->spare = items;
  }
  return CST_OK;
}

/* Notes the elements that have no key, from at[to] on: NaN, or nulls. */
static int64_t sort_put_last(const sorting *s, int64_t begin, int64_t end, bool nan, int64_t *at) {
  int64_t to = 0;
  for (int64_t i = begin; i < end; i++) {
    bool is_null = cst__view_is_null(s->values, i);
    if (nan ? !is_null && sort_is_nan(s->values, i) : is_null) {
      at[to++] = i;
    }
  }
  return to;
}

static cst_status sort_list(sorting *s, int64_t begin, int64_t end, int64_t *at, cst_error *error) {
  int64_t count = 0;
  for (int64_t i = begin; i < end; i++) {
    if (!cst__view_is_null(s->values, i) && !sort_is_nan(s->values, i)) {
      s->items[count++] = (sort_item){sort_key(s, i), i};
    }
  }
  CST__TRY(sort_items(s, count, error));
  for (int64_t i = 0; i < count; i++) {
    at[begin + i] = s->items[i].element;
  }
  if (count < end - begin) {
    at += begin + count;
    at += sort_put_last(s, begin, end, true, at);
    sort_put_last(s, begin, end, false, at);
  }
  return CST_OK;
}

/* ---- the step ---- */

static cst_status sort_check(const cst__step_call *c, const cst__view *v) {
  bool is_time = v->layout == CST__LAYOUT_OPAQUE && (v->fixed_size == 4 || v->fixed_size == 8) &&
                 v->format[0] == 't' && v->format[1] != 'i';
  bool is_bytes = v->layout == CST__LAYOUT_BINARY || v->layout == CST__LAYOUT_BINARY_VIEW ||
                  v->layout == CST__LAYOUT_FIXED_BINARY;
  if (is_time || is_bytes || v->layout == CST__LAYOUT_NUMBER || v->layout == CST__LAYOUT_BOOL) {
    return CST_OK;
  }
  char type[64];
  cst__view_type_name(v, type, sizeof type);
  return cst__fail(c->error, CST_UNSUPPORTED, NULL, "values of type %s have no order", type);
}

static int64_t sort_longest(const int64_t *splits, int64_t count) {
  int64_t longest = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t size = splits[i + 1] - splits[i];
    longest = size > longest ? size : longest;
  }
  return longest;
}

cst_status cst__step_sort(const cst__step_call *c) {
  const cst__step_slot *lists = cst__step_arg(c, 0);
  const cst__view *values = &cst__step_arg(c, 1)->view;
  int64_t count = cst__place_parent_slot(c->run, c->step->args[0])->count;
  c->out->count = lists->count;
  c->out->splits = lists->splits;
  c->out->nulls = lists->nulls;
  c->out->index = (cst__step_index){.is_all = true, .num_spans = -1};
  if (c->run->plan->steps[c->step->args[1]].is_one || values->layout == CST__LAYOUT_NULL) {
    return CST_OK;
  }
  CST__TRY(sort_check(c, values));
  int64_t bytes = sort_longest(lists->splits, count) * (int64_t)sizeof(sort_item);
  sorting s = {.values = values, .descending = c->step->flag};
  s.by_bytes = values->layout != CST__LAYOUT_NUMBER && values->layout != CST__LAYOUT_BOOL &&
               values->layout != CST__LAYOUT_OPAQUE;
  s.items = cst__step_bytes(c, bytes);
  s.spare = cst__step_bytes(c, bytes);
  int64_t *at = cst__step_numbers(c, lists->count);
  if (s.items == NULL || s.spare == NULL || at == NULL) {
    return CST_NO_MEMORY;
  }
  size_t work = 0;
  for (int64_t i = 0; i < count; i++) {
    if (cst__stretch_is_over(&work, 64 * (size_t)(lists->splits[i + 1] - lists->splits[i]))) {
      CST__TRY(cst__interrupted(c->error));
    }
    CST__TRY(sort_list(&s, lists->splits[i], lists->splits[i + 1], at, c->error));
  }
  c->out->index = (cst__step_index){.at = at, .num_spans = -1};
  return CST_OK;
}
