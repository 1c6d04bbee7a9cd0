/* What is no function of values: choosing elements, their order and numbers, structs of fields. */
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "query/plan/planning.h"

/* ---- arguments ---- */

const cst__expr *cst__plan_keyword(const cst__expr *call, const char *key) {
  for (size_t i = 0; call->keys != NULL && i < call->num_args; i++) {
    if (call->keys[i] != NULL && strcmp(call->keys[i], key) == 0) {
      return call->args[i];
    }
  }
  return NULL;
}

size_t cst__plan_positional(const cst__expr *call) {
  size_t count = 0;
  while (count < call->num_args && (call->keys == NULL || call->keys[count] == NULL)) {
    count++;
  }
  return count;
}

/* ---- where ---- */

/* Bools with the place of an item: of another one above they are spread. */
static cst_status plan_mask(cst__planning *p, const cst__item *item, const cst__expr *condition,
                            const cst__scope *scope, uint32_t *out) {
  const cst__scope inner = {.it = item, .outer = scope, .wanted = item->place};
  cst__item mask;
  CST__TRY(cst__plan_expression(p, condition, &inner, &mask));
  if (mask.fields != NULL || strcmp(mask.type.format, "b") != 0) {
    return cst__plan_refuse(p, condition->at, CST_SCHEMA,
                            "compare it (`x > 0`), or ask whether it is there (`has(x)`)",
                            "the condition is %s, expected bool", cst__item_type_name(&mask));
  }
  if (mask.place != NULL && !cst__plan_place_holds(mask.place, item->place)) {
    return cst__plan_refuse(p, condition->at, CST_SCHEMA,
                            "make one value of them: any(...), all(...), count(...)",
                            "the condition has several values for each element");
  }
  CST__TRY(cst__item_spread(p, &mask, item->place, &mask));
  if (mask.place == NULL) {
    return cst__plan_refused(p, condition->at, cst__item_literal(p, mask.literal, mask.type, out));
  }
  *out = mask.values;
  return CST_OK;
}

static cst_status keep_in_lists(cst__planning *p, const cst__item *item, uint32_t mask,
                                cst__item *out) {
  const cst__step step = {.kind = CST__STEP_FILTER,
                          .num_args = 2,
                          .args = {item->place->lists, mask},
                          .node = CST__NO_STEP};
  return cst__item_choose(p, item, &step, out);
}

/* All elements, null where the mask is not true. */
static cst_status hide_elements(cst__planning *p, const cst__item *item, uint32_t mask,
                                cst__item *out) {
  cst__item_way way = {.from = item->place, .to = item->place};
  const cst__step_args args = {item->place->lists, mask, CST__NO_STEP};
  CST__TRY(cst__plan_step(p, CST__STEP_KEPT, args, &way.index));
  return cst__item_move(p, item, &way, out);
}

cst_status cst__plan_keep(cst__planning *p, const cst__item *item, uint32_t mask, cst__item *out) {
  return item->place->parent != NULL ? keep_in_lists(p, item, mask, out)
                                     : hide_elements(p, item, mask, out);
}

cst_status cst__plan_where(cst__planning *p, const cst__item *item, const cst__expr *condition,
                           const cst__scope *scope, cst__item *out) {
  uint32_t mask;
  if (item->place == NULL) {
    return cst__plan_refuse(p, condition->at, CST_SCHEMA, NULL,
                            "`where` cannot filter a value that is the same for all records");
  }
  CST__TRY(plan_mask(p, item, condition, scope, &mask));
  return cst__plan_keep(p, item, mask, out);
}

/* ---- elements of lists: their order and number ---- */

cst_status cst__plan_list_of(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                             cst__item *out) {
  CST__TRY(cst__plan_expression(p, call->args[0], scope, out));
  return out->place != NULL && out->place->parent != NULL
             ? CST_OK
             : cst__plan_refuse(p, call->at, CST_SCHEMA, NULL,
                                "%s needs a list, found one value for each record", call->name);
}

cst_status cst__plan_list(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                          cst__item *out) {
  return cst__plan_positional(call) == 1
             ? cst__plan_list_of(p, call, scope, out)
             : cst__plan_refuse(p, call->at, CST_SCHEMA, NULL, "%s takes one list", call->name);
}

