/* The statements of a query, one after the other. */
#include <string.h>

#include "base/names.h"
#include "query/functions/value_type.h"
#include "query/plan/planning.h"

/* ---- parameters ---- */

static const char *nth_param_name(const void *items, size_t i) {
  return ((const cst__parameter *)items)[i].name;
}

/* A value that was given for a parameter: a literal as text. */
static cst_status given_value(cst__planning *p, const char *name, const cst__expr **out) {
  const cst__query_plan_options *options = p->options;
  for (size_t i = 0; i < options->num_params; i++) {
    if (strcmp(options->params[i].name, name) == 0) {
      const char *value = options->params[i].value;
      cst_status status = cst__query_parse_literal(value, &p->plan->arena, out, p->error);
      if (status != CST_OK) {
        cst__error_add_path(p->error, name, strlen(name));
      }
      return status;
    }
  }
  return CST_OK;
}

/* True if a literal is of a type, or can be. */
static cst_status check_value(cst__planning *p, const cst__literal *literal, cst__value_type type,
                              bool is_list) {
  struct ArrowArray made;
  if (is_list != (literal->kind == CST__LITERAL_LIST)) {
    return cst__fail(p->error, CST_SCHEMA, NULL, "found %s, expected %s",
                     is_list ? "one value" : "a list", is_list ? "a list" : "one value");
  }
  CST__TRY(cst__literal_exact(literal, type, p->error));
  CST__TRY(cst__literal_array(literal, type, &p->plan->allocator, &made, p->error));
  cst__array_release(&made);
  return CST_OK;
}

static cst_status plan_param(cst__planning *p, const cst__statement *statement) {
  const cst__type_text *type = statement->type;
  const cst__expr *value = statement->value;
  const cst__known_field *field;
  bool is_list = type->num_children == 1 && strcmp(type->format, "+L") == 0;
  cst__parameter *param = &p->params[p->num_params];
  CST__TRY(cst__fields_find(p, p->record, statement->name, p->now, &field));
  for (size_t i = 0; i < p->num_params; i++) {
    if (strcmp(p->params[i].name, statement->name) == 0) {
      return cst__plan_refuse(p, statement->at, CST_SCHEMA, NULL, "duplicate parameter '%.80s'",
                              statement->name);
    }
  }
  if (field != NULL) {
    return cst__plan_refuse(p, statement->at, CST_SCHEMA, "give the parameter another name",
                            "a field is already named '%.80s'", statement->name);
  }
  CST__TRY(given_value(p, statement->name, &value));
  if (value == NULL) {
    return cst__plan_refuse(p, statement->at, CST_INVALID_ARGUMENT,
                            "give it one (--param NAME=VALUE, params=), or a default",
                            "the parameter '%.80s' has no value", statement->name);
  }
  param->name = statement->name;
  param->type.format = is_list ? type->children[0].format : type->format;
  CST__TRY(cst__plan_literal(p, value, &param->literal));
  cst_status status = check_value(p, param->literal, param->type, is_list);
  if (status != CST_OK) {
    cst__error_add_path(p->error, param->name, strlen(param->name));
    return cst__plan_refused(p, statement->at, status);
  }
  p->num_params++;
  return CST_OK;
}

/* Values that were given for nothing. */
static cst_status check_given(cst__planning *p) {
  const cst__name_list names = {p->params, p->num_params, nth_param_name};
  for (size_t i = 0; i < p->options->num_params; i++) {
    const char *name = p->options->params[i].name;
    size_t at = 0;
    while (at < p->num_params && strcmp(p->params[at].name, name) != 0) {
      at++;
    }
    for (size_t k = 0; k < i; k++) {
      if (strcmp(p->options->params[k].name, name) == 0) {
        return cst__fail(p->error, CST_INVALID_ARGUMENT, NULL,
                         "the parameter '%.80s' is given two values", name);
      }
    }
    if (at == p->num_params) {
      return cst__fail_unknown(p->error, CST_NOT_FOUND, "the query has no such parameter", name,
                               &names);
    }
  }
  return CST_OK;
}

/* ---- names of fields ---- */

/* The structs that a path leads to, all but its last step. */
static cst_status find_above(cst__planning *p, const cst__expr *path, cst__fields **out) {
  cst__item item;
  *out = p->record;
  if (path->kind == CST__EXPR_NAME ||
      (path->kind == CST__EXPR_STEP && path->args[0]->kind == CST__EXPR_RECORD)) {
    return CST_OK;
  }
  if (path->kind != CST__EXPR_STEP) {
    return cst__plan_refuse(p, path->at, CST_SCHEMA, NULL, "expected the path of a field");
  }
  const cst__scope scope = {.wanted = p->records};
  CST__TRY(cst__plan_expression(p, path->args[0], &scope, &item));
  if (item.fields == NULL) {
    return cst__plan_refuse(p, path->args[0]->at, CST_SCHEMA, NULL,
                            "found %s, expected structs that have fields",
                            cst__item_type_name(&item));
  }
  *out = item.fields;
  return CST_OK;
}

