/* Folds: the pass, units on their way into states, and how a lenient fold gets past what does not
 * decode. */
#include "source/scan/fold.h"

#include <string.h>

#include "arrow/concat.h"
#include "schema/schema.h"
#include "schema/schema_columns.h"
#include "source/input/prepare.h"
#include "source/pass/arrow_schema.h"
#include "source/pass/pass.h"
#include "source/scan/sample.h"

enum { FOLD_ROWS = 1024, FOLD_BYTES = 4 << 20, PROGRESS_BYTES = 16 << 20 };

/* Rows of a table that were dropped, whose numbers those that follow have to make up for. */
enum { MAX_DROPS = 4096 };

typedef struct table_drops {
  int64_t *rows; /* ascending */
  size_t count, capacity;
  bool several; /* files: their rows have no numbers of their own */
  bool lost;    /* there were too many */
} table_drops;

/* A state for each accumulator. */
typedef struct fold_states {
  struct fold_states *next; /* spare */
  void *items[];
} fold_states;

typedef struct fold {
  const cst__fold_options *options;
  const cst__accumulation *items;
  size_t count;
  fold_states *own;   /* the states of the items */
  cst__mutex lock;    /* of the spare ones */
  fold_states *spare; /* merged and restarted */
  cst_source *source; /* as it is read */
  cst_pass *pass;
  struct ArrowSchema outputs; /* of its view or the caller's stages; release NULL: the batches are
                                 as they are decoded */
  int64_t *places;            /* of these in the batches; NULL: all are there */
  uint64_t told;              /* bytes at the last call of on_progress */
  table_drops drops;
  cst_status lost_status; /* why a dropped row ended the pass */
  cst_error lost_error;
} fold;

cst_status cst__source_acquire_for_fold(cst_source *source, const cst__accumulator *accumulator,
                                        cst_error *error) {
  const cst__format *format = &source->inputs->format;
  if (format->payload != NULL && format->payload->types_from == CST__TYPES_NONE) {
    return cst__fail(error, CST_UNSUPPORTED, "open the files as tf.Examples (format \"example\")",
                     "the format %s has no columns to %s", format->name, accumulator->purpose);
  }
  return cst__source_acquire_all(source, error);
}

/* ---- states ---- */

static void free_states(const fold *f, fold_states *states) {
  for (size_t i = 0; states != NULL && i < f->count; i++) {
    f->items[i].accumulator->free(states->items[i]);
  }
  cst__delete(states);
}

/* States of nothing, or NULL. */
static fold_states *allocate_states(const fold *f) {
  return cst__new_zero(&f->source->allocator,
                       sizeof(fold_states) + f->count * sizeof(f->own->items[0]));
}

static fold_states *take_spare_states(fold *f) {
  cst__mutex_lock(&f->lock);
  fold_states *states = f->spare;
  f->spare = states != NULL ? states->next : NULL;
  cst__mutex_unlock(&f->lock);
  return states;
}

/* On any thread. */
static cst_status need_states(fold *f, fold_states **out, cst_error *error) {
  fold_states *states = take_spare_states(f);
  states = states != NULL ? states : allocate_states(f);
  cst_status status = states != NULL ? CST_OK : cst__fail_memory(error, sizeof *states);
  for (size_t i = 0; i < f->count && status == CST_OK; i++) {
    const cst__accumulation *item = &f->items[i];
    if (states->items[i] == NULL) {
      status =
          item->accumulator->create(item->plan, &f->source->allocator, &states->items[i], error);
    }
  }
  if (status != CST_OK) {
    free_states(f, states);
    return status;
  }
  *out = states;
  return CST_OK;
}

/* Keeps states that were merged for another unit: as they are, or empty. */
static void recycle_states(fold *f, fold_states *states) {
  for (size_t i = 0; i < f->count; i++) {
    const cst__accumulator *accumulator = f->items[i].accumulator;
    if (accumulator->restart == NULL || !accumulator->restart(states->items[i])) {
      accumulator->free(states->items[i]);
      states->items[i] = NULL;
    }
  }
  cst__mutex_lock(&f->lock);
  states->next = f->spare;
  f->spare = states;
  cst__mutex_unlock(&f->lock);
}

