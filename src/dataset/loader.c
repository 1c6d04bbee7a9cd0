/* Loaders: the batches of one epoch, from some batch on, made in order or ahead by threads.
 *
 * The batches of a loader are numbered from 0 and stand in a ring:
 *
 *   head                next           head + ring
 *    | made, being made | room           |
 *
 * The threads of a crew take the next number under the lock, make that batch without it, and put it
 * into its place; the caller takes what is at the head. Without threads the caller makes it.
 */
#include <columnstone/dataset.h>

#include "base/arguments.h"
#include "base/crew.h"
#include "base/forked.h"
#include "dataset/mixing.h"
#include "source/input/source.h"

static const uint64_t max_batch = UINT64_MAX / 4; /* numbers of batches after it fit */

typedef struct slot {
  bool is_done;
  cst__made_batch made;
} slot;

/* Batch number n has the slot n modulo size. */
typedef struct loader_ring {
  slot *slots;
  uint64_t size;
} loader_ring;

typedef struct worker {
  cst__maker maker;
  cst__maker *makers; /* of a mix: one for each dataset */
} worker;

typedef struct loader_workers {
  worker *items; /* [0] is the caller's, the others are those of threads */
  int32_t count;
} loader_workers;

/* What the calls of next ask for: all of a loader the same. */
typedef enum kind { KIND_OPEN, KIND_BATCHES, KIND_TENSORS } kind;

/* Which batches a loader has: of those from a position on, the first and every step-th after it. */
typedef struct loader_batches {
  cst_position from;
  uint64_t first;
  uint64_t step;
} loader_batches;

/* What the first next settles. */
typedef struct loader_start {
  kind kind;
  pid_t process; /* that makes it, the owner of the threads; 0: none yet */
} loader_start;

struct cst_loader {
  cst_dataset *dataset;
  cst__epoch epoch;
  loader_batches batches;
  loader_start start;
  loader_workers workers;
  cst__stream *stream; /* of a dataset that is not direct, and no mix */
  cst__mixing *mixing; /* of a mix */
  loader_ring ring;
  bool forks; /* a fork waits for the batches that are being made */

  cst__crew crew; /* whose lock guards all below */
  cst__condition turned;
  uint64_t head;
  uint64_t next;
  uint64_t turn; /* the batch whose rows are read next from the stream */
  uint64_t end;  /* number after the last batch; UINT64_MAX: not known yet */
  cst__first_failure failure;
};

/* ---- making ---- */

static slot *loader_slot_of(const cst_loader *loader, uint64_t number) {
  return &loader->ring.slots[number % loader->ring.size];
}

static uint64_t batch_of(const cst_loader *loader, uint64_t number) {
  return loader->batches.from.batch + loader->batches.first + number * loader->batches.step;
}

/* What is read in order is read by one batch after the other. */
static void turn_begin(cst_loader *loader, uint64_t number) {
  cst__mutex_lock(&loader->crew.lock);
  while (loader->turn != number) {
    cst__condition_wait(&loader->turned, &loader->crew.lock);
  }
  cst__mutex_unlock(&loader->crew.lock);
}

/* `is_end`: there is no such batch. */
static void turn_end(cst_loader *loader, uint64_t number, bool is_end) {
  cst__mutex_lock(&loader->crew.lock);
  loader->turn++;
  if (is_end && number < loader->end) {
    loader->end = number;
  }
  cst__condition_broadcast(&loader->turned);
  cst__mutex_unlock(&loader->crew.lock);
}

/* The rows of a batch out of the stream. */
static cst_status fetch(cst_loader *loader, uint64_t number, uint64_t batch, cst__share *out,
                        cst_error *error) {
  turn_begin(loader, number);
  cst__batch_place place = cst__epoch_place(&loader->epoch, batch);
  cst_status status = cst__stream_next(loader->stream, place.begin, place.count, out, error);
  if (status == CST_OK && out->count < place.count && loader->dataset->options.drop_last) {
    cst__share_reset(out);
  }
  turn_end(loader, number, status == CST_OK && out->count == 0);
  return status;
}

