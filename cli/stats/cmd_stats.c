/* columnstone stats: what is in the data. */
#include <columnstone/statistics.h>
#include <string.h>

#include "stats/stats.h"

/* True if -o and --to mean TFDV's proto. */
static bool is_to_tfdv(const cli_settings *settings) {
  const char *format = settings->sink.format;
  return settings->output != NULL &&
         (format != NULL ? strcmp(format, "tfdv") == 0 : cli_names_tfdv(settings->output));
}

static cst_status write_output(const cli_settings *settings, const cli_statistics *statistics,
                               cst_error *error) {
  const cst_statistics_named table = {NULL, statistics->features};
  if (is_to_tfdv(settings)) {
    return cst_statistics_save_tfdv(&table, 1, settings->output, error);
  }
  if (settings->sink.format != NULL || !cli_names_saved_statistics(settings->output)) {
    return cli_write_findings(settings, statistics->features, error);
  }
  return statistics->accumulator != NULL
             ? cst_accumulator_save(statistics->accumulator, settings->output, error)
             : cli_fail_argument(error, "write them in another format: -o x.arrow, x.jsonl, x.pb",
                                 "TFDV's statistics cannot be saved to be merged");
}

static cst_status tell(const cli_settings *settings, const cli_files *files,
                       const cli_statistics *statistics, cst_error *error) {
  if (settings->finding.page != NULL) {
    char room[CLI_DATA_NAME];
    const cst_statistics_named named = {.name = cli_data_name(files, room),
                                        .features = statistics->features};
    cst_status status = cli_write_page(settings, &named, 1, NULL, error);
    if (status != CST_OK || (settings->output == NULL && !settings->json)) {
      return status;
    }
  }
  if (settings->output != NULL) {
    return write_output(settings, statistics, error);
  }
  if (settings->json) {
    return cli_print_json_findings(statistics->features, error);
  }
  cli_print_stats(statistics->features);
  return CST_OK;
}

static int stats_of(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cli_dropped dropped = {.out = stderr};
  const cli_files files = {settings->paths, settings->num_paths, &dropped};
  cli_statistics statistics;
  cst_status status = cli_statistics_read(&cli_stats, settings, &files, &statistics, &error);
  if (status == CST_OK) {
    status = tell(settings, &files, &statistics, &error);
  }
  cli_statistics_reset(&statistics);
  return cli_flush(status != CST_OK ? cli_fail(&error) : dropped.count > 0 ? CLI_FAULTS : CLI_FINE);
}

static int run_stats(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_stats, argc, argv, &settings);
  if (status < 0 && settings.output == NULL && settings.sink.format != NULL) {
    status = cli_usage(&cli_stats, NULL, "--to goes with -o");
  }
  status = status < 0 ? cli_check_accumulator_options(&cli_stats, &settings.finding) : status;
  if (status < 0 && settings.output != NULL) {
    status = cli_check_output(&cli_stats, &settings, settings.output);
  }
  status = status < 0 ? cli_check_page(&cli_stats, &settings) : status;
  status = status < 0 ? stats_of(&settings) : status;
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_stats = {
    .name = "stats",
    .usage = "FILE... [--columns A,B] [--by A,B] [--weight COLUMN] [--html FILE] [--json | -o FILE "
             "[--to NAME]]",
    .summary = "Computes statistics: presence, numbers, quantiles, frequent values",
    .details = "Prints one line per feature, for all rows and for each slice of --by. Inputs are "
               "data, statistics saved by -o (.cststats; several are merged), or TFDV statistics "
               "(.pb). -o also writes TFDV statistics, if the name ends in .pb or with --to tfdv. "
               "--html writes a report: a single file for any browser.\n\n--json prints the whole "
               "table; -o writes it in any format that can store it. For the options of -O, see "
               "\"statistics\" in the output of `columnstone accumulate`.",
    .examples = CLI_EXAMPLES({"columnstone stats trips.tfrecord", "one line per feature"},
                             {"columnstone stats trips.tfrecord --by company --html report.html",
                              "a report in HTML, with slices"},
                             {"columnstone stats trips.tfrecord -o today.cststats",
                              "save statistics to compare or merge them later"}),
    .see = "stats diff, stats merge, accumulate",
    .exits = "1 a record is damaged; also if --on-error skip left out records",
    .options =
        CLI_OPTIONS(OPTION_STATS_COLUMNS, OPTION_BY, OPTION_WEIGHT, OPTION_HTML, OPTION_OPTION,
                    OPTION_OUTPUT, OPTION_TO, OPTION_FORCE, OPTION_JSON, OPTION_SCHEMA,
                    OPTION_FORMAT, OPTION_THREADS, OPTION_NO_CRC, OPTIONS_FORMATS, OPTIONS_MESSAGE,
                    OPTIONS_VIEW, OPTION_CONTAINER, OPTIONS_RECOVERY, OPTIONS_LIMITS),
    .min_paths = 1,
    .run = run_stats,
};
