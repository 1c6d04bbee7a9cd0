/* The tensors of the groups against a batch. A schemaless batch has the columns that occur in it;
 * those that a tensor wants and the batch lacks are null in all of its rows.
 */
#include <stdio.h>
#include <string.h>

#include "schema/schema.h"
#include "validate/check.h"

/* ---- groups ---- */

static bool is_known(const cst__check *check, const cst_tensor_spec *spec) {
  for (size_t i = 0; i < check->num_tensors && !spec->is_explicit; i++) {
    const cst_tensor_spec *other = check->tensors[i].spec;
    if (!other->is_explicit && strcmp(other->name, spec->name) == 0) {
      return true; /* what several groups leave to inference is checked once */
    }
  }
  return false;
}

static void add_tensors(cst__check *check, const cst_specs *specs, const char *group) {
  for (size_t i = 0; i < cst__specs_count(specs); i++) {
    const cst_tensor_spec *spec = cst__specs_get(specs, i);
    if (!is_known(check, spec)) {
      cst__tensor_tally *tally = &check->tensors[check->num_tensors++];
      *tally = (cst__tensor_tally){.spec = spec, .group = group};
      for (size_t k = 0; k < CST__NUM_ROW_REASONS; k++) {
        tally->findings[k].last_row = -1;
      }
    }
  }
}

cst_status cst__check_add_groups(cst__check *check, const char *const *groups, size_t num_groups,
                                 bool legacy) {
  size_t total = 0;
  check->groups = cst__arena_take_zero(&check->arena, (num_groups + 1) * sizeof *check->groups);
  if (check->groups == NULL) {
    return cst__fail_memory(check->error, num_groups);
  }
  for (size_t i = 0; i < num_groups; i++) {
    cst_specs_options options = {.size = sizeof options,
                                 .group = groups[i],
                                 .legacy = legacy,
                                 .environment = check->options->environment};
    CST__TRY(cst__specs_new(check->book->schema, &options, &check->groups[i], check->error));
    check->num_groups = i + 1;
    total += cst__specs_count(check->groups[i]);
  }
  check->tensors = cst__arena_take(&check->arena, (total + 1) * sizeof *check->tensors);
  if (check->tensors == NULL) {
    return cst__fail_memory(check->error, total);
  }
  for (size_t i = 0; i < num_groups; i++) {
    const char *name = groups[i] != NULL ? groups[i] : "";
    const char *copy = cst__arena_copy(&check->arena, name, strlen(name));
    if (copy == NULL) {
      return cst__fail_memory(check->error, strlen(name));
    }
    add_tensors(check, check->groups[i], copy);
  }
  return CST_OK;
}

/* ---- columns that a batch lacks ---- */

static cst__view *find_child(cst__view *v, const char *name) {
  for (int64_t i = 0; i < v->num_children; i++) {
    if (strcmp(v->children[i].name, name) == 0) {
      return &v->children[i];
    }
  }
  return NULL;
}

/* A column that no row has. */
static cst__view no_values(const char *name, bool is_struct, int64_t length) {
  return (cst__view){.layout = is_struct ? CST__LAYOUT_STRUCT : CST__LAYOUT_NULL,
                     .length = length,
                     .null_count = is_struct ? 0 : length,
                     .name = name,
                     .format = is_struct ? "+s" : "n"};
}

/* The child of a struct's view, made without any value if need be; NULL: no memory. */
static cst__view *need_child(cst__view *v, const char *name, bool is_struct, cst__arena *arena) {
  cst__view *found = find_child(v, name);
  if (found != NULL) {
    return found;
  }
  size_t count = (size_t)v->num_children;
  cst__view *children = cst__arena_take(arena, (count + 1) * sizeof *children);
  if (children == NULL) {
    return NULL;
  }
  if (count > 0) {
    memcpy(children, v->children, count * sizeof *children);
  }
  children[count] = no_values(name, is_struct, v->length);
  v->children = children;
  v->num_children++;
  return &children[count];
}

static cst__view *below_lists(cst__view *v) {
  while (cst__view_is_list(v)) {
    v = &v->children[0];
  }
  return v;
}

static bool need_beside(cst__view *parent, const char *name, cst__arena *arena) {
  return name == NULL || need_child(parent, name, false, arena) != NULL;
}

/* The columns of a batch by name. */
typedef struct batch_columns {
  const cst__view *root;
  cst__name_map names;
  cst__arena *arena;
} batch_columns;

static bool list_columns(batch_columns *b) {
  for (int64_t i = 0; i < b->root->num_children; i++) {
    const char *name = b->root->children[i].name;
    size_t size = strlen(name);
    if (cst__name_map_find(&b->names, name, size) == SIZE_MAX &&
        !cst__name_map_add(&b->names, name, size, (size_t)i)) {
      return false;
    }
  }
  return true;
}

/* Puts a column, or one without any value, into the batch `out`, which has room. */
static void pick(const batch_columns *b, const char *name, bool is_struct, cst__view *out) {
  size_t at = name != NULL ? cst__name_map_find(&b->names, name, strlen(name)) : SIZE_MAX;
  if (name != NULL) {
    out->children[out->num_children++] =
        at != SIZE_MAX ? b->root->children[at] : no_values(name, is_struct, b->root->length);
  }
}

/* Adds what the innermost struct of the path lacks. Where something else than a struct is in the
 * way, the plan says so. False if out of memory. */
