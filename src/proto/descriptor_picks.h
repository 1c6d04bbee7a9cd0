/* A part of a descriptor set: the messages, fields and enums that somebody needs, as a set of its
 * own. What is said about them stays as it was, so that records are read in the same way; nothing
 * else does.
 */
#ifndef PROTO_DESCRIPTOR_PICKS_H
#define PROTO_DESCRIPTOR_PICKS_H

#include "base/alloc.h"
#include "proto/descriptor_set.h"

/* Which types and fields are picked. Used by one thread. */
typedef struct cst__descriptor_picks cst__descriptor_picks;

/* Picks from the set, which outlives it; `message` is one of its own, and picked without fields. */
cst_status cst__descriptor_picks_new(const cst_descriptors *set, const cst__message_def *message,
                                     const cst_allocator *allocator, cst__descriptor_picks **out,
                                     cst_error *error);
void cst__descriptor_picks_free(cst__descriptor_picks *picks); /* NULL is allowed */

/* Picks a field of any message by its step in a path; of an Any, "(full.Name)" is a message that it
 * may hold. False if there is none. */
bool cst__descriptor_picks_field(cst__descriptor_picks *picks, const cst__message_def *def,
                                 const char *step);

/* Picks the fields along a path of the message, as the columns of decoders have it: "event.query",
 * "(shop.extra)", "payload.(shop.Event).id", "prices.value" of a map; with `whole` also all that is
 * below its end. With a field come the others of its oneof (each ends the others), enums are whole.
 * False: the path leads to no field, where it is picked as far as it goes. */
bool cst__descriptor_picks_path(cst__descriptor_picks *picks, const char *path, bool whole);

/* Picks the message with all that it can hold but for Any. True if it can hold an Any. */
bool cst__descriptor_picks_message(cst__descriptor_picks *picks);
/* Picks all there is. */
void cst__descriptor_picks_all(cst__descriptor_picks *picks);

/* What is picked as a serialized FileDescriptorSet: every file after those that it imports, with
 * those of google/protobuf that it needs. The message keeps its place in its file. The same picks
 * of the same types give the same bytes, in whatever order their files came. cst_free. */
cst_status cst__descriptor_picks_write(const cst__descriptor_picks *picks, char **bytes,
                                       size_t *size, cst_error *error);

#endif /* PROTO_DESCRIPTOR_PICKS_H */
