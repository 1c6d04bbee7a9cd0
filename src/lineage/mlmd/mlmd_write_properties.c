/* Properties on their way to MLMD: declared ones, custom ones, and those that it cannot hold. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lineage/mlmd/mlmd_write.h"
#include "text/base64.h"
#include "text/json_string.h"

/* ---- properties ---- */

typedef struct property {
  const char *name;
  cst_lineage_value_kind kind;
  sqlite3_stmt *row; /* with the value in this column */
  int column;
} property;

enum { TO_INT = 4, TO_REAL, TO_TEXT, TO_PROTO, TO_BOOL }; /* parameters */

/* Begins the statement that writes a property. */
static cst__mlmd_rows *begin_property(cst__mlmd_export *at, const cst__mlmd_node *of,
                                      const char *name, bool is_custom) {
  cst__mlmd_rows *add = &at->write.add_property[of->kind];
  (void)sqlite3_clear_bindings(add->statement);
  (void)sqlite3_bind_int64(add->statement, 1, of->id);
  (void)sqlite3_bind_text(add->statement, 2, name, -1, SQLITE_STATIC);
  (void)sqlite3_bind_int(add->statement, 3, is_custom);
  return add;
}

static const char *value_kind_name(cst_lineage_value_kind kind) {
  static const char *const names[] = {"int", "real", "text", "bool", "bytes"};
  return names[kind];
}

/* One that MLMD cannot hold, as an item of "properties". */
static void keep_property(cst__mlmd_export *at, const property *p) {
  cst__text *text = &at->properties;
  cst__mlmd_put_comma(text);
  cst__text_puts(text, "[");
  cst__put_json_text(text, p->name);
  cst__text_printf(text, ", \"%s\", ", value_kind_name(p->kind));
  if (p->kind == CST_LINEAGE_TEXT || p->kind == CST_LINEAGE_BYTES) {
    const uint8_t *bytes = sqlite3_column_blob(p->row, p->column);
    cst__text_puts(text, "\"");
    cst__put_base64(text, (cst_bytes){bytes, (size_t)sqlite3_column_bytes(p->row, p->column)});
    cst__text_puts(text, "\"]");
    return;
  }
  int64_t number = sqlite3_column_int64(p->row, p->column);
  if (p->kind == CST_LINEAGE_REAL) { /* its bits: also of what JSON has no number for */
    const double real = sqlite3_column_double(p->row, p->column);
    memcpy(&number, &real, sizeof number);
  }
  cst__text_printf(text, "%" PRId64 "]", number);
}

/* Binds the value; false: MLMD cannot hold it. */
static cst_status bind_value(cst__mlmd_export *at, cst__mlmd_rows *add, const property *p,
                             bool *fits, cst_error *error) {
  *fits = true;
  if (p->kind == CST_LINEAGE_INT || p->kind == CST_LINEAGE_BOOL) {
    (void)sqlite3_bind_int64(add->statement, p->kind == CST_LINEAGE_INT ? TO_INT : TO_BOOL,
                             sqlite3_column_int64(p->row, p->column));
    return CST_OK;
  }
  if (p->kind == CST_LINEAGE_REAL) {
    const double real = sqlite3_column_double(p->row, p->column);
    *fits = isfinite(real) != 0;
    (void)sqlite3_bind_double(add->statement, TO_REAL, real);
    return CST_OK;
  }
  const char *text = (const char *)sqlite3_column_text(p->row, p->column);
  const size_t size = (size_t)sqlite3_column_bytes(p->row, p->column);
  if (p->kind != CST_LINEAGE_TEXT || text == NULL || memchr(text, '\0', size) != NULL) {
    *fits = false;
    return CST_OK;
  }
  const cst_bytes bytes = {(const uint8_t *)text, size};
  const size_t prefix = strlen(CST__MLMD_PROTO);
  bool is_proto;
  CST__TRY(cst__mlmd_is_proto(&at->store->allocator, bytes, &is_proto, error));
  if (is_proto) {
    (void)sqlite3_bind_text(add->statement, TO_PROTO, text + prefix, (int)(size - prefix),
                            SQLITE_STATIC);
    return CST_OK;
  }
  if (strncmp(text, CST__MLMD_STRUCT, strlen(CST__MLMD_STRUCT)) == 0 ||
      strncmp(text, CST__MLMD_PROTO, prefix) == 0) {
    CST__TRY(cst__mlmd_is_struct(&at->store->allocator, bytes, fits, error));
  }
  (void)sqlite3_bind_text(add->statement, TO_TEXT, text, (int)size, SQLITE_STATIC);
  return CST_OK;
}

