/* The prefix that Confluent's schema registry puts before a message: a zero byte, the number of the
 * schema, and the place of the message's type in its file.
 *
 * Source: Confluent, "Formats, serializers and deserializers", section "Wire format".
 */
#ifndef PROTO_CONFLUENT_H
#define PROTO_CONFLUENT_H

#include <columnstone/message.h>

#include "proto/descriptor_set.h"
#include "proto/wire.h"

/* What prefixes have to say. */
typedef struct cst__confluent {
  int32_t place[CST__DEPTH_LIMIT]; /* the index of the outermost message of the file, of that in
                                      it, and so on */
  size_t depth;                    /* 0: prefixes end before the place */
} cst__confluent;

/* What comes after the prefix. CST_CORRUPT if that is not there or cut, CST_SCHEMA if it names
 * another message; which number the schema has does not matter. */
cst_status cst__confluent_strip(const cst__confluent *confluent, cst_bytes record, cst_bytes *out,
                                cst_error *error);

#endif /* PROTO_CONFLUENT_H */
