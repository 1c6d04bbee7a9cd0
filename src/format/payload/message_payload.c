/* The payload "message": every record is a message of one type, in the wire format or another form.
 * Its types are those of its descriptors. */
#include "base/error.h"
#include "format/payload/payload.h"
#include "message/decode/decode.h"
#include "message/encode/message_encoder.h"

static cst_status new_message(const cst__payload_options *options, cst_decoder **out,
                              cst_error *error) {
  cst__message_plan *plan = NULL;
  const cst__message_plan_options own = {.message = options->message,
                                         .columns = options->columns,
                                         .num_columns = options->num_columns,
                                         .column_flags = options->column_flags,
                                         .nullable_columns = options->null_rows,
                                         .allocator = options->allocator};
  CST__TRY(cst__message_plan_new(&own, &plan, error));
  cst_status status = cst__message_decoder_open(plan, out, error);
  cst__message_plan_release(plan);
  return status;
}

static cst_status new_message_encoder(const cst_encode_options *options, const void *format_options,
                                      cst_encoder **out, cst_error *error) {
  (void)format_options;
  return cst__message_encoder_new(options->message, options, out, error);
}

const cst__payload cst__message_payload = {
    .name = "message",
    .types_from = CST__TYPES_FIXED,
    .null_rows = true,
    .can_fail = true,
    .is_described = true,
    .column_flags = CST__RECORD_COLUMN_FLAGS,
    .new_decoder = new_message,
    .new_encoder = new_message_encoder,
};
