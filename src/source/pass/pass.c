/* Passes: set-up, delivery in order, tear-down. */
#include "source/pass/pass.h"
#include "source/pass/arrow_schema.h"

#include <string.h>

#include "base/interrupt.h"
#include "source/input/prepare.h"
#include "source/input/report.h"

cst_status cst__pass_new_with(cst_source *source, const cst__pass_options *options, cst_pass **out,
                              cst_error *error) {
  cst_pass *pass = cst__new_zero(&source->allocator, sizeof *pass);
  if (pass == NULL) {
    return cst__fail_memory(error, sizeof *pass);
  }
  pass->source = cst__source_retain(source);
  pass->options = *options;
  pass->failed_at = UINT64_MAX;
  pass->error = (cst_error)CST_ERROR_INIT;
  atomic_init(&pass->consumed, 0);
  atomic_init(&pass->rows, 0);
  atomic_init(&pass->dropped, 0);
  cst__mutex_init(&pass->lock);
  cst__condition_init(&pass->work);
  cst__condition_init(&pass->ready);
  *out = pass;
  return CST_OK;
}

cst_status cst__pass_new(cst_source *source, cst_pass **out, cst_error *error) {
  cst__pass_options options = {.rows = (size_t)source->options.batch.rows,
                               .bytes = (uint64_t)source->options.batch.bytes,
                               .threads = source->options.batch.threads};
  CST__TRY(cst__source_acquire(source, error));
  return cst__pass_new_with(source, &options, out, error);
}

/* The feed that a sample has begun, or a new one. */
static cst__feed *take_feed(cst_source *source) {
  if (source->inputs->rereadable) {
    return cst__feed_new(source);
  }
  cst__mutex_lock(&source->lock);
  cst__feed *feed = source->found.sample;
  source->found.sample = NULL;
  cst__mutex_unlock(&source->lock);
  return feed != NULL ? feed : cst__feed_new(source);
}

static cst_status make_workers(cst_pass *pass, cst_error *error) {
  const cst_source *source = pass->source;
  size_t count = (size_t)pass->options.threads;
  if (pass->slots == NULL) {
    pass->slots = cst__new_zero(&source->allocator, CST__RING * sizeof *pass->slots);
  }
  if (pass->workers == NULL) {
    pass->workers = cst__new_zero(&source->allocator, count * sizeof *pass->workers);
  }
  if (pass->slots == NULL || pass->workers == NULL) {
    return cst__fail_memory(error, CST__RING * sizeof *pass->slots);
  }
  for (size_t i = 0; i < count; i++) {
    pass->workers[i] = (cst__worker){.pass = pass};
    pass->workers[i].decoding.source = source;
    pass->workers[i].decoding.purpose = pass->options.purpose;
  }
  return CST_OK;
}

/* What the first next does. */
static cst_status start(cst_pass *pass, cst_error *error) {
  cst_source *source = pass->source;
  if (source->inputs->format.payload == NULL) {
    struct ArrowSchema schema; /* finding it makes the plan */
    bool quiet = pass->options.purpose == CST__FOR_TYPES && !pass->options.by_unit;
    CST__TRY(cst__source_arrow_schema(source, &schema, error));
    return cst__tabular_pass_new(source, &schema, quiet, pass->options.warning, &pass->tabular,
                                 error);
  }
  if (pass->options.purpose == CST__FOR_COLUMNS) {
    CST__TRY(cst__source_prepare(source, error));
  }
  CST__TRY(make_workers(pass, error));
  pass->feed = take_feed(source);
  if (pass->feed == NULL) {
    return cst__fail_memory(error, sizeof *pass->feed);
  }
  cst__pass_cut(pass);
  cst__pass_start_threads(pass);
  return CST_OK;
}

/* Moves the batch at the head out. Holds the lock. */
static void deliver(cst_pass *pass, struct ArrowSchema *out_schema, struct ArrowArray *out) {
  cst__slot *slot = &pass->slots[pass->head % CST__RING];
  *out = slot->batch;
  slot->batch.release = NULL;
  if (out_schema != NULL) {
    *out_schema = slot->schema;
    slot->schema.release = NULL;
  }
  cst__unit old = pass->delivered;
  pass->delivered = slot->unit;
  cst__unit_clear(&old);
  slot->unit = old;
  atomic_fetch_add_explicit(&pass->rows, slot->rows, memory_order_relaxed);
  cst__pass_advance(pass);
}

/* Keeps a failure, so that it comes again. */
static cst_status fail_for_good(cst_pass *pass, cst_status status, const cst_error *own,
                                cst_error *error) {
  pass->failure = status;
  cst__error_copy(&pass->error, own);
  cst__error_copy(error, own);
  return status;
}

