/* The jobs of a pass, and the threads that do them: fill a block of a file, decode some units. */
#include "source/pass/pass.h"

#include <string.h>

#include "base/interrupt.h"

/* Bytes of records. */
static const uint64_t group_bytes = 256 << 10; /* decoded in one job: small units go together */
static const uint64_t group_least = 64 << 10;
static const uint64_t window_bytes = 256 << 10; /* decoded ahead of the caller, per thread: few, so
                                                   that their buffers stay in the cache */
static const uint64_t fill_ahead = 256 << 10;   /* queued for decoding, per thread */
static const uint64_t budget_base = 64 << 20;   /* read ahead of compressed files, in all */
static const uint64_t budget_thread = 16 << 20; /* more per thread above two */
static const uint64_t run_bytes = 1
                                  << 10; /* what a block of a small file takes beside its records */
enum { GROUP_UNITS = 64 };

typedef enum job_kind { JOB_FILL, JOB_DECODE } job_kind;

typedef struct job {
  job_kind kind;
  size_t file;    /* FILL */
  uint64_t first; /* DECODE: units [first, end) */
  uint64_t end;
} job;

static cst__slot *slot_of(const cst_pass *pass, uint64_t unit) {
  return &pass->slots[unit % CST__RING];
}

/* ---- picking, under the lock ---- */

static bool can_decode(const cst_pass *pass) {
  return pass->taken < pass->tail && pass->taken < pass->failed_at &&
         (!pass->resting || pass->taken - pass->head <= (uint64_t)pass->options.threads);
}

/* Consecutive units from `taken` on: enough to be worth a job, few enough to leave some to others.
 */
static void pick_group(const cst_pass *pass, job *out) {
  uint64_t threads = (uint64_t)pass->options.threads;
  uint64_t share = pass->queued_bytes / threads;
  uint64_t limit = share > group_bytes ? group_bytes : share < group_least ? group_least : share;
  uint64_t bytes = 0;
  uint64_t unit = pass->taken;
  do {
    bytes += slot_of(pass, unit)->bytes;
    unit++;
  } while (threads > 1 && unit < pass->tail && unit < pass->failed_at && bytes < limit &&
           unit - pass->taken < GROUP_UNITS);
  *out = (job){.kind = JOB_DECODE, .first = pass->taken, .end = unit};
}

static bool pick_fill(const cst_pass *pass, size_t ahead, job *out) {
  size_t file = pass->failed_at == UINT64_MAX && !pass->cut_all
                    ? cst__feed_fillable(pass->feed, ahead)
                    : SIZE_MAX;
  *out = (job){.kind = JOB_FILL, .file = file};
  return file != SIZE_MAX;
}

/* True if the front file has blocks that could not be cut, because the ring is full. */
static bool front_waits(const cst_pass *pass) {
  const cst__feed *feed = pass->feed;
  return feed->front < pass->source->num_parts && feed->files[feed->front].first != NULL;
}

/* Reading ahead costs memory and cache; it pays when it is work (inflating), else a little is
 * enough to keep everybody busy. */
static bool may_read_ahead(const cst_pass *pass) {
  uint64_t threads = (uint64_t)pass->options.threads;
  uint64_t raw = pass->queued_bytes + pass->feed->ready_bytes;
  if (threads == 1) {
    return false;
  }
  return pass->feed->compressed
             ? raw + pass->decoded_bytes < budget_base + budget_thread * (threads - 2)
             : raw < 2 * threads * fill_ahead && !front_waits(pass);
}

static bool pick(const cst_pass *pass, job *out) {
  uint64_t threads = (uint64_t)pass->options.threads;
  uint64_t enough = threads == 1 ? 1 : threads * fill_ahead;
  if (pass->stop) {
    return false;
  }
  if (pass->queued_bytes < enough && !(threads == 1 && can_decode(pass)) && !front_waits(pass) &&
      pick_fill(pass, 1, out)) {
    return true;
  }
  if (can_decode(pass)) {
    pick_group(pass, out);
    return true;
  }
  return may_read_ahead(pass) && pick_fill(pass, (size_t)threads + 1, out);
}

