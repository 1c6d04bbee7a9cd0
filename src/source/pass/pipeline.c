/* The jobs of a pass, and the threads that do them: fill a block of a file, decode some units. */
#include "source/pass/pipeline.h"

#include <string.h>

/* Bytes of records. */
static const uint64_t group_bytes = 256 << 10; /* decoded in one job: small units go together */
static const uint64_t group_least = 64 << 10;
static const uint64_t window_bytes = 256 << 10; /* decoded ahead of the caller, per thread: few, so
                                                   that their buffers stay in the cache */
static const uint64_t fill_ahead = 256 << 10;   /* queued for decoding, per thread */
static const uint64_t budget_base = 32 << 20;   /* read ahead of compressed files, in all */
static const uint64_t budget_thread = 16 << 20; /* more per thread above two */
enum {
  GROUP_UNITS = 64,
  RUN_BYTES = 1 << 10 /* what a block of a small file takes beside its records */
};

typedef enum job_kind { JOB_FILL, JOB_DECODE } job_kind;

typedef struct job {
  job_kind kind;
  size_t file;    /* FILL */
  uint64_t first; /* DECODE: units [first, end) */
  uint64_t end;
} job;

static cst__ring_unit *slot_of(const cst__ring *ring, uint64_t unit) {
  return &ring->slots[unit % CST__RING];
}

/* ---- tear-down ---- */

static void release_batch(cst__ring_unit *slot) {
  if (slot->batch.release != NULL) {
    slot->batch.release(&slot->batch);
    slot->batch.release = NULL;
  }
}

void cst__pipeline_stop(cst__pipeline *pipeline) { cst__crew_stop(&pipeline->crew); }

void cst__pipeline_reset(cst__pipeline *pipeline) {
  cst__crew_reset(&pipeline->crew);
  /* No slot beyond the tail was ever touched: a small file needs one of them. */
  uint64_t touched = pipeline->ring.tail < CST__RING ? pipeline->ring.tail + 1 : CST__RING;
  for (size_t i = 0; pipeline->ring.slots != NULL && i < touched; i++) {
    cst__unit_reset(&pipeline->ring.slots[i].unit);
    release_batch(&pipeline->ring.slots[i]);
    if (pipeline->ring.slots[i].made != NULL) {
      const cst__unit_work *work = pipeline->options->work;
      work->drop(work->ctx, pipeline->ring.slots[i].made);
    }
  }
  cst__delete(pipeline->ring.slots);
  for (int32_t i = 0; pipeline->decodings != NULL && i < pipeline->options->threads; i++) {
    cst__decoding_reset(&pipeline->decodings[i]);
  }
  cst__delete(pipeline->decodings);
  cst__feed_free(pipeline->feed);
}

/* ---- picking a job, under the lock ---- */

static bool can_decode(const cst__pipeline *p) {
  const cst__ring *ring = &p->ring;
  return ring->taken < ring->tail && ring->taken < p->failed.at &&
         (!ring->resting || ring->taken - ring->head <= (uint64_t)p->options->threads);
}

/* Consecutive units from `taken` on: enough to be worth a job, few enough to leave some to others.
 */
static void pick_group(const cst__pipeline *p, job *out) {
  const cst__ring *ring = &p->ring;
  uint64_t threads = (uint64_t)p->options->threads;
  uint64_t share = ring->queued_bytes / threads;
  uint64_t limit = share > group_bytes ? group_bytes : share < group_least ? group_least : share;
  uint64_t bytes = 0;
  uint64_t unit = ring->taken;
  do {
    bytes += slot_of(ring, unit)->bytes;
    unit++;
  } while (threads > 1 && unit < ring->tail && unit < p->failed.at && bytes < limit &&
           unit - ring->taken < GROUP_UNITS);
  *out = (job){.kind = JOB_DECODE, .first = ring->taken, .end = unit};
}

/* The first of the next `ahead` files that can be filled. */
static bool pick_file(const cst__pipeline *p, size_t ahead, job *out) {
  bool wanted = p->failed.at == UINT64_MAX && !p->ring.cut_all;
  size_t file = wanted ? cst__feed_fillable(p->feed, ahead) : SIZE_MAX;
  *out = (job){.kind = JOB_FILL, .file = file};
  return file != SIZE_MAX;
}

