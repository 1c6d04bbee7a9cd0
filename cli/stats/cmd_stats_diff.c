/* columnstone stats diff: what changed between two statistics. */
#include <columnstone/statistics.h>
#include <stdlib.h>
#include <string.h>

#include "stats/stats.h"

/* ---- options ---- */

/* That each threshold is NAME=NUMBER. -1: go on; else the exit status. */
static int check_thresholds(const cli_comparison *comparison) {
  for (size_t i = 0; i < comparison->num_thresholds; i++) {
    if (strchr(comparison->thresholds[i], '=') == NULL) {
      return cli_usage(&cli_stats_diff, "write --threshold psi=0.2,ks=0.1",
                       "'%.60s' is no threshold", comparison->thresholds[i]);
    }
  }
  return -1;
}

typedef struct limits {
  cst_option *list;
  size_t count;
  char *names; /* all of them, one after the other */
} limits;

static cst_status read_limits(const cli_settings *settings, limits *out, cst_error *error) {
  const cli_comparison *comparison = &settings->finding.comparison;
  size_t size = 1;
  for (size_t i = 0; i < comparison->num_thresholds; i++) {
    size += strlen(comparison->thresholds[i]) + 1;
  }
  *out = (limits){.list = calloc(comparison->num_thresholds + 2, sizeof *out->list),
                  .names = calloc(size, 1)};
  if (out->list == NULL || out->names == NULL) {
    return cli_fail_memory(error);
  }
  if (comparison->kind != NULL) {
    out->list[out->count++] = (cst_option){"kind", comparison->kind, NULL};
  }
  if (settings->specs.environment != NULL) {
    out->list[out->count++] = (cst_option){"environment", settings->specs.environment, NULL};
  }
  char *name = out->names;
  for (size_t i = 0; i < comparison->num_thresholds; i++) {
    const char *text = comparison->thresholds[i];
    const size_t length = strcspn(text, "=");
    memcpy(name, text, length);
    out->list[out->count++] = (cst_option){name, text + length + 1, NULL};
    name += length + 1;
  }
  return CST_OK;
}

/* ---- comparing ---- */

static cst_status compare_by_schema(const cli_settings *settings, const cst_findings *before,
                                    const cst_findings *after, cst_findings **out,
                                    cst_error *error) {
  cst_compare_options options = CST_COMPARE_OPTIONS_INIT;
  cst_schema *schema = NULL;
  limits all = {NULL, 0, NULL};
  cst_status status = cli_read_schema(settings, &schema, error);
  if (status == CST_OK) {
    status = read_limits(settings, &all, error);
  }
  if (status == CST_OK) {
    options.schema = schema;
    options.options = all.list;
    options.num_options = all.count;
    status = cst_statistics_compare(before, after, &options, out, error);
  }
  cst_schema_release(schema);
  free(all.list);
  free(all.names);
  return status;
}

static cli_files files_of(const cli_settings *settings, size_t side) {
  cli_files files = {NULL, 0, NULL};
  files.paths = cli_paths_of(settings, side, &files.count);
  return files;
}

/* Both tables side by side, with what is between them. */
static cst_status write_page(const cli_settings *settings, const cli_statistics both[2],
                             const cst_findings *drift, cst_error *error) {
  cst_statistics_named tables[2];
  char rooms[2][CLI_DATA_NAME];
  for (size_t i = 0; i < 2; i++) {
    const cli_files files = files_of(settings, i);
    tables[i] = (cst_statistics_named){cli_data_name(&files, rooms[i]), both[i].features};
  }
  return cli_write_page(settings, tables, 2, drift, error);
}

