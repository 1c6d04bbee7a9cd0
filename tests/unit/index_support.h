/* What the tests of indexes, random access and splitting share: files of raw records, and sources
 * of them as text.
 */
#ifndef TESTS_UNIT_INDEX_SUPPORT_H
#define TESTS_UNIT_INDEX_SUPPORT_H

#include <columnstone/index.h>

#include "source_support.h"

/* Adds the names of the batch's raw records, what stands in front of their first '|', to `out`. */
static inline void names_of_batch(bytes *out, const struct ArrowArray *batch) {
  const struct ArrowArray *column = batch->children[0];
  const int64_t *offsets = column->buffers[1];
  const uint8_t *data = column->buffers[2];
  for (int64_t i = 0; i < batch->length; i++) {
    const uint8_t *record = data + offsets[column->offset + i];
    size_t size = (size_t)(offsets[column->offset + i + 1] - offsets[column->offset + i]);
    const uint8_t *bar = size > 0 ? memchr(record, '|', size) : NULL;
    bytes_add(out, record, bar != NULL ? (size_t)(bar - record) : size);
    bytes_add(out, ";", 1);
  }
}

/* The same for all that a source's pass gives. */
static inline cst_status names_of_source(cst_source *source, bytes *out, cst_error *error) {
  cst_pass *pass;
  struct ArrowArray batch;
  cst_status status;
  CST__TRY(cst_pass_new(source, &pass, error));
  for (;;) {
    status = cst_pass_next(pass, &batch, error);
    if (status != CST_OK || batch.release == NULL) {
      break;
    }
    names_of_batch(out, &batch);
    batch.release(&batch);
  }
  cst_pass_free(pass);
  return status;
}

/* Adds the record "r<number>|" with `size` bytes of noise behind it. */
static inline void add_raw(bytes *file, int number, size_t size) {
  bytes record = {0};
  text_of(&record, "r%" PRId64 "|", number);
  add_noise(&record, size, (uint32_t)number + 1);
  bytes_add_record(file, record.data, record.size);
  bytes_free(&record);
}

/* A file with the raw records [first, end), of 1 to 100 bytes of noise. */
static inline const char *write_raw(const char *name, int first, int end) {
  bytes b = {0};
  for (int i = first; i < end; i++) {
    add_raw(&b, i, (size_t)(i * 37 % 100));
  }
  const char *path = write_bytes(name, &b);
  bytes_free(&b);
  return path;
}

/* "r3;r4;" for [3, 5). */
static inline void expect_names(bytes *out, int first, int end) {
  for (int i = first; i < end; i++) {
    text_of(out, "r%" PRId64 ";", i);
  }
}

static inline cst_source *open_raw_files(const char *const *paths, size_t count, uint32_t flags) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_source *source = NULL;
  cst_error error = CST_ERROR_INIT;
  options.format = "raw";
  options.flags = flags;
  options.batch_size = 100;
  CHECK_EQ(cst_source_open(paths, count, &options, &source, &error), CST_OK);
  CHECK_STR(error.message, "");
  return source;
}

/* Makes the index of a file and keeps it beside it. */
static inline void save_index(const char *path) {
  cst_index *index = NULL;
  CHECK_EQ(cst_index_build(path, NULL, &index, NULL), CST_OK);
  CHECK_EQ(cst_index_save(index, path, NULL), CST_OK);
  cst_index_free(index);
}

/* "<path>.cstidx" in a static buffer. */
static inline const char *index_path(const char *path) {
  static char name[4096];
  (void)snprintf(name, sizeof name, "%s.cstidx", path);
  return name;
}

static inline void read_file(const char *path, bytes *out) {
  uint8_t buffer[4096];
  FILE *f = fopen(path, "rb");
  CHECK(f != NULL);
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, f)) > 0;) {
    bytes_add(out, buffer, n);
  }
  (void)fclose(f);
}

#endif /* TESTS_UNIT_INDEX_SUPPORT_H */