/* The rows of a batch of a mix, with those that are read in order. */
static cst_status fetch_mixed(cst_loader *loader, uint64_t number, const cst__batch_place *place,
                              cst__mixed_rows **out, cst_error *error) {
  uint64_t rest = loader->dataset->num_rows - place->begin;
  size_t count = (size_t)(rest < place->count ? rest : place->count);
  *out = NULL;
  cst_status status = cst__mixed_rows_new(loader->mixing, place->begin, count, out, error);
  if (cst__mixing_reads(loader->mixing)) {
    turn_begin(loader, number);
    status = status == CST_OK ? cst__mixing_read(loader->mixing, *out, error) : status;
    turn_end(loader, number, false);
  }
  return status;
}

static cst_status make_mixed(cst_loader *loader, worker *self, uint64_t number,
                             cst__made_batch *out, cst_error *error) {
  cst__mixed_rows *rows;
  uint64_t batch = batch_of(loader, number);
  cst__batch_place place = cst__epoch_place(&loader->epoch, batch);
  cst_status status = fetch_mixed(loader, number, &place, &rows, error);
  if (status == CST_OK) {
    status = cst__mixing_make(loader->mixing, rows, self->makers, out, error);
  }
  cst__mixed_rows_free(rows);
  out->position = (cst_position){.epoch = loader->epoch.number,
                                 .batch = batch,
                                 .origin = loader->epoch.origin,
                                 .row = place.row};
  return status;
}

static cst_status make(cst_loader *loader, worker *self, uint64_t number, cst__made_batch *out,
                       cst_error *error) {
  uint64_t batch = batch_of(loader, number);
  cst__share share;
  if (loader->mixing != NULL) {
    return make_mixed(loader, self, number, out, error);
  }
  if (loader->stream == NULL) {
    return cst__maker_make_direct(&self->maker, &loader->epoch, batch, out, error);
  }
  CST__TRY(fetch(loader, number, batch, &share, error));
  return cst__maker_make_streamed(&self->maker, &loader->epoch, batch, &share, out, error);
}

/* True if the next call of next has its answer. Holds the lock. */
static bool loader_is_ready(const void *owner) {
  const cst_loader *loader = owner;
  return loader->head >= loader->end || loader->head == loader->failure.at ||
         loader_slot_of(loader, loader->head)->is_done;
}

/* Makes the next batch, if there is room; the lock is let go meanwhile. The caller does it if there
 * is no thread that does. */
static bool work(void *owner, int32_t thread) {
  cst_loader *loader = owner;
  if ((thread == 0 && loader->crew.started > 0) || loader->next >= loader->end ||
      loader->next >= loader->failure.at || loader->next - loader->head >= loader->ring.size) {
    return false;
  }
  uint64_t number = loader->next++;
  cst__made_batch *made = &loader_slot_of(loader, number)->made;
  cst_error error = CST_ERROR_INIT;
  cst__mutex_unlock(&loader->crew.lock);
  if (loader->forks) {
    cst__busy_enter();
  }
  cst_status status = make(loader, &loader->workers.items[thread], number, made, &error);
  if (loader->forks) {
    cst__busy_leave();
  }
  cst__mutex_lock(&loader->crew.lock);
  if (status != CST_OK) {
    cst__first_failure_note(&loader->failure, number, status, &error);
  } else {
    loader_slot_of(loader, number)->is_done = number < loader->end;
  }
  if (loader_is_ready(loader)) {
    cst__crew_call_caller(&loader->crew);
  }
  return true;
}

static const cst__crew_calls loader_calls = {work, loader_is_ready};

/* ---- life ---- */

/* Readers may call code that the forking thread holds up; so may passes, which have threads of
 * their own besides. */
