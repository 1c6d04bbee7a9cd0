/* Garbage collection: what stays and why, what goes, and what is never touched. */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>

#include "lineage/store.h"
#include "lineage_gc_support.h"

static const int64_t DAY = INT64_C(86400) * 1000000;

/* Runs SQL on the store's file, as strangers do. */
static void run_sql(const char *folder, const char *fmt, ...) {
  sqlite3 *db;
  va_list args;
  CHECK_EQ(sqlite3_open(gc_path(folder, "lineage.db"), &db), SQLITE_OK);
  va_start(args, fmt);
  char *sql = sqlite3_vmprintf(fmt, args);
  va_end(args);
  char *message = NULL;
  if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
    printf("%s: %s\n", sql, message);
    CHECK(false);
  }
  sqlite3_free(sql);
  CHECK_EQ(sqlite3_close(db), SQLITE_OK);
}

static int64_t count_rows(const char *folder, const char *table) {
  sqlite3 *db;
  sqlite3_stmt *row;
  char sql[100];
  (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
  CHECK_EQ(sqlite3_open(gc_path(folder, "lineage.db"), &db), SQLITE_OK);
  CHECK_EQ(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
  CHECK_EQ(sqlite3_step(row), SQLITE_ROW);
  const int64_t count = sqlite3_column_int64(row, 0);
  sqlite3_finalize(row);
  CHECK_EQ(sqlite3_close(db), SQLITE_OK);
  return count;
}

static cst_lineage_gc_options keeping(int64_t keep) {
  cst_lineage_gc_options options = CST_LINEAGE_GC_OPTIONS_INIT;
  options.keep = keep;
  return options;
}

/* A run that is rehearsed first: both say the same of artifacts and files. */
static cst_findings *run_twice(cst_lineage *store, cst_lineage_gc_options options) {
  static const char *const totals[] = {"kept", "deleted", "files", "bytes"};
  options.is_dry_run = true;
  cst_findings *dry = gc_run(store, &options);
  options.is_dry_run = false;
  cst_findings *done = gc_run(store, &options);
  CHECK_EQ(cst_findings_num_rows(dry), cst_findings_num_rows(done));
  for (size_t i = 0; i < cst_findings_num_rows(dry); i++) {
    const int64_t id = cst_findings_number(dry, "id", i);
    CHECK_STR(gc_says(dry, id), gc_says(done, id));
    for (size_t f = 0; strcmp(gc_says_of_file(done, id, f), "no file") != 0; f++) {
      CHECK_STR(gc_says_of_file(dry, id, f), gc_says_of_file(done, id, f));
    }
  }
  for (size_t i = 0; i < 4; i++) {
    CHECK_EQ(cst_findings_total(dry, totals[i]), cst_findings_total(done, totals[i]));
  }
  cst_findings_free(dry);
  return done;
}

TEST(without_a_policy_nothing_that_is_live_goes) {
  char folder[512];
  cst_lineage *store = gc_store(folder);
  const int64_t id = gc_add(store, "Examples", "sessions", gc_file(folder, "a"), (gc_more){0});
  cst_findings *found = gc_run(store, NULL);
  CHECK_STR(gc_says(found, id), "keep: no policy given");
  CHECK_EQ(cst_findings_total(found, "kept"), 1);
  CHECK_EQ(cst_findings_total(found, "deleted"), 0);
  CHECK(gc_exists(folder, "a"));
  cst_findings_free(found);
  cst_lineage_free(store);
}

TEST(the_newest_of_each_name_stay) {
  char folder[512];
  int64_t ids[5];
  cst_lineage *store = gc_store(folder);
  for (int i = 0; i < 4; i++) {
    char name[8];
    (void)snprintf(name, sizeof name, "f%d", i);
    ids[i] = gc_add(store, "Examples", "sessions", gc_file(folder, name), (gc_more){0});
  }
  ids[4] = gc_add(store, "Examples", "clicks", gc_file(folder, "c"), (gc_more){0});
  cst_lineage_gc_options options = keeping(2);
  options.is_dry_run = true;
  cst_findings *found = gc_run(store, &options);
  CHECK_STR(gc_says(found, ids[0]), "delete: no policy keeps it");
  CHECK_STR(gc_says_of_file(found, ids[0], 0), "delete");
  CHECK(gc_exists(folder, "f0"));
  CHECK_STR(gc_state(store, ids[0]), "live");
  cst_findings_free(found);
  found = run_twice(store, keeping(2));
  CHECK_STR(gc_says(found, ids[0]), "delete: no policy keeps it");
  CHECK_STR(gc_says(found, ids[1]), "delete: no policy keeps it");
  CHECK_STR(gc_says(found, ids[2]), "keep: newest 2 of sessions");
  CHECK_STR(gc_says(found, ids[4]), "keep: newest 2 of clicks");
  CHECK_STR(cst_findings_text(found, "reference", gc_row(found, ids[0])), "sessions@1");
  CHECK_STR(cst_findings_text(found, "state", gc_row(found, ids[0])), "deleted");
  CHECK_STR(cst_findings_text(found, "type", 0), "Examples");
  CHECK_STR(cst_findings_text(found, "files.path", 0), gc_path(folder, "f0"));
  CHECK_EQ(cst_findings_total(found, "deleted"), 2);
  CHECK_EQ(cst_findings_total(found, "files"), 2);
  CHECK_EQ(cst_findings_total(found, "bytes"), 4);
  CHECK(!gc_exists(folder, "f0") && !gc_exists(folder, "f1"));
  CHECK(gc_exists(folder, "f2") && gc_exists(folder, "f3") && gc_exists(folder, "c"));
  cst_findings_free(found);
  CHECK_STR(gc_state(store, ids[1]), "deleted");
  found = run_twice(store, keeping(2)); /* again: nothing */
  CHECK_EQ(cst_findings_num_rows(found), 3);
  CHECK_EQ(cst_findings_total(found, "files"), 0);
  cst_findings_free(found);
  CHECK_EQ(count_rows(folder, "doomed"), 0);
  cst_lineage_free(store);
}

TEST(groups_are_by_properties_too) {
  static const char *const by[] = {"span", "type"};
  char folder[512];
  int64_t ids[4];
  cst_lineage *store = gc_store(folder);
  for (int i = 0; i < 4; i++) {
    const cst_lineage_property span = {.name = "span", .kind = CST_LINEAGE_INT, .number = i / 2};
    ids[i] = gc_add(store, "Examples", NULL, NULL,
                    (gc_more){.properties = &span, .num_properties = 1, .created = 1000 - i});
  }
  const int64_t other = gc_add(store, "Model", NULL, NULL, (gc_more){0});
  const int64_t bare = gc_add(store, "Examples", NULL, NULL, (gc_more){0});
  cst_lineage_gc_options options = keeping(1);
  options.group_by = by;
  options.num_group_by = 2;
  cst_findings *found = run_twice(store, options);
  CHECK_STR(gc_says(found, ids[0]), "keep: newest of span 0, Examples");
  CHECK_STR(gc_says(found, ids[1]), "delete: no policy keeps it"); /* created earlier */
  CHECK_STR(gc_says(found, ids[2]), "keep: newest of span 1, Examples");
  CHECK_STR(gc_says(found, other), "keep: newest of unnamed Model");
  CHECK_STR(gc_says(found, bare), "keep: newest of unnamed Examples");
  cst_findings_free(found);
  cst_lineage_free(store);
}

TEST(the_young_stay_and_types_may_be_named) {
  static const char *const types[] = {"Examples"};
  char folder[512];
  cst_lineage *store = gc_store(folder);
  const int64_t now = 100 * DAY;
  const int64_t old = gc_add(store, "Examples", NULL, NULL, (gc_more){.created = 70 * DAY});
  const int64_t young = gc_add(store, "Examples", NULL, NULL, (gc_more){.created = 70 * DAY + 1});
  const int64_t model = gc_add(store, "Model", NULL, NULL, (gc_more){.created = 1});
  cst_lineage_gc_options options = CST_LINEAGE_GC_OPTIONS_INIT;
  options.max_age = 30 * 86400;
  options.now = now;
  options.types = types;
  options.num_types = 1;
  cst_findings *found = run_twice(store, options);
  CHECK_STR(gc_says(found, old), "delete: no policy keeps it");
  CHECK_STR(gc_says(found, young), "keep: younger than 30 d");
  CHECK_STR(gc_says(found, model), "keep: not of a type that may go");
  cst_findings_free(found);
  cst_lineage_free(store);
}

TEST(what_one_that_stays_refers_to_stays) {
  char folder[512];
  cst_lineage *store = gc_store(folder);
  const int64_t schema = gc_add(store, "Schema", NULL, gc_file(folder, "s"), (gc_more){0});
  const cst_lineage_reference to_schema = {"schema", schema};
  const int64_t mine = gc_add(store, "mine", "odd", gc_file(folder, "v"),
                              (gc_more){.references = &to_schema, .num_references = 1});
  const int64_t newer = gc_add(store, "mine", "odd", gc_file(folder, "w"), (gc_more){0});
  const cst_lineage_reference to_mine = {"my own", mine};
  const int64_t top = gc_add(store, "Examples", "x", gc_file(folder, "x"),
                             (gc_more){.references = &to_mine, .num_references = 1});
  static const char *const types[] = {"Schema", "mine"};
  cst_lineage_gc_options options = CST_LINEAGE_GC_OPTIONS_INIT;
  options.max_age = 1;
  options.now = 1000 * DAY;
  run_sql(folder, "UPDATE artifact SET created = 1");
  options.types = types;
  options.num_types = 2;
  cst_findings *found = run_twice(store, options);
  CHECK_STR(gc_says(found, top), "keep: not of a type that may go");
  CHECK_STR(gc_says(found, mine), "keep: my own of x@1");
  CHECK_STR(gc_says(found, schema), "keep: schema of odd@1");
  CHECK_STR(gc_says(found, newer), "delete: no policy keeps it");
  cst_findings_free(found);
  run_sql(folder, "INSERT INTO reference VALUES(%lld, 'round', %lld)", schema, mine);
  options.types = NULL;
  options.num_types = 0;
  found = run_twice(store, options); /* a cycle that nobody holds goes */
  CHECK_EQ(cst_findings_total(found, "deleted"), 3);
  CHECK(!gc_exists(folder, "s") && !gc_exists(folder, "v") && !gc_exists(folder, "x"));
  cst_findings_free(found);
  cst_lineage_free(store);
}

TEST(what_a_model_came_from_stays_if_wished) {
  static const char *const models[] = {"Model"};
  char folder[512];
  int64_t e1, e2;
  cst_lineage *store = gc_store(folder);
  const int64_t raw = gc_add(store, "Examples", "raw", gc_file(folder, "raw"), (gc_more){0});
  const int64_t mid = gc_add(store, "Examples", "mid", gc_file(folder, "mid"), (gc_more){0});
  const int64_t stats = gc_add(store, "Statistics", "st", gc_file(folder, "st"), (gc_more){0});
  const int64_t model = gc_add(store, "Model", "model", gc_file(folder, "m"), (gc_more){0});
  cst_lineage_event input = {raw, NULL};
  cst_lineage_execution run = CST_LINEAGE_EXECUTION_INIT;
  run.type = "train";
  run.inputs = &input;
  run.num_inputs = 1;
  CHECK_EQ(cst_lineage_start(store, &run, &e1, NULL), CST_OK);
  CHECK_EQ(cst_lineage_output(store, e1, mid, NULL, NULL), CST_OK);
  CHECK_EQ(cst_lineage_output(store, e1, stats, NULL, NULL), CST_OK);
  CHECK_EQ(cst_lineage_end(store, e1, CST_LINEAGE_COMPLETE, NULL), CST_OK);
  input.artifact = mid;
  CHECK_EQ(cst_lineage_start(store, &run, &e2, NULL), CST_OK);
  CHECK_EQ(cst_lineage_output(store, e2, model, NULL, NULL), CST_OK);
  CHECK_EQ(cst_lineage_end(store, e2, CST_LINEAGE_COMPLETE, NULL), CST_OK);
  cst_lineage_gc_options options = keeping(1);
  const int64_t newer[] = {gc_add(store, "Examples", "raw", NULL, (gc_more){0}),
                           gc_add(store, "Examples", "mid", NULL, (gc_more){0}),
                           gc_add(store, "Statistics", "st", NULL, (gc_more){0})};
  options.keep_ancestors_of = models;
  options.num_keep_ancestors_of = 1;
  cst_findings *found = run_twice(store, options);
  CHECK_STR(gc_says(found, raw), "keep: model@1 came from it");
  CHECK_STR(gc_says(found, mid), "keep: model@1 came from it");
  CHECK_STR(gc_says(found, model), "keep: newest of model");
  CHECK_STR(gc_says(found, stats), "delete: no policy keeps it");
  CHECK_STR(gc_says(found, newer[2]), "keep: newest of st");
  cst_findings_free(found);
  found = run_twice(store, keeping(1));
  CHECK_EQ(cst_findings_total(found, "deleted"), 2);
  cst_findings_free(found);
  cst_lineage_free(store);
}

/* ---- executions ---- */

TEST(running_executions_hold_what_they_use) {
  char folder[512];
  int64_t e;
  cst_lineage *store = gc_store(folder);
  const int64_t in = gc_add(store, "Examples", NULL, gc_file(folder, "in"), (gc_more){0});
  const int64_t out =
      gc_add(store, "Model", NULL, gc_file(folder, "out"), (gc_more){.state = CST_LINEAGE_PENDING});
  const int64_t loose = gc_add(store, "Model", NULL, gc_file(folder, "loose"),
                               (gc_more){.state = CST_LINEAGE_PENDING});
  const cst_lineage_event input = {in, "examples"};
  cst_lineage_execution run = CST_LINEAGE_EXECUTION_INIT;
  run.type = "train";
  run.inputs = &input;
  run.num_inputs = 1;
  CHECK_EQ(cst_lineage_start(store, &run, &e, NULL), CST_OK);
  CHECK_EQ(cst_lineage_output(store, e, out, NULL, NULL), CST_OK);
  run_sql(folder, "UPDATE artifact SET created = 1");
  run_sql(folder, "UPDATE execution SET started = %lld", 100 * DAY);
  cst_lineage_gc_options options = CST_LINEAGE_GC_OPTIONS_INIT;
  options.max_age = 1;
  options.now = 107 * DAY - 1;
  cst_findings *found = run_twice(store, options);
  CHECK_STR(gc_says(found, in), "keep: input of train (execution 1), which runs");
  CHECK_STR(gc_says(found, out), "keep: output of train (execution 1), which runs");
  CHECK_STR(gc_says(found, loose), "keep: pending, and no execution makes it yet");
  cst_findings_free(found);
  options.now = 107 * DAY; /* seven days without a lease */
  found = run_twice(store, options);
  CHECK_STR(gc_says(found, in), "delete: no policy keeps it");
  CHECK_STR(gc_says(found, out), "delete: its execution stopped without an end");
  cst_findings_free(found);
  CHECK(!gc_exists(folder, "in") && !gc_exists(folder, "out") && gc_exists(folder, "loose"));
  CHECK_EQ(cst_lineage_end(store, e, CST_LINEAGE_COMPLETE, NULL), CST_STATE);
  cst_lineage_free(store);
}

TEST(an_execution_ends_with_its_last_lease) {
  char folder[512];
  int64_t e;
  cst_lineage *store = gc_store(folder);
  const int64_t in = gc_add(store, "Examples", NULL, gc_file(folder, "in"), (gc_more){0});
  const cst_lineage_event input = {in, NULL};
  cst_lineage_execution run = CST_LINEAGE_EXECUTION_INIT;
  run.type = "train";
  run.inputs = &input;
  run.num_inputs = 1;
  CHECK_EQ(cst_lineage_start(store, &run, &e, NULL), CST_OK);
  cst_lineage_gc_options options = CST_LINEAGE_GC_OPTIONS_INIT;
  options.max_age = 1;
  options.now = 100 * DAY;
  run_sql(folder,
          "UPDATE artifact SET created = 1; UPDATE execution SET started = 1;"
          "INSERT INTO lease VALUES(1, 'me', %lld, 1), (2, 'me', %lld, 1)",
          100 * DAY, 100 * DAY + 1);
  cst_findings *found = run_twice(store, options);
  CHECK_STR(gc_says(found, in), "keep: input of train (execution 1), which runs");
  cst_findings_free(found);
  CHECK_EQ(count_rows(folder, "lease"), 1); /* the other has expired */
  options.now++;
  found = run_twice(store, options);
  CHECK_STR(gc_says(found, in), "delete: no policy keeps it");
  cst_findings_free(found);
  CHECK_EQ(count_rows(folder, "lease"), 0);
  CHECK_EQ(count_rows(folder, "execution WHERE state = 2 AND ended > 0"), 1);
  cst_lineage_free(store);
}

TEST(outputs_of_failed_executions_go_unless_somebody_needs_them) {
  char folder[512];
  int64_t e;
  cst_lineage *store = gc_store(folder);
  cst_lineage_execution run = CST_LINEAGE_EXECUTION_INIT;
  run.type = "train";
  CHECK_EQ(cst_lineage_start(store, &run, &e, NULL), CST_OK);
  int64_t out[2];
  for (int i = 0; i < 2; i++) {
    out[i] = gc_add(store, "Model", NULL, gc_file(folder, i ? "b" : "a"),
                    (gc_more){.state = CST_LINEAGE_PENDING});
    CHECK_EQ(cst_lineage_output(store, e, out[i], NULL, NULL), CST_OK);
  }
  CHECK_EQ(cst_lineage_end(store, e, CST_LINEAGE_FAILED, NULL), CST_OK);
  const int64_t live = gc_add(store, "mine", NULL, NULL, (gc_more){0});
  run_sql(folder, "INSERT INTO reference VALUES(%lld, 'part', %lld)", live, out[1]);
  cst_findings *found = run_twice(store, keeping(0));
  CHECK_STR(gc_says(found, out[0]), "delete: its execution failed");
  char says[64];
  (void)snprintf(says, sizeof says, "keep: part of %d", (int)live);
  CHECK_STR(gc_says(found, out[1]), says);
  CHECK(!gc_exists(folder, "a") && gc_exists(folder, "b"));
  cst_findings_free(found);
  cst_lineage_free(store);
}

/* ---- files ---- */

TEST(a_file_goes_with_the_last_that_names_it) {
  char folder[512];
  cst_lineage *store = gc_store(folder);
  const int64_t a = gc_add(store, "Examples", "e", gc_file(folder, "f"), (gc_more){0});
  const int64_t b = gc_add(store, "Examples", "e", gc_path(folder, "f"), (gc_more){0});
  cst_findings *found = run_twice(store, keeping(1));
  CHECK_STR(gc_says_of_file(found, a, 0), "keep: also of e@2");
  CHECK_STR(cst_findings_text(found, "state", gc_row(found, a)), "deleted");
  CHECK(gc_exists(folder, "f"));
  cst_findings_free(found);
  const int64_t c = gc_add(store, "Examples", "e", gc_file(folder, "g"), (gc_more){0});
  found = run_twice(store, keeping(1));
  CHECK_STR(gc_says_of_file(found, b, 0), "delete");
  CHECK(!gc_exists(folder, "f"));
  CHECK_STR(gc_says(found, c), "keep: newest of e");
  cst_findings_free(found);
  cst_lineage_free(store);
}

TEST(folders_go_but_for_what_others_need_in_them) {
  char folder[512];
  cst_lineage *store = gc_store(folder);
  gc_file(folder, "d/a");
  gc_file(folder, "d/sub/b");
  gc_file(folder, "d/sub/c");
  gc_file(folder, "d!/not in d");
  const int64_t whole = gc_add(store, "Model", "m", gc_path(folder, "d"), (gc_more){0});
  const int64_t part = gc_add(store, "Examples", "e", gc_path(folder, "d/sub/b"), (gc_more){0});
  const int64_t two = gc_add(store, "Model", "m", gc_file(folder, "n"), (gc_more){0});
  cst_findings *found = run_twice(store, keeping(1));
  CHECK_STR(gc_says_of_file(found, whole, 0), "delete: but for what e@1 needs");
  CHECK_EQ(cst_findings_total(found, "files"), 2);
  CHECK_EQ(cst_findings_total(found, "bytes"), 3 + 7);
  cst_findings_free(found);
  CHECK(!gc_exists(folder, "d/a") && !gc_exists(folder, "d/sub/c"));
  CHECK(gc_exists(folder, "d/sub/b") && gc_exists(folder, "d!/not in d") && gc_exists(folder, "n"));
  (void)part;
  (void)two;
  /* And what lies in a folder of one that stays. */
  gc_file(folder, "k/x");
  const int64_t inner = gc_add(store, "Examples", "in", gc_path(folder, "k/x"), (gc_more){0});
  gc_add(store, "Examples", "in", NULL, (gc_more){0});
  gc_add(store, "Other", "o", gc_path(folder, "k"), (gc_more){0});
  found = run_twice(store, keeping(1));
  CHECK_STR(gc_says_of_file(found, inner, 0), "keep: in a folder of o@1");
  CHECK(gc_exists(folder, "k/x"));
  cst_findings_free(found);
  cst_lineage_free(store);
}

TEST(a_folder_and_what_lies_in_it_go_together) {
  char folder[512];
  cst_lineage *store = gc_store(folder);
  gc_file(folder, "d/a");
  gc_file(folder, "d/s/b");
  const int64_t ids[] = {gc_add(store, "m", "m", gc_path(folder, "d"), (gc_more){0}),
                         gc_add(store, "m", "m", gc_path(folder, "d/s/b"), (gc_more){0}),
                         gc_add(store, "m", "m", gc_path(folder, "d/s"), (gc_more){0}),
                         gc_add(store, "m", "m", NULL, (gc_more){0})};
  cst_findings *found = run_twice(store, keeping(1));
  for (int i = 0; i < 3; i++) {
    CHECK_STR(gc_says_of_file(found, ids[i], 0), "delete");
  }
  CHECK_EQ(cst_findings_total(found, "files"), 2);
  CHECK(!gc_exists(folder, "d"));
  cst_findings_free(found);
  cst_lineage_free(store);
}

TEST(links_are_never_followed) {
  char folder[512];
  char other[512];
  cst_lineage *store = gc_store(folder);
  cst_lineage_free(gc_store(other));
  gc_file(other, "precious/x");
  gc_file(folder, "d/a");
  CHECK_EQ(symlink(gc_path(other, "precious"), gc_path(folder, "d/link")), 0);
  CHECK_EQ(symlink(gc_path(other, "precious/x"), gc_path(folder, "d/link to a file")), 0);
  gc_file(folder, "moved/x");
  gc_file(folder, "way/moved/x");
  gc_file(folder, "file");
  const int64_t inside = gc_add(store, "m", "m", gc_path(folder, "d"), (gc_more){0});
  const int64_t moved = gc_add(store, "m", "m", gc_path(folder, "moved"), (gc_more){0});
  const int64_t below = gc_add(store, "m", "m", gc_path(folder, "way/moved/x"), (gc_more){0});
  const int64_t file = gc_add(store, "m", "m", gc_path(folder, "file"), (gc_more){0});
  gc_add(store, "m", "m", NULL, (gc_more){0});
  CHECK_EQ(unlink(gc_path(folder, "moved/x")), 0);
  CHECK_EQ(rmdir(gc_path(folder, "moved")), 0);
  CHECK_EQ(symlink(gc_path(other, "precious"), gc_path(folder, "moved")), 0);
  CHECK_EQ(unlink(gc_path(folder, "way/moved/x")), 0);
  CHECK_EQ(rmdir(gc_path(folder, "way/moved")), 0);
  CHECK_EQ(symlink(gc_path(other, "precious"), gc_path(folder, "way/moved")), 0);
  CHECK_EQ(unlink(gc_path(folder, "file")), 0);
  CHECK_EQ(symlink(gc_path(other, "precious/x"), gc_path(folder, "file")), 0);
  cst_findings *found = run_twice(store, keeping(1));
  CHECK_STR(gc_says_of_file(found, inside, 0), "delete");
  CHECK_STR(gc_says_of_file(found, moved, 0), "keep: a link has taken its place");
  CHECK_STR(gc_says_of_file(found, below, 0), "keep: leads out of the root by a link");
  CHECK_STR(gc_says_of_file(found, file, 0), "keep: a link has taken its place");
  CHECK(!gc_exists(folder, "d") && gc_exists(other, "precious/x") && gc_exists(folder, "file"));
  CHECK_STR(gc_state(store, moved), "deleted");
  cst_findings_free(found);
  cst_lineage_free(store);
}

TEST(what_is_not_ours_is_never_touched) {
  char folder[512];
  char other[512];
  cst_lineage *store = gc_store(folder);
  cst_lineage_free(gc_store(other));
  gc_file(folder, "ext/a");
  const int64_t external =
      gc_add(store, "m", "m", gc_path(folder, "ext"), (gc_more){.is_external = true});
  const int64_t inside = gc_add(store, "m", "m", gc_path(folder, "ext/a"), (gc_more){0});
  const int64_t outside = gc_add(store, "m", "m", gc_file(other, "out"), (gc_more){0});
  const int64_t url = gc_add(store, "m", "m", "s3://bucket/x", (gc_more){0});
  const int64_t root = gc_add(store, "m", "m", folder, (gc_more){0});
  const int64_t own = gc_add(store, "m", "m", gc_path(folder, "lineage.db"), (gc_more){0});
  const int64_t wal =
      gc_add(store, "m", "m", gc_path(folder, "lineage.db-wal"), (gc_more){.allows_missing = true});
  const int64_t backup = gc_add(store, "m", "m", gc_file(folder, "lineage.db.v1"), (gc_more){0});
  const int64_t above = gc_add(store, "m", "m", harness_temp_dir(), (gc_more){0});
  gc_add(store, "m", "m", NULL, (gc_more){0});
  run_sql(folder, "DELETE FROM artifact_file WHERE artifact IN (%lld, %lld)", root, above);
  cst_findings *found = run_twice(store, keeping(1));
  CHECK_STR(gc_says_of_file(found, external, 0), "keep: external");
  CHECK_STR(gc_says_of_file(found, inside, 0), "keep: in a folder of m@1, which is external");
  CHECK_STR(gc_says_of_file(found, outside, 0), "keep: outside of the roots");
  CHECK_STR(gc_says_of_file(found, url, 0), "keep: a URL");
  CHECK_STR(gc_says_of_file(found, own, 0), "keep: a file of the store");
  CHECK_STR(gc_says_of_file(found, wal, 0), "keep: a file of the store");
  CHECK_STR(gc_says_of_file(found, backup, 0), "keep: a file of the store");
  cst_findings_free(found);
  CHECK_STR(gc_state(store, external), "deleted"); /* and its file is still not ours: */
  const int64_t again = gc_add(store, "m", "m", gc_path(folder, "ext/a"), (gc_more){0});
  const int64_t all = gc_add(store, "m", "m", folder, (gc_more){0});
  const int64_t temp = gc_add(store, "m", "m", harness_temp_dir(), (gc_more){0});
  gc_add(store, "m", "m", NULL, (gc_more){0});
  found = run_twice(store, keeping(1));
  CHECK_STR(gc_says_of_file(found, again, 0), "keep: in a folder of m@1, which is external");
  CHECK_STR(gc_says_of_file(found, all, 0), "keep: the store is in it");
  CHECK_STR(gc_says_of_file(found, temp, 0), "keep: the store is in it");
  CHECK(gc_exists(folder, "ext/a") && gc_exists(other, "out") && gc_exists(folder, "lineage.db"));
  cst_findings_free(found);
  cst_lineage_free(store);
}

/* A .proto is not data of an artifact that goes, though it takes it to read them. */
TEST(files_with_a_role_stay) {
  char folder[512];
  cst_lineage *store = gc_store(folder);
  const char *data = gc_file(folder, "data");
  const cst_lineage_file files[] = {{data, "train", NULL},
                                    {gc_file(folder, "shop.proto"), NULL, "descriptors"}};
  cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
  int64_t ids[2];
  artifact.type = "Examples";
  artifact.name = "sessions";
  artifact.files = files;
  artifact.num_files = 2;
  CHECK_EQ(cst_lineage_add(store, &artifact, &ids[0], NULL, NULL), CST_OK);
  artifact.num_files = 0;
  CHECK_EQ(cst_lineage_add(store, &artifact, &ids[1], NULL, NULL), CST_OK);
  cst_findings *found = run_twice(store, keeping(1));
  CHECK_STR(gc_says_of_file(found, ids[0], 1), "keep: not data, but what it takes to read them");
  CHECK(!gc_exists(folder, "data"));
  CHECK(gc_exists(folder, "shop.proto"));
  cst_findings_free(found);
  cst_lineage_free(store);
}

/* Somebody has written the file again, and it is what no artifact is. */
TEST(what_has_changed_stays) {
  char folder[512];
  cst_lineage *store = gc_store(folder);
  const int64_t larger = gc_add(store, "m", "m", gc_file(folder, "larger"), (gc_more){0});
  const int64_t later = gc_add(store, "m", "m", gc_file(folder, "later"), (gc_more){0});
  const int64_t same = gc_add(store, "m", "m", gc_file(folder, "same"), (gc_more){0});
  gc_add(store, "m", "m", NULL, (gc_more){0});
  const struct timespec times[2] = {{5, 0}, {5, 0}};
  harness_write_file(gc_path(folder, "larger"), "another content", 15);
  CHECK_EQ(utimensat(AT_FDCWD, gc_path(folder, "later"), times, 0), 0);
  cst_findings *found = run_twice(store, keeping(1));
  CHECK_STR(gc_says_of_file(found, larger, 0), "keep: has changed since it was added");
  CHECK_STR(gc_says_of_file(found, later, 0), "keep: has changed since it was added");
  CHECK_STR(gc_says_of_file(found, same, 0), "delete");
  CHECK(gc_exists(folder, "larger") && gc_exists(folder, "later") && !gc_exists(folder, "same"));
  cst_findings_free(found);
  cst_lineage_free(store);
}

/* A view has no span, and is not one of a group with all that has none. */
TEST(what_has_none_of_the_properties_is_grouped_by_name) {
  char folder[512];
  cst_lineage *store = gc_store(folder);
  int64_t ids[5];
  for (int i = 0; i < 5; i++) {
    const cst_lineage_property span = {.name = "span", .number = i};
    ids[i] = gc_add(store, i < 2 ? "Model" : "Examples",
                    i == 0   ? "a"
                    : i == 1 ? "b"
                             : "c",
                    NULL, (gc_more){0});
    if (i >= 2) {
      CHECK_EQ(cst_lineage_set(store, CST_LINEAGE_OF_ARTIFACTS, ids[i], &span, 1, NULL), CST_OK);
    }
  }
  static const char *const by[] = {"span"};
  cst_lineage_gc_options options = keeping(1);
  options.group_by = by;
  options.num_group_by = 1;
  cst_findings *found = run_twice(store, options);
  CHECK_EQ(cst_findings_total(found, "kept"), 5);
  CHECK_STR(gc_says(found, ids[0]), "keep: newest of a");
  CHECK_STR(gc_says(found, ids[4]), "keep: newest of span 4");
  cst_findings_free(found);
  cst_lineage_free(store);
}

TEST(roots_are_kept) {
  char folder[512];
  char elsewhere[512];
  char store_path[600];
  cst_lineage_free(gc_store(folder));
  cst_lineage_free(gc_store(elsewhere));
  gc_file(folder, "r/in/a");
  gc_file(folder, "r/b");
  const char *const roots[] = {gc_path(folder, "r"), gc_path(folder, "r/in")};
  cst_lineage *store;
  cst_lineage_options opening = CST_LINEAGE_OPTIONS_INIT;
  opening.mode = CST_LINEAGE_CREATE;
  opening.roots = roots;
  opening.num_roots = 2;
  (void)snprintf(store_path, sizeof store_path, "%s/other.db", elsewhere);
  CHECK_EQ(cst_lineage_open(store_path, &opening, &store, NULL), CST_OK);
  const int64_t root = gc_add(store, "m", "m", gc_path(folder, "r/in"), (gc_more){0});
  const int64_t above = gc_add(store, "m", "m", gc_path(folder, "r"), (gc_more){0});
  const int64_t a = gc_add(store, "m", "m", gc_path(folder, "r/in/a"), (gc_more){0});
  gc_add(store, "m", "m", NULL, (gc_more){0});
  cst_findings *found = run_twice(store, keeping(1));
  CHECK_STR(gc_says_of_file(found, root, 0), "keep: a root is in it");
  CHECK_STR(gc_says_of_file(found, above, 0), "keep: a root is in it");
  CHECK_STR(gc_says_of_file(found, a, 0), "delete");
  CHECK(!gc_exists(folder, "r/in/a") && gc_exists(folder, "r/b") && gc_exists(folder, "r/in"));
  cst_findings_free(found);
  cst_lineage_free(store);
}

TEST(a_root_that_is_not_mounted_has_not_lost_its_files) {
  char folder[512];
  char elsewhere[512];
  char path[600];
  cst_lineage_free(gc_store(folder));
  cst_lineage_free(gc_store(elsewhere));
  gc_file(folder, "r/a");
  const char *const roots[] = {gc_path(folder, "r")};
  cst_lineage *store;
  cst_lineage_options opening = CST_LINEAGE_OPTIONS_INIT;
  opening.mode = CST_LINEAGE_CREATE;
  opening.roots = roots;
  opening.num_roots = 1;
  (void)snprintf(path, sizeof path, "%s/other.db", elsewhere);
  CHECK_EQ(cst_lineage_open(path, &opening, &store, NULL), CST_OK);
  const int64_t id = gc_add(store, "m", "m", gc_path(folder, "r/a"), (gc_more){0});
  gc_add(store, "m", "m", NULL, (gc_more){0});
  CHECK_EQ(rename(gc_path(folder, "r"), gc_path(folder, "away")), 0);
  cst_findings *found = run_twice(store, keeping(1));
  CHECK_STR(gc_says_of_file(found, id, 0), "keep: its root is not there, or cannot be opened");
  CHECK_STR(gc_says(found, id), "delete: no policy keeps it; not all files could be deleted");
  CHECK_EQ(cst_findings_total(found, "deleted"), 0);
  cst_findings_free(found);
  CHECK_STR(gc_state(store, id), "marked");
  CHECK_EQ(rename(gc_path(folder, "away"), gc_path(folder, "r")), 0);
  found = run_twice(store, keeping(1));
  CHECK_STR(gc_says_of_file(found, id, 0), "delete");
  CHECK_STR(gc_state(store, id), "deleted");
  CHECK(!gc_exists(folder, "r/a"));
  cst_findings_free(found);
  cst_lineage_free(store);
}

TEST(files_that_are_gone_or_replaced) {
  char folder[512];
  cst_lineage *store = gc_store(folder);
  const int64_t gone = gc_add(store, "m", "m", gc_file(folder, "gone"), (gc_more){0});
  const int64_t way = gc_add(store, "m", "m", gc_file(folder, "way/x"), (gc_more){0});
  const int64_t file = gc_add(store, "m", "m", gc_file(folder, "file"), (gc_more){0});
  const int64_t never =
      gc_add(store, "m", "m", gc_path(folder, "not/there"), (gc_more){.allows_missing = true});
  gc_add(store, "m", "m", NULL, (gc_more){0});
  CHECK_EQ(unlink(gc_path(folder, "gone")), 0);
  CHECK_EQ(unlink(gc_path(folder, "way/x")), 0);
  CHECK_EQ(rmdir(gc_path(folder, "way")), 0);
  gc_file(folder, "way");
  CHECK_EQ(unlink(gc_path(folder, "file")), 0);
  gc_file(folder, "file/in it");
  cst_findings *found = run_twice(store, keeping(1));
  CHECK_STR(gc_says_of_file(found, gone, 0), "gone");
  CHECK_STR(gc_says_of_file(found, way, 0), "gone");
  CHECK_STR(gc_says_of_file(found, never, 0), "gone");
  CHECK_STR(gc_says_of_file(found, file, 0), "keep: a folder has taken its place");
  CHECK_EQ(cst_findings_total(found, "files"), 0);
  CHECK_EQ(cst_findings_total(found, "deleted"), 4);
  CHECK(gc_exists(folder, "file/in it") && gc_exists(folder, "way"));
  cst_findings_free(found);
  cst_lineage_free(store);
}

TEST(odd_names) {
  static const char *const names[] = {"it's",     "say \"hi\"", "two\nlines",
                                      "\xff\xfe", "a b;--",     "ü"};
  char folder[512];
  int64_t ids[6];
  cst_lineage *store = gc_store(folder);
  for (int i = 0; i < 6; i++) {
    ids[i] = gc_add(store, "m", "it's \"one\"", gc_file(folder, names[i]), (gc_more){0});
  }
  gc_file(folder, "d\n'/\xff");
  const int64_t in = gc_add(store, "m", "it's \"one\"", gc_path(folder, "d\n'"), (gc_more){0});
  const int64_t last = gc_add(store, "m", "it's \"one\"", NULL, (gc_more){0});
  cst_findings *found = run_twice(store, keeping(1));
  CHECK_STR(gc_says(found, last), "keep: newest of it's \"one\"");
  for (int i = 0; i < 6; i++) {
    CHECK(!gc_exists(folder, names[i]));
    CHECK_STR(gc_says_of_file(found, ids[i], 0), "delete");
  }
  CHECK_STR(gc_says_of_file(found, in, 0), "delete");
  CHECK(!gc_exists(folder, "d\n'"));
  cst_findings_free(found);
  cst_lineage_free(store);
}

/* ---- what an earlier run has left ---- */

TEST(what_cannot_be_deleted_stays_marked_and_the_rest_goes) {
  char folder[512];
  char path[3000];
  cst_lineage *store = gc_store(folder);
  (void)snprintf(path, sizeof path, "%s/deep", folder);
  const size_t size = strlen(path);
  CHECK_EQ(mkdir(path, 0777), 0);
  for (int i = 0; i < 600; i++) { /* deeper than anybody goes */
    strcat(path, "/d");
    CHECK_EQ(mkdir(path, 0777), 0);
  }
  gc_file(folder, "deep/file");
  const int64_t deep = gc_add(store, "m", "m", NULL, (gc_more){0});
  const int64_t flat = gc_add(store, "m", "m", gc_file(folder, "flat"), (gc_more){0});
  gc_add(store, "m", "m", NULL, (gc_more){0});
  run_sql(folder,
          "INSERT INTO file(path) VALUES(CAST('deep' AS BLOB));"
          "INSERT INTO artifact_file(artifact, position, file) SELECT %lld, 0, max(id)"
          " FROM file",
          deep);
  cst_lineage_gc_options options = keeping(1);
  cst_findings *found = gc_run(store, &options);
  CHECK_STR(gc_says(found, deep), "delete: no policy keeps it; not all files could be deleted");
  CHECK_CONTAINS(gc_says_of_file(found, deep, 0), "keep: cannot delete d: ");
  CHECK_STR(gc_says_of_file(found, flat, 0), "delete");
  CHECK_EQ(cst_findings_total(found, "deleted"), 1);
  CHECK_EQ(cst_findings_total(found, "files"), 2); /* deep/file, too */
  cst_findings_free(found);
  CHECK_STR(gc_state(store, deep), "marked");
  CHECK_STR(gc_state(store, flat), "deleted");
  for (int i = 0; i < 200; i++) {
    CHECK_EQ(rmdir(path), 0);
    path[strlen(path) - 2] = '\0';
  }
  CHECK(strlen(path) > size);
  found = run_twice(store, keeping(1));
  CHECK_STR(gc_says(found, deep), "delete: marked by an earlier run");
  CHECK_STR(gc_says_of_file(found, deep, 0), "delete");
  cst_findings_free(found);
  CHECK(!gc_exists(folder, "deep"));
  CHECK_STR(gc_state(store, deep), "deleted");
  CHECK_EQ(count_rows(folder, "doomed"), 0);
  cst_lineage_free(store);
}

TEST(a_run_goes_on_where_another_was_killed) {
  char folder[512];
  cst_lineage *store = gc_store(folder);
  const int64_t a = gc_add(store, "m", "m", gc_file(folder, "a"), (gc_more){0});
  const int64_t b = gc_add(store, "m", "m", gc_file(folder, "b"), (gc_more){0});
  const int64_t c = gc_add(store, "m", "m", gc_file(folder, "c"), (gc_more){0});
  const int64_t again = gc_add(store, "m", "n", gc_path(folder, "b"), (gc_more){0});
  run_sql(folder,
          "UPDATE artifact SET state = 2 WHERE id IN (%lld, %lld, %lld);"
          "INSERT INTO doomed VALUES(CAST('a' AS BLOB), %lld), (CAST('b' AS BLOB), %lld);"
          "INSERT INTO doomed VALUES(CAST('b' AS BLOB), %lld), (CAST('b' AS BLOB), 999)",
          a, b, c, a, b, again);
  CHECK_EQ(unlink(gc_path(folder, "a")), 0);
  cst_findings *found = run_twice(store, keeping(0));
  CHECK_STR(gc_says_of_file(found, a, 0), "gone");
  CHECK_STR(gc_says_of_file(found, b, 0), "keep: also of n@1");
  CHECK_STR(gc_says_of_file(found, c, 0), "delete"); /* marked by somebody else */
  CHECK_EQ(cst_findings_total(found, "deleted"), 3);
  cst_findings_free(found);
  CHECK(gc_exists(folder, "b") && !gc_exists(folder, "c"));
  CHECK_EQ(count_rows(folder, "doomed"), 0);
  cst_lineage_free(store);
}

/* Calls somebody between the plan of a run and its deletions. */
typedef struct meanwhile {
  void (*act)(cst_lineage *other, const char *folder);
  cst_lineage *other;
  const char *folder;
} meanwhile;

static int after_commit(void *ctx, sqlite3 *db, const char *name, int pages) {
  meanwhile *m = ctx;
  void (*act)(cst_lineage *, const char *) = m->act;
  (void)db, (void)name, (void)pages;
  m->act = NULL;
  if (act != NULL) {
    act(m->other, m->folder);
  }
  return SQLITE_OK;
}

static cst_findings *run_while(cst_lineage *store, const char *folder,
                               void (*act)(cst_lineage *other, const char *folder)) {
  meanwhile m = {.act = act, .folder = folder};
  const cst_lineage_gc_options options = keeping(1);
  CHECK_EQ(cst_lineage_open(cst_lineage_path(store), NULL, &m.other, NULL), CST_OK);
  (void)sqlite3_wal_hook(store->db, after_commit, &m);
  cst_findings *found = gc_run(store, &options);
  (void)sqlite3_wal_hook(store->db, NULL, NULL);
  CHECK(m.act == NULL);
  cst_lineage_free(m.other);
  return found;
}

static void add_meanwhile(cst_lineage *other, const char *folder) {
  gc_add(other, "m", "n", gc_path(folder, "a"), (gc_more){0});
  gc_add(other, "m", "n", gc_path(folder, "d/s/x"), (gc_more){0});
  int64_t id;
  const cst_lineage_file whole = {gc_path(folder, "e"), NULL, NULL};
  cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
  artifact.type = "m";
  artifact.files = &whole;
  artifact.num_files = 1;
  CHECK_EQ(cst_lineage_add(other, &artifact, &id, NULL, NULL), CST_STATE);
}

TEST(what_is_added_after_the_plan_stays) {
  char folder[512];
  cst_lineage *store = gc_store(folder);
  const int64_t a = gc_add(store, "m", "m", gc_file(folder, "a"), (gc_more){0});
  const int64_t b = gc_add(store, "m", "m", gc_file(folder, "b"), (gc_more){0});
  gc_file(folder, "d/s/x");
  gc_file(folder, "d/s/y");
  const int64_t d = gc_add(store, "m", "m", gc_path(folder, "d"), (gc_more){0});
  const int64_t e = gc_add(store, "m", "m", gc_file(folder, "e/x"), (gc_more){0});
  gc_add(store, "m", "m", NULL, (gc_more){0});
  cst_findings *found = run_while(store, folder, add_meanwhile);
  CHECK_STR(gc_says_of_file(found, a, 0), "keep: also of n@1");
  CHECK_STR(gc_says_of_file(found, b, 0), "delete");
  CHECK_STR(gc_says_of_file(found, d, 0), "delete: but for what n@2 needs");
  CHECK_STR(gc_says_of_file(found, e, 0), "delete");
  CHECK(gc_exists(folder, "a") && gc_exists(folder, "d/s/x") && !gc_exists(folder, "e/x"));
  CHECK(!gc_exists(folder, "b") && !gc_exists(folder, "d/s/y"));
  CHECK_EQ(cst_findings_total(found, "deleted"), 4);
  CHECK_EQ(count_rows(folder, "doomed"), 0);
  cst_findings_free(found);
  cst_lineage_free(store);
}

/* Somebody deletes a file of a folder after it was read, and before it is written down. */
static int delete_before_writing(unsigned kind, void *ctx, void *statement, void *text) {
  (void)kind, (void)statement;
  if (strncmp(text, "BEGIN IMMEDIATE", 15) == 0) {
    (void)unlink(ctx);
  }
  return 0;
}

TEST(a_folder_that_loses_a_file_while_it_is_added) {
  char folder[512];
  char path[600];
  int64_t id;
  cst_error error = CST_ERROR_INIT;
  cst_lineage *store = gc_store(folder);
  gc_file(folder, "d/a");
  (void)snprintf(path, sizeof path, "%s", gc_path(folder, "d/empty"));
  harness_write_file(path, "", 0);
  const cst_lineage_file file = {gc_path(folder, "d"), NULL, NULL};
  cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
  artifact.type = "m";
  artifact.files = &file;
  artifact.num_files = 1;
  (void)sqlite3_trace_v2(store->db, SQLITE_TRACE_STMT, delete_before_writing, path);
  CHECK_EQ(cst_lineage_add(store, &artifact, &id, NULL, &error), CST_STATE);
  CHECK_CONTAINS(error.message, "the folder changed");
  CHECK_EQ(cst_lineage_add(store, &artifact, &id, NULL, &error), CST_OK);
  (void)sqlite3_trace_v2(store->db, 0, NULL, NULL);
  cst_lineage_free(store);
}

/* A run was killed in the midst of a folder, which is no longer what it was. */
TEST(a_folder_that_is_half_deleted_is_not_added) {
  static const char *const doomed[] = {"d", "d/s/x", "d/s"};
  char folder[512];
  int64_t id;
  cst_error error = CST_ERROR_INIT;
  cst_lineage *store = gc_store(folder);
  gc_file(folder, "d/s/x");
  gc_file(folder, "d!/s/x");
  const cst_lineage_file file = {gc_path(folder, "d/s"), NULL, NULL};
  const cst_lineage_file other = {gc_path(folder, "d!/s"), NULL, NULL};
  cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
  artifact.type = "m";
  artifact.num_files = 1;
  for (int i = 0; i < 3; i++) {
    run_sql(folder, "DELETE FROM doomed; INSERT INTO doomed VALUES(CAST(%Q AS BLOB), 1)",
            doomed[i]);
    artifact.files = &file;
    CHECK_EQ(cst_lineage_add(store, &artifact, &id, NULL, &error), CST_STATE);
    CHECK_CONTAINS(error.message, "garbage collection is deleting the folder");
    artifact.files = &other;
    CHECK_EQ(cst_lineage_add(store, &artifact, &id, NULL, &error), CST_OK);
  }
  cst_lineage_free(store);
}

static void collect_meanwhile(cst_lineage *other, const char *folder) {
  (void)folder;
  const cst_lineage_gc_options options = keeping(0);
  cst_findings *found = gc_run(other, &options);
  CHECK_EQ(cst_findings_total(found, "files"), 1);
  cst_findings_free(found);
}

TEST(two_runs_at_once) {
  char folder[512];
  cst_lineage *store = gc_store(folder);
  const int64_t a = gc_add(store, "m", "m", gc_file(folder, "a"), (gc_more){0});
  gc_add(store, "m", "m", NULL, (gc_more){0});
  cst_findings *found = run_while(store, folder, collect_meanwhile);
  CHECK_STR(gc_says_of_file(found, a, 0), "gone: deleted by another process");
  CHECK_EQ(cst_findings_total(found, "files"), 0);
  CHECK_STR(gc_state(store, a), "deleted");
  cst_findings_free(found);
  cst_lineage_free(store);
}

TEST(a_marked_one_that_is_needed_lives_again) {
  char folder[512];
  cst_lineage *store = gc_store(folder);
  const int64_t a = gc_add(store, "m", "m", gc_file(folder, "a"), (gc_more){0});
  const cst_lineage_reference to = {"part", a};
  const int64_t b =
      gc_add(store, "m", "m", NULL, (gc_more){.references = &to, .num_references = 1});
  run_sql(folder, "UPDATE artifact SET state = 2 WHERE id = %lld", a);
  cst_findings *found = run_twice(store, keeping(0));
  CHECK_STR(gc_says(found, a), "keep: part of m@2");
  cst_findings_free(found);
  CHECK_STR(gc_state(store, a), "live");
  CHECK_STR(gc_state(store, b), "live");
  CHECK(gc_exists(folder, "a"));
  cst_lineage_free(store);
}

/* ---- hostile stores ---- */

TEST(paths_that_lead_up_are_not_followed) {
  char folder[512];
  char other[512];
  cst_lineage *store = gc_store(folder);
  cst_lineage_free(gc_store(other));
  gc_file(other, "x");
  const char *name = strrchr(other, '/') + 1;
  const int64_t id = gc_add(store, "m", "m", NULL, (gc_more){0});
  gc_add(store, "m", "m", NULL, (gc_more){0});
  gc_file(folder, "n");
  run_sql(folder,
          "INSERT INTO file VALUES(1, CAST('../%q/x' AS BLOB)), (2, x''), (3, x'2e2e'),"
          " (4, x'6e0061'), (5, CAST('%q/../%q/x' AS BLOB)), (6, x'612f2f62');"
          "INSERT INTO artifact_file(artifact, position, file) VALUES(%lld, 0, 1),"
          " (%lld, 1, 2), (%lld, 2, 3), (%lld, 3, 4), (%lld, 4, 5), (%lld, 5, 6),"
          " (%lld, 6, 77)",
          name, folder, name, id, id, id, id, id, id, id);
  cst_findings *found = run_twice(store, keeping(1));
  for (size_t i = 0; i < 7; i++) {
    CHECK_STR(gc_says_of_file(found, id, i), "keep: no sound path");
  }
  CHECK(gc_exists(other, "x") && gc_exists(folder, "n"));
  cst_findings_free(found);
  cst_lineage_free(store);
}

TEST(damaged_rows) {
  char folder[512];
  cst_findings *found;
  cst_error error = CST_ERROR_INIT;
  cst_lineage *store = gc_store(folder);
  gc_add(store, "m", "m", NULL, (gc_more){0});
  run_sql(folder, "UPDATE artifact SET state = 9");
  CHECK_EQ(cst_lineage_gc(store, NULL, &found, &error), CST_CORRUPT);
  CHECK_CONTAINS(error.message, "artifact 1 has no such state");
  run_sql(folder, "UPDATE artifact SET state = 0, type = 99");
  CHECK_EQ(cst_lineage_gc(store, NULL, &found, &error), CST_CORRUPT);
  CHECK_CONTAINS(error.message, "artifact 1 has no type");
  CHECK(found == NULL);
  cst_lineage_free(store);
}

/* As many as there are in a long chain, which closes into a circle; and as many references of one.
 */
TEST(a_hundred_thousand_references) {
  char folder[512];
  cst_lineage *store = gc_store(folder);
  enum { N = 100000 };
  gc_add(store, "m", NULL, NULL, (gc_more){.created = 1});
  run_sql(folder,
          "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
          " INSERT INTO artifact SELECT i, 1, NULL, NULL, 0, NULL, 0, 1, 1 FROM n;"
          "INSERT INTO reference SELECT id, 'next', id %% %d + 1 FROM artifact;"
          "INSERT OR IGNORE INTO reference SELECT 1, 'all', id FROM artifact",
          N, N);
  cst_lineage_gc_options options = CST_LINEAGE_GC_OPTIONS_INIT;
  options.max_age = 1;
  options.now = 10 * DAY;
  options.is_dry_run = true;
  run_sql(folder, "UPDATE artifact SET created = %lld WHERE id = 50000", 10 * DAY);
  cst_findings *found = gc_run(store, &options);
  CHECK_EQ(cst_findings_total(found, "kept"), N);
  CHECK_STR(gc_says(found, 50001), "keep: next of 50000");
  cst_findings_free(found);
  options.now = 20 * DAY;
  found = gc_run(store, &options);
  CHECK_EQ(cst_findings_total(found, "deleted"), N);
  cst_findings_free(found);
  cst_lineage_free(store);
}

/* ---- calls ---- */

TEST(arguments) {
  static const char *const names[] = {"a", NULL};
  char folder[512];
  cst_findings *found;
  cst_error error = CST_ERROR_INIT;
  cst_lineage *store = gc_store(folder);
  cst_lineage_gc_options options = keeping(-1);
  CHECK_EQ(cst_lineage_gc(store, &options, &found, &error), CST_INVALID_ARGUMENT);
  options = keeping(1);
  options.types = names;
  options.num_types = 2;
  CHECK_EQ(cst_lineage_gc(store, &options, &found, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "`types`");
  static const char *const usual[] = {"Model", "Statistics"}, *const misspelt[] = {"model"};
  options = keeping(1);
  options.types = options.keep_ancestors_of = usual;
  options.num_types = options.num_keep_ancestors_of = 2;
  CHECK_EQ(cst_lineage_gc(store, &options, &found, &error), CST_OK);
  cst_findings_free(found);
  options.keep_ancestors_of = misspelt;
  options.num_keep_ancestors_of = 1;
  CHECK_EQ(cst_lineage_gc(store, &options, &found, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "`keep_ancestors_of`: no artifact has the type 'model'");
  static const char *const groups[] = {"name", "type", "spam"};
  options = keeping(1);
  options.group_by = groups;
  options.num_group_by = 3;
  CHECK_EQ(cst_lineage_gc(store, &options, &found, &error), CST_OK); /* there is nothing */
  cst_findings_free(found);
  gc_add(store, "m", "m", NULL, (gc_more){0});
  CHECK_EQ(cst_lineage_gc(store, &options, &found, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "`group_by`: no artifact has the property 'spam'");
  CHECK_EQ(cst_lineage_gc(NULL, NULL, &found, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_lineage_gc(store, NULL, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_lineage_begin(store, NULL), CST_OK);
  CHECK_EQ(cst_lineage_gc(store, NULL, &found, &error), CST_STATE);
  options = keeping(1);
  options.is_dry_run = true;
  CHECK_EQ(cst_lineage_gc(store, &options, &found, &error), CST_OK);
  cst_findings_free(found);
  CHECK_EQ(cst_lineage_rollback(store, NULL), CST_OK);
  cst_lineage_free(store);
}

TEST(a_store_for_reading_can_be_rehearsed) {
  char folder[512];
  cst_lineage *store = gc_store(folder);
  gc_add(store, "m", "m", gc_file(folder, "a"), (gc_more){0});
  gc_add(store, "m", "m", NULL, (gc_more){0});
  cst_lineage *reader;
  cst_findings *found;
  cst_lineage_options opening = CST_LINEAGE_OPTIONS_INIT;
  opening.mode = CST_LINEAGE_READ;
  CHECK_EQ(cst_lineage_open(cst_lineage_path(store), &opening, &reader, NULL), CST_OK);
  cst_lineage_gc_options options = keeping(1);
  CHECK_EQ(cst_lineage_gc(reader, &options, &found, NULL), CST_STATE);
  options.is_dry_run = true;
  CHECK_EQ(cst_lineage_gc(reader, &options, &found, NULL), CST_OK);
  CHECK_EQ(cst_findings_total(found, "deleted"), 1);
  cst_findings_free(found);
  cst_lineage_free(reader);
  cst_lineage_free(store);
}

static int collect(void *context) {
  static const char *const by[] = {"name", "span"};
  static const char *const models[] = {"m"};
  cst_lineage_gc_options options = keeping(1);
  cst_findings *found;
  options.group_by = by;
  options.num_group_by = 2;
  options.keep_ancestors_of = models;
  options.num_keep_ancestors_of = 1;
  options.is_dry_run = true;
  const cst_status status = cst_lineage_gc(context, &options, &found, NULL);
  cst_findings_free(found);
  return (int)status;
}

TEST(memory_runs_out) {
  char folder[512];
  /* No pages in advance: SQLite goes on where that allocation fails. */
  CHECK_EQ(sqlite3_shutdown(), SQLITE_OK);
  CHECK_EQ(sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0), SQLITE_OK);
  cst_lineage *store = gc_store(folder);
  const cst_lineage_property span = {.name = "span", .kind = CST_LINEAGE_INT, .number = 3};
  gc_file(folder, "d/a");
  gc_add(store, "m", "m", gc_path(folder, "d"),
         (gc_more){.properties = &span, .num_properties = 1});
  gc_add(store, "m", "m", gc_path(folder, "d/a"),
         (gc_more){.properties = &span, .num_properties = 1});
  gc_add(store, "m", "m", gc_file(folder, "b"), (gc_more){0});
  CHECK_EQ(collect(store), 0);
  FOR_EACH_ALLOCATION_FAILURE(collect, store, CST_NO_MEMORY);
  cst_lineage_free(store);
}
