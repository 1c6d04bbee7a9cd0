/* Leases: they keep files, are renewed, end, and lapse. */
#include <sqlite3.h>
#include <sys/wait.h>
#include <time.h>

#include "lineage_gc_support.h"

static const int64_t DAY = INT64_C(86400) * 1000000;

static void run_sql(const char *folder, const char *sql) {
  sqlite3 *db;
  CHECK_EQ(sqlite3_open(gc_path(folder, "lineage.db"), &db), SQLITE_OK);
  (void)sqlite3_busy_timeout(db, 30000);
  CHECK_EQ(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
  CHECK_EQ(sqlite3_close(db), SQLITE_OK);
}

static cst_findings *leases_of(cst_lineage *store) {
  cst_findings *found = NULL;
  CHECK_EQ(cst_lineage_leases(store, &found, NULL), CST_OK);
  return found;
}

static size_t count_leases(cst_lineage *store) {
  cst_findings *found = leases_of(store);
  const size_t count = cst_findings_num_rows(found);
  cst_findings_free(found);
  return count;
}

static int64_t now_us(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_REALTIME, &t);
  return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

TEST(a_lease_keeps_files_until_it_is_freed) {
  char folder[512];
  char says[100];
  cst_lineage *store = gc_store(folder);
  const int64_t view = gc_add(store, "DataView2", NULL, gc_file(folder, "v"), (gc_more){0});
  const cst_lineage_reference to_view = {"view", view};
  const int64_t id = gc_add(store, "m", "m", gc_file(folder, "a"),
                            (gc_more){.references = &to_view, .num_references = 1});
  gc_add(store, "m", "m", gc_file(folder, "b"), (gc_more){0});
  gc_add(store, "DataView2", NULL, NULL, (gc_more){0});
  cst_lineage_lease *lease;
  cst_lineage_lease_options options = CST_LINEAGE_LEASE_OPTIONS_INIT;
  options.holder = "somebody";
  const int64_t before = now_us();
  CHECK_EQ(cst_lineage_lease_new(store, &id, 1, &options, &lease, NULL), CST_OK);
  CHECK_EQ(cst_lineage_lease_check(lease, NULL), CST_OK);
  cst_findings *found = leases_of(store);
  CHECK_EQ(cst_findings_num_rows(found), 1);
  CHECK_STR(cst_findings_text(found, "holder", 0), "somebody");
  CHECK_STR(cst_findings_text(found, "artifacts.reference", 0), "m@1");
  CHECK_EQ(cst_findings_number(found, "artifacts.id", 0), id);
  const int64_t expires = cst_findings_number(found, "expires", 0);
  CHECK(expires >= before + INT64_C(300000000) && expires <= now_us() + INT64_C(300000000));
  cst_findings_free(found);
  cst_lineage_gc_options gc = CST_LINEAGE_GC_OPTIONS_INIT;
  gc.keep = 1;
  found = gc_run(store, &gc);
  CHECK_CONTAINS(gc_says(found, id), "keep: held by lease of somebody until 20");
  (void)snprintf(says, sizeof says, "keep: view of m@1");
  CHECK_STR(gc_says(found, view), says);
  cst_findings_free(found);
  CHECK(gc_exists(folder, "a"));
  cst_lineage_lease_free(lease);
  CHECK_EQ(count_leases(store), 0);
  found = gc_run(store, &gc);
  CHECK_STR(gc_says(found, id), "delete: no policy keeps it");
  cst_findings_free(found);
  CHECK(!gc_exists(folder, "a"));
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_lineage_lease_new(store, &id, 1, NULL, &lease, &error), CST_STATE);
  CHECK_CONTAINS(error.message, "m@1 is deleted");
  CHECK(lease == NULL);
  CHECK_EQ(count_leases(store), 0);
  const int64_t none = 4711;
  CHECK_EQ(cst_lineage_lease_new(store, &none, 1, NULL, &lease, &error), CST_NOT_FOUND);
  cst_lineage_free(store);
}

