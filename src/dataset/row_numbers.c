/* Row numbers of an epoch: those of its order, put together in buckets as makers do. */
#include <columnstone/dataset.h>
#include <string.h>

#include "base/arguments.h"
#include "dataset/maker.h"

static uint64_t lesser(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Bucket by bucket, which have `size` rows. */
static cst_status order_buckets(const cst__epoch *epoch, uint64_t size, uint64_t begin,
                                uint64_t count, uint64_t *rows, cst_error *error) {
  cst__maker maker = {.rows = NULL};
  cst_status status = CST_OK;
  for (uint64_t done = 0; done < count && status == CST_OK;) {
    uint64_t within = lesser(count - done, size - (begin + done) % size);
    status = cst__maker_find_rows(&maker, epoch, begin + done, (size_t)within, error);
    if (status == CST_OK) {
      memcpy(rows + done, maker.rows, (size_t)within * sizeof *rows);
    }
    done += within;
  }
  cst__maker_reset(&maker);
  return status;
}

cst_status cst_dataset_order(cst_dataset *dataset, uint64_t epoch, uint64_t begin, uint64_t count,
                             uint64_t *rows, cst_error *error) {
  if (dataset == NULL || (rows == NULL && count > 0)) {
    return cst__missing(dataset == NULL ? "dataset" : "rows", error);
  }
  cst__epoch made = {.dataset = dataset, .number = epoch};
  CST__TRY(cst__dataset_prepare(dataset, error));
  if (cst__dataset_is_mix(dataset)) {
    return cst__fail(error, CST_UNSUPPORTED, "ask the datasets that are mixed",
                     "rows of a mix come from several sources and have no row numbers");
  }
  if (!dataset->direct) {
    return cst__fail(error, CST_UNSUPPORTED, "convert it to plain TFRecord files first",
                     "this source has no random access to rows");
  }
  if (begin > dataset->num_rows || count > dataset->num_rows - begin) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "%llu positions from %llu on are requested, there are %llu",
                     (unsigned long long)count, (unsigned long long)begin,
                     (unsigned long long)dataset->num_rows);
  }
  cst__dataset_order_of(dataset, epoch, &made.order);
  uint64_t bucket = cst__dataset_bucket_rows(dataset);
  if (bucket == 0) {
    cst__epoch_order_rows(&made.order, begin, count, rows);
    return CST_OK;
  }
  CST__TRY(cst__buckets_new(dataset, epoch, &made.buckets, error));
  cst_status status = order_buckets(&made, bucket, begin, count, rows, error);
  cst__buckets_free(made.buckets);
  return status;
}
