/* The order of the values of a list: stable; NaN come after all others, and nulls last.
 *
 * Values become numbers whose order is that of the values; of text and bytes the first eight bytes
 * do, and the rest is compared where these are equal.
 */
#include "nested/order.h"

#include <string.h>

#include "arrow/owned.h"
#include "base/bytes.h"
#include "base/exact.h"
#include "base/interrupt.h"

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

static uint64_t sort_key(const cst__order *s, int64_t i) {
  const cst__view *v = s->values;
  if (s->by_bytes) {
    return key_of_bytes(cst__view_bytes(v, i));
  }
  if (sort_is_float(v)) {
    return key_of_double(sort_double(v, i));
  }
  if (v->layout == CST__LAYOUT_BOOL) {
    return cst__view_bool(v, i);
  }
  if (v->layout == CST__LAYOUT_OPAQUE) {
    return key_of_opaque(v, i);
  }
  return (uint64_t)cst__view_int(v, i) ^ (v->dtype == CST_DTYPE_UINT64 ? 0 : SORT_SIGN);
}

/* ---- order ---- */

static int sort_compare_bytes(const cst__order *s, int64_t a, int64_t b) {
  return cst__bytes_compare(cst__view_bytes(s->values, a), cst__view_bytes(s->values, b));
}

/* True if `b`, which came after `a`, has to stand before it. */
static inline bool sort_is_wrong(const cst__order *s, const cst__order_item *a,
                                 const cst__order_item *b) {
  if (a->key != b->key) {
    return (a->key > b->key) != s->descending;
  }
  if (!s->by_bytes) {
    return false;
  }
  int order = sort_compare_bytes(s, a->element, b->element);
  return s->descending ? order < 0 : order > 0;
}

static void sort_insert(const cst__order *s, cst__order_item *items, int64_t count) {
  for (int64_t i = 1; i < count; i++) {
    cst__order_item item = items[i];
    int64_t k = i;
    for (; k > 0 && sort_is_wrong(s, &items[k - 1], &item); k--) {
      items[k] = items[k - 1];
    }
    items[k] = item;
  }
}

/* True now and then: time to ask. */
static inline bool sort_asks(int64_t i) { return (i & 0xffff) == 0xffff; }

static cst_status sort_merge(const cst__order *s, const cst__order_item *from, int64_t middle,
                             int64_t count, cst__order_item *to, cst_error *error) {
  int64_t a = 0;
  int64_t b = middle;
  for (int64_t i = 0, end = 0; i < count;) {
    CST__TRY(cst__next_stretch(&end, count, error));
    for (; i < end; i++) {
      bool second = a == middle || (b < count && sort_is_wrong(s, &from[a], &from[b]));
      to[i] = from[second ? b++ : a++];
    }
  }
  return CST_OK;
}

enum { SORT_INSERTED = 16 /* items at most that are inserted one by one */ };

/* Runs that were inserted are merged, from one array into the other and back. */
static cst_status sort_items(cst__order *s, int64_t count, cst_error *error) {
  for (int64_t i = 0; i < count; i += SORT_INSERTED) {
    if (sort_asks(i + SORT_INSERTED - 1)) {
      CST__TRY(cst__interrupted(error));
    }
    sort_insert(s, s->items + i, count - i < SORT_INSERTED ? count - i : SORT_INSERTED);
  }
  size_t work = 0;
  for (int64_t width = SORT_INSERTED; width < count; width *= 2) {
    for (int64_t i = 0; i < count; i += 2 * width) {
      int64_t rest = count - i;
      if (cst__stretch_is_over(&work, 2 * (size_t)width * sizeof *s->items)) {
        CST__TRY(cst__interrupted(error));
      }
      CST__TRY(sort_merge(s, s->items + i, rest < width ? rest : width,
                          rest < 2 * width ? rest : 2 * width, s->spare + i, error));
    }
    cst__order_item *items = s->items;
    s->items = s->spare;
    s->spare = items;
  }
  return CST_OK;
}

/* Notes the elements that have no key, from *at on, which it moves: NaN, or nulls. */
static cst_status sort_put_last(const cst__order *s, int64_t begin, int64_t last, bool nan,
                                int64_t **at, cst_error *error) {
  for (int64_t i = begin, end = begin; i < last;) {
    CST__TRY(cst__next_stretch(&end, last, error));
    for (; i < end; i++) {
      bool is_null = cst__view_is_null(s->values, i);
      if (nan ? !is_null && sort_is_nan(s->values, i) : is_null) {
        *(*at)++ = i;
      }
    }
  }
  return CST_OK;
}

cst_status cst__order_list(cst__order *s, int64_t begin, int64_t end, int64_t *num_sorted,
                           cst_error *error) {
  int64_t *at = s->at;
  int64_t count = 0;
  for (int64_t i = begin; i < end; i++) {
    if (__builtin_expect(sort_asks(i - begin), 0)) {
      CST__TRY(cst__interrupted(error));
    }
    if (!cst__view_is_null(s->values, i) && !sort_is_nan(s->values, i)) {
      s->items[count++] = (cst__order_item){sort_key(s, i), i};
    }
  }
  CST__TRY(sort_items(s, count, error));
  for (int64_t i = 0, stop = 0; i < count;) {
    CST__TRY(cst__next_stretch(&stop, count, error));
    for (; i < stop; i++) {
      at[i] = s->items[i].element;
    }
  }
  *num_sorted = count;
  if (count < end - begin) {
    at += count;
    CST__TRY(sort_put_last(s, begin, end, true, &at, error));
    CST__TRY(sort_put_last(s, begin, end, false, &at, error));
  }
  return CST_OK;
}

bool cst__order_is_same(const cst__order *s, int64_t a, int64_t b) {
  return sort_key(s, a) == sort_key(s, b) && (!s->by_bytes || sort_compare_bytes(s, a, b) == 0);
}

/* ---- opening ---- */

cst_status cst__order_init(cst__order *s, const cst__view *values, bool descending,
                           cst_error *error) {
  const cst__view *v = values;
  bool is_time = v->layout == CST__LAYOUT_OPAQUE && (v->fixed_size == 4 || v->fixed_size == 8) &&
                 v->format[0] == 't' && v->format[1] != 'i';
  bool is_bytes = v->layout == CST__LAYOUT_BINARY || v->layout == CST__LAYOUT_BINARY_VIEW ||
                  v->layout == CST__LAYOUT_FIXED_BINARY;
  if (!is_time && !is_bytes && v->layout != CST__LAYOUT_NUMBER && v->layout != CST__LAYOUT_BOOL &&
      v->layout != CST__LAYOUT_NULL) {
    char type[64];
    cst__view_type_name(v, type, sizeof type);
    return cst__fail(error, CST_UNSUPPORTED, NULL, "values of type %s have no order", type);
  }
  *s = (cst__order){.values = values, .descending = descending, .by_bytes = is_bytes};
  return CST_OK;
}

cst_status cst__order_take(cst__order *s, int64_t longest, const cst_allocator *allocator,
                           cst_error *error) {
  size_t size = SIZE_MAX;
  s->room = cst__mul((size_t)longest + 1, 2 * sizeof *s->items + sizeof *s->at, &size)
                ? cst__new(allocator, size)
                : NULL;
  if (s->room == NULL) {
    return cst__fail_memory(error, size);
  }
  s->items = s->room;
  s->spare = s->items + longest + 1;
  s->at = (int64_t *)(s->spare + longest + 1);
  return CST_OK;
}
