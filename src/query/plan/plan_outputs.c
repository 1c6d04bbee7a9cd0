/* Outputs: which items go out, under which names, and what the kinds of tensors ask of them. */
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "query/functions/value_type.h"
#include "query/plan/planning.h"

/* ---- noting them ---- */

static cst_status add_column(cst__planning *p, const cst__planned_output *column) {
  size_t size = strlen(column->name);
  if (cst__name_map_find_of(&p->entries, &p->columns, column->name, size) != SIZE_MAX) {
    return cst__plan_refuse(p, column->at, CST_SCHEMA, "choose another name",
                            "duplicate output '%.80s'", column->name);
  }
  if (!cst__name_map_add_of(&p->entries, &p->columns, column->name, size, p->num_columns)) {
    return cst__fail_memory(p->error, size);
  }
  if (p->num_columns == p->column_capacity) {
    size_t capacity = p->column_capacity == 0 ? 16 : 2 * p->column_capacity;
    cst__planned_output *columns = cst__plan_take(p, capacity * sizeof *columns);
    if (columns == NULL) {
      return CST_NO_MEMORY;
    }
    if (p->num_columns > 0) {
      memcpy(columns, p->columns, p->num_columns * sizeof *columns);
    }
    p->columns = columns;
    p->column_capacity = capacity;
  }
  cst__planned_output *added = &p->columns[p->num_columns++];
  const cst__item_place *place = column->item.place;
  const cst__item_way same = {.from = place, .to = place, .index = CST__NO_STEP};
  *added = *column;
  /* Structs go out as they are now, whatever is added or dropped later. */
  return column->item.fields != NULL
             ? cst__fields_move(p, column->item.fields, &same, &added->item.fields)
             : CST_OK;
}

cst_status cst__plan_keep_fields(cst__planning *p, const cst__fields *fields) {
  const cst__known_field *const *entries;
  size_t count;
  CST__TRY(cst__fields_list(p, fields, p->now, &entries, &count));
  for (size_t i = 0; i < count; i++) {
    const cst__planned_output column = {
        .name = entries[i]->name, .item = entries[i]->item, .is_kept = true, .at = p->at};
    CST__TRY(add_column(p, &column));
  }
  return CST_OK;
}

/* ---- kinds ---- */

typedef struct output_maker {
  cst__planning *p;
  const cst__expr *call; /* dense(...), ...; NULL: none */
  cst__planned_output column;
} output_maker;

/* The lists that an item lies in: places, outermost first. */
static cst_status lists_of(cst__planning *p, const cst__item_place *place,
                           const cst__item_place ***out, size_t *count) {
  size_t num_lists = 0;
  for (const cst__item_place *at = place; at->parent != NULL; at = at->parent) {
    num_lists++;
  }
  *out = cst__plan_take(p, (num_lists + 1) * sizeof **out);
  if (*out == NULL) {
    return CST_NO_MEMORY;
  }
  *count = num_lists;
  for (const cst__item_place *at = place; at->parent != NULL; at = at->parent) {
    (*out)[--num_lists] = at;
  }
  return CST_OK;
}

/* Values without null: filled, if there is a default, else an error for the record. */
static cst_status complete(output_maker *m, cst__item *item) {
  const cst__expr *value = cst__plan_keyword(m->call, "default");
  cst__planning *p = m->p;
  if (value == NULL) {
    const cst__step step = {.kind = CST__STEP_REQUIRE,
                            .num_args = 2,
                            .args = {item->place->lists, item->values},
                            .type = item->type,
                            .parent = CST__NO_STEP,
                            .node = CST__NO_STEP};
    return item->is_nullable ? cst__plan_add_step(p, &step, &item->values) : CST_OK;
  }
  const cst__scope scope = {.wanted = p->records};
  cst__item args[2] = {*item};
  CST__TRY(cst__plan_expression(p, value, &scope, &args[1]));
  if (args[1].place != NULL || args[1].literal->kind == CST__LITERAL_NULL) {
    return cst__plan_refuse(p, value->at, CST_SCHEMA, NULL,
                            "found an expression, expected a value or a parameter");
  }
  CST__TRY(
      cst__plan_refused(p, value->at, cst__literal_exact(args[1].literal, item->type, p->error)));
  const cst__planned_call fill = {
      .name = "fill_null", .place = item->place, .args = args, .num_args = 2, .at = value->at};
  cst__item made;
  CST__TRY(cst__plan_call_function(p, &fill, &made));
  if (strcmp(cst__value_type_name(made.type), cst__value_type_name(item->type)) != 0) {
    return cst__plan_refuse(p, value->at, CST_SCHEMA, "cast the values first",
                            "the default is not a valid %s", cst__value_type_name(item->type));
  }
  *item = made;
  item->is_nullable = false;
  return CST_OK;
}

