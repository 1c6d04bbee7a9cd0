/* Artifacts and executions: adding, finding, and what comes from what. */
#include <sys/stat.h>
#include <unistd.h>

#include "lineage_support.h"

static cst_status add_status(cst_lineage *store, const cst_lineage_artifact *artifact,
                             cst_error *error) {
  int64_t id;
  return cst_lineage_add(store, artifact, &id, NULL, error);
}

TEST(what_an_artifact_says) {
  cst_lineage *store = new_store("says.db");
  const cst_lineage_file files[] = {{write_text("a.txt", "abc"), "train", NULL},
                                    {write_text("b.txt", ""), NULL, "descriptors"},
                                    {"s3://bucket/c/", "eval", NULL}};
  const cst_lineage_property properties[] = {
      int_property("span", 12),
      {.name = "weight", .kind = CST_LINEAGE_REAL, .real = 0.5},
      {.name = "is_good", .kind = CST_LINEAGE_BOOL, .number = 1},
      text_property("owner's \"name\"\n", "x'; DROP TABLE artifact; --"),
      {.name = "raw", .kind = CST_LINEAGE_BYTES, .bytes = {(const uint8_t *)"\xff\0z", 3}}};
  cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
  artifact.type = "Examples";
  artifact.name = "sessions";
  artifact.files = files;
  artifact.num_files = 3;
  artifact.properties = properties;
  artifact.num_properties = 5;
  artifact.created = 1700000000000000;
  int64_t id;
  bool is_new;
  CHECK_EQ(cst_lineage_add(store, &artifact, &id, &is_new, NULL), CST_OK);
  CHECK(is_new);
  cst_findings *found = find_one(store, id);
  CHECK_STR(cst_findings_text(found, "type", 0), "Examples");
  CHECK_STR(cst_findings_text(found, "reference", 0), "sessions@1");
  CHECK_STR(cst_findings_text(found, "state", 0), "live");
  CHECK_EQ(cst_findings_number(found, "created", 0), 1700000000000000);
  CHECK_STR(cst_findings_text(found, "digest", 0), NULL); /* a URL is not read */
  CHECK_STR(cst_findings_text(found, "files.path", 0), files[0].path);
  CHECK_STR(cst_findings_text(found, "files.digest", 0),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK_STR(cst_findings_text(found, "files.split", 0), "train");
  CHECK_EQ(cst_findings_number(found, "files.size", 0), 3);
  CHECK_STR(cst_findings_text(found, "files.role", 1), "descriptors");
  CHECK_EQ(cst_findings_number(found, "files.size", 1), 0);
  CHECK_STR(cst_findings_text(found, "files.path", 2), "s3://bucket/c");
  CHECK_EQ(cst_findings_number(found, "files.size", 2), -1);
  CHECK_STR(cst_findings_text(found, "properties.name", 0), "is_good");
  CHECK_STR(cst_findings_text(found, "properties.kind", 0), "bool");
  CHECK_EQ(cst_findings_number(found, "properties.number", 0), 1);
  CHECK_STR(cst_findings_text(found, "properties.text", 1), "x'; DROP TABLE artifact; --");
  CHECK_STR(cst_findings_text(found, "properties.kind", 2), "bytes");
  CHECK_EQ(cst_findings_number(found, "properties.number", 3), 12);
  CHECK_DOUBLE(cst_findings_real(found, "properties.real", 4), 0.5);
  cst_findings_free(found);
  cst_lineage_free(store);
}

TEST(versions_and_references) {
  cst_error error = CST_ERROR_INIT;
  cst_lineage *store = new_store("versions.db");
  int64_t id;
  CHECK_EQ(add_artifact(store, "Model", "ranker", NULL), 1);
  CHECK_EQ(add_artifact(store, "Model", NULL, NULL), 2);
  CHECK_EQ(add_artifact(store, "Model", "ranker", NULL), 3);
  CHECK_EQ(cst_lineage_lookup(store, "ranker", &id, NULL), CST_OK);
  CHECK_EQ(id, 3);
  CHECK_EQ(cst_lineage_lookup(store, "ranker@1", &id, NULL), CST_OK);
  CHECK_EQ(id, 1);
  CHECK_EQ(cst_lineage_lookup(store, "2", &id, NULL), CST_OK);
  CHECK_EQ(id, 2);
  static const char *const absent[] = {"ranker@3", "other", "other@1", "99",
                                       "99999999999999999999999999"};
  for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++) {
    const cst_status status = cst_lineage_lookup(store, absent[i], &id, &error);
    CHECK(status == CST_NOT_FOUND || status == CST_INVALID_ARGUMENT);
    CHECK_EQ(id, 0);
  }
  static const char *const wrong[] = {"", "@", "@1", "ranker@", "ranker@x"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    CHECK_EQ(cst_lineage_lookup(store, wrong[i], &id, &error), CST_INVALID_ARGUMENT);
  }
  cst_lineage_free(store);
}

