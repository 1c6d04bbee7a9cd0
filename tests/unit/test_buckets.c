/* Buckets: batches of rows of similar length, which keep their numbers and sizes, and depend on the
 * rows of their bucket alone.
 */
#include "dataset_support.h"

enum { ROWS = 203, BATCH = 8, IN_BUCKET = 5 };

static const char *const tokens[] = {"tokens"};
static const cst_path by_tokens = {tokens, 1};

/* Values of a row; 0 for rows without the feature. */
static int64_t length_of(int64_t id) { return (id * id * 7 + 3 * id) % 23; }

static void put_ints(bytes *features, const char *name, int64_t count) {
  bytes packed = {0};
  bytes list = {0};
  for (int64_t i = 0; i < count; i++) {
    put_varint(&packed, (uint64_t)i);
  }
  put_field(&list, 1, packed.data, packed.size);
  put_feature(features, name, 3, &list);
  bytes_free(&packed);
  bytes_free(&list);
}

/* Records with their id, their length, as many values, and a text of as many bytes. */
static void add_rows(bytes *file, int first, int end) {
  for (int i = first; i < end; i++) {
    bytes features = {0};
    bytes record = {0};
    char text[32] = "";
    memset(text, 'x', (size_t)length_of(i));
    put_int(&features, "id", i);
    put_int(&features, "size", length_of(i));
    put_float(&features, "score", 0.5F);
    put_text(&features, "text", text);
    if (length_of(i) > 0) {
      put_ints(&features, "tokens", length_of(i));
    }
    put_field(&record, 1, features.data, features.size);
    bytes_add_record(file, record.data, record.size);
    bytes_free(&features);
    bytes_free(&record);
  }
}

static const int borders[] = {0, ROWS / 3, ROWS / 3, ROWS - 1, ROWS};

static size_t plain_rows(const char *paths[4]) {
  for (int i = 0; i < 4; i++) {
    char name[16];
    bytes plain = {0};
    (void)snprintf(name, sizeof name, "b%d", i);
    add_rows(&plain, borders[i], borders[i + 1]);
    paths[i] = write_bytes(name, &plain);
    bytes_free(&plain);
  }
  return 4;
}

static size_t packed_rows(const char *paths[4]) {
  for (int i = 0; i < 4; i++) {
    char name[16];
    bytes plain = {0};
    bytes packed = {0};
    (void)snprintf(name, sizeof name, "b%d.gz", i);
    add_rows(&plain, borders[i], borders[i + 1]);
    CHECK_EQ(add_compressed(&packed, CST_COMPRESSION_GZIP, plain.data, plain.size), CST_OK);
    paths[i] = write_bytes(name, &packed);
    bytes_free(&plain);
    bytes_free(&packed);
  }
  return 4;
}

static cst_source *views_of(const char *const *paths, size_t count) {
  cst_source_options so = CST_SOURCE_OPTIONS_INIT;
  cst_source *source = NULL;
  so.column_flags = CST_COLUMNS_BINARY_VIEWS; /* windows are columns */
  CHECK_EQ(cst_source_open(paths, count, &so, &source, NULL), CST_OK);
  return source;
}

static cst_dataset_options bucket_options(cst_shuffle shuffle) {
  cst_dataset_options options = CST_DATASET_OPTIONS_INIT;
  options.shuffle = shuffle;
  options.batch_size = BATCH;
  options.window = 2 * BATCH * IN_BUCKET;
  options.seed = 11;
  options.bucket_by = &by_tokens;
  options.bucket_batches = IN_BUCKET;
  return options;
}

/* ---- what a bucket is ---- */

