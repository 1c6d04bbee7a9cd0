/* What there is: artifacts, executions and contexts as findings. */
#include <inttypes.h>
#include <stdio.h>

#include "arrow/findings.h"
#include "base/arguments.h"
#include "base/interrupt.h"
#include "base/sha256.h"
#include "lineage/artifacts.h"
#include "lineage/properties.h"
#include "lineage/store_paths.h"

enum { MOST_CONDITIONS = 100, FIRST_PATH = 10 + 2 * MOST_CONDITIONS };

/* ---- the tables of columns ---- */

static const cst__finding_column file_columns[] = {
    CST__FILE("path"),           CST__TEXT_OR_NULL("split"),  CST__TEXT_OR_NULL("role"),
    CST__NUMBER_OR_NULL("size"), CST__TEXT_OR_NULL("digest"),
};
static const cst__finding_column property_columns[] = {
    CST__TEXT("name"),         CST__TEXT("kind"),         CST__NUMBER_OR_NULL("number"),
    CST__REAL_OR_NULL("real"), CST__TEXT_OR_NULL("text"), {"bytes", "z", true, NULL, 0},
};
static const cst__finding_column reference_columns[] = {CST__TEXT("role"), CST__NUMBER("id"),
                                                        CST__TEXT("reference")};
static const cst__finding_column field_columns[] = {CST__TEXT("output"), CST__TEXT("path")};
static const cst__finding_column artifact_columns[] = {
    CST__NUMBER("id"),
    CST__TEXT("type"),
    CST__TEXT_OR_NULL("name"),
    CST__NUMBER_OR_NULL("version"),
    CST__TEXT("reference"),
    CST__TEXT("state"),
    {"uri", "z", true, NULL, 0},
    CST__TEXT_OR_NULL("digest"),
    CST__BOOL("is_external"),
    CST__NUMBER("created"),
    CST__NUMBER("updated"),
    CST__LIST_OF("files", file_columns),
    CST__LIST_OF("properties", property_columns),
    CST__LIST_OF("references", reference_columns),
    CST__LIST_OF("fields", field_columns),
};
static const cst__finding_column event_columns[] = {CST__NUMBER("id"), CST__TEXT("reference"),
                                                    CST__TEXT_OR_NULL("path")};
static const cst__finding_column execution_columns[] = {
    CST__NUMBER("id"),
    CST__TEXT("type"),
    CST__TEXT_OR_NULL("name"),
    CST__TEXT("state"),
    CST__NUMBER("started"),
    CST__NUMBER_OR_NULL("ended"),
    CST__LIST_OF("properties", property_columns),
    CST__LIST_OF("inputs", event_columns),
    CST__LIST_OF("outputs", event_columns),
};
static const cst__finding_column id_columns[] = {CST__NUMBER("id")};
static const cst__finding_column context_columns[] = {
    CST__NUMBER("id"),
    CST__TEXT("type"),
    CST__TEXT("name"),
    CST__LIST_OF("properties", property_columns),
    CST__LIST_OF("artifacts", id_columns),
    CST__LIST_OF("executions", id_columns),
    CST__LIST_OF("children", id_columns),
};

#define COLUMNS(columns) columns, sizeof(columns) / sizeof(columns)[0]
static const cst__finding_type types[] = {{"artifacts", COLUMNS(artifact_columns)},
                                          {"executions", COLUMNS(execution_columns)},
                                          {"contexts", COLUMNS(context_columns)}};

/* ---- cells ---- */

static void put_text(cst_findings *found, sqlite3_stmt *row, int column) {
  if (sqlite3_column_type(row, column) == SQLITE_NULL) {
    cst__put_null(found);
  } else {
    cst__put_text(found, cst__lineage_text(row, column));
  }
}

static void put_number(cst_findings *found, sqlite3_stmt *row, int column) {
  if (sqlite3_column_type(row, column) == SQLITE_NULL) {
    cst__put_null(found);
  } else {
    cst__put_signed(found, sqlite3_column_int64(row, column));
  }
}

static void put_digest(cst_findings *found, sqlite3_stmt *row, int column) {
  char hex[CST__SHA256_HEX];
  if (sqlite3_column_bytes(row, column) != CST__SHA256_SIZE) {
    cst__put_null(found);
    return;
  }
  cst__sha256_hex(sqlite3_column_blob(row, column), hex);
  cst__put_text(found, hex);
}

