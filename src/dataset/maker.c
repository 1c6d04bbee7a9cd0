/* One batch: its rows, taken, and turned into tensors. */
#include "dataset/maker.h"

#include "source/index/access.h"
#include "table/rows.h"
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
  cst__decoding_reset(&maker->decoding);
  cst__unit_reset(&maker->unit);
  *maker = (cst__maker){.rows = NULL};
}

static cst_status maker_reserve(cst__maker *maker, const cst__epoch *epoch, size_t count,
                                cst_error *error) {
  void *rows = maker->rows;
  bool done =
      cst__grow(&epoch->dataset->allocator, &rows, &maker->capacity, count, sizeof(uint64_t));
  maker->rows = rows;
  return done ? CST_OK : cst__fail_memory(error, count * sizeof(uint64_t));
}

static cst_status make_tensors(const cst__epoch *epoch, bool is_trusted, cst__made *made,
                               cst_error *error) {
  if (epoch->adapter == NULL) {
    return CST_OK;
  }
  cst_status status =
      cst__adapter_convert(epoch->adapter, &made->batch, is_trusted, &made->tensors, error);
  if (status != CST_OK) {
    made->batch.release(&made->batch);
    made->batch.release = NULL;
  }
  return status;
}

/* ---- rows that are taken one by one ---- */

static cst_status find_rows(cst__maker *maker, const cst__epoch *epoch, uint64_t batch,
                            size_t *count, cst_error *error) {
  uint64_t begin = cst__dataset_begin(epoch->dataset, epoch->origin, batch);
  uint64_t rest = epoch->order.num_rows - begin;
  uint64_t batch_size = (uint64_t)epoch->dataset->options.batch_size;
  *count = (size_t)(rest < batch_size ? rest : batch_size);
  CST__TRY(maker_reserve(maker, epoch, *count, error));
  cst__epoch_order_rows(&epoch->order, begin, *count, maker->rows);
  return CST_OK;
}

/* A row that does not fit its tensor is named by its number in the batch: says file and record. */
static void locate(const cst__maker *maker, const cst__epoch *epoch, size_t count,
                   cst_error *error) {
  cst__access *access;
  if (cst__error_wanted(error) && error->record >= 0 && (uint64_t)error->record < count &&
      cst__source_access(epoch->dataset->source, &access, NULL) == CST_OK) {
    cst__access_locate(access, epoch->dataset->source, maker->rows[error->record], error);
  }
}

static cst_status maker_take_rows(const cst__maker *maker, const cst__epoch *epoch, uint64_t batch,
                                  size_t count, struct ArrowArray *out, cst_error *error) {
  cst__region *regions[2];
  size_t num_regions = 0;
  if (epoch->blocks != NULL) {
    uint64_t begin = cst__dataset_begin(epoch->dataset, epoch->origin, batch);
    CST__TRY(cst__blocks_get(epoch->blocks, begin, count, regions, &num_regions, error));
  }
  const cst__kept_records kept = {(const cst__region *const *)regions, num_regions,
                                  epoch->dataset->cache};
  cst_status status =
      cst__source_take_from(epoch->dataset->source, &kept, maker->rows, count, out, error);
  while (num_regions > 0) {
    cst__region_release(regions[--num_regions]);
  }
  return status;
}

cst_status cst__maker_make_direct(cst__maker *maker, const cst__epoch *epoch, uint64_t batch,
                                  cst__made *out, cst_error *error) {
  size_t count;
  CST__TRY(find_rows(maker, epoch, batch, &count, error));
  CST__TRY(maker_take_rows(maker, epoch, batch, count, &out->batch, error));
  out->position = (cst_position){.epoch = epoch->number, .batch = batch, .origin = epoch->origin};
  cst_status status = make_tensors(epoch, true, out, error);
  if (status != CST_OK) {
    locate(maker, epoch, count, error);
  }
  return status;
}

/* ---- rows of a stream ---- */