static bool may_stop_forks(const cst_dataset *dataset) {
  bool may = dataset->direct || cst__dataset_is_mix(dataset);
  for (size_t i = 0; i < dataset->mix.schedule.count; i++) {
    may = may && may_stop_forks(dataset->mix.datasets[i]);
  }
  for (size_t i = 0; i < dataset->source->num_parts; i++) {
    may = may && dataset->source->parts[i].file->regular;
  }
  return may;
}

/* How many batches there are from the first on. */
static uint64_t count_own(const cst_loader *loader, uint64_t batches) {
  uint64_t first;
  if (__builtin_add_overflow(loader->batches.from.batch, loader->batches.first, &first) ||
      first >= batches) {
    return 0;
  }
  return (batches - first - 1) / loader->batches.step + 1;
}

static cst_status loader_make_room(cst_loader *loader, cst_error *error) {
  const cst_dataset_options *o = &loader->dataset->options;
  int32_t threads = o->prefetch > 0 ? o->threads : 0;
  size_t num_workers = (size_t)threads + 1;
  loader->workers.count = threads + 1;
  loader->ring.size = (uint64_t)(o->prefetch > threads ? o->prefetch : threads);
  loader->ring.size += loader->ring.size == 0;
  loader->workers.items = cst__new_zero(o->allocator, num_workers * sizeof *loader->workers.items);
  loader->ring.slots =
      cst__new_zero(o->allocator, (size_t)loader->ring.size * sizeof *loader->ring.slots);
  if (loader->workers.items == NULL || loader->ring.slots == NULL) {
    return cst__fail_memory(error, num_workers * sizeof *loader->workers.items);
  }
  return cst__crew_reserve(&loader->crew, threads, o->allocator, error);
}

/* True if a window is worth being read in whole: some of its batches are this loader's, and neither
 * a map nor a cache gives its rows without a read. */
static bool reads_windows(const cst_loader *loader) {
  const cst_dataset_options *o = &loader->dataset->options;
  double batches = (double)o->window / (double)o->batch_size;
  return loader->dataset->shuffle == CST_SHUFFLE_WINDOW && loader->dataset->num_rows > 0 &&
         !(loader->dataset->source->options.values.flags & CST_SOURCE_MEMORY_MAP) &&
         loader->dataset->cache == NULL &&
         batches >= 4.0 * (double)o->num_shards * (double)loader->batches.step;
}

static cst_status begin_direct(cst_loader *loader, cst_error *error) {
  cst_dataset *dataset = loader->dataset;
  cst__dataset_order_of(dataset, loader->batches.from.epoch, &loader->epoch.order);
  loader->end = count_own(
      loader, cst__dataset_count_batches(dataset, dataset->num_rows, loader->batches.from.origin));
  if (cst__epoch_place(&loader->epoch, batch_of(loader, 0)).begin >= dataset->num_rows) {
    loader->end = 0; /* all rows of the short batch are left out */
  }
  return reads_windows(loader) ? cst__blocks_new(dataset->source, &loader->epoch.order,
                                                 &dataset->allocator, &loader->epoch.blocks, error)
                               : CST_OK;
}

/* Whether a batch is one of those that every shard has is seen at the end of the rows only. */
static cst_status begin_stream(cst_loader *loader, cst_error *error) {
  cst_dataset *dataset = loader->dataset;
  if (dataset->options.drop_last && dataset->options.num_shards > 1) {
    uint64_t rows;
    CST__TRY(cst_dataset_num_rows(dataset, &rows, error));
    loader->end =
        count_own(loader, cst__dataset_count_batches(dataset, rows, loader->batches.from.origin));
  }
  const cst_position *from = &loader->batches.from;
  const cst__stream_start start = {.epoch = from->epoch,
                                   .row = cst__dataset_begin(dataset, from->origin, from->batch),
                                   .file = from->file,
                                   .rows_before = from->rows_before};
  return cst__stream_new(dataset, &start, &loader->stream, error);
}

