/* Indexes: what they say, their files undamaged and damaged, their text, and allocation failures.
 */
#include <unistd.h>

#include "index_support.h"
#include "source/index/index.h"

enum { RECORDS = 20 };

static cst_index *build(const char *path) {
  cst_index *index = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_index_build(path, NULL, &index, &error), CST_OK);
  CHECK_STR(error.message, "");
  return index;
}

/* Every record of the index lies where the bytes have it. */
static void check_index(const cst_index *index, const bytes *file, uint64_t records) {
  uint64_t at = 0;
  CHECK_EQ(cst_index_num_records(index), records);
  for (uint64_t i = 0; i < records; i++) {
    uint64_t offset;
    uint64_t size;
    uint64_t length;
    cst_index_record(index, i, &offset, &size);
    CHECK_EQ(offset, at);
    memcpy(&length, file->data + at, sizeof length);
    CHECK_EQ(size, length);
    at += length + 16;
  }
  CHECK_EQ(at, file->size);
}

TEST(index_says_where_records_are) {
  bytes file = {0};
  for (int i = 0; i < RECORDS; i++) {
    add_raw(&file, i, (size_t)(i * i * 997 % 100000));
  }
  bytes_add_record(&file, "", 0);
  cst_index *index = build(write_bytes("a.tfrecord", &file));
  check_index(index, &file, RECORDS + 1);
  cst_index_free(index);
  bytes_free(&file);
}

static int get_batch(void *context) {
  const cst_index *index = context;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst_status status = cst_index_batch(index, &schema, &batch, NULL);
  if (status == CST_OK) {
    schema.release(&schema);
    batch.release(&batch);
  }
  return (int)status;
}

/* The batch has what the index says, shares its offsets, and outlives it. */
TEST(index_as_a_batch) {
  bytes file = {0};
  struct ArrowSchema schema;
  struct ArrowArray batch;
  for (int i = 0; i < RECORDS; i++) {
    add_raw(&file, i, (size_t)(i * 7));
  }
  cst_index *index = build(write_bytes("batch.tfrecord", &file));
  const uint64_t *shared = index->offsets;
  CHECK_EQ(cst_index_batch(index, &schema, &batch, NULL), CST_OK);
  CHECK_STR(schema.children[0]->name, "offset");
  CHECK_STR(schema.children[1]->name, "size");
  CHECK_EQ(batch.length, RECORDS);
  CHECK(batch.children[0]->buffers[1] == shared);
  for (uint64_t i = 0; i < RECORDS; i++) {
    uint64_t offset, size;
    cst_index_record(index, i, &offset, &size);
    CHECK_EQ(((const uint64_t *)batch.children[0]->buffers[1])[i], offset);
    CHECK_EQ(((const uint64_t *)batch.children[1]->buffers[1])[i], size);
  }
  FOR_EACH_ALLOCATION_FAILURE(get_batch, index, CST_NO_MEMORY);
  cst_index_free(index);
  CHECK_EQ(((const uint64_t *)batch.children[0]->buffers[1])[0], 0);
  schema.release(&schema);
  batch.release(&batch);
  CHECK_EQ(cst_index_batch(NULL, &schema, &batch, NULL), CST_INVALID_ARGUMENT);
  bytes_free(&file);
}

TEST(index_of_an_empty_file) {
  bytes file = {0};
  const char *path = write_bytes("empty.tfrecord", &file);
  cst_index *index = build(path);
  check_index(index, &file, 0);
  CHECK_EQ(cst_index_save(index, path, NULL), CST_OK);
  cst_index_free(index);
  index = NULL;
  CHECK_EQ(cst_index_open(path, NULL, &index, NULL), CST_OK);
  CHECK_EQ(cst_index_num_records(index), 0);
  cst_index_free(index);
}

TEST(index_is_saved_and_loaded) {
  bytes file = {0};
  add_examples(&file, 0, 3000);
  const char *path = write_bytes("saved.tfrecord", &file);
  save_index(path);
  cst_index *index = NULL;
  CHECK_EQ(cst_index_open(path, NULL, &index, NULL), CST_OK);
  check_index(index, &file, 3000);
  cst_index_free(index);
  bytes_free(&file);
}

