/* Choosing elements: taking what has been chosen. */
#include "structured/selection.h"
#include "table/gather.h"

/* How many runs of consecutive places there are; -1: some are null. */
static int64_t count_runs(const cst__places *places) {
  int64_t runs = places->count > 0;
  int64_t negative = 0;
  const int64_t *at = places->at;
  for (int64_t i = 0; i < places->count; i++) {
    negative |= at[i];
  }
  for (int64_t i = 1; i < places->count; i++) {
    runs += at[i] != at[i - 1] + 1;
  }
  return negative < 0 ? -1 : runs;
}

enum { SHORT_RUN = 2 /* places, on average, from which on runs are copied as such */ };

/* Places one by one as spans. */
static cst_status make_spans(cst__selection *s, int64_t num_runs) {
  cst__places *p = &s->places;
  int64_t *begins = cst__levels_take(&s->source, num_runs + 1, s->error);
  int64_t *ends = cst__levels_take(&s->source, num_runs + 1, s->error);
  int64_t run = -1;
  if (begins == NULL || ends == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0; i < p->count; i++) { /* without branches: runs are short */
    run += i == 0 || p->at[i] != p->at[i - 1] + 1;
    bool is_first = i == 0 || p->at[i] != p->at[i - 1] + 1;
    begins[run] = is_first ? p->at[i] : begins[run];
    ends[run + 1] = i + 1;
  }
  ends[0] = 0;
  *p = (cst__places){
      .count = p->count, .begins = begins, .ends = ends, .num_spans = num_runs, .step = 1};
  return CST_OK;
}

static cst_status take_places(cst__selection *s, const cst_array *rest, const cst__node *node,
                              struct ArrowArray *out) {
  const cst__places *p = &s->places;
  bool has_null = false;
  if (p->begins == NULL) {
    int64_t num_runs = count_runs(p);
    has_null = num_runs < 0;
    if (!has_null && p->count >= SHORT_RUN * num_runs) {
      CST__TRY(make_spans(s, num_runs));
    }
  }
  if (p->begins != NULL) {
    const cst__spans spans = {p->begins, p->ends, p->num_spans, p->step};
    return cst__gather_spans(rest, node, &spans, out, s->error);
  }
  const cst__chosen chosen = {p->at, p->count, has_null};
  return cst__gather(rest, node, &chosen, false, out, s->error);
}

static cst_status take_elements(cst__selection *s, const cst_array *rest, cst_array **out) {
  struct ArrowArray taken;
  cst__view view;
  if (s->places.at == NULL && s->places.begins == NULL) {
    return cst__array_slice(rest, s->places.begin, s->places.count, out, s->error);
  }
  CST__TRY(cst__array_view(rest, &view, &s->source.arena, s->error));
  const cst__node node = {rest->schema, &rest->array, &view};
  CST__TRY(take_places(s, rest, &node, &taken));
  return cst__array_result(rest, rest->schema, &taken, out, s->error);
}

cst_status cst__selection_finish(cst__selection *s, cst_structured **out) {
  cst_array *rest;
  cst_array *taken;
  CST__TRY(cst__levels_rest(&s->source, s->tensor, &rest, s->error));
  cst_status status = take_elements(s, rest, &taken);
  cst__array_handle_release(rest);
  if (status == CST_OK) {
    status = cst__levels_tensor(s->made, s->num_made, taken, out, s->error);
    cst__array_handle_release(taken);
  }
  return status;
}