static void take(cst_pass *pass, const job *j) {
  if (j->kind == JOB_FILL) {
    cst__feed_begin(pass->feed, j->file);
    return;
  }
  for (uint64_t unit = j->first; unit < j->end; unit++) {
    cst__slot *slot = slot_of(pass, unit);
    slot->state = CST__SLOT_RUNNING;
    pass->queued_bytes -= slot->bytes;
    pass->decoded_bytes += slot->bytes;
  }
  pass->taken = j->end;
  if (pass->decoded_bytes >= window_bytes * (uint64_t)pass->options.threads) {
    pass->resting = true;
  }
}

/* ---- reporting, under the lock ---- */

void cst__pass_note_failure(cst_pass *pass, uint64_t unit, cst_status status,
                            const cst_error *error) {
  if (unit < pass->failed_at) {
    pass->failed_at = unit;
    pass->failed_status = status;
    cst__error_copy(&pass->error, error);
  }
}

void cst__pass_cut(cst_pass *pass) {
  while (!pass->cut_all && pass->tail - pass->head < CST__RING) {
    cst__slot *slot = slot_of(pass, pass->tail);
    bool first_failure = pass->failed_at == UINT64_MAX;
    cst_status failure = CST_OK;
    cst__cut cut = cst__feed_cut(pass->feed, pass->options.rows, pass->options.bytes, &slot->unit,
                                 &failure, first_failure ? &pass->error : NULL);
    if (cut == CST__CUT_WAIT) {
      return;
    }
    if (cut != CST__CUT_UNIT) {
      pass->cut_all = true;
      if (cut == CST__CUT_FAILED && first_failure) {
        pass->failed_at = pass->tail;
        pass->failed_status = failure;
      }
      return;
    }
    slot->state = CST__SLOT_QUEUED;
    slot->bytes = slot->unit.bytes + slot->unit.num_runs * run_bytes;
    slot->rows = slot->unit.rows;
    pass->queued_bytes += slot->bytes;
    pass->tail++;
  }
}

bool cst__pass_is_ready(const cst_pass *pass) {
  if (pass->head == pass->failed_at || (pass->cut_all && pass->head == pass->tail)) {
    return true;
  }
  return pass->head < pass->tail && slot_of(pass, pass->head)->state == CST__SLOT_DONE;
}

/* Wakes a worker if one sleeps and there is work. */
static void wake_worker(cst_pass *pass) {
  job probe;
  if (pass->idle > 0 && pick(pass, &probe)) {
    cst__condition_signal(&pass->work);
  }
}

static void wake_caller(cst_pass *pass) {
  job probe;
  if (pass->caller_waits && (cst__pass_is_ready(pass) || pick(pass, &probe))) {
    pass->caller_waits = false;
    cst__condition_signal(&pass->ready);
  }
}

/* Cuts and decodes again when half of the room is free: not one unit, and one thread woken for it,
 * per batch that is delivered. */
void cst__pass_advance(cst_pass *pass) {
  pass->decoded_bytes -= slot_of(pass, pass->head)->bytes;
  pass->head++;
  if (pass->decoded_bytes <= window_bytes / 2 * (uint64_t)pass->options.threads) {
    pass->resting = false;
  }
  if (pass->tail - pass->head <= CST__RING / 2) {
    cst__pass_cut(pass);
  }
  wake_worker(pass);
}

/* ---- running ---- */

static void run_fill(cst_pass *pass, size_t file) {
  cst__block *block;
  cst__feed_fill(pass->feed, file, &block);
  cst__mutex_lock(&pass->lock);
  cst__feed_end(pass->feed, file, block);
  atomic_store_explicit(&pass->consumed, pass->feed->consumed, memory_order_relaxed);
  cst__pass_cut(pass);
}

static void drop_trial(cst__slot *slot) {
  slot->batch.release(&slot->batch);
  slot->batch.release = NULL;
  if (slot->schema.release != NULL) {
    slot->schema.release(&slot->schema);
    slot->schema.release = NULL;
  }
  slot->rows = 0;
}

