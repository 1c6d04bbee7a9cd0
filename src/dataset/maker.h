/* Making one batch of an epoch, by any thread.
 */
#ifndef DATASET_MAKER_H
#define DATASET_MAKER_H

#include "dataset/blocks.h"
#include "dataset/buckets.h"
#include "dataset/dataset.h"
#include "dataset/epoch_order.h"
#include "dataset/stream.h"

/* A batch that is made: rows, or tensors if there is an adapter; neither after the end. */
typedef struct cst__made_batch {
  struct ArrowArray batch; /* release NULL: none */
  cst_tensors *tensors;
  cst_position position;
} cst__made_batch;

/* What all makers of an epoch share; it does not change. */
typedef struct cst__epoch {
  cst_dataset *dataset;   /* prepared */
  cst__epoch_order order; /* of a direct dataset */
  uint64_t number;
  uint64_t origin;      /* as in cst_position */
  uint64_t first_batch; /* of the epoch's loader, without its first_row rows */
  uint64_t first_row;
  const cst_tensor_adapter *adapter; /* NULL: batches are wanted as rows */
  cst__buckets *buckets;             /* of a dataset that has them; else NULL */
  cst__blocks *blocks; /* of a direct dataset whose windows are read in whole; else NULL */
} cst__epoch;

/* One thread's. Zero-initialised storage. */
typedef struct cst__maker {
  uint64_t *rows; /* numbers of a batch's rows */
  size_t capacity;
  cst__decoding decoding;  /* of records of a stream's window */
  cst__decoding measuring; /* the same, of the column that has the lengths */
  cst__unit unit;
} cst__maker;

void cst__maker_reset(cst__maker *maker);

/* Notes the rows at positions [begin, begin + count) of a direct dataset's epoch in maker->rows. */
cst_status cst__maker_find_rows(cst__maker *maker, const cst__epoch *epoch, uint64_t begin,
                                size_t count, cst_error *error);

/* Rows [begin, begin + count) of the epoch; `row` of the batch come before them. */
typedef struct cst__batch_place {
  uint64_t begin;
  uint64_t count; /* unless the epoch ends before */
  uint64_t row;
} cst__batch_place;

/* Where a batch of the shard stands, by its number. */
cst__batch_place cst__epoch_place(const cst__epoch *epoch, uint64_t batch);

/* Rows that are wanted of an epoch, as a batch: of a direct dataset without buckets, rows
 * [begin, begin + count) of its order; of any other, those of a share. Failures say file and
 * record.
 */
cst_status cst__maker_take_rows(cst__maker *maker, const cst__epoch *epoch, uint64_t begin,
                                size_t count, struct ArrowArray *out, cst_error *error);
cst_status cst__maker_use_share(cst__maker *maker, const cst__epoch *epoch, cst__share *share,
                                struct ArrowArray *out, cst_error *error);

/* Says file and record of a row of a share without buckets, by its place in it, as far as they are
 * known. */
void cst__maker_locate_in(cst__maker *maker, const cst__epoch *epoch, const cst__share *share,
                          uint64_t place, cst_error *error);

/* Makes the tensors of a batch, if the epoch has an adapter; on failure the batch is released. */
cst_status cst__made_tensors(const cst__epoch *epoch, bool is_trusted, cst__made_batch *made,
                             cst_error *error);

/* Says file and record of a row of a direct dataset: error->record was its place among `rows`. */
void cst__maker_locate(const cst_dataset *dataset, const uint64_t *rows, size_t count,
                       cst_error *error);

/* Makes a batch of a direct dataset's shard by its number, which is below that of its batches. */
cst_status cst__maker_make_direct(cst__maker *maker, const cst__epoch *epoch, uint64_t batch,
                                  cst__made_batch *out, cst_error *error);

/* Makes a batch of what a stream has given for it; the share is reset. Without rows, nothing is
 * made.
 */
cst_status cst__maker_make_streamed(cst__maker *maker, const cst__epoch *epoch, uint64_t batch,
                                    cst__share *share, cst__made_batch *out, cst_error *error);

#endif /* DATASET_MAKER_H */
