/* Descriptors and wanted columns to a tree of nodes and the Arrow types of their columns. */
#include "message/decode/message_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "message/message_options.h"
#include "message/text/well_known.h"

enum {
  MAX_COLUMNS = 100000, /* of all levels */
  MAX_TYPE_DEPTH = CST__TYPE_MAX_DEPTH - 8
};

typedef struct plan_maker {
  cst__message_plan *plan;
  cst_error *error;
  int depth; /* levels of types above the one at hand */
} plan_maker;

/* Where a message is used: in a node, with what is wanted of it, for a struct of this type. */
typedef struct usage {
  const cst__message_plan_node *parent;
  cst__wanted *wanted;
  cst__type *type;
} usage;

static const cst__wanted all_of_it = {.name = ""};

static void *take_zero(plan_maker *m, size_t count, size_t size) {
  size_t bytes = 0;
  void *out =
      cst__mul(count, size, &bytes) ? cst__arena_take_zero(&m->plan->arena, bytes + 1) : NULL;
  if (out == NULL) {
    (void)cst__fail_memory(m->error, bytes);
  }
  return out;
}

static cst_status make_node(plan_maker *m, const cst__message_def *def, usage use,
                            cst__message_plan_node **out);

/* ---- which fields ---- */

static int compare_places(const void *a, const void *b) {
  const cst__field_def *left = *(const cst__field_def *const *)a;
  const cst__field_def *right = *(const cst__field_def *const *)b;
  return left->place != right->place
             ? (left->place > right->place) - (left->place < right->place)
             : (left->number > right->number) - (left->number < right->number);
}

/* A chosen field: `def` is NULL for a cast of an Any. */
typedef struct choice {
  const cst__field_def *def;
  cst__wanted *wanted;
} choice;

static cst_status choose_all(plan_maker *m, const cst__message_def *def, choice **out) {
  const cst__field_def **fields = take_zero(m, def->num_fields, sizeof *fields);
  *out = take_zero(m, def->num_fields, sizeof **out);
  if (fields == NULL || *out == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < def->num_fields; i++) {
    fields[i] = &def->fields[i];
  }
  qsort(fields, def->num_fields, sizeof *fields, compare_places);
  for (size_t i = 0; i < def->num_fields; i++) {
    (*out)[i] = (choice){fields[i], (cst__wanted *)(uintptr_t)&all_of_it};
  }
  return CST_OK;
}

static const char *nth_field_name(const void *fields, size_t i) {
  return ((const cst__field_def *)fields)[i].name;
}

/* The error of a step below that nothing has used, with its path and near names. */
static cst_status fail_wanted(const cst__wanted *wanted, const cst__message_def *def,
                              cst_error *error) {
  const cst__wanted *step = wanted->first;
  while (step->is_used) {
    step = step->next;
  }
  char what[128];
  snprintf(what, sizeof what, "the message %.60s has no field of this name", def->full_name);
  const cst__name_list names = {def->fields, def->num_fields, nth_field_name};
  return cst__fail_unknown(error, CST_NOT_FOUND, what, step->name, &names);
}

static cst_status choose_wanted(plan_maker *m, const cst__message_def *def, cst__wanted *wanted,
                                bool is_any, choice **out) {
  size_t count = 0;
  *out = take_zero(m, wanted->num_below, sizeof **out);
  if (*out == NULL) {
    return CST_NO_MEMORY;
  }
  for (cst__wanted *step = wanted->first; step != NULL; step = step->next) {
    const cst__field_def *field = cst__message_path_field(def, step->name);
    if (field == NULL && !(is_any && cst__message_is_cast(step->name))) {
      return fail_wanted(wanted, def, m->error);
    }
    step->is_used = true;
    (*out)[count++] = (choice){field, step};
  }
  return CST_OK;
}

/* ---- one field ---- */

