/* Datasets: every row once, in an order that depends on nothing but the data and the options;
 * shards, workers, windows, taking up at every batch; plain files and files that are read in order.
 */
#include "dataset_support.h"

enum { ROWS = 203 };

static const cst_shuffle shuffles[] = {CST_SHUFFLE_NONE, CST_SHUFFLE_GLOBAL, CST_SHUFFLE_WINDOW};

static cst_dataset_options options_of(cst_shuffle shuffle, int64_t batch_size) {
  cst_dataset_options options = CST_DATASET_OPTIONS_INIT;
  options.shuffle = shuffle;
  options.batch_size = batch_size;
  options.window = 40;
  options.seed = 11;
  return options;
}

/* ---- what an order is ---- */

static void check_against_order(cst_dataset *dataset, const delivery *d, uint64_t epoch) {
  uint64_t order[ROWS];
  CHECK_EQ(cst_dataset_order(dataset, epoch, 0, ROWS, order, NULL), CST_OK);
  for (size_t i = 0; i < ROWS; i++) {
    CHECK_EQ(d->ids[i], order[i]);
  }
}

TEST(plain_files_in_every_order) {
  const char *paths[4];
  cst_source *source = open_examples(paths, plain_files(paths, ROWS), 10, 1);
  for (size_t s = 0; s < 3; s++) {
    cst_dataset_options options = options_of(shuffles[s], 16);
    cst_dataset *dataset = dataset_of(source, &options);
    cst_shuffle found;
    uint64_t count;
    CHECK_EQ(cst_dataset_shuffle(dataset, &found, NULL), CST_OK);
    CHECK_EQ(found, shuffles[s]);
    CHECK_EQ(cst_dataset_num_rows(dataset, &count, NULL), CST_OK);
    CHECK_EQ(count, ROWS);
    CHECK_EQ(cst_dataset_num_batches(dataset, &count, NULL), CST_OK);
    CHECK_EQ(count, 13);
    delivery first = deliver(dataset, 0);
    delivery again = deliver(dataset, 0);
    delivery second = deliver(dataset, 1);
    check_complete(&first, ROWS);
    check_complete(&second, ROWS);
    check_delivery(&again, &first, 0);
    check_against_order(dataset, &first, 0);
    check_against_order(dataset, &second, 1);
    CHECK_EQ(is_sorted(&first), shuffles[s] == CST_SHUFFLE_NONE);
    bool same = memcmp(first.ids, second.ids, ROWS * sizeof *first.ids) == 0;
    CHECK_EQ(same, shuffles[s] == CST_SHUFFLE_NONE);
    delivery_free(&first);
    delivery_free(&again);
    delivery_free(&second);
    cst_dataset_release(dataset);
  }
  cst_source_release(source);
}

TEST(seeds_differ) {
  const char *paths[4];
  cst_source *source = open_examples(paths, plain_files(paths, ROWS), 10, 1);
  for (size_t s = 1; s < 3; s++) {
    cst_dataset_options options = options_of(shuffles[s], 0);
    cst_dataset *one = dataset_of(source, &options);
    options.seed++;
    cst_dataset *other = dataset_of(source, &options);
    delivery a = deliver(one, 0);
    delivery b = deliver(other, 0);
    CHECK_EQ(a.num_batches, 21); /* of the source's 10 rows */
    check_complete(&a, ROWS);
    check_complete(&b, ROWS);
    CHECK(memcmp(a.ids, b.ids, ROWS * sizeof *a.ids) != 0);
    delivery_free(&a);
    delivery_free(&b);
    cst_dataset_release(one);
    cst_dataset_release(other);
  }
  cst_source_release(source);
}

/* ---- sources of every kind behind the same checks ---- */

typedef size_t (*write_files)(const char *paths[4], int rows);

/* Threads, batches ahead and workers change nothing. */
static void check_same_for_all(write_files write, cst_shuffle shuffle) {
  const char *paths[4];
  size_t count = write(paths, ROWS);
  cst_source *source = open_examples(paths, count, 0, 1);
  cst_dataset_options options = options_of(shuffle, 8);
  cst_dataset *dataset = dataset_of(source, &options);
  delivery expected = deliver(dataset, 2);
  check_complete(&expected, ROWS);
  cst_dataset_release(dataset);
  static const int32_t ahead[][3] = {{0, 1, 2}, {1, 1, 1}, {2, 1, 1}, {3, 3, 2}, {2, 5, 1}};
  for (size_t i = 0; i < sizeof ahead / sizeof *ahead; i++) {
    cst_source *other = open_examples(paths, count, 7, ahead[i][2]);
    options.prefetch = ahead[i][0];
    options.threads = ahead[i][1];
    dataset = dataset_of(other, &options);
    for (uint32_t workers = 1; workers <= 5; workers++) {
      delivery d = deliver_with(dataset, (cst_position){.epoch = 2}, workers);
      check_delivery(&d, &expected, 0);
      delivery_free(&d);
    }
    cst_dataset_release(dataset);
    cst_source_release(other);
  }
  delivery_free(&expected);
  cst_source_release(source);
}

