/* The transactions and statements of a store. */
#include "lineage/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/arguments.h"
#include "base/forked.h"
#include "base/interrupt.h"
#include "lineage/store_forks.h"

enum { LEAST_PAUSE_US = 300, MOST_PAUSE_US = 10000, NS_PER_S = 1000000000 };

/* ---- errors ---- */

static cst_status fail_locked(const cst_lineage *store, cst_error *error) {
  return cst__fail(error, CST_TIMEOUT, "try again, or raise `timeout`",
                   "other processes have locked the store for %" PRId64 " s", store->timeout);
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
  const char *hint =
      status == CST_CORRUPT  ? "restore a copy of it"
      : status == CST_FORMAT ? "`columnstone lineage init` makes a store"
      : (code & 0xff) == SQLITE_READONLY
          ? "readers also write files next to it, unless it was created for a shared folder"
      : (code & 0xff) == SQLITE_FULL ? "make room, and try again"
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
int cst__lineage_wait(void *ctx, int tries) {
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

/* Whether to try again what SQLite has refused. */
static bool waits_on(cst_lineage *store, int code, int64_t begin, int tries) {
  return (code & 0xff) == SQLITE_BUSY && monotonic_ns() - begin <= store->timeout * NS_PER_S &&
         cst__lineage_wait(store, tries) != 0;
}

/* ---- statements ---- */

/* A text of statements without parameters, again and again while others hold the store: in some
 * places SQLite does not ask the handler. */
cst_status cst__lineage_run(cst_lineage *store, const char *sql, cst_error *error) {
  const int64_t begin = monotonic_ns();
  for (int tries = 1;; tries++) {
    const int code = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    if (code == SQLITE_OK) {
      return CST_OK;
    }
    if (!waits_on(store, code, begin, tries)) {
      return cst__lineage_fail(store, code, error);
    }
  }
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

cst_status cst__lineage_prepare_text(cst_lineage *store, const char *sql, sqlite3_stmt **out,
                                     cst_error *error) {
  for (size_t i = 0; i < CST__LINEAGE_MADE; i++) {
    if (store->made[i].text != NULL && strcmp(store->made[i].text, sql) == 0) {
      *out = store->made[i].prepared;
      (void)sqlite3_reset(*out);
      (void)sqlite3_clear_bindings(*out);
      return CST_OK;
    }
  }
  char *text = cst__new_copy(&store->allocator, sql, strlen(sql));
  if (text == NULL) {
    return cst__fail_memory(error, strlen(sql));
  }
  cst_status status = cst__lineage_prepare_own(store, sql, out, error);
  if (status != CST_OK) {
    cst__delete(text);
    return status;
  }
  cst__lineage_statement *made = &store->made[store->num_made++ % CST__LINEAGE_MADE];
  (void)sqlite3_finalize(made->prepared);
  cst__delete((void *)(uintptr_t)made->text);
  *made = (cst__lineage_statement){text, *out};
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

cst_status cst__lineage_number(cst_lineage *store, const char *sql, int64_t *out,
                               cst_error *error) {
  sqlite3_stmt *statement;
  bool is_row = false;
  CST__TRY(cst__lineage_prepare_own(store, sql, &statement, error));
  cst_status status = cst__lineage_step(store, statement, &is_row, error);
  *out = is_row ? sqlite3_column_int64(statement, 0) : 0;
  (void)sqlite3_finalize(statement);
  return status;
}

void cst__lineage_bind_text(sqlite3_stmt *statement, int parameter, const char *text) {
  (void)sqlite3_bind_text(statement, parameter, text, -1, SQLITE_STATIC);
}

const char *cst__lineage_text(sqlite3_stmt *statement, int column) {
  const char *text = (const char *)sqlite3_column_text(statement, column);
  return text != NULL ? text : "";
}

/* One that every call needs, kept as all statements are. */
static cst_status run_kept(cst_lineage *store, const char *sql, cst_error *error) {
  sqlite3_stmt *statement;
  const int64_t begin = monotonic_ns();
  CST__TRY(cst__lineage_prepare(store, sql, &statement, error));
  for (int tries = 1;; tries++) {
    const int code = sqlite3_step(statement);
    (void)sqlite3_reset(statement);
    if (code == SQLITE_DONE) {
      return CST_OK;
    }
    if (!waits_on(store, code, begin, tries)) {
      return cst__lineage_fail(store, code, error);
    }
  }
}

/* ---- transactions ---- */

cst_status cst__lineage_check_usable(cst_lineage *store, cst_error *error) {
  CST__TRY(cst__check_forked(store->presence->owner, "lineage store", error));
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
  CST__TRY(cst__lineage_begin_use(store->presence, error));
  const cst_status status =
      run_kept(store, access == CST__LINEAGE_WRITES ? "BEGIN IMMEDIATE" : "BEGIN", error);
  if (status != CST_OK) {
    cst__lineage_end_use(store->presence);
  }
  return status;
}

static void undo(cst_lineage *store) {
  (void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
  store->types.count = 0;
  cst__lineage_end_use(store->presence);
}

static cst_status commit(cst_lineage *store, cst_error *error) {
  const cst_status status = run_kept(store, "COMMIT", error);
  if (status == CST_OK) {
    cst__lineage_end_use(store->presence);
  } else {
    undo(store);
  }
  return status;
}

cst_status cst__lineage_enter(cst_lineage *store, cst__lineage_access access, cst_error *error) {
  CST__TRY(cst__lineage_check_usable(store, error));
  if (store->depth == 0) {
    CST__TRY(store->in_transaction ? CST_OK : begin(store, access, error));
    store->changes = sqlite3_total_changes64(store->db);
  }
  store->depth++;
  return CST_OK;
}

cst_status cst__lineage_leave(cst_lineage *store, cst_status status, cst_error *error) {
  if (--store->depth > 0) {
    return status;
  }
  if (store->in_transaction) {
    store->is_broken =
        status != CST_OK && (sqlite3_total_changes64(store->db) != store->changes ||
                             sqlite3_get_autocommit(store->db) != 0 /* SQLite has undone it */);
    return status;
  }
  if (status == CST_OK) {
    return commit(store, error);
  }
  undo(store);
  return status;
}

cst_status cst_lineage_begin(cst_lineage *store, cst_error *error) {
  CST__TRY(cst__check_given(store, "store", store, error));
  CST__TRY(cst__lineage_check_usable(store, error));
  if (store->in_transaction) {
    return cst__fail(error, CST_STATE, "commit the first one", "a transaction is already open");
  }
  CST__TRY(begin(store, CST__LINEAGE_WRITES, error));
  store->in_transaction = true;
  return CST_OK;
}

static cst_status check_open_transaction(const cst_lineage *store, cst_error *error) {
  CST__TRY(cst__check_given(store, "store", store, error));
  CST__TRY(cst__check_forked(store->presence->owner, "lineage store", error));
  return store->in_transaction ? CST_OK
                               : cst__fail(error, CST_STATE, "call cst_lineage_begin first",
                                           "no transaction is open");
}

cst_status cst_lineage_commit(cst_lineage *store, cst_error *error) {
  CST__TRY(check_open_transaction(store, error));
  CST__TRY(cst__lineage_check_usable(store, error));
  store->in_transaction = false;
  return commit(store, error);
}

cst_status cst_lineage_rollback(cst_lineage *store, cst_error *error) {
  CST__TRY(check_open_transaction(store, error));
  store->in_transaction = false;
  store->is_broken = false;
  undo(store);
  return CST_OK;
}
