/* Lists: looking at them, joining and choosing them. */
#include "nested/list.h"

#include <string.h>

#include "arrow/owned.h"
#include "arrow/view.h"

/* ---- looking ---- */

int64_t cst__splits_find(const int64_t *splits, int64_t count, int64_t item) {
  int64_t low = 0;
  int64_t high = count; /* splits[low] <= item < splits[high] */
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

int64_t cst__levels_find(const cst__lists *levels, size_t num_levels, int64_t item) {
  while (num_levels-- > 0) {
    item = cst__splits_find(levels[num_levels].splits, levels[num_levels].count, item);
  }
  return item;
}

cst_status cst__lists_one(int64_t count, cst__arena *arena, cst__lists *out, cst_error *error) {
  int64_t *splits = cst__numbers_new(arena, 2, error);
  if (splits == NULL) {
    return CST_NO_MEMORY;
  }
  splits[0] = 0;
  splits[1] = count;
  *out = (cst__lists){1, -1, splits, NULL};
  return CST_OK;
}

cst_status cst__lists_fixed(int64_t count, int64_t size, cst__arena *arena, cst__lists *out,
                            cst_error *error) {
  int64_t *splits = cst__numbers_new(arena, count + 1, error);
  if (splits == NULL) {
    return CST_NO_MEMORY;
  }
  cst__numbers_writer w = {splits, 0, error};
  *out = (cst__lists){count, size, splits, NULL};
  return cst__numbers_put(&w, 0, size, count + 1);
}

int64_t cst__lists_differ(const cst__lists *a, const cst__lists *b) {
  int64_t i = 0;
  if (memcmp(a->splits, b->splits, ((size_t)a->count + 1) * sizeof *a->splits) == 0) {
    return -1;
  }
  while (a->splits[i + 1] == b->splits[i + 1]) {
    i++;
  }
  return i;
}

int64_t cst__lists_longest(const cst__lists *lists) {
  int64_t longest = 0;
  for (int64_t i = 0; i < lists->count; i++) {
    int64_t size = cst__list_size(lists, i);
    longest = size > longest ? size : longest;
  }
  return longest;
}

/* ---- nulls ---- */

cst_status cst__nulls_put(const uint8_t *nulls, struct ArrowArray *out, cst_error *error) {
  size_t size = cst__bits_size(out->length);
  if (nulls == NULL) {
    return CST_OK;
  }
  uint8_t *bits = cst__owned_buffer(out, 0, size);
  if (bits == NULL) {
    return cst__fail_memory(error, size);
  }
  cst__bytes_to_bits(nulls, out->length, 1, bits);
  out->null_count = out->length - cst__bitmap_count(bits, 0, out->length);
  return CST_OK;
}

/* ---- joining ---- */

cst_status cst__lists_join(const cst__lists *outer, const cst__lists *inner, cst__arena *arena,
                           cst__lists *out, cst_error *error) {
  int64_t *splits = cst__numbers_new(arena, outer->count + 1, error);
  if (splits == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0, end = 0; i <= outer->count;) {
    CST__TRY(cst__next_stretch(&end, outer->count + 1, error));
    for (; i < end; i++) {
      splits[i] = inner->splits[outer->splits[i]];
    }
  }
  int64_t size;
  bool is_fixed = outer->size >= 0 && inner->size >= 0 &&
                  !__builtin_mul_overflow(outer->size, inner->size, &size);
  *out = (cst__lists){outer->count, is_fixed ? size : -1, splits, outer->nulls};
  return CST_OK;
}

/* ---- choosing ---- */

/* Lists that follow each other keep their items as they are. */
static cst_status choose_run(const cst__lists *lists, const cst__chosen *chosen, cst__arena *arena,
                             cst__picked *out, cst_error *error) {
  const int64_t *from = lists->splits + chosen->begin;
  int64_t count = chosen->count;
  uint8_t any = 0;
  for (int64_t i = 0; lists->nulls != NULL && i < count; i++) {
    any |= lists->nulls[chosen->begin + i];
  }
  out->lists = (cst__lists){count, lists->size, from, any ? lists->nulls + chosen->begin : NULL};
  out->items = (cst__chosen){.count = from[count] - from[0], .begin = from[0]};
  if (from[0] == 0) {
    return CST_OK;
  }
  int64_t *splits = cst__numbers_new(arena, count + 1, error);
  if (splits == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0, end = 0; i <= count;) {
    CST__TRY(cst__next_stretch(&end, count + 1, error));
    for (; i < end; i++) {
      splits[i] = from[i] - from[0];
    }
  }
  out->lists.splits = splits;
  return CST_OK;
}

/* A span of items for each span of lists, none of which is null. */
static cst_status choose_spans(const cst__lists *lists, const cst__chosen *chosen,
                               cst__arena *arena, cst__picked *out, cst_error *error) {
  const cst__spans *spans = &chosen->spans;
  int64_t *splits = cst__numbers_new(arena, chosen->count + 1, error);
  int64_t *begins = splits != NULL ? cst__numbers_new(arena, spans->count, error) : NULL;
  int64_t *ends = begins != NULL ? cst__numbers_new(arena, spans->count + 1, error) : NULL;
  size_t work = 0;
  if (ends == NULL) {
    return CST_NO_MEMORY;
  }
  splits[0] = ends[0] = 0;
  for (int64_t i = 0; i < spans->count; i++) {
    const int64_t *from = lists->splits + spans->begins[i];
    int64_t *to = splits + spans->ends[i];
    int64_t count = spans->ends[i + 1] - spans->ends[i];
    int64_t total = to[0];
    begins[i] = from[0];
    for (int64_t k = 1; k <= count; k++) {
      to[k] = from[k] - from[0] + total;
    }
    ends[i + 1] = to[count];
    if (cst__stretch_is_over(&work, (size_t)count * sizeof *to)) {
      CST__TRY(cst__interrupted(error));
    }
  }
  out->lists = (cst__lists){chosen->count, lists->size, splits, NULL};
  out->items = (cst__chosen){.count = ends[spans->count], .spans = {begins, ends, spans->count, 1}};
  return CST_OK;
}

cst_status cst__lists_choose(const cst__lists *lists, const cst__chosen *chosen, cst__arena *arena,
                             cst__picked *out, cst_error *error) {
  static const cst__slice whole = {CST__OPEN, CST__OPEN, 1};
  if (cst__chosen_is_run(chosen)) {
    return choose_run(lists, chosen, arena, out, error);
  }
  if (chosen->spans.begins != NULL && chosen->spans.step == 1 && lists->nulls == NULL) {
    return choose_spans(lists, chosen, arena, out, error);
  }
  return cst__lists_slice(lists, chosen, (cst__slices){&whole, true}, arena, out, error);
}