/* Works, and waits for the workers, until the head is done. Holds the lock. */
static cst_status await_head(cst_pass *pass, cst_error *error) {
  while (!cst__pass_is_ready(pass)) {
    if (!cst__pass_work(pass, &pass->workers[0])) {
      pass->caller_waits = true;
      CST__TRY(cst__interruptible_wait(&pass->ready, &pass->lock, error));
      pass->caller_waits = false;
    }
  }
  return CST_OK;
}

/* Takes what is next in order; out->release is NULL for a unit without a record, and at the end. */
static cst_status take_unit(cst_pass *pass, struct ArrowSchema *out_schema, struct ArrowArray *out,
                            cst_error *error) {
  cst_error own = CST_ERROR_INIT;
  cst_status status = cst__interrupted(&own);
  cst__mutex_lock(&pass->lock);
  if (status == CST_OK) {
    status = await_head(pass, &own);
  }
  if (status != CST_OK) {
    cst__pass_note_failure(pass, pass->head, status, &own);
  }
  if (pass->head == pass->failed_at) {
    status = pass->failed_status;
    cst__error_copy(error, &pass->error);
  } else if (pass->head < pass->tail) {
    deliver(pass, out_schema, out);
  } else {
    pass->at_end = true;
  }
  cst__mutex_unlock(&pass->lock);
  return status;
}

/* ---- with records dropped ---- */

static cst_status tell_drop(cst_pass *pass, const cst__drop *drop, cst_error *error) {
  const cst_source *source = pass->source;
  cst_error own = CST_ERROR_INIT;
  uint64_t count = atomic_load_explicit(&pass->dropped, memory_order_relaxed);
  cst__drop_explain(drop, source, &own);
  cst_dropped dropped = {.kind = cst__drop_name(drop),
                         .file = cst__source_name(source, drop->file),
                         .record = own.record,
                         .offset = own.offset,
                         .bytes = drop->bytes,
                         .error = &own};
  CST__TRY(cst__source_drop(source, &count, &dropped, error));
  atomic_store_explicit(&pass->dropped, count, memory_order_relaxed);
  return CST_OK;
}

/* Tells of what the unit that was taken last has lost; inference keeps quiet. */
static cst_status tell_drops(cst_pass *pass, cst_error *error) {
  const cst__drops *drops = &pass->delivered.drops;
  size_t count = pass->options.purpose == CST__FOR_COLUMNS && !pass->at_end ? drops->count : 0;
  for (size_t i = 0; i < count; i++) {
    CST__TRY(tell_drop(pass, &drops->items[i], error));
  }
  return CST_OK;
}

static cst_status take_and_tell(cst_pass *pass, struct ArrowSchema *out_schema,
                                struct ArrowArray *out, cst_error *error) {
  CST__TRY(take_unit(pass, out_schema, out, error));
  cst_status status = tell_drops(pass, error);
  if (status != CST_OK && out->release != NULL) {
    out->release(out);
    out->release = NULL;
  }
  return status;
}

/* Moves a batch into the joiner, whose schema is found when it is needed first. */
static cst_status put_aside(cst_pass *pass, struct ArrowArray *batch, cst_error *error) {
  cst_status status = CST_OK;
  if (pass->schema.release == NULL) {
    status = cst__source_arrow_schema(pass->source, &pass->schema, error);
    if (status != CST_OK) {
      batch->release(batch);
      return status;
    }
    cst__joiner_init(&pass->joiner, &pass->schema, (int64_t)pass->options.rows,
                     &pass->source->allocator);
  }
  return cst__joiner_put(&pass->joiner, batch, error);
}

/* The next batch of full size, or the last one; full units go through as they are until one has
 * lost records. */
static cst_status next_joined(cst_pass *pass, struct ArrowArray *out, cst_error *error) {
  cst__joiner *joiner = &pass->joiner;
  for (;;) {
    if (joiner->waiting_rows > 0 && (pass->flush || cst__joiner_is_full(joiner))) {
      return cst__joiner_take(joiner, pass->flush, out, error);
    }
    pass->flush = false;
    if (pass->at_end) {
      return CST_OK;
    }
    struct ArrowArray batch = {.release = NULL};
    CST__TRY(take_and_tell(pass, NULL, &batch, error));
    pass->flush = pass->at_end || pass->delivered.by_bytes;
    bool is_whole = pass->delivered.by_bytes || batch.length == (int64_t)pass->options.rows;
    if (batch.release != NULL && is_whole && joiner->waiting_rows == 0) {
      *out = batch;
      return CST_OK;
    }
    if (batch.release != NULL) {
      CST__TRY(put_aside(pass, &batch, error));
    }
  }
}