static bool is_deep(const plan_maker *m, const cst__message_plan_node *parent,
                    const cst__message_def *message) {
  int32_t recursion = m->plan->options.recursion;
  int32_t limit = recursion < 0 ? 0 : recursion;
  int32_t count = 0;
  for (const cst__message_plan_node *node = parent; node != NULL; node = node->parent) {
    count += node->def == message;
  }
  return count > limit || m->depth > MAX_TYPE_DEPTH;
}

static cst_status fail_below(plan_maker *m, const cst__wanted *wanted) {
  cst_status status =
      cst__fail(m->error, CST_NOT_FOUND,
                "ask for the column itself, or for the structs of well-known types (plain_types)",
                "the path continues below a column that is a single value");
  cst__error_add_path(m->error, wanted->first->name, strlen(wanted->first->name));
  return status;
}

/* One value of a field. */
static cst_status make_value(plan_maker *m, cst__message_plan_node *node,
                             cst__message_plan_field *field, cst__wanted *wanted, cst__type *type) {
  bool is_struct = field->kind == CST__KIND_MESSAGE || field->kind == CST__KIND_ANY;
  if (is_struct && wanted->name[0] == '\0' && is_deep(m, node, field->def->message)) {
    field->kind = CST__KIND_RAW;
    is_struct = false;
  }
  if (!is_struct) {
    return wanted->num_below > 0
               ? fail_below(m, wanted)
               : cst__message_value_type(m->plan, field->def, field->kind, type, m->error);
  }
  return make_node(m, field->def->message, (usage){node, wanted, type}, &field->child);
}

/* The node of a map's entries. Of a map all keys are wanted; a path may choose in the values. */
static cst_status make_map(plan_maker *m, cst__message_plan_node *node,
                           cst__message_plan_field *field, cst__wanted *wanted, cst__type *type) {
  cst__type *entries;
  const cst__message_def *def = field->def->message;
  cst__message_plan_node *child = field->child = take_zero(m, 1, sizeof *child);
  CST__TRY(cst__message_map_type(m->plan, type, &entries, m->error));
  if (child == NULL || (child->fields = take_zero(m, 2, sizeof *child->fields)) == NULL) {
    return CST_NO_MEMORY;
  }
  *child = (cst__message_plan_node){
      .def = def, .parent = node, .type = entries, .fields = child->fields, .num_fields = 2};
  cst__wanted *steps[2] = {(cst__wanted *)(uintptr_t)&all_of_it,
                           (cst__wanted *)(uintptr_t)&all_of_it};
  for (cst__wanted *step = wanted->first; step != NULL; step = step->next) {
    const cst__field_def *found = cst__message_path_field(def, step->name);
    if (found == NULL) {
      return fail_wanted(wanted, def, m->error);
    }
    step->is_used = true;
    steps[found == &def->fields[1]] = step;
  }
  for (size_t i = 0; i < 2; i++) {
    cst__message_plan_field *part = &child->fields[i];
    part->def = &def->fields[i];
    part->kind = cst__message_kind(&m->plan->options, part->def);
    m->depth += 2;
    CST__TRY(make_value(m, child, part, steps[i], &entries->children[i]));
    m->depth -= 2;
  }
  m->plan->num_columns += 2;
  return CST_OK;
}

/* The number of the field as metadata, as the C data interface encodes it: the number of pairs, and
 * the size before each key and value. */
static cst_status number_field(plan_maker *m, const cst__field_def *def, cst__type *type) {
  const char *key = m->plan->options.field_number_key;
  if (key == NULL) {
    return CST_OK;
  }
  char digits[16];
  snprintf(digits, sizeof digits, "%d", (int)def->number);
  const int32_t count = 1;
  const int32_t sizes[2] = {(int32_t)strlen(key), (int32_t)strlen(digits)};
  char *to = take_zero(m, 12 + strlen(key) + strlen(digits), 1);
  if (to == NULL) {
    return CST_NO_MEMORY;
  }
  type->metadata = to;
  memcpy(to, &count, 4);
  memcpy(to + 4, &sizes[0], 4);
  memcpy(to + 8, key, (size_t)sizes[0]);
  to += 8 + sizes[0];
  memcpy(to, &sizes[1], 4);
  memcpy(to + 4, digits, (size_t)sizes[1]);
  return CST_OK;
}

