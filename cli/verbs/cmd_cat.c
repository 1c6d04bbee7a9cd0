/* columnstone cat: the records of files, on standard output. */
#include "cli.h"

static int run_cat(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_cat, argc, argv, &settings);
  if (status < 0) {
    settings.paths[settings.num_paths++] = "-"; /* there is room: see cli_parse */
    status = cli_copy_records(&cli_cat, &settings, false);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_cat = {
    .name = "cat",
    .usage = "FILE...",
    .summary = "Writes the records of TFRecord files to standard output",
    .details =
        "The output is a single uncompressed TFRecord stream, even if inputs are compressed.",
    .examples = CLI_EXAMPLES(
        {"columnstone cat trips-*.tfrecord.gz | columnstone count -", "read shards as one stream"}),
    .see = "merge, head",
    .exits = "1 a record is damaged",
    .options = CLI_OPTIONS(OPTION_THREADS, OPTION_NO_CRC, OPTIONS_RECOVERY, OPTION_CONTAINER,
                           OPTION_TO_CONTAINER, OPTIONS_LIMITS),
    .min_paths = 1,
    .run = run_cat,
};
