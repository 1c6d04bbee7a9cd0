/* Loaders that begin within a batch: it comes without the rows that were delivered, all others as
 * they are; of every kind of files and order, with buckets, shards and workers.
 */
#include "dataset_support.h"

enum { ROWS = 203, BATCH = 8 };

typedef size_t (*write_files)(const char *paths[4], int rows);

static cst_dataset_options options_of(cst_shuffle shuffle) {
  cst_dataset_options options = CST_DATASET_OPTIONS_INIT;
  options.shuffle = shuffle;
  options.batch_size = BATCH;
  options.window = 40;
  options.seed = 11;
  return options;
}

/* The ids of `expected` from row `row` of its batch `batch` on. */
static void check_from(cst_dataset *dataset, const delivery *expected, size_t batch, uint64_t row,
                       uint32_t workers) {
  cst_position from = expected->positions[batch];
  size_t begin = (batch > 0 ? expected->ends[batch - 1] : 0) + row;
  from.row = row;
  delivery d = deliver_with(dataset, from, workers);
  CHECK_EQ(d.status, CST_OK);
  CHECK_STR(d.error.message, "");
  CHECK_EQ(d.num_ids, expected->num_ids - begin);
  CHECK_MEM(d.ids, expected->ids + begin, d.num_ids * sizeof *d.ids);
  for (size_t i = 0; i < d.num_batches; i++) {
    CHECK_EQ(d.ends[i] + begin, expected->ends[batch + i]);
    CHECK_EQ(d.positions[i].batch, batch + i);
    CHECK_EQ(d.positions[i].row, i == 0 ? row : 0);
  }
  delivery_free(&d);
}

static void check_within(write_files write, const cst_dataset_options *options) {
  const char *paths[4];
  cst_source *source = open_examples(paths, write(paths, ROWS), 0, 1);
  cst_dataset *dataset = dataset_of(source, options);
  delivery expected = deliver(dataset, 1);
  for (size_t k = 0; k < expected.num_batches; k += 3) {
    for (uint64_t row = 0; row < BATCH - 1; row += 2) {
      if (expected.ends[k] - (k > 0 ? expected.ends[k - 1] : 0) > row) {
        check_from(dataset, &expected, k, row, 1 + (uint32_t)row % 3);
      }
    }
  }
  delivery_free(&expected);
  cst_dataset_release(dataset);
  cst_source_release(source);
}

TEST(every_kind_of_files_and_order) {
  static const cst_shuffle shuffles[] = {CST_SHUFFLE_NONE, CST_SHUFFLE_WINDOW, CST_SHUFFLE_GLOBAL};
  for (size_t s = 0; s < 3; s++) {
    for (uint32_t shards = 1; shards < 4; shards += 2) {
      cst_dataset_options options = options_of(shuffles[s]);
      options.num_shards = shards;
      options.shard = shards - 1;
      options.drop_last = shards > 1;
      options.prefetch = options.threads = (int32_t)shards - 1;
      check_within(plain_files, &options);
      if (shuffles[s] != CST_SHUFFLE_GLOBAL) {
        check_within(packed_files, &options);
      }
    }
  }
}

TEST(batches_of_buckets) {
  static const char *const steps[] = {"name"};
  const cst_path path = {steps, 1};
  for (int shuffled = 0; shuffled < 2; shuffled++) {
    cst_dataset_options options = options_of(shuffled ? CST_SHUFFLE_WINDOW : CST_SHUFFLE_NONE);
    options.bucket_by = &path;
    options.bucket_by_value = true;
    options.bucket_batches = 3;
    check_within(plain_files, &options);
    check_within(packed_files, &options);
  }
}

/* The short batch may be left out as a whole. */
TEST(nothing_is_left_of_the_last_batch) {
  static const write_files writes[] = {plain_files, packed_files};
  for (size_t i = 0; i < 2; i++) {
    const char *paths[4];
    cst_source *source = open_examples(paths, writes[i](paths, ROWS), 0, 1);
    cst_dataset_options options = options_of(CST_SHUFFLE_WINDOW);
    cst_dataset *dataset = dataset_of(source, &options);
    for (uint64_t row = ROWS % BATCH; row < BATCH; row++) {
      delivery d = deliver_with(dataset, (cst_position){.batch = ROWS / BATCH, .row = row}, 2);
      CHECK_EQ(d.status, CST_OK);
      CHECK_EQ(d.num_batches, 0);
      delivery_free(&d);
    }
    cst_loader *loader = NULL;
    cst_error error = CST_ERROR_INIT;
    const cst_position wrong = {.row = BATCH};
    CHECK_EQ(cst_loader_new(dataset, &wrong, 0, 1, &loader, &error), CST_INVALID_ARGUMENT);
    CHECK_STR(error.message, "row 8 of a batch of 8 rows");
    cst_dataset_release(dataset);
    cst_source_release(source);
  }
}
