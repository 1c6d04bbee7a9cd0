/* What a source knows about its records: schema, Arrow schema, tensor specs, decoders. */
#include <string.h>

#include "arrow/view.h"
#include "schema/schema.h"
#include "source/input/source.h"
#include "source/pass/feed.h"
#include "source/pass/whole.h"

static cst_status fail_claimed(cst_error *error) {
  return cst__fail(error, CST_STATE, "open it again, or save it to a file first",
                   "the input can be read only once, and has been");
}

cst_status cst__source_claim(cst_source *source, cst_error *error) {
  if (source->rereadable) {
    return CST_OK;
  }
  cst__mutex_lock(&source->lock);
  bool taken = source->claimed;
  source->claimed = true;
  cst__mutex_unlock(&source->lock);
  return taken ? fail_claimed(error) : CST_OK;
}

static cst_status claim_whole(cst_source *source, cst_error *error) {
  CST__TRY(cst__source_await(source, &source->schema_discovery, error));
  if (source->claimed) {
    return fail_claimed(error);
  }
  if (source->sample != NULL || source->sample_status != CST_OK) {
    return cst__fail(error, CST_STATE, "open it again, or save it to a file first",
                     "the input can be read only once, and its beginning has been read for "
                     "the schema");
  }
  source->claimed = true;
  source->claimed_whole = true;
  return CST_OK;
}

cst_status cst__source_claim_whole(cst_source *source, cst_error *error) {
  if (source->rereadable) {
    return CST_OK;
  }
  cst__mutex_lock(&source->lock);
  cst_status status = claim_whole(source, error);
  cst__mutex_unlock(&source->lock);
  return status;
}

cst_status cst__source_open_decoder(const cst_source *source, cst__want want,
                                    cst__record_decoder **decoder, cst_error *error) {
  cst__payload_options options = {.sequence_column = source->sequence_column,
                                  .allocator = &source->allocator};
  if (want == CST__WANT_PROOF && source->schema_given) {
    options.schema = source->schema;
  }
  if (want == CST__WANT_COLUMNS) {
    options.schema = source->schema;
    options.columns = (const char *const *)source->columns;
    options.num_columns = source->num_columns;
    options.column_flags = source->column_flags;
    options.reject_unknown = source->sampled;
    options.raw_column = source->raw_column;
  }
  return cst__record_decoder_open(source->payload, &options, decoder, error);
}

/* ---- the schema ---- */

static cst_status infer_sample(cst_source *source, cst_schema **out, cst_error *error) {
  cst__mutex_lock(&source->lock);
  bool claimed = source->claimed_whole;
  cst_status before = source->sample_status;
  cst__mutex_unlock(&source->lock);
  if (claimed) {
    return fail_claimed(error);
  }
  if (before != CST_OK) {
    cst__error_copy(error, source->sample_error);
    return before;
  }
  return cst__source_infer_sample(source, out, error);
}

static cst_status find_schema(cst_source *source, cst_error *error) {
  cst_schema *schema = NULL;
  CST__TRY(source->rereadable ? cst__source_infer_all(source, NULL, NULL, &schema, error)
                              : infer_sample(source, &schema, error));
  cst__source_adopt(source, schema, !source->rereadable);
  cst__schema_release(schema);
  return CST_OK;
}

static bool knows_schema(const cst_source *source) {
  bool wanted = source->payload != NULL && source->payload->wants_schema;
  return !wanted || source->schema != NULL;
}

cst_status cst__source_prepare(cst_source *source, cst_error *error) {
  return cst__source_discover(source, &source->schema_discovery, knows_schema, find_schema, error);
}

void cst__source_adopt(cst_source *source, const cst_schema *schema, bool sampled) {
  cst__mutex_lock(&source->lock);
  if (source->schema == NULL) {
    source->schema = cst__schema_retain(schema);
    source->sampled = sampled;
  }
  cst__mutex_unlock(&source->lock);
}

const cst_schema *cst__source_known_schema(cst_source *source) {
  cst__mutex_lock(&source->lock);
  const cst_schema *schema = source->schema;
  cst__mutex_unlock(&source->lock);
  return schema;
}

