/* The encoder of messages, as the other rooms use it. */
#ifndef MESSAGE_ENCODE_MESSAGE_ENCODER_H
#define MESSAGE_ENCODE_MESSAGE_ENCODER_H

#include <columnstone/message.h>

#include "proto/descriptor.h"

/* Whether the columns have fields, before there are any rows. */
cst_status cst__message_encoder_prepare(cst_encoder *encoder, const struct ArrowSchema *schema,
                                        cst_error *error);

#endif /* MESSAGE_ENCODE_MESSAGE_ENCODER_H */