TEST(what_is_refused) {
  cst_error error = CST_ERROR_INIT;
  cst_lineage *store = new_store("refused.db");
  cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
  CHECK_EQ(add_status(store, &artifact, &error), CST_INVALID_ARGUMENT); /* no type */
  artifact.type = "Model";
  static const char *const names[] = {"", "a@b", "a#b", "12", "a\nb", "\xff", "a\xe2\x80\xae"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    artifact.name = names[i];
    CHECK_EQ(add_status(store, &artifact, &error), CST_INVALID_ARGUMENT);
  }
  artifact.name = NULL;
  const cst_lineage_file absent = {harness_temp_path("absent"), NULL, NULL};
  artifact.files = &absent;
  artifact.num_files = 1;
  CHECK_EQ(add_status(store, &artifact, &error), CST_NOT_FOUND);
  CHECK_STR(error.file, harness_temp_path("absent"));
  artifact.allows_missing = true;
  CHECK_EQ(add_status(store, &artifact, &error), CST_OK);
  artifact.num_files = 0;
  const cst_lineage_reference reference = {"view", 77};
  artifact.references = &reference;
  artifact.num_references = 1;
  CHECK_EQ(add_status(store, &artifact, &error), CST_NOT_FOUND);
  artifact.num_references = 0;
  cst_lineage_property twice[] = {int_property("a", 1), int_property("a", 2)};
  artifact.properties = twice;
  artifact.num_properties = 2;
  CHECK_EQ(add_status(store, &artifact, &error), CST_INVALID_ARGUMENT);
  twice[1] = text_property("b", "\xff");
  CHECK_EQ(add_status(store, &artifact, &error), CST_INVALID_ARGUMENT);
  artifact.num_properties = 0;
  artifact.state = CST_LINEAGE_DELETED;
  CHECK_EQ(add_status(store, &artifact, &error), CST_INVALID_ARGUMENT);
  cst_lineage_free(store);
}

/* The same file by other names is the same; a folder's digest tells what is in it. */
TEST(paths_and_folders) {
  cst_lineage *store = new_store("paths.db");
  CHECK_EQ(mkdir(harness_temp_path("model"), 0700), 0);
  (void)write_text("model/weights", "1");
  CHECK_EQ(symlink("model", harness_temp_path("link")), 0);
  char dots[4096];
  (void)snprintf(dots, sizeof dots, "%s/model/../model//", harness_temp_dir());
  const int64_t ids[] = {add_artifact(store, "Model", "m", harness_temp_path("model")),
                         add_artifact(store, "Model", "m", harness_temp_path("link")),
                         add_artifact(store, "Model", "m", dots)};
  (void)write_text("model/weights", "2");
  const int64_t changed = add_artifact(store, "Model", "m", dots);
  cst_findings *first = find_one(store, ids[0]);
  for (size_t i = 1; i < 3; i++) {
    cst_findings *other = find_one(store, ids[i]);
    CHECK_STR(cst_findings_text(other, "uri", 0), harness_temp_path("model"));
    CHECK_STR(cst_findings_text(other, "digest", 0), cst_findings_text(first, "digest", 0));
    cst_findings_free(other);
  }
  cst_findings *last = find_one(store, changed);
  CHECK(strcmp(cst_findings_text(last, "digest", 0), cst_findings_text(first, "digest", 0)) != 0);
  cst_findings_free(last);
  cst_findings_free(first);
  cst_lineage_query query = CST_LINEAGE_QUERY_INIT;
  cst_findings *found = NULL;
  query.path = harness_temp_path("model/weights"); /* a file of the folders */
  CHECK_EQ(cst_lineage_find(store, &query, &found, NULL), CST_OK);
  CHECK_EQ(cst_findings_num_rows(found), 4);
  cst_findings_free(found);
  cst_findings *faults = NULL; /* the first three have another content now */
  CHECK_EQ(cst_lineage_check(store, true, &faults, NULL), CST_OK);
  CHECK_EQ(cst_findings_num_rows(faults), 3);
  cst_findings_free(faults);
  cst_lineage_free(store);
}

