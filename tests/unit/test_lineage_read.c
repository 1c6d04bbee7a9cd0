/* Binding views to examples, and reading them: every rule of choice, and who violates it. */
#include "lineage_support.h"
#include "view_support.h"

static const char other_text[] =
    "from message shop.Session\noutput queries = ragged(event.query)\n";

static int64_t add_view(cst_lineage *store, const char *name, const char *text) {
  cst_view *view = NULL;
  cst_error error = CST_ERROR_INIT;
  const view_case made = {.text = text};
  CHECK_EQ(view_of_case(&made, &view, &error), CST_OK);
  char path[4096];
  (void)snprintf(path, sizeof path, "%s/%s.cstv", harness_temp_dir(), name);
  CHECK_EQ(cst_view_save(view, path, NULL), CST_OK);
  cst_view_release(view);
  return add_artifact(store, "DataView", name, path);
}

typedef struct given_examples {
  const char *name;
  const char *payload;   /* payload_format; NULL: not said */
  const char *message;   /* read.message */
  const char *container; /* read.container */
} given_examples;

static int64_t add_examples(cst_lineage *store, const given_examples *given) {
  cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
  const char *train = write_text("train.tfrecord", "t");
  const cst_lineage_file files[] = {{train, "train", NULL},
                                    {write_text("eval.tfrecord", "e"), "eval", NULL},
                                    {write_text("shop.desc", "d"), NULL, "descriptors"}};
  cst_lineage_property properties[3];
  size_t count = 0;
  if (given->payload != NULL) {
    properties[count++] = text_property("payload_format", given->payload);
  }
  if (given->message != NULL) {
    properties[count++] = text_property("read.message", given->message);
  }
  if (given->container != NULL) {
    properties[count++] = text_property("read.container", given->container);
  }
  artifact.type = "Examples";
  artifact.name = given->name;
  artifact.files = files;
  artifact.num_files = given->message != NULL ? 3 : 2;
  artifact.properties = properties;
  artifact.num_properties = count;
  int64_t id = 0;
  CHECK_EQ(cst_lineage_add(store, &artifact, &id, NULL, NULL), CST_OK);
  return id;
}

static const given_examples sessions = {"sessions", "FORMAT_PROTO", "shop.Session", NULL};

static const char *option_of(const cst_lineage_reading *reading, const char *name) {
  for (size_t i = 0; i < cst_lineage_reading_num_options(reading); i++) {
    const cst_option *option = cst_lineage_reading_option(reading, i);
    if (strcmp(option->name, name) == 0) {
      return option->value;
    }
  }
  return NULL;
}

static cst_lineage_reading *read_all(cst_lineage *store, const int64_t *ids, size_t count,
                                     const cst_lineage_read_options *options) {
  cst_lineage_reading *reading = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst_lineage_read(store, ids, count, options, &reading, &error);
  CHECK_STR(status == CST_OK ? "" : error.message, "");
  return reading;
}

TEST(a_view_says_what_it_reads) {
  cst_lineage *store = new_store("view.db");
  const int64_t view = add_view(store, "ranking", ranking_text);
  CHECK_EQ(add_view(store, "ranking", ranking_text), view); /* the same content is the same view */
  const int64_t other = add_view(store, "other", other_text);
  CHECK(other != view);
  cst_findings *found = find_one(store, view);
  CHECK_EQ(strlen(cst_findings_text(found, "digest", 0)), 64);
  CHECK_STR(cst_findings_text(found, "properties.text", 0), "message");
  CHECK_STR(cst_findings_text(found, "properties.text", 1), "shop.Session");
  CHECK_STR(cst_findings_text(found, "fields.output", 0), "label");
  CHECK_STR(cst_findings_text(found, "fields.path", 0), "event.clicked");
  cst_findings_free(found);
  static const struct {
    const char *path;
    size_t views;
  } fields[] = {{"event.query", 2}, {"event.clicked", 1}, {"event", 2}, {"id", 0}, {"eve", 0}};
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
    cst_lineage_query query = CST_LINEAGE_QUERY_INIT;
    query.source_path = fields[i].path;
    CHECK_EQ(cst_lineage_find(store, &query, &found, NULL), CST_OK);
    CHECK_EQ(cst_findings_num_rows(found), fields[i].views);
    cst_findings_free(found);
  }
  cst_error error = CST_ERROR_INIT;
  cst_lineage_artifact wrong = CST_LINEAGE_ARTIFACT_INIT;
  const cst_lineage_file file = {write_text("no.cstv", "no view"), NULL, NULL};
  int64_t id;
  wrong.type = "DataView";
  wrong.files = &file;
  wrong.num_files = 1;
  CHECK_EQ(cst_lineage_add(store, &wrong, &id, NULL, &error), CST_CORRUPT);
  cst_lineage_free(store);
}

