/* Places, and how items get from one to another: promoting, broadcasting, choosing. */
#include "query/functions/value_type.h"
#include "query/plan/planning.h"

/* ---- places ---- */

bool cst__plan_place_holds(const cst__item_place *upper, const cst__item_place *lower) {
  for (; lower != NULL; lower = lower->parent) {
    if (cst__plan_place_same(upper, lower)) {
      return true;
    }
  }
  return false;
}

const cst__item_place *cst__plan_place_common(const cst__item_place *a, const cst__item_place *b) {
  while (!cst__plan_place_holds(a, b)) {
    a = a->parent; /* records hold everything */
  }
  return a;
}

cst_status cst__plan_place_join(cst__planning *p, const cst__item_place *upper,
                                const cst__item_place *lower, const cst__item_place **out) {
  const cst__item_place *parent = lower->parent;
  uint32_t lists = lower->lists;
  if (cst__plan_place_same(upper, parent)) {
    *out = lower;
    return CST_OK;
  }
  for (; !cst__plan_place_same(upper, parent); parent = parent->parent) {
    const cst__step step = {.kind = CST__STEP_JOIN,
                            .num_args = 2,
                            .args = {parent->lists, lists},
                            .parent = parent->parent->lists,
                            .node = CST__NO_STEP};
    CST__TRY(cst__plan_add_step(p, &step, &lists));
  }
  cst__item_place *place = cst__plan_take(p, sizeof *place);
  if (place == NULL) {
    return CST_NO_MEMORY;
  }
  *place = (cst__item_place){.parent = parent, .lists = lists, .elements = lower->elements};
  *out = place;
  return CST_OK;
}

/* For each element of `lower` the one of `upper`, an index; CST__NO_STEP: the same. */
static cst_status place_parents(cst__planning *p, const cst__item_place *upper,
                                const cst__item_place *lower, uint32_t *out) {
  uint32_t index = CST__NO_STEP;
  for (; !cst__plan_place_same(upper, lower); lower = lower->parent) {
    uint32_t up;
    const cst__step_args lists = {lower->lists, CST__NO_STEP, CST__NO_STEP};
    CST__TRY(cst__plan_step(p, CST__STEP_PARENTS, lists, &up));
    if (index != CST__NO_STEP) {
      const cst__step_args both = {index, up, CST__NO_STEP};
      CST__TRY(cst__plan_step(p, CST__STEP_COMPOSE, both, &up));
    }
    index = up;
  }
  *out = index;
  return CST_OK;
}

/* The lists of a place, for elements that are others by an index. */
static cst_status move_place(cst__planning *p, const cst__item_place *place,
                             const cst__item_place *parent, uint32_t index,
                             const cst__item_place **out) {
  if (index != CST__NO_STEP) {
    const cst__step step = {.kind = CST__STEP_CHOOSE_LISTS,
                            .num_args = 3,
                            .args = {parent->lists, index, place->lists},
                            .node = CST__NO_STEP};
    return cst__plan_place_step(p, &step, parent, out);
  }
  cst__item_place *moved = cst__plan_take(p, sizeof *moved);
  if (moved == NULL) {
    return CST_NO_MEMORY;
  }
  *moved = (cst__item_place){.parent = parent, .lists = place->lists, .elements = place->elements};
  *out = moved;
  return CST_OK;
}

/* ---- items ---- */

bool cst__index_misses(const cst__planning *p, uint32_t index) {
  cst__step_kind kind = p->plan->steps[index].kind;
  return kind == CST__STEP_AT || kind == CST__STEP_KEY || kind == CST__STEP_KEPT ||
         kind == CST__STEP_PAD;
}

/* What stands at the place itself. */
static cst_status move_at_place(cst__planning *p, const cst__item *item, const cst__item_way *way,
                                cst__item *out) {
  *out = *item;
  out->place = way->to;
  if (item->fields != NULL) {
    return cst__fields_move(p, item->fields, way, &out->fields);
  }
  if (way->index == CST__NO_STEP) {
    return CST_OK;
  }
  cst__step step = {.kind = CST__STEP_TAKE,
                    .num_args = 2,
                    .args = {item->values, way->index},
                    .type = item->type,
                    .parent = CST__NO_STEP,
                    .node = CST__NO_STEP};
  out->is_nullable = item->is_nullable || cst__index_misses(p, way->index);
  return cst__plan_add_step(p, &step, &out->values);
}

cst_status cst__item_move(cst__planning *p, const cst__item *item, const cst__item_way *way,
                          cst__item *out) {
  if (item->place == NULL || cst__plan_place_same(item->place, way->from)) {
    if (item->place == NULL) {
      *out = *item;
      return CST_OK;
    }
    return move_at_place(p, item, way, out);
  }
  /* The lists on the way down, from the one below `from` on: found from below, moved from above. */
  const cst__item_place *chain[CST__MOST_DEPTH];
  size_t count = 0;
  for (const cst__item_place *at = item->place; !cst__plan_place_same(at, way->from);
       at = at->parent) {
    if (count == CST__MOST_DEPTH) {
      return cst__plan_refuse(p, p->at, CST_LIMIT, NULL, "lists are nested deeper than %d",
                              CST__MOST_DEPTH);
    }
    chain[count++] = at;
  }
  cst__item_way below = {.to = way->to, .index = way->index};
  while (count > 0) {
    below.from = chain[--count];
    CST__TRY(move_place(p, below.from, below.to, below.index, &below.to));
    below.index = below.index != CST__NO_STEP ? below.to->lists : CST__NO_STEP;
  }
  return move_at_place(p, item, &below, out);
}