static void put_label(cst_findings *found, sqlite3_stmt *row, int name, int version, int64_t id) {
  char label[CST__LINEAGE_LABEL];
  if (sqlite3_column_type(row, name) == SQLITE_NULL) {
    (void)snprintf(label, sizeof label, "%" PRId64, id);
  } else {
    (void)snprintf(label, sizeof label, "%.270s@%lld", cst__lineage_text(row, name),
                   (long long)sqlite3_column_int64(row, version));
  }
  cst__put_text(found, label);
}

/* ---- the lists of one row; each is the rows of a statement about one id ---- */

typedef cst_status (*put_row)(cst_lineage *store, cst_findings *found, sqlite3_stmt *row,
                              cst_error *error);

static cst_status put_list(cst_lineage *store, cst_findings *found, const char *sql, int64_t id,
                           put_row put, cst_error *error) {
  sqlite3_stmt *rows;
  bool is_row = false;
  CST__TRY(cst__lineage_prepare(store, sql, &rows, error));
  sqlite3_bind_int64(rows, 1, id);
  cst__open_list(found);
  cst_status status;
  while ((status = cst__lineage_step(store, rows, &is_row, error)) == CST_OK && is_row) {
    status = put(store, found, rows, error);
    if (status != CST_OK) {
      (void)sqlite3_reset(rows);
      return status;
    }
  }
  cst__close_list(found);
  return status;
}

static cst_status put_file(cst_lineage *store, cst_findings *found, sqlite3_stmt *row,
                           cst_error *error) {
  char *path;
  CST__TRY(cst__lineage_path_out(store, cst__lineage_text(row, 0), &path, error));
  cst__put_text(found, path);
  cst__delete(path);
  put_text(found, row, 1);
  put_text(found, row, 2);
  put_number(found, row, 3);
  put_digest(found, row, 4);
  return CST_OK;
}

static cst_status put_property(cst_lineage *store, cst_findings *found, sqlite3_stmt *row,
                               cst_error *error) {
  static const char *const kinds[] = {"int", "real", "text", "bool", "bytes"};
  const int64_t kind = sqlite3_column_int64(row, 1);
  (void)store;
  if (kind < 0 || kind > CST_LINEAGE_BYTES) {
    return cst__fail(error, CST_CORRUPT, NULL, "a property of an unknown kind, %" PRId64, kind);
  }
  cst__put_text(found, cst__lineage_text(row, 0));
  cst__put_text(found, kinds[kind]);
  const bool is_number = kind == CST_LINEAGE_INT || kind == CST_LINEAGE_BOOL;
  if (is_number) {
    cst__put_signed(found, sqlite3_column_int64(row, 2));
  } else {
    cst__put_null(found);
  }
  if (kind == CST_LINEAGE_REAL) {
    cst__put_real(found, sqlite3_column_double(row, 2));
  } else {
    cst__put_null(found);
  }
  for (int k = CST_LINEAGE_TEXT; k <= CST_LINEAGE_BYTES;
       k += CST_LINEAGE_BYTES - CST_LINEAGE_TEXT) {
    if (kind == k) {
      const void *bytes = sqlite3_column_blob(row, 2);
      cst__put_bytes(found, bytes != NULL ? bytes : "", (size_t)sqlite3_column_bytes(row, 2));
    } else {
      cst__put_null(found);
    }
  }
  return CST_OK;
}

static cst_status put_reference(cst_lineage *store, cst_findings *found, sqlite3_stmt *row,
                                cst_error *error) {
  (void)store;
  (void)error;
  put_text(found, row, 0);
  put_number(found, row, 1);
  put_label(found, row, 2, 3, sqlite3_column_int64(row, 1));
  return CST_OK;
}

static cst_status put_field(cst_lineage *store, cst_findings *found, sqlite3_stmt *row,
                            cst_error *error) {
  (void)store;
  (void)error;
  put_text(found, row, 0);
  put_text(found, row, 1);
  return CST_OK;
}

static cst_status put_event(cst_lineage *store, cst_findings *found, sqlite3_stmt *row,
                            cst_error *error) {
  (void)store;
  (void)error;
  put_number(found, row, 0);
  put_label(found, row, 1, 2, sqlite3_column_int64(row, 0));
  if (cst__lineage_text(row, 3)[0] == '\0') {
    cst__put_null(found);
  } else {
    put_text(found, row, 3);
  }
  return CST_OK;
}

static cst_status put_id(cst_lineage *store, cst_findings *found, sqlite3_stmt *row,
                         cst_error *error) {
  (void)store;
  (void)error;
  put_number(found, row, 0);
  return CST_OK;
}

#define PROPERTIES_OF(kind) \
  "SELECT name, type, value FROM property WHERE kind = " kind " AND owner = ? ORDER BY name"