/* True if the front file has blocks that could not be cut, because the ring is full. */
static bool front_waits(const cst__feed *feed) {
  return feed->front < feed->source->num_parts && feed->files[feed->front].first != NULL;
}

/* Reading ahead costs memory and cache; it pays when it is work (inflating), else a little is
 * enough to keep everybody busy. */
static bool may_read_ahead(const cst__pipeline *p) {
  uint64_t threads = (uint64_t)p->options->threads;
  uint64_t raw = p->ring.queued_bytes + p->feed->ready_bytes;
  if (threads == 1) {
    return false;
  }
  return p->feed->compressed
             ? raw + p->ring.decoded_bytes < budget_base + budget_thread * (threads - 2)
             : raw < 2 * threads * fill_ahead && !front_waits(p->feed);
}

static bool pick_job(const cst__pipeline *p, job *out) {
  uint64_t threads = (uint64_t)p->options->threads;
  uint64_t enough = threads == 1 ? 1 : threads * fill_ahead;
  bool hungry = p->ring.queued_bytes < enough && !(threads == 1 && can_decode(p));
  if (p->crew.stop) {
    return false;
  }
  if (hungry && !front_waits(p->feed) && pick_file(p, 1, out)) {
    return true;
  }
  if (can_decode(p)) {
    pick_group(p, out);
    return true;
  }
  return may_read_ahead(p) && pick_file(p, (size_t)threads + 1, out);
}

/* ---- reporting, under the lock ---- */

/* Cuts units while the ring has room. */
static void cut_units(cst__pipeline *p) {
  cst__ring *ring = &p->ring;
  while (!ring->cut_all && ring->tail - ring->head < CST__RING) {
    cst__ring_unit *slot = slot_of(ring, ring->tail);
    bool first_failure = p->failed.at == UINT64_MAX;
    cst_status failure = CST_OK;
    cst__cut cut = cst__feed_cut(p->feed, p->options->rows, p->options->bytes, &slot->unit,
                                 &failure, first_failure ? &p->failed.error : NULL);
    if (cut == CST__CUT_WAIT) {
      return;
    }
    if (cut != CST__CUT_UNIT) {
      ring->cut_all = true;
      if (cut == CST__CUT_FAILED && first_failure) {
        p->failed.at = ring->tail;
        p->failed.status = failure;
      }
      return;
    }
    slot->state = CST__UNIT_QUEUED;
    slot->bytes = slot->unit.bytes + slot->unit.num_runs * RUN_BYTES;
    slot->rows = slot->unit.rows;
    ring->queued_bytes += slot->bytes;
    ring->tail++;
  }
}

/* True if the caller's next call has its answer. */
static bool is_ready(const void *owner) {
  const cst__pipeline *p = owner;
  const cst__ring *ring = &p->ring;
  if (ring->head == p->failed.at || (ring->cut_all && ring->head == ring->tail)) {
    return true;
  }
  return ring->head < ring->tail && slot_of(ring, ring->head)->state == CST__UNIT_DONE;
}

/* Wakes a worker if one sleeps and there is work. */
static void wake_worker(cst__pipeline *p) {
  job probe;
  if (p->crew.idle > 0 && pick_job(p, &probe)) {
    cst__crew_call_thread(&p->crew);
  }
}

static void wake_caller(cst__pipeline *p) {
  job probe;
  if (p->crew.caller_waits && (is_ready(p) || pick_job(p, &probe))) {
    cst__crew_call_caller(&p->crew);
  }
}

/* ---- running, without the lock ---- */

/* The rows of the batch that stages have made of the unit's. */
static cst_status keep_map(const cst__decoding *decoding, cst__ring_unit *slot, cst_error *error) {
  const cst__row_map *map = decoding->map;
  slot->unit.map.moved = map != NULL;
  if (map == NULL) {
    return CST_OK;
  }
  slot->rows = (size_t)slot->batch.length;
  if (!cst__row_map_reserve(&slot->unit.map, &decoding->source->allocator, slot->batch.length)) {
    release_batch(slot);
    return cst__fail_memory(error, slot->rows * sizeof *map->rows);
  }
  memcpy(slot->unit.map.rows, map->rows, slot->rows * sizeof *map->rows);
  return CST_OK;
}