static cst_status plan_reverse(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                               cst__item *out) {
  cst__item list;
  CST__TRY(cst__plan_list(p, call, scope, &list));
  const cst__step step = {
      .kind = CST__STEP_REVERSE, .num_args = 1, .args = {list.place->lists}, .node = CST__NO_STEP};
  return cst__item_choose(p, &list, &step, out);
}

cst_status cst__plan_by(cst__planning *p, const cst__expr *call, const cst__item *list,
                        const cst__scope *scope, cst__item *out) {
  const cst__scope inner = {.it = list, .outer = scope, .wanted = list->place};
  const cst__expr *by = cst__plan_keyword(call, "by");
  *out = *list;
  if (by != NULL) {
    CST__TRY(cst__plan_expression(p, by, &inner, out));
  }
  if (out->fields != NULL || out->place == NULL || !cst__plan_place_same(out->place, list->place)) {
    return cst__plan_refuse(
        p, by != NULL ? by->at : call->at, CST_SCHEMA, "name one of their values: by=...",
        "found %s, expected one value for each element", cst__item_type_name(out));
  }
  return CST_OK;
}

cst_status cst__plan_flag(cst__planning *p, const cst__expr *call, const char *key, bool *out) {
  const cst__expr *expr = cst__plan_keyword(call, key);
  *out = expr != NULL && expr->integer != 0;
  return expr == NULL || expr->kind == CST__EXPR_BOOL
             ? CST_OK
             : cst__plan_refuse(p, expr->at, CST_SCHEMA, NULL, "%s is true or false", key);
}

static cst_status plan_sort(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                            cst__item *out) {
  cst__item list;
  cst__item key;
  CST__TRY(cst__plan_list(p, call, scope, &list));
  CST__TRY(cst__plan_by(p, call, &list, scope, &key));
  cst__step step = {.kind = CST__STEP_SORT,
                    .num_args = 2,
                    .args = {list.place->lists, key.values},
                    .node = CST__NO_STEP};
  CST__TRY(cst__plan_flag(p, call, "descending", &step.flag));
  return cst__item_choose(p, &list, &step, out);
}

static cst_status plan_positions(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                                 cst__item *out) {
  cst__item list;
  CST__TRY(cst__plan_list(p, call, scope, &list));
  const cst__step step = {.kind = CST__STEP_POSITIONS,
                          .num_args = 1,
                          .args = {list.place->lists},
                          .flag = strcmp(call->name, "index_from_end") == 0,
                          .type = {"l"},
                          .parent = CST__NO_STEP,
                          .node = CST__NO_STEP};
  *out = (cst__item){.place = list.place, .type = {"l"}};
  return cst__plan_add_step(p, &step, &out->values);
}

static cst_status plan_numbers(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                               cst__item *out) {
  (void)scope;
  if (call->num_args != 0) {
    return cst__plan_refuse(p, call->at, CST_SCHEMA, NULL, "record_index takes no argument");
  }
  const cst__step step = {.kind = CST__STEP_NUMBERS,
                          .num_args = 1,
                          .args = {p->records->lists},
                          .type = {"l"},
                          .parent = CST__NO_STEP,
                          .node = CST__NO_STEP};
  *out = (cst__item){.place = p->records, .type = {"l"}};
  return cst__plan_add_step(p, &step, &out->values);
}

/* ---- others ---- */

/* As where, but lists keep their length. */
static cst_status plan_masked(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                              cst__item *out) {
  cst__item item;
  uint32_t mask;
  if (cst__plan_positional(call) != 2) {
    return cst__plan_refuse(p, call->at, CST_SCHEMA, NULL,
                            "mask takes two arguments: the values and a condition");
  }
  CST__TRY(cst__plan_expression(p, call->args[0], scope, &item));
  if (item.place == NULL) {
    return cst__plan_refuse(p, call->args[0]->at, CST_SCHEMA, NULL,
                            "mask cannot be applied to a value that is the same for all records");
  }
  CST__TRY(plan_mask(p, &item, call->args[1], scope, &mask));
  CST__TRY(hide_elements(p, &item, mask, out));
  out->is_map = false; /* entries of maps are never null */
  return CST_OK;
}