static cst_status dense_shape(output_maker *m, size_t num_lists) {
  const cst__expr *shape = cst__plan_keyword(m->call, "shape");
  cst__text_at at = shape != NULL ? shape->at : m->call->at;
  const cst__literal none = {.kind = CST__LITERAL_LIST};
  const cst__literal *given = &none;
  int64_t *dims = cst__plan_take(m->p, (num_lists + 1) * sizeof *dims);
  int64_t total = 1;
  if (dims == NULL) {
    return CST_NO_MEMORY;
  }
  if (shape != NULL) {
    CST__TRY(cst__plan_literal(m->p, shape, &given));
  }
  if (given->kind != CST__LITERAL_LIST || given->num_items != num_lists) {
    return cst__plan_refuse(m->p, at, CST_SCHEMA,
                            "shape=[...] has one number for each list that a value lies in",
                            "a shape of %zu dimensions, expected %zu", given->num_items, num_lists);
  }
  for (size_t i = 0; i < num_lists; i++) {
    const cst__literal *dim = &given->items[i];
    dims[i] = dim->kind == CST__LITERAL_INT ? dim->integer : 0;
    if (dims[i] < 1 || __builtin_mul_overflow(total, dims[i], &total) || total > INT32_MAX) {
      return cst__plan_refuse(m->p, at, CST_SCHEMA, NULL,
                              "a dimension is a number from 1 on, and a row has at most 2^31 - 1 "
                              "values");
    }
  }
  m->column.dims = dims;
  m->column.num_dims = num_lists;
  return CST_OK;
}

static cst_status make_dense(output_maker *m) {
  cst__planning *p = m->p;
  cst__item *item = &m->column.item;
  const cst__item_place **lists;
  size_t count;
  bool fills = cst__plan_keyword(m->call, "default") != NULL;
  CST__TRY(lists_of(p, item->place, &lists, &count));
  CST__TRY(dense_shape(m, count));
  if (count == 0) {
    return complete(m, item);
  }
  if (count >= CST__STEP_ARGS) {
    return cst__plan_refuse(p, m->call->at, CST_UNSUPPORTED, "use ragged",
                            "a dense output of more than %d dimensions", CST__STEP_ARGS - 1);
  }
  if (!fills) {
    CST__TRY(complete(m, item));
  }
  cst__step pad = {.kind = CST__STEP_PAD,
                   .num_args = (uint8_t)(count + 1),
                   .flag = fills,
                   .args = {p->records->lists},
                   .dims = m->column.dims,
                   .num_dims = count,
                   .at = m->call->at,
                   .parent = CST__NO_STEP,
                   .node = CST__NO_STEP};
  cst__step take = {.kind = CST__STEP_TAKE,
                    .num_args = 2,
                    .args = {item->values},
                    .type = item->type,
                    .parent = CST__NO_STEP,
                    .node = CST__NO_STEP};
  for (size_t i = 0; i < count; i++) {
    pad.args[i + 1] = lists[i]->lists;
  }
  CST__TRY(cst__plan_add_step(p, &pad, &take.args[1]));
  CST__TRY(cst__plan_add_step(p, &take, &item->values));
  /* As many values as the places of all records: a place of their own. */
  cst__item_place *places = cst__plan_take(p, sizeof *places);
  if (places == NULL) {
    return CST_NO_MEMORY;
  }
  *places = (cst__item_place){.lists = take.args[1], .elements = take.args[1]};
  item->place = places;
  return fills ? complete(m, item) : CST_OK;
}

static cst_status make_ragged(output_maker *m) {
  const cst__expr *splits = cst__plan_keyword(m->call, "row_splits");
  const char *name = splits == NULL ? "int64" : splits->name != NULL ? splits->name : "";
  m->column.row_splits = strcmp(name, "int32") == 0 ? CST_DTYPE_INT32 : CST_DTYPE_INT64;
  if (m->column.row_splits == CST_DTYPE_INT64 && strcmp(name, "int64") != 0) {
    return cst__plan_refuse(m->p, splits->at, CST_SCHEMA, NULL, "row_splits is int32 or int64");
  }
  if (m->column.item.place->parent == NULL) {
    return cst__plan_refuse(m->p, m->call->at, CST_SCHEMA, "use dense(...) or sparse(...)",
                            "a ragged output of one value for each record, expected lists");
  }
  return complete(m, &m->column.item);
}

static cst_status make_sparse(output_maker *m) {
  const cst__item_place **lists;
  return lists_of(m->p, m->column.item.place, &lists, &m->column.num_dims);
}

static cst_status make_structured(output_maker *m) {
  (void)m;
  return CST_OK;
}

typedef struct output_kind {
  const char *name;
  cst_tensor_kind kind;
  bool of_structs;
  const char *keys[2]; /* that it takes */
  cst_status (*make)(output_maker *m);
} output_kind;

static const output_kind output_kinds[] = {
    {"dense", CST_TENSOR_DENSE, false, {"shape", "default"}, make_dense},
    {"sparse", CST_TENSOR_SPARSE, false, {NULL, NULL}, make_sparse},
    {"ragged", CST_TENSOR_RAGGED, false, {"row_splits", "default"}, make_ragged},
    {"struct", CST_TENSOR_STRUCTURED, true, {NULL, NULL}, make_structured},
};

