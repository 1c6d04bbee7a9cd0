/* Datasets: a source, how it is shuffled, and how its epochs are cut into batches.
 *
 * A dataset is direct if the rows of its source are reached one by one: then an order
 * (epoch_order.c) says which rows a batch has, and takes (source/index/take.c) make it, in any
 * thread. Other sources are read in order (stream.c). loader.c delivers the batches of one epoch in
 * order, either way. A mix is a dataset of datasets (schedule.h, mixing.h).
 */
#ifndef DATASET_DATASET_H
#define DATASET_DATASET_H

#include <columnstone/dataset.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "dataset/epoch_order.h"
#include "dataset/lengths.h"
#include "dataset/schedule.h"
#include "source/index/record_cache.h"

/* What a mix has in the place of rows of its own. */
typedef struct cst__mix {
  cst__schedule schedule; /* its rows are known once the mix is counted, under the mix's lock */
  cst_dataset **datasets; /* as many as there are parts */
} cst__mix;

struct cst_dataset {
  cst__refcount owners;
  cst_allocator allocator;
  cst_source *source;          /* of a mix that of its first dataset */
  cst__mix mix;                /* of a dataset that is none: no parts */
  cst_dataset_options options; /* complete; bucket_by is that of the lengths */
  cst__lengths lengths;        /* of a dataset with buckets; unchanging once it is prepared */
  cst__record_cache *cache;    /* the source's; NULL: records are read again */
  cst__mutex lock;             /* guards all below */
  bool prepared;               /* the next two are known, and do not change any more */
  bool direct;
  cst_shuffle shuffle; /* NONE, GLOBAL or WINDOW; of a mix AUTO, too */
  bool counted;
  uint64_t num_rows; /* UINT64_MAX: a mix without an end */
};

/* ---- for the other files of this room ---- */

/* Finds out whether the dataset is direct, and how it is shuffled. */
cst_status cst__dataset_prepare(cst_dataset *dataset, cst_error *error);

static inline bool cst__dataset_is_mix(const cst_dataset *dataset) {
  return dataset->mix.schedule.count > 0;
}

/* As cst_dataset_num_rows; UINT64_MAX: the epoch has no end. */
cst_status cst__dataset_count_rows(cst_dataset *dataset, uint64_t *rows, cst_error *error);

/* The order of an epoch of a direct dataset, which is prepared. */
void cst__dataset_order_of(const cst_dataset *dataset, uint64_t epoch, cst__epoch_order *out);

/* How many batches the dataset's shard has in an epoch of that many rows, from its origin on. */
uint64_t cst__dataset_count_batches(const cst_dataset *dataset, uint64_t num_rows, uint64_t origin);

/* The first position of a batch of the shard, of an epoch with that origin (cst_position);
 * UINT64_MAX if there are not so many. */
uint64_t cst__dataset_begin(const cst_dataset *dataset, uint64_t origin, uint64_t batch);

/* The rows of all batches of a bucket; 0: there are no buckets. */
static inline uint64_t cst__dataset_bucket_rows(const cst_dataset *dataset) {
  const cst_dataset_options *o = &dataset->options;
  return o->bucket_by != NULL ? (uint64_t)o->bucket_batches * (uint64_t)o->batch_size : 0;
}

#endif /* DATASET_DATASET_H */
