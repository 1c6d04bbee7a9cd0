/* Expressions: names, steps, literals, indexes and slices, and where values of several places meet.
 */
#include <stdio.h>
#include <string.h>

#include "query/plan/planning.h"

#include "base/bytes.h"

/* ---- literals and parameters ---- */

static void item_of_literal(const cst__literal *literal, cst__value_type type, cst__item *out) {
  *out = (cst__item){.literal = literal,
                     .type = type,
                     .values = CST__NO_STEP,
                     .is_nullable = literal->kind == CST__LITERAL_NULL};
}

static bool find_param(const cst__planning *p, const char *name, cst__item *out) {
  for (size_t i = 0; i < p->num_params; i++) {
    if (strcmp(p->params[i].name, name) == 0) {
      item_of_literal(p->params[i].literal, p->params[i].type, out);
      out->is_param = out->literal->kind != CST__LITERAL_LIST;
      return true;
    }
  }
  return false;
}

static cst_status literal_of(cst__planning *p, const cst__expr *expr, cst__literal *out) {
  *out = (cst__literal){.integer = expr->integer, .number = expr->number, .bytes = expr->bytes};
  switch (expr->kind) {
    case CST__EXPR_NULL:
      out->kind = CST__LITERAL_NULL;
      return CST_OK;
    case CST__EXPR_BOOL:
      out->kind = CST__LITERAL_BOOL;
      return CST_OK;
    case CST__EXPR_INT:
      out->kind = CST__LITERAL_INT;
      return CST_OK;
    case CST__EXPR_FLOAT:
      out->kind = CST__LITERAL_FLOAT;
      return CST_OK;
    case CST__EXPR_TYPE:
      out->bytes = cst__bytes_of(expr->name);
      out->kind = CST__LITERAL_STRING;
      return CST_OK;
    case CST__EXPR_STRING:
      out->kind = expr->is_bytes ? CST__LITERAL_BYTES : CST__LITERAL_STRING;
      return CST_OK;
    case CST__EXPR_LIST:
      break;
    default: {
      cst__item param = {.literal = NULL};
      if (expr->kind != CST__EXPR_NAME || !find_param(p, expr->name, &param)) {
        return cst__plan_refuse(
            p, expr->at, CST_SCHEMA, NULL,
            "found an expression, expected a value that is known (12, \"text\", "
            "[1, 2], a parameter)");
      }
      *out = *param.literal;
      return CST_OK;
    }
  }
  cst__literal *items = cst__plan_take(p, (expr->num_args + 1) * sizeof *items);
  if (items == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < expr->num_args; i++) {
    CST__TRY(literal_of(p, expr->args[i], &items[i]));
  }
  *out = (cst__literal){.kind = CST__LITERAL_LIST, .items = items, .num_items = expr->num_args};
  return CST_OK;
}

static bool is_literal(const cst__expr *expr) {
  switch (expr->kind) {
    case CST__EXPR_NULL:
    case CST__EXPR_BOOL:
    case CST__EXPR_INT:
    case CST__EXPR_FLOAT:
    case CST__EXPR_STRING:
    case CST__EXPR_TYPE:
    case CST__EXPR_LIST:
      return true;
    default:
      return false;
  }
}

cst_status cst__plan_literal(cst__planning *p, const cst__expr *expr, const cst__literal **out) {
  cst__literal *literal = cst__plan_take(p, sizeof *literal);
  if (literal == NULL) {
    return CST_NO_MEMORY;
  }
  CST__TRY(literal_of(p, expr, literal));
  *out = literal;
  return CST_OK;
}

static cst_status plan_literal_item(cst__planning *p, const cst__expr *expr, cst__item *out) {
  const cst__literal *literal;
  CST__TRY(cst__plan_literal(p, expr, &literal));
  item_of_literal(literal, cst__literal_type(literal), out);
  return CST_OK;
}

/* ---- names ---- */

static cst_status plan_name(cst__planning *p, const cst__expr *expr, const cst__scope *scope,
                            cst__item *out) {
  const cst__known_field *entry = NULL;
  const cst__fields *nearest = p->record;
  for (const cst__scope *at = scope; at != NULL && entry == NULL; at = at->outer) {
    if (at->it != NULL && at->it->fields != NULL) {
      nearest = nearest == p->record ? at->it->fields : nearest;
      CST__TRY(cst__fields_find(p, at->it->fields, expr->name, p->now, &entry));
    }
  }
  if (entry == NULL) {
    if (find_param(p, expr->name, out)) {
      return CST_OK;
    }
    CST__TRY(cst__fields_find(p, p->record, expr->name, p->now, &entry));
  }
  if (entry == NULL) {
    return cst__names_fail(p, nearest, expr->name, expr->at);
  }
  *out = entry->item;
  return CST_OK;
}

const char *cst__item_type_name(const cst__item *item) {
  return item->fields != NULL ? "structs" : cst__value_type_name(item->type);
}

