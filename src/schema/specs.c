/* Tensor specs: the list, and in which order the rules make it.
 *
 * Source: RFC "TFXIO schema interpretation".
 */
#include <columnstone/schema.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arguments.h"
#include "base/names.h"
#include "schema/specs_internal.h"

cst_specs *cst_specs_retain(const cst_specs *specs) {
  cst_specs *shared = (cst_specs *)(uintptr_t)specs; /* only the count changes */
  if (shared != NULL) {
    cst__refcount_up(&shared->owners);
  }
  return shared;
}

void cst_specs_release(cst_specs *specs) {
  if (specs != NULL && cst__refcount_down(&specs->owners)) {
    cst_specs_release(specs->base);
    cst__delete(specs->items);
    cst__arena_reset(&specs->arena);
    cst__delete(specs);
  }
}

size_t cst_specs_num_specs(const cst_specs *specs) { return specs != NULL ? specs->count : 0; }

const cst_tensor_spec *cst_specs_get(const cst_specs *specs, size_t i) {
  return specs != NULL && i < specs->count ? &specs->items[i] : NULL;
}

/* ---- for the rules ---- */

cst_dtype cst__specs_dtype(cst_feature_type type) {
  switch (type) {
    case CST_FEATURE_BYTES:
      return CST_DTYPE_BYTES;
    case CST_FEATURE_INT:
      return CST_DTYPE_INT64;
    case CST_FEATURE_FLOAT:
      return CST_DTYPE_FLOAT32;
    case CST_FEATURE_STRUCT:
    case CST_FEATURE_UNKNOWN:
      break;
  }
  return CST_DTYPE_NONE;
}

void *cst__specs_take(cst__specs_builder *b, size_t count, size_t item_size) {
  size_t size;
  void *memory = NULL;
  if (cst__mul(count, item_size, &size)) {
    memory = cst__arena_take_zero(&b->specs->arena, size);
  }
  if (memory == NULL) {
    (void)cst__fail_memory(b->error, count);
  }
  return memory;
}

cst_status cst__specs_copy_name(cst__specs_builder *b, const cst__message *place, cst_bytes name,
                                const char **out) {
  if (name.size > 0 && memchr(name.data, '\0', name.size) != NULL) {
    return cst__schema_fail(place, b->error, "rename it",
                            "the name of a tensor or its column contains a NUL byte");
  }
  *out = cst__arena_copy(&b->specs->arena, name.data, name.size);
  return *out != NULL ? CST_OK : cst__fail_memory(b->error, name.size);
}

cst_status cst__specs_add(cst__specs_builder *b, const cst__message *place, cst_bytes name,
                          cst_tensor_kind kind, const char *reason, cst_tensor_spec **out) {
  cst_specs *specs = b->specs;
  const char *copy;
  CST__TRY(cst__specs_copy_name(b, place, name, &copy));
  if (cst__name_map_find(&b->tensors, copy, name.size) != SIZE_MAX) {
    cst_status status =
        cst__schema_fail(place, b->error, "rename one of them", "two tensors have the same name");
    cst__error_add_path(b->error, copy, name.size);
    return status;
  }
  void *items = specs->items;
  bool ok = cst__grow(NULL, &items, &specs->capacity, specs->count + 1, sizeof *specs->items);
  specs->items = items;
  if (!ok || !cst__name_map_add(&b->tensors, copy, name.size, specs->count)) {
    return cst__fail_memory(b->error, sizeof *specs->items);
  }
  *out = &specs->items[specs->count++];
  **out = (cst_tensor_spec){.name = copy, .kind = kind, .reason = reason};
  return CST_OK;
}

cst_status cst__specs_set_path(cst__specs_builder *b, const cst__message *place,
                               cst_tensor_spec *spec, const char *parent, const char *name) {
  const char **path;
  size_t steps = parent != NULL ? 2 : 1;
  path = cst__specs_take(b, steps, sizeof *path);
  if (path == NULL) {
    return CST_NO_MEMORY;
  }
  if (parent != NULL) {
    CST__TRY(cst__specs_copy_name(b, place, cst__bytes_of(parent), &path[0]));
  }
  CST__TRY(cst__specs_copy_name(b, place, cst__bytes_of(name), &path[steps - 1]));
  spec->path = path;
  spec->num_path_steps = steps;
  return CST_OK;
}

