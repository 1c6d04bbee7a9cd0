/* Decoding records by a payload, and their bytes beside. */
#include <string.h>

#include "arrow/append.h"
#include "base/alloc.h"
#include "base/error.h"
#include "format/payload/payload.h"

struct cst__record_decoder {
  cst_allocator allocator;
  const cst__payload *payload;
  void *decoder; /* the payload's */
  void *raw;     /* that of the payload raw, or NULL */
};

/* The name may be taken by a column that is known only when a batch is decoded. */
static cst_status check_name(const struct ArrowSchema *schema, const struct ArrowSchema *raw,
                             cst_error *error) {
  const char *name = raw->children[0]->name;
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (strcmp(schema->children[i]->name, name) == 0) {
      (void)cst__fail(error, CST_INVALID_ARGUMENT, "choose another name for the raw records",
                      "the column of raw records has the name of another column");
      cst__error_add_path(error, name, strlen(name));
      return CST_INVALID_ARGUMENT;
    }
  }
  return CST_OK;
}

cst_status cst__record_decoder_open(const cst__payload *payload,
                                    const cst__payload_options *options, cst__record_decoder **out,
                                    cst_error *error) {
  cst__record_decoder *decoder = cst__new_zero(options->allocator, sizeof *decoder);
  if (decoder == NULL) {
    return cst__fail_memory(error, sizeof *decoder);
  }
  decoder->allocator = cst__allocator_of(options->allocator);
  cst_status status = payload->open(options, &decoder->decoder, error);
  decoder->payload = status == CST_OK ? payload : NULL;
  if (status == CST_OK && options->raw_column != NULL && payload != &cst__raw_payload) {
    cst__payload_options raw = *options;
    raw.columns = NULL;
    status = cst__raw_payload.open(&raw, &decoder->raw, error);
  }
  if (status != CST_OK) {
    cst__record_decoder_close(decoder);
    return status;
  }
  *out = decoder;
  return CST_OK;
}

void cst__record_decoder_close(cst__record_decoder *decoder) {
  if (decoder == NULL) {
    return;
  }
  if (decoder->raw != NULL) {
    cst__raw_payload.close(decoder->raw);
  }
  if (decoder->payload != NULL) {
    decoder->payload->close(decoder->decoder);
  }
  cst__delete(decoder);
}

static cst_status append_raw(cst__record_decoder *decoder, const cst__records *records,
                             struct ArrowSchema *schema, struct ArrowArray *batch,
                             cst_error *error) {
  struct ArrowSchema raw_schema = {.release = NULL};
  struct ArrowArray raw;
  CST__TRY(cst__raw_payload.decode(decoder->raw, records, schema != NULL ? &raw_schema : NULL, &raw,
                                   error));
  cst_status status = schema != NULL ? check_name(schema, &raw_schema, error) : CST_OK;
  if (status == CST_OK) {
    status = cst__append_array(batch, &raw, &decoder->allocator, error);
  }
  if (status == CST_OK && schema != NULL) {
    status = cst__append_field(schema, &raw_schema, error);
  }
  if (raw.release != NULL) {
    raw.release(&raw);
  }
  if (raw_schema.release != NULL) {
    raw_schema.release(&raw_schema);
  }
  return status;
}

cst_status cst__record_decoder_decode(cst__record_decoder *decoder, const cst__records *records,
                                      struct ArrowSchema *out_schema, struct ArrowArray *out,
                                      cst_error *error) {
  struct ArrowSchema schema = {.release = NULL};
  struct ArrowArray batch;
  if (out == NULL) {
    return decoder->payload->decode(decoder->decoder, records, out_schema, NULL, error);
  }
  CST__TRY(decoder->payload->decode(decoder->decoder, records, out_schema != NULL ? &schema : NULL,
                                    &batch, error));
  if (decoder->raw != NULL) {
    cst_status status =
        append_raw(decoder, records, out_schema != NULL ? &schema : NULL, &batch, error);
    if (status != CST_OK) {
      batch.release(&batch);
      if (schema.release != NULL) {
        schema.release(&schema);
      }
      return status;
    }
  }
  *out = batch;
  if (out_schema != NULL) {
    *out_schema = schema;
  }
  return CST_OK;
}