static cst_status try_load(const char *path, cst_error *error) {
  cst_index *index = NULL;
  cst_status status = cst_index_open(path, NULL, &index, error);
  CHECK((status == CST_OK) == (index != NULL));
  cst_index_free(index);
  return status;
}

TEST(damaged_index_is_corrupt_at_every_byte) {
  const char *path = write_raw("damaged.tfrecord", 0, 7);
  const char *name = index_path(path);
  bytes whole = {0};
  save_index(path);
  read_file(name, &whole);
  CHECK_EQ(whole.size, sizeof(cst__index_head) + 7 * 8 + 4);
  for (size_t i = 0; i < whole.size; i++) {
    for (int bit = 0; bit < 8; bit += 7) {
      cst_error error = CST_ERROR_INIT;
      whole.data[i] ^= (uint8_t)(1 << bit);
      harness_write_file(name, whole.data, whole.size);
      bool container = i == 10 && bit == 0; /* of another one, as far as it says; */
      bool version = i >= 8 && i < 12 && whole.data[8] != 0 && !container; /* or a later one */
      CHECK_EQ(try_load(path, &error), version ? CST_UNSUPPORTED : CST_CORRUPT);
      CHECK_STR(error.file, name);
      CHECK_CONTAINS(error.hint, "columnstone index");
      whole.data[i] ^= (uint8_t)(1 << bit);
    }
    harness_write_file(name, whole.data, i);
    CHECK_EQ(try_load(path, NULL), CST_CORRUPT);
  }
  bytes_add(&whole, "", 1);
  harness_write_file(name, whole.data, whole.size);
  CHECK_EQ(try_load(path, NULL), CST_CORRUPT);
  bytes_free(&whole);
}

/* Writes an index file with a right checksum. */
static void write_index(const char *path, cst__index_head head, const uint64_t *offsets,
                        size_t count) {
  bytes b = {0};
  bytes_add(&b, &head, sizeof head);
  bytes_add(&b, offsets, count * sizeof *offsets);
  uint32_t crc = cst__crc32c(0, b.data, b.size);
  bytes_add(&b, &crc, sizeof crc);
  harness_write_file(index_path(path), b.data, b.size);
  bytes_free(&b);
}

TEST(index_that_lies_is_refused) {
  const char *path = write_raw("lies.tfrecord", 0, 3);
  cst_index *index = build(path);
  uint64_t sound[3];
  memcpy(sound, index->offsets, sizeof sound);
  cst__index_head head = {.magic = {'C', 'S', 'T', 'I', 'N', 'D', 'E', 'X'},
                          .version = CST__INDEX_VERSION,
                          .data_crc = index->identity.crc,
                          .data_size = index->identity.size,
                          .num_records = 3};
  cst_index_free(index);
  write_index(path, head, sound, 3);
  CHECK_EQ(try_load(path, NULL), CST_OK);

  static const uint64_t wrong[][3] = {
      {16, 32, 64}, {0, 64, 32}, {0, 10, 64}, {0, 32, 1 << 30}, {0, 32, UINT64_MAX - 8}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    write_index(path, head, wrong[i], 3);
    CHECK_EQ(try_load(path, NULL), CST_CORRUPT);
  }
  static const uint64_t counts[] = {2, 4, UINT64_MAX, UINT64_MAX / 8, UINT64_C(1) << 61};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    cst__index_head other = head;
    other.num_records = counts[i];
    write_index(path, other, sound, 3);
    CHECK_EQ(try_load(path, NULL), CST_CORRUPT);
  }
  cst_error error = CST_ERROR_INIT;
  cst__index_head newer = head;
  newer.version = 2;
  write_index(path, newer, sound, 3);
  CHECK_EQ(try_load(path, &error), CST_UNSUPPORTED);
  CHECK_CONTAINS(error.message, "version 2");
  newer.num_records = 100; /* nothing else of it need be as it is here */
  newer.data_size = 1;
  write_index(path, newer, sound, 2);
  CHECK_EQ(try_load(path, &error), CST_UNSUPPORTED);
}

