/* Passes: set-up, delivery, tear-down. */
#include "source/pass/pass.h"

#include <columnstone/source.h>

#include "base/arguments.h"
#include "base/forked.h"
#include "source/input/notices.h"
#include "source/input/prepare.h"
#include "source/pass/arrow_schema.h"

cst_status cst__pass_new_with(cst_source *source, const cst__pass_options *options, cst_pass **out,
                              cst_error *error) {
  cst_pass *pass = cst__new_zero(&source->allocator, sizeof *pass);
  if (pass == NULL) {
    return cst__fail_memory(error, sizeof *pass);
  }
  pass->source = cst_source_retain(source);
  pass->options = *options;
  pass->error = (cst_error)CST_ERROR_INIT;
  atomic_init(&pass->counts.consumed, 0);
  atomic_init(&pass->counts.rows, 0);
  atomic_init(&pass->counts.dropped, 0);
  cst__pipeline_init(&pass->pipeline, source, &pass->options, &pass->counts);
  *out = pass;
  return CST_OK;
}

cst_status cst_pass_new(cst_source *source, cst_pass **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(source, "source", out, error));
  const cst_source_options *values = &source->options.values;
  cst__pass_options options = {.rows = (size_t)values->batch_size,
                               .bytes = (uint64_t)values->batch_bytes,
                               .threads = values->threads};
  CST__TRY(cst__source_acquire(source, error));
  return cst__pass_new_with(source, &options, out, error);
}

void cst_pass_free(cst_pass *pass) {
  if (pass == NULL || cst__is_forked(pass->process)) {
    return;
  }
  cst__pipeline_reset(&pass->pipeline);
  cst__unit_reset(&pass->delivered);
  cst__tabular_pass_free(pass->tabular);
  cst__joiner_reset(&pass->joining.joiner);
  if (pass->joining.schema.release != NULL) {
    pass->joining.schema.release(&pass->joining.schema);
  }
  cst_source_release(pass->source);
  cst__delete(pass);
}

/* ---- the start ---- */

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

/* Finding the decoded schema makes the plan. */
static cst_status start_tabular(cst_pass *pass, cst_error *error) {
  const cst__pass_options *options = &pass->options;
  bool staged = options->purpose == CST__FOR_COLUMNS && !options->unstaged;
  cst__tabular_options tabular = {.quiet = options->quiet, .warning = options->warning};
  struct ArrowSchema schema;
  CST__TRY(cst__source_decoded_schema(pass->source, &schema, error));
  if (staged && cst__reading_options_staged(&pass->source->options)) {
    schema.release(&schema);
    CST__TRY(cst_source_arrow_schema(pass->source, &schema, error));
    tabular.stages = cst__source_bound_chain(pass->source);
  }
  return cst__tabular_pass_new(pass->source, &schema, &tabular, &pass->tabular, error);
}

/* What the first next does. */
static cst_status start_pass(cst_pass *pass, cst_error *error) {
  cst_source *source = pass->source;
  const cst__pass_options *options = &pass->options;
  pass->process = getpid();
  if (source->inputs->format.payload == NULL) {
    return start_tabular(pass, error);
  }
  if (options->purpose == CST__FOR_COLUMNS) {
    CST__TRY(cst__source_prepare(source, error));
  }
  if (options->purpose == CST__FOR_COLUMNS || options->purpose == CST__FOR_RECORDS) {
    CST__TRY(cst__source_bind(source, error));
  }
  cst__feed *feed = take_feed(source);
  if (feed != NULL && options->at_once.files > 1 &&
      !cst__feed_cut_at_once(feed, &options->at_once)) {
    cst__feed_free(feed);
    feed = NULL;
  }
  return feed != NULL ? cst__pipeline_start(&pass->pipeline, feed, error)
                      : cst__fail_memory(error, sizeof *feed);
}

/* ---- units ---- */

static cst_status report_drop(cst_pass *pass, const cst__drop *drop, cst_error *error) {
  const cst_source *source = pass->source;
  cst_error own = CST_ERROR_INIT;
  uint64_t count = atomic_load_explicit(&pass->counts.dropped, memory_order_relaxed);
  cst__drop_explain(drop, source, &own);
  cst__dropped dropped = {.told = {.kind = cst__drop_name(drop, source),
                                   .file = cst__source_name(source, drop->file),
                                   .record = own.record,
                                   .offset = own.offset,
                                   .bytes = drop->bytes,
                                   .error = &own}};
  CST__TRY(cst__source_drop(source, &count, &dropped, error));
  atomic_store_explicit(&pass->counts.dropped, count, memory_order_relaxed);
  return CST_OK;
}

