/* Parts: what the columns that go out are made of, down to their values, and the schema of all. */
#include <stdio.h>
#include <string.h>

#include "arrow/type.h"
#include "query/plan/planning.h"

typedef struct part_maker {
  cst__planning *p;
  const void *above[CST__MOST_DEPTH]; /* message types around, to find those that hold themselves */
  size_t depth;
  size_t first; /* of those that are around by their own fields, not by those that were added */
  size_t num_parts;
} part_maker;

/* What an item's structs are in the input: the same for all that are made of them. */
static const void *below_of(const cst__fields *fields) {
  while (fields->base != NULL) {
    fields = fields->base;
  }
  return fields->below;
}

static cst_status enter_structs(part_maker *m, const cst__item *item, const char *name) {
  const void *below = below_of(item->fields);
  for (size_t i = m->first; below != NULL && i < m->depth; i++) {
    if (m->above[i] == below) {
      return cst__plan_refuse(m->p, m->p->at, CST_SCHEMA,
                              "set a depth: keep ** depth N, or only(x, **, depth=N)",
                              "the structs of '%.80s' contain their own type without end", name);
    }
  }
  if (m->depth == CST__MOST_DEPTH) {
    return cst__plan_refuse(m->p, m->p->at, CST_LIMIT, NULL, "structs are nested deeper than %d",
                            CST__MOST_DEPTH);
  }
  m->above[m->depth++] = below;
  return CST_OK;
}

/* ---- types ---- */

static cst_status name_part_type(part_maker *m, cst__type *type, const char *name) {
  return cst__type_set_name(type, name, strlen(name), &m->p->plan->arena, m->p->error);
}

/* Makes a type lists of another one, which *type then is. */
static cst_status type_of_lists(part_maker *m, cst__type **type, const char *format,
                                const char *item) {
  CST__TRY(cst__type_set(*type, format, &m->p->plan->arena, m->p->error));
  CST__TRY(cst__type_set_children(*type, 1, &m->p->plan->arena, m->p->error));
  *type = &(*type)->children[0];
  return name_part_type(m, *type, item);
}

static cst_status lists_type(part_maker *m, const cst__output_part *part, cst__type **type) {
  char format[32];
  for (size_t i = 0; i < part->num_dims; i++) {
    snprintf(format, sizeof format, "+w:%lld", (long long)part->dims[i]);
    CST__TRY(type_of_lists(m, type, format, "item"));
  }
  for (size_t i = 0; i < part->num_lists; i++) {
    bool is_map = part->is_map && i + 1 == part->num_lists;
    CST__TRY(type_of_lists(m, type, is_map ? "+m" : "+L", is_map ? "entries" : "item"));
  }
  if (part->is_map) {
    (*type)->flags = 0;
  }
  return CST_OK;
}

/* ---- parts ---- */

static cst_status make_output_part(part_maker *m, const cst__item *item, const cst__item_place *top,
                                   cst__output_part *part, cst__type *type);

static cst_status part_lists(part_maker *m, const cst__item_place *top,
                             const cst__item_place *place, cst__output_part *part) {
  size_t count = 0;
  for (const cst__item_place *at = place; !cst__plan_place_same(at, top); at = at->parent) {
    count++;
  }
  uint32_t *lists = cst__plan_take(m->p, (count + 1) * sizeof *lists);
  if (lists == NULL) {
    return CST_NO_MEMORY;
  }
  part->lists = lists;
  part->num_lists = count;
  for (const cst__item_place *at = place; !cst__plan_place_same(at, top); at = at->parent) {
    lists[--count] = at->lists;
  }
  return CST_OK;
}

static cst_status part_structs(part_maker *m, const cst__item *item, cst__output_part *part,
                               cst__type *type) {
  const cst__known_field *const *entries;
  CST__TRY(enter_structs(m, item, part->name));
  CST__TRY(cst__fields_list(m->p, item->fields, m->p->now, &entries, &part->num_children));
  part->valid = item->fields->valid;
  part->children = cst__plan_take(m->p, (part->num_children + 1) * sizeof *part->children);
  if (part->children == NULL) {
    return CST_NO_MEMORY;
  }
  CST__TRY(cst__type_set(type, "+s", &m->p->plan->arena, m->p->error));
  CST__TRY(cst__type_set_children(type, part->num_children, &m->p->plan->arena, m->p->error));
  size_t first = m->first;
  for (size_t i = 0; i < part->num_children; i++) {
    cst__output_part *child = &part->children[i];
    m->first = entries[i]->is_added ? m->depth : first;
    *child = (cst__output_part){.name = entries[i]->name, .null_lists = true};
    CST__TRY(make_output_part(m, &entries[i]->item, item->place, child, &type->children[i]));
  }
  m->first = first;
  if (part->is_map) {
    type->children[0].flags = 0; /* keys */
  }
  m->depth--;
  return CST_OK;
}

