/* Descriptors at run time: the message types of a FileDescriptorSet as tables (descriptor.h).
 *
 * A message that nobody can decode by what is said about it is refused when the set is made, so
 * that whoever walks the tables need not check them: every field has a type, every message and enum
 * that a field names is there, no number stands twice. Tables may refer to each other in circles
 * (recursive types). Synthetic oneofs (proto3 `optional`) are no oneofs here.
 */
#ifndef PROTO_DESCRIPTOR_SET_H
#define PROTO_DESCRIPTOR_SET_H

#include <columnstone/message.h>

#include "proto/descriptor.h"

/* The message type of a full name ("shop.Session", with or without a dot before it), also a nested
 * or built-in one; NULL if there is none. */
const cst__message_def *cst__descriptors_find(const cst_descriptors *descriptors, const char *name,
                                              size_t size);

/* The same, or CST_NOT_FOUND with the nearest names; name NULL: the only message of the set that no
 * other one holds, as a field or by declaration (CST_INVALID_ARGUMENT, naming some, if there are
 * several). */
cst_status cst__descriptors_need(const cst_descriptors *descriptors, const char *name,
                                 const cst__message_def **out, cst_error *error);

/* The i-th of those that cst_descriptors_message names. */
const cst__message_def *cst__descriptors_message_def(const cst_descriptors *descriptors, size_t i);

/* Where a message stands in its file: the index of the outermost message, of the one in it, and so
 * on (as Confluent's prefix has them). `path` has room for CST__DEPTH_LIMIT; returns their number.
 */
size_t cst__descriptors_place(const cst_descriptors *descriptors, const cst__message_def *message,
                              int32_t *path);

#endif /* PROTO_DESCRIPTOR_SET_H */
