/* Plans: made of a query, counted, and what is asked of them. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "query/plan/planning.h"
#include "query/query.h"

/* ---- errors ---- */

cst_status cst__plan_refused(const cst__planning *p, cst__text_at at, cst_status status) {
  if (status != CST_OK && status != CST_NO_MEMORY && at.line > 0 && p->error != NULL &&
      cst__error_wanted(p->error) && p->error->line <= 0) {
    cst__error_add_position(p->error, at.line, at.column);
  }
  return status;
}

cst_status(cst__plan_refuse)(const cst__planning *p, cst__text_at at, cst_status code,
                             const char *hint, const char *fmt, ...) {
  char text[256];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  return cst__plan_refused(p, at, cst__fail(p->error, code, hint, "%s", text));
}

/* ---- making ---- */

static void free_query_plan(cst__query_plan *plan) {
  if (plan->schema.release != NULL) {
    plan->schema.release(&plan->schema);
  }
  cst_query_free(plan->query);
  cst__arena arena = plan->arena;
  cst__delete(plan);
  cst__arena_reset(&arena);
}

static cst_status begin_planning(cst__planning *p) {
  const cst__step records = {
      .kind = CST__STEP_RECORDS, .parent = CST__NO_STEP, .node = CST__NO_STEP};
  const cst__input_node batch = {.parent = 0};
  cst__item_place *place = cst__plan_take(p, sizeof *place);
  uint32_t node;
  if (place == NULL) {
    return CST_NO_MEMORY;
  }
  CST__TRY(cst__plan_add_step(p, &records, &place->lists));
  CST__TRY(cst__plan_add_node(p, &batch, p->options->tree->top, &node));
  p->plan->records = place->lists;
  p->plan->origin = CST__NO_STEP;
  p->records = place;
  CST__TRY(cst__fields_new(p, place, &p->record));
  p->record->below = p->options->tree->top;
  p->record->node = node;
  return CST_OK;
}

static cst_status make_query_plan(cst__planning *p) {
  CST__TRY(cst_query_copy(p->options->query, &p->plan->query, p->error));
  CST__TRY(begin_planning(p));
  CST__TRY(cst__plan_statements(p));
  CST__TRY(cst__plan_outputs_finish(p));
  return cst__plan_prune(p);
}

cst_status cst__query_plan_new(const cst__query_plan_options *options, cst__query_plan **out,
                               cst_error *error) {
  cst__query_plan *plan = cst__new_zero(options->allocator, sizeof *plan);
  if (plan == NULL) {
    return cst__fail_memory(error, sizeof *plan);
  }
  plan->allocator = cst__allocator_of(options->allocator);
  cst__arena_init(&plan->arena, &plan->allocator);
  cst__refcount_init(&plan->owners);
  plan->limits = options->limits;
  cst_error own =
      CST_ERROR_INIT; /* positions are added to it, whatever the caller's has room for */
  cst__planning p = {
      .plan = plan,
      .options = options,
      .error = &own,
      .source = {.tree = options->tree, .arena = &plan->arena, .error = &own},
  };
  cst_status status = make_query_plan(&p);
  cst__name_map_reset(&p.entries);
  cst__field_names_reset(&p.source.names);
  if (status != CST_OK) {
    cst__error_copy(error, &own);
    free_query_plan(plan);
    return status;
  }
  *out = plan;
  return CST_OK;
}

cst__query_plan *cst__query_plan_retain(cst__query_plan *plan) {
  cst__refcount_up(&plan->owners);
  return plan;
}

void cst__query_plan_release(cst__query_plan *plan) {
  if (plan != NULL && cst__refcount_down(&plan->owners)) {
    free_query_plan(plan);
  }
}

/* ---- looking ---- */

const struct ArrowSchema *cst__query_plan_schema(const cst__query_plan *plan) {
  return &plan->schema;
}

const cst__query_output *cst__query_plan_outputs(const cst__query_plan *plan, size_t *count) {
  *count = plan->num_outputs;
  return plan->outputs;
}

bool cst__query_plan_steps(const cst__query_plan *plan, uint32_t node, const char *more,
                           cst__arena *arena, cst_path *out) {
  size_t count = more != NULL;
  for (uint32_t at = node; at != 0; at = plan->nodes[at].parent) {
    count += plan->nodes[at].name != NULL;
  }
  const char **steps = cst__arena_take(arena, (count + 1) * sizeof *steps);
  *out = (cst_path){steps, count};
  if (steps != NULL && more != NULL) {
    steps[--count] = more;
  }
  for (uint32_t at = node; steps != NULL && at != 0; at = plan->nodes[at].parent) {
    if (plan->nodes[at].name != NULL) {
      steps[--count] = plan->nodes[at].name;
    }
  }
  return steps != NULL;
}

const char *const *cst__query_plan_paths(const cst__query_plan *plan, size_t *count) {
  *count = plan->paths.count;
  return plan->paths.items;
}

const char *const *cst__query_plan_sources(const cst__query_plan *plan, size_t *count) {
  *count = plan->sources.count;
  return plan->sources.items;
}

bool cst__query_plan_keeps_rows(const cst__query_plan *plan) {
  return plan->origin == CST__NO_STEP;
}

bool cst__query_plan_has_numbers(const cst__query_plan *plan) {
  bool found = false;
  for (size_t i = 0; i < plan->num_steps; i++) {
    found = found || plan->steps[i].kind == CST__STEP_NUMBERS;
  }
  return found;
}
