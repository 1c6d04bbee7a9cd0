/* Ranges and parts: nothing lost, nothing twice, whatever the records hold and wherever the borders
 * fall. */
#include <unistd.h>

#include "index_support.h"
#include "source/index/boundary.h"
#include "source/input/source.h"
#include "verify_support.h"

static size_t write_files(const char *paths[6]) {
  paths[0] = write_raw("s0.tfrecord", 0, 0);
  paths[1] = write_raw("s1.tfrecord", 0, 5);
  paths[2] = write_raw("s2.tfrecord", 5, 6);
  paths[3] = write_raw("s3.tfrecord", 6, 6);
  paths[4] = write_raw("s4.tfrecord", 6, 15);
  paths[5] = write_raw("s5.tfrecord", 15, 15);
  return 6;
}

/* The source holds the records [first, end) and knows it. */
static void check_source(cst_source *source, int first, int end) {
  bytes names = {0};
  bytes expected = {0};
  cst_error error = CST_ERROR_INIT;
  uint64_t rows = 0;
  CHECK_EQ(names_of_source(source, &names, &error), CST_OK);
  CHECK_STR(error.message, "");
  expect_names(&expected, first, end);
  check_same(&names, &expected);
  CHECK_EQ(cst_source_num_rows(source, &rows, &error), CST_OK);
  CHECK_EQ(rows, end - first);
  for (uint64_t i = 0; i < rows; i++) {
    struct ArrowArray batch;
    names.size = 0;
    expected.size = 0;
    CHECK_EQ(cst_source_take(source, &i, 1, &batch, &error), CST_OK);
    names_of_batch(&names, &batch);
    batch.release(&batch);
    expect_names(&expected, first + (int)i, first + (int)i + 1);
    check_same(&names, &expected);
  }
  bytes_free(&names);
  bytes_free(&expected);
}

/* ---- ranges ---- */

TEST(every_range) {
  const char *paths[6];
  size_t count = write_files(paths);
  for (uint32_t flags = 0; flags <= CST_SOURCE_MEMORY_MAP; flags += CST_SOURCE_MEMORY_MAP) {
    cst_source *source = open_raw_files(paths, count, flags);
    for (int begin = 0; begin <= 16; begin++) {
      for (int end = begin; end <= 17; end++) {
        cst_source *part = NULL;
        CHECK_EQ(cst_source_range(source, (uint64_t)begin, (uint64_t)end, &part, NULL), CST_OK);
        int last = end < 15 ? end : 15;
        check_source(part, begin < last ? begin : last, last);
        cst_source_release(part);
      }
    }
    cst_source_release(source);
  }
}

TEST(ranges_of_ranges_outlive_what_they_come_from) {
  const char *paths[6];
  size_t count = write_files(paths);
  for (int indexed = 0; indexed < 2; indexed++) {
    for (size_t i = 0; i < count && indexed != 0; i++) {
      save_index(paths[i]);
    }
    cst_source *source = open_raw_files(paths, count, 0);
    cst_source *middle = NULL;
    cst_source *part = NULL;
    CHECK_EQ(cst_source_range(source, 2, 12, &middle, NULL), CST_OK);
    cst_source_release(source);
    CHECK_EQ(cst_source_range(middle, 1, 8, &part, NULL), CST_OK);
    check_source(middle, 2, 12);
    cst_source_release(middle);
    check_source(part, 3, 10);
    cst_source *half = NULL;
    CHECK_EQ(cst_source_split(part, 0, 1, &half, NULL), CST_OK);
    check_source(half, 3, 10);
    CHECK(cst_source_total_bytes(half) > 0);
    CHECK_EQ(cst_source_total_bytes(half), cst_source_total_bytes(part));
    cst_source_release(half);
    cst_source_release(part);
  }
}

