/* Functions of values: their arguments brought to one place, cast to the types that they need, and
 * aggregates over the lists below where they are wanted. */
#include <string.h>

#include "base/names.h"
#include "query/plan/planning.h"
#include "query/query.h"

/* ---- elementwise ---- */

/* Puts a conversion before a value, or makes a literal of the wanted type. */
static cst_status cast_argument(cst__planning *p, const cst__planned_call *call, size_t i,
                                cst__value_type type, uint32_t *out) {
  cst__item *item = &call->args[i];
  if (item->place == NULL) {
    cst__value_type own = type.format != NULL ? type : item->type;
    return cst__item_literal(p, item->literal, own, out);
  }
  *out = item->values;
  if (type.format == NULL || strcmp(type.format, item->type.format) == 0) {
    return CST_OK;
  }
  cst__step step = {.kind = CST__STEP_CALL,
                    .num_args = 2,
                    .args = {call->place->lists, item->values},
                    .function = &cst__function_convert,
                    .type = type,
                    .at = call->at,
                    .parent = CST__NO_STEP,
                    .node = CST__NO_STEP};
  return cst__plan_add_step(p, &step, out);
}

static cst_status refuse_number(cst__planning *p, cst__text_at at, const cst__function *function,
                                size_t found) {
  if (function->min_args == function->max_args) {
    return cst__plan_refuse(p, at, CST_SCHEMA, function->summary,
                            "%s has %zu arguments, expected %d", function->name, found,
                            function->min_args);
  }
  return cst__plan_refuse(p, at, CST_SCHEMA, function->summary,
                          "%s has %zu arguments, expected %d to %d", function->name, found,
                          function->min_args, function->max_args);
}

static cst_status check_arguments(cst__planning *p, const cst__planned_call *call,
                                  const cst__function *function) {
  if (call->num_args < function->min_args || call->num_args > function->max_args) {
    return refuse_number(p, call->at, function, call->num_args);
  }
  for (size_t i = 0; i < call->num_args; i++) {
    if (call->args[i].fields != NULL) {
      return cst__plan_refuse(p, call->at, CST_SCHEMA, function->summary,
                              "argument %zu of %s is structs, expected values", i + 1, call->name);
    }
  }
  return CST_OK;
}

/* True for a literal that takes the type of what it meets, or whose value has to be known. */
static bool is_untyped(const cst__function *function, const cst__item *item) {
  bool is_value =
      function->kind == CST__FUNCTION_ELEMENTWISE && strcmp(function->name, "hash") != 0;
  return item->place == NULL && !(item->is_param && is_value);
}

static cst_status find_call_types(cst__planning *p, const cst__planned_call *call,
                                  const cst__function *function, cst__signature *out) {
  cst__argument_type types[CST__FUNCTION_ARGS];
  for (size_t i = 0; i < call->num_args; i++) {
    const cst__item *item = &call->args[i];
    types[i] = (cst__argument_type){
        .type = item->type, .is_literal = is_untyped(function, item), .literal = item->literal};
  }
  *out = (cst__signature){.result = {NULL}};
  return cst__plan_refused(p, call->at,
                           function->type(function, types, call->num_args, out, p->error));
}

static bool is_nullable_call(const cst__planned_call *call) {
  bool is = strcmp(call->name, "is_null") != 0 && strcmp(call->name, "has") != 0 &&
            strcmp(call->name, "count") != 0;
  if (strcmp(call->name, "fill_null") == 0 || strcmp(call->name, "coalesce") == 0) {
    return call->args[1].is_nullable;
  }
  bool any = false;
  size_t first = strcmp(call->name, "if") == 0 ? 1 : 0; /* a condition that is null is not true */
  for (size_t i = first; i < call->num_args; i++) {
    any = any || call->args[i].is_nullable;
  }
  return is && any;
}