/* Takes the states over. */
static cst_status merge_states(fold *f, fold_states *states, cst_error *error) {
  cst_status status = CST_OK;
  if (states == NULL || states == f->own) {
    return CST_OK;
  }
  for (size_t i = 0; i < f->count && status == CST_OK; i++) {
    status = f->items[i].accumulator->merge(f->own->items[i], states->items[i], error);
  }
  if (status != CST_OK) {
    free_states(f, states);
    return status;
  }
  recycle_states(f, states);
  return CST_OK;
}

/* A batch on its way into states. */
typedef struct fold_batch {
  const fold *fold;
  fold_states *states;
  const cst__origin *origin;
} fold_batch;

static cst_status add_to_states(void *ctx, const cst__view *batch, cst_error *error) {
  const fold_batch *b = ctx;
  for (size_t i = 0; i < b->fold->count; i++) {
    CST__TRY(b->fold->items[i].accumulator->add(b->states->items[i], batch, b->origin, error));
  }
  return CST_OK;
}

static cst_status add_batch(const fold *f, fold_states *states, const struct ArrowSchema *schema,
                            const struct ArrowArray *batch, const cst__origin *origin,
                            cst_error *error) {
  fold_batch b = {f, states, origin};
  const cst__batch_look look = {
      .trusted = true, .allocator = &f->source->allocator, .use = add_to_states, .ctx = &b};
  return cst__batch_view(&look, schema, batch, error);
}

static cst_status add_lost(const fold *f, fold_states *states, const cst__lost *lost,
                           cst_error *error) {
  for (size_t i = 0; i < f->count; i++) {
    if (f->items[i].accumulator->add_lost != NULL) {
      CST__TRY(f->items[i].accumulator->add_lost(states->items[i], lost, error));
    }
  }
  return CST_OK;
}

static cst_status report_fold_progress(fold *f, cst_error *error) {
  const cst__fold_options *o = f->options;
  uint64_t bytes;
  uint64_t rows;
  cst_pass_progress(f->pass, &bytes, &rows);
  if (o->on_progress == NULL || bytes - f->told < PROGRESS_BYTES) {
    return CST_OK;
  }
  f->told = bytes;
  return o->on_progress(o->progress_ctx, bytes, rows)
             ? CST_OK
             : cst__fail(error, CST_CALLBACK, NULL, "the progress callback stopped %s", o->work);
}

/* ---- units, on any thread ---- */

/* A unit on its way into states. */
typedef struct fold_unit {
  const fold *fold;
  fold_states *states;
  cst__unit *unit;
  cst__decoding *decoding;
  size_t next_drop; /* of the unit's */
} fold_unit;

/* The rows of a batch of outputs. */
typedef struct output_rows {
  const cst__unit_rows *rows;
  const cst__row_map *map; /* NULL: they are those */
} output_rows;

static cst__place output_rows_place(const void *ctx, int64_t row) {
  const output_rows *view = ctx;
  int64_t from = view->map != NULL ? view->map->rows[row] : row;
  return from >= 0 ? cst__unit_rows_place(view->rows, from) : cst__no_place;
}

/* Adds what was decoded of the unit from row `first` on, and lets it go. */
static cst_status add_decoded(const fold_unit *u, size_t first, struct ArrowSchema *schema,
                              struct ArrowArray *batch, cst_error *error) {
  const cst__unit_rows rows = {u->unit, u->fold->source, first};
  const output_rows view = {&rows, u->decoding->map};
  cst__origin origin = {output_rows_place, &view};
  cst_status status = add_batch(u->fold, u->states, schema, batch, &origin, error);
  schema->release(schema);
  batch->release(batch);
  return status;
}

