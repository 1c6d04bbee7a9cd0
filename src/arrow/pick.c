/* Picking columns of a struct by name. */
#include <errno.h>
#include <nanoarrow/nanoarrow.h>
#include <stdio.h>
#include <string.h>

#include "arrow/concat.h"
#include "arrow/owned.h"
#include "base/hash.h"
#include "base/names.h"

/* ---- finding ---- */

static const char *pick_field_name(const struct ArrowSchema *schema, int64_t i) {
  const char *name = schema->children[i]->name;
  return name != NULL ? name : "";
}

/* The field's name in a list of names. */
static const char *nth_field(const void *schema, size_t i) {
  return pick_field_name(schema, (int64_t)i);
}

static cst_status pick_find_places(const char *const *columns, size_t count,
                                   const struct ArrowSchema *schema, const cst__name_map *map,
                                   int64_t *places, cst_error *error) {
  for (size_t i = 0; i < count; i++) {
    places[i] = -1;
  }
  for (int64_t i = 0; i < schema->n_children; i++) {
    const char *name = pick_field_name(schema, i);
    size_t at = cst__name_map_find(map, name, strlen(name));
    if (at != SIZE_MAX && places[at] >= 0) {
      cst__fail(error, CST_INVALID_ARGUMENT, "read all columns, without naming them",
                "two columns have this name");
      cst__error_add_path(error, name, strlen(name));
      return CST_INVALID_ARGUMENT;
    }
    if (at != SIZE_MAX) {
      places[at] = i;
    }
  }
  for (size_t i = 0; i < count; i++) {
    if (places[i] < 0) {
      cst__name_list names = {schema, (size_t)schema->n_children, nth_field};
      return cst__fail_unknown(error, CST_NOT_FOUND, "no such column", columns[i], &names);
    }
  }
  return CST_OK;
}

cst_status cst__find_columns(const char *const *columns, size_t num_columns,
                             const struct ArrowSchema *schema, int64_t *places, cst_error *error) {
  cst__name_map map = {0};
  cst_status status = cst__map_columns(columns, num_columns, &map, error);
  if (status == CST_OK) {
    status = pick_find_places(columns, num_columns, schema, &map, places, error);
  }
  cst__name_map_reset(&map);
  return status;
}

/* ---- picking ---- */

cst_status cst__pick_fields(const int64_t *places, size_t count, struct ArrowSchema *schema,
                            cst_error *error) {
  struct ArrowSchema picked;
  ArrowSchemaInit(&picked);
  int code = ArrowSchemaSetTypeStruct(&picked, (int64_t)count);
  code = code == NANOARROW_OK ? ArrowSchemaSetName(&picked, schema->name) : code;
  code = code == NANOARROW_OK ? ArrowSchemaSetMetadata(&picked, schema->metadata) : code;
  if (code != NANOARROW_OK) {
    ArrowSchemaRelease(&picked);
    return cst__fail_memory(error, count * sizeof picked);
  }
  picked.flags = schema->flags;
  for (size_t i = 0; i < count; i++) {
    ArrowSchemaRelease(picked.children[i]);
    ArrowSchemaMove(schema->children[places[i]], picked.children[i]);
  }
  schema->release(schema);
  *schema = picked;
  return CST_OK;
}

/* The bitmap of null rows, should there be some. */
static cst_status keep_validity(const struct ArrowArray *batch, struct ArrowArray *picked,
                                cst_error *error) {
  const uint8_t *bitmap = batch->n_buffers > 0 ? batch->buffers[0] : NULL;
  if (bitmap == NULL || batch->null_count == 0) {
    picked->null_count = 0;
    return CST_OK;
  }
  size_t size = cst__bits_size(batch->offset + batch->length);
  uint8_t *copy = cst__owned_buffer(picked, 0, size);
  if (copy == NULL) {
    return cst__fail_memory(error, size);
  }
  memcpy(copy, bitmap, size);
  return CST_OK;
}

cst_status cst__pick_arrays(const int64_t *places, size_t count, const cst_allocator *allocator,
                            struct ArrowArray *batch, cst_error *error) {
  struct ArrowArray picked;
  CST__TRY(cst__owned_new(allocator, 1, (int64_t)count, false, &picked, error));
  picked.length = batch->length;
  picked.offset = batch->offset;
  picked.null_count = batch->null_count;
  cst_status status = keep_validity(batch, &picked, error);
  if (status != CST_OK) {
    cst__array_release(&picked);
    return status;
  }
  for (size_t i = 0; i < count; i++) {
    *picked.children[i] = *batch->children[places[i]];
    batch->children[places[i]]->release = NULL;
  }
  batch->release(batch);
  *batch = picked;
  return CST_OK;
}

cst_status cst__pick_columns(const char *const *columns, size_t num_columns,
                             struct ArrowSchema *schema, struct ArrowArray *batch,
                             cst_error *error) {
  size_t size = (num_columns + 1) * sizeof(int64_t);
  int64_t *places = cst__new(NULL, size);
  if (places == NULL) {
    return cst__fail_memory(error, size);
  }
  cst_status status = cst__find_columns(columns, num_columns, schema, places, error);
  if (status == CST_OK && batch != NULL) {
    status = cst__pick_arrays(places, num_columns, NULL, batch, error);
  }
  if (status == CST_OK) {
    status = cst__pick_fields(places, num_columns, schema, error);
  }
  cst__delete(places);
  return status;
}