static bool need_nested(cst__view *root, const cst_tensor_spec *spec, cst__arena *arena) {
  cst__view *parent = root;
  bool fine = true;
  for (size_t i = 0; i + 1 < spec->num_path_steps; i++) {
    cst__view *child = need_child(parent, spec->path[i], true, arena);
    parent = child != NULL ? below_lists(child) : NULL;
    if (parent == NULL || parent->layout != CST__LAYOUT_STRUCT) {
      return child != NULL;
    }
  }
  fine = need_beside(parent, spec->path[spec->num_path_steps - 1], arena);
  for (size_t i = 0; i < spec->num_index_columns; i++) {
    fine = fine && need_beside(parent, spec->index_columns[i], arena);
  }
  for (size_t i = 0; i < spec->num_partitions; i++) {
    fine = fine && need_beside(parent, spec->partitions[i].row_length_column, arena);
  }
  return fine;
}

/* The batch of those columns alone that the tensor is made of: finding them among very many, batch
 * for batch, would take long. False if out of memory. */
static bool pick_columns(const batch_columns *b, const cst_tensor_spec *spec, cst__view *out) {
  size_t room = 1 + spec->num_index_columns + spec->num_partitions;
  *out = *b->root;
  out->num_children = 0;
  out->children = cst__arena_take(b->arena, room * sizeof *out->children);
  if (out->children == NULL || spec->num_path_steps == 0) {
    return out->children != NULL;
  }
  pick(b, spec->path[0], spec->num_path_steps > 1, out);
  if (spec->num_path_steps > 1) {
    return need_nested(out, spec, b->arena);
  }
  for (size_t i = 0; i < spec->num_index_columns; i++) {
    pick(b, spec->index_columns[i], false, out);
  }
  for (size_t i = 0; i < spec->num_partitions; i++) {
    pick(b, spec->partitions[i].row_length_column, false, out);
  }
  return true;
}

/* ---- rows ---- */

typedef struct tensor_check {
  cst__check *check;
  cst__tensor_tally *tally;
  bool *marks; /* of a structured tensor, whose fields come one by one: [reason][row]; else NULL */
} tensor_check;

static void say(char *at, const cst__row_fault *fault) {
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

static void on_fault(void *ctx, const cst__row_fault *fault) {
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
  char *at = cst__mark(t->check, finding, fault->row);
  if (at != NULL) {
    say(at, fault);
  }
}

/* Marks the rows that have the tensor's column at the top, which is none that it could be made
 * of. */
static void mark_type(const tensor_check *t, const cst__view *columns, const cst_error *problem) {
  if (t->tally->problem[0] == '\0') {
    memcpy(t->tally->problem, problem->message, sizeof t->tally->problem);
  }
  for (int64_t row = 0; row < columns->length; row++) {
    if (columns->num_children == 0 || !cst__view_is_null(&columns->children[0], row)) {
      cst__row_fault fault = {.row = row, .reason = CST__ROW_TYPE};
      on_fault((void *)(uintptr_t)t, &fault);
    }
  }
}

static cst_status check_spec(const tensor_check *t, const cst_tensor_spec *spec,
                             const batch_columns *batch) {
  cst_error problem = CST_ERROR_INIT;
  cst__view columns;
  cst__plan plan;
  for (size_t i = 0; i < spec->num_fields; i++) {
    CST__TRY(check_spec(t, &spec->fields[i], batch));
  }
  if (spec->kind == CST_TENSOR_STRUCTURED) {
    return CST_OK;
  }
  if (!pick_columns(batch, spec, &columns)) {
    return cst__fail_memory(t->check->error, 64);
  }
  cst_status status = cst__plan_init(&plan, spec, &columns, batch->arena, &problem);
  if (status == CST_SCHEMA || status == CST_UNSUPPORTED) {
    mark_type(t, &columns, &problem);
    return CST_OK;
  }
  if (status != CST_OK) {
    cst__error_copy(t->check->error, &problem);
    return status;
  }
  return cst__check_rows(&plan, &columns, &t->check->scratch, on_fault, (void *)(uintptr_t)t,
                         t->check->error);
}

/* Counts the rows that the fields have marked, in their order. */
static void count_marks(const tensor_check *t) {
  int64_t rows = t->check->rows;
  for (int64_t i = 0; i < CST__NUM_ROW_REASONS * rows; i++) {
    if (t->marks[i]) {
      (void)cst__mark(t->check, &t->tally->findings[i / rows], i % rows);
    }
  }
}

static cst_status check_tensor(tensor_check *t, const batch_columns *batch) {
  const cst_tensor_spec *spec = t->tally->spec;
  int64_t room = CST__NUM_ROW_REASONS * t->check->rows;
  for (size_t i = 0; i < CST__NUM_ROW_REASONS; i++) {
    t->tally->findings[i].last_row = -1;
  }
  if (spec->kind != CST_TENSOR_STRUCTURED) {
    return check_spec(t, spec, batch);
  }
  t->marks = cst__scratch_take(&t->check->scratch, room, sizeof *t->marks);
  CST__TRY(CST__TAKEN(t->marks, t->check->error));
  memset(t->marks, 0, (size_t)room * sizeof *t->marks);
  CST__TRY(check_spec(t, spec, batch));
  count_marks(t);
  return CST_OK;
}

cst_status cst__check_tensors(cst__check *check, const cst__view *batch, cst__arena *arena) {
  batch_columns columns = {.root = batch, .arena = arena};
  cst_status status = CST_OK;
  if (check->num_tensors > 0 && !list_columns(&columns)) {
    status = cst__fail_memory(check->error, 64);
  }
  for (size_t i = 0; status == CST_OK && i < check->num_tensors; i++) {
    tensor_check t = {check, &check->tensors[i], NULL};
    status = check_tensor(&t, &columns);
  }
  cst__name_map_reset(&columns.names);
  return status;
}
