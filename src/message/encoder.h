/* The encoder of messages, as the other rooms use it. */
#ifndef MESSAGE_ENCODER_H
#define MESSAGE_ENCODER_H

#include <columnstone/message.h>

#include "proto/descriptor.h"

/* As the public functions of the same name. */
cst_status cst__message_encoder_new(const cst_message_options *message,
                                    const cst_encode_options *options, cst_message_encoder **out,
                                    cst_error *error);
void cst__message_encoder_free(cst_message_encoder *encoder);
cst_status cst__message_encoder_encode(cst_message_encoder *encoder,
                                       const struct ArrowSchema *schema,
                                       const struct ArrowArray *batch,
                                       struct ArrowSchema *out_schema, struct ArrowArray *out,
                                       cst_error *error);

/* The same for tables that lie anywhere, and outlive the encoder; message->message and, unless an
 * Any has casts, message->descriptors may be NULL. */
cst_status cst__message_encoder_new_of(const cst__message_def *def,
                                       const cst_message_options *message,
                                       const cst_encode_options *options, cst_message_encoder **out,
                                       cst_error *error);

#endif /* MESSAGE_ENCODER_H */
