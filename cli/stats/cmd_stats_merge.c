/* columnstone stats merge: saved statistics of parts become those of the whole. */
#include "stats/stats.h"

static cst_status merge(const cli_settings *settings, cst_error *error) {
  const cli_files files = {settings->paths, settings->num_paths, NULL};
  cli_statistics statistics;
  cst_status status = cli_statistics_read(&cli_stats_merge, settings, &files, &statistics, error);
  if (status == CST_OK) {
    status = cst_accumulator_save(statistics.accumulator, settings->output, error);
  }
  if (status == CST_OK) {
    printf("%s: %zu files, %lld rows\n", settings->output, settings->num_paths,
           (long long)cst_findings_total(statistics.features, "num_rows"));
  }
  cli_statistics_reset(&statistics);
  return status;
}

static int check_usage(const cli_settings *settings) {
  if (settings->output == NULL) {
    return cli_usage(&cli_stats_merge, "add -o merged.cststats", "no output is named");
  }
  for (size_t i = 0; i < settings->num_paths; i++) {
    if (!cli_is_saved_statistics(settings->paths[i])) {
      return cli_usage(&cli_stats_merge, "save them by: columnstone stats DATA -o x.cststats",
                       "%.200s holds no saved statistics", settings->paths[i]);
    }
  }
  return cli_would_overwrite(settings, settings->output)
             ? cli_overwrites(&cli_stats_merge, settings->output)
             : -1;
}

static int run_merge(int argc, char **argv) {
  cli_settings settings;
  cst_error error = CST_ERROR_INIT;
  int status = cli_parse(&cli_stats_merge, argc, argv, &settings);
  status = status < 0 ? check_usage(&settings) : status;
  if (status < 0) {
    status = cli_flush(merge(&settings, &error) == CST_OK ? CLI_FINE : cli_fail(&error));
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_stats_merge = {
    .name = "stats merge",
    .usage = "STATS... -o FILE",
    .summary = "Merges the saved statistics of parts of the data",
    .details =
        "STATS are files saved by `columnstone stats -o NAME.cststats` with the same options. "
        "Counts, sums, extremes, distinct counts and slices are the same as those of a single pass "
        "over all data; quantiles and frequent values stay within the same error bounds.",
    .examples =
        CLI_EXAMPLES({"columnstone stats merge before.cststats today.cststats -o all.cststats",
                      "statistics of both days"}),
    .see = "stats, stats diff",
    .options = CLI_OPTIONS(OPTION_OUTPUT, OPTION_FORCE, OPTION_LINEAGE),
    .min_paths = 1,
    .run = run_merge,
};
