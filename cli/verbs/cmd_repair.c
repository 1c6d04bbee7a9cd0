/* columnstone repair: what can be saved of damaged files. */
#include "cli.h"

static int run_repair(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_repair, argc, argv, &settings);
  if (status < 0) {
    settings.source.on_error = CST_ON_ERROR_SKIP;
    status = cli_copy_records(&cli_repair, &settings, false);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_repair = {
    .name = "repair",
    .usage = "FILE... OUTPUT [--json]",
    .summary = "Copies the intact records of damaged TFRecord files",
    .details = "Prints one line per damaged position: file, record, byte offset, what was found, "
               "and how many bytes are lost. All other records are copied unchanged to OUTPUT.",
    .examples = CLI_EXAMPLES(
        {"columnstone repair damaged.tfrecord repaired.tfrecord", "save what is intact"}),
    .see = "verify, convert",
    .exits = "1 records were lost",
    .options = CLI_OPTIONS(OPTION_FORCE, OPTION_LEVEL, OPTION_JSON, OPTION_MAX_ERRORS,
                           OPTION_THREADS, OPTION_CONTAINER, OPTION_TO_CONTAINER, OPTIONS_LIMITS),
    .min_paths = 2,
    .run = run_repair,
};