/* True for entries of a map that are still a key and a value. */
static cst_status is_whole_map(part_maker *m, const cst__item *item, bool *out) {
  const cst__known_field *const *entries;
  size_t count = 0;
  if (item->is_map) {
    CST__TRY(cst__fields_list(m->p, item->fields, m->p->now, &entries, &count));
  }
  *out = count == 2 && entries[0]->since == 0 && entries[1]->since == 0;
  return CST_OK;
}

static cst_status make_output_part(part_maker *m, const cst__item *item, const cst__item_place *top,
                                   cst__output_part *part, cst__type *type) {
  if (m->num_parts++ == CST__MOST_STEPS) {
    return cst__plan_refuse(m->p, m->p->at, CST_LIMIT, "name the fields you need",
                            "the outputs have more than %d fields", CST__MOST_STEPS);
  }
  part->place = item->place->lists;
  part->valid = CST__NO_STEP;
  part->values = item->values;
  CST__TRY(is_whole_map(m, item, &part->is_map));
  if (part->num_dims == 0) {
    CST__TRY(part_lists(m, top, item->place, part));
  }
  CST__TRY(name_part_type(m, type, part->name));
  CST__TRY(lists_type(m, part, &type));
  return item->fields != NULL
             ? part_structs(m, item, part, type)
             : cst__type_set(type, item->type.format, &m->p->plan->arena, m->p->error);
}

/* ---- sparse tensors: their values and the places of these ---- */

typedef struct sparse_parts {
  part_maker *m;
  const cst__planned_output *column;
  const cst__item_place *innermost; /* of the values, before */
  const cst__item_place *kept;      /* of those that are no nulls */
  const cst__item_place *joined;    /* one list of them for each record */
} sparse_parts;

static const char *sparse_column_name(cst__planning *p, const char *name, const char *suffix,
                                      size_t i) {
  char text[32];
  snprintf(text, sizeof text, suffix, i);
  size_t size = strlen(name) + strlen(text) + 1;
  char *made = cst__plan_take(p, size);
  if (made != NULL) {
    snprintf(made, size, "%s%s", name, text);
  }
  return made;
}

/* A column of one list for each record, of values that stand at the kept elements. */
static cst_status sparse_part(const sparse_parts *s, const char *name, const cst__item *values,
                              cst__output_part *part, cst__type *type) {
  cst__item item = *values;
  item.place = s->joined;
  *part = (cst__output_part){.name = name};
  return name == NULL ? CST_NO_MEMORY : make_output_part(s->m, &item, s->m->p->records, part, type);
}

static cst_status sparse_keep(sparse_parts *s, cst__item *values) {
  cst__planning *p = s->m->p;
  uint32_t valid;
  s->kept = s->innermost;
  *values = s->column->item;
  if (values->is_nullable) {
    CST__TRY(cst__item_valid(p, &s->column->item, &valid));
    CST__TRY(cst__plan_keep(p, &s->column->item, valid, values));
    s->kept = values->place;
  }
  return cst__plan_place_join(p, p->records, s->kept, &s->joined);
}

/* The position of each kept value in its list of one level. */
static cst_status sparse_index(const sparse_parts *s, const cst__item_place *level,
                               cst__item *out) {
  cst__planning *p = s->m->p;
  cst__step step = {.kind = CST__STEP_POSITIONS,
                    .num_args = 1,
                    .args = {level->lists},
                    .type = {"l"},
                    .parent = CST__NO_STEP,
                    .node = CST__NO_STEP};
  cst__item positions = {.place = level, .type = {"l"}};
  const cst__item_way way = {.from = s->innermost, .to = s->kept, .index = s->kept->lists};
  CST__TRY(cst__plan_add_step(p, &step, &positions.values));
  CST__TRY(cst__item_spread(p, &positions, s->innermost, out));
  return s->kept != s->innermost ? cst__item_move(p, out, &way, out) : CST_OK;
}

