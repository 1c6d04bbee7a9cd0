/* Numbers, spans and runs of the same elements, and what is chosen of what is chosen. */
#include "nested/chosen.h"

#include <string.h>

enum { LONG_SPAN = 3 /* elements, on average, from which on spans are copied at once */ };

int64_t *cst__numbers_new(cst__arena *arena, int64_t count, cst_error *error) {
  int64_t *numbers = cst__arena_take_items(arena, count, sizeof *numbers);
  if (numbers == NULL) {
    cst__fail_memory(error, count < INT64_MAX / 8 ? (size_t)count * sizeof *numbers : SIZE_MAX);
  }
  return numbers;
}

cst_status cst__numbers_count(int64_t *numbers, int64_t count, cst_error *error) {
  cst__numbers_writer w = {numbers, 0, error};
  return cst__numbers_put(&w, 0, 1, count);
}

static cst_status fill_numbers(const cst__spans *spans, int64_t *at, cst_error *error) {
  size_t work = 0;
  for (int64_t i = 0; i < spans->count; i++) {
    int64_t number = spans->begins[i];
    int64_t last = spans->ends[i + 1];
    for (int64_t k = spans->ends[i], end = k; k < last;) {
      CST__TRY(cst__next_stretch(&end, last, error));
      for (; k < end; k++, number += spans->step) {
        at[k] = number;
      }
    }
    if (cst__stretch_is_over(&work, (size_t)(last - spans->ends[i] + 1) * sizeof *at)) {
      CST__TRY(cst__interrupted(error));
    }
  }
  return CST_OK;
}

cst_status cst__chosen_need_numbers(cst__chosen *chosen, cst__arena *arena, cst_error *error) {
  const cst__spans *spans = &chosen->spans;
  if (chosen->at != NULL) {
    return CST_OK;
  }
  int64_t *at = cst__numbers_new(arena, chosen->count, error);
  if (at == NULL) {
    return CST_NO_MEMORY;
  }
  cst__numbers_writer w = {at, 0, error};
  CST__TRY(spans->begins != NULL ? fill_numbers(spans, at, error)
                                 : cst__numbers_put(&w, chosen->begin, 1, chosen->count));
  chosen->at = at;
  return CST_OK;
}

/* ---- spans ---- */

static cst_status count_spans(const cst__chosen *chosen, int64_t *out, cst_error *error) {
  const int64_t *at = chosen->at;
  int64_t spans = 1;
  for (int64_t i = 1, end = 1; i < chosen->count;) {
    CST__TRY(cst__next_stretch(&end, chosen->count, error));
    for (; i < end; i++) {
      spans += at[i] != at[i - 1] + 1;
    }
  }
  *out = spans;
  return CST_OK;
}

/* Without branches, which short spans would have guessed wrong: what may be the next one is noted
 * again and again. There is room for one more than there are spans. */
static cst_status fill_spans(const cst__chosen *chosen, int64_t *begins, int64_t *ends,
                             cst_error *error) {
  const int64_t *at = chosen->at;
  int64_t span = 0;
  begins[0] = at[0];
  ends[0] = 0;
  for (int64_t i = 1, end = 1; i < chosen->count;) {
    CST__TRY(cst__next_stretch(&end, chosen->count, error));
    for (; i < end; i++) {
      begins[span + 1] = at[i];
      ends[span + 1] = i;
      span += at[i] != at[i - 1] + 1;
    }
  }
  ends[span + 1] = chosen->count;
  return CST_OK;
}

cst_status cst__chosen_find_spans(cst__chosen *chosen, cst__arena *arena, cst_error *error) {
  int64_t count;
  if (chosen->at == NULL || chosen->spans.begins != NULL || chosen->spans.count < 0 ||
      chosen->has_null || chosen->count == 0) {
    return CST_OK;
  }
  CST__TRY(count_spans(chosen, &count, error));
  if (count == 1) {
    *chosen = (cst__chosen){.count = chosen->count, .begin = chosen->at[0]};
    return CST_OK;
  }
  if (chosen->count / LONG_SPAN < count) {
    chosen->spans.count = -1; /* they are not looked for again */
    return CST_OK;
  }
  int64_t *begins = cst__numbers_new(arena, count + 1, error);
  int64_t *ends = begins != NULL ? cst__numbers_new(arena, count + 1, error) : NULL;
  if (ends == NULL) {
    return CST_NO_MEMORY;
  }
  CST__TRY(fill_spans(chosen, begins, ends, error));
  chosen->spans = (cst__spans){begins, ends, count, 1};
  return CST_OK;
}

/* ---- one after the other ---- */

static cst_status move_numbers(const cst__chosen *from, int64_t by, cst__arena *arena,
                               cst__chosen *out, cst_error *error) {
  int64_t *at = cst__numbers_new(arena, from->count, error);
  if (at == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0, end = 0; i < from->count;) {
    CST__TRY(cst__next_stretch(&end, from->count, error));
    for (; i < end; i++) {
      at[i] = from->at[i] < 0 ? -1 : from->at[i] + by;
    }
  }
  *out = (cst__chosen){.count = from->count, .at = at, .has_null = from->has_null};
  return CST_OK;
}

cst_status cst__chosen_compose(cst__chosen *outer, cst__chosen *inner, cst__arena *arena,
                               cst__chosen *out, cst_error *error) {
  if (cst__chosen_is_run(outer) && outer->begin == 0 && outer->count == inner->count) {
    *out = *inner;
    return CST_OK;
  }
  if (cst__chosen_is_run(inner) && (inner->begin == 0 || cst__chosen_is_run(outer))) {
    cst__chosen moved = *outer;
    moved.begin += inner->begin;
    *out = moved;
    return CST_OK;
  }
  CST__TRY(cst__chosen_need_numbers(outer, arena, error));
  if (cst__chosen_is_run(inner)) {
    return move_numbers(outer, inner->begin, arena, out, error);
  }
  CST__TRY(cst__chosen_need_numbers(inner, arena, error));
  int64_t *at = cst__numbers_new(arena, outer->count, error);
  if (at == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0, end = 0; i < outer->count;) {
    CST__TRY(cst__next_stretch(&end, outer->count, error));
    for (; i < end && !outer->has_null; i++) {
      at[i] = inner->at[outer->at[i]];
    }
    for (; i < end; i++) {
      at[i] = outer->at[i] < 0 ? -1 : inner->at[outer->at[i]];
    }
  }
  *out = (cst__chosen){
      .count = outer->count, .at = at, .has_null = outer->has_null || inner->has_null};
  return CST_OK;
}

cst_status cst__chosen_repeat(cst__chosen *from, const int64_t *splits, cst__arena *arena,
                              cst__chosen *out, cst_error *error) {
  CST__TRY(cst__chosen_need_numbers(from, arena, error));
  *out = (cst__chosen){.count = splits[from->count], .spans = {from->at, splits, from->count, 0}};
  return CST_OK;
}