/* A call of values at one place, or of literals alone (place NULL). */
cst_status cst__plan_call_function(cst__planning *p, const cst__planned_call *call,
                                   cst__item *out) {
  const cst__function *function = cst__function_find(call->name);
  cst__signature signature;
  const cst__item_place *place = call->place != NULL ? call->place : p->records;
  cst__planned_call own = *call;
  own.place = place;
  CST__TRY(check_arguments(p, call, function));
  CST__TRY(find_call_types(p, call, function, &signature));
  cst__step step = {.kind = CST__STEP_CALL,
                    .num_args = (uint8_t)(call->num_args + 1),
                    .args = {place->lists},
                    .function = function,
                    .type = signature.result,
                    .at = call->at,
                    .parent = CST__NO_STEP,
                    .node = CST__NO_STEP};
  for (size_t i = 0; i < call->num_args; i++) {
    CST__TRY(cst__plan_refused(p, call->at,
                               cast_argument(p, &own, i, signature.casts[i], &step.args[i + 1])));
  }
  *out =
      (cst__item){.place = place, .type = signature.result, .is_nullable = is_nullable_call(call)};
  if (function->kind != CST__FUNCTION_EXPAND) {
    return cst__plan_add_step(p, &step, &out->values);
  }
  step.kind = CST__STEP_EXPAND;
  CST__TRY(cst__plan_place_step(p, &step, place, &out->place));
  out->values = out->place->lists;
  return CST_OK;
}

/* The deepest of the arguments' places; NULL: they are all literals. */
static cst_status meet(cst__planning *p, const cst__expr *call, const cst__item *items,
                       const cst__item_place **out) {
  const cst__item_place *place = NULL;
  for (size_t i = 0; i < call->num_args; i++) {
    const cst__item_place *at = items[i].place;
    if (at == NULL || (place != NULL && cst__plan_place_holds(at, place))) {
      continue;
    }
    if (place != NULL && !cst__plan_place_holds(place, at)) {
      return cst__plan_refuse(p, call->args[i]->at, CST_SCHEMA,
                              "zip lists of equal length, or move one into the list of the other",
                              "the arguments of %s are in different lists", call->name);
    }
    place = at;
  }
  *out = place;
  return CST_OK;
}

static cst_status plan_items(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                             cst__item *items) {
  if (cst__plan_positional(call) != call->num_args) {
    return cst__plan_refuse(p, call->at, CST_SCHEMA, NULL, "%s takes no named arguments",
                            call->name);
  }
  for (size_t i = 0; i < call->num_args; i++) {
    CST__TRY(cst__plan_expression(p, call->args[i], scope, &items[i]));
  }
  p->at = call->at;
  return CST_OK;
}

static cst_status plan_elementwise(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                                   const cst__function *function, cst__item *out) {
  cst__item items[CST__FUNCTION_ARGS] = {{0}};
  cst__planned_call made = {
      .name = call->name, .args = items, .num_args = call->num_args, .at = call->at};
  if (call->num_args > CST__FUNCTION_ARGS) {
    return check_arguments(p, &made, function);
  }
  CST__TRY(plan_items(p, call, scope, items));
  CST__TRY(meet(p, call, items, &made.place));
  for (size_t i = 0; i < call->num_args && made.place != NULL; i++) {
    CST__TRY(cst__item_spread(p, &items[i], made.place, &items[i]));
  }
  return cst__plan_call_function(p, &made, out);
}

/* The first that is not null: of the last two, then of the one before and this, and so on. */
static cst_status plan_coalesce(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                                const cst__function *function, cst__item *out) {
  const cst__item_place *place = NULL;
  cst__item *items = cst__plan_take(p, (call->num_args + 1) * sizeof *items);
  if (items == NULL) {
    return CST_NO_MEMORY;
  }
  if (call->num_args < 2) {
    return refuse_number(p, call->at, function, call->num_args);
  }
  CST__TRY(plan_items(p, call, scope, items));
  CST__TRY(meet(p, call, items, &place));
  place = place != NULL ? place : p->records;
  for (size_t i = 0; i < call->num_args; i++) {
    CST__TRY(cst__item_spread(p, &items[i], place, &items[i]));
  }
  for (size_t i = call->num_args - 1; i > 0; i--) {
    const cst__planned_call made = {
        .name = call->name, .place = place, .args = &items[i - 1], .num_args = 2, .at = call->at};
    CST__TRY(cst__plan_call_function(p, &made, &items[i - 1]));
  }
  *out = items[0];
  return CST_OK;
}

