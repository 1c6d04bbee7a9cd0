/* Rows by their numbers: any order, many files, every way to open, damage, stale indexes, threads
 * and allocation failures. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "index_support.h"

static void check_take(cst_source *source, const uint64_t *rows, size_t count) {
  struct ArrowArray batch;
  bytes names = {0};
  bytes expected = {0};
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_source_take(source, rows, count, &batch, &error), CST_OK);
  CHECK_STR(error.message, "");
  CHECK_EQ(batch.length, count);
  names_of_batch(&names, &batch);
  batch.release(&batch);
  for (size_t i = 0; i < count; i++) {
    expect_names(&expected, (int)rows[i], (int)rows[i] + 1);
  }
  check_same(&names, &expected);
  bytes_free(&names);
  bytes_free(&expected);
}

/* Rows in disorder, some of them twice. */
static void check_some(cst_source *source, uint64_t num_rows) {
  uint64_t rows[60];
  uint64_t known = 0;
  CHECK_EQ(cst_source_num_rows(source, &known, NULL), CST_OK);
  CHECK_EQ(known, num_rows);
  for (size_t i = 0; i < 60; i++) {
    rows[i] = i < 50 ? i * 7919 % num_rows : rows[i - 40];
  }
  check_take(source, rows, 60);
  for (uint64_t i = 0; i < num_rows && i < 60; i++) {
    rows[i] = i;
  }
  check_take(source, rows, num_rows < 60 ? (size_t)num_rows : 60);
  check_take(source, rows + 3, 1);
  check_take(source, rows, 0);
}

static size_t write_files(const char *paths[5]) {
  paths[0] = write_raw("t0.tfrecord", 0, 40);
  paths[1] = write_raw("t1.tfrecord", 40, 40);
  paths[2] = write_raw("t2.tfrecord", 40, 41);
  paths[3] = write_raw("t3.tfrecord", 41, 500);
  paths[4] = write_raw("t4.tfrecord", 500, 500);
  return 5;
}

TEST(rows_in_any_order) {
  const char *paths[5];
  size_t count = write_files(paths);
  static const uint32_t flags[] = {0, CST_SOURCE_SKIP_CRC, CST_SOURCE_MEMORY_MAP};
  for (size_t i = 0; i < 3; i++) {
    cst_source *source = open_raw_files(paths, count, flags[i]);
    check_some(source, 500);
    cst_source_release(source);
  }
  for (size_t i = 0; i < count; i++) { /* and with an index beside every file but one */
    if (i != 2) {
      save_index(paths[i]);
    }
  }
  cst_source *source = open_raw_files(paths, count, 0);
  check_some(source, 500);
  cst_source_release(source);
}

TEST(examples_are_decoded_as_in_a_pass) {
  const char *path = write_examples("e.tfrecord", 0, 30);
  cst_source *source = NULL;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  uint64_t rows[30];
  bytes text = {0};
  bytes expected = {0};
  for (uint64_t i = 0; i < 30; i++) {
    rows[i] = i;
  }
  CHECK_EQ(cst_source_open(&path, 1, NULL, &source, NULL), CST_OK);
  CHECK_EQ(cst_source_take(source, rows, 30, &batch, NULL), CST_OK);
  CHECK_EQ(cst_source_arrow_schema(source, &schema, NULL), CST_OK);
  text_of_batch(&text, &schema, &batch);
  expected_text(&expected, 30, 30);
  check_same(&text, &expected);
  batch.release(&batch);
  schema.release(&schema);
  cst_source_release(source);
  bytes_free(&text);
  bytes_free(&expected);
}

/* So many that they are not sorted at one go. */
enum { MANY = 5000 };

TEST(many_rows_in_disorder) {
  uint64_t rows[MANY];
  const char *path = write_raw("many.tfrecord", 0, 500);
  cst_source *source = open_raw_files(&path, 1, 0);
  for (size_t i = 0; i < MANY; i++) {
    rows[i] = i * 7919 % 500;
  }
  check_take(source, rows, MANY);
  cst_source_release(source);
}

TEST(views_and_columns) {
  const char *path = write_examples("v.tfrecord", 0, 30);
  static const char *const columns[] = {"name"};
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.columns = columns;
  options.num_columns = 1;
  options.column_flags = CST_COLUMNS_BINARY_VIEWS;
  static const uint64_t rows[] = {7, 3, 7};
  cst_source *source = NULL;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  bytes text = {0};
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
  CHECK_EQ(cst_source_take(source, rows, 3, &batch, NULL), CST_OK);
  CHECK_EQ(cst_source_arrow_schema(source, &schema, NULL), CST_OK);
  cst_source_release(source); /* the batch lives on */
  text_of_batch(&text, &schema, &batch);
  bytes_add(&text, "", 1);
  CHECK_STR((const char *)text.data, "3 rows: name=['row 7']; name=['row 3']; name=['row 7'];\n");
  batch.release(&batch);
  schema.release(&schema);
  bytes_free(&text);
}