#define EVENTS_OF(direction)                                                        \
  "SELECT e.artifact, a.name, a.version, e.path FROM event e LEFT JOIN artifact a " \
  "ON a.id = e.artifact WHERE e.execution = ? AND e.direction = " direction         \
  " ORDER BY e.time, e.artifact"
#define MEMBERS_OF(kind) "SELECT id FROM member WHERE context = ? AND kind = " kind " ORDER BY id"

/* ---- rows ---- */

/* The file, or the folder of all files that are data; NULL: there is none. */
static cst_status put_uri(cst_lineage *store, cst_findings *found, int64_t id, cst_error *error) {
  sqlite3_stmt *ends;
  bool is_row;
  CST__TRY(cst__lineage_prepare(
      store,
      "SELECT min(path), max(path) FROM artifact_file JOIN file ON file = id WHERE artifact = ? "
      "AND role IS NULL",
      &ends, error));
  sqlite3_bind_int64(ends, 1, id);
  CST__TRY(cst__lineage_step(store, ends, &is_row, error));
  if (!is_row || sqlite3_column_type(ends, 0) == SQLITE_NULL) {
    cst__put_null(found);
    (void)sqlite3_reset(ends);
    return CST_OK;
  }
  char *first = NULL, *last = NULL;
  cst_status status = cst__lineage_path_out(store, cst__lineage_text(ends, 0), &first, error);
  if (status == CST_OK) {
    status = cst__lineage_path_out(store, cst__lineage_text(ends, 1), &last, error);
  }
  (void)sqlite3_reset(ends);
  if (status == CST_OK) {
    size_t same = 0;
    while (first[same] != '\0' && first[same] == last[same]) {
      same++;
    }
    const bool is_one = first[same] == '\0' && last[same] == '\0';
    while (!is_one && same > 1 && first[same] != '/') {
      same--;
    }
    cst__put_bytes(found, first, is_one || same > 0 ? same : 1);
  }
  cst__delete(last);
  cst__delete(first);
  return status;
}

static cst_status put_artifact(cst_lineage *store, cst_findings *found, sqlite3_stmt *row,
                               cst_error *error) {
  const int64_t id = sqlite3_column_int64(row, 0);
  put_number(found, row, 0);
  put_text(found, row, 1);
  put_text(found, row, 2);
  put_number(found, row, 3);
  put_label(found, row, 2, 3, id);
  cst__put_text(found, cst__lineage_state_name((cst_lineage_state)sqlite3_column_int64(row, 4)));
  CST__TRY(put_uri(store, found, id, error));
  put_digest(found, row, 5);
  put_number(found, row, 6);
  put_number(found, row, 7);
  put_number(found, row, 8);
  CST__TRY(put_list(store, found,
                    "SELECT path, split, role, size, digest FROM artifact_file JOIN file ON file = "
                    "id WHERE artifact = ? ORDER BY position",
                    id, put_file, error));
  CST__TRY(put_list(store, found, PROPERTIES_OF("0"), id, put_property, error));
  CST__TRY(put_list(store, found,
                    "SELECT role, target, name, version FROM reference LEFT JOIN artifact ON id = "
                    "target WHERE artifact = ? ORDER BY role, target",
                    id, put_reference, error));
  if (strcmp(cst__lineage_text(row, 1), "DataView") != 0) { /* nothing else has fields */
    cst__open_list(found);
    cst__close_list(found);
    return CST_OK;
  }
  return put_list(store, found,
                  "SELECT output, path FROM field WHERE artifact = ? ORDER BY output, path", id,
                  put_field, error);
}

static cst_status put_execution(cst_lineage *store, cst_findings *found, sqlite3_stmt *row,
                                cst_error *error) {
  const int64_t id = sqlite3_column_int64(row, 0);
  put_number(found, row, 0);
  put_text(found, row, 1);
  put_text(found, row, 2);
  cst__put_text(found, cst__lineage_execution_state_name(
                           (cst_lineage_execution_state)sqlite3_column_int64(row, 3)));
  put_number(found, row, 4);
  put_number(found, row, 5);
  CST__TRY(put_list(store, found, PROPERTIES_OF("1"), id, put_property, error));
  CST__TRY(put_list(store, found, EVENTS_OF("0"), id, put_event, error));
  return put_list(store, found, EVENTS_OF("1"), id, put_event, error);
}

