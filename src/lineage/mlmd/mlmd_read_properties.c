/* Properties of MLMD: one row each, of which one column has the value. */
#include <stdio.h>
#include <string.h>

#include "lineage/mlmd/mlmd_read.h"
#include "lineage/properties.h"

enum { IS_CUSTOM = 2, INT_VALUE, DOUBLE_VALUE, STRING_VALUE, BYTE_VALUE, PROTO_VALUE, BOOL_VALUE };

cst_status cst__mlmd_keep(cst__arena *arena, const char *text, const char **out, cst_error *error) {
  *out = NULL;
  if (text == NULL) {
    return CST_OK;
  }
  *out = cst__arena_copy(arena, text, strlen(text));
  return *out != NULL ? CST_OK : cst__fail_memory(error, strlen(text));
}

cst_status cst__mlmd_add_property(cst__mlmd_import *at, const cst_lineage_property *property,
                                  cst_error *error) {
  if (!cst__grow(&at->store->allocator, (void **)&at->list, &at->capacity, at->num_properties + 1,
                 sizeof *at->list)) {
    return cst__fail_memory(error, (at->num_properties + 1) * sizeof *at->list);
  }
  at->list[at->num_properties++] = *property;
  return CST_OK;
}

cst_status cst__mlmd_add_text(cst__mlmd_import *at, const char *name, const char *text,
                              cst_error *error) {
  const cst_lineage_property property = cst__lineage_text_of(name, text);
  for (size_t i = 0; i < at->num_properties; i++) {
    if (strcmp(at->list[i].name, name) == 0) {
      at->list[i] = property;
      return CST_OK;
    }
  }
  return cst__mlmd_add_property(at, &property, error);
}

const cst_lineage_property *cst__mlmd_property(const cst__mlmd_import *at, const char *name) {
  for (size_t i = 0; i < at->num_properties; i++) {
    if (strcmp(at->list[i].name, name) == 0) {
      return &at->list[i];
    }
  }
  return NULL;
}

const char *cst__mlmd_text_property(const cst__mlmd_import *at, const char *name) {
  const cst_lineage_property *property = cst__mlmd_property(at, name);
  return property != NULL && property->kind == CST_LINEAGE_TEXT ? (const char *)property->bytes.data
                                                                : NULL;
}

/* Bytes of a column, behind a prefix, in the arena with a NUL after them. */
static cst_status copy_bytes(cst__mlmd_import *at, const cst__mlmd_rows *row, int column,
                             const char *prefix, cst_bytes *out, cst_error *error) {
  const void *bytes = sqlite3_column_blob(row->statement, column);
  const size_t size = (size_t)sqlite3_column_bytes(row->statement, column);
  const size_t before = strlen(prefix);
  char *copy = cst__arena_take(&at->arena, before + size + 1);
  if (copy == NULL) {
    return cst__fail_memory(error, size);
  }
  memcpy(copy, prefix, before + 1);
  if (size > 0) {
    memcpy(copy + before, bytes, size);
  }
  copy[before + size] = '\0';
  *out = (cst_bytes){(const uint8_t *)copy, before + size};
  return CST_OK;
}

/* The column that is not null. */
static cst_status read_value(cst__mlmd_import *at, const cst__mlmd_rows *row,
                             cst_lineage_property *property, cst_error *error) {
  int column = INT_VALUE;
  while (column <= BOOL_VALUE && sqlite3_column_type(row->statement, column) == SQLITE_NULL) {
    column++;
  }
  const int type = column <= BOOL_VALUE ? sqlite3_column_type(row->statement, column) : SQLITE_NULL;
  const bool is_bytes = type == SQLITE_TEXT || type == SQLITE_BLOB;
  if ((column == INT_VALUE || column == BOOL_VALUE) && type == SQLITE_INTEGER) {
    property->number = sqlite3_column_int64(row->statement, column);
    property->kind = column == INT_VALUE ? CST_LINEAGE_INT : CST_LINEAGE_BOOL;
    property->number = column == INT_VALUE ? property->number : property->number != 0;
    return CST_OK;
  }
  if (column == DOUBLE_VALUE && (type == SQLITE_FLOAT || type == SQLITE_INTEGER)) {
    property->real = sqlite3_column_double(row->statement, column);
    property->kind = CST_LINEAGE_REAL;
    return CST_OK;
  }
  if ((column == STRING_VALUE && type == SQLITE_TEXT) || (column == PROTO_VALUE && is_bytes)) {
    property->kind = CST_LINEAGE_TEXT;
    return copy_bytes(at, row, column, column == PROTO_VALUE ? CST__MLMD_PROTO : "",
                      &property->bytes, error);
  }
  if (column == BYTE_VALUE && is_bytes) {
    property->kind = CST_LINEAGE_BYTES;
    return copy_bytes(at, row, column, "", &property->bytes, error);
  }
  return cst__mlmd_fail_row(
      row, error, "its property '%.80s' has no value of the type of its column", property->name);
}