TEST(range_that_is_none) {
  const char *path = write_raw("none.tfrecord", 0, 5);
  cst_source *source = open_raw_files(&path, 1, 0);
  cst_source *part = NULL;
  CHECK_EQ(cst_source_range(source, 3, 2, &part, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_source_split(source, 2, 2, &part, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_source_split(source, 0, 0, &part, NULL), CST_INVALID_ARGUMENT);
  cst_source_release(source);
}

TEST(errors_of_a_range_have_the_numbers_of_the_file) {
  bytes file = {0};
  for (int i = 0; i < 20; i++) {
    add_raw(&file, i, 50);
  }
  size_t at = record_offset(&file, 11);
  file.data[at + 20] ^= 1;
  const char *path = write_bytes("numbers.tfrecord", &file);
  cst_source *source = open_raw_files(&path, 1, 0);
  cst_source *part = NULL;
  cst_error error = CST_ERROR_INIT;
  bytes names = {0};
  CHECK_EQ(cst_source_range(source, 8, 15, &part, NULL), CST_OK);
  CHECK_EQ(names_of_source(part, &names, &error), CST_CORRUPT);
  CHECK_EQ(error.record, 11);
  CHECK_EQ(error.offset, at);
  uint64_t row = 3;
  struct ArrowArray batch;
  error = (cst_error)CST_ERROR_INIT;
  CHECK_EQ(cst_source_take(part, &row, 1, &batch, &error), CST_CORRUPT);
  CHECK_EQ(error.record, 11);
  cst_source_release(part);
  cst_source_release(source);
  bytes_free(&names);
  bytes_free(&file);
}

TEST(progress_and_count_of_a_range) {
  const char *path = write_raw("progress.tfrecord", 0, 500);
  cst_source *source = open_raw_files(&path, 1, 0);
  cst_source *part = NULL;
  cst_pass *pass = NULL;
  struct ArrowArray batch;
  uint64_t read = 0;
  uint64_t rows = 0;
  CHECK_EQ(cst_source_range(source, 100, 300, &part, NULL), CST_OK);
  CHECK_EQ(cst_pass_new(part, &pass, NULL), CST_OK);
  while (cst_pass_next(pass, &batch, NULL) == CST_OK && batch.release != NULL) {
    batch.release(&batch);
  }
  cst_pass_progress(pass, &read, &rows);
  CHECK_EQ(rows, 200);
  CHECK_EQ(read, cst_source_total_bytes(part));
  cst_pass_free(pass);
  cst_source_release(part);
  cst_source_release(source);
}

TEST(file_that_shrinks_under_a_range) {
  const char *path = write_raw("shrinks.tfrecord", 0, 50);
  cst_source *source = open_raw_files(&path, 1, 0);
  cst_source *part = NULL;
  cst_error error = CST_ERROR_INIT;
  bytes names = {0};
  CHECK_EQ(cst_source_range(source, 10, 40, &part, NULL), CST_OK);
  CHECK_EQ(truncate(path, (off_t)1200), 0);
  CHECK_EQ(names_of_source(part, &names, &error), CST_IO);
  CHECK_CONTAINS(error.message, "shorter");
  cst_source_release(part);
  cst_source_release(source);
  bytes_free(&names);
}

/* ---- parts ---- */

/* All n parts together are the source; `exact`: they have the same number of rows, but for one. */
static void check_parts(cst_source *source, uint32_t n, int records, bool exact) {
  bytes names = {0};
  bytes expected = {0};
  cst_error error = CST_ERROR_INIT;
  for (uint32_t i = 0; i < n; i++) {
    cst_source *part = NULL;
    uint64_t rows = 0;
    CHECK_EQ(cst_source_split(source, i, n, &part, &error), CST_OK);
    cst_status status = names_of_source(part, &names, &error);
    CHECK_STR(error.message, "");
    CHECK_EQ(status, CST_OK);
    CHECK_EQ(cst_source_num_rows(part, &rows, &error), CST_OK);
    CHECK(!exact || rows == (uint64_t)records / n || rows == (uint64_t)records / n + 1);
    cst_source_release(part);
  }
  expect_names(&expected, 0, records);
  check_same(&names, &expected);
  bytes_free(&names);
  bytes_free(&expected);
}

TEST(every_number_of_parts) {
  const char *paths[6];
  size_t count = write_files(paths);
  for (int indexed = 0; indexed < 2; indexed++) {
    for (size_t i = 0; i < count && indexed != 0; i++) {
      save_index(paths[i]);
    }
    cst_source *source = open_raw_files(paths, count, 0);
    for (uint32_t n = 1; n < 40; n++) {
      check_parts(source, n, 15, indexed != 0);
    }
    cst_source_release(source);
  }
}

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525 + 1013904223;
  return *state >> 8;
}

/* A record whose payload is, after its name, a piece of a TFRecord file. */
static void add_nested(bytes *file, int number, uint32_t *state) {
  bytes inner = {0};
  bytes record = {0};
  for (uint32_t i = 0, count = next_random(state) % 30; i < count; i++) {
    add_raw(&inner, -1, next_random(state) % 50);
  }
  size_t from = inner.size > 0 && next_random(state) % 2 == 0 ? next_random(state) % inner.size : 0;
  size_t cut = next_random(state) % 3 == 0 ? next_random(state) % (inner.size - from + 1) : 0;
  text_of(&record, "r%" PRId64 "|", number);
  if (inner.size > 0) {
    bytes_add(&record, inner.data + from, inner.size - from - cut);
  }
  bytes_add_record(file, record.data, record.size);
  bytes_free(&inner);
  bytes_free(&record);
}

TEST(random_files_with_records_in_their_records) {
  uint32_t state = 4;
  for (int round = 0; round < 60; round += EVERY) {
    const char *paths[3];
    int records = 0;
    for (int f = 0; f < 3; f++) {
      bytes file = {0};
      char name[32];
      for (uint32_t i = 0, count = next_random(&state) % 12; i < count; i++) {
        switch (next_random(&state) % 4) {
          case 0:
            add_raw(&file, records++, next_random(&state) % 3000);
            break;
          case 1:
            add_raw(&file, records++, 0);
            break;
          default:
            add_nested(&file, records++, &state);
        }
      }
      (void)snprintf(name, sizeof name, "random-%d.tfrecord", f);
      paths[f] = write_bytes(name, &file);
      bytes_free(&file);
    }
    cst_source *source = open_raw_files(paths, 3, round % 2 == 0 ? 0 : CST_SOURCE_MEMORY_MAP);
    for (uint32_t n = 1; n < 30; n += 1 + n / 6) {
      check_parts(source, n, records, false);
    }
    cst_source_release(source);
  }
}

/* Every byte of a file as the place where the search begins. */
TEST(border_behind_every_byte) {
  bytes file = {0};
  uint32_t state = 9;
  for (int i = 0; i < 12; i++) {
    if (i % 2 == 0) {
      add_nested(&file, i, &state);
    } else {
      add_raw(&file, i, (size_t)(i * 10));
    }
  }
  const char *path = write_bytes("border.tfrecord", &file);
  cst_source *source = open_raw_files(&path, 1, 0);
  int next = 0;
  for (size_t at = 0; at < file.size; at++) {
    uint64_t found = 0;
    if (at > record_offset(&file, next)) {
      next++;
    }
    CHECK_EQ(cst__boundary_find(source, 0, at, file.size, &found, NULL), CST_OK);
    CHECK_EQ(found, next < 12 ? record_offset(&file, next) : file.size);
  }
  cst_source_release(source);
  bytes_free(&file);
}

TEST(windows_of_the_search) {
  static const size_t sizes[] = {(256 << 10) - 40, (256 << 10) - 24, (256 << 10) - 12,
                                 256 << 10,        (512 << 10) + 7,  3 << 20};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    bytes file = {0};
    for (int r = 0; r < 6; r++) {
      add_raw(&file, r, sizes[i]);
    }
    const char *path = write_bytes("windows.tfrecord", &file);
    cst_source *source = open_raw_files(&path, 1, 0);
    for (uint32_t n = 2; n < 9; n++) {
      check_parts(source, n, 6, false);
    }
    cst_source_release(source);
    bytes_free(&file);
  }
}