static cst_status make_sparse_parts(sparse_parts *s, cst__output_part *parts, cst__type *types) {
  cst__planning *p = s->m->p;
  const char *name = s->column->name;
  cst__item values;
  size_t level = s->column->num_dims;
  CST__TRY(sparse_keep(s, &values));
  CST__TRY(
      sparse_part(s, sparse_column_name(p, name, "$values", 0), &values, &parts[0], &types[0]));
  for (const cst__item_place *at = s->innermost; at->parent != NULL; at = at->parent) {
    cst__item index;
    CST__TRY(sparse_index(s, at, &index));
    CST__TRY(sparse_part(s, sparse_column_name(p, name, "$index%zu", level - 1), &index,
                         &parts[level], &types[level]));
    level--;
  }
  return CST_OK;
}

/* True for a sparse tensor of several columns: others are one column, of values that are all there,
 * or of one value for each record. */
static bool is_spread_out(const cst__planned_output *column) {
  return column->kind == CST_TENSOR_SPARSE && column->num_dims > 0 &&
         (column->num_dims > 1 || column->item.is_nullable);
}

static size_t columns_of(const cst__planned_output *column) {
  return is_spread_out(column) ? column->num_dims + 1 : 1;
}

/* ---- the schema ---- */

static cst_status make_output_column(part_maker *m, const cst__planned_output *column,
                                     cst__output_part *parts, cst__type *types) {
  m->p->at = column->at;
  m->p->label = column->name;
  if (is_spread_out(column)) {
    sparse_parts s = {.m = m, .column = column, .innermost = column->item.place};
    return make_sparse_parts(&s, parts, types);
  }
  bool is_tensor = column->kind == CST_TENSOR_SPARSE || column->kind == CST_TENSOR_RAGGED;
  *parts = (cst__output_part){.name = column->name,
                              .dims = column->dims,
                              .num_dims = column->kind == CST_TENSOR_DENSE ? column->num_dims : 0,
                              .null_lists = !is_tensor};
  return make_output_part(m, &column->item, m->p->records, parts, types);
}

static void note_output(const cst__planned_output *column, size_t first, cst__query_output *out) {
  *out = (cst__query_output){.name = column->name,
                             .kind = column->kind,
                             .row_splits = column->row_splits,
                             .num_dims = column->num_dims,
                             .dims = column->dims,
                             .num_columns = columns_of(column),
                             .first_column = first};
  if (column->kind == CST_TENSOR_SPARSE && column->num_dims == 1 && !is_spread_out(column)) {
    out->kind = CST_TENSOR_VARLEN_SPARSE;
  }
}

/* The types of parts, from the schema. */
static void set_part_types(cst__output_part *parts, size_t count,
                           struct ArrowSchema *const *types) {
  for (size_t i = 0; i < count; i++) {
    const struct ArrowSchema *type = types[i];
    parts[i].type = type;
    for (size_t k = 0; k < parts[i].num_lists + parts[i].num_dims; k++) {
      type = type->children[0];
    }
    set_part_types(parts[i].children, parts[i].num_children, type->children);
  }
}

cst_status cst__plan_parts(cst__planning *p, const cst__planned_output *columns, size_t count) {
  cst__query_plan *plan = p->plan;
  part_maker m = {.p = p};
  cst__type type = CST__TYPE_INIT;
  size_t num_parts = 0;
  size_t at = 0;
  for (size_t i = 0; i < count; i++) {
    num_parts += columns_of(&columns[i]);
  }
  plan->parts = cst__plan_take(p, (num_parts + 1) * sizeof *plan->parts);
  plan->outputs = cst__plan_take(p, (count + 1) * sizeof *plan->outputs);
  if (plan->parts == NULL || plan->outputs == NULL) {
    return CST_NO_MEMORY;
  }
  plan->num_parts = num_parts;
  plan->num_outputs = count;
  type.flags = 0;
  CST__TRY(cst__type_set(&type, "+s", &p->plan->arena, p->error));
  CST__TRY(cst__type_set_children(&type, num_parts, &p->plan->arena, p->error));
  for (size_t i = 0; i < count; i++) {
    note_output(&columns[i], at, &plan->outputs[i]);
    CST__TRY(make_output_column(&m, &columns[i], &plan->parts[at], &type.children[at]));
    at += columns_of(&columns[i]);
  }
  CST__TRY(cst__type_export(&type, &plan->schema, p->error));
  set_part_types(plan->parts, num_parts, plan->schema.children);
  return CST_OK;
}
