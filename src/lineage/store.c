/* Opening a store, its transactions and statements. */
#include "lineage/store.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/arguments.h"
#include "base/forked.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "io/raw.h"
#include "lineage/store_paths.h"
#include "lineage/store_upgrade.h"

enum {
  USUAL_TIMEOUT = 60, /* seconds */
  LEAST_PAUSE_US = 300,
  MOST_PAUSE_US = 10000,
  CACHE_KIB = 64 << 10,
  NS_PER_S = 1000000000
};

/* ---- errors ---- */

static cst_status fail_locked(const cst_lineage *store, cst_error *error) {
  return cst__fail(error, CST_TIMEOUT, "try again, or raise `timeout`",
                   "others have held the store for %" PRId64 " s", store->timeout);
}

static cst_status status_of(int code) {
  switch (code & 0xff) {
    case SQLITE_NOMEM:
      return CST_NO_MEMORY;
    case SQLITE_CORRUPT:
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT:
      return CST_CORRUPT;
    case SQLITE_NOTADB:
    case SQLITE_ERROR: /* tables or columns that there are not */
      return CST_FORMAT;
    case SQLITE_TOOBIG:
      return CST_LIMIT;
    case SQLITE_INTERRUPT:
      return CST_INTERRUPTED;
    default:
      return CST_IO;
  }
}