TEST(more_files_than_stay_open) {
  const char *paths[300];
  char *names[300];
  for (int i = 0; i < 300; i++) {
    char name[32];
    (void)snprintf(name, sizeof name, "many-%03d.tfrecord", i);
    names[i] = strdup(write_raw(name, i, i + 1));
    paths[i] = names[i];
  }
  struct rlimit limit;
  CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  struct rlimit few = {400, limit.rlim_max};
  CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  for (int round = 0; round < 2; round++) { /* some of them stay open, then all */
    cst_source *source = open_raw_files(paths, 300, 0);
    check_some(source, 300);
    check_some(source, 300);
    cst_source_release(source);
    few.rlim_cur = limit.rlim_max < 4000 ? limit.rlim_max : 4000;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  }
  CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  for (int i = 0; i < 300; i++) {
    free(names[i]);
  }
}

TEST(large_records_and_neighbours) {
  bytes file = {0};
  for (int i = 0; i < 9; i++) {
    add_raw(&file, i, i % 3 == 0 ? 700000 : (size_t)(i * 1000));
  }
  const char *path = write_bytes("large.tfrecord", &file);
  cst_source *source = open_raw_files(&path, 1, 0);
  static const uint64_t rows[] = {8, 0, 2, 1, 6, 6, 0, 3};
  check_take(source, rows, 8);
  cst_source_release(source);
  bytes_free(&file);
}

/* ---- what cannot be done ---- */

static cst_status try_take(cst_source *source, uint64_t row, cst_error *error) {
  struct ArrowArray batch;
  cst_status status = cst_source_take(source, &row, 1, &batch, error);
  if (status == CST_OK) {
    batch.release(&batch);
  }
  return status;
}

