/* What is chosen of some elements, and in which order.
 *
 * The words of the room: *lists* (list.h) are how many there are, where the items of each begin
 * (splits) and which are null; *chosen* is which elements of something, known as a run, as spans or
 * as numbers; *slots* (slots.h) are where a walk stands in an array: entering a struct and opening
 * lists go down. What an operation on lists gives is lists again, and what is chosen of the items;
 * taking (gather.h) makes an array of that. Results lie in an arena that the caller gives. Loops
 * ask whether to stop (base/interrupt.h), and nothing here knows of rows, records or dimensions:
 * where lists do not fit each other, the number of the list comes back, and the caller words the
 * error.
 */
#ifndef NESTED_CHOSEN_H
#define NESTED_CHOSEN_H

#include "base/alloc.h"
#include "base/interrupt.h"

/* Stretches of elements: number i has ends[i + 1] - ends[i] of them, `step` apart, from begins[i]
 * on (whatever, if it has none and the step is not 0), at [ends[i], ends[i + 1]) of what is chosen.
 * A step of 0 says one element several times. */
typedef struct cst__spans {
  const int64_t *begins;
  const int64_t *ends; /* [count + 1], from 0 on */
  int64_t count;
  int64_t step;
} cst__spans;

/* A run, unless there are spans or numbers; if both, they say the same. */
typedef struct cst__chosen {
  int64_t count;
  int64_t begin;     /* of a run: begin, begin + 1, ... */
  const int64_t *at; /* numbers: [count]; -1: null. NULL: there are none */
  cst__spans spans;  /* none of them null; begins NULL: there are none */
  bool has_null;     /* some numbers may be -1 */
} cst__chosen;

static inline bool cst__chosen_is_run(const cst__chosen *chosen) {
  return chosen->at == NULL && chosen->spans.begins == NULL;
}

/* The number of element i of a run, or of numbers. */
static inline int64_t cst__chosen_at(const cst__chosen *chosen, int64_t i) {
  return chosen->at != NULL ? chosen->at[i] : chosen->begin + i;
}

/* The runs that a run, or spans with a step of 1, consist of. */
typedef struct cst__range {
  int64_t begin;
  int64_t count;
} cst__range;

static inline int64_t cst__chosen_num_runs(const cst__chosen *chosen) {
  return chosen->spans.begins != NULL ? chosen->spans.count : 1;
}

static inline cst__range cst__chosen_run(const cst__chosen *chosen, int64_t i) {
  const cst__spans *s = &chosen->spans;
  return s->begins != NULL ? (cst__range){s->begins[i], s->ends[i + 1] - s->ends[i]}
                           : (cst__range){chosen->begin, chosen->count};
}

/* Numbers in an arena; NULL: no memory, and *error is filled. */
int64_t *cst__numbers_new(cst__arena *arena, int64_t count, cst_error *error);

/* The numbers 0, 1, ...: each element by itself, as splits. */
cst_status cst__numbers_count(int64_t *numbers, int64_t count, cst_error *error);

/* Numbers that are written run after run. */
typedef struct cst__numbers_writer {
  int64_t *at;
  size_t work;
  cst_error *error;
} cst__numbers_writer;

/* `count` numbers from `from` on, `step` apart. */
static inline cst_status cst__numbers_put(cst__numbers_writer *w, int64_t from, int64_t step,
                                          int64_t count) {
  int64_t *at = w->at;
  for (int64_t k = 0, end = 0; k < count;) {
    CST__TRY(cst__next_stretch(&end, count, w->error));
    for (; k < end; k++) {
      at[k] = from + k * step;
    }
    w->at = at + k;
  }
  return cst__stretch_is_over(&w->work, ((size_t)count + 1) * sizeof *w->at)
             ? cst__interrupted(w->error)
             : CST_OK;
}

/* Makes numbers, if there are none. */
cst_status cst__chosen_need_numbers(cst__chosen *chosen, cst__arena *arena, cst_error *error);

/* Makes spans of numbers, if these follow each other so often that copies of spans are worth it;
 * one span becomes a run. */
cst_status cst__chosen_find_spans(cst__chosen *chosen, cst__arena *arena, cst_error *error);

/* Element i of `outer` is an element of `inner`; *out may be either. */
cst_status cst__chosen_compose(cst__chosen *outer, cst__chosen *inner, cst__arena *arena,
                               cst__chosen *out, cst_error *error);

/* Each element of `from` as often as the splits say, one after the other. */
cst_status cst__chosen_repeat(cst__chosen *from, const int64_t *splits, cst__arena *arena,
                              cst__chosen *out, cst_error *error);

#endif /* NESTED_CHOSEN_H */