/* More records in a record than the search looks at: the border is wrong, and is noticed. */
TEST(border_that_is_none_is_an_error) {
  bytes inner = {0};
  bytes file = {0};
  bytes names = {0};
  for (int i = 0; i < 300; i++) {
    add_raw(&inner, i, 64 << 10);
  }
  CHECK(inner.size > 2 * CST__BOUNDARY_BYTES);
  bytes_add_record(&file, inner.data, inner.size);
  add_raw(&file, 1, 10);
  const char *path = write_bytes("fooled.tfrecord", &file);
  cst_source *source = open_raw_files(&path, 1, 0);
  cst_source *part = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_source_split(source, 0, 10, &part, NULL), CST_OK);
  CHECK_EQ(names_of_source(part, &names, &error), CST_CORRUPT);
  CHECK_CONTAINS(error.message, "last record of this part");
  CHECK_CONTAINS(error.hint, "columnstone index");
  cst_source_release(part);
  cst_source_release(source);
  bytes_free(&inner);
  bytes_free(&file);
  bytes_free(&names);
}

/* ---- damage ---- */

TEST(parts_of_a_damaged_file) {
  for (int place = 0; place < 40; place++) {
    bytes file = {0};
    for (int i = 0; i < 40; i++) {
      add_raw(&file, i, 50);
    }
    file.data[record_offset(&file, place) + (place % 2 == 0 ? 3 : 20)] ^= 64;
    const char *path = write_bytes("skip.tfrecord", &file);
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    options.format = "raw";
    options.on_error = CST_ON_ERROR_SKIP;
    cst_source *source = NULL;
    CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
    for (uint32_t n = 1; n < 8; n++) {
      bytes names = {0};
      bytes expected = {0};
      for (uint32_t i = 0; i < n; i++) {
        cst_source *part = NULL;
        CHECK_EQ(cst_source_split(source, i, n, &part, NULL), CST_OK);
        CHECK_EQ(names_of_source(part, &names, NULL), CST_OK);
        cst_source_release(part);
      }
      expect_names(&expected, 0, place);
      expect_names(&expected, place + 1, 40);
      check_same(&names, &expected);
      bytes_free(&names);
      bytes_free(&expected);
    }
    cst_source_release(source);
    bytes_free(&file);
  }
}