static cst_status make_field_column(plan_maker *m, cst__message_plan_node *node,
                                    cst__message_plan_field *field, cst__wanted *wanted,
                                    cst__type *type) {
  const cst__field_def *def = field->def;
  field->kind = cst__message_kind(&m->plan->options, def);
  field->absent_is_null = cst__message_has_null(&m->plan->options, def);
  bool is_nullable = field->absent_is_null || (m->plan->nullable_columns && node->parent == NULL);
  type->name = cst__message_path_name(def, &m->plan->arena);
  if (type->name == NULL) {
    return cst__fail_memory(m->error, strlen(def->name));
  }
  CST__TRY(number_field(m, def, type));
  type->flags = is_nullable ? ARROW_FLAG_NULLABLE : 0;
  if (field->kind == CST__KIND_MAP) {
    return make_map(m, node, field, wanted, type);
  }
  if (cst__field_is_repeated(def)) {
    m->depth++;
    CST__TRY(cst__message_list_type(m->plan, type, &type, m->error));
    CST__TRY(make_value(m, node, field, wanted, type));
    m->depth--;
    return CST_OK;
  }
  return make_value(m, node, field, wanted, type);
}

/* ---- casts of Anys ---- */

/* "(shop.Event)", or "(type.googleapis.com/shop.Event)": the struct that an Any may hold. */
static cst_status make_cast(plan_maker *m, cst__message_plan_node *node,
                            cst__message_plan_field *field, cst__wanted *wanted, cst__type *type) {
  const cst__message_def *def;
  CST__TRY(cst__message_cast(m->plan->options.descriptors, wanted->name, &def, m->error));
  field->kind = CST__KIND_MESSAGE;
  field->absent_is_null = true;
  CST__TRY(cst__type_set_name(type, wanted->name, strlen(wanted->name), &m->plan->arena, m->error));
  return make_node(m, def, (usage){node, wanted, type}, &field->child);
}

/* ---- the tables of the slow way ---- */

static cst__field_def pruned_field(plan_maker *m, const cst__message_plan_field *field) {
  cst__field_def pruned = *field->def;
  if (field->kind == CST__KIND_BYTES) {
    pruned.flags &= (uint8_t)~CST__FIELD_UTF8;
  } else if (field->kind == CST__KIND_RAW && pruned.type == CST__FIELD_MESSAGE) {
    /* Every occurrence stays: their bytes are put together by whoever reads them. */
    pruned.type = CST__FIELD_BYTES;
    pruned.flags = CST__FIELD_REPEATED;
    pruned.message = NULL;
  } else if (field->kind == CST__KIND_RAW) {
    cst__message_def *empty = take_zero(m, 1, sizeof *empty);
    if (empty != NULL) {
      empty->full_name = pruned.message->full_name;
    }
    pruned.message = empty;
  } else if (field->kind != CST__KIND_ANY && field->child != NULL) {
    pruned.message = &field->child->pruned;
  }
  return pruned;
}

/* Of a member of a oneof that nobody wants only its being there counts. */
static cst__field_def sibling_field(const cst__field_def *def) {
  cst__field_def pruned = *def;
  if (def->type == CST__FIELD_MESSAGE) {
    pruned.type = CST__FIELD_BYTES;
    pruned.message = NULL;
  }
  pruned.flags &= (uint8_t)~CST__FIELD_UTF8;
  return pruned;
}