static const output_kind *find_output_kind(const cst__expr *value) {
  size_t count = sizeof output_kinds / sizeof output_kinds[0];
  for (size_t i = 0; value->kind == CST__EXPR_CALL && i < count; i++) {
    if (strcmp(output_kinds[i].name, value->name) == 0) {
      return &output_kinds[i];
    }
  }
  return NULL;
}

static cst_status check_output_keys(output_maker *m, const output_kind *kind) {
  const cst__expr *call = m->call;
  if (cst__plan_positional(call) != 1) {
    return cst__plan_refuse(m->p, call->at, CST_SCHEMA, NULL, "%s takes one expression",
                            kind->name);
  }
  for (size_t i = 1; i < call->num_args; i++) {
    const char *key = call->keys[i] != NULL ? call->keys[i] : "";
    bool known = false;
    for (size_t k = 0; k < 2; k++) {
      known = known || (kind->keys[k] != NULL && strcmp(kind->keys[k], key) == 0);
    }
    if (!known) {
      return cst__plan_refuse(m->p, call->args[i]->at, CST_SCHEMA, NULL,
                              "%s has no argument '%.60s'", kind->name, key);
    }
  }
  return CST_OK;
}

static cst_status make_output(output_maker *m, const output_kind *kind) {
  bool is_struct = m->column.item.fields != NULL;
  m->column.kind = kind->kind;
  m->p->at = m->call->at;
  if (is_struct != kind->of_structs) {
    return cst__plan_refuse(m->p, m->call->args[0]->at, CST_SCHEMA,
                            is_struct ? "name one of their fields, or use struct(...)"
                                      : "use dense(...), sparse(...) or ragged(...)",
                            "%s of %s, expected %s", kind->name,
                            cst__item_type_name(&m->column.item),
                            kind->of_structs ? "structs" : "values");
  }
  return kind->make(m);
}

cst_status cst__plan_output(cst__planning *p, const cst__statement *output) {
  const output_kind *kind = find_output_kind(output->value);
  output_maker m = {.p = p};
  const cst__scope scope = {.wanted = p->records};
  m.column.name = output->name;
  m.column.at = output->at;
  if (kind != NULL) {
    m.call = output->value;
    CST__TRY(check_output_keys(&m, kind));
  }
  const cst__expr *value = kind != NULL ? m.call->args[0] : output->value;
  CST__TRY(cst__plan_expression(p, value, &scope, &m.column.item));
  CST__TRY(cst__item_settle(p, p->records, &m.column.item));
  if (!cst__plan_place_holds(p->records, m.column.item.place)) {
    return cst__plan_refuse(p, value->at, CST_SCHEMA, NULL, "the value is outside the rows");
  }
  if (kind != NULL) {
    CST__TRY(make_output(&m, kind));
  }
  return add_column(p, &m.column);
}

/* ---- those that are wanted ---- */

static const char *nth_column_name(const void *items, size_t i) {
  return ((const cst__planned_output *)items)[i].name;
}

/* The columns of keep come first, then the outputs, wherever the statements stand. */
static cst_status put_kept_first(cst__planning *p) {
  cst__planned_output *sorted = cst__plan_take(p, (p->num_columns + 1) * sizeof *sorted);
  size_t count = 0;
  if (sorted == NULL) {
    return CST_NO_MEMORY;
  }
  for (int kept = 1; kept >= 0; kept--) {
    for (size_t i = 0; i < p->num_columns; i++) {
      if (p->columns[i].is_kept == (kept == 1)) {
        sorted[count++] = p->columns[i];
      }
    }
  }
  p->columns = sorted;
  return CST_OK;
}

cst_status cst__plan_outputs_finish(cst__planning *p) {
  const cst__query_plan_options *options = p->options;
  CST__TRY(put_kept_first(p));
  if (options->outputs == NULL) {
    return cst__plan_parts(p, p->columns, p->num_columns);
  }
  const cst__name_list names = {p->columns, p->num_columns, nth_column_name};
  cst__planned_output *wanted = cst__plan_take(p, (options->num_outputs + 1) * sizeof *wanted);
  if (wanted == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < options->num_outputs; i++) {
    size_t at = 0;
    while (at < p->num_columns && strcmp(p->columns[at].name, options->outputs[i]) != 0) {
      at++;
    }
    if (at == p->num_columns) {
      return cst__fail_unknown(p->error, CST_NOT_FOUND, "the query has no such output",
                               options->outputs[i], &names);
    }
    for (size_t k = 0; k < i; k++) {
      if (strcmp(wanted[k].name, options->outputs[i]) == 0) {
        return cst__fail_twice(p->error, wanted[k].name, strlen(wanted[k].name));
      }
    }
    wanted[i] = p->columns[at];
  }
  return cst__plan_parts(p, wanted, options->num_outputs);
}