/* What the unit `delivered` has lost. */
static cst_status report_drops(cst_pass *pass, cst_error *error) {
  const cst__drops *drops = &pass->delivered.drops;
  for (size_t i = 0; i < drops->count; i++) {
    CST__TRY(report_drop(pass, &drops->items[i], error));
  }
  return CST_OK;
}

/* The next unit is `delivered`, and what it has lost is told of (inference keeps quiet);
 * out->release is NULL for one without a record, and at the end. */
static cst_status next_unit(cst_pass *pass, struct ArrowArray *out, cst_error *error) {
  CST__TRY(cst__pipeline_next(&pass->pipeline, &pass->delivered, out, NULL, &pass->at_end, error));
  bool tells = pass->options.purpose == CST__FOR_COLUMNS && !pass->at_end;
  cst_status status = tells ? report_drops(pass, error) : CST_OK;
  if (status != CST_OK && out->release != NULL) {
    out->release(out);
    out->release = NULL;
  }
  return status;
}

cst_status cst__pass_next_unit(cst_pass *pass, const cst__unit **out, cst_error *error) {
  struct ArrowArray none;
  *out = &pass->delivered;
  if (pass->pipeline.feed == NULL) {
    CST__TRY(start_pass(pass, error));
  }
  do {
    cst__unit_clear(&pass->delivered);
    CST__TRY(next_unit(pass, &none, error));
  } while (pass->delivered.rows == 0 && !pass->at_end);
  return CST_OK;
}

cst_status cst__pass_next_made(cst_pass *pass, void **made, cst_error *error) {
  struct ArrowArray none;
  *made = NULL;
  if (pass->pipeline.feed == NULL) {
    CST__TRY(start_pass(pass, error));
  }
  CST__TRY(
      cst__pipeline_next(&pass->pipeline, &pass->delivered, &none, made, &pass->at_end, error));
  cst_status status = pass->at_end || pass->options.quiet ? CST_OK : report_drops(pass, error);
  if (status != CST_OK && *made != NULL) {
    pass->options.work->drop(pass->options.work->ctx, *made);
    *made = NULL;
  }
  return status;
}

/* ---- batches ---- */

/* Where the rows of the batch of the unit delivered last come from. */
static cst_status note_origins(cst_pass *pass, int64_t rows, cst_error *error) {
  const cst__row_map *map = &pass->delivered.map;
  cst__unit_rows unit = {&pass->delivered, pass->source, 0};
  cst__place *origins = cst__joiner_add_origins(&pass->joining.joiner, rows);
  if (origins == NULL) {
    return cst__fail_memory(error, (size_t)rows * sizeof *origins);
  }
  for (int64_t i = 0; i < rows; i++) {
    int64_t row = map->moved ? map->rows[i] : i;
    origins[i] = row >= 0 ? cst__unit_rows_place(&unit, row) : cst__no_place;
  }
  return CST_OK;
}

/* Moves a batch into the joiner, whose schema is found when it is needed first. */
static cst_status put_aside(cst_pass *pass, struct ArrowArray *batch, cst_error *error) {
  cst__pass_joining *joining = &pass->joining;
  if (joining->schema.release == NULL) {
    cst_status status = cst_source_arrow_schema(pass->source, &joining->schema, error);
    if (status != CST_OK) {
      batch->release(batch);
      return status;
    }
    cst__joiner_init(&joining->joiner, &joining->schema, (int64_t)pass->options.rows,
                     &pass->source->allocator);
  }
  cst_status status = note_origins(pass, batch->length, error);
  if (status != CST_OK) {
    batch->release(batch);
    return status;
  }
  return cst__joiner_put(&joining->joiner, batch, error);
}

/* What waits takes its share of the bytes along. */
static cst_status take_joined(cst__pass_joining *joining, struct ArrowArray *out,
                              cst_error *error) {
  uint64_t before = (uint64_t)joining->joiner.waiting_rows;
  CST__TRY(cst__joiner_take(&joining->joiner, joining->flush, out, error));
  joining->bytes = joining->bytes * (uint64_t)joining->joiner.waiting_rows / before;
  return CST_OK;
}

/* True if the batch ends here by its bytes, with the rows that the last unit has given: those that
 * a stage has left of it stand for their part of its records. */
static bool ends_by_bytes(cst_pass *pass, int64_t rows) {
  const cst__unit *unit = &pass->delivered;
  uint64_t all = unit->rows;
  uint64_t left = (uint64_t)rows < all ? (uint64_t)rows : all;
  if (!unit->map.moved) {
    return unit->by_bytes;
  }
  pass->joining.bytes += all > 0 ? unit->bytes * left / all : 0;
  return pass->options.bytes > 0 && pass->joining.bytes >= pass->options.bytes;
}

/* The next batch of full size, or the last one; full units go through as they are until one has
 * lost records. */
