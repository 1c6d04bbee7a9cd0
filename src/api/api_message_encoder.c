/* <columnstone/message.h>, columns to messages: argument checks and hand-over. */
#include <columnstone/message.h>

#include "arrow/records/encoding.h"
#include "base/arguments.h"
#include "message/encode/encoder.h"

cst_status cst_message_encoder_new(const cst_message_options *message,
                                   const cst_encode_options *options, cst_message_encoder **out,
                                   cst_error *error) {
  CST__CLEAR(out);
  cst_message_options own_message = CST_MESSAGE_OPTIONS_INIT;
  cst_encode_options own = CST_ENCODE_OPTIONS_INIT;
  if (out == NULL || message == NULL) {
    return cst__missing(out == NULL ? "out" : "message", error);
  }
  CST__TRY(cst__read_options(&own_message, sizeof own_message, message, error));
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(cst__check_allocator(own.allocator, error));
  CST__TRY(cst__check_flags(own.flags, CST__ALL_ENCODE_FLAGS, error));
  if (own_message.descriptors == NULL) {
    return cst__missing("message->descriptors", error);
  }
  return cst__message_encoder_new(&own_message, &own, out, error);
}

void cst_message_encoder_free(cst_message_encoder *encoder) { cst__message_encoder_free(encoder); }

cst_status cst_message_encoder_encode(cst_message_encoder *encoder,
                                      const struct ArrowSchema *schema,
                                      const struct ArrowArray *batch,
                                      struct ArrowSchema *out_schema, struct ArrowArray *out,
                                      cst_error *error) {
  CST__CLEAR(out_schema);
  CST__CLEAR(out);
  CST__TRY(cst__encoding_check(encoder, schema, batch, out, error));
  return cst__message_encoder_encode(encoder, schema, batch, out_schema, out, error);
}
