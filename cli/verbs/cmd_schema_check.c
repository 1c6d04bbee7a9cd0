/* columnstone schema check: do the records fit the schema, and its tensors? */
#include <columnstone/validate.h>
#include <inttypes.h>

#include "stats/stats.h"

/* A number of all places. */
static void print_place(const cst_findings *found, size_t place) {
  const char *file = cst_findings_text(found, "places.file", place);
  int64_t record = cst_findings_number(found, "places.record", place);
  cli_print_text(stdout, file);
  if (record >= 0) { /* without a file: of all files of a table together */
    printf("%srecord %" PRId64, file[0] != '\0' ? " " : "", record);
  }
}

/* "int-domain  hour: 12 of 1000 records have ... (first: a.tfrecord record 17)", then the hint. */
static void print_anomaly(const cst_findings *found, size_t i) {
  size_t begin, end;
  const char *path = cst_findings_text(found, "path", i);
  cst_findings_items(found, "places", i, &begin, &end);
  cli_set_style(CLI_FAULT);
  printf("%s", cst_findings_text(found, "kind", i));
  cli_set_style(CLI_PLAIN);
  printf("  ");
  if (path[0] != '\0') {
    cli_print_text(stdout, path);
    printf(": ");
  }
  cli_print_text(stdout, cst_findings_text(found, "message", i));
  if (begin < end) {
    printf(" (first: ");
    print_place(found, begin);
    printf(")");
  }
  printf("\n");
  for (size_t place = begin + 1; place < end; place++) {
    const char *what = cst_findings_text(found, "places.found", place);
    printf("    also ");
    print_place(found, place);
    if (what[0] != '\0') {
      printf(": ");
      cli_print_text(stdout, what);
    }
    printf("\n");
  }
  printf("    ");
  cli_print_text(stdout, cst_findings_text(found, "hint", i));
  printf("\n");
}

static void print_all(const cst_findings *found) {
  int64_t rows = cst_findings_total(found, "num_rows");
  size_t count = cst_findings_num_rows(found);
  for (size_t i = 0; i < count; i++) {
    print_anomaly(found, i);
  }
  printf("%" PRId64 " record%s: ", rows, rows == 1 ? "" : "s");
  if (count == 0) {
    printf("no anomalies\n");
  } else {
    printf("%zu %s\n", count, count == 1 ? "anomaly" : "anomalies");
  }
}

static cst_status validate_source(const cli_settings *settings, cst_validate_options *options,
                                  cst_findings **out, cst_error *error) {
  cst_source *source;
  cst_status status =
      cli_open(settings, settings->paths + 1, settings->num_paths - 1, NULL, &source, error);
  if (status != CST_OK) {
    return status;
  }
  cli_progress progress;
  options->on_progress = cli_progress_show;
  options->progress_ctx = &progress;
  cli_progress_begin(&progress, "schema check", cst_source_total_bytes(source), false);
  status = cst_source_validate(source, options, out, error);
  cli_progress_end(&progress);
  cst_source_release(source);
  return status;
}

/* Statistics to compare with; without a path there are none. */
static cst_status read_statistics(const cli_settings *settings, const char *path,
                                  cli_statistics *out, cst_error *error) {
  const cli_files files = {&path, 1, NULL};
  return path != NULL ? cli_statistics_read(&cli_schema_check, settings, &files, out, error)
                      : CST_OK;
}

static cst_status validate_data(const cli_settings *settings, const cst_schema *schema,
                                cst_findings **out, cst_error *error) {
  cli_statistics previous = {NULL, NULL};
  cli_statistics serving = {NULL, NULL};
  cst_validate_options options = settings->validation;
  options.schema = schema;
  options.environment = settings->specs.environment;
  cst_status status =
      read_statistics(settings, settings->finding.comparison.previous, &previous, error);
  if (status == CST_OK) {
    status = read_statistics(settings, settings->finding.comparison.serving, &serving, error);
  }
  if (status == CST_OK) {
    options.previous = previous.features;
    options.serving = serving.features;
    status = validate_source(settings, &options, out, error);
  }
  cli_statistics_reset(&previous);
  cli_statistics_reset(&serving);
  return status;
}

static int check_data(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_schema *schema;
  cst_findings *found;
  if (cst_schema_open(settings->paths[0], &schema, &error) != CST_OK) {
    cli_fail(&error);
    return CLI_TROUBLE;
  }
  cst_status status = validate_data(settings, schema, &found, &error);
  cst_schema_release(schema);
  if (status != CST_OK) {
    return cli_fail(&error);
  }
  bool fine = cst_findings_num_rows(found) == 0;
  if (settings->json) {
    status = cli_print_json_findings(found, &error);
  } else {
    print_all(found);
  }
  cst_findings_free(found);
  return cli_flush(status != CST_OK ? cli_fail(&error) : fine ? CLI_FINE : CLI_FAULTS);
}

static int run_schema_check(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_schema_check, argc, argv, &settings);
  if (status < 0) {
    status = check_data(&settings);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_schema_check = {
    .name = "schema check",
    .usage = "SCHEMA FILE... [--group NAME]... [--previous STATS] [--serving STATS] [--json]",
    .summary = "Checks all records against a schema and its tensors",
    .details = "Checks types, presence, value counts, shapes, number ranges and string domains, "
               "and that every record fits every tensor of the selected groups. Prints one line "
               "per anomaly: its kind, the feature, how many records have it, and the first of "
               "them; the next line suggests a fix. Damaged records are reported as anomalies and "
               "skipped.\n\nWith --previous or --serving (statistics saved by `columnstone stats "
               "-o`), it also applies the drift_comparator and skew_comparator of the schema.",
    .examples = CLI_EXAMPLES(
        {"columnstone schema check schema.pbtxt trips.tfrecord", "check files"},
        {"columnstone schema check schema.pbtxt trips.tfrecord --previous before.cststats",
         "also check for drift"},
        {"columnstone schema check schema.pbtxt trips.tfrecord --json", "the same for programs"}),
    .see = "schema infer, verify, stats diff",
    .exits = "1 anomalies were found",
    .options = CLI_OPTIONS(OPTION_GROUPS, OPTION_ENVIRONMENT, OPTION_NO_TENSORS,
                           OPTION_IGNORE_UNEXPECTED, OPTION_PLACES, OPTION_PREVIOUS, OPTION_SERVING,
                           OPTION_FORMAT, OPTION_JSON, OPTION_THREADS, OPTION_NO_CRC,
                           OPTIONS_FORMATS, OPTIONS_VIEW, OPTION_CONTAINER, OPTIONS_LIMITS),
    .min_paths = 2,
    .run = run_schema_check,
};