TEST(a_lease_is_renewed_and_outlives_its_store) {
  char folder[512];
  cst_lineage *store = gc_store(folder);
  const int64_t id = gc_add(store, "m", "m", gc_file(folder, "a"), (gc_more){0});
  cst_lineage_lease *lease;
  cst_lineage_lease_options options = CST_LINEAGE_LEASE_OPTIONS_INIT;
  options.seconds = 1;
  CHECK_EQ(cst_lineage_lease_new(store, &id, 1, &options, &lease, NULL), CST_OK);
  cst_findings *found = leases_of(store);
  const int64_t first = cst_findings_number(found, "expires", 0);
  CHECK_CONTAINS(cst_findings_text(found, "holder", 0), ":");
  cst_findings_free(found);
  int64_t later = first;
  for (int i = 0; i < 1000 && later <= first; i++) {
    (void)usleep(20000);
    found = leases_of(store);
    later = cst_findings_num_rows(found) > 0 ? cst_findings_number(found, "expires", 0) : first;
    cst_findings_free(found);
  }
  CHECK(later > first);
  char path[600];
  (void)snprintf(path, sizeof path, "%s", cst_lineage_path(store));
  cst_lineage_free(store);
  CHECK_EQ(cst_lineage_lease_check(lease, NULL), CST_OK);
  cst_lineage_lease_free(lease);
  CHECK_EQ(cst_lineage_open(path, NULL, &store, NULL), CST_OK);
  CHECK_EQ(count_leases(store), 0);
  cst_lineage_free(store);
}

/* The machine slept: the row has expired. While nobody has collected garbage, all files are there.
 */
TEST(an_expired_lease_lives_again_unless_garbage_was_collected) {
  char folder[512];
  cst_lineage *store = gc_store(folder);
  const int64_t id = gc_add(store, "m", "m", gc_file(folder, "a"), (gc_more){0});
  cst_lineage_lease *lease;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_lineage_lease_new(store, &id, 1, NULL, &lease, NULL), CST_OK);
  run_sql(folder, "UPDATE lease SET expires = 1");
  CHECK_EQ(count_leases(store), 0);
  CHECK_EQ(cst_lineage_lease_check(lease, NULL), CST_OK);
  CHECK_EQ(count_leases(store), 1);
  run_sql(folder, "UPDATE lease SET expires = 1");
  cst_findings_free(gc_run(store, NULL));
  CHECK_EQ(cst_lineage_lease_check(lease, &error), CST_STATE);
  CHECK_CONTAINS(error.message, "the lease has ended");
  cst_lineage_lease_free(lease);
  cst_lineage_free(store);
}

TEST(a_detached_lease_stays_until_it_expires) {
  char folder[512];
  cst_lineage *store = gc_store(folder);
  const int64_t id = gc_add(store, "m", "m", gc_file(folder, "a"), (gc_more){0});
  gc_add(store, "m", "m", NULL, (gc_more){0});
  cst_lineage_lease *lease;
  cst_lineage_lease_options options = CST_LINEAGE_LEASE_OPTIONS_INIT;
  options.is_detached = true;
  options.seconds = 86400;
  CHECK_EQ(cst_lineage_lease_new(store, &id, 1, &options, &lease, NULL), CST_OK);
  CHECK_EQ(cst_lineage_lease_check(lease, NULL), CST_OK);
  run_sql(folder, "UPDATE lease SET expires = 1");
  CHECK_EQ(cst_lineage_lease_check(lease, NULL), CST_STATE);
  run_sql(folder, "UPDATE lease SET expires = 9000000000000000");
  cst_lineage_lease_free(lease);
  CHECK_EQ(count_leases(store), 1);
  cst_lineage_gc_options gc = CST_LINEAGE_GC_OPTIONS_INIT;
  gc.keep = 1;
  cst_findings *found = gc_run(store, &gc);
  CHECK_CONTAINS(gc_says(found, id), "keep: held by lease of ");
  cst_findings_free(found);
  gc.now = INT64_C(9000000000000000); /* which is no time by which leases end */
  found = gc_run(store, &gc);
  CHECK_CONTAINS(gc_says(found, id), "keep: held by lease of ");
  cst_findings_free(found);
  run_sql(folder, "UPDATE lease SET expires = 1");
  found = gc_run(store, &gc);
  CHECK_STR(gc_says(found, id), "delete: no policy keeps it");
  cst_findings_free(found);
  CHECK_EQ(count_leases(store), 0);
  cst_lineage_free(store);
}