TEST(the_same_content_is_taken_again) {
  cst_lineage *store = new_store("same.db");
  cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
  const cst_lineage_file file = {write_text("schema.pbtxt", "feature { name: 'a' }"), NULL, NULL};
  int64_t first, second;
  bool is_new;
  artifact.type = "Schema";
  artifact.name = "schema";
  artifact.files = &file;
  artifact.num_files = 1;
  CHECK_EQ(cst_lineage_add(store, &artifact, &first, &is_new, NULL), CST_OK);
  CHECK_EQ(cst_lineage_add(store, &artifact, &second, &is_new, NULL), CST_OK);
  CHECK(!is_new);
  CHECK_EQ(first, second);
  const cst_lineage_property property = text_property("owner", "me");
  artifact.properties = &property; /* which the first one does not say */
  artifact.num_properties = 1;
  CHECK_EQ(cst_lineage_add(store, &artifact, &second, &is_new, NULL), CST_OK);
  CHECK(is_new);
  artifact.num_properties = 0;
  (void)write_text("schema.pbtxt", "feature { name: 'b' }");
  CHECK_EQ(cst_lineage_add(store, &artifact, &second, &is_new, NULL), CST_OK);
  CHECK(is_new);
  artifact.type = "Model"; /* of which each is a new one, unless it is asked for */
  artifact.name = "model";
  CHECK_EQ(cst_lineage_add(store, &artifact, &first, &is_new, NULL), CST_OK);
  CHECK_EQ(cst_lineage_add(store, &artifact, &second, &is_new, NULL), CST_OK);
  CHECK(is_new);
  artifact.reuses = true;
  CHECK_EQ(cst_lineage_add(store, &artifact, &first, &is_new, NULL), CST_OK);
  CHECK_EQ(first, second);
  cst_lineage_free(store);
}

static size_t count_found(cst_lineage *store, const cst_lineage_query *query) {
  cst_findings *found = NULL;
  CHECK_EQ(cst_lineage_find(store, query, &found, NULL), CST_OK);
  const size_t count = cst_findings_num_rows(found);
  cst_findings_free(found);
  return count;
}

