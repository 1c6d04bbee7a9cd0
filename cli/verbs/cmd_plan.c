/* columnstone plan: the splits that workers read. */
#include <columnstone/split.h>
#include <inttypes.h>

#include "cli.h"

static void print_split(const cst_split *split) {
  printf("%8" PRIu64 " %16" PRIu64 " ", split->task, split->begin);
  if (split->end == CST_SPLIT_TO_END) {
    printf("%16s %5s  ", "end", "no");
  } else {
    printf("%16" PRIu64 " %5s  ", split->end, split->exact ? "yes" : "no");
  }
  cli_print_name(stdout, split->file);
  putchar('\n');
}

static cst_status print_json_splits(const cst_splits *splits, cst_error *error) {
  cst_findings *found;
  cst_status status = cst_splits_findings(splits, &found, error);
  if (status == CST_OK) {
    status = cli_print_json_findings(found, error);
    cst_findings_free(found);
  }
  return status;
}

static void print_splits(const cst_splits *splits) {
  cli_set_style(CLI_BOLD);
  printf("%8s %16s %16s %5s  %s", "task", "begin", "end", "exact", "file");
  cli_set_style(CLI_PLAIN);
  putchar('\n');
  for (size_t i = 0; i < cst_splits_num_splits(splits); i++) {
    print_split(cst_splits_get(splits, i));
  }
}

static int plan_inputs(const cli_settings *settings) {
  cst_split_options options = CST_SPLIT_OPTIONS_INIT;
  cst_splits *splits;
  cst_error error = CST_ERROR_INIT;
  options.target_bytes = (uint64_t)settings->choice.target_bytes;
  options.format = settings->source.format;
  options.container = settings->source.container;
  if (cst_splits_plan(settings->paths, settings->num_paths, &options, &splits, &error) != CST_OK) {
    return cli_fail(&error);
  }
  cst_status status = CST_OK;
  if (settings->json) {
    status = print_json_splits(splits, &error);
  } else {
    print_splits(splits);
  }
  cst_splits_free(splits);
  return cli_flush(status == CST_OK ? CLI_FINE : cli_fail(&error));
}

static int run_plan(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_plan, argc, argv, &settings);
  if (status < 0) {
    status = plan_inputs(&settings);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_plan = {
    .name = "plan",
    .usage = "FILE... [--target N] [--json]",
    .summary = "Shows the splits that the workers of an engine read",
    .details = "A split has the records that begin in its byte range. A task is one or more splits "
               "that a worker reads together. Files up to the target size stay whole. Larger files "
               "are divided, unless they are compressed or in a format that is always read whole. "
               "If a file has an index, its splits begin exactly at records.",
    .examples =
        CLI_EXAMPLES({"columnstone plan trips.tfrecord --target 16M", "splits of at most 16 MiB"},
                     {"columnstone plan trips.tfrecord --json", "the same for programs"}),
    .see = "index, split",
    .options =
        CLI_OPTIONS(OPTION_TARGET, OPTION_JSON, OPTION_FORMAT, OPTION_CONTAINER, OPTION_LINEAGE),
    .min_paths = 1,
    .run = run_plan,
};
