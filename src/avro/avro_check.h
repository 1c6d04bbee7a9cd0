/* Whether bytes are a value of a type: of those that are written as they come. */
#ifndef AVRO_AVRO_CHECK_H
#define AVRO_AVRO_CHECK_H

#include "avro/avro_schema.h"

/* True if the bytes are one value, and nothing more. Values within each other beyond 256 levels,
 * and lists of more than 16,777,216 items without bytes, are none. */
bool cst__avro_is_value(const cst__avro_type *type, cst_bytes bytes);

#endif /* AVRO_AVRO_CHECK_H */
