/* Passes: the same batches for every number of threads, batch sizes across files, failures in their
 * place, early stops, allocation failures, bounded memory. */
#include "source_support.h"

#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "schema/schema.h"

enum { ROWS = 2500 };

/* Seven files, of which three are empty, hold ROWS records. */
static size_t write_files(const char *paths[7]) {
  paths[0] = write_examples("p0.tfrecord", 0, 1);
  paths[1] = write_examples("p1.tfrecord", 1, 1);
  paths[2] = write_examples("p2.tfrecord", 1, 1100);
  paths[3] = write_examples("p3.tfrecord", 1100, 1100);
  paths[4] = write_examples("p4.tfrecord", 1100, 1107);
  paths[5] = write_examples("p5.tfrecord", 1107, ROWS);
  paths[6] = write_examples("p6.tfrecord", ROWS, ROWS);
  return 7;
}

static cst_source *open_files(const char *const *paths, size_t count,
                              const cst_source_options *options) {
  cst_source *source = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst_source_open(paths, count, options, &source, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  return source;
}

TEST(same_batches_for_every_batch_size_and_number_of_threads) {
  const char *paths[7];
  size_t count = write_files(paths);
  static const int sizes[] = {1, 7, 1000, ROWS, 100000};
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    bytes expected = {0};
    expected_text(&expected, ROWS, sizes[s]);
    for (int threads = 1; threads <= 4; threads++) {
      cst_source_options options = CST_SOURCE_OPTIONS_INIT;
      options.batch_size = sizes[s];
      options.threads = threads;
      cst_source *source = open_files(paths, count, &options);
      for (int round = 0; round < 2; round++) { /* a source may be read again */
        bytes text = {0};
        CHECK_EQ(text_of_pass(source, &text, NULL), CST_OK);
        check_same(&text, &expected);
        bytes_free(&text);
      }
      cst_source_release(source);
    }
    bytes_free(&expected);
  }
}

TEST(compressed_mapped_and_unchecked_files_give_the_same) {
  static const cst_compression kinds[] = {CST_COMPRESSION_NONE, CST_COMPRESSION_GZIP,
                                          CST_COMPRESSION_ZLIB, CST_COMPRESSION_ZSTD};
  bytes expected = {0};
  expected_text(&expected, 3000, 100);
  for (int i = 0; i < 4 * 3 * 2; i++) {
    const char *paths[3];
    static const char *const names[] = {"c0", "c1", "c2"};
    for (int f = 0; f < 3; f++) {
      bytes plain = {0};
      bytes packed = {0};
      add_examples(&plain, f * 1000, f * 1000 + 1000);
      CHECK_EQ(add_compressed(&packed, kinds[i % 4], plain.data, plain.size), CST_OK);
      paths[f] = write_bytes(names[f], &packed);
      bytes_free(&plain);
      bytes_free(&packed);
    }
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    options.batch_size = 100;
    options.threads = 1 + i / 12 * 2;
    options.flags = (uint32_t)(i / 4 % 3);
    cst_source *source = open_files(paths, 3, &options);
    bytes text = {0};
    CHECK_EQ(text_of_pass(source, &text, NULL), CST_OK);
    check_same(&text, &expected);
    bytes_free(&text);
    cst_source_release(source);
  }
  bytes_free(&expected);
}

TEST(no_records_at_all) {
  const char *empty[] = {write_examples("e0", 0, 0), write_examples("e1", 0, 0)};
  for (size_t count = 0; count <= 2; count++) {
    cst_source *source = open_files(empty, count, NULL);
    cst_pass *pass;
    struct ArrowArray batch;
    CHECK_EQ(cst_pass_new(source, &pass, NULL), CST_OK);
    CHECK_EQ(cst_pass_next(pass, &batch, NULL), CST_OK);
    CHECK(batch.release == NULL);
    CHECK_EQ(cst_pass_next(pass, &batch, NULL), CST_OK);
    CHECK(batch.release == NULL);
    cst_pass_free(pass);
    cst_source_release(source);
  }
}

