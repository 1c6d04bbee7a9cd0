/* Leases: rows that say who reads what, and until when.
 *
 * A lease has a thread that renews the row long before it expires. The row is the truth: whoever
 * collects garbage removes those that have expired, so one that is there has kept its files,
 * however late it is renewed.
 *
 * The store is opened for each renewal and closed behind it, while forks wait: a child that opened
 * the same file beside a connection of its parent's would take SQLite's locks for its own, and
 * could lose what it writes.
 */
#include <stdio.h>

#include "arrow/findings.h"
#include "base/arguments.h"
#include "base/forked.h"
#include "base/thread.h"
#include "lineage/artifacts.h"
#include "lineage/store_forks.h"

enum {
  USUAL_SECONDS = 300,
  TURNS = 3,                /* renewals within the time that it lasts */
  PATIENCE_SECONDS = 1,     /* of one try to renew: whoever forks or checks waits as long */
  LAST_PATIENCE_SECONDS = 3 /* of ending it; else it expires */
};
static const int64_t US = 1000000;
static const int64_t NS_PER_US = 1000;
static const int64_t RETRY_NS = 200 * 1000000;

struct cst_lineage_lease {
  cst__mutex lock; /* of all below, but for what does not change */
  cst__condition change;
  cst__thread thread;
  char *path; /* of the store */
  int64_t id;
  int64_t lasts;    /* us */
  bool has_expired; /* when it was looked at last */
  pid_t owner;
  bool has_thread;
  bool is_detached;
  bool stops;
};

/* ---- rows ---- */

static cst_status check_execution(cst_lineage *store, int64_t execution, cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  CST__TRY(cst__lineage_prepare(store, "SELECT ended IS NULL FROM execution WHERE id = ?", &find,
                                error));
  (void)sqlite3_bind_int64(find, 1, execution);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  const bool runs = is_row && sqlite3_column_int(find, 0) != 0;
  (void)sqlite3_reset(find);
  return runs ? CST_OK
         : is_row
             ? cst__fail(error, CST_STATE, NULL, "execution %lld has ended", (long long)execution)
             : cst__fail(error, CST_NOT_FOUND, NULL, "there is no execution %lld",
                         (long long)execution);
}

static cst_status add_leased(cst_lineage *store, int64_t lease, int64_t artifact,
                             cst_error *error) {
  cst_lineage_state state;
  sqlite3_stmt *insert;
  CST__TRY(cst__lineage_state(store, artifact, &state, error));
  if (state != CST_LINEAGE_LIVE && state != CST_LINEAGE_PENDING) {
    char label[CST__LINEAGE_LABEL];
    CST__TRY(cst__lineage_label(store, artifact, label, error));
    return cst__fail(error, CST_STATE, "use one that is live",
                     "%.100s is %s: its files may be gone", label, cst__lineage_state_name(state));
  }
  CST__TRY(
      cst__lineage_prepare(store, "INSERT OR IGNORE INTO leased VALUES(?, ?)", &insert, error));
  (void)sqlite3_bind_int64(insert, 1, lease);
  (void)sqlite3_bind_int64(insert, 2, artifact);
  return cst__lineage_step(store, insert, NULL, error);
}

typedef struct wanted {
  const int64_t *artifacts;
  size_t num_artifacts;
  int64_t execution;
  const char *holder;
} wanted;

static cst_status add_lease(cst_lineage *store, cst_lineage_lease *lease, const wanted *what,
                            cst_error *error) {
  sqlite3_stmt *insert;
  if (what->execution != 0) {
    CST__TRY(check_execution(store, what->execution, error));
  }
  CST__TRY(cst__lineage_prepare(
      store, "INSERT INTO lease(holder, expires, execution) VALUES(?, ?, ?)", &insert, error));
  cst__lineage_bind_text(insert, 1, what->holder);
  (void)sqlite3_bind_int64(insert, 2, cst__lineage_now() + lease->lasts);
  if (what->execution != 0) {
    (void)sqlite3_bind_int64(insert, 3, what->execution);
  }
  CST__TRY(cst__lineage_step(store, insert, NULL, error));
  lease->id = sqlite3_last_insert_rowid(store->db);
  for (size_t i = 0; i < what->num_artifacts; i++) {
    CST__TRY(add_leased(store, lease->id, what->artifacts[i], error));
  }
  return CST_OK;
}

