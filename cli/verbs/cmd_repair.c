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
    .summary = "Saves the sound records of damaged TFRecord files",
    .details = "Prints one line per record that is dropped: file, record, byte offset, what is "
               "wrong, and how\n"
               "many bytes are lost. All others are written to OUTPUT as they are. Exit status 1 "
               "if any was\n"
               "dropped.\n",
    .options = CLI_OPTIONS(OPTION_FORCE, OPTION_LEVEL, OPTION_JSON, OPTION_MAX_ERRORS,
                           OPTION_THREADS, OPTION_CONTAINER, OPTION_TO_CONTAINER, OPTIONS_LIMITS),
    .min_paths = 2,
    .run = run_repair,
};