static cst_status prune(plan_maker *m, cst__message_plan_node *node) {
  const cst__message_def *def = node->def;
  cst__field_def *fields = take_zero(m, def->num_fields, sizeof *fields);
  const cst__message_plan_field **chosen = take_zero(m, def->num_fields, sizeof *chosen);
  bool *in_oneofs = take_zero(m, def->num_oneofs + 1, sizeof *in_oneofs);
  if (fields == NULL || chosen == NULL || in_oneofs == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < node->num_fields; i++) {
    const cst__field_def *field = node->fields[i].def;
    if (field != NULL) {
      chosen[field - def->fields] = &node->fields[i];
      in_oneofs[field->oneof] = true;
    }
  }
  in_oneofs[0] = false;
  size_t count = 0;
  for (size_t i = 0; i < def->num_fields; i++) {
    if (chosen[i] != NULL) {
      fields[count] = pruned_field(m, chosen[i]);
      if (cst__field_is_message(&fields[count]) && fields[count].message == NULL) {
        return CST_NO_MEMORY;
      }
      count++;
    } else if (in_oneofs[def->fields[i].oneof]) {
      fields[count++] = sibling_field(&def->fields[i]);
    }
  }
  node->pruned = *def;
  node->pruned.fields = fields;
  node->pruned.num_fields = count;
  node->pruned.num_extensions = 0;
  node->pruned.by_name = NULL;
  return CST_OK;
}

/* ---- nodes ---- */

static cst_status check_columns(plan_maker *m, size_t more) {
  m->plan->num_columns += more;
  return m->plan->num_columns <= MAX_COLUMNS
             ? CST_OK
             : cst__fail(m->error, CST_LIMIT, "name the columns you need, or allow less recursion",
                         "the message has more than %d columns", MAX_COLUMNS);
}

static cst_status check_unknown_name(plan_maker *m, const cst__message_def *def) {
  const char *name = m->plan->options.unknown_fields;
  if (cst__field_by_name(def, name, strlen(name)) == NULL) {
    return CST_OK;
  }
  cst_status status =
      cst__fail(m->error, CST_INVALID_ARGUMENT, "choose another name for unknown_fields",
                "message %.60s has a field with the name given in unknown_fields", def->full_name);
  cst__error_add_path(m->error, name, strlen(name));
  return status;
}

static cst_status make_node(plan_maker *m, const cst__message_def *def, usage use,
                            cst__message_plan_node **out) {
  const cst_message_options *options = &m->plan->options;
  choice *choices;
  bool is_whole = use.wanted->num_below == 0 && !use.wanted->is_nothing;
  size_t count = is_whole ? def->num_fields : use.wanted->num_below;
  bool is_any = use.parent != NULL && cst__well_known_of(def) == CST__WELL_KNOWN_ANY;
  bool has_unknown = options->unknown_fields != NULL;
  if (m->depth > MAX_TYPE_DEPTH) {
    return cst__fail(m->error, CST_LIMIT, "ask for a column above it",
                     "a path leads through more than %d levels", MAX_TYPE_DEPTH);
  }
  CST__TRY(cst__message_readable(def, m->error));
  CST__TRY(check_columns(m, count));
  CST__TRY(is_whole ? choose_all(m, def, &choices)
                    : choose_wanted(m, def, use.wanted, is_any, &choices));
  cst__message_plan_node *node = take_zero(m, 1, sizeof *node);
  cst__message_plan_field *fields = take_zero(m, count, sizeof *fields);
  if (node == NULL || fields == NULL) {
    return CST_NO_MEMORY;
  }
  *node = (cst__message_plan_node){.def = def,
                                   .parent = use.parent,
                                   .type = use.type,
                                   .fields = fields,
                                   .num_fields = count,
                                   .has_unknown = has_unknown};
  CST__TRY(cst__type_set(use.type, "+s", &m->plan->arena, m->error));
  CST__TRY(cst__type_set_children(use.type, count + has_unknown, &m->plan->arena, m->error));
  m->depth++;
  for (size_t i = 0; i < count; i++) {
    cst__type *type = &use.type->children[i];
    cst__wanted *wanted = choices[i].wanted;
    fields[i].def = choices[i].def;
    cst_status status = fields[i].def != NULL ? make_field_column(m, node, &fields[i], wanted, type)
                                              : make_cast(m, node, &fields[i], wanted, type);
    if (status != CST_OK) {
      if (fields[i].def != NULL && type->name != NULL) {
        cst__error_add_path(m->error, type->name, strlen(type->name));
      }
      return status;
    }
  }
  m->depth--;
  if (has_unknown) {
    CST__TRY(check_unknown_name(m, def));
    cst__type *type = &use.type->children[count];
    const cst__field_def bytes = {.type = CST__FIELD_BYTES};
    CST__TRY(cst__type_set_name(type, options->unknown_fields, strlen(options->unknown_fields),
                                &m->plan->arena, m->error));
    CST__TRY(cst__message_value_type(m->plan, &bytes, CST__KIND_BYTES, type, m->error));
    bool is_nullable = m->plan->nullable_columns && use.parent == NULL;
    type->flags = is_nullable ? ARROW_FLAG_NULLABLE : 0;
  }
  *out = node;
  return CST_OK;
}