static int compare_ids(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a;
  int64_t y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int compare_by_length(const void *a, const void *b) {
  int64_t x = length_of(*(const int64_t *)a);
  int64_t y = length_of(*(const int64_t *)b);
  return (x > y) - (x < y);
}

/* The rows of full batches are those of the plain order, in batches from the shortest rows to the
 * longest, each batch once. */
static void check_bucket(const int64_t *plain, const int64_t *sorted, size_t count,
                         bool is_shuffled) {
  int64_t of_plain[BATCH * IN_BUCKET];
  int64_t of_sorted[BATCH * IN_BUCKET];
  size_t num_batches = count / BATCH;
  memcpy(of_plain, plain, num_batches * BATCH * sizeof *plain);
  memcpy(of_sorted, sorted, num_batches * BATCH * sizeof *sorted);
  for (size_t i = 1; i < num_batches * BATCH; i++) {
    CHECK(i % BATCH == 0 || length_of(sorted[i - 1]) <= length_of(sorted[i]));
    CHECK(is_shuffled || length_of(sorted[i - 1]) <= length_of(sorted[i]));
  }
  for (size_t a = 0; a < num_batches; a++) {
    for (size_t b = 0; b < num_batches; b++) { /* one of both is the shorter one as a whole */
      int64_t end_a = length_of(sorted[a * BATCH + BATCH - 1]);
      int64_t end_b = length_of(sorted[b * BATCH + BATCH - 1]);
      CHECK(end_a <= length_of(sorted[b * BATCH]) || end_b <= length_of(sorted[a * BATCH]) ||
            a == b);
    }
  }
  qsort(of_plain, num_batches * BATCH, sizeof *of_plain, compare_ids);
  qsort(of_sorted, num_batches * BATCH, sizeof *of_sorted, compare_ids);
  CHECK_MEM(of_sorted, of_plain, num_batches * BATCH * sizeof *of_plain);
  for (size_t i = num_batches * BATCH; i < count; i++) { /* the short batch stays what it is */
    CHECK_EQ(sorted[i], plain[i]);
  }
}

/* True if the batches of every bucket come from the shortest rows to the longest. */
static bool ascend(const delivery *d) {
  bool all = true;
  for (size_t i = BATCH; i < ROWS / BATCH * BATCH; i += BATCH) {
    bool begins = i % (BATCH * IN_BUCKET) == 0;
    all = all && (begins || length_of(d->ids[i - 1]) <= length_of(d->ids[i]));
  }
  return all;
}

static void check_order(cst_source *source, cst_shuffle shuffle, uint64_t epoch) {
  cst_dataset_options options = bucket_options(shuffle);
  cst_dataset *dataset = dataset_of(source, &options);
  delivery sorted = deliver(dataset, epoch);
  options.bucket_by = NULL;
  cst_dataset *other = dataset_of(source, &options);
  delivery plain = deliver(other, epoch);
  check_complete(&sorted, ROWS);
  CHECK_EQ(sorted.num_batches, plain.num_batches);
  CHECK_MEM(sorted.ends, plain.ends, plain.num_batches * sizeof *plain.ends);
  for (size_t i = 0; i < ROWS; i += BATCH * IN_BUCKET) {
    size_t rest = ROWS - i;
    size_t count = rest < BATCH * IN_BUCKET ? rest : BATCH * IN_BUCKET;
    check_bucket(plain.ids + i, sorted.ids + i, count, shuffle != CST_SHUFFLE_NONE);
  }
  CHECK_EQ(ascend(&sorted), shuffle == CST_SHUFFLE_NONE);
  delivery_free(&plain);
  delivery_free(&sorted);
  cst_dataset_release(other);
  cst_dataset_release(dataset);
}

TEST(batches_have_rows_of_similar_length) {
  const char *plain[4];
  const char *packed[4];
  cst_source *sources[] = {open_examples(plain, plain_rows(plain), 0, 1),
                           open_examples(packed, packed_rows(packed), 0, 1), views_of(packed, 4)};
  for (size_t i = 0; i < 3; i++) {
    for (uint64_t epoch = 0; epoch < 2; epoch++) {
      check_order(sources[i], CST_SHUFFLE_NONE, epoch);
      check_order(sources[i], CST_SHUFFLE_WINDOW, epoch);
    }
  }
  check_order(sources[0], CST_SHUFFLE_GLOBAL, 1);
  for (size_t i = 0; i < 3; i++) {
    cst_source_release(sources[i]);
  }
}

/* Equal lengths stay in the order of the epoch, so that sources of all kinds agree. */
TEST(sorting_is_stable) {
  const char *plain[4];
  const char *packed[4];
  cst_source *sources[] = {open_examples(plain, plain_rows(plain), 0, 1),
                           open_examples(packed, packed_rows(packed), 0, 1), views_of(packed, 4)};
  cst_dataset_options options = bucket_options(CST_SHUFFLE_NONE);
  delivery d[3];
  int64_t expected[BATCH * IN_BUCKET];
  for (size_t i = 0; i < BATCH * IN_BUCKET; i++) {
    expected[i] = (int64_t)i;
  }
  for (size_t i = 1; i < BATCH * IN_BUCKET; i++) { /* insertion is stable */
    for (size_t k = i; k > 0 && compare_by_length(&expected[k - 1], &expected[k]) > 0; k--) {
      int64_t swapped = expected[k];
      expected[k] = expected[k - 1];
      expected[k - 1] = swapped;
    }
  }
  for (size_t i = 0; i < 3; i++) {
    cst_dataset *dataset = dataset_of(sources[i], &options);
    d[i] = deliver(dataset, 0);
    check_delivery(&d[i], &d[0], 0);
    CHECK_MEM(d[i].ids, expected, sizeof expected);
    cst_dataset_release(dataset);
    cst_source_release(sources[i]);
  }
  for (size_t i = 0; i < 3; i++) {
    delivery_free(&d[i]);
  }
}

/* ---- what a batch does not depend on ---- */

static void check_same_for_all(cst_source *source, cst_shuffle shuffle) {
  static const int32_t ahead[][2] = {{0, 1}, {1, 1}, {3, 3}, {2, 5}, {20, 2}};
  cst_dataset_options options = bucket_options(shuffle);
  cst_dataset *dataset = dataset_of(source, &options);
  delivery expected = deliver(dataset, 2);
  cst_dataset_release(dataset);
  for (size_t i = 0; i < sizeof ahead / sizeof *ahead; i++) {
    options.prefetch = ahead[i][0];
    options.threads = ahead[i][1];
    options.memory_budget = i % 2 == 0 ? 0 : -1;
    dataset = dataset_of(source, &options);
    for (uint32_t workers = 1; workers <= 5; workers++) {
      delivery d = deliver_with(dataset, (cst_position){.epoch = 2}, workers);
      check_delivery(&d, &expected, 0);
      delivery_free(&d);
    }
    cst_dataset_release(dataset);
  }
  delivery_free(&expected);
}

static void check_taken_up(cst_source *source, cst_shuffle shuffle, bool drop_last) {
  cst_dataset_options options = bucket_options(shuffle);
  options.drop_last = drop_last;
  cst_dataset *dataset = dataset_of(source, &options);
  delivery expected = deliver(dataset, 1);
  CHECK_EQ(expected.num_ids, drop_last ? ROWS / BATCH * BATCH : ROWS);
  for (size_t k = 0; k < expected.num_batches; k++) {
    cst_position from = expected.positions[k];
    from.batch++;
    delivery d = deliver_with(dataset, from, 1 + (uint32_t)k % 3);
    check_delivery(&d, &expected, k + 1);
    delivery_free(&d);
  }
  delivery_free(&expected);
  cst_dataset_release(dataset);
}

/* Batch k of shard i is batch origin + k * n + i of the whole, whatever n was before. */
static void check_divided(cst_source *source, cst_shuffle shuffle, uint32_t num_shards,
                          uint64_t origin) {
  cst_dataset_options options = bucket_options(shuffle);
  cst_dataset *dataset = dataset_of(source, &options);
  delivery whole = deliver(dataset, 0);
  cst_position from = origin > 0 ? whole.positions[origin - 1] : (cst_position){0};
  from = (cst_position){0, 0, from.file, from.rows_before, origin};
  cst_dataset_release(dataset);
  options.num_shards = num_shards;
  for (options.shard = 0; options.shard < num_shards; options.shard++) {
    dataset = dataset_of(source, &options);
    delivery d = deliver_with(dataset, from, 1 + options.shard % 2);
    for (size_t k = 0; k < d.num_batches; k++) {
      size_t of_whole = origin + k * num_shards + options.shard;
      size_t begin = of_whole > 0 ? whole.ends[of_whole - 1] : 0;
      size_t own = k > 0 ? d.ends[k - 1] : 0;
      CHECK_EQ(d.ends[k] - own, whole.ends[of_whole] - begin);
      CHECK_MEM(d.ids + own, whole.ids + begin, (d.ends[k] - own) * sizeof *d.ids);
    }
    delivery_free(&d);
    cst_dataset_release(dataset);
  }
  delivery_free(&whole);
}

TEST(batches_are_functions_of_their_place) {
  const char *plain[4];
  const char *packed[4];
  cst_source *sources[] = {open_examples(plain, plain_rows(plain), 0, 1),
                           open_examples(packed, packed_rows(packed), 0, 2), views_of(packed, 4)};
  for (size_t i = 0; i < 3; i++) {
    for (int s = CST_SHUFFLE_NONE; s <= (int)CST_SHUFFLE_WINDOW; s++) {
      if (s == (int)CST_SHUFFLE_AUTO || (s == (int)CST_SHUFFLE_GLOBAL && i > 0)) {
        continue;
      }
      check_same_for_all(sources[i], (cst_shuffle)s);
      check_taken_up(sources[i], (cst_shuffle)s, i % 2 == 0);
      check_divided(sources[i], (cst_shuffle)s, 3, 0);
      check_divided(sources[i], (cst_shuffle)s, 4, 7);
    }
    cst_source_release(sources[i]);
  }
}

TEST(the_order_has_the_buckets) {
  const char *paths[4];
  cst_source *source = open_examples(paths, plain_rows(paths), 0, 1);
  for (int s = CST_SHUFFLE_NONE; s <= (int)CST_SHUFFLE_WINDOW; s++) {
    cst_dataset_options options = bucket_options((cst_shuffle)s);
    cst_dataset *dataset = dataset_of(source, &options);
    delivery d = deliver(dataset, 3);
    for (uint64_t begin = 0; begin < ROWS; begin += 31) {
      uint64_t rows[ROWS];
      uint64_t count = ROWS - begin < 90 ? ROWS - begin : 90;
      CHECK_EQ(cst_dataset_order(dataset, 3, begin, count, rows, NULL), CST_OK);
      CHECK_MEM(rows, d.ids + begin, count * sizeof *rows);
    }
    delivery_free(&d);
    cst_dataset_release(dataset);
  }
  cst_source_release(source);
}

/* ---- lengths ---- */

/* The values of a list, the bytes of a text and what an integer says are one length here. */
TEST(lengths_are_counted_or_said) {
  const char *paths[4];
  cst_source *source = open_examples(paths, plain_rows(paths), 0, 1);
  cst_dataset_options options = bucket_options(CST_SHUFFLE_GLOBAL);
  cst_dataset *dataset = dataset_of(source, &options);
  delivery expected = deliver(dataset, 0);
  cst_dataset_release(dataset);
  const char *const names[] = {"size", "text"};
  for (size_t i = 0; i < 2; i++) {
    const cst_path path = {&names[i], 1};
    options.bucket_by = &path;
    options.bucket_by_value = true;
    dataset = dataset_of(source, &options);
    delivery d = deliver(dataset, 0);
    check_delivery(&d, &expected, 0);
    delivery_free(&d);
    cst_dataset_release(dataset);
  }
  delivery_free(&expected);
  cst_source_release(source);
}

TEST(an_empty_source_has_no_buckets) {
  bytes none = {0};
  const char *path = write_bytes("none", &none);
  cst_schema *schema = NULL;
  static const char text[] = "feature { name: 'tokens' type: INT }";
  CHECK_EQ(cst_schema_from_text(text, strlen(text), &schema, NULL), CST_OK);
  cst_source_options so = CST_SOURCE_OPTIONS_INIT;
  cst_source *source = NULL;
  so.schema = schema;
  CHECK_EQ(cst_source_open(&path, 1, &so, &source, NULL), CST_OK);
  cst_dataset_options options = bucket_options(CST_SHUFFLE_GLOBAL);
  cst_dataset *dataset = dataset_of(source, &options);
  delivery d = deliver(dataset, 0);
  CHECK_EQ(d.status, CST_OK);
  CHECK_EQ(d.num_batches, 0);
  delivery_free(&d);
  cst_dataset_release(dataset);
  cst_source_release(source);
  cst_schema_release(schema);
}

static void check_refused(cst_source *source, const char *name, int64_t batches, bool by_value,
                          cst_status expected, const char *message) {
  const cst_path path = {&name, 1};
  cst_dataset_options options = bucket_options(CST_SHUFFLE_NONE);
  cst_dataset *dataset = NULL;
  cst_error error = CST_ERROR_INIT;
  options.bucket_by = &path;
  options.bucket_by_value = by_value;
  options.bucket_batches = batches;
  CHECK_EQ(cst_dataset_new(source, &options, &dataset, &error), expected);
  CHECK_CONTAINS(error.message, message);
}

TEST(wrong_buckets) {
  const char *paths[4];
  cst_source *source = open_examples(paths, plain_rows(paths), 0, 1);
  check_refused(source, "none", 4, false, CST_NOT_FOUND, "no such column");
  check_refused(source, "score", 4, true, CST_INVALID_ARGUMENT, "large_list<float32> has none");
  check_refused(source, "tokens", -1, false, CST_INVALID_ARGUMENT, "bucket_batches is -1");
  check_refused(source, "tokens", 1 << 30, false, CST_INVALID_ARGUMENT, "has more than");
  check_refused(source, NULL, 4, false, CST_INVALID_ARGUMENT, "names no column");
  cst_source_release(source);
}

/* A record that is damaged in the column of the lengths is named by its file. */
TEST(a_damaged_record_is_named) {
  const char *paths[4];
  bytes damaged = {0};
  static const uint8_t record[] = {0x0a, 0x05, 0x0a, 0x03, 0x0a, 0x09, 'x'};
  size_t count = packed_rows(paths);
  cst_source *sound = open_examples(paths, count, 0, 1);
  const cst_schema *schema = NULL;
  CHECK_EQ(cst_source_schema(sound, &schema, NULL), CST_OK);
  bytes packed = {0};
  add_rows(&damaged, 0, 3);
  bytes_add_record(&damaged, record, sizeof record);
  CHECK_EQ(add_compressed(&packed, CST_COMPRESSION_GZIP, damaged.data, damaged.size), CST_OK);
  paths[0] = write_bytes("damaged.gz", &packed);
  cst_source_options so = CST_SOURCE_OPTIONS_INIT;
  cst_source *source = NULL;
  so.schema = schema;
  CHECK_EQ(cst_source_open(paths, count, &so, &source, NULL), CST_OK);
  for (uint64_t epoch = 0; epoch < 4; epoch++) { /* files in other orders */
    cst_dataset_options options = bucket_options(CST_SHUFFLE_WINDOW);
    cst_dataset *dataset = dataset_of(source, &options);
    delivery d = deliver(dataset, epoch);
    CHECK_EQ(d.status, CST_CORRUPT);
    CHECK_EQ(d.error.record, 3);
    CHECK_STR(d.error.file, paths[0]);
    delivery_free(&d);
    cst_dataset_release(dataset);
  }
  bytes_free(&damaged);
  bytes_free(&packed);
  cst_source_release(source);
  cst_source_release(sound);
}

/* ---- out of memory ---- */

typedef struct scenario {
  const char *paths[4];
  uint32_t column_flags;
  cst_schema *schema;
} scenario;

static int deliver_all(cst_source *source) {
  cst_dataset_options options = bucket_options(CST_SHUFFLE_WINDOW);
  cst_dataset *dataset = NULL;
  cst_loader *loader = NULL;
  int64_t rows = 1;
  options.memory_budget = -1;
  cst_status status = cst_dataset_new(source, &options, &dataset, NULL);
  if (status == CST_OK) {
    status = cst_loader_new(dataset, &(cst_position){0}, 0, 1, &loader, NULL);
  }
  while (status == CST_OK && rows > 0) {
    struct ArrowArray batch = {.length = 0};
    status = cst_loader_next(loader, &batch, NULL, NULL);
    rows = batch.length;
    if (batch.release != NULL) {
      batch.release(&batch);
    }
  }
  cst_loader_free(loader);
  cst_dataset_release(dataset);
  return (int)status;
}

static int run_scenario(void *context) {
  const scenario *s = context;
  cst_source_options so = CST_SOURCE_OPTIONS_INIT;
  cst_source *source = NULL;
  so.schema = s->schema;
  so.column_flags = s->column_flags;
  CST__TRY(cst_source_open(s->paths, 4, &so, &source, NULL));
  int status = deliver_all(source);
  cst_source_release(source);
  return status;
}

TEST(out_of_memory) {
  static const char text[] =
      "feature { name: 'id' type: INT } feature { name: 'tokens' type: INT }";
  for (int i = 0; i < 3; i++) {
    scenario s = {.column_flags = i == 1 ? CST_COLUMNS_BINARY_VIEWS : 0};
    CHECK_EQ(i < 2 ? packed_rows(s.paths) : plain_rows(s.paths), 4);
    CHECK_EQ(cst_schema_from_text(text, strlen(text), &s.schema, NULL), CST_OK);
    FOR_EACH_ALLOCATION_FAILURE(run_scenario, &s, CST_NO_MEMORY);
    cst_schema_release(s.schema);
  }
}
