/* Datasets: options, the way in which rows are reached, and the counting of batches. */
#include "dataset/dataset.h"

#include "base/arguments.h"
#include "source/index/access.h"
#include "source/pass/pass.h"
#include "source/scan/count.h"

enum { DEFAULT_WINDOW = 65536, MAX_PREFETCH = 4096, MAX_THREADS = 1024 };
static const int64_t max_rows = INT64_MAX / 4;      /* of a batch, of a window: sums of two fit */
static const int64_t max_bucket = INT64_C(1) << 32; /* its rows are sorted in memory */

/* ---- options ---- */

static cst_status check_range(const char *name, int64_t value, int64_t most, cst_error *error) {
  if (value >= 0 && value <= most) {
    return CST_OK;
  }
  return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "%s is %lld, it must be 0 to %lld", name,
                   (long long)value, (long long)most);
}

static cst_status check_path(const cst_path *path, cst_error *error) {
  bool is_whole = path->count > 0 && path->steps != NULL;
  for (size_t i = 0; is_whole && i < path->count; i++) {
    is_whole = path->steps[i] != NULL;
  }
  return is_whole ? CST_OK
                  : cst__fail(error, CST_INVALID_ARGUMENT, NULL, "bucket_by names no column");
}

static cst_status dataset_check_options(const cst_dataset_options *o, cst_error *error) {
  CST__TRY(check_range("batch_size", o->batch_size, max_rows, error));
  CST__TRY(check_range("window", o->window, max_rows, error));
  CST__TRY(check_range("prefetch", o->prefetch, MAX_PREFETCH, error));
  CST__TRY(check_range("threads", o->threads, MAX_THREADS, error));
  CST__TRY(check_range("shuffle", (int64_t)o->shuffle, CST_SHUFFLE_WINDOW, error));
  CST__TRY(check_range("interleave", o->interleave, CST__MOST_PIECES, error));
  if (o->interleave > 1 && o->shuffle == CST_SHUFFLE_NONE) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "shuffle the rows, or remove interleave",
                     "interleave is %d, but rows that are not shuffled keep the source's order",
                     (int)o->interleave);
  }
  CST__TRY(check_range("bucket_batches", o->bucket_batches, max_bucket, error));
  CST__TRY(o->bucket_by != NULL ? check_path(o->bucket_by, error) : CST_OK);
  if (o->shard >= (o->num_shards > 0 ? o->num_shards : 1)) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "shards are counted from 0", "shard %u of %u",
                     (unsigned)o->shard, (unsigned)o->num_shards);
  }
  return CST_OK;
}

/* Windows hold whole batches, and whole buckets, so that each of these lies in one of them. */
static cst_status complete_options(cst_dataset_options *o, const cst_source *source,
                                   cst_error *error) {
  o->batch_size = o->batch_size > 0 ? o->batch_size : source->options.values.batch_size;
  o->window = o->window > 0 ? o->window : DEFAULT_WINDOW;
  o->bucket_batches = o->bucket_batches > 0 ? o->bucket_batches : CST_DATASET_BUCKET_BATCHES;
  int64_t whole = o->batch_size;
  if (o->bucket_by != NULL &&
      (__builtin_mul_overflow(whole, o->bucket_batches, &whole) || whole > max_bucket)) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "sort the rows of fewer batches together",
                     "a bucket of %lld batches of %lld rows has more than %lld rows",
                     (long long)o->bucket_batches, (long long)o->batch_size, (long long)max_bucket);
  }
  o->window += (whole - o->window % whole) % whole;
  o->num_shards = o->num_shards > 0 ? o->num_shards : 1;
  o->threads = o->threads > 0 ? o->threads : 1;
  o->interleave = o->interleave > 0 ? o->interleave : CST_DATASET_INTERLEAVE;
  return CST_OK;
}

/* What the options ask for beside values. */
static cst_status open_parts(cst_dataset *dataset, int64_t memory_budget, cst_error *error) {
  cst_dataset_options *o = &dataset->options;
  int64_t budget = memory_budget == 0 ? CST_DATASET_MEMORY_BUDGET : memory_budget;
  CST__TRY(complete_options(o, dataset->source, error));
  if (o->bucket_by != NULL) {
    CST__TRY(cst__lengths_init(&dataset->lengths, dataset->source, o->bucket_by, o->bucket_by_value,
                               &dataset->allocator, error));
    o->bucket_by = &dataset->lengths.path;
  }
  return cst__source_record_cache(dataset->source, budget > 0 ? (uint64_t)budget : 0,
                                  &dataset->cache, error);
}

