/* The encoder of messages, as the other rooms use it. */
#ifndef MESSAGE_ENCODE_ENCODER_H
#define MESSAGE_ENCODE_ENCODER_H

#include <columnstone/message.h>

#include "proto/descriptor.h"

/* As the public functions of the same name. */
cst_status cst__message_encoder_new(const cst_message_options *message,
                                    const cst_encode_options *options, cst_message_encoder **out,
                                    cst_error *error);
void cst__message_encoder_free(cst_message_encoder *encoder);
/* Whether the columns have fields, before there are any rows. */
cst_status cst__message_encoder_prepare(cst_message_encoder *encoder,
                                        const struct ArrowSchema *schema, cst_error *error);
cst_status cst__message_encoder_encode(cst_message_encoder *encoder,
                                       const struct ArrowSchema *schema,
                                       const struct ArrowArray *batch,
                                       struct ArrowSchema *out_schema, struct ArrowArray *out,
                                       cst_error *error);

#endif /* MESSAGE_ENCODE_ENCODER_H */