TEST(bound_examples) {
  cst_lineage *store = new_store("bound.db");
  const int64_t view = add_view(store, "ranking", ranking_text);
  const int64_t raw = add_examples(store, &sessions);
  int64_t bound, again, named;
  CHECK_EQ(cst_lineage_bind(store, raw, view, NULL, &bound, NULL), CST_OK);
  CHECK(bound != raw);
  CHECK_EQ(cst_lineage_bind(store, raw, view, NULL, &again, NULL), CST_OK);
  CHECK_EQ(again, bound);
  CHECK_EQ(cst_lineage_bind(store, raw, view, "named", &named, NULL), CST_OK);
  CHECK(named != bound);
  cst_findings *first = find_one(store, raw);
  cst_findings *second = find_one(store, bound);
  CHECK_STR(cst_findings_text(second, "reference", 0), "sessions@2");
  CHECK_STR(cst_findings_text(second, "digest", 0), cst_findings_text(first, "digest", 0));
  CHECK_STR(cst_findings_text(second, "uri", 0), cst_findings_text(first, "uri", 0));
  CHECK_STR(cst_findings_text(second, "references.role", 0), "view");
  CHECK_STR(cst_findings_text(second, "references.reference", 0), "ranking@1");
  CHECK_STR(cst_findings_text(second, "properties.name", 0), "data_view_create_time_since_epoch");
  CHECK_STR(cst_findings_text(second, "properties.name", 2), "data_view_uri");
  CHECK_STR(cst_findings_text(second, "properties.text", 2), harness_temp_path("ranking.cstv"));
  cst_findings_free(first);
  cst_findings_free(second);
  cst_lineage_reading *reading = read_all(store, &bound, 1, NULL);
  CHECK_EQ(cst_lineage_reading_num_paths(reading), 2);
  CHECK_STR(cst_lineage_reading_path(reading, 1), harness_temp_path("eval.tfrecord"));
  CHECK_STR(option_of(reading, "view"), harness_temp_path("ranking.cstv"));
  CHECK_STR(option_of(reading, "message"), NULL); /* the view brings it */
  size_t count;
  const int64_t *needed = cst_lineage_reading_artifacts(reading, &count);
  CHECK_EQ(count, 2);
  CHECK_EQ(needed[0], bound);
  CHECK_EQ(needed[1], view);
  cst_lineage_reading_free(reading);
  cst_lineage_free(store);
}

TEST(each_reader_chooses) {
  cst_lineage *store = new_store("choice.db");
  const int64_t view = add_view(store, "ranking", ranking_text);
  const int64_t other = add_view(store, "other", other_text);
  const int64_t raw = add_examples(store, &sessions);
  int64_t bound;
  CHECK_EQ(cst_lineage_bind(store, raw, view, NULL, &bound, NULL), CST_OK);
  cst_lineage_read_options options = CST_LINEAGE_READ_OPTIONS_INIT;
  options.choice = CST_LINEAGE_AS_IS;
  const int64_t both[] = {raw, bound};
  cst_lineage_reading *reading = read_all(store, both, 2, &options);
  CHECK_EQ(cst_lineage_reading_num_paths(reading), 4);
  CHECK_STR(option_of(reading, "view"), NULL);
  CHECK_STR(option_of(reading, "message"), "shop.Session");
  CHECK_STR(option_of(reading, "format"), "message");
  CHECK_STR(option_of(reading, "descriptors"), harness_temp_path("shop.desc"));
  cst_lineage_reading_free(reading);
  options.choice = CST_LINEAGE_BY_VIEW;
  options.view = other;
  reading = read_all(store, both, 2, &options);
  CHECK_STR(option_of(reading, "view"), harness_temp_path("other.cstv"));
  cst_lineage_reading_free(reading);
  const char *const train[] = {"train"};
  options.choice = CST_LINEAGE_AS_BOUND;
  options.splits = train;
  options.num_splits = 1;
  reading = read_all(store, &raw, 1, &options);
  CHECK_EQ(cst_lineage_reading_num_paths(reading), 1);
  CHECK_STR(cst_lineage_reading_path(reading, 0), harness_temp_path("train.tfrecord"));
  CHECK_STR(option_of(reading, "view"), NULL);
  cst_lineage_reading_free(reading);
  cst_lineage_free(store);
}