static cst_status fail_ended(cst_error *error) {
  return cst__fail(error, CST_STATE, "make a new one, and read again from the beginning",
                   "the lease has ended: files may have been deleted meanwhile");
}

/* Moves its end on; CST_STATE if there is no such row any more. */
static cst_status renew(cst_lineage *store, cst_lineage_lease *lease, cst_error *error) {
  sqlite3_stmt *update;
  CST__TRY(
      cst__lineage_prepare(store, "UPDATE lease SET expires = ? WHERE id = ?", &update, error));
  (void)sqlite3_bind_int64(update, 1, cst__lineage_now() + lease->lasts);
  (void)sqlite3_bind_int64(update, 2, lease->id);
  CST__TRY(cst__lineage_step(store, update, NULL, error));
  return sqlite3_changes(store->db) > 0 ? CST_OK : fail_ended(error);
}

/* Whether it lasts. */
static cst_status read_expiry(cst_lineage *store, cst_lineage_lease *lease, cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  CST__TRY(cst__lineage_prepare(store, "SELECT expires FROM lease WHERE id = ?", &find, error));
  (void)sqlite3_bind_int64(find, 1, lease->id);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  lease->has_expired = is_row && sqlite3_column_int64(find, 0) <= cst__lineage_now();
  (void)sqlite3_reset(find);
  return is_row ? CST_OK : fail_ended(error);
}

static cst_status remove_row(cst_lineage *store, cst_lineage_lease *lease, cst_error *error) {
  static const char *const texts[] = {"DELETE FROM leased WHERE lease = ?",
                                      "DELETE FROM lease WHERE id = ?"};
  for (size_t i = 0; i < 2; i++) {
    sqlite3_stmt *remove;
    CST__TRY(cst__lineage_prepare(store, texts[i], &remove, error));
    (void)sqlite3_bind_int64(remove, 1, lease->id);
    CST__TRY(cst__lineage_step(store, remove, NULL, error));
  }
  return CST_OK;
}

typedef cst_status (*row_action)(cst_lineage *store, cst_lineage_lease *lease, cst_error *error);

/* Opens the store for one action, in one transaction. */
static cst_status act(cst_lineage_lease *lease, row_action action, cst__lineage_access access,
                      int64_t patience, cst_error *error) {
  cst_lineage *store;
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  options.timeout = patience;
  cst__busy_enter(); /* SQLite has locks that a forked child must not find taken */
  cst_status status = cst_lineage_open(lease->path, &options, &store, error);
  if (status == CST_OK) {
    status = cst__lineage_enter(store, access, error);
    if (status == CST_OK) {
      status = cst__lineage_leave(store, action(store, lease, error), error);
    }
    cst_lineage_free(store);
  }
  cst__busy_leave();
  return status;
}

/* ---- the thread ---- */

static void *keep_alive(void *arg) {
  cst_lineage_lease *lease = arg;
  const int64_t turn = lease->lasts / TURNS * NS_PER_US;
  int64_t wait = turn;
  cst__mutex_lock(&lease->lock);
  while (!lease->stops) {
    if (cst__condition_wait_for(&lease->change, &lease->lock, wait)) {
      continue; /* it stops, or nothing */
    }
    const cst_status status = act(lease, renew, CST__LINEAGE_WRITES, PATIENCE_SECONDS, NULL);
    if (status == CST_STATE) {
      break; /* it has ended; cst_lineage_lease_check finds that out, too */
    }
    wait = status == CST_OK || turn < RETRY_NS ? turn : RETRY_NS;
  }
  cst__mutex_unlock(&lease->lock);
  return NULL;
}

/* ---- in public ---- */

