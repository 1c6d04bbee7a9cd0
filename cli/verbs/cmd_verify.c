/* columnstone verify: every checksum, every record; one line per fault, up to a bound. */
#include <inttypes.h>

#include "cli.h"

static const char *text_of(const cst_findings *faults, const char *column, size_t i) {
  const char *text = cst_findings_text(faults, column, i);
  return text != NULL ? text : "";
}

static void print_fault(const cst_findings *faults, size_t i) {
  cst_error error = CST_ERROR_INIT;
  error.record = cst_findings_number(faults, "record", i);
  error.offset = cst_findings_number(faults, "offset", i);
  error.line = cst_findings_number(faults, "line", i);
  error.column = cst_findings_number(faults, "column", i);
  snprintf(error.file, sizeof error.file, "%s", text_of(faults, "file", i));
  snprintf(error.path, sizeof error.path, "%s", text_of(faults, "path", i));
  snprintf(error.message, sizeof error.message, "%s", text_of(faults, "message", i));
  snprintf(error.hint, sizeof error.hint, "%s", text_of(faults, "hint", i));
  cli_print_error(stdout, &error);
  printf(" [");
  cli_set_style(CLI_FAULT);
  printf("%s", text_of(faults, "kind", i));
  cli_set_style(CLI_PLAIN);
  printf("]\n");
}

static void print_faults(const cst_findings *faults) {
  int64_t left_out = cst_findings_total(faults, "left_out");
  for (size_t i = 0; i < cst_findings_num_rows(faults); i++) {
    print_fault(faults, i);
  }
  if (left_out > 0) {
    printf("... and %" PRId64 " more (--max-faults)\n", left_out);
  }
}

static void print_verify_end(const cst_findings *faults) {
  char size[32];
  int64_t files = cst_findings_total(faults, "files");
  int64_t num_faults = cst_findings_total(faults, "num_faults");
  printf("%" PRId64 " %s, %" PRId64 " records, %s: ", files, files == 1 ? "file" : "files",
         cst_findings_total(faults, "records"),
         cli_bytes((double)cst_findings_total(faults, "stream_bytes"), size));
  if (num_faults == 0) {
    printf("no faults\n");
  } else {
    printf("%" PRId64 " %s\n", num_faults, num_faults == 1 ? "fault" : "faults");
  }
}

static int verify_inputs(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_verify_options options = CST_VERIFY_OPTIONS_INIT;
  cst_source *source;
  cst_findings *faults;
  cli_progress progress;
  if (cli_open(settings, settings->paths, settings->num_paths, NULL, &source, &error) != CST_OK) {
    return cli_fail(&error);
  }
  options.max_faults = (uint64_t)settings->finding.max_faults;
  options.on_progress = cli_progress_show;
  options.progress_ctx = &progress;
  cli_progress_begin(&progress, "verify", cst_source_total_bytes(source), false);
  cst_status status = cst_source_verify(source, &options, &faults, NULL, &error);
  cli_progress_end(&progress);
  cst_source_release(source);
  bool sound = cst_findings_total(faults, "num_faults") == 0;
  if (settings->json) {
    status = cli_print_json_scan(faults, status, &error);
  } else {
    print_faults(faults);
    if (status == CST_OK) {
      print_verify_end(faults);
    }
  }
  cst_findings_free(faults);
  return cli_flush(status != CST_OK ? cli_fail(&error) : sound ? CLI_FINE : CLI_FAULTS);
}

static int run_verify(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_verify, argc, argv, &settings);
  if (status < 0) {
    status = verify_inputs(&settings);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_verify = {
    .name = "verify",
    .usage = "FILE... [--schema FILE] [--max-faults N] [--json]",
    .summary = "Checks every checksum and parses every record",
    .details = "Prints one line per fault: file, record, byte offset, what was found, and its kind "
               "(length-crc, data-crc, truncated, limit, record, compression or format). Continues "
               "after a fault where possible. With --schema, records must also match the schema. "
               "`--format raw` checks checksums only, not the contents.",
    .examples = CLI_EXAMPLES({"columnstone verify trips-*.tfrecord.gz", "check files"},
                             {"columnstone verify trips.tfrecord --schema schema.pbtxt",
                              "also check each record against a schema"}),
    .see = "repair, count, schema check",
    .exits = "1 faults were found",
    .options =
        CLI_OPTIONS(OPTION_SCHEMA, OPTION_FORMAT, OPTION_MAX_FAULTS, OPTION_JSON, OPTION_THREADS,
                    OPTIONS_FORMATS, OPTIONS_MESSAGE, OPTION_CONTAINER, OPTIONS_LIMITS),
    .min_paths = 1,
    .run = run_verify,
};