/* Nothing is chosen by its age: whoever violates a rule is named. */
TEST(rules) {
  cst_error error = CST_ERROR_INIT;
  cst_lineage_reading *reading;
  cst_lineage *store = new_store("rules.db");
  const int64_t view = add_view(store, "ranking", ranking_text);
  const int64_t other = add_view(store, "other", other_text);
  const int64_t raw = add_examples(store, &sessions);
  const int64_t plain = add_examples(store, &(given_examples){"plain", "FORMAT_TF_EXAMPLE", 0, 0});
  const int64_t lines =
      add_examples(store, &(given_examples){"lines", "FORMAT_PROTO", "shop.Session", "lines"});
  const int64_t events =
      add_examples(store, &(given_examples){"events", "FORMAT_PROTO", "shop.Event", NULL});
  const int64_t odd = add_examples(store, &(given_examples){"odd", "FORMAT_ODD", NULL, NULL});
  int64_t first, second, bound;
  CHECK_EQ(cst_lineage_bind(store, raw, view, "a", &first, NULL), CST_OK);
  CHECK_EQ(cst_lineage_bind(store, raw, other, "b", &second, NULL), CST_OK);
  const struct {
    int64_t ids[2];
    cst_status status;
    const char *says;
  } cases[] = {
      {{raw, view}, CST_INVALID_ARGUMENT, "ranking@1 is of type DataView, not Examples"},
      {{raw, 999}, CST_NOT_FOUND, "no artifact 999"},
      {{raw, plain}, CST_INVALID_ARGUMENT, "sessions@1 and plain@1 have different payloads"},
      {{raw, lines}, CST_INVALID_ARGUMENT, "sessions@1 and lines@1 have different containers"},
      {{raw, events}, CST_INVALID_ARGUMENT, "sessions@1 and events@1 have different messages"},
      {{odd, odd}, CST_UNSUPPORTED, "payload_format 'FORMAT_ODD'"},
      {{first, raw}, CST_INVALID_ARGUMENT, "some are bound to a view, but not: sessions@1"},
      {{first, second}, CST_INVALID_ARGUMENT, "a@1 and b@1 are bound to different views"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CHECK_EQ(cst_lineage_read(store, cases[i].ids, 2, NULL, &reading, &error), cases[i].status);
    CHECK_CONTAINS(error.message, cases[i].says);
    CHECK(reading == NULL);
  }
  CHECK_EQ(cst_lineage_bind(store, plain, view, NULL, &bound, &error), CST_SCHEMA);
  CHECK_CONTAINS(error.message, "ranking@1 reads message; plain@1 holds example");
  CHECK_EQ(cst_lineage_bind(store, events, view, NULL, &bound, &error), CST_SCHEMA);
  CHECK_EQ(cst_lineage_bind(store, raw, plain, NULL, &bound, &error), CST_INVALID_ARGUMENT);
  cst_lineage_read_options options = CST_LINEAGE_READ_OPTIONS_INIT;
  options.choice = CST_LINEAGE_BY_VIEW;
  options.view = view;
  CHECK_EQ(cst_lineage_read(store, &plain, 1, &options, &reading, &error), CST_SCHEMA);
  const char *const absent[] = {"test"};
  options = (cst_lineage_read_options)CST_LINEAGE_READ_OPTIONS_INIT;
  options.splits = absent;
  options.num_splits = 1;
  CHECK_EQ(cst_lineage_read(store, &plain, 1, &options, &reading, &error), CST_NOT_FOUND);
  CHECK_CONTAINS(error.message, "'test'");
  cst_lineage_free(store);
}

/* Two views of the same content are no choice. */
TEST(the_same_view_twice) {
  cst_lineage *store = new_store("twice.db");
  const int64_t a = add_view(store, "a", ranking_text);
  const int64_t b = add_view(store, "b", ranking_text);
  const int64_t raw = add_examples(store, &sessions);
  int64_t bound[2];
  CHECK(a != b);
  CHECK_EQ(cst_lineage_bind(store, raw, a, NULL, &bound[0], NULL), CST_OK);
  CHECK_EQ(cst_lineage_bind(store, raw, b, NULL, &bound[1], NULL), CST_OK);
  cst_lineage_reading *reading = read_all(store, bound, 2, NULL);
  CHECK(option_of(reading, "view") != NULL);
  cst_lineage_reading_free(reading);
  cst_lineage_free(store);
}

/* Examples with these descriptors, and a schema by a reference (or 0). */
static int64_t add_parts(cst_lineage *store, const char *descriptors, int64_t schema) {
  cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
  const cst_lineage_file files[] = {{write_text("parts.tfrecord", "t"), NULL, NULL},
                                    {descriptors, NULL, "descriptors"}};
  const cst_lineage_reference reference = {"schema", schema};
  int64_t id = 0;
  artifact.type = "Examples";
  artifact.name = "parts";
  artifact.files = files;
  artifact.num_files = descriptors != NULL ? 2 : 1;
  artifact.references = &reference;
  artifact.num_references = schema != 0 ? 1 : 0;
  CHECK_EQ(cst_lineage_add(store, &artifact, &id, NULL, NULL), CST_OK);
  return id;
}

/* What records mean is never taken from the first artifact for the others. */
TEST(descriptors_and_schemas_are_the_same) {
  cst_error error = CST_ERROR_INIT;
  cst_lineage_reading *reading;
  cst_lineage *store = new_store("parts.db");
  const int64_t ints = add_artifact(store, "Schema", "ints", write_text("ints.pbtxt", "i"));
  const int64_t texts = add_artifact(store, "Schema", "texts", write_text("texts.pbtxt", "t"));
  const int64_t first = add_parts(store, write_text("a.proto", "one"), 0);
  const int64_t copy = add_parts(store, write_text("b.proto", "one"), 0);
  const int64_t other = add_parts(store, write_text("c.proto", "two"), 0);
  const int64_t none = add_parts(store, NULL, 0);
  const int64_t of_ints = add_parts(store, NULL, ints);
  const int64_t of_ints_too = add_parts(store, NULL, ints);
  const int64_t of_texts = add_parts(store, NULL, texts);
  const struct {
    int64_t ids[2];
    const char *says; /* NULL: nothing */
  } cases[] = {
      {{first, copy}, NULL},
      {{none, none}, NULL},
      {{of_ints, of_ints_too}, NULL},
      {{first, other}, "parts@1 and parts@3 have different descriptors"},
      {{first, none}, "have different descriptors"},
      {{of_ints, of_texts}, "parts@5 and parts@7 have different schemas"},
      {{none, of_texts}, "have different schemas"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cst_status status = cst_lineage_read(store, cases[i].ids, 2, NULL, &reading, &error);
    CHECK_EQ(status, cases[i].says != NULL ? CST_INVALID_ARGUMENT : CST_OK);
    CHECK_CONTAINS(cases[i].says != NULL ? error.message : "",
                   cases[i].says != NULL ? cases[i].says : "");
    cst_lineage_reading_free(reading);
    cst_lineage_read_options own = CST_LINEAGE_READ_OPTIONS_INIT;
    own.has_own_parts = true;
    CHECK_EQ(cst_lineage_read(store, cases[i].ids, 2, &own, &reading, NULL), CST_OK);
    cst_lineage_reading_free(reading);
  }
  cst_lineage_free(store);
}

/* References may be given by hand: two views are no choice either. */
TEST(bound_to_two_views_at_once) {
  cst_error error = CST_ERROR_INIT;
  cst_lineage_reading *reading;
  cst_findings *faults;
  cst_lineage *store = new_store("both.db");
  const cst_lineage_reference views[] = {{"view", add_view(store, "a", ranking_text)},
                                         {"view", add_view(store, "b", other_text)}};
  const cst_lineage_file file = {write_text("both.tfrecord", "t"), NULL, NULL};
  cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
  int64_t id;
  artifact.type = "Examples";
  artifact.name = "both";
  artifact.files = &file;
  artifact.num_files = 1;
  artifact.references = views;
  artifact.num_references = 2;
  CHECK_EQ(cst_lineage_add(store, &artifact, &id, NULL, NULL), CST_OK);
  CHECK_EQ(cst_lineage_read(store, &id, 1, NULL, &reading, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "both@1 is bound to 2 views at once");
  CHECK_EQ(cst_lineage_check(store, false, &faults, NULL), CST_OK);
  CHECK_EQ(cst_findings_num_rows(faults), 1);
  CHECK_STR(cst_findings_text(faults, "fault", 0), "is bound to several views");
  cst_findings_free(faults);
  cst_lineage_free(store);
}
