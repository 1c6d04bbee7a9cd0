/* Stores of lineage: making and opening them, transactions, upgrades, several at once, and files
 * that are none. */
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lineage/store_upgrade.h"
#include "lineage_support.h"

static void run_sql(const char *name, const char *sql) {
  sqlite3 *db = NULL;
  char *message = NULL;
  CHECK_EQ(sqlite3_open(harness_temp_path(name), &db), SQLITE_OK);
  (void)sqlite3_exec(db, sql, NULL, NULL, &message);
  CHECK_STR(message, NULL);
  sqlite3_free(message);
  (void)sqlite3_close(db);
}

static cst_status open_status(const char *path, cst_lineage_mode mode, cst_error *error) {
  cst_lineage *store;
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  options.mode = mode;
  cst_status status = cst_lineage_open(path, &options, &store, error);
  cst_lineage_free(store);
  return status;
}

TEST(made_once_and_opened) {
  cst_lineage *store = new_store("once.db");
  CHECK_EQ(add_artifact(store, "Model", "ranker", NULL), 1);
  cst_lineage_free(store);
  store = new_store("once.db"); /* there already */
  CHECK_EQ(add_artifact(store, "Model", "ranker", NULL), 2);
  cst_findings *info = NULL;
  CHECK_EQ(cst_lineage_info(store, &info, NULL), CST_OK);
  CHECK_EQ(cst_findings_total(info, "artifacts"), 2);
  CHECK_EQ(cst_findings_total(info, "version"), 1);
  CHECK_STR(cst_findings_text(info, "path", 0), harness_temp_dir());
  cst_findings_free(info);
  CHECK_STR(cst_lineage_path(store), harness_temp_path("once.db"));
  cst_lineage_free(store);
}

TEST(roots_are_those_given) {
  cst_lineage *store = NULL;
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  const char *roots[] = {"/", harness_temp_dir()};
  options.mode = CST_LINEAGE_CREATE;
  options.roots = roots;
  options.num_roots = 2;
  options.is_shared = true;
  CHECK_EQ(cst_lineage_open(harness_temp_path("roots.db"), &options, &store, NULL), CST_OK);
  cst_findings *info = NULL;
  CHECK_EQ(cst_lineage_info(store, &info, NULL), CST_OK);
  CHECK_EQ(cst_findings_num_rows(info), 2);
  cst_findings_free(info);
  CHECK(access(harness_temp_path("roots.db-wal"), F_OK) != 0); /* others could not map it */
  cst_lineage_free(store);
}

TEST(roots_of_a_store_that_exists_are_the_same) {
  cst_lineage *store = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  const char *roots[] = {"/", harness_temp_dir(), "/"};
  const char *path = harness_temp_path("again.db");
  options.mode = CST_LINEAGE_CREATE;
  options.roots = roots;
  options.num_roots = 2;
  CHECK_EQ(cst_lineage_open(path, &options, &store, NULL), CST_OK);
  cst_lineage_free(store);
  options.num_roots = 3; /* one of them twice */
  CHECK_EQ(cst_lineage_open(path, &options, &store, NULL), CST_OK);
  cst_lineage_free(store);
  for (size_t count = 0; count < 2; count++) {
    options.num_roots = count;
    CHECK_EQ(cst_lineage_open(path, &options, &store, &error), CST_INVALID_ARGUMENT);
    CHECK_STR(error.message, "the store exists, and has other roots");
    CHECK(store == NULL);
  }
  roots[1] = "/tmp";
  options.num_roots = 2;
  CHECK_EQ(cst_lineage_open(path, &options, &store, NULL), CST_INVALID_ARGUMENT);
  options.roots = NULL;
  CHECK_EQ(cst_lineage_open(path, &options, &store, NULL), CST_OK);
  cst_lineage_free(store);
}

TEST(a_root_that_is_not_there_leaves_no_store) {
  cst_lineage *store;
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  const char *roots[] = {harness_temp_dir(), harness_temp_path("no such folder")};
  options.mode = CST_LINEAGE_CREATE;
  options.roots = roots;
  options.num_roots = 2;
  CHECK_EQ(cst_lineage_open(harness_temp_path("rootless.db"), &options, &store, NULL),
           CST_NOT_FOUND);
  CHECK(access(harness_temp_path("rootless.db"), F_OK) != 0);
}

