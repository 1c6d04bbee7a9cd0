/* The plan of a source, and decoders. */
#include "source/block/decoder.h"

#include <inttypes.h>
#include <stdio.h>

static cst_status bind_plan(const cst_source *source, cst__purpose purpose, cst__record_plan **out,
                            cst_error *error) {
  const cst__reading_options *from = &source->options;
  cst__payload_options options = {.format_options = source->inputs->format_options,
                                  .message = from->values.message,
                                  .allocator = &source->allocator};
  if (purpose == CST__FOR_CHECK) {
    options.schema = from->values.schema;
  }
  if (purpose == CST__FOR_COLUMNS) {
    options.schema = cst__source_known_schema(source);
    options.columns = from->values.columns;
    options.num_columns = from->values.num_columns;
    options.column_flags = from->values.column_flags;
    options.reject_unknown = source->found.sampled > 0;
    options.raw_column = from->values.raw_column;
    options.offset_column = from->values.offset_column;
  }
  options.null_rows = cst__source_has_null_rows(source, purpose);
  cst_status status = cst__record_plan_new(source->inputs->format.payload, &options, out, error);
  if (status == CST_NOT_FOUND && source->found.sampled > 0) {
    /* A column that the first records do not have may be in later ones. */
    if (cst__error_wanted(error)) {
      snprintf(error->message, sizeof error->message,
               "no feature of that name in the first %" PRIu64 " %s", source->found.sampled,
               source->found.sampled == 1 ? "record" : "records");
    }
  }
  return status;
}

cst_status cst__source_plan(const cst_source *source, cst__record_plan **out, cst_error *error) {
  cst_source *shared = (cst_source *)(uintptr_t)source; /* only what is found changes */
  cst__mutex_lock(&shared->lock);
  *out = shared->found.plan;
  cst__mutex_unlock(&shared->lock);
  if (*out != NULL) {
    return CST_OK;
  }
  cst__record_plan *made;
  CST__TRY(bind_plan(source, CST__FOR_COLUMNS, &made, error));
  cst__mutex_lock(&shared->lock);
  if (shared->found.plan == NULL) {
    shared->found.plan = cst__record_plan_retain(made);
  }
  *out = shared->found.plan;
  cst__mutex_unlock(&shared->lock);
  cst__record_plan_release(made);
  return CST_OK;
}

cst_status cst__source_open_decoder(const cst_source *source, cst__purpose purpose,
                                    cst__record_decoder **decoder, cst_error *error) {
  cst__record_plan *plan;
  if (purpose == CST__FOR_COLUMNS) {
    CST__TRY(cst__source_plan(source, &plan, error));
    return cst__record_decoder_open(plan, decoder, error);
  }
  CST__TRY(bind_plan(source, purpose, &plan, error));
  cst_status status = cst__record_decoder_open(plan, decoder, error);
  cst__record_plan_release(plan);
  return status;
}
