/* Opening a store, and making one. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arguments.h"
#include "base/forked.h"
#include "base/hash.h"
#include "lineage/store.h"
#include "lineage/store_forks.h"
#include "lineage/store_paths.h"
#include "lineage/store_upgrade.h"

enum { USUAL_TIMEOUT = 60 /* seconds */, CACHE_KIB = 64 << 10 };

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
      return cst__fail(error, CST_NOT_FOUND, "create it first", "its folder does not exist");
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
  (void)sqlite3_busy_handler(store->db, cst__lineage_wait, store);
  return CST_OK;
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
  CST__TRY(cst__lineage_number(store, "PRAGMA application_id", &application, error));
  CST__TRY(cst__lineage_number(store, "SELECT count(*) FROM sqlite_schema", &objects, error));
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
  CST__TRY(cst__lineage_number(store, "PRAGMA application_id", &application, error));
  CST__TRY(cst__lineage_number(store, "PRAGMA user_version", &version, error));
  if (application != CST__LINEAGE_APPLICATION) {
    return cst__fail(error, CST_FORMAT,
                     "`columnstone lineage init` makes one; import-mlmd reads one of MLMD",
                     "an SQLite file, but not a lineage store");
  }
  return cst__lineage_upgrade(store, version, error);
}

static cst_status prepare_file(cst_lineage *store, const cst_lineage_options *options,
                               cst_error *error) {
  char settings[96];
  (void)snprintf(settings, sizeof settings,
                 "PRAGMA cache_size = -%d; PRAGMA synchronous = EXTRA; PRAGMA cell_size_check = ON",
                 CACHE_KIB);
  CST__TRY(cst__lineage_run(store, settings, error));
  if (options->mode == CST_LINEAGE_CREATE) {
    int64_t objects;
    CST__TRY(cst__lineage_number(store, "SELECT count(*) FROM sqlite_schema", &objects, error));
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

/* That the roots of a new store are there, before anything is made. */
static cst_status check_roots(cst_lineage *store, const cst_lineage_options *options,
                              cst_error *error) {
  const bool is_new = options->mode == CST_LINEAGE_CREATE && options->roots != NULL;
  for (size_t i = 0; is_new && i < options->num_roots; i++) {
    char *path;
    CST__TRY(cst__lineage_path_in(store, options->roots[i], false, &path, error));
    cst__delete(path);
  }
  return CST_OK;
}

static bool is_among(char *const *paths, size_t count, const char *path) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(paths[i], path) == 0) {
      return true;
    }
  }
  return false;
}

/* Puts the roots as they are stored into `paths`, and says whether they are those of the store. */
static cst_status compare_roots(cst_lineage *store, const cst_lineage_options *options,
                                char **paths, bool *same, cst_error *error) {
  sqlite3_stmt *find;
  int64_t count, different = 0;
  CST__TRY(cst__lineage_number(store, "SELECT count(*) FROM root", &count, error));
  CST__TRY(
      cst__lineage_prepare(store, "SELECT 1 FROM root WHERE path = CAST(? AS BLOB)", &find, error));
  *same = true;
  for (size_t i = 0; i < options->num_roots; i++) {
    bool is_row;
    CST__TRY(cst__lineage_path_in(store, options->roots[i], false, &paths[i], error));
    cst__lineage_bind_text(find, 1, paths[i]);
    CST__TRY(cst__lineage_step(store, find, &is_row, error));
    sqlite3_reset(find);
    *same = *same && is_row;
    different += !is_among(paths, i, paths[i]);
  }
  *same = *same && different == count;
  return CST_OK;
}

/* That a store which was there has what was given for a new one. */
static cst_status check_given(cst_lineage *store, const cst_lineage_options *options,
                              cst_error *error) {
  const size_t count = options->num_roots;
  bool same = true;
  if (options->mode != CST_LINEAGE_CREATE || options->roots == NULL) {
    return CST_OK;
  }
  char **paths = cst__new_zero(&store->allocator, (count + 1) * sizeof *paths);
  if (paths == NULL) {
    return cst__fail_memory(error, (count + 1) * sizeof *paths);
  }
  const cst_status status = compare_roots(store, options, paths, &same, error);
  for (size_t i = 0; i < count; i++) {
    cst__delete(paths[i]);
  }
  cst__delete(paths);
  return status != CST_OK || same
             ? status
             : cst__fail(error, CST_INVALID_ARGUMENT, "leave the roots out to open it as it is",
                         "the store exists, and has other roots");
}

static cst_status open_store(cst_lineage *store, const char *path,
                             const cst_lineage_options *options, cst_error *error) {
  CST__TRY(find_place(store, path, error));
  CST__TRY(check_roots(store, options, error));
  CST__TRY(connect(store, options, error));
  CST__TRY(prepare_file(store, options, error));
  CST__TRY(check_given(store, options, error));
  return cst__lineage_check_parent(store->presence, store->path,
                                   error); /* of a new one, the file is there now */
}

/* Its statements go, too. */
static void disconnect(void *ctx) {
  cst_lineage *store = ctx;
  for (size_t i = 0; i < store->num_statements; i++) {
    (void)sqlite3_finalize(store->statements[i].prepared);
  }
  store->num_statements = 0;
  for (size_t i = 0; i < CST__LINEAGE_MADE; i++) {
    (void)sqlite3_finalize(store->made[i].prepared);
    cst__delete((void *)(uintptr_t)store->made[i].text);
    store->made[i] = (cst__lineage_statement){NULL, NULL};
  }
  (void)sqlite3_close(store->db);
  store->db = NULL;
}

static cst_status reconnect(void *ctx, cst_error *error) {
  cst_lineage *store = ctx;
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  options.mode = store->is_read_only ? CST_LINEAGE_READ : CST_LINEAGE_WRITE;
  cst_status status = connect(store, &options, error);
  if (status == CST_OK) {
    status = prepare_file(store, &options, error);
  }
  if (status != CST_OK) {
    cst__error_add_file(error, store->path);
    disconnect(store);
  }
  return status;
}

static const cst__lineage_file_actions file_actions = {disconnect, reconnect};

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
  store->timeout = own.timeout > 0 ? own.timeout : USUAL_TIMEOUT;
  store->random = cst__random_seed();
  store->presence = cst__lineage_appear(store, &file_actions, &allocator);
  if (store->presence == NULL) {
    cst__delete(store);
    return cst__fail_memory(error, sizeof *store->presence);
  }
  const cst_status status = open_store(store, path, &own, error);
  cst__lineage_settle(store->presence);
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
  if (store == NULL || cst__is_forked(store->presence->owner)) {
    return;
  }
  cst__lineage_vanish(store->presence);
  cst__delete(store->statements);
  cst__delete(store->path);
  cst__delete(store->folder);
  cst__delete(store);
}

const char *cst_lineage_path(const cst_lineage *store) {
  return store != NULL ? store->path : NULL;
}
