/* MLMD's SQLite files: opened, made, read row by row. */
#include "lineage/mlmd/mlmd_file.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/utf8.h"
#include "lineage/mlmd/mlmd_tables.h"

enum { MS_PER_S = 1000, MOST_WAIT_S = 1000000 };

/* ---- errors ---- */

static cst_status fail_file(const cst__mlmd_file *file, cst_status status, cst_error *error) {
  cst__error_add_file(error, file->name);
  return status;
}

cst_status cst__mlmd_fail(cst__mlmd_file *file, int code, cst_error *error) {
  const char *said = file->db != NULL ? sqlite3_errmsg(file->db) : sqlite3_errstr(code);
  cst_status status;
  switch (code & 0xff) {
    case SQLITE_NOMEM:
      status = cst__fail_memory(error, 0);
      break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      status = cst__fail(error, CST_TIMEOUT, "try again, or raise `timeout`",
                         "others hold the MLMD store: SQLite says: %s", said);
      break;
    case SQLITE_NOTADB:
      status = cst__fail(error, CST_FORMAT, "an MLMD store is an SQLite file, such as TFX writes",
                         "no MLMD store: SQLite says: %s", said);
      break;
    case SQLITE_CORRUPT:
    case SQLITE_ERROR:
      status = cst__fail(error, CST_CORRUPT, "restore a copy of it",
                         "a damaged MLMD store: SQLite says: %s", said);
      break;
    case SQLITE_TOOBIG:
      status = cst__fail(error, CST_LIMIT, NULL, "SQLite says: %s", said);
      break;
    default:
      status = cst__fail(error, CST_IO, NULL, "cannot use the MLMD store: SQLite says: %s", said);
  }
  return fail_file(file, status, error);
}

cst_status cst__mlmd_fail_row(const cst__mlmd_rows *rows, cst_error *error, const char *fmt, ...) {
  char text[512];
  va_list args;
  va_start(args, fmt);
  (void)vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  return fail_file(rows->file,
                   cst__fail(error, CST_CORRUPT, "mend it with ml-metadata, or restore a copy",
                             "%s %" PRId64 ": %s", rows->what,
                             (int64_t)sqlite3_column_int64(rows->statement, 0), text),
                   error);
}

/* ---- statements ---- */

cst_status cst__mlmd_prepare(cst__mlmd_file *file, const char *what, const char *sql,
                             cst__mlmd_rows *rows, cst_error *error) {
  *rows = (cst__mlmd_rows){file, NULL, what};
  const int code = sqlite3_prepare_v3(file->db, sql, -1, 0, &rows->statement, NULL);
  return code == SQLITE_OK ? CST_OK : cst__mlmd_fail(file, code, error);
}

cst_status cst__mlmd_step(cst__mlmd_rows *rows, bool *is_row, cst_error *error) {
  const int code = sqlite3_step(rows->statement);
  if (is_row != NULL) {
    *is_row = code == SQLITE_ROW;
  }
  if (code == SQLITE_ROW && is_row != NULL) {
    return CST_OK;
  }
  const cst_status status =
      code == SQLITE_ROW || code == SQLITE_DONE ? CST_OK : cst__mlmd_fail(rows->file, code, error);
  (void)sqlite3_reset(rows->statement);
  return status;
}

void cst__mlmd_end(cst__mlmd_rows *rows) {
  (void)sqlite3_finalize(rows->statement);
  rows->statement = NULL;
}

static const char *type_name(int type) {
  static const char *const names[] = {"an integer", "a real", "a text", "bytes", "null"};
  return type >= SQLITE_INTEGER && type <= SQLITE_NULL ? names[type - SQLITE_INTEGER] : "unknown";
}

static cst_status fail_type(const cst__mlmd_rows *rows, int column, const char *expected,
                            cst_error *error) {
  return cst__mlmd_fail_row(rows, error, "its %s is %s, not %s",
                            sqlite3_column_name(rows->statement, column),
                            type_name(sqlite3_column_type(rows->statement, column)), expected);
}

cst_status cst__mlmd_number(const cst__mlmd_rows *rows, int column, int64_t *out,
                            cst_error *error) {
  if (sqlite3_column_type(rows->statement, column) != SQLITE_INTEGER) {
    return fail_type(rows, column, "an integer", error);
  }
  *out = sqlite3_column_int64(rows->statement, column);
  return CST_OK;
}