static cst_status plan_field_step(cst__planning *p, const cst__expr *expr, const cst__scope *scope,
                                  cst__item *out) {
  cst__item base;
  const cst__known_field *entry = NULL;
  CST__TRY(cst__plan_expression(p, expr->args[0], scope, &base));
  if (base.fields == NULL) {
    return cst__plan_refuse(p, expr->at, CST_SCHEMA, NULL,
                            "cannot read field '%.80s' of %s: only structs have fields", expr->name,
                            cst__item_type_name(&base));
  }
  CST__TRY(cst__fields_find(p, base.fields, expr->name, p->now, &entry));
  if (entry == NULL) {
    return cst__fields_fail(p, base.fields, expr->name, expr->at);
  }
  *out = entry->item;
  return CST_OK;
}

static cst_status plan_it(cst__planning *p, const cst__expr *expr, const cst__scope *scope,
                          cst__item *out) {
  for (; scope != NULL; scope = scope->outer) {
    if (scope->it != NULL) {
      *out = *scope->it;
      return CST_OK;
    }
  }
  return cst__plan_refuse(p, expr->at, CST_SCHEMA, "write it in backticks for a field of this name",
                          "`it` is the element of a where or a sort, and there is none here");
}

static void item_of_record(const cst__planning *p, cst__item *out) {
  *out = (cst__item){.place = p->records, .values = CST__NO_STEP, .fields = p->record};
}

/* ---- indexes ---- */

static cst_status need_list(cst__planning *p, const cst__item *item, cst__text_at at,
                            const char *what) {
  return item->place != NULL && item->place->parent != NULL
             ? CST_OK
             : cst__plan_refuse(p, at, CST_SCHEMA, NULL,
                                "%s needs a list, found one value for each record", what);
}

/* A value of integers that stands at a place: a step. */
static cst_status plan_bound(cst__planning *p, const cst__expr *expr, const cst__scope *scope,
                             const cst__item_place *place, uint32_t *out) {
  *out = CST__NO_STEP;
  if (expr == NULL) {
    return CST_OK;
  }
  cst__item bound;
  CST__TRY(cst__plan_expression(p, expr, scope, &bound));
  if (bound.fields != NULL || (bound.place != NULL && !cst__plan_place_holds(bound.place, place))) {
    return cst__plan_refuse(p, expr->at, CST_SCHEMA, NULL,
                            "found %s of another list, expected an integer for each list",
                            cst__item_type_name(&bound));
  }
  CST__TRY(cst__item_spread(p, &bound, place, &bound));
  if (bound.place == NULL) {
    return cst__plan_refused(p, expr->at,
                             cst__item_literal(p, bound.literal, (cst__value_type){"l"}, out));
  }
  if (bound.type.format != NULL && strcmp(bound.type.format, "l") != 0) {
    CST__TRY(cst__item_to_int64(p, expr->at, &bound));
  }
  *out = bound.values;
  return CST_OK;
}

static cst_status move_up(cst__planning *p, const cst__item *item, uint32_t index, cst__item *out) {
  const cst__item_way way = {.from = item->place, .to = item->place->parent, .index = index};
  CST__TRY(cst__item_move(p, item, &way, out));
  out->is_map = false;
  return CST_OK;
}

static cst_status plan_map_key(cst__planning *p, const cst__expr *expr, const cst__item *map,
                               const cst__scope *scope, cst__item *out) {
  const cst__item_place *place = map->place;
  const cst__known_field *const *entries; /* the key and the value */
  size_t count;
  cst__item key;
  cst__step step = {
      .kind = CST__STEP_KEY, .num_args = 3, .parent = CST__NO_STEP, .node = CST__NO_STEP};
  CST__TRY(cst__fields_list(p, map->fields, 0, &entries, &count));
  if (count < 2) {
    return cst__plan_refuse(p, expr->at, CST_SCHEMA, NULL, "the map has no keys any more");
  }
  CST__TRY(cst__plan_expression(p, expr, scope, &key));
  if (key.place != NULL) {
    return cst__plan_refuse(p, expr->at, CST_UNSUPPORTED,
                            "use `where key == ...` for a key that differs from record to record",
                            "the key of a map is a value or a parameter");
  }
  step.args[0] = place->lists;
  step.args[1] = entries[0]->item.values;
  CST__TRY(cst__plan_refused(
      p, expr->at, cst__item_literal(p, key.literal, entries[0]->item.type, &step.args[2])));
  uint32_t index;
  CST__TRY(cst__plan_add_step(p, &step, &index));
  const cst__item_way way = {.from = place, .to = place->parent, .index = index};
  return cst__item_move(p, &entries[1]->item, &way, out);
}

static cst_status plan_at(cst__planning *p, const cst__expr *expr, const cst__scope *scope,
                          cst__item *out) {
  cst__item base;
  uint32_t at;
  uint32_t index;
  CST__TRY(cst__plan_expression(p, expr->args[0], scope, &base));
  CST__TRY(need_list(p, &base, expr->at, "an index"));
  if (base.is_map) {
    return plan_map_key(p, expr->args[1], &base, scope, out);
  }
  CST__TRY(plan_bound(p, expr->args[1], scope, base.place->parent, &at));
  const cst__step_args args = {base.place->lists, at, CST__NO_STEP};
  CST__TRY(cst__plan_step(p, CST__STEP_AT, args, &index));
  return move_up(p, &base, index, out);
}

