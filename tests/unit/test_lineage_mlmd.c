/* Stores of MLMD, written, read again, and damaged in every way; tests/peers has ml-metadata. */
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include "lineage/mlmd/mlmd_map.h"
#include "lineage_support.h"

/* Runs statements on a file of SQLite; what they cannot do is checked. */
static void run(const char *path, const char *sql) {
  sqlite3 *db = NULL;
  char *message = NULL;
  CHECK_EQ(sqlite3_open(path, &db), SQLITE_OK);
  const int code = sqlite3_exec(db, sql, NULL, NULL, &message);
  CHECK_STR(code == SQLITE_OK ? "" : message, "");
  sqlite3_free(message);
  (void)sqlite3_close(db);
}

/* The first value of a query; malloc. */
static char *value_of(const char *path, const char *sql) {
  sqlite3 *db = NULL;
  sqlite3_stmt *statement = NULL;
  CHECK_EQ(sqlite3_open(path, &db), SQLITE_OK);
  CHECK_EQ(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
  CHECK_EQ(sqlite3_step(statement), SQLITE_ROW);
  const char *text = (const char *)sqlite3_column_text(statement, 0);
  char *copy = strdup(text != NULL ? text : "");
  (void)sqlite3_finalize(statement);
  (void)sqlite3_close(db);
  return copy;
}

static void check_value(const char *path, const char *sql, const char *expected) {
  char *value = value_of(path, sql);
  CHECK_STR(value, expected);
  free(value);
}

static int64_t count_of(const cst_findings *found, const char *kind) {
  for (size_t i = 0; i < cst_findings_num_rows(found); i++) {
    if (strcmp(cst_findings_text(found, "kind", i), kind) == 0) {
      return cst_findings_number(found, "count", i);
    }
  }
  return -1;
}

/* Data, a model that was made of it, a note, a context. */
static cst_lineage *make_shop(const char *name) {
  cst_lineage *store = new_store(name);
  cst_error error = CST_ERROR_INIT;
  const int64_t data = add_artifact(store, "Examples", "sessions", write_text("data", "123"));
  const int64_t model = add_artifact(store, "Model", "ranking", write_text("weights", "4"));
  (void)add_artifact(store, "note", NULL, write_text("n\xff", "5")); /* a path that is not UTF-8 */
  const cst_lineage_property properties[] = {
      int_property("span", 7),
      text_property("note", "it's\n\"é\""),
      text_property("almost", "mlmd-struct::!"),
      {.name = "raw", .kind = CST_LINEAGE_BYTES, .bytes = {(const uint8_t *)"\0\xff", 2}},
      {.name = "rate", .kind = CST_LINEAGE_REAL, .real = 0.5},
      {.name = "good", .kind = CST_LINEAGE_BOOL, .number = 1}};
  CHECK_EQ(cst_lineage_set(store, CST_LINEAGE_OF_ARTIFACTS, data, properties, 6, &error), CST_OK);
  const cst_lineage_event input = {data, "examples"};
  cst_lineage_execution train = CST_LINEAGE_EXECUTION_INIT;
  int64_t run_id, context;
  train.type = "Trainer";
  train.name = "nightly";
  train.inputs = &input;
  train.num_inputs = 1;
  CHECK_EQ(cst_lineage_start(store, &train, &run_id, &error), CST_OK);
  CHECK_EQ(cst_lineage_output(store, run_id, model, "model/3", &error), CST_OK);
  CHECK_EQ(cst_lineage_end(store, run_id, CST_LINEAGE_COMPLETE, &error), CST_OK);
  CHECK_EQ(cst_lineage_context(store, "pipeline", "shop", &context, &error), CST_OK);
  CHECK_EQ(cst_lineage_join(store, context, CST_LINEAGE_OF_ARTIFACTS, model, &error), CST_OK);
  CHECK_EQ(cst_lineage_join(store, context, CST_LINEAGE_OF_EXECUTIONS, run_id, &error), CST_OK);
  return store;
}

static const char *export_shop(const char *name) {
  const char *path = harness_temp_path(name);
  char store_name[128];
  (void)snprintf(store_name, sizeof store_name, "%s.lineage", name);
  cst_lineage *store = make_shop(store_name);
  cst_findings *found = NULL;
  cst_error error = CST_ERROR_INIT;
  const cst_status status = cst_lineage_export_mlmd(store, path, false, &found, &error);
  CHECK_STR(status == CST_OK ? "" : error.message, "");
  CHECK_EQ(count_of(found, "artifacts"), 3);
  CHECK_EQ(count_of(found, "events"), 2);
  CHECK_EQ(count_of(found, "members"), 2);
  cst_findings_free(found);
  cst_lineage_free(store);
  return path;
}

TEST(what_is_written) {
  const char *path = export_shop("written.sqlite");
  check_value(path, "SELECT schema_version FROM MLMDEnv", "10");
  check_value(path, "SELECT group_concat(name) FROM Type WHERE id > 9",
              "Examples,DataView,Schema,ExampleStatistics,Model,note,Trainer,pipeline");
  check_value(path, "SELECT name || ' ' || state FROM Artifact WHERE id = 1", "sessions@1 2");
  check_value(path,
              "SELECT group_concat(name || is_custom_property, ' ') FROM (SELECT * FROM"
              " ArtifactProperty WHERE artifact_id = 1 ORDER BY name)",
              "columnstone.artifact1 good1 note1 rate1 span0");
  check_value(path, "SELECT group_concat(coalesce(step_key, step_index), '/') FROM EventPath",
              "examples/0/model/3");
  check_value(path, "SELECT last_known_state FROM Execution", "3");
  check_value(path, "SELECT uri FROM Artifact WHERE id = 3", "");
  check_value(path, "SELECT uri FROM Artifact WHERE id = 2", harness_temp_path("weights"));
}

TEST(there_and_back) {
  const char *path = export_shop("back.sqlite");
  cst_lineage *again = new_store("again.lineage");
  cst_findings *found = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst_lineage_import_mlmd(again, path, &found, &error);
  CHECK_STR(status == CST_OK ? "" : error.message, "");
  CHECK_EQ(count_of(found, "executions"), 1);
  cst_findings_free(found);
  CHECK_EQ(cst_lineage_import_mlmd(again, path, &found, &error), CST_OK);
  CHECK_EQ(count_of(found, "artifacts") + count_of(found, "events") + count_of(found, "updated"),
           0);
  cst_findings_free(found);
  cst_lineage_free(again);
  static const char *const same[] = {
      "SELECT group_concat(quote(id) || quote(name) || quote(version) || quote(digest) ||"
      " is_external || created || '-' || updated) FROM artifact",
      "SELECT group_concat(kind || owner || name || type || quote(value)) FROM property",
      "SELECT group_concat(quote(path) || quote(size) || quote(digest)) FROM artifact_file"
      " JOIN file ON file = id",
      "SELECT group_concat(execution || direction || artifact || path || time) FROM event",
      "SELECT group_concat(id || quote(name) || state || started || ended) FROM execution",
      "SELECT group_concat(context || kind || id) FROM member",
  };
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
    char *expected = value_of(harness_temp_path("back.sqlite.lineage"), same[i]);
    CHECK(expected[0] != '\0');
    check_value(harness_temp_path("again.lineage"), same[i], expected);
    free(expected);
  }
}

