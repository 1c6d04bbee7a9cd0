/* OpenLineage: events, names of datasets, columns. What OpenLineage's own classes say of them is in
 * python/tests/test_openlineage.py. */
#include <columnstone/lineage.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "text/json_document.h"

static cst_lineage *new_store(const char *name) {
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  cst_lineage *store;
  options.mode = CST_LINEAGE_CREATE;
  CHECK_EQ(cst_lineage_open(harness_temp_path(name), &options, &store, NULL), CST_OK);
  return store;
}

static int64_t add(cst_lineage *store, const char *type, const char *name, const char *path) {
  cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
  const cst_lineage_file file = {.path = path};
  int64_t id = 0;
  artifact.type = type;
  artifact.name = name;
  artifact.files = &file;
  artifact.num_files = path != NULL;
  artifact.skips_digest = strcmp(type, "DataView") != 0;
  artifact.allows_missing = true;
  CHECK_EQ(cst_lineage_add(store, &artifact, &id, NULL, NULL), CST_OK);
  return id;
}

static int64_t run(cst_lineage *store, const char *type, int64_t input, int64_t output,
                   cst_lineage_execution_state state) {
  cst_lineage_execution execution = CST_LINEAGE_EXECUTION_INIT;
  const cst_lineage_event in = {input, "examples"};
  int64_t id;
  execution.type = type;
  execution.inputs = &in;
  execution.num_inputs = 1;
  execution.started = 1700000000000000;
  CHECK_EQ(cst_lineage_start(store, &execution, &id, NULL), CST_OK);
  if (output != 0) {
    CHECK_EQ(cst_lineage_output(store, id, output, NULL, NULL), CST_OK);
  }
  if (state != CST_LINEAGE_RUNNING) {
    CHECK_EQ(cst_lineage_end(store, id, state, NULL), CST_OK);
  }
  return id;
}

static cst_status write_events(cst_lineage *store, const int64_t *ids, size_t count, char **text) {
  cst_lineage_openlineage_options options = CST_LINEAGE_OPENLINEAGE_OPTIONS_INIT;
  size_t size;
  options.executions = ids;
  options.num_executions = count;
  return cst_lineage_openlineage(store, &options, text, &size, NULL);
}

static char *events(cst_lineage *store, const char *name) {
  cst_lineage_openlineage_options options = CST_LINEAGE_OPENLINEAGE_OPTIONS_INIT;
  char *text = NULL;
  size_t size = 0;
  options.job_namespace = name;
  CHECK_EQ(cst_lineage_openlineage(store, &options, &text, &size, NULL), CST_OK);
  CHECK_EQ(strlen(text), size);
  return text;
}

/* Each line is an object; gives their number. */
static size_t count_lines(const char *text) {
  cst__json_document document = {.allocator = cst__default_allocator};
  size_t count = 0;
  for (; *text != '\0'; count++) {
    const size_t size = strcspn(text, "\n");
    yyjson_val *root;
    cst__json_fault fault;
    CHECK_EQ(cst__json_document_parse(&document, (cst_bytes){(const uint8_t *)text, size},
                                      CST__JSON_VALUES, &root, &fault, NULL),
             CST_OK);
    CHECK(yyjson_is_obj(root));
    text += size + 1;
  }
  cst__json_document_reset(&document);
  return count;
}

TEST(states) {
  static const struct {
    cst_lineage_execution_state state;
    const char *event;
  } ends[] = {{CST_LINEAGE_RUNNING, NULL},
              {CST_LINEAGE_COMPLETE, "\"COMPLETE\""},
              {CST_LINEAGE_FAILED, "\"FAIL\""},
              {CST_LINEAGE_CANCELED, "\"ABORT\""}};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    char file[32];
    (void)snprintf(file, sizeof file, "states%zu.db", i);
    cst_lineage *store = new_store(file);
    run(store, "train", add(store, "Data", "data", "/data/a"), 0, ends[i].state);
    char *text = events(store, NULL);
    CHECK_EQ(count_lines(text), ends[i].event != NULL ? 2 : 1);
    CHECK_CONTAINS(text, "{\"eventType\":\"START\",\"eventTime\":\"2023-11-14T22:13:20.000000Z\"");
    CHECK_CONTAINS(text, "\"job\":{\"namespace\":\"columnstone\",\"name\":\"train\"");
    CHECK(ends[i].event == NULL || strstr(text, ends[i].event) != NULL);
    cst_free(text);
    cst_lineage_free(store);
  }
}