static void put_holder(char *to, size_t room) {
  char host[256] = "";
  (void)gethostname(host, sizeof host - 1);
  (void)snprintf(to, room, "%s:%ld", host[0] != '\0' ? host : "localhost", (long)getpid());
}

static cst_status begin(cst_lineage *store, cst_lineage_lease *lease, const wanted *what,
                        cst_error *error) {
  lease->path = cst__new_copy(NULL, store->path, strlen(store->path));
  if (lease->path == NULL) {
    return cst__fail_memory(error, strlen(store->path));
  }
  CST__TRY(cst__lineage_enter(store, CST__LINEAGE_WRITES, error));
  const cst_status status = cst__lineage_leave(store, add_lease(store, lease, what, error), error);
  if (status != CST_OK) {
    lease->id = 0;
    return status;
  }
  if (lease->is_detached) {
    return CST_OK;
  }
  lease->has_thread = cst__thread_start(&lease->thread, keep_alive, lease);
  return lease->has_thread ? CST_OK
                           : cst__fail(error, CST_NO_MEMORY, NULL, "the system gives no thread");
}

static cst_status check_lease(const cst_lineage *store, const cst_lineage_lease_options *options,
                              size_t num_artifacts, const int64_t *artifacts, cst_error *error) {
  if (num_artifacts > 0 && artifacts == NULL) {
    return cst__missing("artifacts", error);
  }
  if (options->seconds < 0 || options->seconds > INT64_MAX / US / 4) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a lease lasts for 1 second or more");
  }
  CST__TRY(cst__check_forked(store->presence->owner, "lineage store", error));
  if (store->is_read_only) {
    return cst__fail(error, CST_STATE, "open it for writing",
                     "the store is open for reading, and a lease is written");
  }
  return store->in_transaction ? cst__fail(error, CST_STATE, "commit it first",
                                           "others do not see a lease within a transaction")
                               : CST_OK;
}

cst_status cst_lineage_lease_new(cst_lineage *store, const int64_t *artifacts, size_t num_artifacts,
                                 const cst_lineage_lease_options *options, cst_lineage_lease **out,
                                 cst_error *error) {
  cst_lineage_lease_options own = CST_LINEAGE_LEASE_OPTIONS_INIT;
  char holder[300];
  CST__CLEAR(out);
  CST__TRY(cst__check_given(store, "store", out, error));
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(check_lease(store, &own, num_artifacts, artifacts, error));
  cst_lineage_lease *lease = cst__new_zero(NULL, sizeof *lease); /* it may outlive the store's */
  if (lease == NULL) {
    return cst__fail_memory(error, sizeof *lease);
  }
  lease->owner = getpid();
  lease->is_detached = own.is_detached;
  lease->lasts = (own.seconds > 0 ? own.seconds : USUAL_SECONDS) * US;
  cst__mutex_init(&lease->lock);
  cst__condition_init(&lease->change);
  put_holder(holder, sizeof holder);
  const wanted what = {artifacts, num_artifacts, own.execution,
                       own.holder != NULL ? own.holder : holder};
  const cst_status status = begin(store, lease, &what, error);
  if (status != CST_OK) {
    cst_lineage_lease_free(lease);
    return status;
  }
  *out = lease;
  return CST_OK;
}

static cst_status check_row(cst_lineage_lease *lease, cst_error *error) {
  CST__TRY(act(lease, read_expiry, CST__LINEAGE_READS, PATIENCE_SECONDS, error));
  if (!lease->has_expired) {
    return CST_OK;
  }
  /* The machine slept, but nobody has collected garbage since. */
  return lease->is_detached ? fail_ended(error)
                            : act(lease, renew, CST__LINEAGE_WRITES, LAST_PATIENCE_SECONDS, error);
}

