/* Buckets: the rows of several batches that follow each other in an epoch, put together by length.
 *
 * The batches of an epoch are divided into buckets of so many. The rows of a bucket's full batches
 * are sorted by length (those of one length stay in the order of the epoch) and cut into batches
 * again, which come in an order of their own, if rows are shuffled. So a batch depends on the rows
 * of its bucket alone, and every batch has as many rows as it would have without buckets.
 *
 * Shared by the makers of a loader.
 */
#ifndef DATASET_BUCKETS_H
#define DATASET_BUCKETS_H

#include "dataset/dataset.h"

/* A bucket, sorted; counted. */
typedef struct cst__bucket {
  cst__refcount owners;
  uint64_t number;
  size_t count;
  uint64_t *rows; /* in the order of the batches; the short batch, if there is one, is the last */
} cst__bucket;

void cst__bucket_release(cst__bucket *bucket); /* NULL is allowed */

/* Who knows the rows of a bucket. */
typedef struct cst__bucket_source {
  uint64_t number; /* of the bucket */
  size_t count;    /* rows that it has */
  /* The rows that stand at places [begin, begin + count) of the bucket, and their lengths. */
  cst_status (*read)(void *ctx, size_t begin, size_t count, uint64_t *rows, int64_t *lengths,
                     cst_error *error);
  void *ctx;
} cst__bucket_source;

typedef struct cst__buckets cst__buckets;

/* Those of one epoch, of a dataset that has buckets. */
cst_status cst__buckets_new(cst_dataset *dataset, uint64_t epoch, cst__buckets **out,
                            cst_error *error);
void cst__buckets_free(cst__buckets *buckets); /* NULL is allowed */

/* The bucket, with one more owner: read by the first maker that wants it. */
cst_status cst__buckets_get(cst__buckets *buckets, const cst__bucket_source *source,
                            cst__bucket **out, cst_error *error);

#endif /* DATASET_BUCKETS_H */