TEST(files_that_are_no_stores) {
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(open_status(harness_temp_path("absent.db"), CST_LINEAGE_WRITE, &error), CST_NOT_FOUND);
  CHECK_STR(error.file, harness_temp_path("absent.db"));
  CHECK_EQ(open_status(harness_temp_path("absent/a.db"), CST_LINEAGE_CREATE, &error),
           CST_NOT_FOUND);
  CHECK_EQ(open_status(harness_temp_dir(), CST_LINEAGE_WRITE, &error), CST_FORMAT);
  const char *text = write_text("text.db", "this is a text, and longer than the head of SQLite's "
                                           "files, of which it is none. So it has a second line.");
  CHECK_EQ(open_status(text, CST_LINEAGE_WRITE, &error), CST_FORMAT);
  CHECK_EQ(open_status(text, CST_LINEAGE_CREATE, &error), CST_FORMAT);
  CHECK_EQ(open_status(write_text("empty.db", ""), CST_LINEAGE_WRITE, &error), CST_FORMAT);
  run_sql("other.db", "CREATE TABLE t(a)");
  CHECK_EQ(open_status(harness_temp_path("other.db"), CST_LINEAGE_WRITE, &error), CST_FORMAT);
  CHECK_CONTAINS(error.message, "not a lineage store");
  CHECK_EQ(open_status(harness_temp_path("other.db"), CST_LINEAGE_CREATE, &error), CST_FORMAT);
}

TEST(a_later_version) {
  cst_error error = CST_ERROR_INIT;
  cst_lineage_free(new_store("later.db"));
  run_sql("later.db", "PRAGMA user_version = 7");
  CHECK_EQ(open_status(harness_temp_path("later.db"), CST_LINEAGE_WRITE, &error), CST_UNSUPPORTED);
  CHECK_CONTAINS(error.message, "version 7");
}

TEST(upgraded_after_a_copy) {
  static const char *const steps[] = {"CREATE TABLE added(a)", "INSERT INTO added VALUES(5)"};
  const cst__lineage_steps all = {steps, 2};
  cst_lineage *store = new_store("old.db");
  CHECK_EQ(add_artifact(store, "Model", "ranker", NULL), 1);
  CHECK_EQ(cst__lineage_upgrade_by(store, 1, &all, NULL), CST_OK);
  cst_lineage_free(store);
  run_sql("old.db", "DELETE FROM added WHERE a = 5; PRAGMA user_version = 1");
  store = open_store("old.db.v1", CST_LINEAGE_READ); /* the copy, which is of version 1 */
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__lineage_upgrade_by(store, 1, &all, &error), CST_UNSUPPORTED);
  cst_lineage_free(store);
}

/* A newer program has upgraded the store after its version was read. */
TEST(no_version_is_taken_back) {
  static const char *const steps[] = {"CREATE TABLE added(a)"};
  const cst__lineage_steps all = {steps, 1};
  cst_error error = CST_ERROR_INIT;
  cst_lineage *store = new_store("raced.db");
  run_sql("raced.db", "PRAGMA user_version = 7");
  CHECK_EQ(cst__lineage_upgrade_by(store, 1, &all, &error), CST_UNSUPPORTED);
  CHECK_CONTAINS(error.message, "version 7; this reads up to 2");
  cst_lineage_free(store);
  CHECK_EQ(open_status(harness_temp_path("raced.db"), CST_LINEAGE_WRITE, &error), CST_UNSUPPORTED);
  CHECK_CONTAINS(error.message, "version 7");
}

