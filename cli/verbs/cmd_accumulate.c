/* columnstone accumulate: any accumulator by its name. */
#include <string.h>

#include "accumulating.h"

/* ---- the list ---- */

static void print_accumulator(const cst_findings *all, size_t i) {
  size_t begin, end;
  printf("%-12s %s\n", cst_findings_text(all, "name", i), cst_findings_text(all, "summary", i));
  cst_findings_items(all, "options", i, &begin, &end);
  for (size_t k = begin; k < end; k++) {
    const char *usual = cst_findings_text(all, "options.default", k);
    printf("    -O %s=%s  %s", cst_findings_text(all, "options.name", k),
           strcmp(cst_findings_text(all, "options.kind", k), "schema") == 0
               ? "FILE"
               : cst_findings_text(all, "options.kind", k),
           cst_findings_text(all, "options.help", k));
    printf(usual != NULL && usual[0] != '\0' ? " (%s)\n" : "\n", usual);
  }
}

static int list_accumulators(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_findings *all = NULL;
  cst_status status = cst_accumulators(&all, &error);
  if (status == CST_OK && settings->json) {
    status = cli_print_json_findings(all, &error);
  }
  for (size_t i = 0; status == CST_OK && !settings->json && i < cst_findings_num_rows(all); i++) {
    print_accumulator(all, i);
  }
  cst_findings_free(all);
  return cli_flush(status == CST_OK ? CLI_FINE : cli_fail(&error));
}

/* ---- looking at files ---- */

static cst_status tell(const cli_settings *settings, const cst_findings *findings,
                       cst_error *error) {
  return settings->output != NULL ? cli_write_findings(settings, findings, error)
         : settings->json         ? cli_print_json_findings(findings, error)
                                  : cli_print_findings(findings, error);
}

static cst_status accumulate(const cli_settings *settings, const cli_files *files,
                             cst_error *error) {
  cst_accumulator *accumulator;
  cst_findings *findings;
  cst_status status = cli_accumulator_new(settings, settings->paths[0], &accumulator, error);
  if (status != CST_OK) {
    return status;
  }
  status = cli_accumulate_files(&cli_accumulate, settings, files, accumulator, error);
  if (status == CST_OK) {
    status = cst_accumulator_finish(accumulator, &findings, error);
  }
  cst_accumulator_free(accumulator);
  if (status != CST_OK) {
    cli_hint_column(settings, files->paths, files->count, error);
  }
  if (status == CST_OK) {
    status = tell(settings, findings, error);
    cst_findings_free(findings);
  }
  return status;
}

static int check_usage(const cli_settings *settings) {
  const cli_finding *finding = &settings->finding;
  if (settings->num_paths == 0 && (settings->output != NULL || finding->num_options > 0)) {
    return cli_usage(&cli_accumulate, NULL, "no accumulator is named");
  }
  if (settings->output == NULL && settings->sink.format != NULL) {
    return cli_usage(&cli_accumulate, NULL, "--to goes with -o");
  }
  return cli_check_accumulator_options(&cli_accumulate, finding);
}

static int run_accumulate(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_accumulate, argc, argv, &settings);
  status = status < 0 ? check_usage(&settings) : status;
  if (status < 0 && settings.num_paths == 0) {
    status = list_accumulators(&settings);
  } else if (status < 0 && settings.num_paths == 1) {
    status = cli_usage(&cli_accumulate, NULL, "no files");
  } else if (status < 0 && settings.output != NULL) {
    status = cli_check_output(&cli_accumulate, &settings, settings.output);
  }
  if (status < 0) {
    cst_error error = CST_ERROR_INIT;
    cli_dropped dropped = {.out = stderr};
    const cli_files files = {settings.paths + 1, settings.num_paths - 1, &dropped};
    status = accumulate(&settings, &files, &error) != CST_OK ? cli_fail(&error)
             : dropped.count > 0                             ? CLI_FAULTS
                                                             : CLI_FINE;
    status = cli_flush(status);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_accumulate = {
    .name = "accumulate",
    .usage = "[NAME FILE... [-O KEY=VALUE]... [--json | -o FILE [--to NAME]]]",
    .summary = "Runs an accumulator over all records and prints its result",
    .details = "Without NAME, lists the accumulators and their options. The result is a table: it "
               "is printed, or printed as JSON (--json), or written to the file of -o in any "
               "format that can store it. All columns are read; to leave some out, `convert "
               "--columns` first, or use a query (--view).",
    .examples = CLI_EXAMPLES(
        {"columnstone accumulate", "list the accumulators and their options"},
        {"columnstone accumulate lengths trips.tfrecord", "the number of values of each feature"},
        {"columnstone accumulate statistics trips.tfrecord -o statistics.jsonl",
         "write the result to a file"}),
    .see = "stats, schema check",
    .exits = "1 a record is damaged; also if --on-error skip left out records",
    .options = CLI_OPTIONS(OPTION_OPTION, OPTION_OUTPUT, OPTION_TO, OPTION_FORCE, OPTION_JSON,
                           OPTION_SCHEMA, OPTION_FORMAT, OPTION_THREADS, OPTION_NO_CRC,
                           OPTIONS_FORMATS, OPTIONS_MESSAGE, OPTIONS_VIEW, OPTION_CONTAINER,
                           OPTIONS_RECOVERY, OPTIONS_LIMITS),
    .min_paths = 0,
    .run = run_accumulate,
};