TEST(datasets) {
  static const char *const urls[][3] = {
      {"/data/a b%", "\"file\",\"name\":\"/data/a b%\"", "\"file:///data/a%20b%25\""},
      {"s3://bucket/a/b.gz", "\"s3://bucket\",\"name\":\"a/b.gz\"", "\"s3://bucket/a/b.gz\""},
      {"gs://bucket", "\"gs://bucket\",\"name\":\"/\"", "\"gs://bucket\""},
      {"hdfs://h:9000/a", "\"hdfs://h:9000\",\"name\":\"/a\"", "\"hdfs://h:9000/a\""},
      {"https://ann:secret@h/a?token=secret", "\"https://h\",\"name\":\"/a\"", "\"https://h/a\""},
      {"abfs://box@account/a", "\"abfs://box@account\",\"name\":\"/a\"",
       "\"abfs://box@account/a\""},
      {"zip://a.csv::https://h/z.zip", "\"https://h\",\"name\":\"/z.zip\"", "\"https://h/z.zip\""},
      {NULL, "\"jobs\",\"name\":\"thing@8\"", "\"jobs\""}};
  cst_lineage *store = new_store("datasets.db");
  for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
    run(store, "read", add(store, "Data", "thing", urls[i][0]), 0, CST_LINEAGE_RUNNING);
  }
  char *text = events(store, "jobs");
  CHECK_EQ(count_lines(text), sizeof urls / sizeof *urls);
  for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
    CHECK_CONTAINS(text, urls[i][1]);
    CHECK_CONTAINS(text, urls[i][2]);
  }
  CHECK(strstr(text, "secret") == NULL);
  cst_free(text);
  cst_lineage_free(store);
}

TEST(columns_of_a_view) {
  cst_lineage *store = new_store("columns.db");
  const int64_t view = add(store, "DataView", "table", "tests/data/views/v1/examples.cstv");
  const int64_t raw = add(store, "Examples", "raw", "tests/data/views/examples.tfrecord");
  int64_t bound;
  CHECK_EQ(cst_lineage_bind(store, raw, view, "bound", &bound, NULL), CST_OK);
  char *text = events(store, NULL);
  CHECK_EQ(count_lines(text), 2);
  CHECK_CONTAINS(text, "examples.tfrecord#table@1\"");
  CHECK_CONTAINS(text, "\"fields\":[{\"name\":\"age\"},{\"name\":\"city\"},{\"name\":\"fare\"}]");
  CHECK_CONTAINS(text, "\"columnLineage\":{");
  CHECK_CONTAINS(text, "\"city\":{\"inputFields\":[{\"namespace\":\"file\",\"name\":\"/");
  CHECK_CONTAINS(text, "examples.tfrecord\",\"field\":\"city\",\"transformations\":");
  char *again = events(store, NULL);
  CHECK_STR(text, again);
  cst_free(text);
  cst_free(again);
  cst_lineage_free(store);
}

/* The UUID is of what never changes: not of the place of the store, or of its state. */
TEST(runs) {
  cst_lineage *store = new_store("runs.db");
  const int64_t data = add(store, "Data", "data", "/data/a");
  const int64_t ids[] = {run(store, "train", data, 0, CST_LINEAGE_RUNNING),
                         run(store, "train", data, 0, CST_LINEAGE_RUNNING)};
  char *before, *after;
  CHECK_EQ(write_events(store, ids, 1, &before), CST_OK);
  CHECK_EQ(cst_lineage_end(store, ids[0], CST_LINEAGE_COMPLETE, NULL), CST_OK);
  CHECK_EQ(write_events(store, ids, 1, &after), CST_OK);
  CHECK_CONTAINS(after, before);
  const char *uuid = strstr(before, "runId\":\"") + strlen("runId\":\"");
  CHECK_EQ(uuid[14], '8');
  CHECK(strchr("89ab", uuid[19]) != NULL);
  cst_free(after);
  CHECK_EQ(write_events(store, ids + 1, 1, &after), CST_OK);
  CHECK(memcmp(uuid, strstr(after, "runId\":\"") + strlen("runId\":\""), 36) != 0);
  cst_free(before);
  cst_free(after);
  const int64_t twice[] = {ids[1], ids[0], ids[1]};
  CHECK_EQ(write_events(store, twice, 3, &after), CST_OK);
  CHECK_EQ(count_lines(after), 3);
  cst_free(after);
  cst_lineage_free(store);
}

