/* <columnstone/message.h>, decoding: argument checks and hand-over. */
#include <columnstone/message.h>
#include <string.h>

#include "arrow/records/decoding.h"
#include "base/arguments.h"
#include "message/decode/decoder.h"
#include "message/message_options.h"

/* ---- options ---- */

const char *cst_message_option_name(size_t i) {
  const cst__message_option *option = cst__message_option_at(i);
  return option != NULL ? option->name : NULL;
}

cst_status cst_message_options_set(cst_message_options *options, const char *name,
                                   const char *value, cst_error *error) {
  cst_message_options own = CST_MESSAGE_OPTIONS_INIT;
  if (options == NULL || name == NULL || value == NULL) {
    return cst__missing(options == NULL ? "options" : name == NULL ? "name" : "value", error);
  }
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(cst__message_options_set(&own, name, value, error));
  size_t size = options->size; /* of the caller's version */
  memcpy(options, &own, size < sizeof own ? size : sizeof own);
  options->size = size;
  return CST_OK;
}

/* ---- decoding ---- */

static cst_status open_message_decoder(const cst__message_plan_options *options,
                                       cst_message_decoder **out, cst_error *error) {
  cst__message_plan *plan;
  CST__TRY(cst__message_plan_new(options, &plan, error));
  cst_status status = cst__message_decoder_open(plan, out, error);
  cst__message_plan_release(plan);
  return status;
}

cst_status cst_message_decoder_new(const cst_message_options *message,
                                   const cst_decode_options *options, cst_message_decoder **out,
                                   cst_error *error) {
  CST__CLEAR(out);
  cst_decode_options own = CST_DECODE_OPTIONS_INIT;
  cst_message_options what = CST_MESSAGE_OPTIONS_INIT;
  if (message == NULL || out == NULL) {
    return cst__missing(message == NULL ? "message" : "out", error);
  }
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(cst__read_options(&what, sizeof what, message, error));
  CST__TRY(cst__check_allocator(own.allocator, error));
  CST__TRY(cst__check_flags(own.flags, CST__RECORD_COLUMN_FLAGS, error));
  CST__TRY(cst__check_columns(own.columns, own.num_columns, error));
  const cst__message_plan_options inner = {.message = &what,
                                           .columns = own.columns,
                                           .num_columns = own.num_columns,
                                           .column_flags = own.flags,
                                           .allocator = own.allocator};
  return open_message_decoder(&inner, out, error);
}

void cst_message_decoder_free(cst_message_decoder *decoder) { cst__message_decoder_close(decoder); }

cst_status cst_message_decoder_decode(cst_message_decoder *decoder, const cst_bytes *records,
                                      size_t count, struct ArrowSchema *out_schema,
                                      struct ArrowArray *out, cst_error *error) {
  CST__CLEAR(out_schema);
  CST__CLEAR(out);
  CST__TRY(cst__records_check(decoder, records, count, error));
  const cst__records all = {.items = records, .count = count};
  return cst__message_decoder_decode(decoder, &all, out_schema, out, error);
}

cst_status cst_message_decoder_decode_arrow(cst_message_decoder *decoder,
                                            const struct ArrowSchema *schema,
                                            struct ArrowArray *records,
                                            struct ArrowSchema *out_schema, struct ArrowArray *out,
                                            cst_error *error) {
  CST__CLEAR(out_schema);
  CST__CLEAR(out);
  if (decoder == NULL || schema == NULL || records == NULL) {
    return cst__missing(decoder == NULL ? "decoder" : schema == NULL ? "schema" : "records", error);
  }
  return cst__message_decode_arrow(decoder, schema, records, out_schema, out, error);
}

cst_status cst_message_decoder_arrow_schema(const cst_message_decoder *decoder,
                                            struct ArrowSchema *out, cst_error *error) {
  CST__CLEAR(out);
  if (decoder == NULL || out == NULL) {
    return cst__missing(decoder == NULL ? "decoder" : "out", error);
  }
  return cst__message_decoder_schema(decoder, out, error);
}