TEST(a_lease_ends_with_its_execution) {
  char folder[512];
  int64_t e;
  cst_lineage *store = gc_store(folder);
  const int64_t id = gc_add(store, "m", "m", gc_file(folder, "a"), (gc_more){0});
  gc_add(store, "m", "m", NULL, (gc_more){0});
  cst_lineage_execution run = CST_LINEAGE_EXECUTION_INIT;
  run.type = "train";
  CHECK_EQ(cst_lineage_start(store, &run, &e, NULL), CST_OK);
  cst_lineage_lease *lease;
  cst_error error = CST_ERROR_INIT;
  cst_lineage_lease_options options = CST_LINEAGE_LEASE_OPTIONS_INIT;
  options.execution = e;
  CHECK_EQ(cst_lineage_lease_new(store, &id, 1, &options, &lease, NULL), CST_OK);
  /* It has run for longer than seven days, but beats. */
  run_sql(folder, "UPDATE execution SET started = 1");
  cst_findings_free(gc_run(store, NULL));
  CHECK_EQ(cst_lineage_lease_check(lease, NULL), CST_OK);
  CHECK_EQ(cst_lineage_end(store, e, CST_LINEAGE_COMPLETE, NULL), CST_OK);
  CHECK_EQ(cst_lineage_lease_check(lease, NULL), CST_STATE);
  cst_lineage_lease_free(lease);
  CHECK_EQ(cst_lineage_lease_new(store, &id, 1, &options, &lease, &error), CST_STATE);
  CHECK_CONTAINS(error.message, "has ended");
  options.execution = 99;
  CHECK_EQ(cst_lineage_lease_new(store, &id, 1, &options, &lease, &error), CST_NOT_FOUND);
  /* A heart-beat alone. */
  CHECK_EQ(cst_lineage_start(store, &run, &e, NULL), CST_OK);
  options.execution = e;
  CHECK_EQ(cst_lineage_lease_new(store, NULL, 0, &options, &lease, NULL), CST_OK);
  run_sql(folder, "UPDATE lease SET expires = 1");
  cst_findings_free(gc_run(store, NULL));
  CHECK_EQ(cst_lineage_end(store, e, CST_LINEAGE_COMPLETE, &error), CST_STATE);
  CHECK_CONTAINS(error.message, "is failed");
  cst_lineage_lease_free(lease);
  cst_lineage_free(store);
  (void)DAY;
}

TEST(a_forked_child_leaves_leases_alone) {
  char folder[512];
  cst_lineage *store = gc_store(folder);
  const int64_t id = gc_add(store, "m", "m", gc_file(folder, "a"), (gc_more){0});
  cst_lineage_lease *lease;
  CHECK_EQ(cst_lineage_lease_new(store, &id, 1, NULL, &lease, NULL), CST_OK);
  const pid_t child = harness_fork();
  if (child == 0) {
    cst_lineage_lease *other;
    int good = cst_lineage_lease_check(lease, NULL) == CST_STATE;
    good &= cst_lineage_lease_new(store, &id, 1, NULL, &other, NULL) == CST_STATE;
    cst_lineage_lease_free(lease);
    _exit(good ? 7 : 1);
  }
  int code;
  CHECK_EQ(waitpid(child, &code, 0), child);
  CHECK(WIFEXITED(code));
  CHECK_EQ(WEXITSTATUS(code), 7);
  CHECK_EQ(cst_lineage_lease_check(lease, NULL), CST_OK);
  CHECK_EQ(count_leases(store), 1);
  cst_lineage_lease_free(lease);
  CHECK_EQ(count_leases(store), 0);
  cst_lineage_free(store);
}