/* Adds what was dropped before a row of the unit. */
static cst_status add_drops(fold_unit *u, size_t row, cst_error *error) {
  const cst__drops *drops = &u->unit->drops;
  while (u->next_drop < drops->count && drops->items[u->next_drop].before <= row) {
    const cst__drop *drop = &drops->items[u->next_drop++];
    cst_error why = CST_ERROR_INIT;
    const cst__lost lost = {.kind = cst__drop_name(drop, u->fold->source), .error = &why};
    cst__drop_explain(drop, u->fold->source, &why);
    CST__TRY(add_lost(u->fold, u->states, &lost, error));
  }
  return CST_OK;
}

/* The rows [first, first + count) of a unit as a unit of their own. */
static bool cut_out(const cst__unit *unit, const cst_source *source, size_t first, size_t count,
                    cst__unit *out) {
  size_t row = 0;
  for (size_t i = 0; i < unit->num_runs && count > 0; i++) {
    const cst__run *run = &unit->runs[i];
    if (first < row + run->count) {
      size_t skipped = first - row;
      size_t taken = run->count - skipped < count ? run->count - skipped : count;
      if (!cst__unit_add(out, source, run->block, run->first + skipped, taken)) {
        return false;
      }
      first += taken;
      count -= taken;
    }
    row += run->count;
  }
  return true;
}

static bool folds_outputs(const fold *f) { return f->outputs.release != NULL; }

/* Leaves out what stands beside the outputs. On failure the batch is released. */
static cst_status pick_outputs(const fold *f, struct ArrowArray *batch, cst_error *error) {
  if (f->places == NULL) {
    return CST_OK;
  }
  cst_status status = cst__pick_arrays(f->places, (size_t)f->outputs.n_children,
                                       &f->source->allocator, batch, error);
  if (status != CST_OK) {
    batch->release(batch);
  }
  return status;
}

/* Decodes a unit, or what is sound of it; then out->release is NULL if nothing is. */
static cst_status decode_for_fold(const fold_unit *u, cst__unit *unit, bool sound,
                                  struct ArrowSchema *schema, struct ArrowArray *batch,
                                  cst_error *error) {
  struct ArrowSchema *decoded = folds_outputs(u->fold) ? NULL : schema;
  CST__TRY(sound ? cst__unit_decode_sound(unit, u->decoding, decoded, batch, error)
                 : cst__unit_decode(unit, u->decoding, decoded, batch, error));
  if (decoded != NULL || batch->release == NULL) {
    return CST_OK;
  }
  CST__TRY(pick_outputs(u->fold, batch, error));
  cst_status status = cst__schema_copy(&u->fold->outputs, schema, error);
  if (status != CST_OK) {
    batch->release(batch);
  }
  return status;
}

/* Adds rows of the unit; where they do not decode together, half of them, and so on. */
static cst_status fold_rows(fold_unit *u, size_t first, size_t count, cst_error *error) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst__unit part = {0};
  cst_error what = CST_ERROR_INIT;
  bool is_all = count == u->unit->rows;
  bool cut = is_all || cut_out(u->unit, u->fold->source, first, count, &part);
  cst_status status =
      cut ? decode_for_fold(u, is_all ? u->unit : &part, false, &schema, &batch, &what)
          : cst__fail_memory(&what, sizeof(cst__run));
  cst__unit_reset(&part);
  if (status == CST_OK) {
    return add_decoded(u, first, &schema, &batch, error);
  }
  if (!cst__is_fault(status)) {
    cst__error_copy(error, &what);
    return status;
  }
  if (count == 1) {
    CST__TRY(add_drops(u, first, error));
    return add_lost(u->fold, u->states, &(cst__lost){.kind = "record", .error = &what}, error);
  }
  CST__TRY(fold_rows(u, first, count / 2, error));
  return fold_rows(u, first + count / 2, count - count / 2, error);
}

static cst_status add_lenient(fold_unit *u, cst_error *error) {
  if (u->unit->rows > 0) {
    CST__TRY(fold_rows(u, 0, u->unit->rows, error));
  }
  return add_drops(u, SIZE_MAX, error);
}