TEST(parts_without_numbers_name_the_offset) {
  bytes file = {0};
  for (int i = 0; i < 40; i++) {
    add_raw(&file, i, CST__BOUNDARY_BYTES / 10);
  }
  size_t at = record_offset(&file, 35);
  file.data[at + 20] ^= 1;
  const char *path = write_bytes("offset.tfrecord", &file);
  cst_source *source = open_raw_files(&path, 1, 0);
  cst_source *part = NULL;
  cst_error error = CST_ERROR_INIT;
  bytes names = {0};
  CHECK_EQ(cst_source_split(source, 1, 2, &part, NULL), CST_OK);
  CHECK_EQ(names_of_source(part, &names, &error), CST_CORRUPT);
  CHECK_EQ(error.record, -1);
  CHECK_EQ(error.offset, at);
  CHECK_EQ(faults_of(part), 1);
  cst_source_release(part);
  cst_source_release(source);
  bytes_free(&names);
  bytes_free(&file);
}

/* ---- what is not divided by bytes ---- */

TEST(compressed_files_are_divided_by_files) {
  const char *paths[3];
  int records = 0;
  for (int f = 0; f < 3; f++) {
    bytes file = {0};
    bytes packed = {0};
    char name[32];
    for (int i = 0; i < 5; i++) {
      add_raw(&file, records++, 20);
    }
    (void)snprintf(name, sizeof name, "packed-%d.gz", f);
    CHECK_EQ(add_compressed(&packed, CST_COMPRESSION_GZIP, file.data, file.size), CST_OK);
    paths[f] = write_bytes(name, f == 1 ? &file : &packed); /* one of them is plain */
    bytes_free(&file);
    bytes_free(&packed);
  }
  cst_source *source = open_raw_files(paths, 3, 0);
  for (uint32_t n = 1; n < 6; n++) {
    check_parts(source, n, records, false);
  }
  cst_source *part = NULL;
  CHECK_EQ(cst_source_split(source, 1, 3, &part, NULL), CST_OK);
  CHECK_EQ(cst_source_num_files(part), 1);
  CHECK_STR(cst_source_file(part, 0), paths[1]);
  cst_source_release(part);
  cst_source_release(source);
}

