/* Lists of structs that are made of the elements of lists: cartesian, combinations, run_lengths. */
#include <string.h>

#include "query/plan/planning.h"

/* A list of structs that is being made, of elements that indexes choose. */
typedef struct product_maker {
  cst__planning *p;
  cst__text_at at;
  const cst__item_place *place; /* so far */
  uint32_t *indexes; /* of each part, for the elements of the place; CST__NO_STEP: the same */
  size_t count;
} product_maker;

/* Every element so far with those of one more list; with `is_after` with those that come after the
 * one that was added last, which is of the same list. */
static cst_status product_add(product_maker *m, const cst__item_place *list, bool is_after) {
  cst__planning *p = m->p;
  if (m->count == 0) {
    m->place = list;
    m->indexes[m->count++] = CST__NO_STEP;
    return CST_OK;
  }
  const cst__item_place *before = m->place;
  uint32_t last = is_after ? m->indexes[m->count - 1] : CST__NO_STEP;
  const cst__step product = {.kind = CST__STEP_PRODUCT,
                             .num_args = 3,
                             .flag = is_after,
                             .args = {before->lists, list->lists, last},
                             .node = CST__NO_STEP,
                             .at = m->at};
  CST__TRY(cst__plan_place_step(p, &product, before->parent, &m->place));
  for (size_t i = 0; i < m->count; i++) {
    uint32_t *index = &m->indexes[i];
    const cst__step_args both = {m->place->lists, *index, CST__NO_STEP};
    if (*index == CST__NO_STEP) {
      *index = m->place->lists;
    } else {
      CST__TRY(cst__plan_step(p, CST__STEP_COMPOSE, both, index));
    }
  }
  const cst__step partners = {.kind = CST__STEP_PARTNERS,
                              .num_args = 4,
                              .flag = is_after,
                              .args = {m->place->lists, before->lists, list->lists, last},
                              .parent = CST__NO_STEP,
                              .node = CST__NO_STEP,
                              .at = m->at};
  return cst__plan_add_step(p, &partners, &m->indexes[m->count++]);
}

/* A field of the structs: what an item has at the elements that an index chooses. */
static cst_status put_chosen(cst__planning *p, cst__fields *fields, const char *name,
                             const cst__item *item, uint32_t index) {
  const cst__item_way way = {.from = item->place, .to = fields->place, .index = index};
  cst__item chosen;
  CST__TRY(cst__item_move(p, item, &way, &chosen));
  chosen.is_map = false; /* one entry beside other elements */
  return cst__fields_put(p, fields, name, &chosen);
}

static cst_status new_structs(cst__planning *p, const cst__item_place *place, cst__item *out) {
  *out = (cst__item){.place = place, .values = CST__NO_STEP};
  return cst__fields_new(p, place, &out->fields);
}

cst_status cst__plan_cartesian(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                               cst__item *out) {
  product_maker m = {.p = p, .at = call->at};
  cst__item *items;
  CST__TRY(cst__plan_side_by_side(p, call, scope, &items));
  m.indexes = cst__plan_take(p, call->num_args * sizeof *m.indexes);
  if (m.indexes == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < call->num_args; i++) {
    CST__TRY(product_add(&m, items[i].place, false));
  }
  CST__TRY(new_structs(p, m.place, out));
  for (size_t i = 0; i < call->num_args; i++) {
    CST__TRY(put_chosen(p, out->fields, call->keys[i], &items[i], m.indexes[i]));
  }
  return CST_OK;
}

/* The names that the structs of combinations have: all different. */
static cst_status check_names(cst__planning *p, const cst__expr *call) {
  for (size_t i = 1; i < call->num_args; i++) {
    const cst__expr *name = call->args[i];
    if (name->kind != CST__EXPR_NAME) {
      return cst__plan_refuse(p, name->at, CST_SCHEMA, "combinations(x, a, b)",
                              "found an expression, expected the name of a field");
    }
    for (size_t k = 1; k < i; k++) {
      if (strcmp(call->args[k]->name, name->name) == 0) {
        return cst__plan_refuse(p, name->at, CST_SCHEMA, "give each element another name",
                                "duplicate field '%.80s'", name->name);
      }
    }
  }
  return CST_OK;
}

cst_status cst__plan_combinations(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                                  cst__item *out) {
  product_maker m = {.p = p, .at = call->at};
  cst__item list;
  if (cst__plan_positional(call) < 3) {
    return cst__plan_refuse(p, call->at, CST_SCHEMA, "combinations(x, a, b)",
                            "%s takes a list, and a name for each element of a combination, two or "
                            "more",
                            call->name);
  }
  CST__TRY(check_names(p, call));
  CST__TRY(cst__plan_list_of(p, call, scope, &list));
  m.indexes = cst__plan_take(p, call->num_args * sizeof *m.indexes);
  if (m.indexes == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 1; i < call->num_args; i++) {
    CST__TRY(product_add(&m, list.place, true));
  }
  CST__TRY(new_structs(p, m.place, out));
  for (size_t i = 1; i < call->num_args; i++) {
    CST__TRY(put_chosen(p, out->fields, call->args[i]->name, &list, m.indexes[i - 1]));
  }
  return CST_OK;
}

cst_status cst__plan_run_lengths(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                                 cst__item *out) {
  cst__item list;
  cst__item key;
  const cst__item_place *runs;
  CST__TRY(cst__plan_list(p, call, scope, &list));
  CST__TRY(cst__plan_by(p, call, &list, scope, &key));
  const cst__step step = {.kind = CST__STEP_RUNS,
                          .num_args = 2,
                          .args = {list.place->lists, key.values},
                          .node = CST__NO_STEP,
                          .at = call->at};
  CST__TRY(cst__plan_place_step(p, &step, list.place->parent, &runs));
  const cst__step lengths = {.kind = CST__STEP_RUN_SIZES,
                             .num_args = 2,
                             .args = {runs->lists, list.place->lists},
                             .type = {"l"},
                             .parent = CST__NO_STEP,
                             .node = CST__NO_STEP};
  cst__item length = {.place = runs, .type = {"l"}};
  CST__TRY(cst__plan_add_step(p, &lengths, &length.values));
  CST__TRY(new_structs(p, runs, out));
  CST__TRY(put_chosen(p, out->fields, "value", &list, runs->lists));
  return cst__fields_put(p, out->fields, "length", &length);
}
