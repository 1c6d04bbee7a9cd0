/* What a source knows about its records: schema, Arrow schema, tensor specs, decoders. */
#include <string.h>

#include "arrow/view.h"
#include "schema/schema.h"
#include "source/feed.h"
#include "source/source.h"
#include "source/whole.h"

cst_status cst__source_claim(cst_source *source, cst_error *error) {
  if (source->rereadable) {
    return CST_OK;
  }
  cst__mutex_lock(&source->lock);
  bool taken = source->claimed;
  source->claimed = true;
  cst__mutex_unlock(&source->lock);
  return taken ? cst__fail(error, CST_STATE, "open it again, or save it to a file first",
                           "the input can be read only once, and has been")
               : CST_OK;
}

cst_status cst__source_claim_whole(cst_source *source, cst_error *error) {
  CST__TRY(cst__source_claim(source, error));
  cst__mutex_lock(&source->lock);
  bool begun = source->sample != NULL || source->sample_status != CST_OK;
  cst__mutex_unlock(&source->lock);
  return begun ? cst__fail(error, CST_STATE, "open it again, or save it to a file first",
                           "the input can be read only once, and its beginning has been read for "
                           "the schema")
               : CST_OK;
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

static cst_status infer(cst_source *source, cst_error *error) {
  cst_schema *schema = NULL;
  if (source->rereadable) {
    CST__TRY(cst__source_infer_all(source, NULL, NULL, &schema, error));
  } else {
    if (source->sample_status != CST_OK) {
      cst__error_copy(error, source->sample_error);
      return source->sample_status;
    }
    CST__TRY(cst__source_infer_sample(source, &schema, error));
    source->sampled = true;
  }
  source->schema = schema;
  return CST_OK;
}

cst_status cst__source_prepare_locked(cst_source *source, cst_error *error) {
  bool wanted = source->payload != NULL && source->payload->wants_schema;
  return wanted && source->schema == NULL ? infer(source, error) : CST_OK;
}

cst_status cst__source_prepare(cst_source *source, cst_error *error) {
  cst__mutex_lock(&source->lock);
  cst_status status = cst__source_prepare_locked(source, error);
  cst__mutex_unlock(&source->lock);
  return status;
}

cst_status cst__source_schema(cst_source *source, const cst_schema **out, cst_error *error) {
  CST__TRY(cst__source_prepare(source, error));
  *out = source->schema;
  return CST_OK;
}

/* The schema of a batch of no records. */
static cst_status find_arrow_schema(cst_source *source, cst_error *error) {
  struct ArrowArray batch = {.release = NULL};
  const cst__records none = {.items = NULL};
  cst__record_decoder *decoder;
  if (source->payload == NULL) {
    return cst__whole_schema(source, &source->arrow_schema, error);
  }
  CST__TRY(cst__source_prepare_locked(source, error));
  CST__TRY(cst__source_open_decoder(source, CST__WANT_COLUMNS, &decoder, error));
  cst_status status =
      cst__record_decoder_decode(decoder, &none, &source->arrow_schema, &batch, error);
  if (status == CST_OK) {
    batch.release(&batch);
  }
  cst__record_decoder_close(decoder);
  return status;
}

cst_status cst__source_arrow_schema(cst_source *source, struct ArrowSchema *out, cst_error *error) {
  cst_status status = CST_OK;
  cst__mutex_lock(&source->lock);
  if (source->arrow_schema.release == NULL) {
    status = find_arrow_schema(source, error);
  }
  if (status == CST_OK) {
    status = cst__schema_copy(&source->arrow_schema, out, error);
  }
  cst__mutex_unlock(&source->lock);
  return status;
}

/* Whole formats need no schema to be read, but for tensors. */
static cst_status prepare_specs(cst_source *source, cst_error *error) {
  cst_schema *inferred;
  CST__TRY(cst__source_prepare(source, error));
  if (source->schema != NULL) {
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
  CST__TRY(cst__specs_new(source->schema, &options, &all, error));
  if (source->columns == NULL) {
    *out = all;
    return CST_OK;
  }
  cst_status status = cst__specs_project(all, (const char *const *)source->columns,
                                         source->num_columns, out, error);
  cst__specs_release(all);
  return status;
}