static cst_status plan_slice(cst__planning *p, const cst__expr *expr, const cst__scope *scope,
                             cst__item *out) {
  cst__item base;
  cst__step step = {.kind = CST__STEP_SLICE, .num_args = 4, .node = CST__NO_STEP, .at = expr->at};
  CST__TRY(cst__plan_expression(p, expr->args[0], scope, &base));
  CST__TRY(need_list(p, &base, expr->at, "a slice"));
  step.args[0] = base.place->lists;
  for (size_t i = 1; i < 4; i++) {
    const cst__expr *bound = i < expr->num_args ? expr->args[i] : NULL;
    if (i == 3 && bound != NULL && bound->kind == CST__EXPR_INT && bound->integer == 0) {
      return cst__plan_refuse(p, bound->at, CST_SCHEMA, "use 1, or -1 to reverse",
                              "the slice step is 0");
    }
    CST__TRY(plan_bound(p, bound, scope, base.place->parent, &step.args[i]));
  }
  return cst__item_choose(p, &base, &step, out);
}

/* ---- structs ---- */

static cst_status plan_struct(cst__planning *p, const cst__expr *expr, const cst__scope *scope,
                              cst__item *out) {
  const cst__item_place *place = p->records;
  cst__item *items = cst__plan_take(p, (expr->num_args + 1) * sizeof *items);
  if (items == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < expr->num_args; i++) {
    CST__TRY(cst__plan_expression(p, expr->args[i], scope, &items[i]));
    const cst__item_place *at = items[i].place;
    if (at != NULL && cst__plan_place_holds(place, at)) {
      place = at;
    } else if (at != NULL && !cst__plan_place_holds(at, place)) {
      return cst__plan_refuse(
          p, expr->args[i]->at, CST_SCHEMA, "use zip(a=..., b=...) for lists of equal length",
          "'%.80s' is in another list than the values before it", expr->keys[i]);
    }
  }
  *out = (cst__item){.place = place, .values = CST__NO_STEP};
  CST__TRY(cst__fields_new(p, place, &out->fields));
  for (size_t i = 0; i < expr->num_args; i++) {
    cst__item item;
    const cst__known_field *other;
    CST__TRY(cst__fields_find(p, out->fields, expr->keys[i], p->now, &other));
    if (other != NULL) {
      return cst__plan_refuse(p, expr->args[i]->at, CST_SCHEMA, NULL,
                              "'%.80s' is named twice in one struct", expr->keys[i]);
    }
    CST__TRY(cst__item_spread(p, &items[i], place, &item));
    CST__TRY(cst__item_settle(p, place, &item));
    item.is_map = false; /* one entry beside other values */
    CST__TRY(cst__fields_put(p, out->fields, expr->keys[i], &item));
  }
  return CST_OK;
}

/* ---- all of them ---- */

static cst_status plan_where_of(cst__planning *p, const cst__expr *expr, const cst__scope *scope,
                                cst__item *out) {
  cst__item base;
  CST__TRY(cst__plan_expression(p, expr->args[0], scope, &base));
  return cst__plan_where(p, &base, expr->args[1], scope, out);
}

static cst_status plan_call(cst__planning *p, const cst__expr *expr, const cst__scope *scope,
                            cst__item *out) {
  bool is_structural = false;
  CST__TRY(cst__plan_structural(p, expr, scope, &is_structural, out));
  return is_structural ? CST_OK : cst__plan_function(p, expr, scope, out);
}

cst_status cst__plan_expression(cst__planning *p, const cst__expr *expr, const cst__scope *scope,
                                cst__item *out) {
  p->at = expr->at;
  if (is_literal(expr)) {
    return plan_literal_item(p, expr, out);
  }
  switch (expr->kind) {
    case CST__EXPR_NAME:
      return plan_name(p, expr, scope, out);
    case CST__EXPR_IT:
      return plan_it(p, expr, scope, out);
    case CST__EXPR_RECORD:
      item_of_record(p, out);
      return CST_OK;
    case CST__EXPR_STEP:
      return plan_field_step(p, expr, scope, out);
    case CST__EXPR_AT:
      return plan_at(p, expr, scope, out);
    case CST__EXPR_SLICE:
      return plan_slice(p, expr, scope, out);
    case CST__EXPR_WHERE:
      return plan_where_of(p, expr, scope, out);
    case CST__EXPR_STRUCT:
      return plan_struct(p, expr, scope, out);
    default:
      return plan_call(p, expr, scope, out);
  }
}

cst_status cst__plan_path_place(cst__planning *p, const cst__expr *path, const cst__scope *scope,
                                const cst__item_place **out) {
  cst__item item;
  CST__TRY(cst__plan_expression(p, path, scope, &item));
  if (item.place == NULL) {
    return cst__plan_refuse(p, path->at, CST_SCHEMA, NULL,
                            "found a value, expected the path of a list, or `record`");
  }
  *out = item.place;
  return CST_OK;
}