TEST(batches_also_end_when_their_bytes_are_reached) {
  bytes file = {0};
  char record[1000] = {0};
  for (int i = 0; i < 100; i++) {
    bytes_add_record(&file, record, i % 10 == 0 ? 1000 : 100);
  }
  const char *path = write_bytes("sizes", &file);
  bytes_free(&file);
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.format = "raw";
  options.batch_size = 9;
  options.batch_bytes = 1200;
  cst_source *source = open_files(&path, 1, &options);
  cst_pass *pass;
  CHECK_EQ(cst_pass_new(source, &pass, NULL), CST_OK);
  /* 1000 + 2 x 100; 7 x 100 + 1000; 9 x 100, the most; 1000 + 2 x 100 */
  static const int64_t rows[] = {3, 8, 9, 3};
  for (size_t i = 0; i < 4; i++) {
    struct ArrowArray batch;
    CHECK_EQ(cst_pass_next(pass, &batch, NULL), CST_OK);
    CHECK_EQ(batch.length, rows[i]);
    batch.release(&batch);
  }
  cst_pass_free(pass);
  cst_source_release(source);
}

/* ---- failures ---- */

static void check_failure(const char *const *paths, size_t count, int batch_size, int rows,
                          const cst_error *expected) {
  bytes front = {0};
  expected_text(&front, rows, batch_size);
  for (int threads = 1; threads <= 4; threads++) {
    bytes schema_text = {0};
    cst_schema *schema;
    static const char text[] =
        "feature { name: 'id' type: INT } feature { name: 'name' type: BYTES } "
        "feature { name: 'x' type: FLOAT }";
    CHECK_EQ(cst_schema_parse(text, sizeof text - 1, &schema, NULL), CST_OK);
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    options.schema = schema;
    options.batch_size = batch_size;
    options.threads = threads;
    cst_source *source = open_files(paths, count, &options);
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(text_of_pass(source, &schema_text, &error), expected->code);
    check_same(&schema_text, &front);
    CHECK_EQ(error.code, expected->code);
    CHECK_EQ(error.record, expected->record);
    CHECK_EQ(error.offset, expected->offset);
    CHECK_STR(error.file, expected->file);
    CHECK_CONTAINS(error.message, expected->message);
    bytes_free(&schema_text);
    cst_source_release(source);
    cst_schema_release(schema);
  }
  bytes_free(&front);
}

/* The second of three files is damaged; every third number of threads gives the same. */
static void check_damage(void (*damage)(bytes *file), cst_status code, int record, int rows,
                         const char *message) {
  bytes file = {0};
  add_examples(&file, 100, 200);
  int64_t offset = (int64_t)record_offset(&file, record);
  damage(&file);
  const char *paths[] = {write_examples("d0", 0, 100), write_bytes("d1", &file),
                         write_examples("d2", 200, 300)};
  cst_error expected = CST_ERROR_INIT;
  expected.code = code;
  expected.record = record;
  expected.offset = offset;
  (void)snprintf(expected.file, sizeof expected.file, "%s", paths[1]);
  (void)snprintf(expected.message, sizeof expected.message, "%s", message);
  check_failure(paths, 3, 10, rows, &expected);
  bytes_free(&file);
}

static void damage_data(bytes *file) { file->data[record_offset(file, 5) + 20] ^= 1; }
static void damage_length(bytes *file) { file->data[record_offset(file, 5) + 8] ^= 1; }
static void damage_first(bytes *file) { file->data[3] ^= 1; }
static void cut_record(bytes *file) { file->size = record_offset(file, 78) + 40; }
static void cut_header(bytes *file) { file->size = record_offset(file, 78) + 11; }

TEST(damaged_record_in_the_second_file) {
  check_damage(damage_data, CST_CORRUPT, 5, 100, "data CRC");
}
TEST(damaged_length_in_the_second_file) {
  check_damage(damage_length, CST_CORRUPT, 5, 100, "length CRC");
}
TEST(damaged_first_length) { check_damage(damage_first, CST_CORRUPT, 0, 100, "length CRC"); }
TEST(cut_record_in_the_middle) { check_damage(cut_record, CST_CORRUPT, 78, 170, "truncated"); }
TEST(cut_header_in_the_middle) { check_damage(cut_header, CST_CORRUPT, 78, 170, "truncated"); }

static void not_an_example(bytes *file) {
  bytes fresh = {0};
  add_examples(&fresh, 100, 137);
  bytes_add_record(&fresh, "\x0a\x7f", 2);
  add_examples(&fresh, 138, 200);
  bytes_free(file);
  *file = fresh;
}

TEST(record_that_does_not_parse) { check_damage(not_an_example, CST_CORRUPT, 37, 130, ""); }

