/* Looking at what operations on arrays give: that it is valid, and whether two hold the same. */
#ifndef FUZZ_ARRAY_LOOK_H
#define FUZZ_ARRAY_LOOK_H

#include <columnstone/array.h>
#include <string.h>

#include "arrow/view.h"
#include "base/utf8.h"
#include "fuzz.h"

enum { MOST_STEPS = 1 << 14 };

typedef struct look {
  struct ArrowArray array;
  cst__arena arena;
  cst__view view;
} look;

/* What an operation gives is valid: it is looked at as data from outside. */
static void look_at(look *l, const cst_array *array) {
  cst_error error = CST_ERROR_INIT;
  FUZZ_ASSERT(cst_array_export(array, &l->array, &error) == CST_OK);
  cst__arena_init(&l->arena, NULL);
  cst_status status =
      cst__view_init(&l->view, cst_array_schema(array), &l->array, false, &l->arena, &error);
  if (status != CST_OK) {
    fprintf(stderr, "%s: %s\n", error.path, error.message);
  }
  FUZZ_ASSERT(status == CST_OK);
}

static void look_away(look *l) {
  cst__arena_reset(&l->arena);
  l->array.release(&l->array);
}

static size_t steps;

static uint64_t mix(uint64_t sum, uint64_t more) {
  return (sum ^ more) * UINT64_C(0x9e3779b97f4a7c15) + (sum >> 29);
}

static uint64_t mix_bytes(uint64_t sum, const void *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) {
    sum = mix(sum, ((const uint8_t *)bytes)[i]);
  }
  return mix(sum, size);
}

/* The value of a slot, whatever its layout: equal ones have equal sums. */
static uint64_t sum_slot(const cst__view *v, int64_t i) {
  uint64_t sum = 1;
  int64_t at = v->offset + i;
  if (++steps > MOST_STEPS) {
    return 0;
  }
  if (cst__view_is_null(v, i)) {
    return 2;
  }
  switch (v->layout) {
    case CST__LAYOUT_BOOL:
      return mix(3, ((const uint8_t *)v->data)[at >> 3] >> (at & 7) & 1);
    case CST__LAYOUT_NUMBER: {
      size_t width = cst_dtype_width(v->dtype);
      return mix_bytes(4, (const char *)v->data + (size_t)at * width, width);
    }
    case CST__LAYOUT_HALF:
      return mix_bytes(5, (const char *)v->data + 2 * at, 2);
    case CST__LAYOUT_OPAQUE:
      return mix_bytes(6, (const char *)v->data + at * v->fixed_size, (size_t)v->fixed_size);
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_BINARY_VIEW:
    case CST__LAYOUT_FIXED_BINARY: {
      cst_bytes bytes = cst__view_bytes(v, i);
      return mix_bytes(7, bytes.data, bytes.size);
    }
    case CST__LAYOUT_STRUCT:
      for (int64_t c = 0; c < v->num_children; c++) {
        sum = mix(sum, sum_slot(&v->children[c], i));
      }
      return sum;
    default:
      break;
  }
  if (cst__view_is_list(v)) {
    int64_t begin;
    int64_t end;
    cst__view_list(v, i, &begin, &end);
    sum = mix(sum, (uint64_t)(end - begin));
    for (; begin < end && steps <= MOST_STEPS; begin++) {
      sum = mix(sum, sum_slot(&v->children[0], begin));
    }
  }
  return sum;
}

static uint64_t sum_view(const cst__view *v) {
  uint64_t sum = (uint64_t)v->length;
  steps = 0;
  for (int64_t i = 0; i < v->length && steps <= MOST_STEPS; i++) {
    sum = mix(sum, sum_slot(v, i));
  }
  return sum;
}

static uint64_t sum_of(const cst_array *array) {
  look l;
  look_at(&l, array);
  uint64_t sum = sum_view(&l.view);
  look_away(&l);
  return sum;
}

/* List views of list views hold the same items again and again: what is too much to be read is too
 * much to be opened. */
static bool is_small(const cst_array *array) {
  (void)sum_of(array);
  return steps <= MOST_STEPS;
}

static cst_error last_error;

/* An error says something, and small inputs need little memory. */
static bool is_ok(cst_status status) {
  if (status != CST_OK) {
    FUZZ_ASSERT(status != CST_NO_MEMORY && status == last_error.code);
    FUZZ_ASSERT(last_error.message[0] != '\0');
    FUZZ_ASSERT(cst__utf8_valid((const uint8_t *)last_error.message, strlen(last_error.message)));
  }
  return status == CST_OK;
}

#endif