static cst_status next_joined(cst_pass *pass, struct ArrowArray *out, cst_error *error) {
  cst__pass_joining *joining = &pass->joining;
  cst__joiner *joiner = &joining->joiner;
  for (;;) {
    joining->delivers = joiner->waiting_rows > 0 && (joining->flush || cst__joiner_is_full(joiner));
    if (joining->delivers) {
      return take_joined(joining, out, error);
    }
    joining->flush = false;
    if (pass->at_end) {
      return CST_OK;
    }
    struct ArrowArray batch = {.length = 0};
    CST__TRY(next_unit(pass, &batch, error));
    bool by_bytes = ends_by_bytes(pass, batch.release != NULL ? batch.length : 0);
    joining->flush = pass->at_end || by_bytes;
    bool is_full = by_bytes || batch.length == (int64_t)pass->options.rows;
    if (batch.release != NULL && is_full && joiner->waiting_rows == 0) {
      joining->bytes = 0;
      *out = batch;
      return CST_OK;
    }
    if (batch.release != NULL) {
      CST__TRY(put_aside(pass, &batch, error));
    }
  }
}

static cst_status next_tabular(cst_pass *pass, struct ArrowArray *out, cst_error *error) {
  cst__pass_counts *counts = &pass->counts;
  CST__TRY(cst__tabular_pass_next(pass->tabular, out, error));
  atomic_store_explicit(&counts->consumed, cst__tabular_pass_consumed(pass->tabular),
                        memory_order_relaxed);
  if (out->release != NULL) {
    pass->first_row =
        atomic_fetch_add_explicit(&counts->rows, (uint64_t)out->length, memory_order_relaxed);
  }
  return CST_OK;
}

/* Keeps a failure, so that it comes again. */
static cst_status fail_for_good(cst_pass *pass, cst_status status, const cst_error *own,
                                cst_error *error) {
  pass->failure = status;
  cst__error_copy(&pass->error, own);
  cst__error_copy(error, own);
  return status;
}

cst_status cst_pass_next(cst_pass *pass, struct ArrowArray *out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(pass, "pass", out, error));
  cst_error own = CST_ERROR_INIT;
  cst_status status = CST_OK;
  out->release = NULL;
  CST__TRY(cst__check_forked(pass->process, "pass", error));
  if (pass->failure != CST_OK) {
    cst__error_copy(error, &pass->error);
    return pass->failure;
  }
  if (pass->pipeline.feed == NULL && pass->tabular == NULL) {
    status = start_pass(pass, &own);
  }
  if (status == CST_OK && pass->tabular != NULL) {
    status = next_tabular(pass, out, &own);
  } else if (status == CST_OK && !cst__reading_options_deliver_all(&pass->source->options) &&
             pass->options.purpose == CST__FOR_COLUMNS) {
    status = next_joined(pass, out, &own);
  } else {
    while (status == CST_OK) {
      status = next_unit(pass, out, &own);
      if (out->release != NULL || pass->at_end) {
        break;
      }
    }
  }
  if (status != CST_OK) {
    cst__pipeline_stop(&pass->pipeline);
    return fail_for_good(pass, status, &own, error);
  }
  return CST_OK;
}

/* ---- places and progress ---- */

void cst_pass_progress(const cst_pass *pass, uint64_t *bytes_read, uint64_t *rows) {
  CST__CLEAR(bytes_read);
  CST__CLEAR(rows);
  if (pass != NULL && bytes_read != NULL) {
    *bytes_read = atomic_load_explicit(&pass->counts.consumed, memory_order_relaxed);
  }
  if (pass != NULL && rows != NULL) {
    *rows = atomic_load_explicit(&pass->counts.rows, memory_order_relaxed);
  }
}

uint64_t cst_pass_dropped(const cst_pass *pass) {
  if (pass == NULL) {
    return 0;
  }
  return pass->tabular != NULL ? cst__tabular_pass_dropped(pass->tabular)
                               : atomic_load_explicit(&pass->counts.dropped, memory_order_relaxed);
}

void cst__pass_locate(const cst_pass *pass, size_t row, cst_error *error) {
  const cst__row_map *map = &pass->delivered.map;
  cst__place place = cst__no_place;
  if (!cst__error_wanted(error)) {
    return;
  }
  if (pass->tabular == NULL && !pass->joining.delivers && !map->moved) {
    cst__unit_locate(&pass->delivered, pass->source, row, error);
    return;
  }
  if (pass->tabular != NULL) {
    place = cst__tabular_pass_place(pass->tabular, pass->first_row, row);
  } else if (pass->joining.delivers) {
    place = cst__joiner_origin(&pass->joining.joiner, row);
  } else if (map->rows[row] >= 0) {
    cst__unit_rows unit = {&pass->delivered, pass->source, 0};
    place = cst__unit_rows_place(&unit, map->rows[row]);
  }
  error->record = -1;
  cst__error_add_place(error, &place);
}
