/* The tensors of the groups against a batch. A schemaless batch has the columns that occur in it;
 * those that a tensor wants and the batch lacks are null in all of its rows.
 */
#include <stdio.h>
#include <string.h>

#include "validate/validation.h"

/* ---- columns that a batch lacks ---- */

/* A column that no row has. */
static cst__view no_values(const char *name, bool is_struct, int64_t length) {
  return (cst__view){.layout = is_struct ? CST__LAYOUT_STRUCT : CST__LAYOUT_NULL,
                     .length = length,
                     .null_count = is_struct ? 0 : length,
                     .name = name,
                     .format = is_struct ? "+s" : "n"};
}

/* The columns of a batch by name. */
typedef struct batch_columns {
  const cst__view *root;
  cst__name_map names; /* by the struct that they are in */
  cst__arena *arena;
} batch_columns;

/* Puts a child of `from`, or one without any value, into `to`, which has room. Returns what it is a
 * copy of; NULL: of nothing. */
static const cst__view *pick_column(const batch_columns *b, const cst__view *from, const char *name,
                                    bool is_struct, cst__view *to) {
  size_t at = from != NULL ? cst__name_map_find_of(&b->names, from, name, strlen(name)) : SIZE_MAX;
  const cst__view *found = at != SIZE_MAX ? &from->children[at] : NULL;
  to->children[to->num_children++] =
      found != NULL ? *found : no_values(name, is_struct, to->length);
  return found;
}

static void pick_beside(const batch_columns *b, const cst__view *from, const cst_tensor_spec *spec,
                        cst__view *to) {
  for (size_t i = 0; i < spec->num_index_columns; i++) {
    (void)pick_column(b, from, spec->index_columns[i], false, to);
  }
  for (size_t i = 0; i < spec->num_partitions; i++) {
    if (spec->partitions[i].row_length_column != NULL) {
      (void)pick_column(b, from, spec->partitions[i].row_length_column, false, to);
    }
  }
}

/* Goes from a list to its innermost items, which become copies. False if out of memory. */
static bool enter_lists(const batch_columns *b, const cst__view **from, cst__view **to) {
  while (cst__view_is_list(*to)) {
    cst__view *items = cst__arena_take(b->arena, sizeof *items);
    if (items == NULL) {
      return false;
    }
    *from = &(*from)->children[0];
    *items = **from;
    (*to)->children = items;
    *to = items;
  }
  return true;
}

/* The batch of those columns alone that the tensor is made of, with such as the batch lacks:
 * finding them among very many, batch for batch, would take long. Where something else than a
 * struct is in the way, the plan says so. False if out of memory. */
static bool pick_tensor_columns(const batch_columns *b, const cst_tensor_spec *spec,
                                cst__view *out) {
  size_t room = 1 + spec->num_index_columns + spec->num_partitions;
  const cst__view *from = b->root;
  cst__view *to = out;
  *out = *b->root;
  out->num_children = 0;
  for (size_t i = 0; i < spec->num_path_steps && to->layout == CST__LAYOUT_STRUCT; i++) {
    bool is_last = i + 1 == spec->num_path_steps;
    cst__view *children = cst__arena_take(b->arena, (is_last ? room : 1) * sizeof *children);
    if (children == NULL) {
      return false;
    }
    to->children = children;
    to->num_children = 0;
    const cst__view *found = pick_column(b, from, spec->path[i], !is_last, to);
    if (is_last) {
      pick_beside(b, from, spec, to);
      return true;
    }
    from = found;
    to = &children[0];
    if (!enter_lists(b, &from, &to)) {
      return false;
    }
  }
  return true;
}

/* ---- rows ---- */

typedef struct tensor_check {
  cst__check *check;
  const cst_tensor_spec *spec;
  cst__tensor_tally *tally;
  bool *marks; /* of a structured tensor, whose fields come one by one: [reason][row]; else NULL */
} tensor_check;

static void say_row_fault(char *at, const cst__row_fault *fault) {
  switch (fault->reason) {
    case CST__ROW_COUNT:
    case CST__ROW_DIVISION:
      (void)snprintf(at, CST__FOUND_SIZE, "%lld value%s", (long long)fault->found,
                     fault->found == 1 ? "" : "s");
      break;
    case CST__ROW_LENGTHS:
      (void)snprintf(at, CST__FOUND_SIZE, "%lld values, %lld indices", (long long)fault->expected,
                     (long long)fault->found);
      break;
    case CST__ROW_SUM:
      (void)snprintf(at, CST__FOUND_SIZE, "%lld of %lld", (long long)fault->found,
                     (long long)fault->expected);
      break;
    case CST__ROW_INDEX:
    case CST__ROW_LENGTH:
      (void)snprintf(at, CST__FOUND_SIZE, fault->found == INT64_MIN ? "null" : "%lld",
                     (long long)fault->found);
      break;
    default:
      break;
  }
}

