/* <columnstone/dataset.h>: argument checks and hand-over. */
#include "dataset/dataset.h"

#include "base/arguments.h"
#include "dataset/loader.h"
#include "dataset/row_numbers.h"

cst_status cst_dataset_new(cst_source *source, const cst_dataset_options *options,
                           cst_dataset **out, cst_error *error) {
  CST__CLEAR(out);
  cst_dataset_options own = CST_DATASET_OPTIONS_INIT;
  if (source == NULL || out == NULL) {
    return cst__missing(source == NULL ? "source" : "out", error);
  }
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(cst__check_allocator(own.allocator, error));
  return cst__dataset_new(source, &own, out, error);
}

cst_dataset *cst_dataset_retain(const cst_dataset *dataset) {
  return dataset != NULL ? cst__dataset_retain(dataset) : NULL;
}

void cst_dataset_release(cst_dataset *dataset) { cst__dataset_release(dataset); }

cst_status cst_dataset_shuffle(cst_dataset *dataset, cst_shuffle *out, cst_error *error) {
  CST__CLEAR(out);
  if (dataset == NULL || out == NULL) {
    return cst__missing(dataset == NULL ? "dataset" : "out", error);
  }
  return cst__dataset_shuffle(dataset, out, error);
}

cst_status cst_dataset_num_rows(cst_dataset *dataset, uint64_t *rows, cst_error *error) {
  CST__CLEAR(rows);
  if (dataset == NULL || rows == NULL) {
    return cst__missing(dataset == NULL ? "dataset" : "rows", error);
  }
  return cst__dataset_num_rows(dataset, rows, error);
}

cst_status cst_dataset_num_batches(cst_dataset *dataset, uint64_t *batches, cst_error *error) {
  CST__CLEAR(batches);
  if (dataset == NULL || batches == NULL) {
    return cst__missing(dataset == NULL ? "dataset" : "batches", error);
  }
  return cst__dataset_batches_left(dataset, &(cst_position){.epoch = 0}, batches, error);
}

cst_status cst_dataset_batches_left(cst_dataset *dataset, const cst_position *from,
                                    uint64_t *batches, cst_error *error) {
  CST__CLEAR(batches);
  if (dataset == NULL || from == NULL || batches == NULL) {
    return cst__missing(dataset == NULL ? "dataset" : from == NULL ? "from" : "batches", error);
  }
  return cst__dataset_batches_left(dataset, from, batches, error);
}

cst_status cst_dataset_order(cst_dataset *dataset, uint64_t epoch, uint64_t begin, uint64_t count,
                             uint64_t *rows, cst_error *error) {
  if (dataset == NULL || (rows == NULL && count > 0)) {
    return cst__missing(dataset == NULL ? "dataset" : "rows", error);
  }
  return cst__dataset_order(dataset, epoch, begin, count, rows, error);
}

cst_status cst_loader_new(cst_dataset *dataset, const cst_position *from, uint32_t first,
                          uint32_t step, cst_loader **out, cst_error *error) {
  CST__CLEAR(out);
  if (dataset == NULL || from == NULL || out == NULL) {
    return cst__missing(dataset == NULL ? "dataset" : from == NULL ? "from" : "out", error);
  }
  return cst__loader_new(dataset, from, first, step > 0 ? step : 1, out, error);
}

cst_status cst_loader_next(cst_loader *loader, struct ArrowArray *out, cst_position *position,
                           cst_error *error) {
  CST__CLEAR(out);
  CST__CLEAR(position);
  if (loader == NULL || out == NULL) {
    return cst__missing(loader == NULL ? "loader" : "out", error);
  }
  return cst__loader_next(loader, out, position, error);
}

cst_status cst_loader_next_tensors(cst_loader *loader, const cst_tensor_adapter *adapter,
                                   cst_tensors **out, cst_position *position, cst_error *error) {
  CST__CLEAR(out);
  CST__CLEAR(position);
  if (loader == NULL || adapter == NULL || out == NULL) {
    return cst__missing("the loader, the adapter or the output", error);
  }
  return cst__loader_next_tensors(loader, adapter, out, position, error);
}

void cst_loader_free(cst_loader *loader) { cst__loader_free(loader); }