TEST(threads_and_workers_change_nothing) {
  for (size_t s = 0; s < 3; s++) {
    check_same_for_all(plain_files, shuffles[s]);
  }
  check_same_for_all(packed_files, CST_SHUFFLE_NONE);
  check_same_for_all(packed_files, CST_SHUFFLE_WINDOW);
}

/* Taken up behind every batch, with its position and without its file. */
static void check_resume(write_files write, cst_shuffle shuffle, bool drop_last) {
  const char *paths[4];
  cst_source *source = open_examples(paths, write(paths, ROWS), 0, 1);
  cst_dataset_options options = options_of(shuffle, 8);
  options.drop_last = drop_last;
  cst_dataset *dataset = dataset_of(source, &options);
  delivery expected = deliver(dataset, 1);
  CHECK_EQ(expected.num_ids, drop_last ? 200 : ROWS);
  for (size_t k = 0; k < expected.num_batches; k++) {
    cst_position from = expected.positions[k];
    CHECK_EQ(from.batch, k);
    from.batch++;
    delivery d = deliver_with(dataset, from, 1 + (uint32_t)k % 3);
    check_delivery(&d, &expected, k + 1);
    delivery_free(&d);
    from.file = 0;
    from.rows_before = 0;
    d = deliver_with(dataset, from, 1);
    check_delivery(&d, &expected, k + 1);
    delivery_free(&d);
  }
  delivery_free(&expected);
  cst_dataset_release(dataset);
  cst_source_release(source);
}

TEST(taken_up_at_every_batch) {
  for (int drop = 0; drop < 2; drop++) {
    for (size_t s = 0; s < 3; s++) {
      check_resume(plain_files, shuffles[s], drop);
    }
    check_resume(packed_files, CST_SHUFFLE_NONE, drop);
    check_resume(packed_files, CST_SHUFFLE_WINDOW, drop);
  }
}

/* Batch k of shard i is batch k * n + i of the whole. */
static void check_shards(write_files write, cst_shuffle shuffle, uint32_t num_shards,
                         bool drop_last) {
  const char *paths[4];
  cst_source *source = open_examples(paths, write(paths, ROWS), 0, 1);
  cst_dataset_options options = options_of(shuffle, 8);
  cst_dataset *dataset = dataset_of(source, &options);
  delivery whole = deliver(dataset, 0);
  cst_dataset_release(dataset);
  uint64_t total = 0;
  options.num_shards = num_shards;
  options.drop_last = drop_last;
  for (options.shard = 0; options.shard < num_shards; options.shard++) {
    uint64_t batches;
    dataset = dataset_of(source, &options);
    delivery d = deliver(dataset, 0);
    CHECK_EQ(cst_dataset_num_batches(dataset, &batches, NULL), CST_OK);
    CHECK_EQ(d.num_batches, batches);
    total += batches;
    for (size_t k = 0; k < d.num_batches; k++) {
      size_t of_whole = k * num_shards + options.shard;
      size_t begin = of_whole > 0 ? whole.ends[of_whole - 1] : 0;
      size_t own = k > 0 ? d.ends[k - 1] : 0;
      CHECK_EQ(d.ends[k] - own, whole.ends[of_whole] - begin);
      CHECK_MEM(d.ids + own, whole.ids + begin, (d.ends[k] - own) * sizeof *d.ids);
    }
    delivery_free(&d);
    cst_dataset_release(dataset);
  }
  CHECK_EQ(total, drop_last ? 25 / num_shards * num_shards : 26);
  delivery_free(&whole);
  cst_source_release(source);
}

TEST(shards_divide_an_epoch) {
  for (int drop = 0; drop < 2; drop++) {
    for (uint32_t n = 1; n < 31; n = n * 2 + 1) {
      check_shards(plain_files, CST_SHUFFLE_NONE, n, drop);
      check_shards(plain_files, CST_SHUFFLE_GLOBAL, n, drop);
      check_shards(packed_files, CST_SHUFFLE_WINDOW, n, drop);
    }
  }
}

/* After `steps` batches of each of n shards, m shards give what is left, each row once and in the
 * order of the whole; from the position of any shard. */
