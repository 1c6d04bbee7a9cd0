/* Properties: names with typed values. */
#include "lineage/properties.h"

#include <math.h>

#include "base/arguments.h"
#include "base/hash.h"
#include "base/utf8.h"

enum { MOST_NAME = 1000, MOST_PROPERTIES = 1 << 20 };

static cst_status check_property(const cst_lineage_property *property, cst_error *error) {
  if (property->name == NULL || property->name[0] == '\0') {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a property without a name");
  }
  const size_t size = strlen(property->name);
  const char *fault = size > MOST_NAME || !cst__utf8_valid((const uint8_t *)property->name, size)
                          ? "is too long, or not UTF-8"
                      : (unsigned)property->kind > CST_LINEAGE_BYTES
                          ? "has a kind that there is not"
                      : property->kind == CST_LINEAGE_REAL && isnan(property->real)
                          ? "is not a number, which a store cannot hold"
                      : property->kind == CST_LINEAGE_TEXT &&
                              !cst__utf8_valid(property->bytes.data, property->bytes.size)
                          ? "is a text that is not UTF-8"
                      : property->bytes.size > INT32_MAX ? "is too large"
                                                         : NULL;
  return fault == NULL ? CST_OK
                       : cst__fail(error, CST_INVALID_ARGUMENT, NULL, "property '%.60s' %s",
                                   property->name, fault);
}

/* A map for many, and comparisons for the few that there are nearly always. */
static cst_status check_unique(const cst_lineage_property *properties, size_t count,
                               cst_error *error) {
  cst__name_map map = {0};
  bool is_twice = false;
  bool fits = true;
  const char *name = "";
  for (size_t i = 0; i < count && !is_twice && fits; i++) {
    name = properties[i].name;
    if (count <= 8) {
      for (size_t k = 0; k < i && !is_twice; k++) {
        is_twice = strcmp(properties[k].name, name) == 0;
      }
      continue;
    }
    is_twice = cst__name_map_find(&map, name, strlen(name)) != SIZE_MAX;
    fits = is_twice || cst__name_map_add(&map, name, strlen(name), i);
  }
  cst__name_map_reset(&map);
  return is_twice
             ? cst__fail(error, CST_INVALID_ARGUMENT, NULL, "property '%.60s' is given twice", name)
         : fits ? CST_OK
                : cst__fail_memory(error, count);
}

cst_status cst__lineage_check_properties(const cst_lineage_property *properties, size_t count,
                                         cst_error *error) {
  if (count > 0 && properties == NULL) {
    return cst__missing("properties", error);
  }
  if (count > MOST_PROPERTIES) {
    return cst__fail(error, CST_LIMIT, NULL, "more than %d properties", MOST_PROPERTIES);
  }
  for (size_t i = 0; i < count; i++) {
    CST__TRY(check_property(&properties[i], error));
  }
  return check_unique(properties, count, error);
}

void cst__lineage_bind_value(sqlite3_stmt *statement, int parameter,
                             const cst_lineage_property *property) {
  switch (property->kind) {
    case CST_LINEAGE_REAL:
      (void)sqlite3_bind_double(statement, parameter, property->real);
      break;
    case CST_LINEAGE_TEXT:
      (void)sqlite3_bind_text(
          statement, parameter,
          property->bytes.data != NULL ? (const char *)property->bytes.data : "",
          (int)property->bytes.size, SQLITE_STATIC);
      break;
    case CST_LINEAGE_BYTES:
      (void)sqlite3_bind_blob(
          statement, parameter,
          property->bytes.data != NULL ? (const void *)property->bytes.data : "",
          (int)property->bytes.size, SQLITE_STATIC);
      break;
    default:
      (void)sqlite3_bind_int64(statement, parameter, property->number);
  }
}

cst_status cst__lineage_set(cst_lineage *store, cst_lineage_kind kind, int64_t id,
                            const cst_lineage_property *properties, size_t num_properties,
                            cst_error *error) {
  sqlite3_stmt *insert;
  for (size_t i = 0; i < num_properties; i++) {
    CST__TRY(cst__lineage_prepare(store, "INSERT OR REPLACE INTO property VALUES(?, ?, ?, ?, ?)",
                                  &insert, error));
    sqlite3_bind_int64(insert, 1, kind);
    sqlite3_bind_int64(insert, 2, id);
    cst__lineage_bind_text(insert, 3, properties[i].name);
    sqlite3_bind_int64(insert, 4, properties[i].kind);
    cst__lineage_bind_value(insert, 5, &properties[i]);
    CST__TRY(cst__lineage_step(store, insert, NULL, error));
  }
  return CST_OK;
}