TEST(rows_that_there_are_not) {
  const char *paths[5];
  size_t count = write_files(paths);
  cst_source *source = open_raw_files(paths, count, 0);
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(try_take(source, 500, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "row 500");
  CHECK_EQ(try_take(source, UINT64_MAX, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(try_take(source, 499, &error), CST_OK);
  cst_source_release(source);
}

TEST(compressed_files_are_counted_only) {
  bytes file = {0};
  bytes packed = {0};
  cst_error error = CST_ERROR_INIT;
  uint64_t rows = 0;
  add_examples(&file, 0, 77);
  CHECK_EQ(add_compressed(&packed, CST_COMPRESSION_GZIP, file.data, file.size), CST_OK);
  const char *path = write_bytes("packed.gz", &packed);
  cst_source *source = open_raw_files(&path, 1, 0);
  CHECK_EQ(try_take(source, 0, &error), CST_UNSUPPORTED);
  CHECK_CONTAINS(error.hint, "without compression");
  for (int i = 0; i < 2; i++) {
    CHECK_EQ(cst_source_num_rows(source, &rows, NULL), CST_OK);
    CHECK_EQ(rows, 77);
  }
  cst_source_release(source);
  bytes_free(&file);
  bytes_free(&packed);
}

TEST(readers) {
  bytes file = {0};
  for (int i = 0; i < 90; i++) {
    add_raw(&file, i, 50);
  }
  for (int can_seek = 0; can_seek < 2; can_seek++) {
    memory m = {.data = file.data, .size = file.size, .most = 1000};
    cst_reader reader = memory_reader(&m, can_seek);
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    options.format = "raw";
    cst_source *source = NULL;
    cst_error error = CST_ERROR_INIT;
    uint64_t rows;
    CHECK_EQ(cst_source_open_readers(&reader, 1, &options, &source, NULL), CST_OK);
    if (can_seek) {
      check_some(source, 90);
    } else {
      CHECK_EQ(try_take(source, 0, &error), CST_UNSUPPORTED);
      CHECK_EQ(cst_source_num_rows(source, &rows, &error), CST_UNSUPPORTED);
      CHECK_CONTAINS(error.message, "only once");
    }
    cst_source_release(source);
    CHECK_EQ(m.closed, 1);
  }
  bytes_free(&file);
}

/* ---- damage ---- */

TEST(damaged_records_are_named) {
  bytes file = {0};
  cst_error error = CST_ERROR_INIT;
  for (int i = 0; i < 20; i++) {
    add_raw(&file, i, 50);
  }
  size_t at = record_offset(&file, 11);
  file.data[at + 30] ^= 1;
  const char *paths[] = {write_raw("sound.tfrecord", 0, 3), write_bytes("crc.tfrecord", &file)};
  cst_source *source = open_raw_files(paths, 2, 0);
  static const uint64_t rows[] = {22, 3, 14, 1};
  struct ArrowArray batch;
  for (int i = 0; i < 2; i++) { /* and again */
    CHECK_EQ(cst_source_take(source, rows, 4, &batch, &error), CST_CORRUPT);
    CHECK_STR(error.file, paths[1]);
    CHECK_EQ(error.record, 11);
    CHECK_EQ(error.offset, at);
    CHECK_CONTAINS(error.message, "data CRC");
  }
  CHECK_EQ(try_take(source, 13, &error), CST_OK);
  cst_source_release(source);
  source = open_raw_files(paths, 2, CST_SOURCE_SKIP_CRC);
  CHECK_EQ(try_take(source, 14, &error), CST_OK);
  cst_source_release(source);
  bytes_free(&file);
}

/* Only a pass can leave records out; a row that is asked for by its number is right or an error. */
TEST(damaged_records_are_named_where_a_pass_drops_them) {
  bytes file = {0};
  cst_error error = CST_ERROR_INIT;
  for (int i = 0; i < 20; i++) {
    add_raw(&file, i, 50);
  }
  file.data[record_offset(&file, 11) + 30] ^= 1;
  const char *paths[] = {write_bytes("dropped.tfrecord", &file)};
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.format = "raw";
  options.on_error = CST_ON_ERROR_SKIP;
  cst_source *source = NULL;
  CHECK_EQ(cst_source_open(paths, 1, &options, &source, &error), CST_OK);
  for (int i = 0; i < 2; i++) {
    CHECK_EQ(try_take(source, 11, &error), CST_CORRUPT);
    CHECK_EQ(error.record, 11);
    CHECK_EQ(try_take(source, 12, &error), CST_OK);
  }
  cst_source_release(source);
  bytes_free(&file);
}

TEST(records_that_do_not_parse_are_named) {
  bytes file = {0};
  cst_error error = CST_ERROR_INIT;
  add_examples(&file, 0, 5);
  size_t at = file.size;
  bytes_add_record(&file, "\xff\xff", 2);
  const char *path = write_bytes("parse.tfrecord", &file);
  static const uint64_t rows[] = {2, 5};
  struct ArrowArray batch;
  cst_source *source = NULL;
  cst_schema *schema = NULL;
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  const char *sound = write_examples("sound-examples.tfrecord", 0, 5);
  CHECK_EQ(cst_source_open(&sound, 1, NULL, &source, NULL), CST_OK);
  CHECK_EQ(cst_source_infer(source, NULL, NULL, &schema, NULL), CST_OK);
  cst_source_release(source);
  options.schema = schema;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
  CHECK_EQ(cst_source_take(source, rows, 2, &batch, &error), CST_CORRUPT);
  CHECK_EQ(error.record, 5);
  CHECK_EQ(error.offset, at);
  CHECK_STR(error.file, path);
  cst_source_release(source);
  cst_schema_release(schema);
  bytes_free(&file);
}

/* The file changes under an index that its ends do not tell to be another's. */
TEST(stale_indexes_never_give_wrong_rows) {
  bytes file = {0};
  cst_error error = CST_ERROR_INIT;
  for (int i = 0; i < 3000; i++) {
    add_raw(&file, i, 60);
  }
  const char *path = write_bytes("stale.tfrecord", &file);
  size_t at = record_offset(&file, 1500);
  save_index(path);
  bytes other = {0}; /* two records become one of their size */
  bytes_add(&other, file.data, at);
  size_t both = record_offset(&file, 1502) - at;
  bytes record = {0};
  add_noise(&record, both - 16, 1);
  bytes_add_record(&other, record.data, record.size);
  bytes_add(&other, file.data + at + both, file.size - at - both);
  CHECK_EQ(other.size, file.size);
  CHECK_EQ(write_bytes("stale.tfrecord", &other) != NULL, 1);
  path = harness_temp_path("stale.tfrecord");
  cst_source *source = open_raw_files(&path, 1, 0);
  CHECK_EQ(try_take(source, 1500, &error), CST_STATE);
  CHECK_EQ(error.record, 1500);
  CHECK_EQ(error.offset, at);
  CHECK_EQ(try_take(source, 1501, &error), CST_CORRUPT);
  CHECK_EQ(try_take(source, 1499, &error), CST_OK);
  cst_source_release(source);

  bytes_add_record(&other, "r3000|", 6); /* now the index is known to be of another file */
  (void)write_bytes("stale.tfrecord", &other);
  source = open_raw_files(&path, 1, 0);
  uint64_t rows = 0;
  CHECK_EQ(cst_source_num_rows(source, &rows, NULL), CST_OK);
  CHECK_EQ(rows, 3000);
  CHECK_EQ(try_take(source, 2999, &error), CST_OK);
  CHECK_EQ(truncate(path, 1000), 0);
  CHECK_EQ(try_take(source, 2999, &error), CST_IO);
  CHECK_STR(error.file, path);
  cst_source_release(source);
  bytes_free(&file);
  bytes_free(&other);
  bytes_free(&record);
}

TEST(damaged_frames_have_no_rows) {
  bytes file = {0};
  cst_error error = CST_ERROR_INIT;
  uint64_t rows;
  for (int i = 0; i < 20; i++) {
    add_raw(&file, i, 50);
  }
  file.data[record_offset(&file, 4)] ^= 1;
  const char *path = write_bytes("frames.tfrecord", &file);
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.format = "raw";
  options.on_error = CST_ON_ERROR_SKIP; /* a number of a row has to mean the same for ever */
  cst_source *source = NULL;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
  CHECK_EQ(cst_source_num_rows(source, &rows, &error), CST_CORRUPT);
  CHECK_EQ(error.record, 4);
  CHECK_EQ(try_take(source, 0, &error), CST_CORRUPT);
  cst_source_release(source);
  bytes_free(&file);
}

/* ---- threads and memory ---- */

static atomic_int wrong_rows;

static void *take_many(void *arg) {
  cst_source *source = arg;
  for (uint64_t i = 0; i < 200; i++) {
    uint64_t rows[3] = {i * 31 % 500, i * 17 % 500, i * 5 % 500};
    bytes names = {0};
    bytes expected = {0};
    struct ArrowArray batch;
    if (cst_source_take(source, rows, 3, &batch, NULL) != CST_OK) {
      atomic_fetch_add(&wrong_rows, 1);
      continue;
    }
    names_of_batch(&names, &batch);
    batch.release(&batch);
    for (int r = 0; r < 3; r++) {
      expect_names(&expected, (int)rows[r], (int)rows[r] + 1);
    }
    atomic_fetch_add(&wrong_rows, names.size != expected.size ||
                                      memcmp(names.data, expected.data, names.size) != 0);
    bytes_free(&names);
    bytes_free(&expected);
  }
  return NULL;
}

TEST(many_threads) {
  const char *paths[5];
  size_t count = write_files(paths);
  cst_source *source = open_raw_files(paths, count, 0);
  pthread_t threads[6];
  for (int i = 0; i < 6; i++) {
    CHECK_EQ(pthread_create(&threads[i], NULL, take_many, source), 0);
  }
  for (int i = 0; i < 6; i++) {
    CHECK_EQ(pthread_join(threads[i], NULL), 0);
  }
  CHECK_EQ(wrong_rows, 0);
  cst_source_release(source);
}

static cst_status take_once(void *context) {
  uint64_t rows[MANY];
  const char *const *paths = context;
  cst_source *source;
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  struct ArrowArray batch;
  options.format = "raw";
  CST__TRY(cst_source_open(paths, 2, &options, &source, NULL));
  uint64_t count;
  cst_status status = cst_source_num_rows(source, &count, NULL);
  for (size_t i = 0; i < MANY; i++) {
    rows[i] = i * 7 % 10;
  }
  for (size_t i = 0; i < 2 && status == CST_OK; i++) {
    status = cst_source_take(source, rows, i == 0 ? 4 : MANY, &batch, NULL);
    if (status == CST_OK) {
      batch.release(&batch);
    }
  }
  cst_source_release(source);
  return status;
}

static int run_take_once(void *context) { return (int)take_once(context); }

TEST(allocation_failures) {
  const char *paths[] = {write_raw("m0.tfrecord", 0, 5), write_raw("m1.tfrecord", 5, 10)};
  FOR_EACH_ALLOCATION_FAILURE(run_take_once, (void *)paths, CST_NO_MEMORY);
  save_index(paths[0]);
  FOR_EACH_ALLOCATION_FAILURE(run_take_once, (void *)paths, CST_NO_MEMORY);
}
