/* Message trees as protobuf's JSON. */
#ifndef MESSAGE_JSON_WRITE_H
#define MESSAGE_JSON_WRITE_H

#include <columnstone/message.h>

#include "proto/message.h"

/* Appends a message as json_format.MessageToJson prints it, on one line without spaces and with
 * text as UTF-8: names in lowerCamel, extensions as "[full.name]", 64-bit integers as strings,
 * enums by name, bytes in base64, the well-known types in their special forms, the message in an
 * Any by `descriptors` (borrowed). Unknown fields have no JSON and are left out. `arena`: for what
 * Anys hold. CST_UNSUPPORTED, with the path, for what JSON cannot say: a time out of range, an Any
 * of an unknown type, a NaN in a Value. */
cst_status cst__message_write_json(const cst__message *message, const cst_descriptors *descriptors,
                                   cst__arena *arena, cst__text *out, cst_error *error);

#endif /* MESSAGE_JSON_WRITE_H */
