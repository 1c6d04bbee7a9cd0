/* What a validation finds by statistics: drift, skew, numbers of rows and of different values. */
#include <columnstone/accumulate.h>
#include <columnstone/validate.h>

#include "harness.h"
#include "source_support.h"

static cst_source *open_rows(const char *name, const char *rows) {
  const char *path = harness_temp_path(name);
  cst_source *source;
  harness_write_file(path, rows, strlen(rows));
  CHECK_EQ(cst_source_open(&path, 1, NULL, &source, NULL), CST_OK);
  return source;
}

static cst_findings *statistics_of(const char *rows) {
  cst_source *source = open_rows("statistics.jsonl", rows);
  cst_accumulator *made;
  cst_findings *found;
  CHECK_EQ(cst_accumulator_new("statistics", NULL, 0, NULL, &made, NULL), CST_OK);
  CHECK_EQ(cst_accumulator_add_source(made, source, NULL, NULL, NULL), CST_OK);
  CHECK_EQ(cst_accumulator_finish(made, &found, NULL), CST_OK);
  cst_accumulator_free(made);
  cst_source_release(source);
  return found;
}

typedef struct setting {
  const char *path; /* NULL: of the rows */
  const char *schema, *rows, *environment;
  const cst_findings *previous, *serving;
} setting;

/* "kind path count; ..." */
static cst_status validate(const setting *s, char text[1024]) {
  cst_validate_options options = CST_VALIDATE_OPTIONS_INIT;
  cst_schema *schema;
  cst_findings *found;
  CST__TRY(cst_schema_from_text(s->schema, strlen(s->schema), &schema, NULL));
  const char *path = s->path != NULL ? s->path : harness_temp_path("rows.jsonl");
  cst_source *source;
  cst_status status = cst_source_open(&path, 1, NULL, &source, NULL);
  options.schema = schema;
  options.environment = s->environment;
  options.skip_tensors = true;
  options.previous = s->previous;
  options.serving = s->serving;
  if (status == CST_OK) {
    status = cst_source_validate(source, &options, &found, NULL);
    cst_source_release(source);
  }
  cst_schema_release(schema);
  text[0] = '\0';
  for (size_t i = 0; status == CST_OK && i < cst_findings_num_rows(found); i++) {
    (void)snprintf(text + strlen(text), 1024 - strlen(text), "%s%s %s %d", i > 0 ? "; " : "",
                   cst_findings_text(found, "kind", i), cst_findings_text(found, "path", i),
                   (int)cst_findings_number(found, "count", i));
  }
  if (status == CST_OK) {
    cst_findings_free(found);
  }
  return status;
}

static void check_anomalies(const setting *s, const char *expected) {
  char text[1024];
  harness_write_file(harness_temp_path("rows.jsonl"), s->rows, strlen(s->rows));
  CHECK_EQ(validate(s, text), CST_OK);
  CHECK_STR(text, expected);
}

static const char rules[] = "default_environment: 'T' default_environment: 'S'"
                            "feature { name: 'a' type: BYTES unique_constraints { max: 2 }"
                            "  drift_comparator { infinity_norm { threshold: 0.1 } }"
                            "  skew_comparator { infinity_norm { threshold: 0.3 } } }"
                            "feature { name: 'y' type: INT not_in_environment: 'S'"
                            "  drift_comparator { jensen_shannon_divergence { threshold: 0.1 } } }"
                            "dataset_constraints { min_examples_count: 3"
                            "  num_examples_drift_comparator { min_fraction_threshold: 0.9 } }";

TEST(data_alone) {
  const setting few = {.schema = rules, .rows = "{\"a\": \"p\", \"y\": 1}\n"};
  const setting many = {.schema = rules,
                        .rows = "{\"a\": \"p\", \"y\": 1}\n{\"a\": \"q\", \"y\": 1}\n"
                                "{\"a\": \"r\", \"y\": 1}\n"};
  const setting no_domain = {.schema = "feature { name: 'a' type: BYTES }"
                                       "dataset_constraints { max_examples_count: 1 }",
                             .rows = "{\"a\": \"p\"}\n{\"a\": \"p\"}\n"};
  check_anomalies(&few, "rows  1");
  check_anomalies(&many, "unique a 3");
  check_anomalies(&no_domain, "rows  2");
}

TEST(drift_and_skew) {
  cst_findings *previous =
      statistics_of("{\"a\": \"p\", \"y\": 1}\n{\"a\": \"p\", \"y\": 1}\n{\"a\": \"q\", \"y\": 2}\n"
                    "{\"a\": \"q\", \"y\": 2}\n");
  cst_findings *serving = statistics_of("{\"a\": \"q\"}\n");
  setting s = {.schema = rules,
               .rows = "{\"a\": \"p\", \"y\": 5}\n{\"a\": \"p\", \"y\": 5}\n"
                       "{\"a\": \"p\", \"y\": 5}\n",
               .previous = previous};
  check_anomalies(&s, "rows  3; drift y 3; drift a 3");
  s.serving = serving;
  check_anomalies(&s, "rows  3; drift y 3; drift a 3; skew a 3");
  s.environment = "S";
  s.rows = "{\"a\": \"p\"}\n{\"a\": \"q\"}\n{\"a\": \"p\"}\n{\"a\": \"q\"}\n";
  s.serving = NULL;
  check_anomalies(&s, "");
  cst_findings_free(previous);
  cst_findings_free(serving);
}

static void add_text(bytes *file, const char *id) {
  bytes features = {0};
  bytes record = {0};
  put_text(&features, "id", id);
  put_field(&record, 1, features.data, features.size);
  bytes_add_record(file, record.data, record.size);
  bytes_free(&features);
  bytes_free(&record);
}

/* A feature of two types has no statistics, and the validation goes on. */
TEST(statistics_that_cannot_be_made) {
  bytes file = {0};
  add_examples(&file, 1, 4);
  add_text(&file, "text");
  add_examples(&file, 5, 6);
  const setting s = {.path = write_bytes("mixed", &file),
                     .schema = "feature { name: 'id' type: INT unique_constraints { max: 1 } }"
                               "feature { name: 'name' type: BYTES }"
                               "feature { name: 'x' type: FLOAT }"};
  char text[1024];
  CHECK_EQ(validate(&s, text), CST_OK);
  CHECK_STR(text, "type id 1; statistics id 5");
  bytes_free(&file);
}

static int scenario(void *context) {
  char text[1024];
  return (int)validate(context, text);
}

TEST(every_allocation_failure_is_reported) {
  cst_findings *previous = statistics_of("{\"a\": \"p\", \"y\": 1}\n");
  setting s = {.schema = rules, .previous = previous, .serving = previous};
  const char *rows = "{\"a\": \"q\", \"y\": 1}\n";
  harness_write_file(harness_temp_path("rows.jsonl"), rows, strlen(rows));
  FOR_EACH_ALLOCATION_FAILURE(scenario, &s, CST_NO_MEMORY);
  cst_findings_free(previous);
}