static void check_divided_anew(write_files write, cst_shuffle shuffle, const uint32_t shards[2],
                               uint64_t steps) {
  const char *paths[4];
  cst_source *source = open_examples(paths, write(paths, ROWS), 0, 1);
  cst_dataset_options options = options_of(shuffle, 8);
  cst_dataset *dataset = dataset_of(source, &options);
  delivery whole = deliver(dataset, 0);
  cst_dataset_release(dataset);
  options.num_shards = shards[0];
  options.shard = (uint32_t)steps % shards[0];
  dataset = dataset_of(source, &options);
  delivery before = deliver(dataset, 0);
  cst_position at = before.positions[steps - 1];
  cst_dataset_release(dataset);
  uint64_t origin = steps * shards[0];
  cst_position from = {at.epoch, 0, at.file, at.rows_before, at.origin + origin};
  uint64_t total = 0;
  options.num_shards = shards[1];
  for (options.shard = 0; options.shard < shards[1]; options.shard++) {
    uint64_t left;
    dataset = dataset_of(source, &options);
    delivery d = deliver_with(dataset, from, 1 + options.shard % 3);
    CHECK_EQ(cst_dataset_batches_left(dataset, &from, &left, NULL), CST_OK);
    CHECK_EQ(d.num_batches, left);
    total += left;
    for (size_t k = 0; k < d.num_batches; k++) {
      size_t of_whole = origin + k * shards[1] + options.shard;
      size_t own = k > 0 ? d.ends[k - 1] : 0;
      CHECK_EQ(d.positions[k].batch, k);
      CHECK_EQ(d.positions[k].origin, origin);
      CHECK_EQ(d.ends[k] - own, whole.ends[of_whole] - whole.ends[of_whole - 1]);
      CHECK_MEM(d.ids + own, whole.ids + whole.ends[of_whole - 1],
                (d.ends[k] - own) * sizeof *d.ids);
    }
    delivery_free(&d);
    cst_dataset_release(dataset);
  }
  CHECK_EQ(total, whole.num_batches - origin);
  delivery_free(&before);
  delivery_free(&whole);
  cst_source_release(source);
}

TEST(another_number_of_shards_goes_on) {
  for (uint32_t n = 1; n < 9; n += 3) {
    for (uint32_t m = 1; m < 9; m += 2) {
      for (uint64_t steps = 1; steps <= 25 / n; steps += 4) {
        check_divided_anew(plain_files, CST_SHUFFLE_GLOBAL, (uint32_t[]){n, m}, steps);
        check_divided_anew(plain_files, CST_SHUFFLE_WINDOW, (uint32_t[]){n, m}, steps);
        check_divided_anew(packed_files, CST_SHUFFLE_WINDOW, (uint32_t[]){n, m}, steps);
      }
    }
  }
}

TEST(nothing_is_left_behind_the_last_batch) {
  const char *paths[4];
  cst_source *source = open_examples(paths, packed_files(paths, ROWS), 0, 1);
  cst_dataset_options options = options_of(CST_SHUFFLE_WINDOW, 8);
  cst_dataset *dataset = dataset_of(source, &options);
  cst_position from = {.origin = UINT64_MAX};
  uint64_t left = 1;
  CHECK_EQ(cst_dataset_batches_left(dataset, &from, &left, NULL), CST_OK);
  CHECK_EQ(left, 0);
  delivery d = deliver_with(dataset, from, 2);
  CHECK_EQ(d.num_batches, 0);
  delivery_free(&d);
  cst_dataset_release(dataset);
  cst_source_release(source);
}

/* ---- sources that are read in order ---- */

TEST(windows_of_packed_files) {
  const char *paths[4];
  cst_source *source = open_examples(paths, packed_files(paths, ROWS), 0, 2);
  cst_dataset_options options = options_of(CST_SHUFFLE_AUTO, 8);
  options.interleave = 1;
  cst_dataset *dataset = dataset_of(source, &options);
  cst_shuffle found;
  uint64_t rows;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_dataset_shuffle(dataset, &found, NULL), CST_OK);
  CHECK_EQ(found, CST_SHUFFLE_WINDOW);
  CHECK_EQ(cst_dataset_order(dataset, 0, 0, 0, &rows, &error), CST_UNSUPPORTED);
  bool first_files[4] = {false};
  for (uint64_t epoch = 0; epoch < 30; epoch++) {
    delivery d = deliver(dataset, epoch);
    check_complete(&d, ROWS);
    CHECK(!is_sorted(&d));
    int64_t low = ROWS;
    for (size_t i = 0; i < 40; i++) {
      low = d.ids[i] < low ? d.ids[i] : low;
    }
    first_files[low >= ROWS / 3] = true; /* the files change places as well */
    delivery_free(&d);
  }
  CHECK(first_files[0] && first_files[1]);
  options.shuffle = CST_SHUFFLE_GLOBAL;
  cst_dataset *other = dataset_of(source, &options);
  cst_loader *loader;
  CHECK_EQ(cst_loader_new(other, &(cst_position){0}, 0, 1, &loader, &error), CST_UNSUPPORTED);
  cst_dataset_release(other);
  cst_dataset_release(dataset);
  cst_source_release(source);
}