TEST(hostile_texts) {
  cst_lineage *store = new_store("hostile.db");
  run(store, "train", add(store, "Data", "data", "/data/a"), 0, CST_LINEAGE_FAILED);
  const cst_lineage_property error = {
      .name = "error", .kind = CST_LINEAGE_TEXT, .bytes = {(const uint8_t *)"no \"x\"\n", 7}};
  CHECK_EQ(cst_lineage_set(store, CST_LINEAGE_OF_EXECUTIONS, 1, &error, 1, NULL), CST_OK);
  cst_lineage_free(store);
  sqlite3 *db;
  CHECK_EQ(sqlite3_open(harness_temp_path("hostile.db"), &db), SQLITE_OK);
  CHECK_EQ(sqlite3_exec(db,
                        "UPDATE artifact SET name = CAST(x'22c30a5c' AS TEXT);"
                        "UPDATE type SET name = char(34, 10, 0x202e) || name;"
                        "INSERT INTO property VALUES(1, 1, 'nan', 1, 9e999), (1, 1, 'raw', 4, "
                        "x'00ff'), (1, 1, 'large', 0, 9223372036854775807);"
                        "INSERT INTO event VALUES(1, 0, 77, '', 5);",
                        NULL, NULL, NULL),
           SQLITE_OK);
  sqlite3_close(db);
  CHECK_EQ(cst_lineage_open(harness_temp_path("hostile.db"), NULL, &store, NULL), CST_OK);
  char *text = events(store, NULL);
  CHECK_EQ(count_lines(text), 2);
  CHECK_CONTAINS(text, "\"errorMessage\":{");
  CHECK_CONTAINS(text, "\"message\":\"no \\\"x\\\"\\n\"");
  CHECK_CONTAINS(text, "\"large\":9223372036854775807,\"nan\":null,\"raw\":null");
  cst_free(text);
  cst_lineage_free(store);
}

TEST(arguments) {
  cst_lineage *store = new_store("arguments.db");
  const int64_t nobody = 5;
  char *text;
  size_t size;
  CHECK_EQ(cst_lineage_openlineage(NULL, NULL, &text, &size, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(write_events(store, NULL, 1, &text), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_lineage_openlineage(store, NULL, NULL, &size, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(write_events(store, &nobody, 1, &text), CST_NOT_FOUND);
  CHECK_EQ(write_events(store, &nobody, 0, &text), CST_OK);
  CHECK_STR(text, "");
  cst_free(text);
  cst_lineage_free(store);
}

static int write_without_memory(void *context) {
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  cst_lineage *store = NULL;
  char *text = NULL;
  size_t size;
  (void)context;
  options.mode = CST_LINEAGE_READ;
  cst_status status = cst_lineage_open(harness_temp_path("columns.db"), &options, &store, NULL);
  if (status == CST_OK) {
    status = cst_lineage_openlineage(store, NULL, &text, &size, NULL);
  }
  cst_free(text);
  cst_lineage_free(store);
  return (int)status;
}

TEST(without_memory) {
  cst_lineage *store = new_store("columns.db");
  if (cst_lineage_lookup(store, "bound", &(int64_t){0}, NULL) != CST_OK) {
    int64_t bound;
    CHECK_EQ(
        cst_lineage_bind(store, add(store, "Examples", "raw", "tests/data/views/examples.tfrecord"),
                         add(store, "DataView", "table", "tests/data/views/v1/examples.cstv"),
                         "bound", &bound, NULL),
        CST_OK);
  }
  cst_lineage_free(store);
  FOR_EACH_ALLOCATION_FAILURE(write_without_memory, NULL, CST_NO_MEMORY);
}