static cst_status plan_drop_null(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                                 cst__item *out) {
  cst__item list;
  uint32_t valid;
  CST__TRY(cst__plan_list(p, call, scope, &list));
  CST__TRY(cst__item_valid(p, &list, &valid));
  if (valid == CST__NO_STEP) { /* nothing is left out, but it is a list of its own all the same */
    static const cst__literal all = {.kind = CST__LITERAL_BOOL, .integer = 1};
    CST__TRY(cst__item_literal(p, &all, (cst__value_type){"b"}, &valid));
  }
  CST__TRY(cst__plan_keep(p, &list, valid, out));
  out->is_nullable = false;
  return CST_OK;
}

static cst_status plan_flatten(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                               cst__item *out) {
  cst__item item;
  const cst__item_place *place = p->records;
  const cst__expr *to = cst__plan_keyword(call, "to");
  if (cst__plan_positional(call) != 1) {
    return cst__plan_refuse(p, call->at, CST_SCHEMA, NULL, "flatten takes one list");
  }
  CST__TRY(cst__plan_expression(p, call->args[0], scope, &item));
  if (to != NULL) {
    CST__TRY(cst__plan_path_place(p, to, scope, &place));
  }
  return cst__item_stand_at(p, &item, place, out);
}

static cst_status plan_chosen_fields(cst__planning *p, const cst__expr *call,
                                     const cst__scope *scope, cst__item *out) {
  cst__pattern_list patterns = {.items = call->args + 1,
                                .without = strcmp(call->name, "without") == 0};
  size_t count = cst__plan_positional(call);
  if (count < 2) {
    return cst__plan_refuse(p, call->at, CST_SCHEMA, NULL,
                            "%s takes structs and the names of their fields", call->name);
  }
  CST__TRY(cst__plan_expression(p, call->args[0], scope, out));
  if (out->fields == NULL) {
    return cst__plan_refuse(p, call->args[0]->at, CST_SCHEMA, NULL, "found %s, expected structs",
                            cst__item_type_name(out));
  }
  const cst__expr *depth = cst__plan_keyword(call, "depth");
  if (depth != NULL &&
      (depth->kind != CST__EXPR_INT || depth->integer < 1 || depth->integer > CST__MOST_DEPTH)) {
    return cst__plan_refuse(p, depth->at, CST_SCHEMA, NULL, "depth is a number from 1 to %d",
                            CST__MOST_DEPTH);
  }
  patterns.count = count - 1;
  patterns.depth = depth != NULL ? (int)depth->integer : 0;
  out->is_map = false;
  return cst__fields_choose(p, out->fields, &patterns, &out->fields);
}

cst_status cst__plan_side_by_side(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                                  cst__item **out) {
  cst__item *items = cst__plan_take(p, (call->num_args + 1) * sizeof *items);
  if (items == NULL) {
    return CST_NO_MEMORY;
  }
  if (call->num_args == 0 || cst__plan_positional(call) != 0) {
    return cst__plan_refuse(p, call->at, CST_SCHEMA, NULL,
                            "%s takes lists, each with its name: %s(a=..., b=...)", call->name,
                            call->name);
  }
  for (size_t i = 0; i < call->num_args; i++) {
    CST__TRY(cst__plan_expression(p, call->args[i], scope, &items[i]));
  }
  if (items[0].place == NULL) {
    return cst__plan_refuse(p, call->args[0]->at, CST_SCHEMA, NULL,
                            "found a value, expected a list");
  }
  for (size_t i = 0; i < call->num_args; i++) {
    const cst__item_place *place = items[i].place;
    if (place == NULL || place->parent == NULL ||
        !cst__plan_place_same(place->parent, items[0].place->parent)) {
      return cst__plan_refuse(p, call->args[i]->at, CST_SCHEMA, NULL,
                              "%s takes lists of the same structs, and '%.80s' is not one of these",
                              call->name, call->keys[i]);
    }
  }
  *out = items;
  return CST_OK;
}