static cst_status add_strict(fold_unit *u, cst_error *error) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  bool skip = cst__reading_options_skip(&u->fold->source->options);
  CST__TRY(decode_for_fold(u, u->unit, skip, &schema, &batch, error));
  if (batch.release == NULL) { /* no record of it is sound */
    return CST_OK;
  }
  if (u->unit->is_trial) {
    schema.release(&schema);
    batch.release(&batch);
    return CST_OK;
  }
  return add_decoded(u, 0, &schema, &batch, error);
}

static cst_status run_unit(void *ctx, cst__unit *unit, cst__decoding *decoding, void **out,
                           cst_error *error) {
  fold *f = ctx;
  fold_unit u = {f, f->own, unit, decoding, 0};
  bool is_direct = f->pass->options.threads == 1;
  if (!is_direct) {
    CST__TRY(need_states(f, &u.states, error));
  }
  cst_status status = f->options->lenient ? add_lenient(&u, error) : add_strict(&u, error);
  if (status != CST_OK && !is_direct) {
    free_states(f, u.states);
    return status;
  }
  *out = u.states;
  return status;
}

static void drop_states(void *ctx, void *made) {
  const fold *f = ctx;
  if (made != f->own) {
    free_states(f, made);
  }
}

static cst_status fold_units(fold *f, cst_error *error) {
  for (;;) {
    void *made;
    CST__TRY(cst__pass_next_made(f->pass, &made, error));
    if (f->pass->at_end) {
      return CST_OK;
    }
    CST__TRY(merge_states(f, made, error));
    CST__TRY(report_fold_progress(f, error));
  }
}

/* ---- tabular formats, on the caller's thread ---- */

static cst__place table_place(const void *ctx, int64_t row) {
  const fold *f = ctx;
  const cst_source *source = f->source;
  if (folds_outputs(f)) {
    return cst__tabular_pass_place(f->pass->tabular, f->pass->first_row, (size_t)row);
  }
  cst__place place = {source->num_parts == 1 ? cst__source_name(source, 0) : "",
                      (int64_t)f->pass->first_row + row, -1};
  for (size_t i = 0; i < f->drops.count; i++) {
    place.record += f->drops.rows[i] <= place.record;
  }
  if (f->drops.lost) {
    place.record = -1;
  }
  return place;
}

static cst_status fold_batches(fold *f, const struct ArrowSchema *schema, cst_error *error) {
  cst__origin origin = {table_place, f};
  int64_t left = f->options->max_rows > 0 ? f->options->max_rows : INT64_MAX;
  while (left > 0) {
    struct ArrowArray batch;
    CST__TRY(cst_pass_next(f->pass, &batch, error));
    if (batch.release == NULL) {
      return CST_OK;
    }
    CST__TRY(pick_outputs(f, &batch, error));
    struct ArrowArray rows = batch; /* a look at its first ones */
    rows.length = batch.length < left ? batch.length : left;
    left -= rows.length;
    cst_status status = add_batch(f, f->own, schema, &rows, &origin, error);
    batch.release(&batch);
    CST__TRY(status);
    CST__TRY(report_fold_progress(f, error));
  }
  return CST_OK;
}

static cst_status fold_tabular(fold *f, cst_error *error) {
  struct ArrowSchema schema;
  if (folds_outputs(f)) {
    return fold_batches(f, &f->outputs, error);
  }
  CST__TRY(cst__source_decoded_schema(f->source, &schema, error));
  cst_status status = fold_batches(f, &schema, error);
  schema.release(&schema);
  return status;
}

/* ---- sources ---- */

/* True if the source may be read by other options than its own. A table of a pipe may have been
 * begun already. */
static bool can_be_lenient(const cst_source *source) {
  return source->inputs->format.payload != NULL ||
         (source->inputs->format.table != NULL && !source->inputs->format.table->any_size &&
          (source->inputs->rereadable || source->found.tabular == NULL));
}