static cst_status check_free(cst__planning *p, const cst__fields *fields, const char *name,
                             cst__text_at at) {
  const cst__known_field *entry;
  CST__TRY(cst__fields_find(p, fields, name, p->now, &entry));
  bool is_param = false;
  for (size_t i = 0; fields == p->record && i < p->num_params; i++) {
    is_param = is_param || strcmp(p->params[i].name, name) == 0;
  }
  return entry == NULL && !is_param
             ? CST_OK
             : cst__plan_refuse(p, at, CST_SCHEMA,
                                is_param ? "choose another name"
                                         : "choose another name, or drop the field first",
                                "a %s is already named '%.80s'", is_param ? "parameter" : "field",
                                name);
}

/* True if lists are those of a field that structs have in the input, or that those have which they
 * were made of. */
static bool are_of_structs(const cst__query_plan *plan, const cst__fields *structs,
                           const cst__step *lists) {
  for (; structs->base != NULL; structs = structs->base) {
    if (structs->index == CST__NO_STEP) {
      continue;
    }
    if (lists->kind != CST__STEP_CHOOSE_LISTS || lists->args[1] != structs->index) {
      return false;
    }
    lists = &plan->steps[lists->args[2]];
  }
  if (structs->below == NULL || lists->kind != CST__STEP_LIST) {
    return false;
  }
  uint32_t node = lists->node;
  while (node != 0 && node != structs->node) {
    node = plan->nodes[node].parent;
  }
  return node == structs->node;
}

/* True if the lists of an item are null where the structs are: those of a field that the structs
 * have, or that has been hidden. They stay the same lists, so that what is beside it stays beside
 * it. */
static bool are_hidden(const cst__planning *p, const cst__fields *above, const cst__item *item,
                       uint32_t kept) {
  const cst__item_place *lists = item->place;
  if (cst__plan_place_same(lists, above->place)) {
    return false;
  }
  while (!cst__plan_place_same(lists->parent, above->place)) {
    lists = lists->parent;
  }
  const cst__step *made = &p->plan->steps[lists->lists];
  return (made->kind == CST__STEP_CHOOSE_LISTS && made->args[1] == kept) ||
         are_of_structs(p->plan, above, made);
}

/* A field of a null struct is null, and a list of it no longer the list that it was. */
static cst_status hide_in_null_structs(cst__planning *p, const cst__fields *above,
                                       cst__item *item) {
  if (above->valid == CST__NO_STEP) {
    return CST_OK;
  }
  const cst__step_args args = {above->place->lists, above->valid, CST__NO_STEP};
  cst__item_way way = {.from = above->place, .to = above->place};
  CST__TRY(cst__plan_step(p, CST__STEP_KEPT, args, &way.index));
  return are_hidden(p, above, item, way.index) ? CST_OK : cst__item_move(p, item, &way, item);
}

static cst_status plan_let(cst__planning *p, const cst__statement *statement) {
  cst__fields *above;
  cst__item item;
  cst__item standing;
  const char *name = statement->path->name;
  CST__TRY(find_above(p, statement->path, &above));
  CST__TRY(check_free(p, above, name, statement->path->at));
  const cst__scope scope = {.wanted = above->place};
  CST__TRY(cst__plan_expression(p, statement->value, &scope, &item));
  p->at = statement->value->at;
  CST__TRY(cst__item_stand_at(p, &item, above->place, &standing));
  CST__TRY(cst__item_settle(p, above->place, &standing));
  CST__TRY(hide_in_null_structs(p, above, &standing));
  return cst__fields_add(p, above, name, &standing);
}

/* What a statement has found is let go: it counts no longer. */
static void forget_entry(const cst__planning *p, const cst__known_field *entry) {
  ((cst__known_field *)(uintptr_t)entry)->until = p->now;
}

static cst_status drop_pattern(cst__planning *p, const cst__expr *pattern) {
  cst__fields *above;
  const cst__known_field *entry;
  const cst__known_field *const *entries;
  size_t count;
  CST__TRY(find_above(p, pattern, &above));
  if (strcmp(pattern->name, "*") != 0 && strcmp(pattern->name, "**") != 0) {
    CST__TRY(cst__fields_find(p, above, pattern->name, p->now, &entry));
    if (entry == NULL) {
      return cst__fields_fail(p, above, pattern->name, pattern->at);
    }
    forget_entry(p, entry);
    return CST_OK;
  }
  CST__TRY(cst__fields_list(p, above, p->now, &entries, &count));
  for (size_t i = 0; i < count; i++) {
    if (pattern->name[1] != '\0' || entries[i]->item.fields == NULL) {
      forget_entry(p, entries[i]);
    }
  }
  return CST_OK;
}

static cst_status plan_drop(cst__planning *p, const cst__statement *statement) {
  for (size_t i = 0; i < statement->num_patterns; i++) {
    CST__TRY(drop_pattern(p, statement->patterns[i]));
  }
  return CST_OK;
}