static cst_status put_context(cst_lineage *store, cst_findings *found, sqlite3_stmt *row,
                              cst_error *error) {
  const int64_t id = sqlite3_column_int64(row, 0);
  put_number(found, row, 0);
  put_text(found, row, 1);
  put_text(found, row, 2);
  CST__TRY(put_list(store, found, PROPERTIES_OF("2"), id, put_property, error));
  CST__TRY(put_list(store, found, MEMBERS_OF("0"), id, put_id, error));
  CST__TRY(put_list(store, found, MEMBERS_OF("1"), id, put_id, error));
  return put_list(store, found, MEMBERS_OF("2"), id, put_id, error);
}

/* ---- the query, as SQL ---- */

static const struct {
  const char *select;
  const char *created;
  put_row put;
} kinds[] = {
    {"SELECT t.id, y.name, t.name, t.version, t.state, t.digest, t.is_external, t.created, "
     "t.updated FROM artifact t JOIN type y ON y.id = t.type WHERE 1",
     "created", put_artifact},
    {"SELECT t.id, y.name, t.name, t.state, t.started, t.ended FROM execution t JOIN type y ON "
     "y.id "
     "= t.type WHERE 1",
     "started", put_execution},
    {"SELECT t.id, y.name, t.name FROM context t JOIN type y ON y.id = t.type WHERE 1", "created",
     put_context},
};

/* The size of the folder that the first `size` bytes of a stored path are in; 0: none. */
static size_t folder_size(const char *path, size_t size) {
  while (size > 0 && path[size - 1] != '/') {
    size--;
  }
  while (size > 0 && path[size - 1] == '/') {
    size--;
  }
  return size;
}

/* The file itself, folders that it is in, and what is in it: each is a search of its own, which is
 * faster than finding the folders in SQL. */
static void write_paths(const char *path, cst__text *sql) {
  int parameter = FIRST_PATH;
  cst__text_puts(
      sql, " AND t.id IN (SELECT l.artifact FROM file f JOIN artifact_file l ON l.file = f.id "
           "WHERE f.path > CAST(?4 || '/' AS BLOB) AND f.path < CAST(?4 || '0' AS BLOB)");
  for (size_t size = strlen(path); size > 0; size = folder_size(path, size)) {
    cst__text_printf(
        sql,
        " UNION ALL SELECT l.artifact FROM file f JOIN artifact_file l ON l.file = f.id "
        "WHERE f.path = ?%d",
        parameter++);
  }
  cst__text_puts(sql, ")");
}

static void bind_paths(const char *path, sqlite3_stmt *rows) {
  int parameter = FIRST_PATH;
  for (size_t size = strlen(path); size > 0; size = folder_size(path, size)) {
    (void)sqlite3_bind_blob(rows, parameter++, path, (int)size, SQLITE_STATIC);
  }
}

static void write_conditions(const cst_lineage_query *query, const char *path, cst__text *sql) {
  if (query->ids != NULL) {
    cst__text_puts(sql, " AND t.id = ?1"); /* one after the other */
  }
  if (query->type != NULL) {
    cst__text_puts(sql, " AND y.name = ?2");
  }
  if (query->name != NULL) {
    cst__text_puts(
        sql, strpbrk(query->name, "*?[") != NULL ? " AND t.name GLOB ?3" : " AND t.name = ?3");
  }
  if (path != NULL) {
    write_paths(path, sql);
  }
  if (query->source_path != NULL) { /* the field itself, what it is in, and what is in it */
    cst__text_puts(
        sql, " AND t.id IN (SELECT artifact FROM field WHERE path = ?5 OR path > ?5 || '.' AND "
             "path < ?5 || '/' OR substr(?5, 1, length(path) + 1) = path || '.')");
  }
  if (query->context != 0) {
    cst__text_printf(sql, " AND t.id IN (SELECT id FROM member WHERE kind = %d AND context = ?6)",
                     (int)query->kind);
  }
  if (query->created_from != 0) {
    cst__text_printf(sql, " AND t.%s >= ?7", kinds[query->kind].created);
  }
  if (query->created_to != 0) {
    cst__text_printf(sql, " AND t.%s < ?8", kinds[query->kind].created);
  }
  for (size_t i = 0; i < query->num_properties; i++) {
    cst__text_printf(sql,
                     " AND t.id IN (SELECT owner FROM property WHERE kind = %d AND name = ?%zu AND "
                     "value = ?%zu)",
                     (int)query->kind, 10 + 2 * i, 11 + 2 * i);
  }
  if (query->kind == CST_LINEAGE_OF_ARTIFACTS && !query->every_state) {
    cst__text_puts(sql, " AND t.state NOT IN (3, 4)");
  }
}

