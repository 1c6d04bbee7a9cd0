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
    .details =
        "Shards are named after OUTPUT with the shard number added: "
        "out-00000-of-00010.tfrecord.gz. The order of records is kept. With --shards, records are "
        "counted first, so that all files get the same number (the last one may have fewer).",
    .examples =
        CLI_EXAMPLES({"columnstone split trips.tfrecord part.tfrecord --shards 4", "four files"},
                     {"columnstone split trips.tfrecord chunk.tfrecord.gz --shard-size 64M",
                      "files of about 64 MiB, before compression"}),
    .see = "merge, shuffle, convert",
    .exits = "1 a record is damaged",
    .options = CLI_OPTIONS(OPTIONS_SHARDS, OPTION_FORCE, OPTION_LEVEL, OPTION_THREADS,
                           OPTION_NO_CRC, OPTION_CONTAINER, OPTION_TO_CONTAINER, OPTIONS_LIMITS),
    .min_paths = 2,
    .run = run_split,
};