static cst_status plan_rename(cst__planning *p, const cst__statement *statement) {
  cst__fields *above;
  const cst__known_field *entry;
  CST__TRY(find_above(p, statement->path, &above));
  CST__TRY(cst__fields_find(p, above, statement->path->name, p->now, &entry));
  if (entry == NULL) {
    return cst__fields_fail(p, above, statement->path->name, statement->path->at);
  }
  CST__TRY(check_free(p, above, statement->name, statement->at));
  cst__item item = entry->item;
  forget_entry(p, entry);
  return cst__fields_add(p, above, statement->name, &item);
}

/* ---- rows ---- */

static cst_status note_origin(cst__planning *p, const cst__item_place *lists) {
  cst__query_plan *plan = p->plan;
  uint32_t up;
  const cst__step_args args = {lists->lists, CST__NO_STEP, CST__NO_STEP};
  CST__TRY(cst__plan_step(p, CST__STEP_PARENTS, args, &up));
  if (plan->origin != CST__NO_STEP) {
    const cst__step_args both = {up, plan->origin, CST__NO_STEP};
    CST__TRY(cst__plan_step(p, CST__STEP_COMPOSE, both, &up));
  }
  plan->origin = up;
  plan->records = lists->lists;
  return CST_OK;
}

static cst_status plan_rows(cst__planning *p, const cst__statement *statement) {
  cst__item item;
  const cst__item_place *lists;
  const cst__scope scope = {.wanted = p->records};
  CST__TRY(cst__plan_expression(p, statement->path, &scope, &item));
  if (p->num_columns > 0) {
    return cst__plan_refuse(p, statement->at, CST_SCHEMA, "put `rows` before output and keep",
                            "`rows` comes after an output of the rows before");
  }
  if (item.fields == NULL || item.place->parent == NULL) {
    return cst__plan_refuse(
        p, statement->path->at, CST_SCHEMA, NULL, "found %s%s, expected a list of structs",
        item.fields != NULL ? "one for each record: " : "", cst__item_type_name(&item));
  }
  CST__TRY(cst__plan_place_join(p, p->records, item.place, &lists));
  CST__TRY(note_origin(p, lists));
  cst__item_place *records = cst__plan_take(p, sizeof *records);
  if (records == NULL) {
    return CST_NO_MEMORY;
  }
  *records = (cst__item_place){.lists = lists->lists, .elements = lists->elements};
  const cst__item_way way = {.from = item.place, .to = records, .index = CST__NO_STEP};
  CST__TRY(cst__fields_move(p, item.fields, &way, &p->record));
  p->record->valid = CST__NO_STEP;
  p->records = records;
  return CST_OK;
}

/* ---- all of them ---- */

static cst_status plan_keep_patterns(cst__planning *p, const cst__statement *statement) {
  const cst__pattern_list patterns = {
      .items = statement->patterns, .count = statement->num_patterns, .depth = statement->depth};
  cst__fields *chosen;
  CST__TRY(cst__fields_choose(p, p->record, &patterns, &chosen));
  return cst__plan_keep_fields(p, chosen);
}

static cst_status plan_from(const cst__planning *p, const cst__statement *statement) {
  return p->now == 1
             ? CST_OK
             : cst__plan_refuse(p, statement->at, CST_SCHEMA, "a query begins with its only `from`",
                                "`from` must be the first statement");
}

static cst_status plan_statement(cst__planning *p, const cst__statement *statement) {
  p->at = statement->at;
  p->label = statement->name;
  switch (statement->kind) {
    case CST__STATEMENT_FROM:
      return plan_from(p, statement);
    case CST__STATEMENT_PARAM:
      return plan_param(p, statement);
    case CST__STATEMENT_LET:
      p->label = statement->path->name;
      return plan_let(p, statement);
    case CST__STATEMENT_ROWS:
      p->label = statement->path->name;
      return plan_rows(p, statement);
    case CST__STATEMENT_KEEP:
      return plan_keep_patterns(p, statement);
    case CST__STATEMENT_DROP:
      return plan_drop(p, statement);
    case CST__STATEMENT_RENAME:
      return plan_rename(p, statement);
    case CST__STATEMENT_OUTPUT:
      break;
  }
  return cst__plan_output(p, statement);
}

cst_status cst__plan_statements(cst__planning *p) {
  const cst_query *query = p->options->query;
  p->params = cst__plan_take(p, (query->num_statements + 1) * sizeof *p->params);
  if (p->params == NULL) {
    return CST_NO_MEMORY;
  }
  bool keeps = false; /* also if what it names is nothing */
  for (size_t i = 0; i < query->num_statements; i++) {
    p->now++;
    keeps = keeps || query->statements[i].kind == CST__STATEMENT_KEEP;
    CST__TRY(plan_statement(p, &query->statements[i]));
  }
  CST__TRY(check_given(p));
  if (keeps || p->num_columns > 0) {
    return CST_OK;
  }
  p->now++;
  return cst__plan_keep_fields(p, p->record);
}
