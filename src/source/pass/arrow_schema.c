/* The Arrow schema of what is decoded: found once, by decoding nothing or by asking a tabular
 * format. */
#include "source/pass/arrow_schema.h"

#include "arrow/view.h"
#include "source/block/decoder.h"
#include "source/input/discovery.h"
#include "source/input/prepare.h"
#include "source/pass/tabular.h"

/* The schema of a batch of no records. */
static cst_status schema_of_records(cst_source *source, struct ArrowSchema *out, cst_error *error) {
  struct ArrowArray batch = {.release = NULL};
  const cst__records none = {.items = NULL};
  cst__record_decoder *decoder;
  CST__TRY(cst__source_prepare(source, error));
  CST__TRY(cst__source_open_decoder(source, CST__FOR_COLUMNS, &decoder, error));
  cst_status status = cst__record_decoder_decode(decoder, &none, out, &batch, error);
  if (status == CST_OK) {
    batch.release(&batch);
  }
  cst__record_decoder_close(decoder);
  return status;
}

static bool knows_arrow_schema(const cst_source *source) {
  return source->found.arrow_schema.release != NULL;
}

static void adopt_arrow_schema(cst_source *source, struct ArrowSchema *found) {
  cst__mutex_lock(&source->lock);
  struct ArrowSchema extra = *found;
  if (!knows_arrow_schema(source)) {
    source->found.arrow_schema = *found;
    extra.release = NULL;
  }
  cst__mutex_unlock(&source->lock);
  if (extra.release != NULL) {
    extra.release(&extra);
  }
}

static cst_status find_tabular_schema(cst_source *source, cst_error *error) {
  struct ArrowSchema found = {.release = NULL};
  CST__TRY(cst__tabular_schema(source, &found, error));
  adopt_arrow_schema(source, &found);
  return CST_OK;
}

static cst_status find_arrow_schema(cst_source *source, cst_error *error) {
  struct ArrowSchema found = {.release = NULL};
  if (source->inputs->format.payload == NULL) {
    return cst__source_discover(source, &source->found.schema_discovery, knows_arrow_schema,
                                find_tabular_schema, error);
  }
  CST__TRY(schema_of_records(source, &found, error));
  adopt_arrow_schema(source, &found);
  return CST_OK;
}

cst_status cst__source_decoded_schema(cst_source *source, struct ArrowSchema *out,
                                      cst_error *error) {
  cst__mutex_lock(&source->lock);
  bool known = knows_arrow_schema(source);
  cst__mutex_unlock(&source->lock);
  if (!known) {
    CST__TRY(find_arrow_schema(source, error));
  }
  return cst__schema_copy(&source->found.arrow_schema, out,
                          error); /* which does not change any more */
}