cst_status cst__mlmd_number_or(const cst__mlmd_rows *rows, int column, int64_t missing,
                               int64_t *out, cst_error *error) {
  if (sqlite3_column_type(rows->statement, column) == SQLITE_NULL) {
    *out = missing;
    return CST_OK;
  }
  return cst__mlmd_number(rows, column, out, error);
}

cst_status cst__mlmd_text(const cst__mlmd_rows *rows, int column, const char **out,
                          cst_error *error) {
  *out = NULL;
  const int type = sqlite3_column_type(rows->statement, column);
  if (type == SQLITE_NULL) {
    return CST_OK;
  }
  if (type != SQLITE_TEXT) {
    return fail_type(rows, column, "a text", error);
  }
  const char *text = (const char *)sqlite3_column_text(rows->statement, column);
  const size_t size = (size_t)sqlite3_column_bytes(rows->statement, column);
  if (text == NULL) {
    return cst__mlmd_fail(rows->file, SQLITE_NOMEM, error);
  }
  if (!cst__utf8_valid((const uint8_t *)text, size)) {
    return cst__mlmd_fail_row(rows, error, "its %s is not UTF-8",
                              sqlite3_column_name(rows->statement, column));
  }
  if (memchr(text, '\0', size) != NULL) {
    return cst__mlmd_fail_row(rows, error, "its %s holds a NUL",
                              sqlite3_column_name(rows->statement, column));
  }
  *out = text;
  return CST_OK;
}

static cst_status run(cst__mlmd_file *file, const char *sql, cst_error *error) {
  const int code = sqlite3_exec(file->db, sql, NULL, NULL, NULL);
  return code == SQLITE_OK ? CST_OK : cst__mlmd_fail(file, code, error);
}

/* ---- opening ---- */

