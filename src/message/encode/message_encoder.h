/* The encoder of messages, as the other rooms use it. */
#ifndef MESSAGE_ENCODE_MESSAGE_ENCODER_H
#define MESSAGE_ENCODE_MESSAGE_ENCODER_H

#include <columnstone/records.h>

/* As cst_encoder_new, with the flags and the allocator in the options. */
cst_status cst__message_encoder_new(const cst_message_options *message,
                                    const cst_encode_options *options, cst_encoder **out,
                                    cst_error *error);

#endif /* MESSAGE_ENCODE_MESSAGE_ENCODER_H */
