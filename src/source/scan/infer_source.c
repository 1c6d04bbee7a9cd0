/* Inferring a schema: from all records in a pass of its own, or from the first ones.
 */
#include "source/scan/infer_source.h"

#include <columnstone/source.h>
#include <string.h>

#include "base/arguments.h"
#include "schema/inference.h"
#include "schema/schema.h"
#include "source/input/prepare.h"
#include "source/scan/fold.h"
#include "source/scan/sample.h"

enum { INFER_ROWS = 1024 }; /* decoded at once, of a sample */

/* With stages, the schema says what flat asks, and what it does not know is left to the columns. */
static cst__inference_plan plan_inference(const cst_source *source, bool before_views) {
  bool of_outputs = cst__reading_options_have_outputs(&source->options) && !before_views;
  return (cst__inference_plan){cst__reading_options_change_columns(&source->options) &&
                               !of_outputs};
}

/* ---- all records ---- */

static cst_status infer_all(cst_source *source, const cst__fold_options *options, cst_schema **out,
                            cst_error *error) {
  const cst__inference_plan plan = plan_inference(source, options->before_views);
  const cst__accumulator *inference = &cst__inference_accumulator;
  void *state;
  CST__TRY(cst__source_fold_one(source, options, inference, &plan, &state, error));
  cst_status status = inference->finish_schema(state, out, error);
  inference->free(state);
  return status;
}

cst_status cst_source_infer(cst_source *source, cst_progress_callback on_progress, void *ctx,
                            cst_schema **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(source, "source", out, error));
  CST__TRY(cst__source_acquire_for_fold(source, &cst__inference_accumulator, error));
  const cst__fold_options options = {
      .on_progress = on_progress, .progress_ctx = ctx, .work = "the inference"};
  CST__TRY(infer_all(source, &options, out, error));
  if (!cst__reading_options_have_outputs(&source->options)) { /* else it is that of the outputs */
    cst__source_adopt(source, *out, 0); /* a pass does not infer it a second time */
  }
  return CST_OK;
}

/* ---- a schema from the first records ---- */

/* The row of the unit that an error names; 0 also if there is none. */
static size_t find_sample_row(const cst__unit_rows *rows, const cst_error *error) {
  for (size_t row = 0; row < rows->unit->rows; row++) {
    cst__place place = cst__unit_rows_place(rows, (int64_t)row);
    if (place.record == error->record && strcmp(place.file, error->file) == 0) {
      return row;
    }
  }
  return 0;
}

/* Adds the records of a unit. *good: how many there are before the one that it fails with. */
static cst_status infer_unit(cst__unit *unit, cst__decoding *decoding, void *state, size_t *good,
                             cst_error *error) {
  const cst_source *source = decoding->source;
  size_t count = unit->rows;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst__unit_rows rows = {unit, source, 0};
  bool skip = cst__reading_options_skip(&source->options);
  cst_status status = skip ? cst__unit_decode_sound(unit, decoding, &schema, &batch, error)
                           : cst__unit_decode(unit, decoding, &schema, &batch, error);
  if (status == CST_OK && batch.release != NULL) {
    cst__origin origin = {cst__unit_rows_place, &rows};
    status =
        cst__accumulator_add(&cst__inference_accumulator, state, &schema, &batch, &origin, error);
    schema.release(&schema);
    batch.release(&batch);
  }
  *good = status == CST_OK ? count : find_sample_row(&rows, error);
  return status;
}

/* Adds the first records, at most `most` of them. *good: how many there are, without the one that
 * it fails with and those after it. */
static cst_status infer_blocks(const cst_source *source, const cst__feed *feed, size_t most,
                               void *state, size_t *good, cst_error *error) {
  cst__decoding decoding = {.source = source, .purpose = CST__FOR_TYPES};
  cst_status status = CST_OK;
  *good = 0;
  for (size_t i = 0; i < source->num_parts; i++) {
    cst__block *block = feed->files[i].first;
    for (; block != NULL && *good < most && status == CST_OK; block = block->next) {
      size_t left = most - *good;
      size_t end = block->num_frames < left ? block->num_frames : left;
      for (size_t at = 0; at < end && status == CST_OK; at += INFER_ROWS) { /* decoding asks */
        size_t count = end - at < INFER_ROWS ? end - at : INFER_ROWS;
        cst__unit unit = {0};
        size_t run = 0;
        status = cst__unit_add(&unit, source, block, at, count)
                     ? infer_unit(&unit, &decoding, state, &run, error)
                     : cst__fail_memory(error, sizeof(cst__run));
        cst__unit_reset(&unit);
        *good += run;
      }
    }
  }
  cst__decoding_reset(&decoding);
  return status;
}

