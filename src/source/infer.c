/* Inferring a schema: from all records in a pass of its own, or from the first records of a pipe.
 */
#include "schema/infer.h"

#include <string.h>

#include "arrow/view.h"
#include "schema/schema.h"
#include "source/feed.h"
#include "source/pass.h"
#include "source/source.h"

enum { INFER_ROWS = 4096, INFER_BYTES = 4 << 20, PROGRESS_BYTES = 16 << 20 };

static cst_status check_inferable(const cst_source *source, cst_error *error) {
  if (source->payload == NULL || source->payload->wants_schema) {
    return CST_OK;
  }
  return cst__fail(error, CST_UNSUPPORTED, "open the files as tf.Examples (format \"example\")",
                   "the format %s has no columns to infer a schema from", source->format);
}

static bool is_valid(const struct ArrowArray *array, int64_t row) {
  const uint8_t *bits = array->n_buffers > 0 ? array->buffers[0] : NULL;
  return bits == NULL || (bits[row >> 3] >> (row & 7) & 1);
}

/* The first row that has the feature of the error's path: the one that does not fit. */
static size_t first_row_with(const struct ArrowSchema *schema, const struct ArrowArray *batch,
                             const char *path) {
  for (int64_t i = 0; i < batch->n_children; i++) {
    char name[sizeof((cst_error *)NULL)->path];
    cst__escape(name, sizeof name, schema->children[i]->name, strlen(schema->children[i]->name));
    for (int64_t row = 0; strcmp(name, path) == 0 && row < batch->length; row++) {
      if (is_valid(batch->children[i], row)) {
        return (size_t)row;
      }
    }
  }
  return 0;
}

/* ---- all records ---- */

typedef struct progress {
  cst_progress_callback call;
  void *ctx;
  uint64_t told; /* bytes at the last call */
} progress;

static cst_status tell_progress(progress *p, const cst_pass *pass, cst_error *error) {
  uint64_t bytes;
  uint64_t rows;
  cst__pass_progress(pass, &bytes, &rows);
  if (p->call == NULL || bytes - p->told < PROGRESS_BYTES) {
    return CST_OK;
  }
  p->told = bytes;
  return p->call(p->ctx, bytes, rows)
             ? CST_OK
             : cst__fail(error, CST_CALLBACK, NULL, "the progress callback stopped the inference");
}

/* Whole formats have one schema for all batches. */
static cst_status next_batch(cst_pass *pass, const struct ArrowSchema *whole,
                             struct ArrowSchema *schema, struct ArrowArray *batch,
                             cst_error *error) {
  schema->release = NULL;
  CST__TRY(cst__pass_next(pass, whole == NULL ? schema : NULL, batch, error));
  if (whole == NULL || batch->release == NULL) {
    return CST_OK;
  }
  cst_status status = cst__schema_copy(whole, schema, error);
  if (status != CST_OK) {
    batch->release(batch);
  }
  return status;
}

static cst_status infer_pass(cst_pass *pass, const struct ArrowSchema *whole,
                             cst__inferrer *inferrer, progress *p, cst_error *error) {
  cst_error own = CST_ERROR_INIT;
  for (;;) {
    struct ArrowSchema schema;
    struct ArrowArray batch;
    cst_status status = next_batch(pass, whole, &schema, &batch, &own);
    if (status == CST_OK && batch.release == NULL) {
      return CST_OK;
    }
    if (status == CST_OK) {
      status = cst__inferrer_add(inferrer, &schema, &batch, &own);
      if (status != CST_OK && status != CST_NO_MEMORY) {
        cst__pass_locate(pass, first_row_with(&schema, &batch, own.path), &own);
      }
      schema.release(&schema);
      batch.release(&batch);
    }
    if (status == CST_OK) {
      status = tell_progress(p, pass, &own);
    }
    if (status != CST_OK) {
      cst__error_copy(error, &own);
      return status;
    }
  }
}

/* ---- the first records of a pipe ---- */

/* Reads blocks until the sample is full. Where the input fails, the sample ends: the pass will come
 * to the failure in its turn. */
static cst_status read_sample(cst__feed *feed, cst_error *error) {
  for (size_t i = 0; i < feed->source->num_files; i++) {
    while (!feed->files[i].ended) {
      if (feed->framed >= CST__SAMPLE_RECORDS || feed->ready_bytes >= CST__SAMPLE_BYTES) {
        return CST_OK;
      }
      cst__block *block;
      cst__feed_begin(feed, i);
      cst__feed_fill(feed, i, &block);
      cst__feed_end(feed, i, block);
    }
    const cst__cursor *cursor = feed->files[i].cursor;
    if (cursor == NULL || cursor->failure == CST_NO_MEMORY) {
      return cst__fail_memory(error, CST__BLOCK_TARGET);
    }
    if (cursor->failure != CST_OK) {
      return CST_OK;
    }
  }
  return CST_OK;
}

static void look_at_first(cst_source *source) {
  for (size_t i = 0; i < source->num_files; i++) {
    const cst__block *block = source->sample->files[i].first;
    if (block != NULL && block->num_frames > 0) {
      cst__source_choose_by_record(source, block->data + block->frames[0].begin,
                                   block->frames[0].size);
      return;
    }
  }
}