cst_status cst__lineage_check_owner(cst_lineage *store, cst_lineage_kind kind, int64_t id,
                                    cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  const char *sql = kind == CST_LINEAGE_OF_ARTIFACTS    ? "SELECT 1 FROM artifact WHERE id = ?"
                    : kind == CST_LINEAGE_OF_EXECUTIONS ? "SELECT 1 FROM execution WHERE id = ?"
                                                        : "SELECT 1 FROM context WHERE id = ?";
  CST__TRY(cst__lineage_prepare(store, sql, &find, error));
  sqlite3_bind_int64(find, 1, id);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  (void)sqlite3_reset(find);
  return is_row ? CST_OK
                : cst__fail(error, CST_NOT_FOUND, NULL, "there is no %s %lld",
                            kind == CST_LINEAGE_OF_ARTIFACTS    ? "artifact"
                            : kind == CST_LINEAGE_OF_EXECUTIONS ? "execution"
                                                                : "context",
                            (long long)id);
}

static cst_status touch(cst_lineage *store, int64_t artifact, cst_error *error) {
  sqlite3_stmt *update;
  CST__TRY(
      cst__lineage_prepare(store, "UPDATE artifact SET updated = ? WHERE id = ?", &update, error));
  sqlite3_bind_int64(update, 1, cst__lineage_now());
  sqlite3_bind_int64(update, 2, artifact);
  return cst__lineage_step(store, update, NULL, error);
}

static cst_status set_properties(cst_lineage *store, cst_lineage_kind kind, int64_t id,
                                 const cst_lineage_property *properties, size_t num_properties,
                                 cst_error *error) {
  CST__TRY(cst__lineage_check_owner(store, kind, id, error));
  CST__TRY(cst__lineage_set(store, kind, id, properties, num_properties, error));
  return kind == CST_LINEAGE_OF_ARTIFACTS ? touch(store, id, error) : CST_OK;
}

cst_status cst_lineage_set(cst_lineage *store, cst_lineage_kind kind, int64_t id,
                           const cst_lineage_property *properties, size_t num_properties,
                           cst_error *error) {
  CST__TRY(cst__check_given(store, "store", store, error));
  if ((unsigned)kind > CST_LINEAGE_OF_CONTEXTS) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "no such kind");
  }
  CST__TRY(cst__lineage_check_properties(properties, num_properties, error));
  CST__TRY(cst__lineage_enter(store, CST__LINEAGE_WRITES, error));
  return cst__lineage_leave(
      store, set_properties(store, kind, id, properties, num_properties, error), error);
}

cst_status cst__lineage_has_properties(cst_lineage *store, int64_t artifact,
                                       const cst_lineage_property *properties, size_t count,
                                       bool *has, cst_error *error) {
  sqlite3_stmt *find;
  *has = true;
  for (size_t i = 0; i < count && *has; i++) {
    CST__TRY(cst__lineage_prepare(store,
                                  "SELECT 1 FROM property WHERE kind = 0 AND owner = ? AND name = "
                                  "? AND type = ? AND value = ?",
                                  &find, error));
    sqlite3_bind_int64(find, 1, artifact);
    cst__lineage_bind_text(find, 2, properties[i].name);
    sqlite3_bind_int64(find, 3, properties[i].kind);
    cst__lineage_bind_value(find, 4, &properties[i]);
    CST__TRY(cst__lineage_step(store, find, has, error));
    (void)sqlite3_reset(find);
  }
  return CST_OK;
}

cst_status cst__lineage_text_property(cst_lineage *store, int64_t artifact, const char *name,
                                      char **out, cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  *out = NULL;
  CST__TRY(cst__lineage_prepare(
      store, "SELECT value FROM property WHERE kind = 0 AND owner = ? AND name = ? AND type = 2",
      &find, error));
  sqlite3_bind_int64(find, 1, artifact);
  cst__lineage_bind_text(find, 2, name);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  if (is_row) {
    const char *text = cst__lineage_text(find, 0);
    *out = cst__new_copy(&store->allocator, text, strlen(text));
    (void)sqlite3_reset(find);
    return *out != NULL ? CST_OK : cst__fail_memory(error, strlen(text));
  }
  return CST_OK;
}
