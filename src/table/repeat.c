/* Repeating: numbers are written where they come to lie, all else is gathered by its slots. */
#include "table/repeat.h"

#include <string.h>

#include "arrow/owned.h"
#include "base/interrupt.h"
#include "table/gather.h"

typedef struct repeating {
  const cst_array *owner;
  const cst__runs *slots;
  const int64_t *splits;
  cst_error *error;
} repeating;

/* ---- numbers ---- */

enum { FEW = 8 /* values that are written without a look at how many are wanted */ };

/* The values of one run; what is written too much is written over, or lies in the padding. */
static inline cst_status repeat_run(const repeating *r, const cst__slot_run *run,
                                    const int64_t *splits, uint8_t *to, size_t width) {
  const cst__view *view = r->slots->node.view;
  const uint8_t *from = (const uint8_t *)view->data + (size_t)(view->offset + run->begin) * width;
  size_t done = 0;
  for (int64_t i = 0; i < run->length; i++, from += width) {
    int64_t count = splits[i + 1] - splits[i];
    uint8_t *at = to + (size_t)splits[i] * width;
    for (int k = 0; k < FEW; k++) {
      memcpy(at + (size_t)k * width, from, width);
    }
    for (int64_t k = FEW; k < count; k++) {
      memcpy(at + (size_t)k * width, from, width);
    }
    if (cst__stretch_is_over(&done, (size_t)count * width + width)) {
      CST__TRY(cst__interrupted(r->error));
    }
  }
  return CST_OK;
}

static cst_status repeat_run_of(const repeating *r, const cst__slot_run *run, const int64_t *splits,
                                uint8_t *to, size_t width) {
  switch (width) { /* the compiler makes one move of a constant */
    case 1:
      return repeat_run(r, run, splits, to, 1);
    case 2:
      return repeat_run(r, run, splits, to, 2);
    case 4:
      return repeat_run(r, run, splits, to, 4);
    default:
      return repeat_run(r, run, splits, to, 8);
  }
}

static cst_status repeat_numbers(const repeating *r, struct ArrowArray *out) {
  size_t width = cst_dtype_width(r->slots->node.view->dtype);
  int64_t total = r->splits[r->slots->total];
  size_t size = SIZE_MAX;
  CST__TRY(cst__owned_new(&r->owner->allocator, 2, 0, false, out, r->error));
  uint8_t *to =
      cst__mul((size_t)total + FEW, width, &size) ? cst__owned_buffer(out, 1, size) : NULL;
  cst_status status = to != NULL ? CST_OK : cst__fail_memory(r->error, size);
  const int64_t *splits = r->splits;
  out->length = total;
  for (size_t i = 0; i < r->slots->count && status == CST_OK; i++) {
    status = repeat_run_of(r, &r->slots->items[i], splits, to, width);
    splits += r->slots->items[i].length;
  }
  if (status != CST_OK) {
    cst__array_release(out);
  }
  return status;
}

/* ---- everything else ---- */

static cst_status repeat_others(const repeating *r, struct ArrowArray *out) {
  int64_t total = r->splits[r->slots->total];
  size_t size = SIZE_MAX;
  int64_t *chosen =
      cst__mul((size_t)total, sizeof *chosen, &size) ? cst__new(&r->owner->allocator, size) : NULL;
  if (chosen == NULL) {
    return cst__fail_memory(r->error, size);
  }
  const int64_t *splits = r->splits;
  for (size_t i = 0; i < r->slots->count; i++) {
    const cst__slot_run *run = &r->slots->items[i];
    for (int64_t k = 0; k < run->length; k++, splits++) {
      for (int64_t at = splits[0]; at < splits[1]; at++) {
        chosen[at] = run->begin + k;
      }
    }
  }
  const cst__chosen all = {chosen, total, false};
  cst_status status = cst__gather(r->owner, &r->slots->node, &all, false, out, r->error);
  cst__delete(chosen);
  return status;
}

cst_status cst__repeat(const cst_array *owner, const cst__runs *slots, const int64_t *splits,
                       struct ArrowArray *out, cst_error *error) {
  const repeating r = {owner, slots, splits, error};
  const cst__view *view = slots->node.view;
  return view->layout == CST__LAYOUT_NUMBER && view->null_count == 0 ? repeat_numbers(&r, out)
                                                                     : repeat_others(&r, out);
}
