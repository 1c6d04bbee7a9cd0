/* The steps and input nodes of a plan while it is made: each is there once. */
#include <string.h>

#include "base/hash.h"
#include "query/plan/planning.h"

void *cst__plan_take(cst__planning *p, size_t size) {
  void *memory = cst__arena_take_zero(&p->plan->arena, size);
  if (memory == NULL) {
    cst__fail_memory(p->error, size);
  }
  return memory;
}

/* ---- equality ---- */

static bool literals_are_equal(const cst__literal *a, const cst__literal *b) {
  if (a == b) {
    return true;
  }
  if (a == NULL || b == NULL || a->kind != b->kind || a->integer != b->integer ||
      memcmp(&a->number, &b->number, sizeof a->number) != 0 || a->bytes.size != b->bytes.size ||
      a->num_items != b->num_items) {
    return false;
  }
  for (size_t i = 0; i < a->num_items; i++) {
    if (!literals_are_equal(&a->items[i], &b->items[i])) {
      return false;
    }
  }
  return a->bytes.size == 0 || memcmp(a->bytes.data, b->bytes.data, a->bytes.size) == 0;
}

static bool formats_are_equal(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* By all that a step does; where it stands in the query, and its label, do not matter. */
static bool steps_are_equal(const cst__step *a, const cst__step *b) {
  return a->kind == b->kind && a->num_args == b->num_args && a->flag == b->flag &&
         a->is_one == b->is_one && memcmp(a->args, b->args, sizeof a->args) == 0 &&
         a->parent == b->parent && a->node == b->node && a->function == b->function &&
         a->caller == b->caller && literals_are_equal(a->literal, b->literal) &&
         a->num_dims == b->num_dims &&
         (a->num_dims == 0 || memcmp(a->dims, b->dims, a->num_dims * sizeof *a->dims) == 0) &&
         formats_are_equal(a->type.format, b->type.format);
}

static uint64_t step_hash(const cst__step *step) {
  uint64_t hash = cst__hash(step->args, sizeof step->args, (uint64_t)step->kind);
  const uint64_t rest[] = {step->node, (uint64_t)(uintptr_t)step->function, step->flag};
  return cst__hash(rest, sizeof rest, hash);
}

/* ---- adding ---- */

/* Twice the room for an array of the arena; what it was made of stays there until the plan goes. */
static void *grow_in_arena(cst__planning *p, const void *items, size_t count, size_t *capacity,
                           size_t item_size) {
  size_t wanted = *capacity == 0 ? 64 : *capacity * 2;
  void *grown = cst__plan_take(p, wanted * item_size);
  if (grown != NULL) {
    if (count > 0) {
      memcpy(grown, items, count * item_size);
    }
    *capacity = wanted;
  }
  return grown;
}

static void note_step(cst__planning *p, uint32_t number) {
  size_t at = step_hash(&p->plan->steps[number]) & (p->num_slots - 1);
  while (p->slots[at] != 0) {
    at = (at + 1) & (p->num_slots - 1);
  }
  p->slots[at] = number + 1;
}

static cst_status make_room_for_step(cst__planning *p) {
  cst__query_plan *plan = p->plan;
  if (plan->num_steps == CST__MOST_STEPS) {
    return cst__plan_refuse(p, p->at, CST_LIMIT, "split the query",
                            "the query needs more than %d steps", CST__MOST_STEPS);
  }
  if (plan->num_steps == p->step_capacity) {
    cst__step *steps =
        grow_in_arena(p, plan->steps, plan->num_steps, &p->step_capacity, sizeof *steps);
    uint32_t *slots =
        steps != NULL ? cst__plan_take(p, 2 * p->step_capacity * sizeof *slots) : NULL;
    if (slots == NULL) {
      return CST_NO_MEMORY;
    }
    plan->steps = steps;
    p->slots = slots;
    p->num_slots = 2 * p->step_capacity;
    for (size_t i = 0; i < plan->num_steps; i++) {
      note_step(p, (uint32_t)i);
    }
  }
  return CST_OK;
}

cst_status cst__plan_add_step(cst__planning *p, const cst__step *step, uint32_t *out) {
  CST__TRY(make_room_for_step(p));
  size_t at = step_hash(step) & (p->num_slots - 1);
  for (; p->slots[at] != 0; at = (at + 1) & (p->num_slots - 1)) {
    if (steps_are_equal(&p->plan->steps[p->slots[at] - 1], step)) {
      *out = p->slots[at] - 1;
      return CST_OK;
    }
  }
  *out = (uint32_t)p->plan->num_steps++;
  p->plan->steps[*out] = *step;
  if (step->at.line == 0 && step->at.column == 0) {
    p->plan->steps[*out].at = p->at;
  }
  p->plan->steps[*out].label = p->label;
  p->slots[at] = *out + 1;
  return CST_OK;
}

cst_status cst__plan_step(cst__planning *p, cst__step_kind kind, cst__step_args args,
                          uint32_t *out) {
  cst__step step = {.kind = kind, .parent = CST__NO_STEP, .node = CST__NO_STEP};
  const uint32_t all[] = {args.a, args.b, args.c};
  while (step.num_args < 3 && all[step.num_args] != CST__NO_STEP) {
    step.args[step.num_args] = all[step.num_args];
    step.num_args++;
  }
  return cst__plan_add_step(p, &step, out);
}

cst_status cst__plan_place_step(cst__planning *p, const cst__step *step,
                                const cst__item_place *parent, const cst__item_place **out) {
  cst__step own = *step;
  cst__item_place *place = cst__plan_take(p, sizeof *place);
  if (place == NULL) {
    return CST_NO_MEMORY;
  }
  own.parent = parent->lists;
  place->parent = parent;
  CST__TRY(cst__plan_add_step(p, &own, &place->lists));
  place->elements = place->lists;
  *out = place;
  return CST_OK;
}

cst_status cst__plan_add_node(cst__planning *p, const cst__input_node *node, const void *below,
                              uint32_t *out) {
  cst__query_plan *plan = p->plan;
  if (plan->num_nodes == CST__MOST_STEPS) {
    return cst__plan_refuse(p, p->at, CST_LIMIT, "split the query",
                            "the query names more than %d fields", CST__MOST_STEPS);
  }
  if (plan->num_nodes == p->node_capacity) {
    size_t capacity = p->node_capacity;
    const void **belows = grow_in_arena(p, p->belows, plan->num_nodes, &capacity, sizeof *belows);
    cst__input_node *nodes =
        grow_in_arena(p, plan->nodes, plan->num_nodes, &p->node_capacity, sizeof *nodes);
    if (belows == NULL || nodes == NULL) {
      return CST_NO_MEMORY;
    }
    p->belows = belows;
    plan->nodes = nodes;
  }
  *out = (uint32_t)plan->num_nodes++;
  plan->nodes[*out] = *node;
  p->belows[*out] = below;
  return CST_OK;
}