cst_status cst__item_spread(cst__planning *p, const cst__item *item, const cst__item_place *place,
                            cst__item *out) {
  if (item->place == NULL || cst__plan_place_same(item->place, place)) {
    *out = *item;
    return CST_OK;
  }
  cst__item_way way = {.from = item->place, .to = place};
  CST__TRY(place_parents(p, item->place, place, &way.index));
  CST__TRY(cst__item_move(p, item, &way, out));
  out->is_map = false; /* one entry for each element */
  return CST_OK;
}

cst_status cst__item_stand_at(cst__planning *p, const cst__item *item, const cst__item_place *place,
                              cst__item *out) {
  if (item->place == NULL) {
    *out = *item;
    return CST_OK;
  }
  const cst__item_place *common = cst__plan_place_common(place, item->place);
  cst__item promoted = *item;
  if (!cst__plan_place_same(common, item->place)) {
    cst__item_way up = {.from = item->place, .index = CST__NO_STEP};
    CST__TRY(cst__plan_place_join(p, common, item->place, &up.to));
    CST__TRY(cst__item_move(p, item, &up, &promoted));
    promoted.is_map = item->is_map && up.to == item->place; /* keys of several maps may be equal */
  } else {
    /* One more view of the same structs, so that what is added to one is not added to the other. */
    const cst__item_way same = {.from = item->place, .to = item->place, .index = CST__NO_STEP};
    CST__TRY(cst__item_move(p, item, &same, &promoted));
  }
  cst__item_way down = {.from = common, .to = place};
  CST__TRY(place_parents(p, common, place, &down.index));
  if (down.index == CST__NO_STEP) {
    *out = promoted;
    return CST_OK;
  }
  return cst__item_move(p, &promoted, &down, out);
}

cst_status cst__item_choose(cst__planning *p, const cst__item *item, const cst__step *step,
                            cst__item *out) {
  cst__item_way way = {.from = item->place};
  CST__TRY(cst__plan_place_step(p, step, item->place->parent, &way.to));
  way.index = way.to->lists;
  return cst__item_move(p, item, &way, out);
}

cst_status cst__item_to_int64(cst__planning *p, cst__text_at at, cst__item *item) {
  static const cst__literal type = {.kind = CST__LITERAL_STRING,
                                    .bytes = {(const uint8_t *)"int64", 5}};
  cst__item args[2] = {*item, {.literal = &type, .type = {"U"}, .values = CST__NO_STEP}};
  const cst__planned_call cast = {
      .name = "cast", .place = item->place, .args = args, .num_args = 2, .at = at};
  return cst__plan_call_function(p, &cast, item);
}

cst_status cst__item_settle(cst__planning *p, const cst__item_place *place, cst__item *item) {
  if (item->place != NULL) {
    return CST_OK;
  }
  if (item->literal->kind == CST__LITERAL_LIST) {
    return cst__plan_refuse(p, p->at, CST_SCHEMA, NULL, "a list of values is no value of a field");
  }
  cst__step step = {.kind = CST__STEP_REPEAT,
                    .num_args = 2,
                    .args = {place->lists},
                    .type = item->type,
                    .parent = CST__NO_STEP,
                    .node = CST__NO_STEP};
  CST__TRY(cst__item_literal(p, item->literal, item->type, &step.args[1]));
  item->place = place;
  return cst__plan_add_step(p, &step, &item->values);
}

cst_status cst__item_valid(cst__planning *p, const cst__item *item, uint32_t *out) {
  if (item->fields != NULL) {
    *out = item->fields->valid;
    return CST_OK;
  }
  cst__item arg = *item;
  cst__item test;
  const cst__planned_call is_null = {
      .name = "is_null", .place = item->place, .args = &arg, .num_args = 1, .at = p->at};
  CST__TRY(cst__plan_call_function(p, &is_null, &test));
  const cst__planned_call is_not = {
      .name = "not", .place = item->place, .args = &test, .num_args = 1, .at = p->at};
  CST__TRY(cst__plan_call_function(p, &is_not, &test));
  *out = test.values;
  return CST_OK;
}

cst_status cst__item_literal(cst__planning *p, const cst__literal *literal, cst__value_type type,
                             uint32_t *out) {
  const cst__step step = {.kind = CST__STEP_LITERAL,
                          .is_one = true,
                          .literal = literal,
                          .type = cst__value_type_plain(type), /* the layout that is made */
                          .parent = CST__NO_STEP,
                          .node = CST__NO_STEP};
  struct ArrowArray made;
  if (type.format != NULL) { /* whether it fits is found out now */
    CST__TRY(cst__literal_array(literal, type, &p->plan->allocator, &made, p->error));
    cst__array_release(&made);
  }
  return cst__plan_add_step(p, &step, out);
}