/* A row of a table that is dropped; records of a container are added by units. */
static bool note_drop(void *ctx, const cst_dropped *dropped) {
  fold *f = ctx;
  const cst__lost lost = {.kind = dropped->kind,
                          .column = ((const cst__dropped *)dropped)->column,
                          .error = dropped->error};
  table_drops *drops = &f->drops;
  void *rows = drops->rows;
  bool kept = dropped->record >= 0 && !drops->several && drops->count < MAX_DROPS &&
              cst__grow(NULL, &rows, &drops->capacity, drops->count + 1, sizeof *drops->rows);
  drops->rows = rows;
  if (kept) {
    drops->rows[drops->count++] = dropped->record;
  }
  drops->lost = drops->lost || !kept;
  f->lost_status = add_lost(f, f->own, &lost, &f->lost_error);
  return f->lost_status == CST_OK;
}

/* The options that every lenient reading has: all columns as they are, and what does not fit is
 * told to the fold alone. */
static cst__reading_options lenient_options(const cst_source *source, fold *f) {
  cst__reading_options options = source->options;
  options.values.on_error = CST_ON_ERROR_SKIP;
  options.values.max_errors = UINT64_MAX;
  options.values.on_dropped = note_drop;
  options.values.dropped_ctx = f;
  options.values.column_flags = 0;
  if (!cst__reading_options_have_outputs(&options)) { /* which know what they need */
    options.values.columns = NULL;
    options.values.num_columns = 0;
  }
  return options;
}

/* The columns that a table has are found out by reading it without a schema; where that is not
 * possible (a pipe; values of several types in one column), they are those of the schema. */
static cst_status find_text_schema(cst_source *source, const cst__reading_options *options,
                                   const cst_schema *schema, cst_schema **out, cst_error *error) {
  cst_source *probe;
  struct ArrowSchema columns = {.release = NULL};
  cst_error own = CST_ERROR_INIT;
  *out = NULL;
  if (!source->inputs->rereadable) {
    return CST_OK;
  }
  cst__reading_options without = *options;
  without.values.schema = NULL;
  without.values.on_dropped = NULL;
  CST__TRY(cst__source_with(source, NULL, 0, &without, &probe, error));
  cst_status status = cst__source_decoded_schema(probe, &columns, &own);
  if (status == CST_OK) {
    status = cst__schema_for_columns(&columns, schema, out, &own);
    columns.release(&columns);
  }
  cst_source_release(probe);
  return status == CST_NO_MEMORY ? cst__fail_memory(error, sizeof columns) : CST_OK;
}

/* The source as a lenient fold reads it. */
static cst_status make_lenient(cst_source *source, fold *f, cst_source **out, cst_error *error) {
  cst__reading_options options = lenient_options(source, f);
  cst_schema *found = NULL;
  f->drops.several = source->num_parts > 1;
  if (source->inputs->format.table != NULL && options.types == NULL &&
      !cst__reading_options_have_outputs(&options)) {
    const cst_schema *schema = f->options->text_schema;
    schema = schema != NULL ? schema : options.values.schema;
    if (schema != NULL) {
      CST__TRY(find_text_schema(source, &options, schema, &found, error));
    }
    options.values.schema = found != NULL ? found : schema;
  }
  cst_status status = cst__source_with(source, NULL, 0, &options, out, error);
  cst_schema_release(found);
  return status;
}

/* True if the source is to be read with more columns than it has. */
static bool lacks_columns(const cst_source *source, const cst__fold_options *options) {
  return options->whole && source->inputs->format.payload == NULL &&
         source->options.values.columns != NULL &&
         !cst__reading_options_have_outputs(&source->options) &&
         (source->inputs->rereadable || source->found.tabular == NULL);
}

static cst_status make_whole(cst_source *source, cst_source **out, cst_error *error) {
  cst__reading_options options = source->options;
  options.values.columns = NULL;
  options.values.num_columns = 0;
  return cst__source_with(source, NULL, 0, &options, out, error);
}