static void note_row_fault(void *ctx, const cst__row_fault *fault) {
  const tensor_check *t = ctx;
  cst__finding *finding = &t->tally->findings[fault->reason];
  if (!t->tally->is_seen[fault->reason]) {
    t->tally->is_seen[fault->reason] = true;
    t->tally->first[fault->reason] = *fault;
  }
  if (t->marks != NULL) {
    t->marks[fault->reason * t->check->rows + fault->row] = true;
    return;
  }
  char *at = cst__check_mark(t->check, finding, fault->row);
  if (at != NULL) {
    say_row_fault(at, fault);
  }
}

/* Marks the rows that have the tensor's column at the top, which is none that it could be made
 * of. */
static void mark_tensor_type(const tensor_check *t, const cst__view *columns,
                             const cst_error *problem) {
  if (t->tally->problem[0] == '\0') {
    memcpy(t->tally->problem, problem->message, sizeof t->tally->problem);
  }
  for (int64_t row = 0; row < columns->length; row++) {
    if (columns->num_children == 0 || !cst__view_is_null(&columns->children[0], row)) {
      cst__row_fault fault = {.row = row, .reason = CST__ROW_TYPE};
      note_row_fault((void *)(uintptr_t)t, &fault);
    }
  }
}

static cst_status check_spec(const tensor_check *t, const cst_tensor_spec *spec,
                             const batch_columns *batch) {
  cst_error problem = CST_ERROR_INIT;
  cst__view columns;
  cst__adapter_plan plan;
  for (size_t i = 0; i < spec->num_fields; i++) {
    CST__TRY(check_spec(t, &spec->fields[i], batch));
  }
  if (spec->kind == CST_TENSOR_STRUCTURED) {
    return CST_OK;
  }
  if (!pick_tensor_columns(batch, spec, &columns)) {
    return cst__fail_memory(t->check->error, 64);
  }
  cst_status status = cst__plan_init(&plan, spec, &columns, NULL, batch->arena, &problem);
  if (status == CST_SCHEMA || status == CST_UNSUPPORTED) {
    mark_tensor_type(t, &columns, &problem);
    return CST_OK;
  }
  if (status != CST_OK) {
    cst__error_copy(t->check->error, &problem);
    return status;
  }
  return cst__check_rows(&plan, &columns, &t->check->scratch, note_row_fault, (void *)(uintptr_t)t,
                         t->check->error);
}

/* Counts the rows that the fields have marked, in their order. */
static void count_marks(const tensor_check *t) {
  int64_t rows = t->check->rows;
  for (int64_t i = 0; i < CST__NUM_ROW_REASONS * rows; i++) {
    if (t->marks[i]) {
      (void)cst__check_mark(t->check, &t->tally->findings[i / rows], i % rows);
    }
  }
}

static cst_status check_tensor(tensor_check *t, const batch_columns *batch) {
  const cst_tensor_spec *spec = t->spec;
  int64_t room = CST__NUM_ROW_REASONS * t->check->rows;
  for (size_t i = 0; i < CST__NUM_ROW_REASONS; i++) {
    t->tally->findings[i].last_row = -1;
  }
  if (spec->kind != CST_TENSOR_STRUCTURED) {
    return check_spec(t, spec, batch);
  }
  t->marks = cst__arena_take_items(&t->check->scratch, room, sizeof *t->marks);
  CST__TRY(CST__TAKEN(t->marks, t->check->error));
  memset(t->marks, 0, (size_t)room * sizeof *t->marks);
  CST__TRY(check_spec(t, spec, batch));
  count_marks(t);
  return CST_OK;
}

cst_status cst__check_tensors(cst__check *check, const cst__view *batch) {
  batch_columns columns = {.root = batch, .arena = &check->scratch};
  cst_status status =
      cst__view_index(batch, &columns.names) ? CST_OK : cst__fail_memory(check->error, 64);
  for (size_t i = 0; status == CST_OK && i < check->plan->num_tensors; i++) {
    tensor_check t = {check, check->plan->tensors[i].spec, &check->state->tensors[i], NULL};
    status = check_tensor(&t, &columns);
  }
  cst__name_map_reset(&columns.names);
  return status;
}