static cst_status decode_slot(cst__pipeline *p, cst__decoding *decoding, cst__ring_unit *slot,
                              cst_error *error) {
  cst__unit *unit = &slot->unit;
  bool skip = cst__reading_options_skip(&p->source->options);
  cst_status status = skip ? cst__unit_decode_sound(unit, decoding, NULL, &slot->batch, error)
                      : unit->is_trial
                          ? cst__unit_try(unit, decoding, NULL, &slot->batch, error)
                          : cst__unit_decode(unit, decoding, NULL, &slot->batch, error);
  slot->rows = unit->rows;
  if (status == CST_OK && unit->is_trial) {
    release_batch(slot);
    slot->rows = 0;
  } else if (status == CST_OK && slot->batch.release != NULL) {
    status = keep_map(decoding, slot, error);
  }
  if (status != CST_OK) {
    cst__unit_clear(unit);
  } else {
    cst__unit_let_go(unit);
  }
  return status;
}

/* Something else than a batch is made of the unit, of which what it has lost stays. */
static cst_status work_on_slot(const cst__pipeline *p, cst__decoding *decoding,
                               cst__ring_unit *slot, cst_error *error) {
  const cst__unit_work *work = p->options->work;
  cst_status status = work->run(work->ctx, &slot->unit, decoding, &slot->made, error);
  slot->rows = slot->unit.is_trial ? 0 : slot->unit.rows;
  cst__drops drops = slot->unit.drops;
  slot->unit.drops = (cst__drops){.items = NULL};
  cst__unit_clear(&slot->unit);
  slot->unit.drops = drops;
  return status;
}

/* Leaves with the lock held. Units after a failure are of no use. */
static void decode_units(cst__pipeline *p, cst__decoding *decoding, uint64_t first, uint64_t end) {
  cst_error error = CST_ERROR_INIT;
  for (uint64_t i = first; i < end; i++) {
    cst__ring_unit *slot = slot_of(&p->ring, i);
    cst_status status = CST_OK;
    if (p->options->work != NULL) {
      status = work_on_slot(p, decoding, slot, &error);
    } else if (p->options->purpose != CST__FOR_RECORDS) {
      status = decode_slot(p, decoding, slot, &error);
    } else if (slot->unit.is_trial) { /* whoever takes the records decodes them */
      cst__unit_clear(&slot->unit);
      slot->rows = 0;
    }
    cst__mutex_lock(&p->crew.lock);
    if (status != CST_OK) {
      cst__first_failure_note(&p->failed, i, status, &error);
    } else {
      slot->state = CST__UNIT_DONE;
    }
    if (i + 1 == end || p->crew.stop || i >= p->failed.at) {
      return;
    }
    if (i == p->ring.head) {
      wake_caller(p);
    }
    cst__mutex_unlock(&p->crew.lock);
  }
}

/* Marks the units of the job as taken. */
static void take_units(cst__pipeline *p, const job *j) {
  cst__ring *ring = &p->ring;
  for (uint64_t unit = j->first; unit < j->end; unit++) {
    cst__ring_unit *slot = slot_of(ring, unit);
    slot->state = CST__UNIT_RUNNING;
    ring->queued_bytes -= slot->bytes;
    ring->decoded_bytes += slot->bytes;
  }
  ring->taken = j->end;
  if (ring->decoded_bytes >= window_bytes * (uint64_t)p->options->threads) {
    ring->resting = true;
  }
}

/* Does one job, if there is one; the lock is held, and let go meanwhile. */
static bool do_job(void *owner, int32_t thread) {
  cst__pipeline *p = owner;
  job j;
  if (!pick_job(p, &j)) {
    return false;
  }
  if (j.kind == JOB_DECODE) {
    take_units(p, &j);
    wake_worker(p);
    cst__mutex_unlock(&p->crew.lock);
    decode_units(p, &p->decodings[thread], j.first, j.end);
  } else {
    cst__block *block;
    cst__feed_begin(p->feed, j.file);
    wake_worker(p);
    cst__mutex_unlock(&p->crew.lock);
    cst__feed_fill(p->feed, j.file, &block);
    cst__mutex_lock(&p->crew.lock);
    cst__feed_end(p->feed, j.file, block);
    atomic_store_explicit(&p->counts->consumed, p->feed->consumed, memory_order_relaxed);
    cut_units(p);
  }
  wake_caller(p);
  return true;
}

