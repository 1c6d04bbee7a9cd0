/* Choosing elements: taking what has been chosen. */
#include "structured/selection.h"
#include "table/gather.h"
#include "table/rows.h"

static cst_status take_spans(cst__selection *s, const cst_array *rest, cst_array **out) {
  const cst__places *p = &s->places;
  const cst__spans spans = {p->begins, p->ends, p->num_spans, p->step};
  struct ArrowArray taken;
  cst__view view;
  CST__TRY(cst__array_view(rest, &view, &s->source.arena, s->error));
  const cst__node node = {rest->schema, &rest->array, &view};
  CST__TRY(cst__gather_spans(rest, &node, &spans, &taken, s->error));
  return cst__array_result(rest, rest->schema, &taken, out, s->error);
}

static cst_status take_elements(cst__selection *s, const cst_array *rest, cst_array **out) {
  const cst__places *p = &s->places;
  if (p->begins != NULL) {
    return take_spans(s, rest, out);
  }
  return p->at != NULL ? cst__array_take_slots(rest, p->at, (size_t)p->count, out, s->error)
                       : cst__array_slice(rest, p->begin, p->count, out, s->error);
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