/* ---- tests for null ---- */

/* has(x) and is_null(x) at the place where they are wanted, of structs too. */
static cst_status plan_presence(cst__planning *p, const cst__item *item, bool is_null,
                                cst__item *out) {
  uint32_t valid;
  CST__TRY(cst__item_valid(p, item, &valid));
  static const cst__literal bools[] = {{.kind = CST__LITERAL_BOOL},
                                       {.kind = CST__LITERAL_BOOL, .integer = 1}};
  cst__item args[2] = {
      {.place = item->place, .values = valid, .type = {"b"}},
      {.literal = &bools[valid == CST__NO_STEP], .type = {"b"}, .values = CST__NO_STEP}};
  if (valid == CST__NO_STEP) { /* all are there */
    *out = args[1];
    CST__TRY(cst__item_settle(p, item->place, out));
  } else {
    const cst__planned_call fill = {
        .name = "fill_null", .place = item->place, .args = args, .num_args = 2, .at = p->at};
    CST__TRY(cst__plan_call_function(p, &fill, out));
  }
  if (is_null) {
    cst__item was = *out;
    const cst__planned_call not = {
        .name = "not", .place = item->place, .args = &was, .num_args = 1, .at = p->at};
    CST__TRY(cst__plan_call_function(p, &not, out));
  }
  out->is_nullable = false;
  return CST_OK;
}

static cst_status plan_null_test(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                                 cst__item *out) {
  cst__item item;
  if (call->num_args != 1) {
    return cst__plan_refuse(p, call->at, CST_SCHEMA, NULL, "%s takes one argument", call->name);
  }
  CST__TRY(plan_items(p, call, scope, &item));
  if (item.fields != NULL) {
    return plan_presence(p, &item, true, out);
  }
  const cst__planned_call made = {
      .name = "is_null", .place = item.place, .args = &item, .num_args = 1, .at = call->at};
  return cst__plan_call_function(p, &made, out);
}

/* ---- aggregates ---- */

/* How many elements each list has. */
static cst_status plan_size(cst__planning *p, const cst__item_place *lists, cst__item *out) {
  const cst__step step = {.kind = CST__STEP_SIZE,
                          .num_args = 1,
                          .args = {lists->lists},
                          .type = {"l"},
                          .parent = CST__NO_STEP,
                          .node = CST__NO_STEP};
  *out = (cst__item){.place = lists->parent, .type = {"l"}, .is_nullable = true};
  return cst__plan_add_step(p, &step, &out->values);
}

/* `made` with zero for null: of count, or compared with it for has. */
static cst_status plan_zero(cst__planning *p, cst__text_at at, cst__item *made, bool is_has) {
  static const cst__literal zero = {.kind = CST__LITERAL_INT};
  cst__item args[2] = {*made, {.literal = &zero, .type = {"l"}, .values = CST__NO_STEP}};
  cst__planned_call call = {
      .name = "fill_null", .place = made->place, .args = args, .num_args = 2, .at = at};
  CST__TRY(cst__plan_call_function(p, &call, made));
  if (is_has) {
    args[0] = *made;
    call.name = "gt";
    CST__TRY(cst__plan_call_function(p, &call, made));
  }
  made->is_nullable = false;
  return CST_OK;
}

/* count(x) of structs: of bools that are null where a struct is. */
static cst_status countable(cst__planning *p, const cst__item *item, uint32_t *out) {
  const cst__step step = {.kind = CST__STEP_MASK,
                          .num_args = 2,
                          .args = {item->fields->valid, item->fields->valid},
                          .type = {"b"},
                          .parent = CST__NO_STEP,
                          .node = CST__NO_STEP};
  return cst__plan_add_step(p, &step, out);
}

