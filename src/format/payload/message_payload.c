/* The payload "message": every record is a message of one type, in the wire format or another form.
 * Its types are those of its descriptors. */
#include "base/error.h"
#include "format/payload/payload.h"

static void unbind_message(void *plan) { cst__message_plan_release(plan); }

static cst_status bind_message(const cst__payload_options *options, void **out,
                               struct ArrowSchema *schema, cst_error *error) {
  cst__message_plan *plan = NULL;
  const cst__message_plan_options own = {.message = options->settings.message.options,
                                         .columns = options->columns,
                                         .num_columns = options->num_columns,
                                         .column_flags = options->column_flags,
                                         .nullable_columns = options->settings.message.nullable,
                                         .allocator = options->allocator};
  CST__TRY(cst__message_plan_new(&own, &plan, error));
  cst_status status = cst__type_export(cst__message_plan_type(plan), schema, error);
  if (status != CST_OK) {
    cst__message_plan_release(plan);
    return status;
  }
  *out = plan;
  return CST_OK;
}

static cst_status open_messages(const void *plan, void **decoder, cst_error *error) {
  cst_message_decoder *message = NULL;
  CST__TRY(cst__message_decoder_open((cst__message_plan *)(uintptr_t)plan, &message, error));
  *decoder = message;
  return CST_OK;
}

static cst_status decode_message(void *decoder, const cst__records *records,
                                 struct ArrowSchema *out_schema, struct ArrowArray *out,
                                 cst_error *error) {
  return cst__message_decoder_decode(decoder, records, out_schema, out, error);
}

static void on_bad_message(void *decoder, cst__bad_record_callback on_bad, void *ctx) {
  cst__message_decoder_on_bad(decoder, on_bad, ctx);
}

static void close_messages(void *decoder) { cst_message_decoder_free(decoder); }

const cst__payload cst__message_payload = {
    .name = "message",
    .types_from = CST__TYPES_FIXED,
    .can_fail = true,
    .bind = bind_message,
    .unbind = unbind_message,
    .open = open_messages,
    .decode = decode_message,
    .on_bad = on_bad_message,
    .close = close_messages,
};
