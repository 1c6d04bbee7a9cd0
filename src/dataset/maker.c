/* One batch: its rows, taken, and turned into tensors. */
#include "dataset/maker.h"

#include <string.h>

#include "source/index/access.h"
#include "table/array.h"
#include "table/rows.h"
#include "tensor/tensor.h"

void cst__maker_reset(cst__maker *maker) {
  cst__delete(maker->rows);
  cst__decoding_reset(&maker->decoding);
  cst__decoding_reset(&maker->measuring);
  cst__unit_reset(&maker->unit);
  *maker = (cst__maker){.rows = NULL};
}

cst__batch_place cst__epoch_place(const cst__epoch *epoch, uint64_t batch) {
  uint64_t count = (uint64_t)epoch->dataset->options.batch_size;
  uint64_t row = batch == epoch->first_batch ? epoch->first_row : 0;
  uint64_t begin = cst__dataset_begin(epoch->dataset, epoch->origin, batch);
  begin = __builtin_add_overflow(begin, row, &begin) ? UINT64_MAX : begin;
  return (cst__batch_place){begin, count - row, row};
}

static cst_status maker_reserve(cst__maker *maker, const cst__epoch *epoch, size_t count,
                                cst_error *error) {
  void *rows = maker->rows;
  bool done =
      cst__grow(&epoch->dataset->allocator, &rows, &maker->capacity, count, sizeof(uint64_t));
  maker->rows = rows;
  return done ? CST_OK : cst__fail_memory(error, count * sizeof(uint64_t));
}

cst_status cst__made_tensors(const cst__epoch *epoch, bool is_trusted, cst__made_batch *made,
                             cst_error *error) {
  if (epoch->adapter == NULL) {
    return CST_OK;
  }
  cst_status status = cst_tensor_adapter_convert(
      epoch->adapter, &made->batch, is_trusted ? CST_ARRAY_TRUSTED : 0, &made->tensors, error);
  if (status != CST_OK) {
    made->batch.release(&made->batch);
    made->batch.release = NULL;
  }
  return status;
}

/* ---- rows of buckets ---- */

/* What the rows of a bucket are read by. */
typedef struct bucket_reader {
  cst__maker *maker;
  const cst__epoch *epoch;
  const cst__share *share; /* of a stream, whose window has the bucket; NULL: rows are taken */
  uint64_t begin;          /* of the bucket, in the epoch, or in the window */
} bucket_reader;

/* Notes rows [first, first + count) of a bucket. */
static cst_status pick_from_bucket(cst__maker *maker, const cst__epoch *epoch,
                                   const cst__bucket_source *source, size_t first, size_t count,
                                   cst_error *error) {
  cst__bucket *bucket = NULL;
  CST__TRY(cst__buckets_get(epoch->buckets, source, &bucket, error));
  memcpy(maker->rows, bucket->rows + first, count * sizeof *maker->rows);
  cst__bucket_release(bucket);
  return CST_OK;
}

static cst_status measure_batch(const cst__lengths *lengths, struct ArrowArray *batch, size_t count,
                                int64_t *out, cst_error *error) {
  const cst__batch_rows rows = {&lengths->schema, batch, NULL, count};
  cst_status status = cst__lengths_of(lengths, &rows, out, error);
  batch->release(batch);
  return status;
}

/* ---- rows that are taken one by one ---- */

static cst_status read_taken_bucket(void *ctx, size_t begin, size_t count, uint64_t *rows,
                                    int64_t *lengths, cst_error *error) {
  const bucket_reader *reader = ctx;
  const cst__epoch *epoch = reader->epoch;
  const cst__lengths *column = &epoch->dataset->lengths;
  const cst__kept_records kept = {.cache = epoch->dataset->cache};
  struct ArrowArray batch;
  cst__epoch_order_rows(&epoch->order, reader->begin + begin, count, rows);
  CST__TRY(cst__source_take_from(column->source, &kept, rows, count, &batch, error));
  return measure_batch(column, &batch, count, lengths, error);
}

cst_status cst__maker_find_rows(cst__maker *maker, const cst__epoch *epoch, uint64_t begin,
                                size_t count, cst_error *error) {
  CST__TRY(maker_reserve(maker, epoch, count, error));
  uint64_t bucket = cst__dataset_bucket_rows(epoch->dataset);
  if (bucket > 0) {
    uint64_t number = begin / bucket;
    uint64_t rest = epoch->order.num_rows - number * bucket;
    bucket_reader reader = {.maker = maker, .epoch = epoch, .begin = number * bucket};
    const cst__bucket_source source = {number, (size_t)(rest < bucket ? rest : bucket),
                                       read_taken_bucket, &reader};
    return pick_from_bucket(maker, epoch, &source, (size_t)(begin % bucket), count, error);
  }
  cst__epoch_order_rows(&epoch->order, begin, count, maker->rows);
  return CST_OK;
}