/* ---- starting ---- */

void cst__pipeline_init(cst__pipeline *pipeline, const cst_source *source,
                        const cst__pass_options *options, cst__pass_counts *counts) {
  static const cst__crew_calls calls = {do_job, is_ready};
  pipeline->source = source;
  pipeline->options = options;
  pipeline->counts = counts;
  pipeline->failed = (cst__first_failure)CST__NO_FAILURE;
  cst__crew_init(&pipeline->crew, &calls, pipeline);
}

cst_status cst__pipeline_start(cst__pipeline *p, cst__feed *feed, cst_error *error) {
  const cst_allocator *allocator = &p->source->allocator;
  size_t threads = (size_t)p->options->threads;
  if (p->ring.slots == NULL) {
    p->ring.slots = cst__new_zero(allocator, CST__RING * sizeof *p->ring.slots);
  }
  if (p->decodings == NULL) {
    p->decodings = cst__new_zero(allocator, threads * sizeof *p->decodings);
  }
  cst_status status = cst__crew_reserve(&p->crew, p->options->threads - 1, allocator, error);
  if (status == CST_OK && (p->ring.slots == NULL || p->decodings == NULL)) {
    status = cst__fail_memory(error, CST__RING * sizeof *p->ring.slots);
  }
  if (status != CST_OK) {
    cst__feed_free(feed);
    return status;
  }
  p->feed = feed;
  for (size_t i = 0; i < threads; i++) {
    p->decodings[i] = (cst__decoding){.source = p->source, .purpose = p->options->purpose};
  }
  cut_units(p);
  cst__crew_start(&p->crew);
  return CST_OK;
}

/* ---- delivering ---- */

/* Makes room and work of what has been delivered: cuts and decodes again when half of the room is
 * free, so that not one unit is cut, and one thread woken for it, for each batch. */
static void advance_ring(cst__pipeline *p) {
  cst__ring *ring = &p->ring;
  ring->decoded_bytes -= slot_of(ring, ring->head)->bytes;
  ring->head++;
  if (ring->decoded_bytes <= window_bytes / 2 * (uint64_t)p->options->threads) {
    ring->resting = false;
  }
  if (ring->tail - ring->head <= CST__RING / 2) {
    cut_units(p);
  }
  wake_worker(p);
}

/* Moves the unit at the head out. */
static void deliver_slot(cst__pipeline *p, cst__unit *unit, struct ArrowArray *batch, void **made) {
  cst__ring_unit *slot = slot_of(&p->ring, p->ring.head);
  *batch = slot->batch;
  slot->batch.release = NULL;
  if (made != NULL) {
    *made = slot->made;
    slot->made = NULL;
  }
  cst__unit old = *unit;
  *unit = slot->unit;
  cst__unit_clear(&old);
  slot->unit = old;
  atomic_fetch_add_explicit(&p->counts->rows, slot->rows, memory_order_relaxed);
  advance_ring(p);
}

cst_status cst__pipeline_next(cst__pipeline *p, cst__unit *unit, struct ArrowArray *batch,
                              void **made, bool *at_end, cst_error *error) {
  cst_error own = CST_ERROR_INIT;
  cst_status status = cst__interrupted(&own);
  batch->release = NULL;
  cst__mutex_lock(&p->crew.lock);
  status = status == CST_OK ? cst__crew_wait(&p->crew, &own) : status;
  if (status != CST_OK) {
    cst__first_failure_note(&p->failed, p->ring.head, status, &own);
  }
  if (p->ring.head == p->failed.at) {
    status = p->failed.status;
    cst__error_copy(error, &p->failed.error);
  } else if (p->ring.head < p->ring.tail) {
    deliver_slot(p, unit, batch, made);
  } else {
    *at_end = true;
  }
  cst__mutex_unlock(&p->crew.lock);
  return status;
}
