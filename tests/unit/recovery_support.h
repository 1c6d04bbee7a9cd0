/* What the tests of recovery share: passes with on_error skip, and what they give as text. */
#ifndef TESTS_UNIT_RECOVERY_SUPPORT_H
#define TESTS_UNIT_RECOVERY_SUPPORT_H

#include "source_support.h"

/* What a pass gives, as lines. */
typedef struct outcome {
  cst_status status;
  bytes records; /* size and CRC of each */
  bytes drops;   /* "kind@record+offset:bytes " */
  uint64_t dropped;
  uint64_t bytes; /* of records, framing included, and of drops */
  int64_t batch_size;
  bool short_batch; /* one has come that must be the last */
  cst_error error;
  size_t stop_at; /* drops after which the callback stops the pass; 0: never */
  size_t told;
} outcome;

static inline void outcome_free(outcome *o) {
  bytes_free(&o->records);
  bytes_free(&o->drops);
}

static inline void put_record(bytes *records, const uint8_t *data, size_t size) {
  char line[48];
  int n = snprintf(line, sizeof line, "%zu:%08x ", size, cst__crc32c(0, data, size));
  bytes_add(records, line, (size_t)n);
}

static inline void put_drop(bytes *drops, const char *kind, size_t record, size_t offset,
                            size_t size) {
  char line[96];
  int n = snprintf(line, sizeof line, "%s@%zu+%zu:%zu ", kind, record, offset, size);
  bytes_add(drops, line, (size_t)n);
}

static inline bool on_dropped(void *ctx, const cst_dropped *dropped) {
  outcome *o = ctx;
  o->bytes += dropped->bytes;
  put_drop(&o->drops, dropped->kind, (size_t)dropped->record, (size_t)dropped->offset,
           (size_t)dropped->bytes);
  CHECK(dropped->error->message[0] != '\0');
  CHECK_EQ(dropped->error->record, dropped->record);
  CHECK_EQ(dropped->error->offset, dropped->offset);
  CHECK_STR(dropped->error->file, dropped->file);
  return ++o->told != o->stop_at;
}

static inline void take_batch(outcome *o, struct ArrowArray *batch) {
  const struct ArrowArray *column = batch->children[0];
  const int64_t *offsets = column->buffers[1];
  const uint8_t *data = column->buffers[2];
  CHECK(!o->short_batch);
  CHECK(batch->length > 0 && batch->length <= o->batch_size);
  o->short_batch = batch->length < o->batch_size;
  for (int64_t i = 0; i < batch->length; i++) {
    int64_t begin = offsets[column->offset + i];
    size_t size = (size_t)(offsets[column->offset + i + 1] - begin);
    put_record(&o->records, data + begin, size);
    o->bytes += size + 16;
  }
  batch->release(batch);
}

static inline void run_pass(cst_source *source, outcome *o) {
  cst_pass *pass;
  CHECK_EQ(cst_pass_new(source, &pass, NULL), CST_OK);
  for (;;) {
    struct ArrowArray batch;
    o->status = cst_pass_next(pass, &batch, &o->error);
    if (o->status != CST_OK || batch.release == NULL) {
      break;
    }
    take_batch(o, &batch);
  }
  o->dropped = cst_pass_dropped(pass);
  cst_pass_free(pass);
}

static inline cst_source_options skipping(outcome *o, int32_t threads, int64_t batch_size) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.format = "raw";
  options.threads = threads;
  options.batch_size = batch_size;
  options.on_error = CST_ON_ERROR_SKIP;
  options.on_dropped = on_dropped;
  options.dropped_ctx = o;
  o->batch_size = batch_size;
  o->error = (cst_error)CST_ERROR_INIT;
  return options;
}

/* Reads bytes that come `most` at a time. */
static inline outcome recover_limited(const bytes *file, size_t most, int32_t threads,
                                      int64_t batch_size, uint64_t max_record_size) {
  outcome o = {.status = CST_OK};
  memory m = {.data = file->data, .size = file->size, .most = most};
  cst_reader reader = memory_reader(&m, true);
  cst_source_options options = skipping(&o, threads, batch_size);
  options.max_record_size = max_record_size;
  cst_source *source;
  CHECK_EQ(cst_source_open_readers(&reader, 1, &options, &source, NULL), CST_OK);
  run_pass(source, &o);
  cst_source_release(source);
  return o;
}

static inline outcome recover(const bytes *file, size_t most, int32_t threads, int64_t batch_size) {
  return recover_limited(file, most, threads, batch_size, 0);
}

static inline outcome recover_path(const char *path, uint32_t flags, int32_t threads) {
  outcome o = {.status = CST_OK};
  cst_source_options options = skipping(&o, threads, 1000);
  options.flags = flags;
  cst_source *source;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
  run_pass(source, &o);
  cst_source_release(source);
  return o;
}

static inline void check_text(const bytes *actual, const bytes *expected) {
  bytes a = {0};
  bytes e = {0};
  bytes_add(&a, actual->data, actual->size);
  bytes_add(&a, "", 1);
  bytes_add(&e, expected->data, expected->size);
  bytes_add(&e, "", 1);
  CHECK_STR((const char *)a.data, (const char *)e.data);
  bytes_free(&a);
  bytes_free(&e);
}

#endif /* TESTS_UNIT_RECOVERY_SUPPORT_H */