/* ---- what cannot be read ---- */

/* An import that fails, with this status and text, and leaves the store as it was. */
static void check_import(const char *path, cst_status status, const char *text) {
  cst_error error = CST_ERROR_INIT;
  cst_findings *found = NULL;
  cst_lineage *store = open_store("refused.lineage", CST_LINEAGE_CREATE);
  CHECK_EQ(cst_lineage_import_mlmd(store, path, &found, &error), status);
  CHECK_CONTAINS(error.message, text);
  CHECK(found == NULL);
  cst_lineage_free(store);
  check_value(harness_temp_path("refused.lineage"),
              "SELECT (SELECT count(*) FROM artifact) + (SELECT count(*) FROM origin)", "0");
}

/* A custom property with the name of another one, and one with the name that this gets. */
TEST(custom_properties_have_names_of_their_own) {
  const char *path = export_shop("custom.sqlite");
  run(path,
      "INSERT INTO ArtifactProperty(artifact_id, name, is_custom_property, string_value) VALUES"
      " (2, 'b', 0, 'proper'), (2, 'a', 0, 'first'), (2, 'd', 0, 'last'), (2, 'a', 1, 'A'),"
      " (2, 'd', 1, 'D'), (2, 'c', 1, 'C'), (2, 'mlmd.custom.a', 1, 'odd')");
  cst_lineage *store = new_store("custom.lineage");
  cst_error error = CST_ERROR_INIT;
  cst_findings *found = NULL;
  const cst_status status = cst_lineage_import_mlmd(store, path, &found, &error);
  CHECK_STR(status == CST_OK ? "" : error.message, "");
  cst_findings_free(found);
  cst_lineage_free(store);
  check_value(harness_temp_path("custom.lineage"),
              "SELECT group_concat(name || '=' || value, ' ') FROM (SELECT * FROM property WHERE "
              "kind = 0 AND owner = 2 ORDER BY name)",
              "a=first b=proper c=C d=last mlmd.custom.a=A mlmd.custom.d=D "
              "mlmd.custom.mlmd.custom.a=odd");
}