/* A row that does not fit its tensor is named by its number in the batch. */
void cst__maker_locate(const cst_dataset *dataset, const uint64_t *rows, size_t count,
                       cst_error *error) {
  cst__access *access;
  if (cst__error_wanted(error) && error->record >= 0 && (uint64_t)error->record < count &&
      cst__source_access(dataset->source, &access, NULL) == CST_OK) {
    cst__access_locate(access, dataset->source, rows[error->record], error);
  }
}

/* The rows that are noted, which stand from `begin` on in the epoch. */
static cst_status take_noted(const cst__maker *maker, const cst__epoch *epoch, uint64_t begin,
                             size_t count, struct ArrowArray *out, cst_error *error) {
  cst__region *regions[2];
  size_t num_regions = 0;
  if (epoch->blocks != NULL) {
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

cst_status cst__maker_take_rows(cst__maker *maker, const cst__epoch *epoch, uint64_t begin,
                                size_t count, struct ArrowArray *out, cst_error *error) {
  CST__TRY(cst__maker_find_rows(maker, epoch, begin, count, error));
  return take_noted(maker, epoch, begin, count, out, error);
}

cst_status cst__maker_make_direct(cst__maker *maker, const cst__epoch *epoch, uint64_t batch,
                                  cst__made_batch *out, cst_error *error) {
  cst__batch_place place = cst__epoch_place(epoch, batch);
  uint64_t rest = epoch->order.num_rows - place.begin;
  size_t count = (size_t)(rest < place.count ? rest : place.count);
  CST__TRY(cst__maker_take_rows(maker, epoch, place.begin, count, &out->batch, error));
  out->position = (cst_position){
      .epoch = epoch->number, .batch = batch, .origin = epoch->origin, .row = place.row};
  cst_status status = cst__made_tensors(epoch, true, out, error);
  if (status != CST_OK) {
    cst__maker_locate(epoch->dataset, maker->rows, count, error);
  }
  return status;
}

/* ---- rows of a stream ---- */

/* Numbers within the window of the rows at places of it. */
static void order_in_window(const cst__epoch *epoch, const cst__share *share, uint64_t begin,
                            size_t count, uint64_t *rows) {
  cst__permutation order;
  bool shuffled = epoch->dataset->shuffle != CST_SHUFFLE_NONE;
  cst__order_of_window(&order, share->rows, epoch->dataset->options.seed, epoch->number,
                       share->number);
  for (size_t i = 0; i < count; i++) {
    rows[i] = shuffled ? cst__permutation_at(&order, begin + i) : begin + i;
  }
}

/* Makes the unit one of rows of a window of records. */
static cst_status pick_records(cst__maker *maker, const cst__share *share, const uint64_t *rows,
                               size_t count, cst_error *error) {
  return cst__window_pick(share->records, rows, count, &maker->unit)
             ? CST_OK
             : cst__fail_memory(error, sizeof(cst__run));
}

/* Decodes the unit, whose files are those of the window. */
static cst_status decode_records(cst__maker *maker, cst__decoding *decoding,
                                 const cst_source *source, const cst__share *share,
                                 struct ArrowArray *out, cst_error *error) {
  decoding->source = source;
  decoding->purpose = CST__FOR_COLUMNS;
  cst_error own = CST_ERROR_INIT;
  cst_status status = cst__unit_decode(&maker->unit, decoding, NULL, out, &own);
  if (status != CST_OK) {
    if (source != share->records->source && decoding->bad_row < maker->unit.rows) {
      cst__error_forget_record(&own);
      cst__unit_locate(&maker->unit, share->records->source, decoding->bad_row, &own);
    }
    cst__error_copy(error, &own);
    cst__decoding_reset(decoding);
  }
  return status;
}

static cst_status read_streamed_bucket(void *ctx, size_t begin, size_t count, uint64_t *rows,
                                       int64_t *lengths, cst_error *error) {
  const bucket_reader *reader = ctx;
  const cst__share *share = reader->share;
  const cst__lengths *column = &reader->epoch->dataset->lengths;
  struct ArrowArray batch;
  order_in_window(reader->epoch, share, reader->begin + begin, count, rows);
  if (share->columns != NULL) {
    const cst__batch_rows of = {share->columns->schema, &share->columns->array, rows, count};
    return cst__lengths_of(column, &of, lengths, error);
  }
  CST__TRY(pick_records(reader->maker, share, rows, count, error));
  cst_status status = decode_records(reader->maker, &reader->maker->measuring, column->source,
                                     share, &batch, error);
  cst__unit_clear(&reader->maker->unit);
  return status == CST_OK ? measure_batch(column, &batch, count, lengths, error) : status;
}

/* Numbers of the batch's rows within the window. */
static cst_status number_rows(cst__maker *maker, const cst__epoch *epoch, const cst__share *share,
                              cst_error *error) {
  CST__TRY(maker_reserve(maker, epoch, (size_t)share->count, error));
  uint64_t size = cst__dataset_bucket_rows(epoch->dataset);
  if (size == 0) {
    order_in_window(epoch, share, share->begin, (size_t)share->count, maker->rows);
    return CST_OK;
  }
  uint64_t begin = share->begin - share->begin % size;
  uint64_t rest = share->rows - begin;
  bucket_reader reader = {maker, epoch, share, begin};
  const cst__bucket_source source = {(share->position + begin) / size,
                                     (size_t)(rest < size ? rest : size), read_streamed_bucket,
                                     &reader};
  return pick_from_bucket(maker, epoch, &source, (size_t)(share->begin - begin),
                          (size_t)share->count, error);
}

static cst_status maker_make_rows(cst__maker *maker, const cst__epoch *epoch, cst__share *share,
                                  struct ArrowArray *out, cst_error *error) {
  if (share->batch.release != NULL) {
    *out = share->batch;
    share->batch.release = NULL;
    return CST_OK;
  }
  CST__TRY(number_rows(maker, epoch, share, error));
  if (share->records == NULL) {
    cst_array *picked;
    const int64_t *rows = (const int64_t *)maker->rows; /* below 2^62 */
    CST__TRY(cst_array_take(share->columns, rows, (size_t)share->count, &picked, error));
    cst_status status = cst_array_export(picked, out, error);
    cst_array_release(picked);
    return status;
  }
  CST__TRY(pick_records(maker, share, maker->rows, (size_t)share->count, error));
  return decode_records(maker, &maker->decoding, share->records->source, share, out, error);
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
    uint64_t within = share->columns != NULL ? maker->rows[row] : share->begin + row;
    cst__error_add_file(error, cst__source_name(source, 0));
    cst__error_add_record(error, (int64_t)(share->position + within), -1);
  }
}

cst_status cst__maker_use_share(cst__maker *maker, const cst__epoch *epoch, cst__share *share,
                                struct ArrowArray *out, cst_error *error) {
  cst_status status = maker_make_rows(maker, epoch, share, out, error);
  cst__unit_clear(&maker->unit);
  return status;
}

void cst__maker_locate_in(cst__maker *maker, const cst__epoch *epoch, const cst__share *share,
                          uint64_t place, cst_error *error) {
  const cst_source *source = epoch->dataset->source;
  uint64_t row;
  order_in_window(epoch, share, share->begin + place, 1, &row);
  error->record = -1;
  if (share->records != NULL) {
    if (cst__window_pick(share->records, &row, 1, &maker->unit)) {
      cst__unit_locate(&maker->unit, share->records->source, 0, error);
    }
    cst__unit_clear(&maker->unit);
  } else if (source->num_parts == 1) {
    cst__error_add_file(error, cst__source_name(source, 0));
    cst__error_add_record(error, (int64_t)(share->position + row), -1);
  }
}

cst_status cst__maker_make_streamed(cst__maker *maker, const cst__epoch *epoch, uint64_t batch,
                                    cst__share *share, cst__made_batch *out, cst_error *error) {
  bool is_trusted =
      share->columns != NULL || epoch->dataset->source->inputs->format.payload != NULL;
  if (share->count == 0) {
    return CST_OK;
  }
  out->position = (cst_position){.epoch = epoch->number,
                                 .batch = batch,
                                 .file = share->file,
                                 .rows_before = share->rows_before,
                                 .origin = epoch->origin,
                                 .row = cst__epoch_place(epoch, batch).row};
  cst_status status = maker_make_rows(maker, epoch, share, &out->batch, error);
  if (status == CST_OK) {
    status = cst__made_tensors(epoch, is_trusted, out, error);
    if (status != CST_OK) {
      locate_read(maker, epoch, share, error);
    }
  }
  cst__unit_clear(&maker->unit);
  cst__share_reset(share);
  return status;
}