TEST(finding) {
  cst_lineage *store = new_store("find.db");
  for (int i = 0; i < 10; i++) {
    const int64_t id =
        add_artifact(store, i % 2 == 0 ? "Model" : "Examples", i % 2 == 0 ? "model" : "data", NULL);
    const cst_lineage_property span = int_property("span", i / 2);
    CHECK_EQ(cst_lineage_set(store, CST_LINEAGE_OF_ARTIFACTS, id, &span, 1, NULL), CST_OK);
  }
  cst_lineage_query query = CST_LINEAGE_QUERY_INIT;
  CHECK_EQ(count_found(store, &query), 10);
  query.type = "Model";
  CHECK_EQ(count_found(store, &query), 5);
  const cst_lineage_property span = int_property("span", 3);
  query.properties = &span;
  query.num_properties = 1;
  CHECK_EQ(count_found(store, &query), 1);
  query.type = NULL;
  CHECK_EQ(count_found(store, &query), 2);
  query.num_properties = 0;
  query.name = "d*";
  CHECK_EQ(count_found(store, &query), 5);
  query.limit = 2;
  cst_findings *newest = NULL;
  CHECK_EQ(cst_lineage_find(store, &query, &newest, NULL), CST_OK);
  CHECK_EQ(cst_findings_num_rows(newest), 2);
  CHECK_STR(cst_findings_text(newest, "reference", 1), "data@5");
  cst_findings_free(newest);
  query = (cst_lineage_query)CST_LINEAGE_QUERY_INIT;
  query.created_from = INT64_MAX;
  CHECK_EQ(count_found(store, &query), 0);
  int64_t context;
  CHECK_EQ(cst_lineage_context(store, "pipeline", "daily", &context, NULL), CST_OK);
  CHECK_EQ(cst_lineage_join(store, context, CST_LINEAGE_OF_ARTIFACTS, 4, NULL), CST_OK);
  CHECK_EQ(cst_lineage_join(store, context, CST_LINEAGE_OF_ARTIFACTS, 99, NULL), CST_NOT_FOUND);
  CHECK_EQ(cst_lineage_join(store, context, CST_LINEAGE_OF_CONTEXTS, context, NULL),
           CST_INVALID_ARGUMENT);
  query = (cst_lineage_query)CST_LINEAGE_QUERY_INIT;
  query.context = context;
  CHECK_EQ(count_found(store, &query), 1);
  query.context = 0;
  query.kind = CST_LINEAGE_OF_CONTEXTS;
  cst_findings *contexts = NULL;
  CHECK_EQ(cst_lineage_find(store, &query, &contexts, NULL), CST_OK);
  CHECK_STR(cst_findings_text(contexts, "name", 0), "daily");
  CHECK_EQ(cst_findings_number(contexts, "artifacts.id", 0), 4);
  cst_findings_free(contexts);
  cst_lineage_free(store);
}

TEST(executions_make_outputs_live) {
  cst_error error = CST_ERROR_INIT;
  cst_lineage *store = new_store("runs.db");
  for (int ending = CST_LINEAGE_COMPLETE; ending <= CST_LINEAGE_CANCELED; ending++) {
    const cst_lineage_event input = {add_artifact(store, "Examples", "data", NULL), "examples"};
    cst_lineage_execution run = CST_LINEAGE_EXECUTION_INIT;
    cst_lineage_artifact model = CST_LINEAGE_ARTIFACT_INIT;
    int64_t execution, output;
    run.type = "train";
    run.inputs = &input;
    run.num_inputs = 1;
    model.type = "Model";
    model.state = CST_LINEAGE_PENDING;
    CHECK_EQ(cst_lineage_start(store, &run, &execution, NULL), CST_OK);
    CHECK_EQ(cst_lineage_add(store, &model, &output, NULL, NULL), CST_OK);
    CHECK_EQ(cst_lineage_output(store, execution, output, "model", NULL), CST_OK);
    CHECK_EQ(cst_lineage_end(store, execution, CST_LINEAGE_RUNNING, &error), CST_INVALID_ARGUMENT);
    CHECK_EQ(cst_lineage_end(store, execution, (cst_lineage_execution_state)ending, NULL), CST_OK);
    CHECK_EQ(cst_lineage_end(store, execution, CST_LINEAGE_COMPLETE, &error), CST_STATE);
    CHECK_EQ(cst_lineage_output(store, execution, output, NULL, &error), CST_STATE);
    cst_findings *found = find_one(store, output);
    CHECK_STR(cst_findings_text(found, "state", 0),
              ending == CST_LINEAGE_COMPLETE ? "live" : "abandoned");
    cst_findings_free(found);
  }
  cst_lineage_query query = CST_LINEAGE_QUERY_INIT;
  query.kind = CST_LINEAGE_OF_EXECUTIONS;
  cst_findings *runs = NULL;
  CHECK_EQ(cst_lineage_find(store, &query, &runs, NULL), CST_OK);
  CHECK_EQ(cst_findings_num_rows(runs), 3);
  CHECK_STR(cst_findings_text(runs, "state", 2), "canceled");
  CHECK_STR(cst_findings_text(runs, "inputs.reference", 0), "data@1");
  CHECK_STR(cst_findings_text(runs, "inputs.path", 0), "examples");
  CHECK_STR(cst_findings_text(runs, "outputs.path", 0), "model");
  cst_findings_free(runs);
  cst_lineage_free(store);
}