static cst_status sample_for_pass(cst_source *source, cst_error *error) {
  cst__feed *feed;
  cst_status status = cst__source_begin_sample(source, &feed, error);
  cst__mutex_lock(&source->lock);
  source->found.sample = feed;
  cst__mutex_unlock(&source->lock);
  return status;
}

static cst_status fold_source(fold *f, cst_error *error) {
  cst_source *source = f->source;
  const cst__fold_options *o = f->options;
  bool is_tabular = source->inputs->format.payload == NULL;
  cst__unit_work work = {run_unit, drop_states, f};
  cst__pass_options options = {.rows = FOLD_ROWS,
                               .bytes = FOLD_BYTES,
                               .threads = source->options.values.threads,
                               .purpose = folds_outputs(f) ? CST__FOR_COLUMNS : CST__FOR_TYPES,
                               .quiet = is_tabular ? !o->lenient && !o->tells : !o->tells,
                               .work = is_tabular ? NULL : &work};
  cst_error own = CST_ERROR_INIT;
  if (source->inputs->by_record) { /* of a pipe, whose pass goes on with the sample */
    CST__TRY(sample_for_pass(source, error));
  }
  CST__TRY(cst__pass_new_with(source, &options, &f->pass, error));
  cst_status status = is_tabular ? fold_tabular(f, &own) : fold_units(f, &own);
  cst_pass_free(f->pass);
  if (status != CST_OK) {
    cst__error_copy(error, f->lost_status != CST_OK ? &f->lost_error : &own);
  }
  return f->lost_status != CST_OK ? f->lost_status : status;
}

cst_status cst__source_fold(cst_source *source, const cst__fold_options *options,
                            const cst__accumulation *accumulations, size_t count,
                            cst_error *error) {
  fold f = {.options = options,
            .items = accumulations,
            .count = count,
            .source = source,
            .lost_error = CST_ERROR_INIT};
  if (source->num_parts == 0) { /* a part of nothing */
    return CST_OK;
  }
  f.own = allocate_states(&f);
  if (f.own == NULL) {
    return cst__fail_memory(error, count * sizeof *f.own);
  }
  cst__mutex_init(&f.lock);
  for (size_t i = 0; i < count; i++) {
    f.own->items[i] = accumulations[i].state;
  }
  bool is_lenient = options->lenient && can_be_lenient(source);
  cst_status status = is_lenient                       ? make_lenient(source, &f, &f.source, error)
                      : lacks_columns(source, options) ? make_whole(source, &f.source, error)
                                                       : CST_OK;
  if (status == CST_OK && cst__reading_options_have_outputs(&source->options) &&
      !options->before_views) {
    status = cst_source_arrow_schema(f.source, &f.outputs, error);
    if (status == CST_OK) {
      status = cst__source_leave_beside_out(f.source, &f.outputs, &f.places, error);
    }
  }
  if (status == CST_OK) {
    status = fold_source(&f, error);
  }
  if (f.source != source) {
    cst_source_release(f.source);
  }
  if (f.outputs.release != NULL) {
    f.outputs.release(&f.outputs);
  }
  for (fold_states *spare = take_spare_states(&f); spare != NULL; spare = take_spare_states(&f)) {
    free_states(&f, spare);
  }
  cst__mutex_destroy(&f.lock);
  cst__delete(f.places);
  cst__delete(f.drops.rows);
  cst__delete(f.own);
  return status;
}

cst_status cst__source_fold_one(cst_source *source, const cst__fold_options *options,
                                const cst__accumulator *accumulator, const void *plan, void **state,
                                cst_error *error) {
  cst__accumulation one = {.accumulator = accumulator, .plan = plan};
  CST__TRY(accumulator->create(plan, &source->allocator, &one.state, error));
  cst_status status = cst__source_fold(source, options, &one, 1, error);
  if (status != CST_OK) {
    accumulator->free(one.state);
    return status;
  }
  *state = one.state;
  return CST_OK;
}
