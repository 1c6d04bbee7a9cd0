/* Projecting tensor specs to some columns: those that can still be made, as a list of its own. */
#include <string.h>

#include "schema/specs_internal.h"

static bool is_wanted(const char *column, const char *const *columns, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(column, columns[i]) == 0) {
      return true;
    }
  }
  return false;
}

static bool can_be_made(const cst_tensor_spec *spec, const char *const *columns, size_t count) {
  bool wanted = spec->num_path_steps == 0 || is_wanted(spec->path[0], columns, count);
  for (size_t i = 0; i < spec->num_index_columns && wanted; i++) {
    wanted = is_wanted(spec->index_columns[i], columns, count);
  }
  for (size_t i = 0; i < spec->num_partitions && wanted; i++) {
    const char *lengths = spec->partitions[i].row_length_column;
    wanted = lengths == NULL || is_wanted(lengths, columns, count);
  }
  return wanted;
}

/* NULL only without memory: an empty list has an address, too. */
static void *copy_items(cst__arena *arena, const void *items, size_t count, size_t item_size) {
  void *copy = cst__arena_take(arena, count * item_size + 1);
  if (copy != NULL && count > 0) {
    memcpy(copy, items, count * item_size);
  }
  return copy;
}

static bool copy_names(cst__arena *arena, const char *const *names, size_t count,
                       const char *const **out) {
  const char **copy = copy_items(arena, names, count, sizeof *copy);
  for (size_t i = 0; copy != NULL && i < count; i++) {
    copy[i] = cst__arena_copy(arena, names[i], strlen(names[i]));
    if (copy[i] == NULL) {
      return false;
    }
  }
  *out = copy;
  return copy != NULL;
}

static bool copy_partitions(cst__arena *arena, cst_tensor_spec *spec) {
  cst_partition *copy =
      copy_items(arena, spec->partitions, spec->num_partitions, sizeof *spec->partitions);
  for (size_t i = 0; copy != NULL && i < spec->num_partitions; i++) {
    const char *lengths = copy[i].row_length_column;
    if (lengths != NULL) {
      copy[i].row_length_column = cst__arena_copy(arena, lengths, strlen(lengths));
      if (copy[i].row_length_column == NULL) {
        return false;
      }
    }
  }
  spec->partitions = copy;
  return copy != NULL;
}

/* Replaces all that a spec points to by copies in the arena. */
static bool copy_spec(cst__arena *arena, cst_tensor_spec *spec) {
  const char *reason = spec->reason != NULL ? spec->reason : "";
  spec->name = cst__arena_copy(arena, spec->name, strlen(spec->name));
  spec->reason = cst__arena_copy(arena, reason, strlen(reason));
  spec->dims = copy_items(arena, spec->dims, spec->num_dims, sizeof *spec->dims);
  spec->default_bytes.data =
      copy_items(arena, spec->default_bytes.data, spec->default_bytes.size, 1);
  return spec->name != NULL && spec->reason != NULL && spec->dims != NULL &&
         spec->default_bytes.data != NULL &&
         copy_names(arena, spec->path, spec->num_path_steps, &spec->path) &&
         copy_names(arena, spec->index_columns, spec->num_index_columns, &spec->index_columns) &&
         copy_partitions(arena, spec);
}

cst_status cst__specs_project(const cst_specs *specs, const char *const *columns,
                              size_t num_columns, cst_specs **out, cst_error *error) {
  cst_specs *projected = cst__new_zero(NULL, sizeof *projected);
  if (projected == NULL) {
    return cst__fail_memory(error, sizeof *projected);
  }
  cst__refcount_init(&projected->owners);
  cst__arena_init(&projected->arena, NULL);
  for (size_t i = 0; i < specs->count; i++) {
    void *items = projected->items;
    if (!can_be_made(&specs->items[i], columns, num_columns)) {
      continue;
    }
    bool done = cst__grow(NULL, &items, &projected->capacity, projected->count + 1,
                          sizeof *projected->items);
    projected->items = items;
    if (done) {
      projected->items[projected->count] = specs->items[i];
      done = copy_spec(&projected->arena, &projected->items[projected->count++]);
    }
    if (!done) {
      cst__specs_release(projected);
      return cst__fail_memory(error, sizeof *projected->items);
    }
  }
  *out = projected;
  return CST_OK;
}