/* ---- what came from what ---- */

static int64_t run_step(cst_lineage *store, int64_t input, const char *name) {
  const cst_lineage_event event = {input, NULL};
  cst_lineage_execution run = CST_LINEAGE_EXECUTION_INIT;
  int64_t execution;
  run.type = "step";
  run.inputs = &event;
  run.num_inputs = 1;
  CHECK_EQ(cst_lineage_start(store, &run, &execution, NULL), CST_OK);
  const int64_t output = add_artifact(store, "Data", name, NULL);
  CHECK_EQ(cst_lineage_output(store, execution, output, NULL, NULL), CST_OK);
  CHECK_EQ(cst_lineage_end(store, execution, CST_LINEAGE_COMPLETE, NULL), CST_OK);
  return output;
}

static cst_findings *trace(cst_lineage *store, int64_t artifact, uint32_t directions,
                           int64_t depth) {
  cst_findings *found = NULL;
  cst_lineage_trace_options options = CST_LINEAGE_TRACE_OPTIONS_INIT;
  options.artifacts = &artifact;
  options.num_artifacts = 1;
  options.directions = directions;
  options.depth = depth;
  CHECK_EQ(cst_lineage_trace(store, &options, &found, NULL), CST_OK);
  return found;
}

TEST(traces) {
  cst_lineage *store = new_store("trace.db");
  int64_t chain[5] = {add_artifact(store, "Data", "d", NULL)};
  for (int i = 1; i < 5; i++) {
    chain[i] = run_step(store, chain[i - 1], "d");
  }
  cst_findings *up = trace(store, chain[2], CST_LINEAGE_UP, 0);
  CHECK_EQ(cst_findings_num_rows(up), 5); /* three artifacts, two executions */
  CHECK_STR(cst_findings_text(up, "label", 0), "d@3");
  CHECK_EQ(cst_findings_number(up, "depth", 4), -2);
  CHECK_STR(cst_findings_text(up, "label", 4), "d@1");
  CHECK_STR(cst_findings_text(up, "sources.how", 0), "output");
  CHECK_STR(cst_findings_text(up, "sources.how", 1), "input");
  cst_findings_free(up);
  cst_findings *near = trace(store, chain[2], 0, 1); /* both ways, over one execution each */
  CHECK_EQ(cst_findings_num_rows(near), 5);
  CHECK_EQ(cst_findings_number(near, "depth", 4), 1);
  cst_findings_free(near);
  cst_findings *down = trace(store, chain[2], CST_LINEAGE_DOWN, 0);
  CHECK_EQ(cst_findings_num_rows(down), 5);
  CHECK_STR(cst_findings_text(down, "label", 4), "d@5");
  cst_findings_free(down);
  /* A circle, which no program makes, but a store may have. */
  cst_lineage_execution run = CST_LINEAGE_EXECUTION_INIT;
  const cst_lineage_event last = {chain[4], NULL};
  int64_t execution;
  run.type = "step";
  run.inputs = &last;
  run.num_inputs = 1;
  CHECK_EQ(cst_lineage_start(store, &run, &execution, NULL), CST_OK);
  CHECK_EQ(cst_lineage_output(store, execution, chain[0], NULL, NULL), CST_OK);
  cst_findings *all = trace(store, chain[2], CST_LINEAGE_DOWN, 0);
  CHECK_EQ(cst_findings_num_rows(all), 10);
  cst_findings_free(all);
  cst_lineage_free(store);
}