/* Numbers of the batch's rows within the window. */
static cst_status number_rows(cst__maker *maker, const cst__epoch *epoch, const cst__share *share,
                              cst_error *error) {
  cst__permutation order;
  bool shuffled = epoch->dataset->shuffle != CST_SHUFFLE_NONE;
  CST__TRY(maker_reserve(maker, epoch, (size_t)share->count, error));
  cst__order_of_window(&order, share->rows, epoch->dataset->options.seed, epoch->number,
                       share->number);
  for (uint64_t i = 0; i < share->count; i++) {
    uint64_t place = share->begin + i;
    maker->rows[i] = shuffled ? cst__permutation_at(&order, place) : place;
  }
  return CST_OK;
}

static cst_status maker_pick_columns(const cst__maker *maker, const cst__share *share,
                                     struct ArrowArray *out, cst_error *error) {
  cst_array *picked;
  const int64_t *rows = (const int64_t *)maker->rows; /* below 2^62 */
  CST__TRY(cst__array_take(share->columns, rows, (size_t)share->count, &picked, error));
  cst_status status = cst__array_export(picked, out, error);
  cst__array_handle_release(picked);
  return status;
}

static cst_status decode_records(cst__maker *maker, const cst__share *share, struct ArrowArray *out,
                                 cst_error *error) {
  if (!cst__window_pick(share->records, maker->rows, (size_t)share->count, &maker->unit)) {
    return cst__fail_memory(error, sizeof(cst__run));
  }
  maker->decoding.source = share->records->source;
  maker->decoding.purpose = CST__FOR_COLUMNS;
  cst_status status = cst__unit_decode(&maker->unit, &maker->decoding, NULL, out, error);
  if (status != CST_OK) {
    cst__decoding_reset(&maker->decoding);
  }
  return status;
}

static cst_status maker_make_rows(cst__maker *maker, const cst__epoch *epoch, cst__share *share,
                                  struct ArrowArray *out, cst_error *error) {
  if (share->batch.release != NULL) {
    *out = share->batch;
    share->batch.release = NULL;
    return CST_OK;
  }
  CST__TRY(number_rows(maker, epoch, share, error));
  return share->records != NULL ? decode_records(maker, share, out, error)
                                : maker_pick_columns(maker, share, out, error);
}

/* The same for a row of a stream: its record is known, or its number in the only file. */
static void locate_read(const cst__maker *maker, const cst__epoch *epoch, const cst__share *share,
                        cst_error *error) {
  const cst_source *source = epoch->dataset->source;
  if (!cst__error_wanted(error) || error->record < 0 || (uint64_t)error->record >= share->count) {
    return;
  }
  size_t row = (size_t)error->record;
  error->record = -1;
  if (share->records != NULL) {
    cst__unit_locate(&maker->unit, share->records->source, row, error);
  } else if (source->num_parts == 1) {
    uint64_t within = share->columns != NULL ? maker->rows[row] : row;
    cst__error_add_file(error, cst__source_name(source, 0));
    cst__error_add_record(error, (int64_t)(share->position + within), -1);
  }
}

cst_status cst__maker_make_streamed(cst__maker *maker, const cst__epoch *epoch, uint64_t batch,
                                    cst__share *share, cst__made *out, cst_error *error) {
  bool is_trusted =
      share->columns != NULL || epoch->dataset->source->inputs->format.payload != NULL;
  if (share->count == 0) {
    return CST_OK;
  }
  out->position =
      (cst_position){epoch->number, batch, share->file, share->rows_before, epoch->origin};
  cst_status status = maker_make_rows(maker, epoch, share, &out->batch, error);
  if (status == CST_OK) {
    status = make_tensors(epoch, is_trusted, out, error);
    if (status != CST_OK) {
      locate_read(maker, epoch, share, error);
    }
  }
  cst__unit_clear(&maker->unit);
  cst__share_reset(share);
  return status;
}