TEST(index_of_other_data_is_noticed) {
  const char *path = write_raw("other.tfrecord", 0, 5000);
  bytes file = {0};
  cst_error error = CST_ERROR_INIT;
  read_file(path, &file);
  CHECK(file.size > 2 * CST__INDEX_IDENTITY);
  save_index(path);
  static const char text[] = "columnstone index";
  size_t places[] = {0, CST__INDEX_IDENTITY - 1, file.size - 1, file.size - CST__INDEX_IDENTITY};
  for (size_t i = 0; i < 4; i++) {
    file.data[places[i]] ^= 4;
    harness_write_file(path, file.data, file.size);
    CHECK_EQ(try_load(path, &error), CST_STATE);
    CHECK_CONTAINS(error.hint, text);
    CHECK_STR(error.file, path);
    file.data[places[i]] ^= 4;
  }
  bytes_add_record(&file, "more", 4);
  harness_write_file(path, file.data, file.size);
  CHECK_EQ(try_load(path, &error), CST_STATE);
  bytes_free(&file);
}

TEST(what_is_not_there_is_not_found) {
  cst_error error = CST_ERROR_INIT;
  const char *path = write_raw("none.tfrecord", 0, 3);
  CHECK_EQ(try_load(path, &error), CST_NOT_FOUND);
  CHECK_STR(error.file, index_path(path));
  save_index(path);
  CHECK_EQ(unlink(path), 0);
  CHECK_EQ(try_load(path, &error), CST_NOT_FOUND);
  CHECK_STR(error.file, path);
  cst_index *index = NULL;
  CHECK_EQ(cst_index_build(path, NULL, &index, &error), CST_NOT_FOUND);
  (void)write_raw("glob1.tfrecord", 0, 3);
  path = harness_temp_path("glob?.tfrecord");
  CHECK_EQ(cst_index_build(path, NULL, &index, &error), CST_NOT_FOUND);
  CHECK_CONTAINS(error.message, "pattern");
}

TEST(compressed_and_damaged_files_have_no_index) {
  static const cst_compression kinds[] = {CST_COMPRESSION_GZIP, CST_COMPRESSION_ZLIB,
                                          CST_COMPRESSION_ZSTD};
  cst_index *index = NULL;
  for (size_t i = 0; i < 3; i++) {
    for (int records = 0; records <= 3; records += 3) { /* also a compressed file of nothing */
      bytes file = {0};
      bytes packed = {0};
      cst_error error = CST_ERROR_INIT;
      add_examples(&file, 0, records);
      CHECK_EQ(add_compressed(&packed, kinds[i], file.data != NULL ? file.data : (uint8_t *)"",
                              file.size),
               CST_OK);
      const char *path = write_bytes("packed", &packed);
      CHECK_EQ(cst_index_build(path, NULL, &index, &error), CST_UNSUPPORTED);
      CHECK_CONTAINS(error.hint, "without compression");
      CHECK_STR(error.file, path);
      bytes_free(&file);
      bytes_free(&packed);
    }
  }
  bytes file = {0};
  cst_error error = CST_ERROR_INIT;
  add_examples(&file, 0, 9);
  file.data[record_offset(&file, 5) + 9] ^= 1;
  const char *path = write_bytes("broken.tfrecord", &file);
  CHECK_EQ(cst_index_build(path, NULL, &index, &error), CST_CORRUPT);
  CHECK_EQ(error.record, 5);
  bytes_free(&file);
}

static bool stop_at_once(void *ctx, uint64_t total, uint64_t records) {
  *(uint64_t *)ctx = total + records;
  return false;
}

TEST(progress_is_told_and_stops) {
  bytes file = {0};
  uint64_t told = 0;
  cst_index *index = NULL;
  add_raw(&file, 0, 17 << 20);
  add_raw(&file, 1, 10);
  const char *path = write_bytes("large.tfrecord", &file);
  cst_index_options options = CST_INDEX_OPTIONS_INIT;
  options.on_progress = stop_at_once;
  options.progress_ctx = &told;
  CHECK_EQ(cst_index_build(path, &options, &index, NULL), CST_CALLBACK);
  CHECK(told > 17 << 20);
  index = build(path);
  check_index(index, &file, 2);
  cst_index_free(index);
  bytes_free(&file);
}

/* ---- text ---- */