static void write_query(const cst_lineage_query *query, const char *path, cst__text *sql) {
  if (query->limit > 0 && query->ids == NULL) {
    cst__text_puts(sql, "SELECT * FROM (");
  }
  cst__text_puts(sql, kinds[query->kind].select);
  write_conditions(query, path, sql);
  if (query->limit > 0 && query->ids == NULL) {
    cst__text_puts(sql, " ORDER BY t.id DESC LIMIT ?9) ORDER BY 1");
  } else {
    cst__text_puts(sql, " ORDER BY t.id");
  }
}

static void bind_query(const cst_lineage_query *query, const char *path, sqlite3_stmt *rows) {
  cst__lineage_bind_text(rows, 2, query->type);
  cst__lineage_bind_text(rows, 3, query->name);
  cst__lineage_bind_text(rows, 4, path);
  if (path != NULL) {
    bind_paths(path, rows);
  }
  cst__lineage_bind_text(rows, 5, query->source_path);
  sqlite3_bind_int64(rows, 6, query->context);
  sqlite3_bind_int64(rows, 7, query->created_from);
  sqlite3_bind_int64(rows, 8, query->created_to);
  sqlite3_bind_int64(rows, 9, query->limit);
  for (size_t i = 0; i < query->num_properties; i++) {
    cst__lineage_bind_text(rows, (int)(10 + 2 * i), query->properties[i].name);
    cst__lineage_bind_value(rows, (int)(11 + 2 * i), &query->properties[i]);
  }
}

static cst_status put_rows(cst_lineage *store, cst_lineage_kind kind, sqlite3_stmt *rows,
                           cst_findings *found, cst_error *error) {
  cst_status status;
  bool is_row = false;
  while ((status = cst__lineage_step(store, rows, &is_row, error)) == CST_OK && is_row) {
    CST__TRY(kinds[kind].put(store, found, rows, error));
    CST__TRY(cst__interrupted(error));
  }
  return status;
}

static cst_status run_query(cst_lineage *store, const cst_lineage_query *query, const char *path,
                            cst_findings *found, cst_error *error) {
  cst__text sql = {.allocator = store->allocator};
  sqlite3_stmt *rows = NULL;
  write_query(query, path, &sql);
  cst_status status = sql.failed ? cst__fail_memory(error, sql.size)
                                 : cst__lineage_prepare_text(store, sql.data, &rows, error);
  cst__text_free(&sql);
  if (status == CST_OK) {
    bind_query(query, path, rows);
  }
  const size_t count = query->ids != NULL ? query->num_ids : 1;
  for (size_t i = 0; i < count && status == CST_OK; i++) {
    if (query->ids != NULL) {
      sqlite3_bind_int64(rows, 1, query->ids[i]);
    }
    status = put_rows(store, query->kind, rows, found, error);
  }
  (void)sqlite3_reset(rows);
  return status;
}

static cst_status find(cst_lineage *store, const cst_lineage_query *query, const char *path,
                       cst_findings **out, cst_error *error) {
  cst_findings *found;
  CST__TRY(cst__findings_new(&types[query->kind], &store->allocator, &found, error));
  cst_status status = run_query(store, query, path, found, error);
  if (status != CST_OK) {
    cst_findings_free(found);
    return status;
  }
  return cst__findings_finish(found, out, error);
}

cst_status cst_lineage_find(cst_lineage *store, const cst_lineage_query *query, cst_findings **out,
                            cst_error *error) {
  cst_lineage_query own = CST_LINEAGE_QUERY_INIT;
  char *path = NULL;
  CST__CLEAR(out);
  CST__TRY(cst__check_given(store, "store", out, error));
  CST__TRY(cst__read_options(&own, sizeof own, query, error));
  if ((unsigned)own.kind > CST_LINEAGE_OF_CONTEXTS || own.num_properties > MOST_CONDITIONS) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "no such kind, or more than %d properties",
                     MOST_CONDITIONS);
  }
  if (own.kind != CST_LINEAGE_OF_ARTIFACTS && (own.path != NULL || own.source_path != NULL)) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "only artifacts have paths");
  }
  CST__TRY(cst__lineage_check_properties(own.properties, own.num_properties, error));
  if (own.path != NULL) {
    CST__TRY(cst__lineage_path_in(store, own.path, true, &path, error));
  }
  cst_status status = cst__lineage_enter(store, CST__LINEAGE_READS, error);
  if (status == CST_OK) {
    status = cst__lineage_leave(store, find(store, &own, path, out, error), error);
  }
  cst__delete(path);
  return status;
}