TEST(readers_are_divided_by_readers) {
  bytes file = {0};
  for (int i = 0; i < 5; i++) {
    add_raw(&file, i, 50);
  }
  for (int can_seek = 0; can_seek < 2; can_seek++) {
    memory m = {.data = file.data, .size = file.size};
    cst_reader reader = memory_reader(&m, can_seek);
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    cst_source *source = NULL;
    cst_source *part = NULL;
    options.format = "raw";
    CHECK_EQ(cst_source_open_readers(&reader, 1, &options, &source, NULL), CST_OK);
    if (can_seek) {
      check_parts(source, 2, 5, false);
      CHECK_EQ(cst_source_range(source, 1, 4, &part, NULL), CST_OK);
      cst_source_release(source);
      check_source(part, 1, 4);
      CHECK_EQ(m.closed, 0);
      cst_source_release(part);
    } else {
      CHECK_EQ(cst_source_split(source, 0, 2, &part, NULL), CST_UNSUPPORTED);
      CHECK_EQ(cst_source_range(source, 0, 2, &part, NULL), CST_UNSUPPORTED);
      cst_source_release(source);
    }
    CHECK_EQ(m.closed, 1);
  }
  bytes_free(&file);
}

/* ---- schema ---- */

TEST(parts_have_the_columns_of_the_whole) {
  bytes file = {0};
  bytes features = {0};
  bytes record = {0};
  add_examples(&file, 0, 50);
  put_int(&features, "late", 1); /* only the last record has this */
  put_field(&record, 1, features.data, features.size);
  bytes_add_record(&file, record.data, record.size);
  const char *path = write_bytes("columns.tfrecord", &file);
  cst_source *source = NULL;
  CHECK_EQ(cst_source_open(&path, 1, NULL, &source, NULL), CST_OK);
  for (uint32_t i = 0; i < 4; i++) {
    cst_source *part = NULL;
    struct ArrowSchema schema;
    CHECK_EQ(i < 3 ? cst_source_split(source, i, 3, &part, NULL)
                   : cst_source_range(source, 0, 2, &part, NULL),
             CST_OK);
    CHECK_EQ(cst_source_arrow_schema(part, &schema, NULL), CST_OK);
    CHECK_EQ(schema.n_children, 4);
    schema.release(&schema);
    cst_source_release(part);
  }
  cst_source_release(source);
  bytes_free(&file);
  bytes_free(&features);
  bytes_free(&record);
}

/* ---- memory ---- */

static cst_status split_once(void *context) {
  const char *const *paths = context;
  cst_source *source;
  bytes names = {0};
  CST__TRY(cst_source_open(paths, 2, NULL, &source, NULL));
  cst_status status = CST_OK;
  for (uint32_t i = 0; i < 4 && status == CST_OK; i++) {
    cst_source *part = NULL;
    status = i < 3 ? cst_source_split(source, i, 3, &part, NULL)
                   : cst_source_range(source, 1, 9, &part, NULL);
    if (status == CST_OK) {
      cst_pass *pass = NULL;
      struct ArrowArray batch;
      status = cst_pass_new(part, &pass, NULL);
      if (status == CST_OK) {
        status = cst_pass_next(pass, &batch, NULL);
      }
      if (status == CST_OK && batch.release != NULL) {
        batch.release(&batch);
      }
      cst_pass_free(pass);
      cst_source_release(part);
    }
  }
  cst_source_release(source);
  bytes_free(&names);
  return status;
}

static int run_split_once(void *context) { return (int)split_once(context); }

TEST(allocation_failures) {
  const char *paths[] = {write_examples("m0.tfrecord", 0, 6), write_examples("m1.tfrecord", 6, 10)};
  FOR_EACH_ALLOCATION_FAILURE(run_split_once, (void *)paths, CST_NO_MEMORY);
}
