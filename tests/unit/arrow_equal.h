/* Comparing Arrow arrays cell by cell, through views of any layout.
 */
#ifndef TESTS_UNIT_ARROW_EQUAL_H
#define TESTS_UNIT_ARROW_EQUAL_H

#include <string.h>

#include "arrow/view.h"
#include "harness.h"

static inline const void *arrow_equal_at(const cst__view *v, int64_t i, size_t width) {
  return (const char *)v->data + (size_t)(v->offset + i) * width;
}

static inline unsigned arrow_equal_bit(const cst__view *v, int64_t i) {
  int64_t at = v->offset + i;
  return (unsigned)((const uint8_t *)v->data)[at >> 3] >> (at & 7) & 1;
}

static inline size_t arrow_equal_width(const cst__view *v) {
  return v->layout == CST__LAYOUT_HALF     ? 2
         : v->layout == CST__LAYOUT_OPAQUE ? (size_t)v->fixed_size
                                           : cst_dtype_width(v->dtype);
}

static inline void arrow_equal_slot(const cst__view *a, int64_t i, const cst__view *b, int64_t j);

static inline void arrow_equal_list(const cst__view *a, int64_t i, const cst__view *b, int64_t j) {
  int64_t x, x_end, y, y_end;
  cst__view_list(a, i, &x, &x_end);
  cst__view_list(b, j, &y, &y_end);
  CHECK_EQ(x_end - x, y_end - y);
  for (; x < x_end; x++, y++) {
    arrow_equal_slot(&a->children[0], x, &b->children[0], y);
  }
}

/* Slot i of `a` is equal to slot j of `b`, which has the same layout. */
static inline void arrow_equal_slot(const cst__view *a, int64_t i, const cst__view *b, int64_t j) {
  CHECK_EQ(a->layout, b->layout);
  CHECK_EQ(cst__view_is_null(a, i), cst__view_is_null(b, j));
  if (cst__view_is_null(a, i)) {
    return;
  }
  switch (a->layout) {
    case CST__LAYOUT_BOOL:
      CHECK_EQ(arrow_equal_bit(a, i), arrow_equal_bit(b, j));
      break;
    case CST__LAYOUT_NUMBER:
    case CST__LAYOUT_HALF:
    case CST__LAYOUT_OPAQUE: {
      size_t width = arrow_equal_width(a);
      CHECK_EQ(width, arrow_equal_width(b));
      CHECK_MEM(arrow_equal_at(a, i, width), arrow_equal_at(b, j, width), width);
      break;
    }
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_BINARY_VIEW:
    case CST__LAYOUT_FIXED_BINARY: {
      cst_bytes x = cst__view_bytes(a, i);
      cst_bytes y = cst__view_bytes(b, j);
      CHECK_EQ(x.size, y.size);
      if (x.size > 0) CHECK_MEM(x.data, y.data, x.size);
      break;
    }
    case CST__LAYOUT_LIST:
    case CST__LAYOUT_FIXED_LIST:
    case CST__LAYOUT_LIST_VIEW:
      arrow_equal_list(a, i, b, j);
      break;
    case CST__LAYOUT_STRUCT:
      CHECK_EQ(a->num_children, b->num_children);
      for (int64_t c = 0; c < a->num_children; c++) {
        arrow_equal_slot(&a->children[c], i, &b->children[c], j);
      }
      break;
    case CST__LAYOUT_NULL:
    case CST__LAYOUT_OTHER:
      break;
  }
}

/* Slots [from, from + count) of `a` are the slots of `b` from `at` on. */
static inline void arrow_equal_slots(const cst__view *a, int64_t from, int64_t count,
                                     const cst__view *b, int64_t at) {
  for (int64_t i = 0; i < count; i++) {
    arrow_equal_slot(a, from + i, b, at + i);
  }
}

#endif