/* Lists that have to be equally long, as one list. */
static cst_status zip_lists(cst__planning *p, const cst__expr *call, const cst__item *items,
                            const cst__item_place **out) {
  const cst__item_place *zipped = items[0].place;
  for (size_t i = 0; i < call->num_args; i++) {
    const cst__item_place *place = items[i].place;
    if (cst__plan_place_same(place, items[0].place)) {
      continue;
    }
    const cst__step step = {.kind = CST__STEP_SAME,
                            .num_args = 2,
                            .args = {zipped->lists, place->lists},
                            .node = CST__NO_STEP,
                            .at = call->at};
    CST__TRY(cst__plan_place_step(p, &step, place->parent, &zipped));
  }
  *out = zipped;
  return CST_OK;
}

static cst_status plan_zip(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                           cst__item *out) {
  const cst__item_place *place;
  cst__item *items;
  CST__TRY(cst__plan_side_by_side(p, call, scope, &items));
  CST__TRY(zip_lists(p, call, items, &place));
  *out = (cst__item){.place = place, .values = CST__NO_STEP};
  CST__TRY(cst__fields_new(p, place, &out->fields));
  for (size_t i = 0; i < call->num_args; i++) {
    const cst__item_way way = {.from = items[i].place, .to = place, .index = CST__NO_STEP};
    cst__item item;
    CST__TRY(cst__item_move(p, &items[i], &way, &item));
    item.is_map = false; /* one entry beside other elements */
    CST__TRY(cst__fields_put(p, out->fields, call->keys[i], &item));
  }
  return CST_OK;
}

/* ---- the list of them ---- */

typedef struct structural_call {
  const char *name;
  cst_status (*plan)(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                     cst__item *out);
  bool names_fields; /* keywords are the names of what it makes */
  const char *keys[2];
} structural_call;

static const structural_call structural_calls[] = {
    {"cartesian", cst__plan_cartesian, true, {NULL, NULL}},
    {"combinations", cst__plan_combinations, false, {NULL, NULL}},
    {"drop_null", plan_drop_null, false, {NULL, NULL}},
    {"flatten", plan_flatten, false, {"to", NULL}},
    {"index", plan_positions, false, {NULL, NULL}},
    {"index_from_end", plan_positions, false, {NULL, NULL}},
    {"mask", plan_masked, false, {NULL, NULL}},
    {"only", plan_chosen_fields, false, {"depth", NULL}},
    {"record_index", plan_numbers, false, {NULL, NULL}},
    {"reverse", plan_reverse, false, {NULL, NULL}},
    {"run_lengths", cst__plan_run_lengths, false, {"by", NULL}},
    {"sort", plan_sort, false, {"by", "descending"}},
    {"without", plan_chosen_fields, false, {NULL, NULL}},
    {"zip", plan_zip, true, {NULL, NULL}},
};
enum { NUM_STRUCTURAL_CALLS = sizeof structural_calls / sizeof structural_calls[0] };

const char *cst__plan_structural_name(size_t i) {
  return i < NUM_STRUCTURAL_CALLS ? structural_calls[i].name : NULL;
}

static cst_status check_keywords(cst__planning *p, const cst__expr *call,
                                 const structural_call *known) {
  for (size_t i = 0; call->keys != NULL && !known->names_fields && i < call->num_args; i++) {
    const char *key = call->keys[i];
    bool is_known = key == NULL;
    for (size_t k = 0; k < 2 && known->keys[k] != NULL && !is_known; k++) {
      is_known = strcmp(known->keys[k], key) == 0;
    }
    if (!is_known) {
      size_t count = known->keys[0] == NULL ? 0 : known->keys[1] == NULL ? 1 : 2;
      const cst__name_list names = cst__name_list_of(known->keys, count);
      char hint[CST__NEAR_HINT];
      return cst__plan_refuse(p, call->args[i]->at, CST_SCHEMA, cst__near_hint(hint, key, &names),
                              "%s has no argument '%.60s'", known->name, key);
    }
  }
  return CST_OK;
}

cst_status cst__plan_structural(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                                bool *is_one_of, cst__item *out) {
  for (size_t i = 0; i < NUM_STRUCTURAL_CALLS; i++) {
    if (strcmp(structural_calls[i].name, call->name) == 0) {
      *is_one_of = true;
      CST__TRY(check_keywords(p, call, &structural_calls[i]));
      return structural_calls[i].plan(p, call, scope, out);
    }
  }
  return CST_OK;
}