static bool begins_with(const char *text, const char *prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* A property of an artifact that its type declares, and is of the kind that it says. */
static bool is_declared(const cst__mlmd_node *of, const char *name, cst_lineage_value_kind kind) {
  const cst__mlmd_declared *declared =
      of->kind == CST_LINEAGE_OF_ARTIFACTS ? cst__mlmd_find_declared(of->type, name) : NULL;
  return declared != NULL && declared->kind == kind;
}

cst_status cst__mlmd_find_property(cst__mlmd_export *at, const cst__mlmd_node *of, const char *name,
                                   int64_t *kind, cst__text *value, cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  *kind = -1;
  CST__TRY(cst__lineage_prepare(
      at->store, "SELECT type, value FROM property WHERE kind = ? AND owner = ? AND name = ?",
      &find, error));
  (void)sqlite3_bind_int(find, 1, (int)of->kind);
  (void)sqlite3_bind_int64(find, 2, of->id);
  cst__lineage_bind_text(find, 3, name);
  CST__TRY(cst__lineage_step(at->store, find, &is_row, error));
  if (is_row) {
    *kind = sqlite3_column_int64(find, 0);
    if (value != NULL && *kind == CST_LINEAGE_TEXT) {
      const char *text = cst__lineage_text(find, 1);
      const size_t size = (size_t)sqlite3_column_bytes(find, 1);
      if (memchr(text, '\0', size) == NULL) {
        cst__text_append(value, text, size);
      }
    }
    (void)sqlite3_reset(find);
  }
  return CST_OK;
}

/* The name that a custom property has there: "mlmd.custom.span" is "span" beside a declared one. */
static cst_status custom_name(cst__mlmd_export *at, const cst__mlmd_node *of, const char *name,
                              const char **out, cst_error *error) {
  int64_t kind;
  *out = name;
  if (!begins_with(name, CST__MLMD_CUSTOM)) {
    return CST_OK;
  }
  const char *rest = name + strlen(CST__MLMD_CUSTOM);
  CST__TRY(cst__mlmd_find_property(at, of, rest, &kind, NULL, error));
  if (kind >= 0 && is_declared(of, rest, (cst_lineage_value_kind)kind)) {
    *out = rest;
  }
  return CST_OK;
}

/* Those that are columns there are written with these. */
static bool is_in_column(const cst__mlmd_export *at, const cst__mlmd_node *of, const property *p) {
  return (at->external_id.size > 0 && strcmp(p->name, CST__MLMD_EXTERNAL_ID) == 0) ||
         (of->kept[0] != '\0' && strcmp(p->name, CST__MLMD_STATE) == 0) ||
         (at->name.size > 0 && !of->has_name && of->kind == CST_LINEAGE_OF_ARTIFACTS &&
          strcmp(p->name, CST__MLMD_NAME) == 0);
}

static cst_status write_property(cst__mlmd_export *at, const cst__mlmd_node *of, const property *p,
                                 cst_error *error) {
  const char *name;
  bool fits;
  if (is_in_column(at, of, p)) {
    return CST_OK;
  }
  if (begins_with(p->name, CST__MLMD_OWN)) {
    keep_property(at, p);
    return CST_OK;
  }
  const bool is_custom = !is_declared(of, p->name, p->kind);
  CST__TRY(custom_name(at, of, p->name, &name, error));
  cst__mlmd_rows *add = begin_property(at, of, name, is_custom);
  CST__TRY(bind_value(at, add, p, &fits, error));
  if (!fits) {
    keep_property(at, p);
    return CST_OK;
  }
  return cst__mlmd_step(add, NULL, error);
}

cst_status cst__mlmd_write_properties(cst__mlmd_export *at, const cst__mlmd_node *of,
                                      cst_error *error) {
  sqlite3_stmt *read;
  bool is_row;
  CST__TRY(cst__lineage_prepare(
      at->store,
      "SELECT name, type, value FROM property WHERE kind = ? AND owner = ? ORDER BY name", &read,
      error));
  (void)sqlite3_bind_int(read, 1, (int)of->kind);
  (void)sqlite3_bind_int64(read, 2, of->id);
  for (;;) {
    CST__TRY(cst__lineage_step(at->store, read, &is_row, error));
    if (!is_row) {
      return CST_OK;
    }
    const int64_t kind = sqlite3_column_int64(read, 1);
    if (kind < CST_LINEAGE_INT || kind > CST_LINEAGE_BYTES) {
      return cst__fail(error, CST_CORRUPT, NULL,
                       "%s %" PRId64 " has a property of the kind %" PRId64,
                       cst__mlmd_kind(of->kind), of->id, kind);
    }
    const property p = {cst__lineage_text(read, 0), (cst_lineage_value_kind)kind, read, 2};
    CST__TRY(write_property(at, of, &p, error));
  }
}

/* A custom property that is a text of ours. */
cst_status cst__mlmd_write_text(cst__mlmd_export *at, const cst__mlmd_node *of, const char *name,
                                bool is_custom, const cst__text *value, cst_error *error) {
  cst__mlmd_rows *add = begin_property(at, of, name, is_custom);
  cst__mlmd_bind_text(add, TO_TEXT, value);
  return cst__mlmd_step(add, NULL, error);
}

/* All that MLMD has no place for. */
cst_status cst__mlmd_write_own(cst__mlmd_export *at, const cst__mlmd_node *of, cst_error *error) {
  cst__text object = {.allocator = at->store->allocator};
  cst__text_printf(&object, "{\"id\": %" PRId64, of->id);
  if (at->own.size > 0) {
    cst__text_printf(&object, ", ");
    cst__text_append(&object, at->own.data, at->own.size);
  }
  if (at->properties.size > 0) {
    cst__text_puts(&object, ", \"properties\": [");
    cst__text_append(&object, at->properties.data, at->properties.size);
    cst__text_puts(&object, "]");
  }
  cst__text_puts(&object, "}");
  cst_status status =
      object.failed || cst__mlmd_check_texts(at, error) != CST_OK
          ? cst__fail_memory(error, object.size)
          : cst__mlmd_write_text(at, of, cst__mlmd_own(of->kind), true, &object, error);
  cst__text_free(&object);
  return status;
}
