/* columnstone sample: records chosen at random. */
#include <stdlib.h>

#include "cli.h"

/* Selection sampling (Knuth, The Art of Computer Programming 2, 3.4.2, algorithm S): every set of
 * so many records is as likely as every other, and their order is kept. */
static bool choose_sample(const cli_settings *settings, uint64_t total, uint64_t **rows,
                          size_t *count) {
  uint64_t wanted =
      (uint64_t)settings->choice.number < total ? (uint64_t)settings->choice.number : total;
  uint64_t state = (uint64_t)settings->choice.seed;
  *rows = calloc((size_t)wanted + 1, sizeof **rows);
  *count = 0;
  if (*rows == NULL) {
    return false;
  }
  for (uint64_t i = 0; i < total && *count < wanted; i++) {
    if (cli_random(&state, total - i) < wanted - *count) {
      (*rows)[(*count)++] = i;
    }
  }
  return true;
}

static int run_sample(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_sample, argc, argv, &settings);
  if (status < 0) {
    cli_picking picking = {&cli_sample, &settings, choose_sample};
    status = cli_pick_records(&picking);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_sample = {
    .name = "sample",
    .usage = "FILE... OUTPUT [-n N] [--seed N]",
    .summary = "Writes a random sample of the records, in file order",
    .details = "The same seed selects the same records. Inputs must be uncompressed: records are "
               "read individually, by their index (see `columnstone index`) or after a scan of all "
               "record lengths.",
    .examples = CLI_EXAMPLES({"columnstone sample trips.tfrecord sample.tfrecord -n 100 --seed 7",
                              "100 random records"}),
    .see = "shuffle, index",
    .exits = "1 a record is damaged",
    .options = CLI_OPTIONS(OPTION_NUMBER, OPTION_SEED, OPTION_FORCE, OPTION_LEVEL, OPTION_NO_CRC,
                           OPTIONS_SHARDS, OPTION_CONTAINER, OPTION_TO_CONTAINER,
                           OPTION_MAX_RECORD_SIZE, OPTION_LINEAGE),
    .min_paths = 2,
    .run = run_sample,
};