/* Reads the first records, and sees what they are. */
static cst_status begin_sample(cst_source *source, cst_error *error) {
  source->sample = cst__feed_new(source);
  if (source->sample == NULL) {
    return cst__fail_memory(error, sizeof *source->sample);
  }
  CST__TRY(read_sample(source->sample, error));
  look_at_first(source);
  return CST_OK;
}

/* ---- all records ---- */

cst_status cst__source_infer_all(cst_source *source, cst_progress_callback on_progress, void *ctx,
                                 cst_schema **out, cst_error *error) {
  cst__pass_options options = {.rows = INFER_ROWS,
                               .bytes = INFER_BYTES,
                               .threads = source->threads,
                               .want = CST__WANT_TYPES,
                               .keep_offsets = true};
  progress p = {.call = on_progress, .ctx = ctx};
  cst_pass *pass;
  cst__inferrer *inferrer = NULL;
  struct ArrowSchema whole = {.release = NULL};
  if (source->by_record) { /* of a pipe, whose pass goes on with the sample */
    CST__TRY(begin_sample(source, error));
  }
  CST__TRY(cst__pass_new_with(source, &options, &pass, error));
  cst_status status = cst__inferrer_new(&source->allocator, &inferrer, error);
  if (status == CST_OK && source->payload == NULL) {
    status = cst__source_arrow_schema(source, &whole, error);
  }
  if (status == CST_OK) {
    status = infer_pass(pass, whole.release != NULL ? &whole : NULL, inferrer, &p, error);
  }
  if (status == CST_OK) {
    status = cst__inferrer_finish(inferrer, out, error);
  }
  cst__inferrer_free(inferrer);
  cst__pass_free(pass);
  if (whole.release != NULL) {
    whole.release(&whole);
  }
  return status;
}

/* A pass over a source without a schema does not infer it a second time. */
static void adopt(cst_source *source, const cst_schema *schema) {
  cst__mutex_lock(&source->lock);
  if (source->schema == NULL) {
    source->schema = cst__schema_retain(schema);
  }
  cst__mutex_unlock(&source->lock);
}

cst_status cst__source_infer(cst_source *source, cst_progress_callback on_progress, void *ctx,
                             cst_schema **out, cst_error *error) {
  CST__TRY(check_inferable(source, error));
  CST__TRY(cst__source_claim_whole(source, error));
  CST__TRY(cst__source_infer_all(source, on_progress, ctx, out, error));
  adopt(source, *out);
  return CST_OK;
}

/* ---- a schema from the first records of a pipe ---- */

/* Adds records [first, first + count) of a block. */
static cst_status infer_run(const cst_source *source, cst__block *block, size_t first, size_t count,
                            cst__decoding *decoding, cst__inferrer *inferrer, cst_error *error) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst__unit unit = {0};
  if (!cst__unit_add(&unit, source, block, first, count)) {
    return cst__fail_memory(error, sizeof(cst__run));
  }
  bool skip = source->on_error == CST_ON_ERROR_SKIP;
  cst_status status = skip ? cst__unit_decode_sound(&unit, decoding, &schema, &batch, error)
                           : cst__unit_decode(&unit, decoding, &schema, &batch, error);
  if (status == CST_OK && batch.release != NULL) {
    status = cst__inferrer_add(inferrer, &schema, &batch, error);
    if (status != CST_OK && status != CST_NO_MEMORY) {
      cst__unit_locate(&unit, source, first_row_with(&schema, &batch, error->path), error);
    }
    schema.release(&schema);
    batch.release(&batch);
  }
  cst__unit_reset(&unit);
  return status;
}

static cst_status infer_blocks(const cst_source *source, const cst__feed *feed,
                               cst__inferrer *inferrer, cst_error *error) {
  cst__decoding decoding = {.source = source, .want = CST__WANT_TYPES};
  cst_status status = CST_OK;
  size_t left = CST__SAMPLE_RECORDS;
  for (size_t i = 0; i < source->num_files; i++) {
    cst__block *block = feed->files[i].first;
    for (; block != NULL && left > 0 && status == CST_OK; block = block->next) {
      size_t end = block->num_frames < left ? block->num_frames : left;
      left -= end;
      for (size_t at = 0; at < end && status == CST_OK; at += INFER_ROWS) {
        size_t count = end - at < INFER_ROWS ? end - at : INFER_ROWS;
        status = infer_run(source, block, at, count, &decoding, inferrer, error);
      }
    }
  }
  cst__decoding_reset(&decoding);
  return status;
}

static cst_status infer_sample(cst_source *source, cst_schema **out, cst_error *error) {
  cst__inferrer *inferrer;
  CST__TRY(begin_sample(source, error));
  CST__TRY(cst__inferrer_new(&source->allocator, &inferrer, error));
  cst_status status = infer_blocks(source, source->sample, inferrer, error);
  if (status == CST_OK) {
    status = cst__inferrer_finish(inferrer, out, error);
  }
  cst__inferrer_free(inferrer);
  return status;
}

cst_status cst__source_infer_sample(cst_source *source, cst_schema **out, cst_error *error) {
  cst_error own = CST_ERROR_INIT;
  cst_status status = infer_sample(source, out, &own);
  if (status != CST_OK) {
    cst__feed_free(source->sample); /* the pipe is lost: the same failure from now on */
    source->sample = NULL;
    source->sample_status = status;
    source->sample_error = cst__new(&source->allocator, sizeof own);
    if (source->sample_error != NULL) {
      *source->sample_error = own;
    }
    cst__error_copy(error, &own);
  }
  return status;
}
