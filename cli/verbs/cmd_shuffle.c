/* columnstone shuffle: all records in an order like dice's. */
#include <stdlib.h>

#include "cli.h"

/* Fisher and Yates. */
static bool choose_order(const cli_settings *settings, uint64_t total, uint64_t **rows,
                         size_t *count) {
  uint64_t state = (uint64_t)settings->choice.seed;
  *rows = total < SIZE_MAX / sizeof **rows ? calloc((size_t)total + 1, sizeof **rows) : NULL;
  *count = (size_t)total;
  if (*rows == NULL) {
    return false;
  }
  for (uint64_t i = 0; i < total; i++) {
    uint64_t j = cli_random(&state, i + 1);
    (*rows)[i] = (*rows)[j];
    (*rows)[j] = i;
  }
  return true;
}

static int run_shuffle(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_shuffle, argc, argv, &settings);
  if (status < 0) {
    cli_picking picking = {&cli_shuffle, &settings, choose_order};
    status = cli_pick_records(&picking);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_shuffle = {
    .name = "shuffle",
    .usage = "FILE... OUTPUT [--seed N] [--shards N]",
    .summary = "Writes all records in random order",
    .details = "All orders, across all files, are equally likely; the same seed gives the same "
               "order. Uses 8 bytes of memory per record. Inputs must be uncompressed: records are "
               "read individually, by their index (see `columnstone index`) or after a scan of all "
               "record lengths.",
    .examples = CLI_EXAMPLES({"columnstone shuffle trips.tfrecord shuffled.tfrecord.gz --shards 2",
                              "two shuffled, compressed files"}),
    .see = "sample, index, split",
    .exits = "1 a record is damaged",
    .options =
        CLI_OPTIONS(OPTION_SEED, OPTION_FORCE, OPTION_LEVEL, OPTION_NO_CRC, OPTIONS_SHARDS,
                    OPTION_CONTAINER, OPTION_TO_CONTAINER, OPTION_MAX_RECORD_SIZE, OPTION_LINEAGE),
    .min_paths = 2,
    .run = run_shuffle,
};