/* What we wrote of this very thing, or else nothing: TFX copies custom properties to others. */
static cst_status read_own(cst__mlmd_import *at, const cst__mlmd_rows *row, cst__mlmd_thing *thing,
                           cst_bytes text, cst_error *error) {
  cst__json_fault fault;
  yyjson_val *root;
  cst_error inner = CST_ERROR_INIT;
  cst_status status =
      cst__json_document_parse(&at->json, text, CST__JSON_VALUES, &root, &fault, &inner);
  if (status == CST_NO_MEMORY) {
    return cst__fail_memory(error, text.size);
  }
  if (status != CST_OK) {
    return cst__mlmd_fail_row(row, error, "its property %s: %s", cst__mlmd_own(thing->kind),
                              inner.message);
  }
  yyjson_val *id = yyjson_obj_get(root, "id");
  if (yyjson_is_int(id) && yyjson_get_sint(id) == thing->id) {
    thing->own = root;
  }
  return CST_OK;
}

/* Whether there is a property of this name that is no custom one: they are in order. */
static bool is_proper(const cst__mlmd_import *at, const char *name) {
  size_t begin = 0, end = at->num_proper;
  while (begin < end) {
    const size_t middle = begin + (end - begin) / 2;
    const int order = strcmp(at->list[middle].name, name);
    if (order == 0) {
      return true;
    }
    begin = order < 0 ? middle + 1 : begin;
    end = order < 0 ? end : middle;
  }
  return false;
}

/* The name that it has with us. */
static cst_status read_name(cst__mlmd_import *at, const char *name, bool is_custom,
                            const char **out, cst_error *error) {
  const bool may_be_made = strncmp(name, CST__MLMD_CUSTOM, strlen(CST__MLMD_CUSTOM)) == 0;
  const bool is_taken = may_be_made ? cst__mlmd_property(at, name) != NULL : is_proper(at, name);
  if (!is_custom || !is_taken) {
    return cst__mlmd_keep(&at->arena, name, out, error);
  }
  const size_t size = strlen(CST__MLMD_CUSTOM) + strlen(name) + 1;
  char *longer = cst__arena_take(&at->arena, size);
  if (longer == NULL) {
    return cst__fail_memory(error, size);
  }
  (void)snprintf(longer, size, CST__MLMD_CUSTOM "%s", name);
  *out = longer;
  return CST_OK;
}

static cst_status read_property(cst__mlmd_import *at, const cst__mlmd_rows *row,
                                cst__mlmd_thing *thing, cst_error *error) {
  cst_lineage_property property = {0};
  const char *name;
  int64_t is_custom;
  CST__TRY(cst__mlmd_text(row, 1, &name, error));
  CST__TRY(cst__mlmd_number(row, IS_CUSTOM, &is_custom, error));
  if (name == NULL) {
    return cst__mlmd_fail_row(row, error, "a property of it has no name");
  }
  CST__TRY(read_name(at, name, is_custom != 0, &property.name, error));
  CST__TRY(read_value(at, row, &property, error));
  if (is_custom != 0 && property.kind == CST_LINEAGE_TEXT &&
      strcmp(name, cst__mlmd_own(thing->kind)) == 0) {
    return read_own(at, row, thing, property.bytes, error);
  }
  CST__TRY(cst__mlmd_add_property(at, &property, error));
  at->num_proper = is_custom == 0 ? at->num_properties : at->num_proper;
  return CST_OK;
}

cst_status cst__mlmd_read_properties(cst__mlmd_import *at, cst__mlmd_thing *thing,
                                     cst_error *error) {
  cst__mlmd_rows *rows = &at->properties[thing->kind];
  bool is_row = true;
  at->num_properties = at->num_proper = 0;
  thing->own = NULL;
  (void)sqlite3_bind_int64(rows->statement, 1, thing->id);
  cst_status status;
  while ((status = cst__mlmd_step(rows, &is_row, error)) == CST_OK && is_row &&
         (status = read_property(at, rows, thing, error)) == CST_OK) {
  }
  (void)sqlite3_reset(rows->statement);
  return status;
}

cst_status cst__mlmd_set_properties(cst__mlmd_import *at, const cst__mlmd_rows *row,
                                    const cst__mlmd_thing *thing, int64_t ours, cst_error *error) {
  cst_error inner = CST_ERROR_INIT;
  if (thing->kept != NULL) {
    CST__TRY(cst__mlmd_add_text(at, CST__MLMD_STATE, thing->kept, error));
  }
  if (thing->external_id != NULL) {
    CST__TRY(cst__mlmd_add_text(at, CST__MLMD_EXTERNAL_ID, thing->external_id, error));
  }
  cst_status status = cst__lineage_check_properties(at->list, at->num_properties, &inner);
  if (status == CST_NO_MEMORY) {
    return cst__fail_memory(error, at->num_properties);
  }
  if (status != CST_OK) {
    return cst__mlmd_fail_row(row, error, "%s", inner.message);
  }
  return cst__lineage_set(at->store, thing->kind, ours, at->list, at->num_properties, error);
}