TEST(arguments) {
  char folder[512];
  cst_lineage *store = gc_store(folder);
  cst_lineage_lease *lease;
  cst_error error = CST_ERROR_INIT;
  cst_lineage_lease_options options = CST_LINEAGE_LEASE_OPTIONS_INIT;
  CHECK_EQ(cst_lineage_lease_new(store, NULL, 1, NULL, &lease, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_lineage_lease_new(NULL, NULL, 0, NULL, &lease, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_lineage_lease_new(store, NULL, 0, NULL, NULL, NULL), CST_INVALID_ARGUMENT);
  options.seconds = -1;
  CHECK_EQ(cst_lineage_lease_new(store, NULL, 0, &options, &lease, NULL), CST_INVALID_ARGUMENT);
  options.seconds = INT64_MAX;
  CHECK_EQ(cst_lineage_lease_new(store, NULL, 0, &options, &lease, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_lineage_lease_check(NULL, NULL), CST_INVALID_ARGUMENT);
  cst_lineage_lease_free(NULL);
  CHECK_EQ(cst_lineage_begin(store, NULL), CST_OK);
  CHECK_EQ(cst_lineage_lease_new(store, NULL, 0, NULL, &lease, &error), CST_STATE);
  CHECK_CONTAINS(error.message, "within a transaction");
  CHECK_EQ(cst_lineage_rollback(store, NULL), CST_OK);
  cst_lineage *reader;
  cst_lineage_options opening = CST_LINEAGE_OPTIONS_INIT;
  opening.mode = CST_LINEAGE_READ;
  CHECK_EQ(cst_lineage_open(cst_lineage_path(store), &opening, &reader, NULL), CST_OK);
  CHECK_EQ(cst_lineage_lease_new(reader, NULL, 0, NULL, &lease, &error), CST_STATE);
  cst_lineage_free(reader);
  cst_lineage_free(store);
}

static int make_lease(void *context) {
  const int64_t id = 1;
  cst_lineage_lease *lease;
  cst_findings *found;
  cst_lineage_lease_options options = CST_LINEAGE_LEASE_OPTIONS_INIT;
  options.is_detached = true; /* no thread, whose allocations come when they like */
  cst_status status = cst_lineage_lease_new(context, &id, 1, &options, &lease, NULL);
  if (status == CST_OK) {
    status = cst_lineage_lease_check(lease, NULL);
  }
  cst_lineage_lease_free(lease);
  if (status == CST_OK) {
    status = cst_lineage_leases(context, &found, NULL);
    cst_findings_free(found);
  }
  return (int)status;
}

TEST(memory_runs_out) {
  char folder[512];
  cst_lineage *store = gc_store(folder);
  gc_add(store, "m", "m", NULL, (gc_more){0});
  CHECK_EQ(make_lease(store), 0);
  FOR_EACH_ALLOCATION_FAILURE(make_lease, store, CST_NO_MEMORY);
  cst_lineage_free(store);
}

/* SQLite gives the rows of leases by their artifacts, if it is not asked for another order. */
TEST(leases_keep_what_they_hold_in_whatever_order_they_came) {
  char folder[512];
  int64_t ids[4];
  cst_lineage_lease *leases[4];
  cst_lineage_lease_options options = CST_LINEAGE_LEASE_OPTIONS_INIT;
  cst_lineage *store = gc_store(folder);
  for (int i = 0; i < 4; i++) {
    ids[i] = gc_add(store, "m", "m", NULL, (gc_more){0});
  }
  gc_add(store, "m", "m", NULL, (gc_more){0});
  options.is_detached = true;
  for (int i = 0; i < 4; i++) {
    CHECK_EQ(cst_lineage_lease_new(store, &ids[3 - i], 1, &options, &leases[i], NULL), CST_OK);
  }
  cst_lineage_gc_options gc = CST_LINEAGE_GC_OPTIONS_INIT;
  gc.keep = 1;
  cst_findings *found = gc_run(store, &gc);
  for (int i = 0; i < 4; i++) {
    CHECK_CONTAINS(gc_says(found, ids[i]), "keep: held by lease of ");
    cst_lineage_lease_free(leases[i]);
  }
  cst_findings_free(found);
  cst_lineage_free(store);
}