cst_status cst_lineage_lease_check(const cst_lineage_lease *lease, cst_error *error) {
  CST__TRY(cst__check_given(lease, "lease", lease, error));
  CST__TRY(cst__check_forked(lease->owner, "lease", error));
  cst_lineage_lease *own = (cst_lineage_lease *)(uintptr_t)lease; /* made by cst__new */
  cst__mutex_lock(&own->lock);
  const cst_status status = check_row(own, error);
  cst__mutex_unlock(&own->lock);
  return status;
}

void cst_lineage_lease_free(cst_lineage_lease *lease) {
  if (lease == NULL || cst__is_forked(lease->owner)) {
    return;
  }
  if (lease->has_thread) {
    cst__mutex_lock(&lease->lock);
    lease->stops = true;
    cst__condition_signal(&lease->change);
    cst__mutex_unlock(&lease->lock);
    cst__thread_join(&lease->thread);
  }
  if (lease->id != 0 && !lease->is_detached) {
    (void)act(lease, remove_row, CST__LINEAGE_WRITES, LAST_PATIENCE_SECONDS, NULL);
  }
  cst__delete(lease->path);
  cst__condition_destroy(&lease->change);
  cst__mutex_destroy(&lease->lock);
  cst__delete(lease);
}

/* ---- all that are held ---- */

static const cst__finding_column artifact_columns[] = {CST__NUMBER("id"), CST__TEXT("reference")};
static const cst__finding_column columns[] = {CST__NUMBER("id"), CST__TEXT("holder"),
                                              CST__NUMBER("expires"),
                                              CST__LIST_OF("artifacts", artifact_columns)};
static const cst__finding_type leases_type = {"leases", columns, 4};

static cst_status put_leased(cst_lineage *store, int64_t lease, cst_findings *found,
                             cst_error *error) {
  sqlite3_stmt *find;
  CST__TRY(cst__lineage_prepare(
      store, "SELECT artifact FROM leased WHERE lease = ? ORDER BY artifact", &find, error));
  (void)sqlite3_bind_int64(find, 1, lease);
  for (;;) {
    char label[CST__LINEAGE_LABEL];
    bool is_row;
    CST__TRY(cst__lineage_step(store, find, &is_row, error));
    if (!is_row) {
      return CST_OK;
    }
    const int64_t artifact = sqlite3_column_int64(find, 0);
    cst_status status = cst__lineage_label(store, artifact, label, error);
    if (status != CST_OK) {
      (void)sqlite3_reset(find);
      return status;
    }
    cst__put_signed(found, artifact);
    cst__put_text(found, label);
  }
}

static cst_status put_leases(cst_lineage *store, cst_findings *found, cst_error *error) {
  sqlite3_stmt *find;
  CST__TRY(cst__lineage_prepare(
      store, "SELECT id, holder, expires FROM lease WHERE expires > ? ORDER BY id", &find, error));
  (void)sqlite3_bind_int64(find, 1, cst__lineage_now());
  for (;;) {
    bool is_row;
    CST__TRY(cst__lineage_step(store, find, &is_row, error));
    if (!is_row) {
      return CST_OK;
    }
    cst__put_signed(found, sqlite3_column_int64(find, 0));
    cst__put_text(found, cst__lineage_text(find, 1));
    cst__put_signed(found, sqlite3_column_int64(find, 2));
    cst__open_list(found);
    cst_status status = put_leased(store, sqlite3_column_int64(find, 0), found, error);
    cst__close_list(found);
    if (status != CST_OK) {
      (void)sqlite3_reset(find);
      return status;
    }
  }
}

cst_status cst_lineage_leases(cst_lineage *store, cst_findings **out, cst_error *error) {
  cst_findings *found;
  CST__CLEAR(out);
  CST__TRY(cst__check_given(store, "store", out, error));
  CST__TRY(cst__lineage_enter(store, CST__LINEAGE_READS, error));
  cst_status status = cst__findings_new(&leases_type, &store->allocator, &found, error);
  if (status == CST_OK) {
    status = put_leases(store, found, error);
    if (status != CST_OK) {
      cst_findings_free(found);
    }
  }
  CST__TRY(cst__lineage_leave(store, status, error));
  return cst__findings_finish(found, out, error);
}
