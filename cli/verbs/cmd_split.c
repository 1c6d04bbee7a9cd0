/* columnstone split: files to shards. */
#include "cli.h"

static int run_split(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_split, argc, argv, &settings);
  if (status < 0) {
    bool none = settings.sink.num_shards == 0 && settings.sink.shard_bytes == 0;
    status = none ? cli_usage(&cli_split, "add --shards N, or --shard-size 256M", "into how many?")
                  : cli_copy_records(&cli_split, &settings, settings.sink.num_shards > 0);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_split = {
    .name = "split",
    .usage = "FILE... OUTPUT --shards N | --shard-size BYTES",
    .summary = "Divides the records of TFRecord files into shards",
    .details = "Writes OUTPUT's name with the number of the shard: out-00000-of-00010.tfrecord.gz. "
               "The order is\n"
               "kept. With --shards the files hold as many records each, but for one; the records "
               "are counted\n"
               "first.\n",
    .options = CLI_OPTIONS(OPTIONS_SHARDS, OPTION_FORCE, OPTION_LEVEL, OPTION_THREADS,
                           OPTION_NO_CRC, OPTION_CONTAINER, OPTION_TO_CONTAINER, OPTIONS_LIMITS),
    .min_paths = 2,
    .run = run_split,
};
