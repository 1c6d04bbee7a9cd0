/* Errors of steps: of which record an element is, and where the step stands in the query. */
#include "query/run/steps_run.h"

/* The place of which a step's errors have an element as their record; CST__NO_STEP: they have none.
 */
static uint32_t error_place(const cst__query_plan *plan, const cst__step *step) {
  switch (step->kind) {
    case CST__STEP_SLICE:
    case CST__STEP_SAME:
    case CST__STEP_AGGREGATE:
    case CST__STEP_LISTWISE:
      return cst__place_parent(plan, step->args[0]);
    case CST__STEP_CALL:
    case CST__STEP_CALLER:
    case CST__STEP_REQUIRE:
      return step->is_one ? CST__NO_STEP : step->args[0];
    case CST__STEP_EXPAND:
    case CST__STEP_PAD:
      return step->args[0];
    default:
      return CST__NO_STEP;
  }
}

/* Goes up from place to place. */
static int64_t error_row(const cst__query_run *run, uint32_t place, int64_t at) {
  for (uint32_t up = cst__place_parent(run->plan, place); up != CST__NO_STEP;
       up = cst__place_parent(run->plan, place)) {
    const cst__step_result *lists = &run->slots[place];
    int64_t parents = run->slots[up].count;
    if (lists->lists.splits != NULL) {
      at = cst__splits_find(lists->lists.splits, parents, at);
    } else if (parents > 0 && lists->count >= parents) {
      at /= lists->count / parents;
    }
    place = up;
  }
  return cst__batch_row(&run->batch, at);
}

int64_t cst__node_row(const cst__query_run *run, uint32_t node, int64_t at) {
  while (node > 0) {
    const cst__input_node *own = &run->plan->nodes[node];
    const cst__node_slots *parent = &run->nodes[own->parent];
    if (own->name == NULL) {
      at = cst__splits_find(parent->lists.splits, parent->lists.count, at);
    }
    node = own->parent;
  }
  return cst__batch_row(&run->batch, at);
}

/* The message says the line, too: it is what people see. */
static void error_say_line(const cst__step *step, cst_error *error) {
  char message[sizeof error->message];
  char hint[sizeof error->hint];
  memcpy(message, error->message, sizeof message);
  memcpy(hint, error->hint, sizeof hint);
  cst__fail(error, error->code, hint, "line %u of the query: %s", (unsigned)step->at.line, message);
  cst__error_add_position(error, step->at.line, step->at.column);
}

void cst__step_error_add(const cst__query_run *run, const cst__step *step, cst_error *error) {
  uint32_t place = error_place(run->plan, step);
  int64_t element = error->record;
  if (error->code == CST_NO_MEMORY || error->code == CST_INTERRUPTED ||
      error->code == CST_TIMEOUT) {
    return;
  }
  if (step->at.line > 0) {
    error_say_line(step, error);
  }
  cst__error_forget_record(error);
  if (error->code == CST_LIMIT) {
    element = cst__limits_row(run, step);
    cst__error_add_record(error, element, -1);
  } else if (element >= 0 && place != CST__NO_STEP) {
    cst__error_add_record(error, error_row(run, place, element), -1);
  }
  if (step->label != NULL) {
    error->path[0] = '\0';
    cst__error_add_path(error, step->label, strlen(step->label));
  }
}
