/* What the tests of messages in sources share: records of a message of two fields, and what comes
 * out of sources of them.
 */
#ifndef TESTS_UNIT_PAIR_SUPPORT_H
#define TESTS_UNIT_PAIR_SUPPORT_H

#include <columnstone/sink.h>
#include <stdlib.h>

#include "source_support.h"

/* ---- descriptors ---- */

static inline void put_number(bytes *b, unsigned number, uint64_t value) {
  put_varint(b, number << 3);
  put_varint(b, value);
}

static inline void put_string(bytes *b, unsigned number, const char *text) {
  put_field(b, number, text, strlen(text));
}

static inline void put_field_def(bytes *message, const char *name, unsigned number, unsigned type) {
  bytes field = {0};
  put_string(&field, 1, name);
  put_number(&field, 3, number);
  put_number(&field, 4, 1); /* optional */
  put_number(&field, 5, type);
  put_field(message, 2, field.data, field.size);
  bytes_free(&field);
}

/* proto3: message Other { message Inner {} } message Pair { string name = 1; int64 id = 2; } */
static inline cst_descriptors *make_descriptors(void) {
  bytes file = {0}, other = {0}, inner = {0}, pair = {0};
  cst_descriptors *out = NULL;
  cst_error error = CST_ERROR_INIT;
  put_string(&inner, 1, "Inner");
  put_string(&other, 1, "Other");
  put_field(&other, 3, inner.data, inner.size);
  put_string(&pair, 1, "Pair");
  put_field_def(&pair, "name", 1, 9);
  put_field_def(&pair, "id", 2, 3);
  put_string(&file, 1, "pair.proto");
  put_string(&file, 2, "t");
  put_field(&file, 4, other.data, other.size);
  put_field(&file, 4, pair.data, pair.size);
  put_string(&file, 12, "proto3");
  cst_descriptors_new(file.data, file.size, NULL, &out, &error);
  CHECK_STR(error.message, "");
  bytes_free(&file);
  bytes_free(&other);
  bytes_free(&inner);
  bytes_free(&pair);
  return out;
}

static inline cst_message_options pair_options(const cst_descriptors *descriptors) {
  cst_message_options options = CST_MESSAGE_OPTIONS_INIT;
  options.descriptors = descriptors;
  options.message = "t.Pair";
  return options;
}

/* ---- records ---- */

/* The i-th record; one that does not parse if `bad`. */
static inline void make_pair(bytes *out, int i, bool bad) {
  char name[32];
  (void)snprintf(name, sizeof name, "row %d", i);
  out->size = 0;
  put_string(out, 1, name);
  put_number(out, 2, (uint64_t)i);
  if (bad) {
    bytes_add(out, "\x0a\x7f", 2);
  }
}

static inline bool is_bad(int i, int every) { return every > 0 && i % every == every - 1; }

static inline const char *write_pairs(const char *name, const char *container, int count,
                                      int bad_every) {
  const char *path = harness_temp_path(name);
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  cst_tfrecord_writer *writer;
  bytes record = {0};
  options.container = container;
  CHECK_EQ(cst_tfrecord_writer_open(path, &options, &writer, NULL), CST_OK);
  for (int i = 0; i < count; i++) {
    make_pair(&record, i, is_bad(i, bad_every));
    CHECK_EQ(cst_tfrecord_writer_write(writer, record.data, record.size, NULL), CST_OK);
  }
  CHECK_EQ(cst_tfrecord_writer_finish(writer, NULL), CST_OK);
  cst_tfrecord_writer_free(writer);
  bytes_free(&record);
  return path;
}

typedef enum policy { SOUND, SKIPPED, NULLED } policy;

/* Batches of the columns name and id. */
static inline void expected_pairs(bytes *out, int count, int batch_size, int bad_every,
                                  policy bad) {
  int total = 0;
  for (int i = 0; i < count; i++) {
    total += bad != SKIPPED || !is_bad(i, bad_every);
  }
  for (int i = 0, row = 0; i < count; i++) {
    if (bad == SKIPPED && is_bad(i, bad_every)) {
      continue;
    }
    if (row % batch_size == 0) {
      text_of(out, "%" PRId64 " rows:", total - row < batch_size ? total - row : batch_size);
    }
    if (bad == NULLED && is_bad(i, bad_every)) {
      bytes_add(out, " name=null id=null;", 19);
    } else {
      text_of(out, " name='row %" PRId64 "'", i);
      text_of(out, " id=%" PRId64 ";", i);
    }
    row++;
    if (row == total || row % batch_size == 0) {
      bytes_add(out, "\n", 1);
    }
  }
}

static inline void check_text(cst_source *source, const char *expected) {
  bytes text = {0};
  cst_error error = CST_ERROR_INIT;
  (void)text_of_pass(source, &text, &error);
  bytes_add(&text, error.message, strlen(error.message) + 1);
  CHECK_STR((const char *)text.data, expected);
  bytes_free(&text);
}

static inline void check_pairs(cst_source *source, int count, int batch_size, int bad_every,
                               policy bad) {
  bytes text = {0}, expected = {0};
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(text_of_pass(source, &text, &error), CST_OK);
  CHECK_STR(error.message, "");
  expected_pairs(&expected, count, batch_size, bad_every, bad);
  check_same(&text, &expected);
  bytes_free(&text);
  bytes_free(&expected);
}

static inline cst_source *open_pairs(const char *path, cst_source_options *options) {
  cst_source *source = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_source_open(&path, 1, options, &source, &error);
  CHECK_STR(error.message, "");
  return source;
}

/* ---- memory ---- */

typedef struct reading {
  const char *path;
  cst_source_options options;
} reading;

static inline int open_and_read(void *ctx) {
  const reading *r = ctx;
  cst_source *source;
  struct ArrowArray batch = {.release = NULL};
  cst_pass *pass = NULL;
  cst_source_options options = r->options;
  cst_status status = cst_source_open(&r->path, 1, &options, &source, NULL);
  if (status != CST_OK) {
    return status;
  }
  status = cst_pass_new(source, &pass, NULL);
  while (status == CST_OK) {
    status = cst_pass_next(pass, &batch, NULL);
    if (status != CST_OK || batch.release == NULL) {
      break;
    }
    batch.release(&batch);
  }
  cst_pass_free(pass);
  cst_source_release(source);
  return status;
}

#endif /* TESTS_UNIT_PAIR_SUPPORT_H */