static cst_status next_decoded(cst_pass *pass, struct ArrowSchema *out_schema,
                               struct ArrowArray *out, cst_error *error) {
  if (cst__reading_options_skip(&pass->source->options) &&
      pass->options.purpose == CST__FOR_COLUMNS) {
    cst_error own = CST_ERROR_INIT;
    cst_status status = next_joined(pass, out, &own);
    if (status != CST_OK) {
      atomic_store(&pass->cancelled, true);
      cst__pass_stop_threads(pass); /* the pass's error is nobody else's then */
      return fail_for_good(pass, status, &own, error);
    }
    return CST_OK;
  }
  do {
    CST__TRY(take_and_tell(pass, out_schema, out, error));
  } while (out->release == NULL && !pass->at_end && !pass->options.by_unit);
  return CST_OK;
}

static cst_status next_tabular(cst_pass *pass, struct ArrowArray *out, cst_error *error) {
  CST__TRY(cst__tabular_pass_next(pass->tabular, out, error));
  atomic_store_explicit(&pass->consumed, cst__tabular_pass_consumed(pass->tabular),
                        memory_order_relaxed);
  if (out->release != NULL) {
    pass->first_row =
        atomic_fetch_add_explicit(&pass->rows, (uint64_t)out->length, memory_order_relaxed);
  }
  return CST_OK;
}

cst_status cst__pass_next(cst_pass *pass, struct ArrowSchema *out_schema, struct ArrowArray *out,
                          cst_error *error) {
  cst_error own = CST_ERROR_INIT;
  out->release = NULL;
  if (out_schema != NULL) {
    out_schema->release = NULL;
  }
  if (pass->failure != CST_OK) {
    cst__error_copy(error, &pass->error);
    return pass->failure;
  }
  if (pass->feed == NULL && pass->tabular == NULL) {
    cst_status status = start(pass, &own);
    if (status != CST_OK) {
      return fail_for_good(pass, status, &own, error);
    }
  }
  if (pass->tabular != NULL) {
    cst_status status = next_tabular(pass, out, &own);
    return status == CST_OK ? CST_OK : fail_for_good(pass, status, &own, error);
  }
  return next_decoded(pass, out_schema, out, error);
}

cst_status cst__pass_next_unit(cst_pass *pass, const cst__unit **out, cst_error *error) {
  struct ArrowArray none = {.release = NULL};
  *out = &pass->delivered;
  if (pass->feed == NULL) {
    CST__TRY(start(pass, error));
  }
  do {
    cst__unit_clear(&pass->delivered);
    CST__TRY(take_unit(pass, NULL, &none, error));
  } while (pass->delivered.rows == 0 && !pass->at_end);
  return CST_OK;
}

void cst__pass_progress(const cst_pass *pass, uint64_t *bytes_read, uint64_t *rows) {
  if (bytes_read != NULL) {
    *bytes_read = atomic_load_explicit(&pass->consumed, memory_order_relaxed);
  }
  if (rows != NULL) {
    *rows = atomic_load_explicit(&pass->rows, memory_order_relaxed);
  }
}

uint64_t cst__pass_dropped(const cst_pass *pass) {
  return pass->tabular != NULL ? cst__tabular_pass_dropped(pass->tabular)
                               : atomic_load_explicit(&pass->dropped, memory_order_relaxed);
}

void cst__pass_locate(const cst_pass *pass, size_t row, cst_error *error) {
  if (pass->tabular != NULL && cst__error_wanted(error)) {
    error->record = -1;
    cst__error_add_record(error, (int64_t)(pass->first_row + row), -1);
    if (pass->source->num_parts == 1) {
      cst__error_add_file(error, cst__source_name(pass->source, 0));
    }
    return;
  }
  cst__unit_locate(&pass->delivered, pass->source, row, error);
}

static void free_slots(cst_pass *pass) {
  for (size_t i = 0; pass->slots != NULL && i < CST__RING; i++) {
    cst__slot *slot = &pass->slots[i];
    cst__unit_reset(&slot->unit);
    if (slot->batch.release != NULL) {
      slot->batch.release(&slot->batch);
    }
    if (slot->schema.release != NULL) {
      slot->schema.release(&slot->schema);
    }
  }
  cst__delete(pass->slots);
}

void cst__pass_free(cst_pass *pass) {
  if (pass == NULL) {
    return;
  }
  atomic_store(&pass->cancelled, true);
  cst__pass_stop_threads(pass);
  free_slots(pass);
  for (int32_t i = 0; pass->workers != NULL && i < pass->options.threads; i++) {
    cst__decoding_reset(&pass->workers[i].decoding);
  }
  cst__delete(pass->workers);
  cst__unit_reset(&pass->delivered);
  cst__feed_free(pass->feed);
  cst__tabular_pass_free(pass->tabular);
  cst__joiner_reset(&pass->joiner);
  if (pass->schema.release != NULL) {
    pass->schema.release(&pass->schema);
  }
  cst__condition_destroy(&pass->ready);
  cst__condition_destroy(&pass->work);
  cst__mutex_destroy(&pass->lock);
  cst__source_release(pass->source);
  cst__delete(pass);
}
