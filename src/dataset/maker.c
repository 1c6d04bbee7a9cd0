/* One batch: its rows, taken, and turned into tensors. */
#include "dataset/maker.h"

#include "source/access.h"
#include "tensor/tensor.h"

void cst__made_reset(cst__made *made) {
  if (made->batch.release != NULL) {
    made->batch.release(&made->batch);
  }
  cst__tensors_release(made->tensors);
  *made = (cst__made){.tensors = NULL};
}

void cst__maker_reset(cst__maker *maker) {
  cst__delete(maker->rows);
  *maker = (cst__maker){.rows = NULL};
}

static cst_status find_rows(cst__maker *maker, const cst__epoch *epoch, uint64_t batch,
                            size_t *count, cst_error *error) {
  uint64_t begin = cst__dataset_begin(epoch->dataset, batch);
  uint64_t rest = epoch->order.num_rows - begin;
  uint64_t batch_size = (uint64_t)epoch->dataset->options.batch_size;
  void *rows = maker->rows;
  *count = (size_t)(rest < batch_size ? rest : batch_size);
  bool done =
      cst__grow(&epoch->dataset->allocator, &rows, &maker->capacity, *count, sizeof(uint64_t));
  maker->rows = rows;
  if (!done) {
    return cst__fail_memory(error, *count * sizeof(uint64_t));
  }
  cst__order_rows(&epoch->order, begin, *count, maker->rows);
  return CST_OK;
}

/* A row that does not fit its tensor is named by its number in the batch: says file and record. */
static void locate(const cst__maker *maker, const cst__epoch *epoch, size_t count,
                   cst_error *error) {
  cst__access *access;
  if (error != NULL && error->record >= 0 && (uint64_t)error->record < count &&
      cst__source_access(epoch->dataset->source, &access, NULL) == CST_OK) {
    cst__access_locate(access, epoch->dataset->source, maker->rows[error->record], error);
  }
}

static cst_status make_tensors(const cst__epoch *epoch, cst__made *made, cst_error *error) {
  if (epoch->adapter == NULL) {
    return CST_OK;
  }
  cst_status status =
      cst__adapter_convert(epoch->adapter, &made->batch, true, &made->tensors, error);
  if (status != CST_OK) {
    made->batch.release(&made->batch);
    made->batch.release = NULL;
  }
  return status;
}

cst_status cst__maker_take(cst__maker *maker, const cst__epoch *epoch, uint64_t batch,
                           cst__made *out, cst_error *error) {
  size_t count;
  CST__TRY(find_rows(maker, epoch, batch, &count, error));
  CST__TRY(cst__source_take(epoch->dataset->source, maker->rows, count, &out->batch, error));
  out->position = (cst_position){.epoch = epoch->number, .batch = batch};
  cst_status status = make_tensors(epoch, out, error);
  if (status != CST_OK) {
    locate(maker, epoch, count, error);
  }
  return status;
}