/* ---- the whole ---- */

enum { MAX_GROUPS_NAMED = 32 };

static cst_status fail_group(const cst__field *groups, cst_bytes wanted, cst_error *error) {
  const char *names[MAX_GROUPS_NAMED];
  char copies[MAX_GROUPS_NAMED][64];
  char name[64];
  char hint[CST__NEAR_HINT] = "";
  size_t count = groups != NULL ? groups->count : 0;
  count = count < MAX_GROUPS_NAMED ? count : MAX_GROUPS_NAMED;
  for (size_t i = 0; i < count; i++) {
    cst_bytes key = cst__message_bytes(cst__nth_message(groups, i), ENTRY_KEY);
    cst__escape(copies[i], sizeof copies[i], (const char *)key.data, key.size);
    names[i] = copies[i];
  }
  cst__escape(name, sizeof name, (const char *)wanted.data, wanted.size);
  cst__name_list list = cst__name_list_of(names, count);
  if (cst__near_hint(hint, name, &list) == NULL && count > 0) {
    (void)snprintf(hint, sizeof hint, "the first one is '%s'", names[0]);
  }
  return cst__fail(error, CST_NOT_FOUND, hint, "the schema has no tensor_representation_group '%s'",
                   name);
}

static cst_status add_explicit(cst__specs_builder *b, cst_bytes wanted) {
  const cst__field *groups = cst__message_find(b->schema->root, SCHEMA_GROUP);
  for (size_t i = 0; groups != NULL && i < groups->count; i++) {
    const cst__message *entry = cst__nth_message(groups, i);
    if (cst__bytes_equal(cst__message_bytes(entry, ENTRY_KEY), wanted)) {
      return cst__specs_add_group(b, cst__message_child(entry, ENTRY_VALUE), wanted);
    }
  }
  return wanted.size == 0 ? CST_OK : fail_group(groups, wanted, b->error);
}

static int compare_specs(const void *a, const void *b) {
  return strcmp(((const cst_tensor_spec *)a)->name, ((const cst_tensor_spec *)b)->name);
}

static void sort_by_name(cst_specs *specs) {
  if (specs->count > 1) {
    qsort(specs->items, specs->count, sizeof *specs->items, compare_specs);
  }
}

static cst_status build_specs(cst__specs_builder *b, const char *group, const char *environment) {
  CST__TRY(add_explicit(b, cst__bytes_of(group != NULL ? group : "")));
  CST__TRY(cst__specs_infer(b));
  CST__TRY(cst__specs_keep_environment(b, environment));
  sort_by_name(b->specs);
  return CST_OK;
}

static cst_status build_ragged(cst__specs_builder *b) {
  const cst__field *groups = cst__message_find(b->schema->root, SCHEMA_GROUP);
  b->only_ragged = true;
  for (size_t i = 0; groups != NULL && i < groups->count; i++) {
    const cst__message *entry = cst__nth_message(groups, i);
    CST__TRY(cst__specs_add_group(b, cst__message_child(entry, ENTRY_VALUE),
                                  cst__message_bytes(entry, ENTRY_KEY)));
  }
  sort_by_name(b->specs);
  return CST_OK;
}

static cst_specs *new_specs(void) {
  cst_specs *specs = cst__new_zero(NULL, sizeof *specs);
  if (specs != NULL) {
    cst__refcount_init(&specs->owners);
    cst__arena_init(&specs->arena, NULL);
  }
  return specs;
}

static cst_status finish_specs(cst__specs_builder *b, cst_status status, cst_specs **out) {
  cst__name_map_reset(&b->tensors);
  cst__name_map_reset(&b->sources);
  cst__name_map_reset(&b->consumed);
  cst__name_map_reset(&b->below);
  if (status != CST_OK) {
    cst_specs_release(b->specs);
    return status;
  }
  *out = b->specs;
  return CST_OK;
}

