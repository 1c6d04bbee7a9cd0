/* columnstone count: records and bytes of each file, without decoding. */
#include <inttypes.h>

#include "cli.h"

static void print_count(int64_t records, int64_t record_bytes, int64_t file_bytes,
                        const char *name) {
  printf("%12" PRId64 " %16" PRId64 " %16" PRId64 "  ", records, record_bytes, file_bytes);
  cli_print_text(stdout, name);
  putchar('\n');
}

static void print_files(const cst_findings *files, bool with_total) {
  size_t count = cst_findings_num_rows(files);
  if (count > 0) {
    cli_set_style(CLI_BOLD);
    printf("%12s %16s %16s  %s", "records", "record bytes", "file bytes", "file");
    cli_set_style(CLI_PLAIN);
    putchar('\n');
  }
  for (size_t i = 0; i < count; i++) {
    print_count(cst_findings_number(files, "records", i),
                cst_findings_number(files, "record_bytes", i),
                cst_findings_number(files, "file_bytes", i), cst_findings_text(files, "file", i));
  }
  if (with_total && count > 1) {
    print_count(cst_findings_total(files, "records"), cst_findings_total(files, "record_bytes"),
                cst_findings_total(files, "file_bytes"), "total");
  }
}

static int count_inputs(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_source *source;
  cst_findings *files;
  cli_progress progress;
  if (cli_open(settings, settings->paths, settings->num_paths, NULL, &source, &error) != CST_OK) {
    return cli_fail(&error);
  }
  cli_progress_begin(&progress, "count", cst_source_total_bytes(source), false);
  cst_status status = cst_source_count(source, cli_progress_show, &progress, &files, &error);
  cli_progress_end(&progress);
  cst_source_release(source);
  if (settings->json) {
    status = cli_print_json_scan(files, status, &error);
  } else {
    print_files(files, status == CST_OK);
  }
  cst_findings_free(files);
  return cli_flush(status == CST_OK ? CLI_FINE : cli_fail(&error));
}

static int run_count(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_count, argc, argv, &settings);
  if (status < 0) {
    status = count_inputs(&settings);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_count = {
    .name = "count",
    .usage = "FILE... [--json]",
    .summary = "Counts records and bytes per file without decoding them",
    .details = "Checks the checksum of each record's length, and that each file ends at the end of "
               "a record. Stops at the first fault; use `verify` to check the contents. Files in "
               "other formats are read to count their rows.",
    .examples = CLI_EXAMPLES(
        {"columnstone count trips-*.tfrecord.gz", "records and bytes of each file, and the totals"},
        {"columnstone count trips.tfrecord --json", "the same for programs"}),
    .see = "verify, info",
    .exits = "1 a file is damaged",
    .options =
        CLI_OPTIONS(OPTION_JSON, OPTION_FORMAT, OPTIONS_FORMATS, OPTION_CONTAINER, OPTIONS_LIMITS),
    .min_paths = 1,
    .run = run_count,
};