static cst_status import(const char *text, const char *path, cst_error *error) {
  cst_index *index = NULL;
  static char *text_path; /* the names of the harness are used again after a while */
  text_path = text_path != NULL ? text_path : strdup(harness_temp_path("lines.txt"));
  harness_write_file(text_path, text, strlen(text));
  cst_status status = cst_index_open_text(text_path, path, NULL, &index, error);
  if (status == CST_OK) {
    CHECK_EQ(cst_index_num_records(index), 3);
  } else if (error != NULL && status == CST_CORRUPT) {
    CHECK_STR(error->file, text_path);
  }
  cst_index_free(index);
  return status;
}

TEST(text_is_exported_and_imported) {
  bytes file = {0};
  bytes text = {0};
  bytes_add_record(&file, "abc", 3);
  bytes_add_record(&file, "", 0);
  bytes_add_record(&file, "0123456789", 10);
  const char *path = write_bytes("text.tfrecord", &file);
  const char *text_path = harness_temp_path("text.idx");
  cst_index *index = build(path);
  CHECK_EQ(cst_index_save_text(index, text_path, NULL), CST_OK);
  cst_index_free(index);
  read_file(text_path, &text);
  bytes_add(&text, "", 1);
  CHECK_STR((const char *)text.data, "0 19\n19 16\n35 26\n");
  CHECK_EQ(import((const char *)text.data, path, NULL), CST_OK);
  CHECK_EQ(import("0 19\r\n19 16\r\n35 26", path, NULL), CST_OK);

  static const struct {
    const char *text;
    int line;
  } wrong[] = {
      {"", 1},
      {"0 19\n19 16\n", 3},
      {"0 19\n19 16\n35 26\n61 16\n", 4},
      {"0 19\n19 17\n35 26\n", 2},
      {"0 19\n20 16\n35 26\n", 2},
      {"0 19\n19 16\n35 -26\n", 3},
      {"0 19\n19 16 \n35 26\n", 2},
      {"0 19\n\n19 16\n35 26\n", 2},
      {"0  19\n19 16\n35 26\n", 1},
      {"0\n19 16\n35 26\n", 1},
      {"x 19\n19 16\n35 26\n", 1},
      {"0 18446744073709551635\n19 16\n35 26\n", 1},
      {"0 19\n19 16\n0000000000000000000000000000000000000000000000000000000000000000035 26", 3}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(import(wrong[i].text, path, &error), CST_CORRUPT);
    CHECK_EQ(error.line, wrong[i].line);
  }
  bytes_free(&file);
  bytes_free(&text);
}

/* ---- arguments and memory ---- */

TEST(missing_arguments_are_named) {
  cst_error error = CST_ERROR_INIT;
  cst_index *index = NULL;
  CHECK_EQ(cst_index_build(NULL, NULL, &index, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_index_open("x", NULL, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_index_save(NULL, "x", &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_index_save_text(NULL, "x", &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_index_open_text("x", NULL, NULL, &index, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_source_num_rows(NULL, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_source_take(NULL, NULL, 0, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_source_range(NULL, 0, 1, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_source_split(NULL, 0, 1, NULL, &error), CST_INVALID_ARGUMENT);
  cst_index_free(NULL);
}

typedef struct paths {
  const char *data;
  const char *text;
} paths;

static cst_status make_all(void *context) {
  const paths *p = context;
  cst_index *index;
  cst_index *other;
  CST__TRY(cst_index_build(p->data, NULL, &index, NULL));
  cst_status status = cst_index_save(index, p->data, NULL);
  status = status == CST_OK ? cst_index_save_text(index, p->text, NULL) : status;
  cst_index_free(index);
  CST__TRY(status);
  CST__TRY(cst_index_open(p->data, NULL, &other, NULL));
  cst_index_free(other);
  CST__TRY(cst_index_open_text(p->text, p->data, NULL, &other, NULL));
  cst_index_free(other);
  return CST_OK;
}

static int run_make_all(void *context) { return (int)make_all(context); }

TEST(allocation_failures) {
  paths p = {write_raw("memory.tfrecord", 0, 50), harness_temp_path("memory.txt")};
  FOR_EACH_ALLOCATION_FAILURE(run_make_all, &p, CST_NO_MEMORY);
}