static cst_status begin_mix(cst_loader *loader, cst_error *error) {
  cst_dataset *dataset = loader->dataset;
  size_t num_datasets = dataset->mix.schedule.count;
  uint64_t rows;
  CST__TRY(cst__dataset_count_rows(dataset, &rows, error));
  uint64_t begin = cst__epoch_place(&loader->epoch, batch_of(loader, 0)).begin;
  if (rows < UINT64_MAX) {
    uint64_t batches = cst__dataset_count_batches(dataset, rows, loader->batches.from.origin);
    loader->end = begin < rows ? count_own(loader, batches) : 0;
  } else if (begin > UINT64_MAX / 4) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "use the position of a batch",
                     "row %llu is beyond the end of the mix", (unsigned long long)begin);
  }
  for (int32_t i = 0; i < loader->workers.count; i++) {
    size_t bytes = num_datasets * sizeof(cst__maker);
    loader->workers.items[i].makers = cst__new_zero(&dataset->allocator, bytes);
    if (loader->workers.items[i].makers == NULL) {
      return cst__fail_memory(error, bytes);
    }
  }
  return cst__mixing_new(&loader->epoch, &loader->mixing, error);
}

static cst_status loader_begin(cst_loader *loader, cst_error *error) {
  CST__TRY(loader_make_room(loader, error));
  loader->epoch = (cst__epoch){.dataset = loader->dataset,
                               .number = loader->batches.from.epoch,
                               .origin = loader->batches.from.origin,
                               .first_batch = loader->batches.from.batch,
                               .first_row = loader->batches.from.row};
  if (loader->dataset->options.bucket_by != NULL) {
    CST__TRY(
        cst__buckets_new(loader->dataset, loader->epoch.number, &loader->epoch.buckets, error));
  }
  if (cst__dataset_is_mix(loader->dataset)) {
    return begin_mix(loader, error);
  }
  return loader->dataset->direct ? begin_direct(loader, error) : begin_stream(loader, error);
}

cst_status cst_loader_new(cst_dataset *dataset, const cst_position *from, uint32_t first,
                          uint32_t step, cst_loader **out, cst_error *error) {
  CST__CLEAR(out);
  if (dataset == NULL || from == NULL || out == NULL) {
    return cst__missing(dataset == NULL ? "dataset" : from == NULL ? "from" : "out", error);
  }
  if (from->batch > max_batch) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "use the position of a batch",
                     "no epoch has batch %llu", (unsigned long long)from->batch);
  }
  if (from->row >= (uint64_t)dataset->options.batch_size) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "begin with the next batch",
                     "row %llu of a batch of %lld rows", (unsigned long long)from->row,
                     (long long)dataset->options.batch_size);
  }
  CST__TRY(cst__dataset_prepare(dataset, error));
  cst_loader *loader = cst__new_zero(&dataset->allocator, sizeof *loader);
  if (loader == NULL) {
    return cst__fail_memory(error, sizeof *loader);
  }
  loader->dataset = cst_dataset_retain(dataset);
  loader->batches = (loader_batches){*from, first, step > 0 ? step : 1};
  loader->forks = may_stop_forks(dataset);
  loader->failure = (cst__first_failure)CST__NO_FAILURE;
  loader->end = UINT64_MAX;
  cst__crew_init(&loader->crew, &loader_calls, loader);
  cst__condition_init(&loader->turned);
  cst_status status = loader_begin(loader, error);
  if (status != CST_OK) {
    cst_loader_free(loader);
    return status;
  }
  *out = loader;
  return CST_OK;
}

