/* Surveys: the pass, and how a lenient one gets past what does not decode. */
#include "source/scan/survey.h"

#include <string.h>

#include "arrow/view.h"
#include "schema/columns.h"
#include "schema/schema.h"
#include "source/input/choose.h"
#include "source/pass/arrow_schema.h"
#include "source/pass/feed.h"
#include "source/pass/pass.h"

enum { SURVEY_ROWS = 1024, SURVEY_BYTES = 4 << 20, PROGRESS_BYTES = 16 << 20 };

/* Rows of a table that were dropped, whose numbers those that follow have to make up for. */
enum { MAX_DROPS = 4096 };

typedef struct table_drops {
  const cst__survey_options *options;
  int64_t *rows; /* ascending */
  size_t count, capacity;
  bool several; /* files: their rows have no numbers of their own */
  bool lost;    /* there were too many */
} table_drops;

struct cst__survey {
  const cst__survey_options *options;
  cst_pass *pass;
  struct ArrowSchema tabular; /* of a tabular format: one for all batches */
  cst__decoding decoding;     /* of units that do not decode at once */
  size_t first_row;           /* of the visited batch, within what the pass has delivered */
  size_t next_drop;           /* of the delivered unit's */
  uint64_t told;              /* bytes at the last call of on_progress */
  const table_drops *drops;   /* NULL: none can be */
};

cst_status cst__source_check_survey(const cst_source *source, const char *purpose,
                                    cst_error *error) {
  if (source->inputs->format.payload == NULL || source->inputs->format.payload->wants_schema) {
    return CST_OK;
  }
  return cst__fail(error, CST_UNSUPPORTED, "open the files as tf.Examples (format \"example\")",
                   "the format %s has no columns to %s", source->inputs->format.name, purpose);
}

void cst__survey_locate(const cst__survey *survey, size_t row, cst_error *error) {
  cst__pass_locate(survey->pass, survey->first_row + row, error);
  if (survey->drops == NULL || survey->tabular.release == NULL) {
    return;
  }
  for (size_t i = 0; i < survey->drops->count; i++) {
    error->record += survey->drops->rows[i] <= error->record;
  }
  if (survey->drops->lost) {
    error->record = -1;
  }
}

static cst__place survey_place(const void *ctx, int64_t row) {
  cst__survey_origin *origin = (cst__survey_origin *)(uintptr_t)ctx;
  origin->place = (cst_error)CST_ERROR_INIT;
  cst__survey_locate(origin->survey, (size_t)row, &origin->place);
  return (cst__place){origin->place.file, origin->place.record, origin->place.offset};
}

const cst__origin *cst__survey_origin_init(cst__survey_origin *origin, const cst__survey *survey) {
  origin->origin = (cst__origin){survey_place, origin};
  origin->survey = survey;
  return &origin->origin;
}

/* ---- the first records of a pipe ---- */

/* Reads blocks until the sample is full. Where the input fails, the sample ends: the pass will come
 * to the failure in its turn. */