/* Whoever takes the records decodes them. */
static void keep_records(cst__slot *slot) {
  if (slot->unit.is_trial) {
    cst__unit_clear(&slot->unit);
  }
  slot->rows = slot->unit.rows;
}

static cst_status decode_slot(cst_pass *pass, cst__worker *worker, cst__slot *slot,
                              cst_error *error) {
  if (pass->options.purpose == CST__FOR_RECORDS) {
    keep_records(slot);
    return CST_OK;
  }
  struct ArrowSchema *schema = pass->options.purpose == CST__FOR_TYPES ? &slot->schema : NULL;
  bool skip = cst__reading_options_skip(&pass->source->options) && !pass->options.by_unit;
  cst_status status =
      skip ? cst__unit_decode_sound(&slot->unit, &worker->decoding, schema, &slot->batch, error)
           : cst__unit_decode(&slot->unit, &worker->decoding, schema, &slot->batch, error);
  slot->rows = slot->unit.rows;
  if (pass->options.by_unit && cst__is_fault(status)) {
    slot->batch.release = NULL;
    slot->schema.release = NULL;
    return CST_OK;
  }
  if (status == CST_OK && slot->unit.is_trial) {
    drop_trial(slot);
  }
  if (status != CST_OK) {
    cst__unit_clear(&slot->unit);
  } else if (!pass->options.keep_offsets) {
    cst__unit_let_go(&slot->unit);
  }
  return status;
}

/* Leaves with the lock held. Units behind a failure are of no use. */
static void run_decode(cst_pass *pass, cst__worker *worker, uint64_t first, uint64_t end) {
  cst_error error = CST_ERROR_INIT;
  for (uint64_t unit = first; unit < end; unit++) {
    cst__slot *slot = slot_of(pass, unit);
    cst_status status = decode_slot(pass, worker, slot, &error);
    cst__mutex_lock(&pass->lock);
    if (status != CST_OK) {
      cst__pass_note_failure(pass, unit, status, &error);
    } else {
      slot->state = CST__SLOT_DONE;
    }
    if (unit + 1 == end || pass->stop || unit >= pass->failed_at) {
      return;
    }
    if (unit == pass->head) {
      wake_caller(pass);
    }
    cst__mutex_unlock(&pass->lock);
  }
}

bool cst__pass_work(cst_pass *pass, cst__worker *worker) {
  job j;
  if (!pick(pass, &j)) {
    return false;
  }
  take(pass, &j);
  wake_worker(pass);
  cst__mutex_unlock(&pass->lock);
  if (j.kind == JOB_FILL) {
    run_fill(pass, j.file);
  } else {
    run_decode(pass, worker, j.first, j.end);
  }
  wake_caller(pass);
  return true;
}

/* ---- threads ---- */

static void *run_worker(void *arg) {
  cst__worker *worker = arg;
  cst_pass *pass = worker->pass;
  cst__interrupt_follow(&pass->cancelled);
  cst__mutex_lock(&pass->lock);
  while (!pass->stop) {
    if (!cst__pass_work(pass, worker)) {
      pass->idle++;
      cst__condition_wait(&pass->work, &pass->lock);
      pass->idle--;
    }
  }
  cst__mutex_unlock(&pass->lock);
  return NULL;
}

void cst__pass_start_threads(cst_pass *pass) {
  for (int32_t i = 1; i < pass->options.threads; i++) {
    if (!cst__thread_start(&pass->workers[i].thread, run_worker, &pass->workers[i])) {
      break;
    }
    pass->num_started = i;
  }
}

void cst__pass_stop_threads(cst_pass *pass) {
  cst__mutex_lock(&pass->lock);
  pass->stop = true;
  cst__condition_broadcast(&pass->work);
  cst__mutex_unlock(&pass->lock);
  for (int32_t i = 1; i <= pass->num_started; i++) {
    cst__thread_join(&pass->workers[i].thread);
  }
  pass->num_started = 0;
}
