/* Inferring a schema: from all records in a pass of its own, or from the first records of a pipe.
 */
#include "source/scan/infer_source.h"

#include <string.h>

#include "schema/inference.h"
#include "schema/schema.h"
#include "source/input/prepare.h"
#include "source/scan/fold.h"
#include "source/scan/sample.h"

enum { INFER_ROWS = 1024 }; /* decoded at once, of a sample */

/* With stages, the schema says what flat asks, and what it does not know is left to the columns. */
static cst__inference_plan plan_inference(const cst_source *source) {
  return (cst__inference_plan){cst__reading_options_staged(&source->options)};
}

/* ---- all records ---- */

static cst_status infer_all(cst_source *source, cst_progress_callback on_progress, void *ctx,
                            cst_schema **out, cst_error *error) {
  const cst__inference_plan plan = plan_inference(source);
  cst__accumulation inference = {.accumulator = &cst__inference_accumulator, .plan = &plan};
  cst__fold_options options = {
      .on_progress = on_progress, .progress_ctx = ctx, .work = "the inference"};
  CST__TRY(cst__inference_accumulator.create(&plan, &source->allocator, &inference.state, error));
  cst_status status = cst__source_fold(source, &options, &inference, 1, error);
  if (status == CST_OK) {
    status = cst__inference_accumulator.finish(inference.state, out, error);
  }
  cst__inference_accumulator.free(inference.state);
  return status;
}

cst_status cst__source_infer(cst_source *source, cst_progress_callback on_progress, void *ctx,
                             cst_schema **out, cst_error *error) {
  CST__TRY(cst__source_acquire_for_fold(source, &cst__inference_accumulator, error));
  CST__TRY(infer_all(source, on_progress, ctx, out, error));
  cst__source_adopt(source, *out, false); /* a pass does not infer it a second time */
  return CST_OK;
}

/* ---- a schema from the first records of a pipe ---- */

/* Adds records [first, first + count) of a block. */
static cst_status infer_run(cst__block *block, size_t first, size_t count, cst__decoding *decoding,
                            void *state, cst_error *error) {
  const cst_source *source = decoding->source;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst__unit unit = {0};
  if (!cst__unit_add(&unit, source, block, first, count)) {
    return cst__fail_memory(error, sizeof(cst__run));
  }
  bool skip = cst__reading_options_skip(&source->options);
  cst_status status = skip ? cst__unit_decode_sound(&unit, decoding, &schema, &batch, error)
                           : cst__unit_decode(&unit, decoding, &schema, &batch, error);
  if (status == CST_OK && batch.release != NULL) {
    cst__unit_rows rows = {&unit, source, 0};
    cst__origin origin = {cst__unit_rows_place, &rows};
    status =
        cst__accumulator_add(&cst__inference_accumulator, state, &schema, &batch, &origin, error);
    schema.release(&schema);
    batch.release(&batch);
  }
  cst__unit_reset(&unit);
  return status;
}

static cst_status infer_blocks(const cst_source *source, const cst__feed *feed, void *state,
                               cst_error *error) {
  cst__decoding decoding = {.source = source, .purpose = CST__FOR_TYPES};
  cst_status status = CST_OK;
  size_t left = CST__SAMPLE_RECORDS;
  for (size_t i = 0; i < source->num_parts; i++) {
    cst__block *block = feed->files[i].first;
    for (; block != NULL && left > 0 && status == CST_OK; block = block->next) {
      size_t end = block->num_frames < left ? block->num_frames : left;
      left -= end;
      for (size_t at = 0; at < end && status == CST_OK; at += INFER_ROWS) { /* decoding asks */
        size_t count = end - at < INFER_ROWS ? end - at : INFER_ROWS;
        status = infer_run(block, at, count, &decoding, state, error);
      }
    }
  }
  cst__decoding_reset(&decoding);
  return status;
}

static cst_status infer_sample(cst_source *source, cst__feed **feed, cst_schema **out,
                               cst_error *error) {
  const cst__inference_plan plan = plan_inference(source);
  void *state;
  CST__TRY(cst__source_begin_sample(source, feed, error));
  CST__TRY(cst__inference_accumulator.create(&plan, &source->allocator, &state, error));
  cst_status status = infer_blocks(source, *feed, state, error);
  if (status == CST_OK) {
    status = cst__inference_accumulator.finish(state, out, error);
  }
  cst__inference_accumulator.free(state);
  return status;
}

static cst_status infer_pipe(cst_source *source, cst_schema **out, cst_error *error) {
  cst_error own = CST_ERROR_INIT;
  cst__feed *feed = NULL;
  cst_error *kept = NULL;
  cst_status status = infer_sample(source, &feed, out, &own);
  if (status != CST_OK) {
    cst__feed_free(feed); /* the pipe is lost: the same failure from now on */
    feed = NULL;
    kept = cst__new(&source->allocator, sizeof own);
    if (kept != NULL) {
      *kept = own;
    }
    cst__error_copy(error, &own);
  }
  cst__mutex_lock(&source->lock);
  source->found.sample = feed;
  source->found.sample_status = status;
  source->found.sample_error = kept;
  cst__mutex_unlock(&source->lock);
  return status;
}

cst_status cst__source_infer_needed(cst_source *source, cst_schema **out, cst_error *error) {
  return source->inputs->rereadable ? infer_all(source, NULL, NULL, out, error)
                                    : infer_pipe(source, out, error);
}