static cst_status read_sample(cst__feed *feed, cst_error *error) {
  for (size_t i = 0; i < feed->source->num_parts; i++) {
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

static void look_at_first(cst_source *source, const cst__feed *feed) {
  for (size_t i = 0; i < source->num_parts; i++) {
    const cst__block *block = feed->files[i].first;
    if (block != NULL && block->num_frames > 0) {
      cst__inputs_choose_by_record(source->inputs, block->data + block->frames[0].begin,
                                   block->frames[0].size);
      return;
    }
  }
}

cst_status cst__source_begin_sample(cst_source *source, cst__feed **feed, cst_error *error) {
  *feed = cst__feed_new(source);
  if (*feed == NULL) {
    return cst__fail_memory(error, sizeof **feed);
  }
  CST__TRY(read_sample(*feed, error));
  look_at_first(source, *feed);
  return CST_OK;
}

/* ---- visits ---- */

static cst_status tell_progress(cst__survey *s, cst_error *error) {
  const cst__survey_options *o = s->options;
  uint64_t bytes;
  uint64_t rows;
  cst__pass_progress(s->pass, &bytes, &rows);
  if (o->on_progress == NULL || bytes - s->told < PROGRESS_BYTES) {
    return CST_OK;
  }
  s->told = bytes;
  return o->on_progress(o->progress_ctx, bytes, rows)
             ? CST_OK
             : cst__fail(error, CST_CALLBACK, NULL, "the progress callback stopped %s", o->work);
}

/* Gives the batch to the visitor, and lets it go. */
static cst_status visit(cst__survey *s, size_t first_row, struct ArrowSchema *schema,
                        struct ArrowArray *batch, cst_error *error) {
  s->first_row = first_row;
  bool is_whole = s->tabular.release != NULL;
  cst_status status =
      s->options->on_batch(s->options->ctx, s, is_whole ? &s->tabular : schema, batch, error);
  if (!is_whole) {
    schema->release(schema);
  }
  batch->release(batch);
  return status;
}

/* ---- units that do not decode at once ---- */

static cst_status tell_error(const cst__survey *s, const char *kind, uint64_t bytes,
                             const cst_error *what, cst_error *error) {
  cst_dropped dropped = {.kind = kind,
                         .file = what->file,
                         .record = what->record,
                         .offset = what->offset,
                         .bytes = bytes,
                         .error = what};
  return s->options->on_dropped(s->options->ctx, &dropped)
             ? CST_OK
             : cst__fail(error, CST_CALLBACK, NULL, "stopped by the caller at a damaged record");
}

/* Tells of what was dropped in front of a row of the delivered unit. */
static cst_status tell_drops(cst__survey *s, size_t row, cst_error *error) {
  const cst__drops *drops = &s->pass->delivered.drops;
  while (s->next_drop < drops->count && drops->items[s->next_drop].before <= row) {
    const cst__drop *drop = &drops->items[s->next_drop++];
    cst_error what = CST_ERROR_INIT;
    cst__drop_explain(drop, s->pass->source, &what);
    CST__TRY(tell_error(s, cst__drop_name(drop), drop->bytes, &what, error));
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

/* Decodes rows of the delivered unit; where they do not decode together, half of them, and so on.
 */
static cst_status visit_rows(cst__survey *s, size_t first, size_t count, cst_error *error) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst__unit part = {0};
  cst_error what = CST_ERROR_INIT;
  bool cut = cut_out(&s->pass->delivered, s->pass->source, first, count, &part);
  cst_status status = cut ? cst__unit_decode(&part, &s->decoding, &schema, &batch, &what)
                          : cst__fail_memory(&what, sizeof(cst__run));
  cst__unit_reset(&part);
  if (status == CST_OK) {
    return visit(s, first, &schema, &batch, error);
  }
  if (!cst__is_fault(status)) {
    cst__error_copy(error, &what);
    return status;
  }
  if (count == 1) {
    CST__TRY(tell_drops(s, first, error));
    return tell_error(s, "record", 0, &what, error);
  }
  CST__TRY(visit_rows(s, first, count / 2, error));
  return visit_rows(s, first + count / 2, count - count / 2, error);
}

static cst_status visit_unit(cst__survey *s, struct ArrowSchema *schema, struct ArrowArray *batch,
                             cst_error *error) {
  size_t rows = s->pass->delivered.rows;
  s->next_drop = 0;
  if (batch->release != NULL) {
    CST__TRY(visit(s, 0, schema, batch, error));
  } else if (rows > 0) {
    CST__TRY(visit_rows(s, 0, rows, error));
  }
  return tell_drops(s, SIZE_MAX, error);
}

static cst_status run(cst__survey *s, cst_error *error) {
  bool is_whole = s->tabular.release != NULL;
  bool by_unit = s->options->lenient && !is_whole;
  for (;;) {
    struct ArrowSchema schema = {.release = NULL};
    struct ArrowArray batch;
    CST__TRY(cst__pass_next(s->pass, is_whole ? NULL : &schema, &batch, error));
    if (by_unit ? s->pass->at_end : batch.release == NULL) {
      return CST_OK;
    }
    CST__TRY(by_unit ? visit_unit(s, &schema, &batch, error) : visit(s, 0, &schema, &batch, error));
    CST__TRY(tell_progress(s, error));
  }
}

/* ---- sources ---- */

/* True if the source may be read by other options than its own. A table of a pipe may have been
 * begun already. */
static bool can_be_lenient(const cst_source *source) {
  return source->inputs->format.payload != NULL ||
         (source->inputs->format.table != NULL && !source->inputs->format.table->any_size &&
          (source->inputs->rereadable || source->found.tabular == NULL));
}

/* A row of a table that is dropped; records of a container are told by the survey itself. */
static bool note_drop(void *ctx, const cst_dropped *dropped) {
  table_drops *drops = ctx;
  void *rows = drops->rows;
  bool kept = dropped->record >= 0 && !drops->several && drops->count < MAX_DROPS &&
              cst__grow(NULL, &rows, &drops->capacity, drops->count + 1, sizeof *drops->rows);
  drops->rows = rows;
  if (kept) {
    drops->rows[drops->count++] = dropped->record;
  }
  drops->lost = drops->lost || !kept;
  return drops->options->on_dropped(drops->options->ctx, dropped);
}

/* The options that every lenient reading has: all columns as they are, and what does not fit is
 * told to the survey alone. */
static cst__reading_options lenient_options(const cst_source *source, table_drops *drops) {
  cst__reading_options options = source->options;
  options.damage = (cst__damage_options){.on_error = CST_ON_ERROR_SKIP,
                                         .max_errors = UINT64_MAX,
                                         .on_dropped = note_drop,
                                         .dropped_ctx = drops,
                                         .on_warning = options.damage.on_warning,
                                         .warning_ctx = options.damage.warning_ctx};
  options.columns.names = NULL;
  options.columns.count = 0;
  options.columns.flags = 0;
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
  without.columns.schema = NULL;
  without.damage.on_dropped = NULL;
  CST__TRY(cst__source_with(source, NULL, 0, &without, &probe, error));
  cst_status status = cst__source_arrow_schema(probe, &columns, &own);
  if (status == CST_OK) {
    status = cst__schema_for_columns(&columns, schema, out, &own);
    columns.release(&columns);
  }
  cst__source_release(probe);
  return status == CST_NO_MEMORY ? cst__fail_memory(error, sizeof columns) : CST_OK;
}

/* The source as a lenient survey reads it. */
static cst_status make_lenient(cst_source *source, table_drops *drops, cst_source **out,
                               cst_error *error) {
  cst__reading_options options = lenient_options(source, drops);
  cst_schema *found = NULL;
  drops->several = source->num_parts > 1;
  if (source->inputs->format.table != NULL && options.columns.types == NULL) {
    const cst_schema *schema = drops->options->text_schema;
    schema = schema != NULL ? schema : options.columns.schema;
    if (schema != NULL) {
      CST__TRY(find_text_schema(source, &options, schema, &found, error));
    }
    options.columns.schema = found != NULL ? found : (cst_schema *)(uintptr_t)schema;
  }
  cst_status status = cst__source_with(source, NULL, 0, &options, out, error);
  cst__schema_release(found);
  return status;
}

static cst_status sample_for_pass(cst_source *source, cst_error *error) {
  cst__feed *feed;
  cst_status status = cst__source_begin_sample(source, &feed, error);
  cst__mutex_lock(&source->lock);
  source->found.sample = feed;
  cst__mutex_unlock(&source->lock);
  return status;
}

static cst_status survey(cst_source *source, const cst__survey_options *options,
                         const table_drops *drops, cst_error *error) {
  cst__pass_options pass_options = {.rows = SURVEY_ROWS,
                                    .bytes = SURVEY_BYTES,
                                    .threads = source->options.batch.threads,
                                    .purpose = CST__FOR_TYPES,
                                    .keep_offsets = true,
                                    .by_unit = options->lenient};
  cst__survey s = {.options = options,
                   .drops = drops,
                   .decoding = {.source = source, .purpose = CST__FOR_TYPES}};
  cst_error own = CST_ERROR_INIT;
  if (source->inputs->by_record) { /* of a pipe, whose pass goes on with the sample */
    CST__TRY(sample_for_pass(source, error));
  }
  CST__TRY(cst__pass_new_with(source, &pass_options, &s.pass, error));
  cst_status status = CST_OK;
  if (source->inputs->format.payload == NULL) {
    status = cst__source_arrow_schema(source, &s.tabular, &own);
  }
  if (status == CST_OK) {
    status = run(&s, &own);
  }
  cst__decoding_reset(&s.decoding);
  cst__pass_free(s.pass);
  if (s.tabular.release != NULL) {
    s.tabular.release(&s.tabular);
  }
  if (status != CST_OK) {
    cst__error_copy(error, &own);
  }
  return status;
}

cst_status cst__source_survey(cst_source *source, const cst__survey_options *options,
                              cst_error *error) {
  cst_source *lenient;
  if (!options->lenient || !can_be_lenient(source)) {
    return survey(source, options, NULL, error);
  }
  table_drops drops = {.options = options};
  CST__TRY(make_lenient(source, &drops, &lenient, error));
  cst_status status = survey(lenient, options, &drops, error);
  cst__source_release(lenient);
  cst__delete(drops.rows);
  return status;
}