/* After all nodes are made: a child's tables are there when its parent's are made. */
static cst_status prune_all(plan_maker *m, cst__message_plan_node *node) {
  for (size_t i = 0; i < node->num_fields; i++) {
    if (node->fields[i].child != NULL) {
      CST__TRY(prune_all(m, node->fields[i].child));
    }
  }
  return prune(m, node);
}

/* ---- the plan ---- */

static cst_status keep_message_options(cst__message_plan *plan, const cst_message_options *from,
                                       cst_error *error) {
  const cst_message_options *kept;
  CST__TRY(cst__message_options_copy(from, &plan->arena, &kept, error));
  plan->options = *kept;
  return cst__message_options_settle(&plan->options, error);
}

static cst_status make_plan(cst__message_plan *plan, const cst__message_plan_options *options,
                            cst_error *error) {
  plan_maker m = {plan, error, 0};
  const cst__message_def *def;
  cst__wanted wanted;
  CST__TRY(keep_message_options(plan, options->message, error));
  CST__TRY(cst__descriptors_need(plan->options.descriptors, plan->options.message, &def, error));
  CST__TRY(cst__wanted_parse(options->columns, options->num_columns, &plan->arena, &wanted, error));
  plan->column_flags = options->column_flags;
  plan->nullable_columns = options->nullable_columns;
  plan->type = (cst__type)CST__TYPE_INIT;
  plan->type.flags = 0;
  CST__TRY(make_node(&m, def, (usage){NULL, &wanted, &plan->type}, &plan->root));
  return prune_all(&m, plan->root);
}

cst_status cst__message_plan_new(const cst__message_plan_options *options, cst__message_plan **out,
                                 cst_error *error) {
  *out = NULL;
  cst__message_plan *plan = cst__new_zero(options->allocator, sizeof *plan);
  if (plan == NULL) {
    return cst__fail_memory(error, sizeof *plan);
  }
  cst__refcount_init(&plan->owners);
  plan->allocator = cst__allocator_of(options->allocator);
  cst__arena_init(&plan->arena, options->allocator);
  cst_status status = make_plan(plan, options, error);
  if (status != CST_OK) {
    cst__message_plan_release(plan);
    return status;
  }
  *out = plan;
  return CST_OK;
}

cst__message_plan *cst__message_plan_retain(cst__message_plan *plan) {
  cst__refcount_up(&plan->owners);
  return plan;
}

void cst__message_plan_release(cst__message_plan *plan) {
  if (plan != NULL && cst__refcount_down(&plan->owners)) {
    cst__message_options_release(&plan->options);
    cst__arena_reset(&plan->arena);
    cst__delete(plan);
  }
}

const cst__type *cst__message_plan_type(const cst__message_plan *plan) { return &plan->type; }