static cst_status connect(cst__mlmd_file *file, const char *path, int access, cst_error *error) {
  char real[PATH_MAX]; /* begins with a slash: never what SQLite takes for a URI */
  struct stat info;
  if (realpath(path, real) == NULL || stat(real, &info) != 0) {
    return fail_file(
        file, cst__fail(error, CST_NOT_FOUND, NULL, "there is no such file, or no access"), error);
  }
  if (!S_ISREG(info.st_mode)) {
    return fail_file(file,
                     cst__fail(error, CST_FORMAT, "name the file",
                               "an MLMD store is one file of SQLite, and this is no file"),
                     error);
  }
  const int code = sqlite3_open_v2(real, &file->db, access | SQLITE_OPEN_NOMUTEX, NULL);
  if (code != SQLITE_OK) {
    return cst__mlmd_fail(file, code, error);
  }
  (void)sqlite3_extended_result_codes(file->db, 1);
  (void)sqlite3_db_config(file->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  (void)sqlite3_db_config(file->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  (void)sqlite3_db_config(file->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  (void)sqlite3_db_config(file->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
  return CST_OK;
}

static cst_status init(cst__mlmd_file *file, const char *name, cst_error *error) {
  file->db = NULL;
  file->version = 0;
  file->name = cst__new_copy(&file->allocator, name, strlen(name));
  return file->name != NULL ? CST_OK : cst__fail_memory(error, strlen(name));
}

/* One that stores rows of its own: not a view, and not what a module makes up. */
static cst_status check_table(cst__mlmd_file *file, const char *table, cst_error *error) {
  cst__mlmd_rows rows;
  bool is_row = false;
  CST__TRY(cst__mlmd_prepare(
      file, "table",
      "SELECT 1 FROM sqlite_schema WHERE name = ? AND type = 'table' AND rootpage > 0", &rows,
      error));
  (void)sqlite3_bind_text(rows.statement, 1, table, -1, SQLITE_STATIC);
  const cst_status status = cst__mlmd_step(&rows, &is_row, error);
  cst__mlmd_end(&rows);
  CST__TRY(status);
  if (is_row) {
    return CST_OK;
  }
  return fail_file(
      file,
      cst__fail(error, CST_FORMAT, "an MLMD store is an SQLite file such as TFX writes",
                "no MLMD store: it has no table %s", table),
      error);
}

static cst_status read_version(cst__mlmd_file *file, cst_error *error) {
  cst__mlmd_rows rows;
  bool is_row = false;
  CST__TRY(check_table(file, "MLMDEnv", error));
  CST__TRY(
      cst__mlmd_prepare(file, "version", "SELECT max(schema_version) FROM MLMDEnv", &rows, error));
  cst_status status = cst__mlmd_step(&rows, &is_row, error);
  if (status == CST_OK) {
    status = cst__mlmd_number_or(&rows, 0, 0, &file->version, error);
  }
  cst__mlmd_end(&rows);
  return status;
}

static cst_status check_version(const cst__mlmd_file *file, cst_error *error) {
  if (file->version >= CST__MLMD_OLDEST && file->version <= CST__MLMD_LATEST) {
    return CST_OK;
  }
  const char *hint =
      file->version > CST__MLMD_LATEST
          ? "take a later Columnstone, or bring it down with ml-metadata's downgrade_schema"
          : "upgrade it with ml-metadata: MetadataStore(config, enable_upgrade_migration=True)";
  return fail_file(
      file,
      cst__fail(error, CST_UNSUPPORTED, hint,
                "the MLMD store has version %" PRId64 " of the schema; %d to %d are read",
                file->version, CST__MLMD_OLDEST, CST__MLMD_LATEST),
      error);
}

static cst_status look(cst__mlmd_file *file, int64_t timeout, cst_error *error) {
  static const char *const tables[] = {"Type",        "Artifact",          "ArtifactProperty",
                                       "Execution",   "ExecutionProperty", "Event",
                                       "EventPath",   "Context",           "ContextProperty",
                                       "Association", "Attribution",       "ParentContext"};
  const int64_t wait = timeout < MOST_WAIT_S ? timeout : MOST_WAIT_S;
  (void)sqlite3_busy_timeout(file->db, (int)wait * MS_PER_S);
  CST__TRY(run(file, "BEGIN", error));
  CST__TRY(read_version(file, error));
  CST__TRY(check_version(file, error));
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    CST__TRY(check_table(file, tables[i], error));
  }
  return CST_OK;
}

cst_status cst__mlmd_open(cst__mlmd_file *file, const char *path, int64_t timeout,
                          cst_error *error) {
  cst_status status = init(file, path, error);
  if (status == CST_OK) {
    status = connect(file, path, SQLITE_OPEN_READONLY, error);
  }
  if (status == CST_OK) {
    status = look(file, timeout, error);
  }
  if (status != CST_OK) {
    cst__mlmd_close(file);
  }
  return status;
}

cst_status cst__mlmd_create(cst__mlmd_file *file, const char *path, const char *name,
                            cst_error *error) {
  cst_status status = init(file, name, error);
  if (status == CST_OK) {
    status = connect(file, path, SQLITE_OPEN_READWRITE, error);
  }
  if (status == CST_OK) { /* nobody else knows the file, which is thrown away if this fails */
    status =
        run(file, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN EXCLUSIVE", error);
  }
  if (status == CST_OK) {
    status = run(file, cst__mlmd_tables, error);
  }
  if (status != CST_OK) {
    cst__mlmd_close(file);
  }
  return status;
}

cst_status cst__mlmd_finish(cst__mlmd_file *file, cst_error *error) {
  return run(file, "COMMIT", error);
}

void cst__mlmd_close(cst__mlmd_file *file) {
  (void)sqlite3_close(file->db);
  cst__delete(file->name);
  file->db = NULL;
  file->name = NULL;
}

cst_status cst__mlmd_has(cst__mlmd_file *file, const char *table, const char *column, bool *out,
                         cst_error *error) {
  cst__mlmd_rows rows;
  CST__TRY(cst__mlmd_prepare(file, "column", "SELECT 1 FROM pragma_table_info(?) WHERE name = ?",
                             &rows, error));
  (void)sqlite3_bind_text(rows.statement, 1, table, -1, SQLITE_STATIC);
  (void)sqlite3_bind_text(rows.statement, 2, column, -1, SQLITE_STATIC);
  const cst_status status = cst__mlmd_step(&rows, out, error);
  cst__mlmd_end(&rows);
  return status;
}