TEST(positions_name_the_files) {
  const char *paths[4];
  cst_source *source = open_examples(paths, packed_files(paths, 300), 0, 1);
  cst_dataset_options options = options_of(CST_SHUFFLE_NONE, 10);
  cst_dataset *dataset = dataset_of(source, &options);
  delivery d = deliver(dataset, 0);
  for (size_t k = 0; k < d.num_batches; k++) {
    uint64_t file = k < 10 ? 0 : 2; /* 100 rows, none, 199, one */
    CHECK_EQ(d.positions[k].file, file);
    CHECK_EQ(d.positions[k].rows_before, file == 0 ? 0 : 100);
  }
  cst_loader *loader;
  cst_error error = CST_ERROR_INIT;
  cst_position wrong = {.batch = 5, .file = 2, .rows_before = 100};
  CHECK_EQ(cst_loader_new(dataset, &wrong, 0, 1, &loader, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "no batch begins with row 50 after 2 files and 100 rows");
  wrong = (cst_position){.batch = UINT64_MAX};
  CHECK_EQ(cst_loader_new(dataset, &wrong, 0, 1, &loader, &error), CST_INVALID_ARGUMENT);
  delivery_free(&d);
  cst_dataset_release(dataset);
  cst_source_release(source);
}

TEST(tables_are_read_in_windows) {
  bytes text = {0};
  bytes_add(&text, "id,name\n", 8);
  for (int i = 0; i < ROWS; i++) {
    char line[32];
    int size = snprintf(line, sizeof line, "%d,n%d\n", i, i);
    bytes_add(&text, line, (size_t)size);
  }
  const char *path = write_bytes("rows.csv", &text);
  cst_schema *schema = NULL;
  cst_error error = CST_ERROR_INIT;
  static const char spec[] =
      "feature { name: 'id' type: INT } feature { name: 'name' type: BYTES }";
  CHECK_EQ(cst_schema_from_text(spec, strlen(spec), &schema, &error), CST_OK);
  cst_source_options so = CST_SOURCE_OPTIONS_INIT;
  so.schema = schema;
  cst_source *source = NULL;
  CHECK_EQ(cst_source_open(&path, 1, &so, &source, &error), CST_OK);
  cst_dataset_options options = options_of(CST_SHUFFLE_AUTO, 8);
  cst_dataset *dataset = dataset_of(source, &options);
  delivery d = deliver(dataset, 0);
  check_complete(&d, ROWS);
  CHECK(!is_sorted(&d));
  delivery rest = deliver_with(dataset, (cst_position){.batch = 7}, 3);
  check_delivery(&rest, &d, 7);
  uint64_t rows;
  CHECK_EQ(cst_dataset_num_rows(dataset, &rows, NULL), CST_OK);
  CHECK_EQ(rows, ROWS);
  delivery_free(&rest);
  delivery_free(&d);
  cst_dataset_release(dataset);
  cst_source_release(source);
  cst_schema_release(schema);
  bytes_free(&text);
}

/* Views point into the blocks that were read, and are picked as columns. */
TEST(views_of_packed_files) {
  const char *paths[4];
  size_t count = packed_files(paths, ROWS);
  cst_source_options so = CST_SOURCE_OPTIONS_INIT;
  cst_source *source = NULL;
  so.column_flags = CST_COLUMNS_BINARY_VIEWS;
  CHECK_EQ(cst_source_open(paths, count, &so, &source, NULL), CST_OK);
  cst_source *plain = open_examples(paths, count, 0, 1);
  for (size_t s = 0; s < 3; s += 2) {
    cst_dataset_options options = options_of(shuffles[s], 8);
    options.prefetch = 3;
    options.threads = 2;
    cst_dataset *views = dataset_of(source, &options);
    cst_dataset *copies = dataset_of(plain, &options);
    delivery expected = deliver(copies, 4);
    delivery d = deliver(views, 4);
    check_complete(&d, ROWS);
    check_delivery(&d, &expected, 0);
    delivery rest = deliver_with(views, expected.positions[9], 2);
    check_delivery(&rest, &expected, 9);
    delivery_free(&rest);
    delivery_free(&d);
    delivery_free(&expected);
    cst_dataset_release(views);
    cst_dataset_release(copies);
  }
  cst_source_release(plain);
  cst_source_release(source);
}

/* Windows of several batches are read in whole, across files; of a map they are not. */
TEST(windows_read_in_whole) {
  const char *paths[4];
  size_t count = plain_files(paths, ROWS);
  cst_source *source = open_examples(paths, count, 0, 1);
  cst_source_options so = CST_SOURCE_OPTIONS_INIT;
  cst_source *mapped = NULL;
  so.flags = CST_SOURCE_MEMORY_MAP;
  CHECK_EQ(cst_source_open(paths, count, &so, &mapped, NULL), CST_OK);
  for (int64_t batch_size = 1; batch_size <= 10; batch_size += 3) {
    cst_dataset_options options = options_of(CST_SHUFFLE_WINDOW, batch_size);
    options.prefetch = (int32_t)(batch_size % 4);
    options.threads = options.prefetch;
    options.memory_budget = -1;
    cst_dataset *whole = dataset_of(source, &options);
    cst_dataset *singly = dataset_of(mapped, &options);
    delivery d = deliver(whole, 3);
    delivery expected = deliver(singly, 3);
    check_complete(&d, ROWS);
    check_delivery(&d, &expected, 0);
    check_against_order(whole, &d, 3);
    delivery rest = deliver_with(whole, expected.positions[7], 1);
    check_delivery(&rest, &expected, 7);
    delivery_free(&rest);
    delivery_free(&d);
    delivery_free(&expected);
    cst_dataset_release(whole);
    cst_dataset_release(singly);
  }
  cst_source_release(mapped);
  cst_source_release(source);
}

/* ---- empty sources, wrong options ---- */

TEST(no_rows) {
  const char *paths[] = {write_examples("none0.tfrecord", 0, 0),
                         write_examples("none1.tfrecord", 0, 0)};
  cst_source *source = open_examples(paths, 2, 0, 1);
  for (size_t s = 0; s < 3; s++) {
    cst_dataset_options options = options_of(shuffles[s], 8);
    options.prefetch = 2;
    cst_dataset *dataset = dataset_of(source, &options);
    uint64_t batches = 1;
    delivery d = deliver(dataset, 0);
    check_complete(&d, 0);
    CHECK_EQ(cst_dataset_num_batches(dataset, &batches, NULL), CST_OK);
    CHECK_EQ(batches, 0);
    delivery_free(&d);
    cst_dataset_release(dataset);
  }
  cst_source_release(source);
}

static void check_refused(cst_source *source, cst_dataset_options options, const char *message) {
  cst_dataset *dataset = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_dataset_new(source, &options, &dataset, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, message);
}

TEST(wrong_options) {
  const char *paths[4];
  cst_source *source = open_examples(paths, plain_files(paths, ROWS), 10, 1);
  cst_dataset_options options = CST_DATASET_OPTIONS_INIT;
  options.batch_size = -1;
  check_refused(source, options, "batch_size is -1");
  options = (cst_dataset_options)CST_DATASET_OPTIONS_INIT;
  options.window = -5;
  check_refused(source, options, "window is -5");
  options = (cst_dataset_options)CST_DATASET_OPTIONS_INIT;
  options.prefetch = 100000;
  check_refused(source, options, "prefetch is 100000");
  options = (cst_dataset_options)CST_DATASET_OPTIONS_INIT;
  options.threads = -2;
  check_refused(source, options, "threads is -2");
  options = (cst_dataset_options)CST_DATASET_OPTIONS_INIT;
  options.shuffle = (cst_shuffle)9;
  check_refused(source, options, "shuffle is 9");
  options = (cst_dataset_options)CST_DATASET_OPTIONS_INIT;
  options.shard = 3;
  options.num_shards = 3;
  check_refused(source, options, "shard 3 of 3");
  options = (cst_dataset_options)CST_DATASET_OPTIONS_INIT;
  options.size = 1;
  check_refused(source, options, "the size of the options is 1");
  cst_dataset *dataset = dataset_of(source, NULL);
  uint64_t rows[3];
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_dataset_order(dataset, 0, 201, 3, rows, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "3 positions from 201 on are requested, there are 203");
  CHECK_EQ(cst_dataset_order(dataset, 0, 201, 2, rows, &error), CST_OK);
  CHECK_EQ(cst_dataset_order(NULL, 0, 0, 0, rows, &error), CST_INVALID_ARGUMENT);
  cst_dataset_release(dataset);
  cst_source_release(source);
}