static cst_status infer_first(const cst_source *source, const cst__feed *feed, size_t most,
                              cst_schema **out, size_t *good, cst_error *error) {
  const cst__inference_plan plan = plan_inference(source, true);
  void *state;
  CST__TRY(cst__inference_accumulator.create(&plan, &source->allocator, &state, error));
  cst_status status = infer_blocks(source, feed, most, state, good, error);
  if (status == CST_OK) {
    status = cst__inference_accumulator.finish_schema(state, out, error);
  }
  cst__inference_accumulator.free(state);
  return status;
}

/* Where the input fails before its first record, it does. */
static cst_status check_framed(const cst_source *source, const cst__feed *feed, cst_error *error) {
  for (size_t i = 0; i < source->num_parts && feed->framed == 0; i++) {
    const cst__cursor *cursor = feed->files[i].cursor;
    if (cursor != NULL && cursor->framing.failure != CST_OK) {
      cst__error_copy(error, &cursor->framing.error);
      return cursor->framing.failure;
    }
  }
  return CST_OK;
}

/* *good: the records of the sample. A record that ends a sample which was asked for leaves its
 * error in *end, with CST_OK. */
static cst_status infer_sample(cst_source *source, cst__feed **feed, cst_schema **out, size_t *good,
                               cst_error *end, cst_error *error) {
  bool asked = source->options.values.sample_records > 0;
  CST__TRY(cst__source_begin_sample(source, feed, error));
  CST__TRY(asked ? check_framed(source, *feed, error) : CST_OK);
  size_t most = cst__source_sample_records(source);
  cst_status status = infer_first(source, *feed, most, out, good, end);
  if (!asked || !cst__is_fault(status) || *good == 0 ||
      cst__reading_options_skip(&source->options)) {
    cst__error_copy(error, end);
    return status;
  }
  return infer_first(source, *feed, *good, out, good, error);
}

/* A copy that stays with the source; NULL if there is no error. */
static cst_status keep_error(const cst_source *source, const cst_error *from, cst_error **kept,
                             cst_error *error) {
  *kept = NULL;
  if (from->code == CST_OK) {
    return CST_OK;
  }
  *kept = cst__new(&source->allocator, sizeof **kept);
  if (*kept == NULL) {
    return cst__fail_memory(error, sizeof **kept);
  }
  **kept = *from;
  return CST_OK;
}

/* The feed stays for the first pass of a pipe; without success the pipe is lost: the same failure
 * comes from now on. */
static cst_status infer_from_sample(cst_source *source, cst_schema **out, uint64_t *sampled,
                                    cst_error *error) {
  cst_error end = CST_ERROR_INIT;
  cst_error own = CST_ERROR_INIT;
  cst__feed *feed = NULL;
  cst_error *kept = NULL;
  size_t good = 0;
  bool rereadable = source->inputs->rereadable;
  cst_status status = infer_sample(source, &feed, out, &good, &end, &own);
  if (status == CST_OK) {
    status = keep_error(source, &end, &kept, &own);
    if (status != CST_OK) {
      cst_schema_release(*out);
    }
  } else if (!rereadable) {
    (void)keep_error(source, &own, &kept, NULL);
  }
  if (status != CST_OK || rereadable) {
    cst__feed_free(feed);
    feed = NULL;
  }
  cst__error_copy(status != CST_OK ? error : NULL, &own);
  cst__mutex_lock(&source->lock);
  source->found.sample = feed;
  if (status == CST_OK || !rereadable) {
    source->found.sample_status = status;
    source->found.sample_error = kept;
  }
  cst__mutex_unlock(&source->lock);
  *sampled = good;
  return status;
}

cst_status cst__source_infer_needed(cst_source *source, cst_schema **out, uint64_t *sampled,
                                    cst_error *error) {
  int64_t records = source->options.values.sample_records;
  bool is_tabular = source->inputs->format.payload == NULL;
  if (!is_tabular && (records > 0 || !source->inputs->rereadable)) {
    return infer_from_sample(source, out, sampled, error);
  }
  const cst__fold_options options = {
      .max_rows = records, .before_views = true, .work = "the inference"};
  *sampled = (uint64_t)records;
  return infer_all(source, &options, out, error);
}

cst_status cst__source_infer_decoded(cst_source *source, cst_error *error) {
  const cst__fold_options options = {.before_views = true, .work = "the inference"};
  cst_schema *schema;
  CST__TRY(cst__source_acquire_for_fold(source, &cst__inference_accumulator, error));
  CST__TRY(infer_all(source, &options, &schema, error));
  cst__source_adopt(source, schema, 0);
  cst_schema_release(schema);
  return CST_OK;
}