static void another_type(bytes *file) {
  bytes fresh = {0};
  bytes features = {0};
  bytes record = {0};
  put_text(&features, "id", "no number");
  put_field(&record, 1, features.data, features.size);
  add_examples(&fresh, 100, 137);
  bytes_add_record(&fresh, record.data, record.size);
  bytes_free(file);
  bytes_free(&record);
  bytes_free(&features);
  *file = fresh;
}

TEST(record_of_another_type) { check_damage(another_type, CST_SCHEMA, 37, 130, ""); }

TEST(a_failure_comes_again) {
  bytes file = {0};
  add_examples(&file, 0, 10);
  file.size--;
  const char *path = write_bytes("again", &file);
  bytes_free(&file);
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.format = "raw";
  options.threads = 2;
  cst_source *source = open_files(&path, 1, &options);
  cst_pass *pass;
  CHECK_EQ(cst_pass_new(source, &pass, NULL), CST_OK);
  for (int i = 0; i < 3; i++) {
    struct ArrowArray batch;
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(cst_pass_next(pass, &batch, &error), CST_CORRUPT);
    CHECK(batch.release == NULL);
    CHECK_EQ(error.record, 9);
  }
  cst_pass_free(pass);
  cst_source_release(source);
}

TEST(a_file_that_is_gone_fails_in_its_turn) {
  const char *paths[] = {write_examples("g0", 0, 100), write_examples("g1", 100, 200)};
  for (int threads = 1; threads <= 2; threads++) {
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    options.format = "raw";
    options.batch_size = 100;
    options.threads = threads;
    (void)write_examples("g1", 100, 200);
    cst_source *source = open_files(paths, 2, &options);
    CHECK_EQ(remove(paths[1]), 0);
    cst_pass *pass;
    struct ArrowArray batch;
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(cst_pass_new(source, &pass, NULL), CST_OK);
    CHECK_EQ(cst_pass_next(pass, &batch, &error), CST_OK);
    CHECK_EQ(batch.length, 100);
    batch.release(&batch);
    CHECK_EQ(cst_pass_next(pass, &batch, &error), CST_NOT_FOUND);
    CHECK_STR(error.file, paths[1]);
    cst_pass_free(pass);
    cst_source_release(source);
  }
}

/* ---- stopping ---- */

TEST(early_stops_join_the_threads) {
  const char *paths[7];
  size_t count = write_files(paths);
  for (int taken = 0; taken < 12; taken++) {
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    options.format = "raw";
    options.batch_size = 10;
    options.threads = 1 + taken % 4;
    cst_source *source = open_files(paths, count, &options);
    cst_pass *pass;
    CHECK_EQ(cst_pass_new(source, &pass, NULL), CST_OK);
    cst_source_release(source); /* a pass keeps its source */
    for (int i = 0; i < taken; i++) {
      struct ArrowArray batch;
      CHECK_EQ(cst_pass_next(pass, &batch, NULL), CST_OK);
      batch.release(&batch);
    }
    cst_pass_free(pass);
  }
}

/* What the child says of a pass whose threads are its parent's: 0 if all is as it should be. */
static int check_forked(cst_pass *pass) {
  struct ArrowArray batch;
  cst_error error = CST_ERROR_INIT;
  (void)alarm(60);
  for (int again = 0; again < 2; again++) {
    if (cst_pass_next(pass, &batch, &error) != CST_STATE || batch.release != NULL ||
        strstr(error.message, "this pass was created before a fork") == NULL) {
      return 1;
    }
  }
  cst_pass_free(pass);
  return 0;
}