cst_status cst__lineage_fail(cst_lineage *store, int code, cst_error *error) {
  if ((code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED) {
    (void)fail_locked(store, error);
    cst__error_add_file(error, store->path);
    return CST_TIMEOUT;
  }
  const cst_status status = status_of(code);
  const char *hint = status == CST_CORRUPT  ? "restore a copy; `lineage check` says more"
                     : status == CST_FORMAT ? "`columnstone lineage init` makes a store"
                                            : NULL;
  (void)cst__fail(error, status, hint, "%s store: SQLite says: %s",
                  status == CST_CORRUPT  ? "a damaged"
                  : status == CST_FORMAT ? "not a lineage"
                                         : "cannot use the",
                  store->db != NULL ? sqlite3_errmsg(store->db) : sqlite3_errstr(code));
  cst__error_add_file(error, store->path);
  return status;
}

/* ---- waiting for others ---- */

static int64_t monotonic_ns(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

int64_t cst__lineage_now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_REALTIME, &t);
  return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Pauses grow with the tries, and are as long as chance has it: who waits longest is not the one
 * that sleeps longest, as it is with SQLite's own handler, and nobody waits in step with others. */
static int wait_for_others(void *ctx, int tries) {
  cst_lineage *store = ctx;
  const int64_t now = monotonic_ns();
  if (tries == 0) {
    store->waiting_from = now;
  }
  if (now - store->waiting_from > store->timeout * NS_PER_S ||
      cst__interrupted_now(NULL) != CST_OK) {
    return 0;
  }
  store->random = store->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  const int64_t most = LEAST_PAUSE_US * (int64_t)(tries < 5 ? 1 << tries : 32);
  const int64_t pause = LEAST_PAUSE_US + (int64_t)(store->random >> 33) %
                                             (most < MOST_PAUSE_US ? most : MOST_PAUSE_US);
  const struct timespec t = {0, pause * 1000};
  (void)nanosleep(&t, NULL);
  return 1;
}

/* A text of statements without parameters, again and again while others hold the store: in some
 * places SQLite does not ask the handler. */
static int run_patiently(cst_lineage *store, const char *sql) {
  const int64_t begin = monotonic_ns();
  for (int tries = 1;; tries++) {
    const int code = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    if ((code & 0xff) != SQLITE_BUSY || monotonic_ns() - begin > store->timeout * NS_PER_S ||
        wait_for_others(store, tries) == 0) {
      return code;
    }
  }
}

/* ---- statements ---- */

cst_status cst__lineage_run(cst_lineage *store, const char *sql, cst_error *error) {
  const int code = run_patiently(store, sql);
  return code == SQLITE_OK ? CST_OK : cst__lineage_fail(store, code, error);
}

cst_status cst__lineage_prepare_own(cst_lineage *store, const char *sql, sqlite3_stmt **out,
                                    cst_error *error) {
  const int code = sqlite3_prepare_v2(store->db, sql, -1, out, NULL);
  return code == SQLITE_OK ? CST_OK : cst__lineage_fail(store, code, error);
}

cst_status cst__lineage_prepare(cst_lineage *store, const char *sql, sqlite3_stmt **out,
                                cst_error *error) {
  for (size_t i = 0; i < store->num_statements; i++) {
    if (store->statements[i].text == sql) {
      *out = store->statements[i].prepared;
      (void)sqlite3_reset(*out);
      (void)sqlite3_clear_bindings(*out);
      return CST_OK;
    }
  }
  if (!cst__grow(&store->allocator, (void **)&store->statements, &store->capacity,
                 store->num_statements + 1, sizeof *store->statements)) {
    return cst__fail_memory(error, (store->num_statements + 1) * sizeof *store->statements);
  }
  const int code = sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
  if (code != SQLITE_OK) {
    return cst__lineage_fail(store, code, error);
  }
  store->statements[store->num_statements++] = (cst__lineage_statement){sql, *out};
  return CST_OK;
}

cst_status cst__lineage_step(cst_lineage *store, sqlite3_stmt *statement, bool *is_row,
                             cst_error *error) {
  const int code = sqlite3_step(statement);
  if (is_row != NULL) {
    *is_row = code == SQLITE_ROW;
  }
  if (code == SQLITE_ROW && is_row != NULL) {
    return CST_OK;
  }
  const cst_status status =
      code == SQLITE_ROW || code == SQLITE_DONE ? CST_OK : cst__lineage_fail(store, code, error);
  (void)sqlite3_reset(statement);
  return status;
}

void cst__lineage_bind_text(sqlite3_stmt *statement, int parameter, const char *text) {
  (void)sqlite3_bind_text(statement, parameter, text, -1, SQLITE_STATIC);
}

const char *cst__lineage_text(sqlite3_stmt *statement, int column) {
  const char *text = (const char *)sqlite3_column_text(statement, column);
  return text != NULL ? text : "";
}

/* ---- transactions ---- */

static cst_status check_usable(cst_lineage *store, cst_error *error) {
  CST__TRY(cst__check_forked(store->owner, "lineage store", error));
  return store->is_broken ? cst__fail(error, CST_STATE, "call cst_lineage_rollback",
                                      "the transaction failed in the middle of writing")
                          : CST_OK;
}

static cst_status begin(cst_lineage *store, cst__lineage_access access, cst_error *error) {
  if (access == CST__LINEAGE_WRITES && store->is_read_only) {
    (void)cst__fail(error, CST_STATE, "open it for writing", "the store is open for reading");
    cst__error_add_file(error, store->path);
    return CST_STATE;
  }
  return cst__lineage_run(store, access == CST__LINEAGE_WRITES ? "BEGIN IMMEDIATE" : "BEGIN",
                          error);
}

static cst_status commit(cst_lineage *store, cst_error *error) {
  const int code = run_patiently(store, "COMMIT");
  if (code == SQLITE_OK) {
    return CST_OK;
  }
  const cst_status status = cst__lineage_fail(store, code, error);
  (void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
  return status;
}

cst_status cst__lineage_enter(cst_lineage *store, cst__lineage_access access, cst_error *error) {
  CST__TRY(check_usable(store, error));
  store->changes = sqlite3_total_changes64(store->db);
  return store->in_transaction ? CST_OK : begin(store, access, error);
}

cst_status cst__lineage_leave(cst_lineage *store, cst_status status, cst_error *error) {
  if (store->in_transaction) {
    store->is_broken =
        status != CST_OK && (sqlite3_total_changes64(store->db) != store->changes ||
                             sqlite3_get_autocommit(store->db) != 0 /* SQLite has undone it */);
    return status;
  }
  if (status == CST_OK) {
    return commit(store, error);
  }
  (void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
  return status;
}

cst_status cst_lineage_begin(cst_lineage *store, cst_error *error) {
  CST__TRY(cst__check_given(store, "store", store, error));
  CST__TRY(check_usable(store, error));
  if (store->in_transaction) {
    return cst__fail(error, CST_STATE, "commit the first one", "a transaction is open already");
  }
  CST__TRY(begin(store, CST__LINEAGE_WRITES, error));
  store->in_transaction = true;
  return CST_OK;
}

static cst_status check_open_transaction(const cst_lineage *store, cst_error *error) {
  CST__TRY(cst__check_given(store, "store", store, error));
  CST__TRY(cst__check_forked(store->owner, "lineage store", error));
  return store->in_transaction ? CST_OK
                               : cst__fail(error, CST_STATE, "call cst_lineage_begin first",
                                           "no transaction is open");
}

cst_status cst_lineage_commit(cst_lineage *store, cst_error *error) {
  CST__TRY(check_open_transaction(store, error));
  CST__TRY(check_usable(store, error));
  store->in_transaction = false;
  return commit(store, error);
}

cst_status cst_lineage_rollback(cst_lineage *store, cst_error *error) {
  CST__TRY(check_open_transaction(store, error));
  store->in_transaction = false;
  store->is_broken = false;
  (void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
  return CST_OK;
}

/* ---- opening ---- */

/* The store's file, absolute and without links, though it need not be there. */
static cst_status find_place(cst_lineage *store, const char *path, cst_error *error) {
  char real[PATH_MAX];
  if (realpath(path, real) == NULL) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    const size_t size = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    if (size >= sizeof folder || base[0] == '\0') {
      return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "not the path of a file");
    }
    memcpy(folder, slash == NULL ? "." : path, size);
    folder[size] = '\0';
    if (realpath(folder, real) == NULL) {
      return cst__fail(error, CST_NOT_FOUND, "make it first", "its folder does not exist");
    }
    const size_t end = strcmp(real, "/") == 0 ? 0 : strlen(real);
    if (snprintf(real + end, sizeof real - end, "/%s", base) >= (int)(sizeof real - end)) {
      return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "the path is too long");
    }
  }
  const size_t folder_size = (size_t)(strrchr(real, '/') - real);
  store->path = cst__new_copy(&store->allocator, real, strlen(real));
  store->folder = cst__new_copy(&store->allocator, real, folder_size > 0 ? folder_size : 1);
  return store->path != NULL && store->folder != NULL ? CST_OK
                                                      : cst__fail_memory(error, strlen(real));
}

/* What a file that strangers made must not do: triggers and views are never run, and what is not
 * well-formed is an error. */
static void distrust(sqlite3 *db) {
  (void)sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  (void)sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
  (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
}

static cst_status connect(cst_lineage *store, const cst_lineage_options *options,
                          cst_error *error) {
  struct stat info;
  const bool exists = stat(store->path, &info) == 0;
  if (!exists && options->mode != CST_LINEAGE_CREATE) {
    return cst__fail(error, CST_NOT_FOUND, "`columnstone lineage init` makes one",
                     "there is no such lineage store");
  }
  if (exists && !S_ISREG(info.st_mode)) {
    return cst__fail(error, CST_FORMAT, NULL, "a lineage store is a regular file");
  }
  const int access = options->mode == CST_LINEAGE_READ ? SQLITE_OPEN_READONLY
                     : options->mode == CST_LINEAGE_WRITE
                         ? SQLITE_OPEN_READWRITE
                         : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int code = sqlite3_open_v2(store->path, &store->db, access | SQLITE_OPEN_NOMUTEX, NULL);
  if (code != SQLITE_OK) {
    return cst__lineage_fail(store, code, error);
  }
  distrust(store->db);
  (void)sqlite3_busy_handler(store->db, wait_for_others, store);
  return CST_OK;
}

static cst_status read_pragma(cst_lineage *store, const char *sql, int64_t *out, cst_error *error) {
  sqlite3_stmt *statement;
  bool is_row = false;
  CST__TRY(cst__lineage_prepare_own(store, sql, &statement, error));
  cst_status status = cst__lineage_step(store, statement, &is_row, error);
  *out = is_row ? sqlite3_column_int64(statement, 0) : 0;
  (void)sqlite3_finalize(statement);
  return status;
}

static cst_status add_roots(cst_lineage *store, const cst_lineage_options *options,
                            cst_error *error) {
  sqlite3_stmt *insert;
  const char *const own[] = {store->folder};
  const char *const *roots = options->roots != NULL ? options->roots : own;
  const size_t count = options->roots != NULL ? options->num_roots : 1;
  CST__TRY(cst__lineage_prepare(store, "INSERT OR IGNORE INTO root VALUES(CAST(? AS BLOB))",
                                &insert, error));
  for (size_t i = 0; i < count; i++) {
    char *path;
    CST__TRY(cst__lineage_path_in(store, roots[i], false, &path, error));
    cst__lineage_bind_text(insert, 1, path);
    cst_status status = cst__lineage_step(store, insert, NULL, error);
    cst__delete(path);
    CST__TRY(status);
  }
  return CST_OK;
}

/* Makes the tables, unless somebody else has done so meanwhile. */
static cst_status create(cst_lineage *store, const cst_lineage_options *options, cst_error *error) {
  int64_t application, objects;
  CST__TRY(read_pragma(store, "PRAGMA application_id", &application, error));
  CST__TRY(read_pragma(store, "SELECT count(*) FROM sqlite_schema", &objects, error));
  if (application == CST__LINEAGE_APPLICATION || objects > 0) {
    return CST_OK;
  }
  char pragmas[128];
  (void)snprintf(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %d",
                 CST__LINEAGE_APPLICATION, CST__LINEAGE_VERSION);
  CST__TRY(cst__lineage_run(store, cst__lineage_tables, error));
  CST__TRY(add_roots(store, options, error));
  return cst__lineage_run(store, pragmas, error);
}

static cst_status check_version(cst_lineage *store, cst_error *error) {
  int64_t application, version;
  CST__TRY(read_pragma(store, "PRAGMA application_id", &application, error));
  CST__TRY(read_pragma(store, "PRAGMA user_version", &version, error));
  if (application != CST__LINEAGE_APPLICATION) {
    return cst__fail(error, CST_FORMAT,
                     "`columnstone lineage init` makes one; import-mlmd reads one of MLMD",
                     "an SQLite file, but not a lineage store");
  }
  if (version > CST__LINEAGE_VERSION || version < 1) {
    return cst__fail(error, CST_UNSUPPORTED, "install a newer version of columnstone",
                     "a lineage store of version %" PRId64 "; this reads up to %d", version,
                     CST__LINEAGE_VERSION);
  }
  return version == CST__LINEAGE_VERSION ? CST_OK : cst__lineage_upgrade(store, version, error);
}

static cst_status prepare_file(cst_lineage *store, const cst_lineage_options *options,
                               cst_error *error) {
  char settings[96];
  (void)snprintf(settings, sizeof settings,
                 "PRAGMA cache_size = -%d; PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON",
                 CACHE_KIB);
  CST__TRY(cst__lineage_run(store, settings, error));
  if (options->mode == CST_LINEAGE_CREATE) {
    int64_t objects;
    CST__TRY(read_pragma(store, "SELECT count(*) FROM sqlite_schema", &objects, error));
    if (objects == 0) {
      CST__TRY(cst__lineage_run(
          store, options->is_shared ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL",
          error));
      CST__TRY(cst__lineage_enter(store, CST__LINEAGE_WRITES, error));
      CST__TRY(cst__lineage_leave(store, create(store, options, error), error));
    }
  }
  return check_version(store, error);
}

static cst_status open_store(cst_lineage *store, const char *path,
                             const cst_lineage_options *options, cst_error *error) {
  CST__TRY(find_place(store, path, error));
  CST__TRY(connect(store, options, error));
  return prepare_file(store, options, error);
}

cst_status cst_lineage_open(const char *path, const cst_lineage_options *options, cst_lineage **out,
                            cst_error *error) {
  cst_lineage_options own = CST_LINEAGE_OPTIONS_INIT;
  CST__CLEAR(out);
  CST__TRY(cst__check_given(path, "path", out, error));
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(cst__check_allocator(own.allocator, error));
  if ((unsigned)own.mode > CST_LINEAGE_CREATE || own.timeout < 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "no such mode, or a negative timeout");
  }
  cst_allocator allocator = cst__allocator_of(own.allocator);
  cst_lineage *store = cst__new_zero(&allocator, sizeof *store);
  if (store == NULL) {
    return cst__fail_memory(error, sizeof *store);
  }
  store->allocator = allocator;
  store->is_read_only = own.mode == CST_LINEAGE_READ;
  store->owner = getpid();
  store->timeout = own.timeout > 0 ? own.timeout : USUAL_TIMEOUT;
  store->random = cst__random_seed();
  cst_status status = open_store(store, path, &own, error);
  if (status != CST_OK) {
    cst__error_add_file(error, path);
    cst_lineage_free(store);
    return status;
  }
  *out = store;
  return CST_OK;
}

void cst_lineage_free(cst_lineage *store) {
  /* SQLite's connections must not be closed in a child of the process that opened them. */
  if (store == NULL || cst__is_forked(store->owner)) {
    return;
  }
  for (size_t i = 0; i < store->num_statements; i++) {
    (void)sqlite3_finalize(store->statements[i].prepared);
  }
  (void)sqlite3_close(store->db);
  cst__delete(store->statements);
  cst__delete(store->path);
  cst__delete(store->folder);
  cst__delete(store);
}

const char *cst_lineage_path(const cst_lineage *store) {
  return store != NULL ? store->path : NULL;
}