static cst_status compare_files(const cli_settings *settings, cst_findings **out,
                                cst_error *error) {
  cli_statistics both[2] = {{NULL, NULL}, {NULL, NULL}};
  cst_status status = CST_OK;
  for (size_t i = 0; i < 2 && status == CST_OK; i++) {
    const cli_files files = files_of(settings, i);
    status = cli_statistics_read(&cli_stats_diff, settings, &files, &both[i], error);
  }
  if (status == CST_OK) {
    status = compare_by_schema(settings, both[0].features, both[1].features, out, error);
  }
  if (status == CST_OK && settings->finding.page != NULL) {
    status = write_page(settings, both, *out, error);
  }
  cli_statistics_reset(&both[0]);
  cli_statistics_reset(&both[1]);
  return status;
}

static cst_status tell(const cli_settings *settings, const cst_findings *drift, cst_error *error) {
  if (settings->output != NULL) {
    return cli_write_findings(settings, drift, error);
  }
  if (settings->json) {
    return cli_print_json_findings(drift, error);
  }
  if (settings->finding.page == NULL) {
    cli_print_drift(drift);
  }
  return CST_OK;
}

static int diff(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_findings *drift = NULL;
  cst_status status = compare_files(settings, &drift, &error);
  if (status == CST_OK) {
    status = tell(settings, drift, &error);
  }
  const bool is_anomalous = cst_findings_total(drift, "num_anomalies") > 0;
  cst_findings_free(drift);
  return cli_flush(status != CST_OK ? cli_fail(&error) : is_anomalous ? CLI_FAULTS : CLI_FINE);
}

static int run_diff(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_stats_diff, argc, argv, &settings);
  if (status < 0 && cli_num_arguments(&settings) > 2) {
    status = cli_usage(&cli_stats_diff, "merge those of several files by `columnstone stats merge`",
                       "two statistics are compared, not %zu", cli_num_arguments(&settings));
  }
  status = status < 0 ? cli_check_accumulator_options(&cli_stats_diff, &settings.finding) : status;
  status = status < 0 ? check_thresholds(&settings.finding.comparison) : status;
  if (status < 0 && settings.output != NULL) {
    status = cli_check_output(&cli_stats_diff, &settings, settings.output);
  }
  status = status < 0 ? cli_check_page(&cli_stats_diff, &settings) : status;
  status = status < 0 ? diff(&settings) : status;
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_stats_diff = {
    .name = "stats diff",
    .usage = "BEFORE AFTER [--schema FILE] [--kind NAME] [--threshold NAME=X,...] [--by A,B] "
             "[--html FILE] [--json | -o FILE]",
    .summary = "Compares two statistics feature by feature and checks thresholds",
    .details = "BEFORE and AFTER are data, or statistics saved by `columnstone stats -o`. Prints "
               "one line per feature, the largest change first, with a score from 0 to 1. --json "
               "prints the whole table, -o writes it, and --html writes a report of both side by "
               "side.\n\nThresholds come from the schema (drift_comparator, or skew_comparator "
               "with --kind skew; unique_constraints; dataset_constraints), and from --threshold, "
               "which applies to all features.",
    .examples = CLI_EXAMPLES(
        {"columnstone stats diff before.cststats today.cststats", "what changed"},
        {"columnstone stats diff before.cststats trips.tfrecord --threshold psi=0.2,ks=0.1",
         "fail if a feature drifts"},
        {"columnstone stats diff before.cststats today.cststats --html drift.html",
         "a report in HTML"}),
    .see = "stats, schema check",
    .exits = "1 a threshold is exceeded, or a record is damaged",
    .options = CLI_OPTIONS(OPTION_SCHEMA, OPTION_KIND, OPTION_ENVIRONMENT, OPTION_THRESHOLD,
                           OPTION_STATS_COLUMNS, OPTION_BY, OPTION_WEIGHT, OPTION_HTML,
                           OPTION_OPTION, OPTION_OUTPUT, OPTION_TO, OPTION_FORCE, OPTION_JSON,
                           OPTION_FORMAT, OPTION_THREADS, OPTION_NO_CRC, OPTIONS_FORMATS,
                           OPTIONS_MESSAGE, OPTIONS_VIEW, OPTION_CONTAINER, OPTIONS_LIMITS),
    .min_paths = 2,
    .run = run_diff,
};