TEST(damage_has_a_place) {
  static const struct {
    const char *sql;
    cst_status status;
    const char *text;
  } all[] = {
      {"DROP TABLE MLMDEnv", CST_FORMAT, "no table MLMDEnv"},
      {"DROP TABLE Artifact", CST_FORMAT, "no table Artifact"},
      {"DROP TABLE Event; CREATE VIEW Event AS SELECT 1", CST_FORMAT, "no table Event"},
      {"UPDATE MLMDEnv SET schema_version = 11", CST_UNSUPPORTED, "version 11 of the schema"},
      {"UPDATE MLMDEnv SET schema_version = 5", CST_UNSUPPORTED, "version 5 of the schema"},
      {"UPDATE MLMDEnv SET schema_version = 10; ALTER TABLE Artifact DROP COLUMN state",
       CST_CORRUPT, "no such column"},
      {"UPDATE Artifact SET type_id = 99 WHERE id = 2", CST_CORRUPT,
       "artifact 2: its type is not there"},
      {"UPDATE Artifact SET state = 77", CST_CORRUPT, "artifact 1: there is no state 77"},
      {"UPDATE Artifact SET state = 'x'", CST_CORRUPT, "artifact 1: its state is a text, not an"},
      {"UPDATE Artifact SET name = CAST(x'ff' AS TEXT) WHERE id = 2", CST_CORRUPT,
       "artifact 2: its name is not UTF-8"},
      {"UPDATE Artifact SET uri = x'00'", CST_CORRUPT, "artifact 1: its uri is bytes, not a text"},
      {"UPDATE Artifact SET create_time_since_epoch = 1.5", CST_CORRUPT, "is a real"},
      {"UPDATE Artifact SET id = -3 WHERE id = 2", CST_CORRUPT, "its number is not positive"},
      {"UPDATE ArtifactProperty SET int_value = NULL WHERE name = 'span'", CST_CORRUPT,
       "artifact 1: its property 'span' has no value"},
      {"UPDATE ArtifactProperty SET string_value = CAST(x'ff' AS TEXT) WHERE name = 'note'",
       CST_CORRUPT, "artifact 1: property 'note' is a text that is not UTF-8"},
      {"UPDATE ArtifactProperty SET string_value = '{' WHERE name = 'columnstone.artifact'",
       CST_CORRUPT, "artifact 1: its property columnstone.artifact: invalid JSON"},
      {"UPDATE ArtifactProperty SET string_value = '{\"id\": 1, \"files\": 3}' WHERE"
       " name = 'columnstone.artifact'",
       CST_CORRUPT, "\"files\" is not a list"},
      {"UPDATE ArtifactProperty SET string_value = '{\"id\": 1, \"files\": [{\"path\": \"x\"}]}'"
       " WHERE name = 'columnstone.artifact'",
       CST_CORRUPT, "absolute paths"},
      {"UPDATE ArtifactProperty SET string_value = '{\"id\": 1, \"references\": [[\"view\", 9]]}'"
       " WHERE name = 'columnstone.artifact'",
       CST_CORRUPT, "refers to the artifact 9 (view), which is not there"},
      {"UPDATE Event SET artifact_id = 9 WHERE id = 2", CST_CORRUPT,
       "event 2: the artifact 9 is not there"},
      {"UPDATE Event SET type = 0 WHERE id = 1", CST_CORRUPT, "event 1: its type is 0"},
      {"UPDATE Association SET execution_id = 4", CST_CORRUPT, "the execution 4 is not there"},
      {"INSERT INTO ParentContext VALUES(1, 3)", CST_CORRUPT, "the context 3 is not there"},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    char name[32];
    (void)snprintf(name, sizeof name, "damaged%zu.sqlite", i);
    const char *path = export_shop(name);
    run(path, all[i].sql);
    check_import(path, all[i].status, all[i].text);
  }
}

TEST(other_files) {
  check_import(harness_temp_path("nothing"), CST_NOT_FOUND, "no such file");
  check_import(harness_temp_dir(), CST_FORMAT, "this is no file");
  check_import(write_text("text.sqlite", "a text that is long enough to be looked at"), CST_FORMAT,
               "no MLMD store");
  check_import(harness_temp_path("refused.lineage"), CST_FORMAT, "no table MLMDEnv");
}