TEST(a_transaction_is_all_or_nothing) {
  cst_error error = CST_ERROR_INIT;
  cst_lineage *store = new_store("all.db");
  int64_t id;
  CHECK_EQ(cst_lineage_commit(store, &error), CST_STATE);
  CHECK_EQ(cst_lineage_begin(store, NULL), CST_OK);
  CHECK_EQ(cst_lineage_begin(store, &error), CST_STATE);
  (void)add_artifact(store, "Model", "a", NULL);
  CHECK_EQ(cst_lineage_rollback(store, NULL), CST_OK);
  CHECK_EQ(cst_lineage_lookup(store, "a", &id, &error), CST_NOT_FOUND);
  CHECK_EQ(cst_lineage_begin(store, NULL), CST_OK);
  (void)add_artifact(store, "Model", "a", NULL);
  cst_lineage_artifact wrong = CST_LINEAGE_ARTIFACT_INIT;
  wrong.type = "Schema";
  wrong.name = "a";
  CHECK_EQ(cst_lineage_add(store, &wrong, &id, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "another type");
  (void)add_artifact(store, "Model", "b", NULL);
  CHECK_EQ(cst_lineage_commit(store, NULL), CST_OK);
  CHECK_EQ(cst_lineage_lookup(store, "a", &id, NULL), CST_OK);
  CHECK_EQ(cst_lineage_lookup(store, "b", &id, NULL), CST_OK);
  cst_lineage_free(store);
}

TEST(reading_does_not_write) {
  cst_error error = CST_ERROR_INIT;
  cst_lineage_free(new_store("read.db"));
  cst_lineage *store = open_store("read.db", CST_LINEAGE_READ);
  cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
  int64_t id = 5;
  artifact.type = "Model";
  CHECK_EQ(cst_lineage_add(store, &artifact, &id, NULL, &error), CST_STATE);
  CHECK_EQ(id, 0);
  CHECK_EQ(cst_lineage_begin(store, &error), CST_STATE);
  cst_lineage_free(store);
}

TEST(a_child_has_no_part_in_it) {
  cst_lineage *store = new_store("fork.db");
  const pid_t child = fork();
  if (child == 0) {
    int64_t id;
    const bool is_refused = cst_lineage_lookup(store, "a", &id, NULL) == CST_STATE &&
                            cst_lineage_begin(store, NULL) == CST_STATE;
    cst_lineage_free(store);
    _exit(is_refused ? 0 : 1);
  }
  int status = 1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
  CHECK_EQ(add_artifact(store, "Model", NULL, NULL), 1);
  cst_lineage_free(store);
}

TEST(whoever_waits_too_long_is_told) {
  cst_error error = CST_ERROR_INIT;
  cst_lineage *first = new_store("wait.db");
  cst_lineage *second = NULL;
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  options.timeout = 1;
  CHECK_EQ(cst_lineage_open(harness_temp_path("wait.db"), &options, &second, NULL), CST_OK);
  CHECK_EQ(cst_lineage_begin(first, NULL), CST_OK);
  CHECK_EQ(cst_lineage_begin(second, &error), CST_TIMEOUT);
  CHECK_CONTAINS(error.hint, "timeout");
  cst_findings *found = NULL; /* reading goes on meanwhile */
  CHECK_EQ(cst_lineage_find(second, NULL, &found, NULL), CST_OK);
  cst_findings_free(found);
  CHECK_EQ(cst_lineage_commit(first, NULL), CST_OK);
  CHECK_EQ(cst_lineage_begin(second, NULL), CST_OK);
  cst_lineage_free(first);
  cst_lineage_free(second);
}

/* ---- many at once ---- */

enum { THREADS = 4, EACH = 40 };

static char many_path[4096]; /* the harness makes paths for one thread at a time */

static void *add_many(void *name) {
  cst_lineage *store = NULL;
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  options.mode = CST_LINEAGE_CREATE; /* the first of them makes it */
  CHECK_EQ(cst_lineage_open(many_path, &options, &store, NULL), CST_OK);
  for (int i = 0; store != NULL && i < EACH; i++) {
    (void)add_artifact(store, "Model", "shared", NULL);
    (void)add_artifact(store, "Model", name, NULL);
  }
  cst_lineage_free(store);
  return NULL;
}

TEST(nobody_loses_what_another_writes) {
  static char names[THREADS][8];
  pthread_t threads[THREADS];
  (void)snprintf(many_path, sizeof many_path, "%s", harness_temp_path("many.db"));
  for (int i = 0; i < THREADS; i++) {
    (void)snprintf(names[i], sizeof names[i], "n%d", i);
    CHECK_EQ(pthread_create(&threads[i], NULL, add_many, names[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    CHECK_EQ(pthread_join(threads[i], NULL), 0);
  }
  cst_lineage *store = open_store("many.db", CST_LINEAGE_READ);
  int64_t id;
  char reference[32];
  (void)snprintf(reference, sizeof reference, "shared@%d", THREADS * EACH);
  CHECK_EQ(cst_lineage_lookup(store, reference, &id, NULL), CST_OK);
  CHECK_EQ(cst_lineage_lookup(store, "n3@40", &id, NULL), CST_OK);
  cst_findings *faults = NULL;
  CHECK_EQ(cst_lineage_check(store, true, &faults, NULL), CST_OK);
  CHECK_EQ(cst_findings_num_rows(faults), 0);
  cst_findings_free(faults);
  cst_lineage_free(store);
}

/* ---- damage ---- */

static unsigned char *read_store(const char *name, size_t *size) {
  FILE *file = fopen(harness_temp_path(name), "rb");
  CHECK(file != NULL);
  CHECK_EQ(fseek(file, 0, SEEK_END), 0);
  *size = (size_t)ftell(file);
  rewind(file);
  unsigned char *bytes = malloc(*size + 1);
  CHECK_EQ(fread(bytes, 1, *size, file), *size);
  (void)fclose(file);
  return bytes;
}

/* Whatever it says, it says it without a crash; and a store that is opened is looked at. */
static void look_at_damage(const char *path) {
  cst_lineage *store = NULL;
  cst_findings *found = NULL;
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  options.mode = CST_LINEAGE_READ;
  if (cst_lineage_open(path, &options, &store, NULL) == CST_OK) {
    const int64_t first = 1;
    cst_lineage_trace_options trace = CST_LINEAGE_TRACE_OPTIONS_INIT;
    trace.artifacts = &first;
    trace.num_artifacts = 1;
    (void)cst_lineage_find(store, NULL, &found, NULL);
    cst_findings_free(found);
    (void)cst_lineage_check(store, false, &found, NULL);
    cst_findings_free(found);
    (void)cst_lineage_trace(store, &trace, &found, NULL);
    cst_findings_free(found);
  }
  cst_lineage_free(store);
}

TEST(damaged_stores) {
  cst_lineage *store = new_store("sound.db");
  const char *data = write_text("sound.txt", "data");
  for (int i = 0; i < 20; i++) {
    (void)add_artifact(store, "Model", "m", data);
  }
  cst_lineage_free(store);
  size_t size;
  unsigned char *bytes = read_store("sound.db", &size);
  const char *path = harness_temp_path("damaged.db");
  uint64_t random = 1;
  for (int i = 0; i < 300; i += EVERY) {
    unsigned char *copy = malloc(size);
    memcpy(copy, bytes, size);
    for (int k = 0; k < 8; k++) {
      random = random * UINT64_C(6364136223846793005) + 1;
      copy[(random >> 20) % size] = (unsigned char)(random >> 50);
    }
    harness_write_file(path, copy, i % 3 == 0 ? (size_t)(random >> 22) % size : size);
    free(copy);
    look_at_damage(path);
  }
  free(bytes);
}

static int make_and_look(void *path) {
  cst_lineage *store = NULL;
  cst_findings *found = NULL;
  int64_t id;
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  const cst_lineage_file file = {write_text("alloc.txt", "data"), "train", NULL};
  const cst_lineage_property property = text_property("owner", "me");
  cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
  artifact.type = "Examples";
  artifact.name = "alloc";
  artifact.files = &file;
  artifact.num_files = 1;
  artifact.properties = &property;
  artifact.num_properties = 1;
  const char *const root = harness_temp_dir();
  options.mode = CST_LINEAGE_CREATE;
  options.roots = &root;
  options.num_roots = 1;
  cst_status status = cst_lineage_open(path, &options, &store, NULL);
  status = status != CST_OK ? status : cst_lineage_add(store, &artifact, &id, NULL, NULL);
  status = status != CST_OK ? status : cst_lineage_find(store, NULL, &found, NULL);
  cst_findings_free(found);
  cst_lineage_trace_options trace = CST_LINEAGE_TRACE_OPTIONS_INIT;
  trace.artifacts = &id;
  trace.num_artifacts = 1;
  status = status != CST_OK ? status : cst_lineage_trace(store, &trace, &found, NULL);
  cst_findings_free(status == CST_OK ? found : NULL);
  status = status != CST_OK ? status : cst_lineage_check(store, true, &found, NULL);
  cst_findings_free(status == CST_OK ? found : NULL);
  cst_lineage_free(store);
  (void)unlink(path);
  return (int)status;
}

TEST(memory_runs_out) {
  char path[4096];
  (void)snprintf(path, sizeof path, "%s", harness_temp_path("memory.db"));
  FOR_EACH_ALLOCATION_FAILURE(make_and_look, path, CST_NO_MEMORY);
}
