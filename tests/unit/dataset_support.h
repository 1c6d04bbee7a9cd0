/* What the tests of datasets share: sources of small examples, and what loaders deliver as lists of
 * the rows' ids.
 */
#ifndef TESTS_UNIT_DATASET_SUPPORT_H
#define TESTS_UNIT_DATASET_SUPPORT_H

#include <columnstone/dataset.h>
#include <columnstone/index.h>
#include <stdlib.h>

#include "source_support.h"

/* What one loader, or several in turns, have delivered. */
typedef struct delivery {
  cst_position *positions; /* one per batch */
  size_t *ends;            /* number of ids up to the end of each batch */
  size_t num_batches;
  int64_t *ids;
  size_t num_ids;
  cst_status status;
  cst_error error;
} delivery;

static inline void delivery_free(delivery *d) {
  free(d->positions);
  free(d->ends);
  free(d->ids);
  *d = (delivery){.num_ids = 0};
}

static inline void add_batch(delivery *d, const struct ArrowArray *batch,
                             const cst_position *position) {
  const struct ArrowArray *lists = batch->children[0]; /* large_list<int64>: id */
  size_t rows = (size_t)batch->length;
  d->ids = realloc(d->ids, (d->num_ids + rows) * sizeof *d->ids);
  d->positions = realloc(d->positions, (d->num_batches + 1) * sizeof *d->positions);
  d->ends = realloc(d->ends, (d->num_batches + 1) * sizeof *d->ends);
  for (size_t i = 0; i < rows; i++) {
    const int64_t *offsets = lists->buffers[1];
    const int64_t *values = lists->children[0]->buffers[1];
    int64_t at = offsets[(size_t)lists->offset + i];
    d->ids[d->num_ids++] = values[lists->children[0]->offset + at];
  }
  d->positions[d->num_batches] = *position;
  d->ends[d->num_batches++] = d->num_ids;
}

/* Takes one batch; false at the end or on failure. */
static inline bool deliver_one(cst_loader *loader, delivery *d) {
  struct ArrowArray batch;
  cst_position position = {0};
  d->error = (cst_error)CST_ERROR_INIT;
  d->status = cst_loader_next(loader, &batch, &position, &d->error);
  if (d->status != CST_OK || batch.release == NULL) {
    return false;
  }
  add_batch(d, &batch, &position);
  batch.release(&batch);
  return true;
}

/* All that `workers` loaders give in turns. */
static inline delivery deliver_with(cst_dataset *dataset, cst_position from, uint32_t workers) {
  delivery d = {.num_ids = 0};
  cst_loader *loaders[8] = {NULL};
  for (uint32_t i = 0; i < workers; i++) {
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(cst_loader_new(dataset, &from, i, workers, &loaders[i], &error), CST_OK);
    CHECK_STR(error.message, "");
  }
  for (uint32_t i = 0; deliver_one(loaders[i % workers], &d); i++) {
  }
  for (uint32_t i = 0; i < workers; i++) {
    cst_loader_free(loaders[i]);
  }
  return d;
}

static inline delivery deliver(cst_dataset *dataset, uint64_t epoch) {
  return deliver_with(dataset, (cst_position){.epoch = epoch}, 1);
}

/* The same ids in the same batches, from batch `skip` of the expected ones on. */
static inline void check_delivery(const delivery *actual, const delivery *expected, size_t skip) {
  size_t first = skip > 0 ? expected->ends[skip - 1] : 0;
  CHECK_EQ(actual->status, CST_OK);
  CHECK_STR(actual->error.message, "");
  CHECK_EQ(actual->num_batches, expected->num_batches - skip);
  CHECK_EQ(actual->num_ids, expected->num_ids - first);
  for (size_t i = 0; i < actual->num_batches; i++) {
    CHECK_EQ(actual->ends[i] + first, expected->ends[skip + i]);
    CHECK_EQ(actual->positions[i].epoch, expected->positions[skip + i].epoch);
    CHECK_EQ(actual->positions[i].batch, expected->positions[skip + i].batch);
  }
  if (actual->num_ids > 0) {
    CHECK_MEM(actual->ids, expected->ids + first, actual->num_ids * sizeof *actual->ids);
  }
}

/* Each of `rows` rows once. */
static inline void check_complete(const delivery *d, int64_t rows) {
  uint8_t *seen = calloc((size_t)rows + 1, 1);
  CHECK_EQ(d->status, CST_OK);
  CHECK_EQ(d->num_ids, rows);
  for (size_t i = 0; i < d->num_ids; i++) {
    CHECK(d->ids[i] >= 0 && d->ids[i] < rows);
    CHECK_EQ(seen[d->ids[i]], 0);
    seen[d->ids[i]] = 1;
  }
  free(seen);
}

static inline bool is_sorted(const delivery *d) {
  bool sorted = true;
  for (size_t i = 1; i < d->num_ids; i++) {
    sorted = sorted && d->ids[i - 1] < d->ids[i];
  }
  return sorted;
}

static inline cst_source *open_examples(const char *const *paths, size_t count, int64_t batch_size,
                                        int32_t threads) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_source *source = NULL;
  cst_error error = CST_ERROR_INIT;
  options.batch_size = batch_size;
  options.threads = threads;
  CHECK_EQ(cst_source_open(paths, count, &options, &source, &error), CST_OK);
  CHECK_STR(error.message, "");
  return source;
}

static inline cst_dataset *dataset_of(cst_source *source, const cst_dataset_options *options) {
  cst_dataset *dataset = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_dataset_new(source, options, &dataset, &error), CST_OK);
  CHECK_STR(error.message, "");
  return dataset;
}

/* Files of plain records: three, of which one is empty, with `rows` records. */
static inline size_t plain_files(const char *paths[4], int rows) {
  paths[0] = write_examples("d0.tfrecord", 0, rows / 3);
  paths[1] = write_examples("d1.tfrecord", rows / 3, rows / 3);
  paths[2] = write_examples("d2.tfrecord", rows / 3, rows - 1);
  paths[3] = write_examples("d3.tfrecord", rows - 1, rows);
  return 4;
}

/* The same, compressed. */
static inline size_t packed_files(const char *paths[4], int rows) {
  const int begins[] = {0, rows / 3, rows / 3, rows - 1, rows};
  for (int i = 0; i < 4; i++) {
    char name[16];
    bytes plain = {0};
    bytes packed = {0};
    (void)snprintf(name, sizeof name, "d%d.gz", i);
    add_examples(&plain, begins[i], begins[i + 1]);
    CHECK_EQ(add_compressed(&packed, CST_COMPRESSION_GZIP, plain.data, plain.size), CST_OK);
    paths[i] = write_bytes(name, &packed);
    bytes_free(&plain);
    bytes_free(&packed);
  }
  return 4;
}

#endif /* TESTS_UNIT_DATASET_SUPPORT_H */