cst_status cst_specs_new(const cst_schema *schema, const cst_specs_options *options,
                         cst_specs **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(schema, "schema", out, error));
  cst_specs_options own = CST_SPECS_OPTIONS_INIT;
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  cst__specs_builder b = {
      .schema = schema, .specs = new_specs(), .legacy = own.legacy, .error = error};
  if (b.specs == NULL) {
    return cst__fail_memory(error, sizeof *b.specs);
  }
  cst_status status = build_specs(&b, own.group, own.environment);
  return finish_specs(&b, status, out);
}

cst_status cst__specs_new_ragged(const cst_schema *schema, cst_specs **out, cst_error *error) {
  cst__specs_builder b = {.schema = schema, .specs = new_specs(), .error = error};
  if (b.specs == NULL) {
    return cst__fail_memory(error, sizeof *b.specs);
  }
  return finish_specs(&b, build_ragged(&b), out);
}

size_t cst__specs_find(const cst_specs *specs, const char *name) {
  size_t low = 0;
  size_t high = specs->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (strcmp(specs->items[middle].name, name) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < specs->count && strcmp(specs->items[low].name, name) == 0 ? low : SIZE_MAX;
}

/* ---- projection ---- */

/* The columns that tensors are made of, by name, those in a struct as "<struct>.<child>" or, as the
 * struct brings all of its children, by the struct's name. */
typedef struct projection {
  cst__name_map wanted;
  cst__name_map users;   /* the number of the first tensor that a column is a part of, */
  cst__name_map covered; /* and the columns that the tensors which stay are made of */
  cst__arena dotted;     /* names of children */
} projection;

static void reset_projection(projection *p) {
  cst__name_map_reset(&p->wanted);
  cst__name_map_reset(&p->users);
  cst__name_map_reset(&p->covered);
  cst__arena_reset(&p->dotted);
}

static bool has_wanted_column(const projection *p, const char *name) {
  return cst__name_map_find(&p->wanted, name, strlen(name)) != SIZE_MAX;
}

/* "<parent>.<child>"; NULL: no memory. */
static const char *dotted_name(projection *p, const cst_tensor_spec *spec) {
  size_t first = strlen(spec->path[0]);
  size_t second = strlen(spec->path[1]);
  char *name = cst__arena_take(&p->dotted, first + second + 2);
  if (name != NULL) {
    memcpy(name, spec->path[0], first);
    name[first] = '.';
    memcpy(name + first + 1, spec->path[1], second + 1);
  }
  return name;
}

/* What is done with every column of a tensor; false: no memory. */
typedef bool on_column(projection *p, const char *column, size_t tensor);

static bool note_group(cst__name_map *map, const char *column, size_t tensor) {
  size_t size = strlen(column);
  return cst__name_map_find(map, column, size) != SIZE_MAX ||
         cst__name_map_add(map, column, size, tensor);
}

static bool note_user(projection *p, const char *column, size_t tensor) {
  return note_group(&p->users, column, tensor);
}

static bool note_covered(projection *p, const char *column, size_t tensor) {
  return note_group(&p->covered, column, tensor);
}

static bool visit_columns(projection *p, const cst_tensor_spec *spec, size_t tensor,
                          on_column *visit) {
  bool ok = true;
  for (size_t i = 0; i < spec->num_fields; i++) {
    ok = ok && visit_columns(p, &spec->fields[i], tensor, visit);
  }
  if (spec->kind != CST_TENSOR_STRUCTURED) {
    ok = ok && visit(p, spec->path[0], tensor);
    if (ok && spec->num_path_steps == 2) {
      const char *name = dotted_name(p, spec);
      ok = name != NULL && visit(p, name, tensor);
    }
  }
  for (size_t i = 0; i < spec->num_index_columns; i++) {
    ok = ok && visit(p, spec->index_columns[i], tensor);
  }
  for (size_t i = 0; i < spec->num_partitions && spec->num_path_steps == 1; i++) {
    const char *lengths = spec->partitions[i].row_length_column;
    ok = ok && (lengths == NULL || visit(p, lengths, tensor));
  }
  return ok;
}

/* The value column is wanted; *ok becomes false without memory. */
static bool has_value(projection *p, const cst_tensor_spec *spec, bool *ok) {
  if (has_wanted_column(p, spec->path[0]) || spec->num_path_steps != 2) {
    return has_wanted_column(p, spec->path[0]);
  }
  const char *name = dotted_name(p, spec);
  *ok = *ok && name != NULL;
  return name != NULL && has_wanted_column(p, name);
}

/* True if all columns that the tensor is made of are there. */
static bool has_wanted_columns(projection *p, const cst_tensor_spec *spec, bool *ok) {
  for (size_t i = 0; i < spec->num_fields; i++) {
    if (!has_wanted_columns(p, &spec->fields[i], ok)) {
      return false;
    }
  }
  if (spec->kind == CST_TENSOR_STRUCTURED) {
    return true;
  }
  if (!has_value(p, spec, ok)) {
    return false;
  }
  for (size_t i = 0; i < spec->num_index_columns; i++) {
    if (!has_wanted_column(p, spec->index_columns[i])) {
      return false;
    }
  }
  for (size_t i = 0; i < spec->num_partitions && spec->num_path_steps == 1; i++) {
    const char *lengths = spec->partitions[i].row_length_column;
    if (lengths != NULL && !has_wanted_column(p, lengths)) {
      return false;
    }
  }
  return true;
}

/* A wanted column must not vanish: it is part of a tensor, or of none at all. */
static cst_status check_wanted(const projection *p, const cst_specs *all, const char *column,
                               cst_error *error) {
  size_t size = strlen(column);
  size_t user = cst__name_map_find(&p->users, column, size);
  if (user == SIZE_MAX || cst__name_map_find(&p->covered, column, size) != SIZE_MAX) {
    return CST_OK;
  }
  char name[64];
  cst__escape(name, sizeof name, all->items[user].name, strlen(all->items[user].name));
  cst_status status = cst__fail(error, CST_SCHEMA, "add its other columns to the wanted ones",
                                "tensor '%s' needs more columns than this one", name);
  cst__error_add_path(error, column, size);
  return status;
}

/* The tensors that are whole go to `part`. */
static cst_status project(projection *p, const cst_specs *specs, const char *const *columns,
                          size_t num_columns, cst_specs *part, cst_error *error) {
  bool ok = true;
  for (size_t i = 0; i < num_columns; i++) {
    ok = ok && note_group(&p->wanted, columns[i], i);
  }
  for (size_t i = 0; ok && i < specs->count; i++) {
    const cst_tensor_spec *spec = &specs->items[i];
    ok = visit_columns(p, spec, i, note_user);
    if (ok && has_wanted_columns(p, spec, &ok)) {
      part->items[part->count++] = *spec;
      ok = ok && visit_columns(p, spec, i, note_covered);
    }
  }
  if (!ok) {
    return cst__fail_memory(error, sizeof(cst__name_slot));
  }
  for (size_t i = 0; i < num_columns; i++) {
    CST__TRY(check_wanted(p, specs, columns[i], error));
  }
  return CST_OK;
}

cst_status cst__specs_project(const cst_specs *specs, const char *const *columns,
                              size_t num_columns, cst_specs **out, cst_error *error) {
  cst_specs *part = cst__new_zero(NULL, sizeof *part);
  size_t size = (specs->count + 1) * sizeof *specs->items;
  cst_tensor_spec *items = part != NULL ? cst__new(NULL, size) : NULL;
  if (items == NULL) {
    cst__delete(part);
    return cst__fail_memory(error, size);
  }
  cst__refcount_init(&part->owners);
  cst__arena_init(&part->arena, NULL);
  part->items = items;
  part->base = cst_specs_retain(specs);
  projection p = {.dotted = {.head = NULL}};
  cst__arena_init(&p.dotted, NULL);
  cst_status status = project(&p, specs, columns, num_columns, part, error);
  reset_projection(&p);
  if (status != CST_OK) {
    cst_specs_release(part);
    return status;
  }
  *out = part;
  return CST_OK;
}
