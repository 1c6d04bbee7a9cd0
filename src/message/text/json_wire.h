/* Protobuf's JSON straight to the wire format, without trees of values and of messages in between:
 * for the fields and values that requests are made of. Whatever is unusual (a fault, an unknown
 * key, a map, a oneof, a well-known type) is left to json_read.h, of which this takes a part, with
 * the same fields and values. These stand in the order of the text; types that have themselves
 * within go this way only where that is the order of their numbers.
 */
#ifndef MESSAGE_JSON_WIRE_H
#define MESSAGE_JSON_WIRE_H

#include <columnstone/records.h>

#include "proto/descriptor.h"

/* The types that a message has within it, and memory that is used again. */
typedef struct cst__json_wire cst__json_wire;

/* `wanted` has those fields of the type that are to be written, and so have the types of its
 * fields; the others are checked and passed over. A message that is wanted as bytes is a field of
 * bytes there. The types are borrowed. NULL: no memory. */
cst__json_wire *cst__json_wire_new(const cst__message_def *root, const cst__message_def *wanted,
                                   const cst_allocator *allocator);
void cst__json_wire_free(cst__json_wire *wire);

/* The wire format of a text, with `slack` zero bytes after it, valid until the next call; *taken is
 * false for a text that does not go this way. CST_NO_MEMORY. */
cst_status cst__json_wire_read(cst__json_wire *wire, cst_bytes text, size_t slack, bool *taken,
                               cst_bytes *out, cst_error *error);

#endif /* MESSAGE_JSON_WIRE_H */