static int fork_and_wait(int (*run)(cst_pass *pass), cst_pass *pass) {
  int status = -1;
  pid_t child = fork();
  if (child == 0) {
    _exit(run(pass));
  }
  CHECK_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST(a_pass_begun_before_a_fork_is_the_parents) {
  const char *paths[7];
  size_t count = write_files(paths);
  for (int round = 0; round < 40; round++) {
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    options.format = "raw";
    options.batch_size = 10;
    options.threads = 1 + round % 4;
    cst_source *source = open_files(paths, count, &options);
    cst_pass *pass;
    int64_t rows = 0;
    CHECK_EQ(cst_pass_new(source, &pass, NULL), CST_OK);
    cst_source_release(source);
    for (;;) {
      struct ArrowArray batch;
      CHECK_EQ(cst_pass_next(pass, &batch, NULL), CST_OK);
      if (rows == 0) {
        CHECK_EQ(fork_and_wait(check_forked, pass), 0);
      }
      if (batch.release == NULL) {
        break;
      }
      rows += batch.length;
      batch.release(&batch);
    }
    CHECK_EQ(rows, ROWS);
    CHECK_EQ(fork_and_wait(check_forked, pass), 0); /* at its end */
    cst_pass_free(pass);
  }
}

/* Nothing of it runs: it may be begun in the child. */
static int read_unbegun(cst_pass *pass) {
  struct ArrowArray batch;
  if (cst_pass_next(pass, &batch, NULL) != CST_OK || batch.length != 10) {
    return 1;
  }
  batch.release(&batch);
  cst_pass_free(pass);
  return 0;
}

TEST(a_pass_that_is_not_begun_may_be_forked) {
  const char *paths[7];
  size_t count = write_files(paths);
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.format = "raw";
  options.batch_size = 10;
  options.threads = 1;
  cst_source *source = open_files(paths, count, &options);
  cst_pass *pass;
  CHECK_EQ(cst_pass_new(source, &pass, NULL), CST_OK);
  CHECK_EQ(fork_and_wait(read_unbegun, pass), 0);
  cst_pass_free(pass);
  cst_source_release(source);
}

TEST(batches_outlive_pass_and_source) {
  const char *path = write_examples("outlive", 0, 100);
  for (uint32_t flags = 0; flags < 4; flags++) {
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    options.format = "raw";
    options.batch_size = 50;
    options.threads = 2;
    options.flags = flags & 1 ? CST_SOURCE_MEMORY_MAP : 0;
    options.column_flags = flags & 2 ? CST_COLUMNS_BINARY_VIEWS : 0;
    cst_source *source = open_files(&path, 1, &options);
    struct ArrowSchema schema;
    struct ArrowArray batch;
    cst_pass *pass;
    CHECK_EQ(cst_source_arrow_schema(source, &schema, NULL), CST_OK);
    CHECK_EQ(cst_pass_new(source, &pass, NULL), CST_OK);
    CHECK_EQ(cst_pass_next(pass, &batch, NULL), CST_OK);
    cst_pass_free(pass);
    cst_source_release(source);
    bytes record = {0};
    bytes text = {0};
    make_example(&record, 7);
    text_of_batch(&text, &schema, &batch);
    batch.release(&batch);
    schema.release(&schema);
    bytes_add(&text, "", 1);
    bool found = false;
    for (size_t i = 0; i + record.size < text.size && !found; i++) {
      found = memcmp(text.data + i, record.data, record.size) == 0;
    }
    CHECK(found);
    bytes_free(&record);
    bytes_free(&text);
  }
}

TEST(two_passes_at_once) {
  const char *paths[7];
  size_t count = write_files(paths);
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.threads = 2;
  options.batch_size = 10;
  cst_source *source = open_files(paths, count, &options);
  cst_pass *a;
  cst_pass *b;
  CHECK_EQ(cst_pass_new(source, &a, NULL), CST_OK);
  CHECK_EQ(cst_pass_new(source, &b, NULL), CST_OK);
  uint64_t rows_a = 0;
  uint64_t rows_b = 0;
  struct ArrowArray batch;
  do {
    CHECK_EQ(cst_pass_next(a, &batch, NULL), CST_OK);
    if (batch.release != NULL) {
      batch.release(&batch);
      CHECK_EQ(cst_pass_next(b, &batch, NULL), CST_OK);
      batch.release(&batch);
    }
    cst_pass_progress(a, NULL, &rows_a);
    cst_pass_progress(b, NULL, &rows_b);
    CHECK_EQ(rows_a, rows_b);
  } while (rows_a < ROWS);
  uint64_t bytes_read;
  cst_pass_progress(a, &bytes_read, NULL);
  CHECK_EQ(bytes_read, cst_source_total_bytes(source));
  cst_pass_free(a);
  cst_pass_free(b);
  cst_source_release(source);
}

/* ---- memory ---- */

typedef struct scenario {
  const char *paths[3];
  const char *format;
  int threads;
} scenario;

static int read_all(void *ctx) {
  const scenario *s = ctx;
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.format = s->format;
  options.batch_size = 30;
  options.threads = s->threads;
  cst_source *source;
  CST__TRY(cst_source_open(s->paths, 3, &options, &source, NULL));
  cst_pass *pass;
  cst_status status = cst_pass_new(source, &pass, NULL);
  if (status == CST_OK) {
    struct ArrowArray batch = {.release = NULL};
    do {
      if (batch.release != NULL) {
        batch.release(&batch);
      }
      status = cst_pass_next(pass, &batch, NULL);
    } while (status == CST_OK && batch.release != NULL);
    cst_pass_free(pass);
  }
  cst_source_release(source);
  return (int)status;
}

TEST(every_allocation_failure_is_reported) {
  scenario s = {.paths = {write_examples("m0", 0, 50), write_examples("m1", 50, 50),
                          write_examples("m2", 50, 100)}};
  for (s.threads = 1; s.threads <= 2; s.threads++) {
    s.format = "raw";
    FOR_EACH_ALLOCATION_FAILURE(read_all, &s, CST_NO_MEMORY);
    s.format = "example"; /* inferred first */
    FOR_EACH_ALLOCATION_FAILURE(read_all, &s, CST_NO_MEMORY);
  }
}

typedef struct meter {
  atomic_llong now;
  atomic_llong most;
} meter;

static void *metered_allocate(void *ctx, size_t size, size_t align) {
  meter *m = ctx;
  long long now = atomic_fetch_add(&m->now, (long long)size) + (long long)size;
  long long most = atomic_load(&m->most);
  while (now > most && !atomic_compare_exchange_weak(&m->most, &most, now)) {
  }
  void *ptr = NULL;
  return posix_memalign(&ptr, align < sizeof(void *) ? sizeof(void *) : align, size) == 0 ? ptr
                                                                                          : NULL;
}

static void metered_release(void *ctx, void *ptr, size_t size, size_t align) {
  (void)align;
  atomic_fetch_sub(&((meter *)ctx)->now, (long long)size);
  free(ptr);
}

static long long peak_of(const char *path, int threads, int repeat) {
  meter m = {0};
  cst_allocator allocator = {sizeof allocator, metered_allocate, metered_release, &m};
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.format = "raw";
  options.threads = threads;
  options.allocator = &allocator;
  const char *paths[64];
  for (int i = 0; i < repeat; i++) {
    paths[i] = path;
  }
  cst_source *source = open_files(paths, (size_t)repeat, &options);
  struct ArrowArrayStream stream;
  CHECK_EQ(cst_source_stream(source, &stream, NULL), CST_OK);
  for (;;) {
    struct ArrowArray batch;
    CHECK_EQ(stream.get_next(&stream, &batch), 0);
    if (batch.release == NULL) {
      break;
    }
    batch.release(&batch);
  }
  stream.release(&stream);
  cst_source_release(source);
  CHECK_EQ(atomic_load(&m.now), 0);
  return atomic_load(&m.most);
}

TEST(memory_does_not_grow_with_the_input) {
  bytes file = {0};
  char record[4096] = {0};
  for (int i = 0; i < 2000; i++) {
    bytes_add_record(&file, record, sizeof record);
  }
  const char *path = write_bytes("large", &file);
  bytes_free(&file);
  for (int threads = 1; threads <= 3; threads++) {
    long long peak = peak_of(path, threads, 40); /* 320 MB */
    CHECK(peak < (32 + 16 * threads) << 20);
  }
}

/* The earlier of two faults is the one that is told of, whatever the size of a batch. */
TEST(a_fault_in_front_of_a_damaged_length_comes_first) {
  bytes file = {0};
  add_examples(&file, 0, 30);
  file.data[record_offset(&file, 10) + 14] ^= 1; /* data */
  file.data[record_offset(&file, 20)] ^= 1;      /* length */
  const char *path = write_bytes("two", &file);
  const char *columns[] = {"id"};
  static const char schema_text[] = "feature { name: 'id' type: INT }";
  cst_schema *schema;
  CHECK_EQ(cst_schema_parse(schema_text, sizeof schema_text - 1, &schema, NULL), CST_OK);
  for (int64_t batch_size = 1; batch_size < 40; batch_size += 13) {
    for (int32_t threads = 1; threads < 4; threads += 2) {
      cst_source_options options = CST_SOURCE_OPTIONS_INIT;
      options.schema = schema;
      options.columns = columns;
      options.num_columns = 1;
      options.batch_size = batch_size;
      options.threads = threads;
      cst_source *source;
      bytes text = {0};
      cst_error error = CST_ERROR_INIT;
      CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
      CHECK_EQ(text_of_pass(source, &text, &error), CST_CORRUPT);
      CHECK_EQ(error.record, 10);
      cst_source_release(source);
      bytes_free(&text);
    }
  }
  cst_schema_release(schema);
  bytes_free(&file);
}
