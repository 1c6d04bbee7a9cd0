/* columnstone schema check: do the records fit the schema, and its tensors? */
#include <columnstone/validate.h>
#include <inttypes.h>

#include "cli.h"

static void print_place(const cst_anomaly_place *place) {
  cli_print_text(stdout, place->file);
  if (place->record >= 0) { /* without a file: of all files of a table together */
    printf("%srecord %" PRId64, place->file[0] != '\0' ? " " : "", place->record);
  }
}

/* "int-domain  hour: 12 of 1000 records have ... (first: a.tfrecord record 17)", then the hint. */
static void print_anomaly(const cst_anomaly *anomaly) {
  printf("%s  ", anomaly->kind);
  if (anomaly->path[0] != '\0') {
    cli_print_text(stdout, anomaly->path);
    printf(": ");
  }
  cli_print_text(stdout, anomaly->message);
  if (anomaly->num_places > 0) {
    printf(" (first: ");
    print_place(&anomaly->places[0]);
    printf(")");
  }
  printf("\n");
  for (size_t i = 1; i < anomaly->num_places; i++) {
    printf("    also ");
    print_place(&anomaly->places[i]);
    if (anomaly->places[i].found[0] != '\0') {
      printf(": ");
      cli_print_text(stdout, anomaly->places[i].found);
    }
    printf("\n");
  }
  printf("    ");
  cli_print_text(stdout, anomaly->hint);
  printf("\n");
}

static void print_anomaly_member(const char *name, const char *text) {
  printf(", \"%s\": ", name);
  cli_json_string(stdout, text);
}

static void print_json_anomaly(const cst_anomaly *anomaly) {
  printf("{\"kind\": ");
  cli_json_string(stdout, anomaly->kind);
  print_anomaly_member("path", anomaly->path);
  print_anomaly_member("tensor", anomaly->tensor);
  print_anomaly_member("group", anomaly->group);
  print_anomaly_member("message", anomaly->message);
  print_anomaly_member("hint", anomaly->hint);
  printf(", \"count\": %" PRIu64 ", \"places\": [", anomaly->count);
  for (size_t i = 0; i < anomaly->num_places; i++) {
    const cst_anomaly_place *place = &anomaly->places[i];
    printf("%s{\"file\": ", i > 0 ? ", " : "");
    cli_json_string(stdout, place->file);
    printf(", \"record\": %" PRId64, place->record);
    print_anomaly_member("found", place->found);
    printf("}");
  }
  printf("]}");
}

static void print_validation_json(const cst_validation *validation) {
  printf("{\"records\": %" PRIu64 ", \"anomalies\": [", cst_validation_num_rows(validation));
  for (size_t i = 0; i < cst_validation_num_anomalies(validation); i++) {
    printf("%s\n  ", i > 0 ? "," : "");
    print_json_anomaly(cst_validation_anomaly(validation, i));
  }
  printf("]}\n");
}

static void print_all(const cst_validation *validation) {
  uint64_t rows = cst_validation_num_rows(validation);
  size_t count = cst_validation_num_anomalies(validation);
  for (size_t i = 0; i < count; i++) {
    print_anomaly(cst_validation_anomaly(validation, i));
  }
  printf("%" PRIu64 " record%s: ", rows, rows == 1 ? "" : "s");
  if (count == 0) {
    printf("no anomalies\n");
  } else {
    printf("%zu %s\n", count, count == 1 ? "anomaly" : "anomalies");
  }
}

static cst_status validate_data(const cli_settings *settings, const cst_schema *schema,
                                cst_validation **out, cst_error *error) {
  cst_source *source;
  cst_status status =
      cli_open(settings, settings->paths + 1, settings->num_paths - 1, NULL, &source, error);
  if (status != CST_OK) {
    return status;
  }
  cli_progress progress;
  cst_validate_options options = settings->validation;
  options.schema = schema;
  options.environment = settings->specs.environment;
  options.on_progress = cli_progress_show;
  options.progress_ctx = &progress;
  cli_progress_begin(&progress, "schema check", cst_source_total_bytes(source), false);
  status = cst_source_validate(source, &options, out, error);
  cli_progress_end(&progress);
  cst_source_release(source);
  return status;
}

static int check_data(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_schema *schema;
  cst_validation *validation;
  if (cst_schema_open(settings->paths[0], &schema, &error) != CST_OK) {
    cli_fail(&error);
    return CLI_TROUBLE;
  }
  cst_status status = validate_data(settings, schema, &validation, &error);
  cst_schema_release(schema);
  if (status != CST_OK) {
    return cli_fail(&error);
  }
  bool fine = cst_validation_num_anomalies(validation) == 0;
  if (settings->json) {
    print_validation_json(validation);
  } else {
    print_all(validation);
  }
  cst_validation_free(validation);
  return cli_flush(fine ? CLI_FINE : CLI_FAULTS);
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
    .usage = "SCHEMA FILE... [--group NAME]... [--json]",
    .summary = "Compares all the records with a schema, and with its tensors",
    .details =
        "Types, presence, numbers of values, shapes, domains of numbers and strings; and that "
        "every\n"
        "record fits every tensor of the groups (those that the features make by themselves, "
        "too).\n"
        "One line per anomaly: its kind, the feature, how many records have it, the first of "
        "them;\n"
        "below it what to change. Damaged records are anomalies as well, and passed over. "
        "Exit status\n"
        "1 if there are anomalies.\n",
    .options =
        CLI_OPTIONS(OPTION_GROUPS, OPTION_ENVIRONMENT, OPTION_NO_TENSORS, OPTION_IGNORE_UNEXPECTED,
                    OPTION_PLACES, OPTION_FORMAT, OPTION_JSON, OPTION_THREADS, OPTION_NO_CRC,
                    OPTIONS_FORMATS, OPTIONS_VIEW, OPTION_CONTAINER, OPTIONS_LIMITS),
    .min_paths = 2,
    .run = run_schema_check,
};
