/* columnstone merge: several files to one. */
#include "cli.h"

static int run_merge(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_merge, argc, argv, &settings);
  if (status < 0) {
    status = cli_copy_records(&cli_merge, &settings, false);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_merge = {
    .name = "merge",
    .usage = "FILE... OUTPUT",
    .summary = "Joins TFRecord files into one, in the order given",
    .details = "Records are copied unchanged, and every checksum is checked. The extension of "
               "OUTPUT selects the compression (.gz, .zlib, .zst).",
    .examples = CLI_EXAMPLES(
        {"columnstone merge trips-*.tfrecord.gz all.tfrecord", "join and decompress shards"}),
    .see = "split, cat, convert",
    .exits = "1 a record is damaged",
    .options = CLI_OPTIONS(OPTION_FORCE, OPTION_LEVEL, OPTION_THREADS, OPTION_NO_CRC,
                           OPTIONS_RECOVERY, OPTION_CONTAINER, OPTION_TO_CONTAINER, OPTIONS_LIMITS),
    .min_paths = 2,
    .run = run_merge,
};