/* A call of an aggregate, or of a function of the elements of a list. */
typedef struct aggregate {
  const cst__expr *call;
  const cst__function *function;
  cst__item item;               /* what is aggregated */
  const cst__item_place *lists; /* joined, below the place of the result */
  const cst__literal *literals[CST__FUNCTION_ARGS];
  size_t num_args;
  bool flag;
} aggregate;

static cst_status aggregate_values(cst__planning *p, aggregate *a, cst__item *out) {
  bool is_listwise = a->function->kind == CST__FUNCTION_LISTWISE;
  cst__argument_type types[CST__FUNCTION_ARGS] = {{{NULL}, false, NULL}};
  cst__signature signature = {.result = {NULL}};
  types[0].type = a->item.type;
  for (size_t i = 1; i < a->num_args; i++) {
    types[i] = (cst__argument_type){
        .type = cst__literal_type(a->literals[i]), .is_literal = true, .literal = a->literals[i]};
  }
  CST__TRY(cst__plan_refused(
      p, a->call->at, a->function->type(a->function, types, a->num_args, &signature, p->error)));
  const cst__planned_call cast = {
      .place = a->item.place, .args = &a->item, .num_args = 1, .at = a->call->at};
  cst__step step = {.kind = is_listwise ? CST__STEP_LISTWISE : CST__STEP_AGGREGATE,
                    .num_args = (uint8_t)(a->num_args + 1),
                    .flag = a->flag,
                    .args = {a->lists->lists},
                    .function = a->function,
                    .type = signature.result,
                    .at = a->call->at,
                    .parent = CST__NO_STEP,
                    .node = CST__NO_STEP};
  CST__TRY(cast_argument(p, &cast, 0, signature.casts[0], &step.args[1]));
  for (size_t i = 1; i < a->num_args; i++) {
    cst__value_type type = signature.casts[i].format != NULL ? signature.casts[i] : types[i].type;
    CST__TRY(cst__item_literal(p, a->literals[i], type, &step.args[i + 1]));
  }
  *out = (cst__item){.place = is_listwise ? a->lists : a->lists->parent,
                     .type = signature.result,
                     .is_nullable = !is_listwise || a->item.is_nullable};
  return cst__plan_add_step(p, &step, &out->values);
}

static bool is_call_of(const cst__expr *call, const char *name) {
  return strcmp(call->name, name) == 0;
}

static cst_status refuse_structs(cst__planning *p, const aggregate *a) {
  return cst__plan_refuse(p, a->call->at, CST_SCHEMA, a->function->summary,
                          "%s needs values, found structs", a->call->name);
}

/* The first or the last struct of each list. */
static cst_status aggregate_structs(cst__planning *p, const aggregate *a, cst__item *out) {
  static const cst__literal ends[] = {{.kind = CST__LITERAL_INT},
                                      {.kind = CST__LITERAL_INT, .integer = -1}};
  uint32_t end;
  cst__item_way way = {.from = a->item.place, .to = a->lists->parent};
  CST__TRY(cst__item_literal(p, &ends[is_call_of(a->call, "last")], (cst__value_type){"l"}, &end));
  const cst__step_args args = {a->lists->lists, end, CST__NO_STEP};
  CST__TRY(cst__plan_step(p, CST__STEP_AT, args, &way.index));
  CST__TRY(cst__item_move(p, &a->item, &way, out));
  out->is_map = false;
  return CST_OK;
}

static cst_status aggregate_lists(cst__planning *p, aggregate *a, cst__item *out) {
  bool is_has = is_call_of(a->call, "has");
  bool is_count = is_call_of(a->call, "count");
  bool all_count = is_count && a->item.fields != NULL && a->item.fields->valid == CST__NO_STEP;
  if (is_call_of(a->call, "size") || is_has || all_count) {
    CST__TRY(plan_size(p, a->lists, out));
    return is_has || all_count ? plan_zero(p, a->call->at, out, is_has) : CST_OK;
  }
  if (a->item.fields != NULL && (is_call_of(a->call, "first") || is_call_of(a->call, "last"))) {
    return aggregate_structs(p, a, out);
  }
  if (a->item.fields != NULL && !is_count) {
    return refuse_structs(p, a);
  }
  if (a->item.fields != NULL) {
    CST__TRY(countable(p, &a->item, &a->item.values));
    a->item.fields = NULL;
    a->item.type = (cst__value_type){"b"};
  }
  CST__TRY(aggregate_values(p, a, out));
  return is_count ? plan_zero(p, a->call->at, out, false) : CST_OK;
}