cst_status cst_dataset_new(cst_source *source, const cst_dataset_options *options,
                           cst_dataset **out, cst_error *error) {
  CST__CLEAR(out);
  cst_dataset_options own = CST_DATASET_OPTIONS_INIT;
  CST__TRY(cst__check_given(source, "source", out, error));
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(cst__check_allocator(own.allocator, error));
  CST__TRY(dataset_check_options(&own, error));
  cst_allocator allocator = own.allocator != NULL ? *own.allocator : source->allocator;
  cst_dataset *dataset = cst__new_zero(&allocator, sizeof *dataset);
  if (dataset == NULL) {
    return cst__fail_memory(error, sizeof *dataset);
  }
  cst__refcount_init(&dataset->owners);
  cst__mutex_init(&dataset->lock);
  dataset->source = cst_source_retain(source);
  dataset->options = own;
  dataset->allocator = allocator;
  dataset->options.allocator = &dataset->allocator;
  cst_status status = open_parts(dataset, own.memory_budget, error);
  if (status != CST_OK) {
    cst_dataset_release(dataset);
    return status;
  }
  *out = dataset;
  return CST_OK;
}

cst_dataset *cst_dataset_retain(const cst_dataset *dataset) {
  cst_dataset *owned = (cst_dataset *)(uintptr_t)dataset;
  if (owned != NULL) {
    cst__refcount_up(&owned->owners);
  }
  return owned;
}

void cst_dataset_release(cst_dataset *dataset) {
  if (dataset != NULL && cst__refcount_down(&dataset->owners)) {
    for (size_t i = 0; i < dataset->mix.schedule.count; i++) {
      cst_dataset_release(dataset->mix.datasets[i]);
    }
    cst__delete(dataset->mix.datasets);
    cst__delete(dataset->mix.schedule.parts);
    cst__mutex_destroy(&dataset->lock);
    cst__lengths_reset(&dataset->lengths);
    cst_source_release(dataset->source);
    cst__delete(dataset);
  }
}

/* ---- how rows are reached ---- */

/* Rows of files on disk are reached one by one if they can be. Elsewhere each may be a request over
 * a network, and damaged records are passed over by passes only: there it has to be asked for. */
static bool wants_direct(const cst_dataset *dataset) {
  const cst_source *source = dataset->source;
  bool wants = source->inputs->format.payload != NULL && source->inputs->rereadable &&
               cst__reading_options_deliver_all(&source->options);
  for (size_t i = 0; i < source->num_parts; i++) {
    wants = wants && source->parts[i].file->regular;
  }
  return wants || dataset->options.shuffle == CST_SHUFFLE_GLOBAL;
}

/* Holds the lock. */
static cst_status find_way(cst_dataset *dataset, cst_error *error) {
  cst_shuffle asked = dataset->options.shuffle;
  cst_error own = CST_ERROR_INIT;
  cst__access *access;
  if (wants_direct(dataset)) {
    cst_status status = cst__source_access(dataset->source, &access, &own);
    if (status == CST_OK) {
      dataset->direct = true;
      dataset->num_rows = access->num_rows;
      dataset->counted = true;
    } else if (status != CST_UNSUPPORTED || asked == CST_SHUFFLE_GLOBAL) {
      cst__error_copy(error, &own);
      return status;
    }
  }
  dataset->shuffle = asked != CST_SHUFFLE_AUTO ? asked
                     : dataset->direct         ? CST_SHUFFLE_GLOBAL
                                               : CST_SHUFFLE_WINDOW;
  if (dataset->options.bucket_by != NULL) {
    CST__TRY(cst__lengths_open(&dataset->lengths, dataset->source, error));
  }
  dataset->prepared = true;
  return CST_OK;
}

/* Holds the lock. */
static cst_status prepare_mixed(cst_dataset *mix, cst_error *error) {
  for (size_t i = 0; i < mix->mix.schedule.count; i++) {
    cst_shuffle own;
    CST__TRY(cst_dataset_shuffle(mix->mix.datasets[i], &own, error));
    mix->shuffle = i == 0 || mix->shuffle == own ? own : CST_SHUFFLE_AUTO;
  }
  mix->prepared = true;
  return CST_OK;
}

cst_status cst__dataset_prepare(cst_dataset *dataset, cst_error *error) {
  cst__mutex_lock(&dataset->lock);
  cst_status status = dataset->prepared              ? CST_OK
                      : cst__dataset_is_mix(dataset) ? prepare_mixed(dataset, error)
                                                     : find_way(dataset, error);
  cst__mutex_unlock(&dataset->lock);
  return status;
}

cst_status cst_dataset_shuffle(cst_dataset *dataset, cst_shuffle *out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(dataset, "dataset", out, error));
  CST__TRY(cst__dataset_prepare(dataset, error));
  *out = dataset->shuffle;
  return CST_OK;
}

/* ---- counting ---- */

/* Holds the lock, so that a source is read once for it. */
static cst_status count_rows(cst_dataset *dataset, cst_error *error) {
  if (!dataset->source->inputs->rereadable) {
    return cst__fail(error, CST_UNSUPPORTED, "save it to a file first",
                     "the input can be read only once: its rows are counted when it has been read");
  }
  uint64_t rows = 0;
  if (cst__reading_options_deliver_all(&dataset->source->options)) {
    CST__TRY(cst_source_num_rows(dataset->source, &rows, error));
  } else {
    CST__TRY(cst__source_count_by_pass(dataset->source, &rows, error));
  }
  dataset->num_rows = rows;
  dataset->counted = true;
  return CST_OK;
}