cst_status cst__source_schema(cst_source *source, const cst_schema **out, cst_error *error) {
  CST__TRY(cst__source_prepare(source, error));
  *out = cst__source_known_schema(source);
  return CST_OK;
}

/* ---- the Arrow schema ---- */

/* The schema of a batch of no records. */
static cst_status schema_of_records(cst_source *source, struct ArrowSchema *out, cst_error *error) {
  struct ArrowArray batch = {.release = NULL};
  const cst__records none = {.items = NULL};
  cst__record_decoder *decoder;
  CST__TRY(cst__source_prepare(source, error));
  CST__TRY(cst__source_open_decoder(source, CST__WANT_COLUMNS, &decoder, error));
  cst_status status = cst__record_decoder_decode(decoder, &none, out, &batch, error);
  if (status == CST_OK) {
    batch.release(&batch);
  }
  cst__record_decoder_close(decoder);
  return status;
}

static bool knows_arrow_schema(const cst_source *source) {
  return source->arrow_schema.release != NULL;
}

static void adopt_arrow_schema(cst_source *source, struct ArrowSchema *found) {
  cst__mutex_lock(&source->lock);
  struct ArrowSchema extra = *found;
  if (!knows_arrow_schema(source)) {
    source->arrow_schema = *found;
    extra.release = NULL;
  }
  cst__mutex_unlock(&source->lock);
  if (extra.release != NULL) {
    extra.release(&extra);
  }
}

static cst_status find_whole_schema(cst_source *source, cst_error *error) {
  struct ArrowSchema found = {.release = NULL};
  CST__TRY(cst__whole_schema(source, &found, error));
  adopt_arrow_schema(source, &found);
  return CST_OK;
}

static cst_status find_arrow_schema(cst_source *source, cst_error *error) {
  struct ArrowSchema found = {.release = NULL};
  if (source->payload == NULL) {
    return cst__source_discover(source, &source->schema_discovery, knows_arrow_schema,
                                find_whole_schema, error);
  }
  CST__TRY(schema_of_records(source, &found, error));
  adopt_arrow_schema(source, &found);
  return CST_OK;
}

cst_status cst__source_arrow_schema(cst_source *source, struct ArrowSchema *out, cst_error *error) {
  cst__mutex_lock(&source->lock);
  bool known = knows_arrow_schema(source);
  cst__mutex_unlock(&source->lock);
  if (!known) {
    CST__TRY(find_arrow_schema(source, error));
  }
  return cst__schema_copy(&source->arrow_schema, out, error); /* which does not change any more */
}

/* ---- specs ---- */

/* Whole formats need no schema to be read, but for tensors. */
static cst_status prepare_specs(cst_source *source, cst_error *error) {
  cst_schema *inferred;
  CST__TRY(cst__source_prepare(source, error));
  if (cst__source_known_schema(source) != NULL) {
    return CST_OK;
  }
  if (source->payload != NULL) {
    return cst__fail(error, CST_UNSUPPORTED, "open it as tf.Examples, with a schema or without",
                     "the format %s has no schema, and so no tensors", source->format);
  }
  if (!source->rereadable) {
    return cst__fail(error, CST_STATE, "give a schema",
                     "tensors need a schema, and an input that can be read only once has none");
  }
  CST__TRY(cst__source_infer(source, NULL, NULL, &inferred, error));
  cst__schema_release(inferred);
  return CST_OK;
}

cst_status cst__source_specs(cst_source *source, cst_specs **out, cst_error *error) {
  if (source->column_flags & CST_COLUMNS_NESTED) {
    return cst__fail(error, CST_UNSUPPORTED, "open the source without nested columns",
                     "tensors are made of flat columns, the source gives nested ones");
  }
  CST__TRY(prepare_specs(source, error));
  cst_specs_options options = {.size = sizeof options,
                               .group = source->tensor_group,
                               .legacy = source->legacy_specs,
                               .environment = source->environment};
  cst_specs *all;
  CST__TRY(cst__specs_new(cst__source_known_schema(source), &options, &all, error));
  if (source->columns == NULL) {
    *out = all;
    return CST_OK;
  }
  cst_status status = cst__specs_project(all, (const char *const *)source->columns,
                                         source->num_columns, out, error);
  cst__specs_release(all);
  return status;
}