/* One value where one is wanted: only whether it is there can be asked. */
static cst_status aggregate_one(cst__planning *p, const aggregate *a, cst__item *out) {
  bool is_count = is_call_of(a->call, "count");
  if (!is_count && !is_call_of(a->call, "has")) {
    return cst__plan_refuse(p, a->call->at, CST_SCHEMA,
                            "name the lists: per=record, or per= the path of a list",
                            "%s needs a list, found one value at this level", a->call->name);
  }
  CST__TRY(plan_presence(p, &a->item, false, out));
  return is_count ? cst__item_to_int64(p, a->call->at, out) : CST_OK;
}

static cst_status aggregate_arguments(cst__planning *p, aggregate *a, const cst__scope *scope) {
  a->num_args = cst__plan_positional(a->call);
  if (a->num_args < a->function->min_args || a->num_args > a->function->max_args) {
    return refuse_number(p, a->call->at, a->function, a->num_args);
  }
  for (size_t i = a->num_args; i < a->call->num_args; i++) {
    if (a->call->keys[i] == NULL || strcmp(a->call->keys[i], "per") != 0) {
      return cst__plan_refuse(p, a->call->args[i]->at, CST_SCHEMA, a->function->summary,
                              "%s has an argument other than per", a->call->name);
    }
  }
  for (size_t i = 1; i < a->num_args; i++) {
    CST__TRY(cst__plan_literal(p, a->call->args[i], &a->literals[i]));
  }
  return cst__plan_expression(p, a->call->args[0], scope, &a->item);
}

static cst_status plan_aggregate(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                                 const cst__function *function, cst__item *out) {
  aggregate a = {.call = call, .function = function};
  const cst__item_place *wanted = scope->wanted;
  const cst__expr *per = cst__plan_keyword(call, "per");
  CST__TRY(aggregate_arguments(p, &a, scope));
  if (per != NULL) {
    CST__TRY(cst__plan_path_place(p, per, scope, &wanted));
  }
  p->at = call->at;
  if (a.item.place == NULL) {
    return cst__plan_refuse(p, call->at, CST_SCHEMA, NULL,
                            "%s cannot be applied to a value that is the same for all records",
                            call->name);
  }
  const cst__item_place *common = cst__plan_place_common(wanted, a.item.place);
  if (cst__plan_place_same(common, a.item.place)) {
    return aggregate_one(p, &a, out);
  }
  CST__TRY(cst__plan_place_join(p, common, a.item.place, &a.lists));
  return aggregate_lists(p, &a, out);
}

/* ---- functions of the elements of a list ---- */

static cst_status plan_listwise(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                                const cst__function *function, cst__item *out) {
  aggregate a = {.call = call, .function = function, .num_args = 1};
  for (size_t i = 1; i < call->num_args; i++) {
    const char *key = call->keys != NULL ? call->keys[i] : NULL;
    if (key == NULL || function->option == NULL || strcmp(key, function->option) != 0) {
      return cst__plan_refuse(p, call->args[i]->at, CST_SCHEMA, function->summary,
                              "%s takes one list%s%s", call->name,
                              function->option != NULL ? ", and " : "",
                              function->option != NULL ? function->option : "");
    }
  }
  CST__TRY(cst__plan_list(p, call, scope, &a.item));
  if (function->option != NULL) {
    CST__TRY(cst__plan_flag(p, call, function->option, &a.flag));
  }
  a.lists = a.item.place;
  return a.item.fields != NULL ? refuse_structs(p, &a) : aggregate_values(p, &a, out);
}

/* ---- functions of the caller's ---- */