void cst_loader_free(cst_loader *loader) {
  if (loader == NULL || cst__is_forked(loader->start.process)) {
    return;
  }
  cst__crew_reset(&loader->crew);
  for (int32_t i = 0; loader->workers.items != NULL && i < loader->workers.count; i++) {
    worker *one = &loader->workers.items[i];
    cst__maker_reset(&one->maker);
    for (size_t k = 0; one->makers != NULL && k < loader->dataset->mix.schedule.count; k++) {
      cst__maker_reset(&one->makers[k]);
    }
    cst__delete(one->makers);
  }
  for (uint64_t i = 0; loader->ring.slots != NULL && i < loader->ring.size; i++) {
    cst__made_batch *made = &loader->ring.slots[i].made;
    if (made->batch.release != NULL) {
      made->batch.release(&made->batch);
    }
    cst_tensors_release(made->tensors);
  }
  cst__stream_free(loader->stream);
  cst__mixing_free(loader->mixing);
  cst__blocks_free(loader->epoch.blocks);
  cst__buckets_free(loader->epoch.buckets);
  cst__delete(loader->workers.items);
  cst__delete(loader->ring.slots);
  cst__condition_destroy(&loader->turned);
  cst_dataset_release(loader->dataset);
  cst__delete(loader);
}

/* ---- delivery ---- */

/* What the first call of next asks for holds for all of them. */
static cst_status agree(cst_loader *loader, kind wanted, const cst_tensor_adapter *adapter,
                        cst_error *error) {
  CST__TRY(cst__check_forked(loader->start.process, "loader", error));
  if (loader->start.kind == KIND_OPEN) {
    loader->start.kind = wanted;
    loader->start.process = getpid();
    loader->epoch.adapter = adapter;
    cst__crew_start(&loader->crew);
  }
  if (loader->start.kind == wanted && loader->epoch.adapter == adapter) {
    return CST_OK;
  }
  return cst__fail(error, CST_STATE, "make another loader",
                   "a loader gives batches, or tensors by one adapter");
}

/* Takes what is at the head; nothing after the end. Holds the lock. */
static cst_status loader_deliver(cst_loader *loader, cst__made_batch *out, cst_error *error) {
  if (loader->head == loader->failure.at) {
    cst__error_copy(error, &loader->failure.error);
    return loader->failure.status;
  }
  if (loader->head < loader->end) {
    slot *at = loader_slot_of(loader, loader->head++);
    *out = at->made;
    *at = (slot){.is_done = false};
    cst__crew_call_thread(&loader->crew);
  }
  return CST_OK;
}

static cst_status loader_next(cst_loader *loader, cst__made_batch *out, cst_error *error) {
  cst_error own = CST_ERROR_INIT;
  cst_status status = cst__interrupted(&own);
  cst__mutex_lock(&loader->crew.lock);
  status = status == CST_OK ? cst__crew_wait(&loader->crew, &own) : status;
  if (status != CST_OK) {
    cst__first_failure_note(&loader->failure, loader->head, status, &own);
  }
  status = loader_deliver(loader, out, error);
  cst__mutex_unlock(&loader->crew.lock);
  return status;
}

cst_status cst_loader_next(cst_loader *loader, struct ArrowArray *out, cst_position *position,
                           cst_error *error) {
  CST__CLEAR(out);
  CST__CLEAR(position);
  CST__TRY(cst__check_given(loader, "loader", out, error));
  cst__made_batch made = {.tensors = NULL};
  out->release = NULL;
  CST__TRY(agree(loader, KIND_BATCHES, NULL, error));
  CST__TRY(loader_next(loader, &made, error));
  *out = made.batch;
  if (position != NULL && made.batch.release != NULL) {
    *position = made.position;
  }
  return CST_OK;
}

cst_status cst_loader_next_tensors(cst_loader *loader, const cst_tensor_adapter *adapter,
                                   cst_tensors **out, cst_position *position, cst_error *error) {
  CST__CLEAR(out);
  CST__CLEAR(position);
  if (loader == NULL || adapter == NULL || out == NULL) {
    return cst__missing("the loader, the adapter or the output", error);
  }
  cst__made_batch made = {.tensors = NULL};
  *out = NULL;
  CST__TRY(agree(loader, KIND_TENSORS, adapter, error));
  CST__TRY(loader_next(loader, &made, error));
  *out = made.tensors;
  if (position != NULL && made.tensors != NULL) {
    *position = made.position;
  }
  return CST_OK;
}