TEST(circles_are_read) {
  const char *path = export_shop("circle.sqlite");
  cst_lineage *store = new_store("circle.lineage");
  cst_findings *found = NULL;
  cst_error error = CST_ERROR_INIT;
  run(path,
      "INSERT INTO ParentContext VALUES(1, 1);"
      "INSERT INTO Event(artifact_id, execution_id, type) VALUES(2, 1, 3), (1, 1, 4);"
      "UPDATE ArtifactProperty SET string_value = '{\"id\": 1, \"references\": [[\"view\", 1]]}'"
      " WHERE name = 'columnstone.artifact' AND artifact_id = 1");
  cst_status status = cst_lineage_import_mlmd(store, path, &found, &error);
  CHECK_STR(status == CST_OK ? "" : error.message, "");
  CHECK_EQ(count_of(found, "events"), 4);
  cst_findings_free(found);
  const int64_t id = 1;
  cst_lineage_trace_options trace = CST_LINEAGE_TRACE_OPTIONS_INIT;
  trace.artifacts = &id;
  trace.num_artifacts = 1;
  CHECK_EQ(cst_lineage_trace(store, &trace, &found, &error), CST_OK);
  CHECK_EQ(cst_findings_num_rows(found), 3);
  cst_findings_free(found);
  cst_lineage_free(store);
}

/* ---- where it is written to ---- */

TEST(targets) {
  cst_lineage *store = make_shop("targets.lineage");
  cst_findings *found = NULL;
  cst_error error = CST_ERROR_INIT;
  const char *path = write_text("there.sqlite", "mine");
  CHECK_EQ(cst_lineage_export_mlmd(store, path, false, &found, &error), CST_IO);
  CHECK_CONTAINS(error.message, "already");
  (void)write_text("there.sqlite-journal", "theirs");
  CHECK_EQ(cst_lineage_export_mlmd(store, path, true, &found, &error), CST_STATE);
  CHECK_CONTAINS(error.message, "writing to this file");
  CHECK_EQ(unlink(harness_temp_path("there.sqlite-journal")), 0);
  CHECK_EQ(cst_lineage_export_mlmd(store, path, true, &found, &error), CST_OK);
  cst_findings_free(found);
  check_value(path, "SELECT count(*) FROM Artifact", "3");
  CHECK_EQ(
      cst_lineage_export_mlmd(store, harness_temp_path("targets.lineage"), true, &found, &error),
      CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_lineage_export_mlmd(store, "-", true, &found, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_lineage_export_mlmd(store, harness_temp_path("no/x"), true, &found, &error),
           CST_NOT_FOUND);
  CHECK(found == NULL);
  cst_lineage_free(store);
}

/* Times before 1970 are rounded down, the earliest one too. */
TEST(milliseconds) {
  CHECK_EQ(cst__mlmd_ms(1999), 1);
  CHECK_EQ(cst__mlmd_ms(-1), -1);
  CHECK_EQ(cst__mlmd_ms(-1000), -1);
  CHECK_EQ(cst__mlmd_ms(-1001), -2);
  CHECK_EQ(cst__mlmd_ms(INT64_MIN), INT64_MIN / 1000 - 1);
  CHECK_EQ(cst__mlmd_us(cst__mlmd_ms(INT64_MIN)), INT64_MIN);
}

TEST(no_other_store_in_its_place) {
  const char *path = export_shop("replaced.sqlite");
  cst_lineage *store = new_store("replacing.lineage");
  cst_findings *found = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_lineage_import_mlmd(store, path, &found, &error), CST_OK);
  cst_findings_free(found);
  run(path, "UPDATE Artifact SET create_time_since_epoch = 1");
  CHECK_EQ(cst_lineage_import_mlmd(store, path, &found, &error), CST_STATE);
  CHECK_CONTAINS(error.message, "another store");
  cst_lineage_free(store);
}

/* ---- memory ---- */

typedef struct paths {
  char from[4096], to[4096], store[4096];
} paths;

static int export_and_import(void *context) {
  const paths *p = context;
  cst_lineage *from = NULL, *store = NULL;
  cst_findings *found = NULL;
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  cst_status status = cst_lineage_open(p->from, NULL, &from, NULL);
  status = status != CST_OK ? status : cst_lineage_export_mlmd(from, p->to, true, &found, NULL);
  cst_findings_free(found);
  found = NULL;
  options.mode = CST_LINEAGE_CREATE;
  status = status != CST_OK ? status : cst_lineage_open(p->store, &options, &store, NULL);
  status = status != CST_OK ? status : cst_lineage_import_mlmd(store, p->to, &found, NULL);
  cst_findings_free(found);
  cst_lineage_free(store);
  cst_lineage_free(from);
  (void)unlink(p->store);
  return (int)status;
}

TEST(memory_runs_out) {
  paths p;
  cst_lineage_free(make_shop("memory.lineage"));
  (void)snprintf(p.from, sizeof p.from, "%s", harness_temp_path("memory.lineage"));
  (void)snprintf(p.to, sizeof p.to, "%s", harness_temp_path("memory.sqlite"));
  (void)snprintf(p.store, sizeof p.store, "%s", harness_temp_path("memory.again"));
  FOR_EACH_ALLOCATION_FAILURE(export_and_import, &p, CST_NO_MEMORY);
}