/* The same for a mix. */
static cst_status count_mixed(cst_dataset *mix, cst_error *error) {
  const cst__schedule *schedule = &mix->mix.schedule;
  for (size_t i = 0; i < schedule->count; i++) {
    uint64_t *rows = &schedule->parts[i].rows;
    CST__TRY(cst_dataset_num_rows(mix->mix.datasets[i], rows, error));
    if (*rows == 0 && schedule->stop != CST_MIX_FIRST) {
      return cst__fail(error, CST_INVALID_ARGUMENT, "leave it out",
                       "dataset %zu of the mix has no rows, and cannot begin again", i);
    }
  }
  mix->num_rows = cst__schedule_rows(schedule);
  mix->counted = true;
  return CST_OK;
}

cst_status cst__dataset_count_rows(cst_dataset *dataset, uint64_t *rows, cst_error *error) {
  CST__TRY(cst__dataset_prepare(dataset, error));
  cst__mutex_lock(&dataset->lock);
  cst_status status = dataset->counted               ? CST_OK
                      : cst__dataset_is_mix(dataset) ? count_mixed(dataset, error)
                                                     : count_rows(dataset, error);
  *rows = dataset->num_rows;
  cst__mutex_unlock(&dataset->lock);
  return status;
}

cst_status cst_dataset_num_rows(cst_dataset *dataset, uint64_t *rows, cst_error *error) {
  CST__CLEAR(rows);
  if (dataset == NULL || rows == NULL) {
    return cst__missing(dataset == NULL ? "dataset" : "rows", error);
  }
  CST__TRY(cst__dataset_count_rows(dataset, rows, error));
  if (*rows == UINT64_MAX) {
    *rows = 0;
    return cst__fail(error, CST_UNSUPPORTED, "count steps, or stop with the first or with all",
                     "an epoch of this mix has no end: its datasets begin again");
  }
  return CST_OK;
}

uint64_t cst__dataset_count_batches(const cst_dataset *dataset, uint64_t num_rows,
                                    uint64_t origin) {
  const cst_dataset_options *o = &dataset->options;
  bool is_short = num_rows % (uint64_t)o->batch_size > 0 && !o->drop_last;
  uint64_t all = num_rows / (uint64_t)o->batch_size + is_short;
  uint64_t left = all > origin ? all - origin : 0;
  return left / o->num_shards + (!o->drop_last && left % o->num_shards > o->shard);
}

cst_status cst_dataset_batches_left(cst_dataset *dataset, const cst_position *from,
                                    uint64_t *batches, cst_error *error) {
  CST__CLEAR(batches);
  if (dataset == NULL || from == NULL || batches == NULL) {
    return cst__missing(dataset == NULL ? "dataset" : from == NULL ? "from" : "batches", error);
  }
  uint64_t rows;
  CST__TRY(cst_dataset_num_rows(dataset, &rows, error));
  uint64_t all = cst__dataset_count_batches(dataset, rows, from->origin);
  uint64_t begin = cst__dataset_begin(dataset, from->origin, from->batch);
  *batches = all > from->batch ? all - from->batch : 0;
  if (*batches > 0 && from->row > 0 && rows - begin <= from->row) {
    *batches = 0; /* nothing is left of the short batch */
  }
  return CST_OK;
}

cst_status cst_dataset_num_batches(cst_dataset *dataset, uint64_t *batches, cst_error *error) {
  CST__CLEAR(batches);
  if (dataset == NULL || batches == NULL) {
    return cst__missing(dataset == NULL ? "dataset" : "batches", error);
  }
  return cst_dataset_batches_left(dataset, &(cst_position){.epoch = 0}, batches, error);
}

uint64_t cst__dataset_begin(const cst_dataset *dataset, uint64_t origin, uint64_t batch) {
  const cst_dataset_options *o = &dataset->options;
  uint64_t position;
  if (__builtin_mul_overflow(batch, o->num_shards, &position) ||
      __builtin_add_overflow(position, o->shard, &position) ||
      __builtin_add_overflow(position, origin, &position) ||
      __builtin_mul_overflow(position, (uint64_t)o->batch_size, &position)) {
    return UINT64_MAX;
  }
  return position;
}

/* ---- the order ---- */

void cst__dataset_order_of(const cst_dataset *dataset, uint64_t epoch, cst__epoch_order *out) {
  const cst_dataset_options *o = &dataset->options;
  const cst__windows windows = {(uint64_t)o->window, (uint64_t)o->interleave};
  cst__epoch_order_init(out, dataset->shuffle, dataset->num_rows, windows, o->seed, epoch);
}