static cst_status plan_caller(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                              const cst__caller_function *caller, cst__item *out) {
  const cst_query_function *function = &caller->function;
  cst__item items[CST__STEP_ARGS] = {{0}};
  const cst__item_place *place = NULL;
  if (call->num_args != function->num_args || call->num_args >= CST__STEP_ARGS) {
    return cst__plan_refuse(p, call->at, CST_SCHEMA, NULL,
                            "%.60s has %zu arguments, expected %zu (at most %d)", call->name,
                            call->num_args, function->num_args, CST__STEP_ARGS - 1);
  }
  CST__TRY(plan_items(p, call, scope, items));
  CST__TRY(meet(p, call, items, &place));
  place = place != NULL ? place : p->records;
  cst__step step = {.kind = CST__STEP_CALLER,
                    .num_args = (uint8_t)(call->num_args + 1),
                    .args = {place->lists},
                    .caller = function,
                    .type = {caller->format},
                    .at = call->at,
                    .parent = CST__NO_STEP,
                    .node = CST__NO_STEP};
  for (size_t i = 0; i < call->num_args; i++) {
    if (items[i].fields != NULL) {
      return cst__plan_refuse(p, call->args[i]->at, CST_SCHEMA, NULL,
                              "found structs, expected values");
    }
    CST__TRY(cst__item_spread(p, &items[i], place, &items[i]));
    step.args[i + 1] = items[i].values;
    if (items[i].place == NULL) {
      CST__TRY(cst__item_literal(p, items[i].literal, items[i].type, &step.args[i + 1]));
    }
  }
  *out = (cst__item){.place = place, .type = step.type, .is_nullable = true};
  return cst__plan_add_step(p, &step, &out->values);
}

/* ---- all of them ---- */

/* Functions that are called by their names; operators are not. */
static bool is_called(const cst__function *function) {
  size_t size = strlen(function->name);
  return strncmp(function->summary, function->name, size) == 0 && function->summary[size] == '(';
}

static cst_status fail_function(cst__planning *p, const cst__expr *call) {
  enum { MOST = 200 };
  static const char *const of_outputs[] = {"dense", "sparse", "ragged", "struct"};
  const char *names[MOST];
  const cst_query *query = p->options->query;
  const cst__function *function;
  size_t count = 0;
  for (size_t i = 0; i < sizeof of_outputs / sizeof of_outputs[0]; i++) {
    names[count++] = of_outputs[i];
    if (strcmp(of_outputs[i], call->name) == 0) {
      return cst__plan_refuse(
          p, call->at, CST_SCHEMA, "write output NAME = dense(...)",
          "%s(...) defines the tensor of an output and must be its whole expression", call->name);
    }
  }
  for (size_t i = 0; (function = cst__function_at(i)) != NULL && count < MOST; i++) {
    names[count] = function->name;
    count += is_called(function);
  }
  for (size_t i = 0; cst__plan_structural_name(i) != NULL && count < MOST; i++) {
    names[count++] = cst__plan_structural_name(i);
  }
  for (size_t i = 0; i < query->num_functions && count < MOST; i++) {
    names[count++] = query->functions[i]->function.name;
  }
  const cst__name_list list = cst__name_list_of(names, count);
  return cst__plan_refused(
      p, call->at,
      cst__fail_unknown(p->error, CST_NOT_FOUND, "unknown function", call->name, &list));
}

cst_status cst__plan_function(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                              cst__item *out) {
  const cst__caller_function *caller = cst__query_find_function(p->options->query, call->name);
  const cst__function *function = cst__function_find(call->name);
  if (caller != NULL) {
    return plan_caller(p, call, scope, caller, out);
  }
  if (function == NULL) {
    return fail_function(p, call);
  }
  if (strcmp(call->name, "is_null") == 0) {
    return plan_null_test(p, call, scope, out);
  }
  if (strcmp(call->name, "coalesce") == 0) {
    return plan_coalesce(p, call, scope, function, out);
  }
  switch (function->kind) {
    case CST__FUNCTION_AGGREGATE:
      return plan_aggregate(p, call, scope, function, out);
    case CST__FUNCTION_LISTWISE:
      return plan_listwise(p, call, scope, function, out);
    default:
      return plan_elementwise(p, call, scope, function, out);
  }
}
