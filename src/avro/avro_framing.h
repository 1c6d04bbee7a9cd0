/* What stands before a value that is a record by itself, and says which schema it was written by.
 *
 *   PLAIN          nothing
 *   SINGLE_OBJECT  C3 01, and the fingerprint of the schema (8 bytes, little-endian)
 *   CONFLUENT      00, and the schema's number in a registry (4 bytes, big-endian)
 *   APICURIO       00, and the schema's number (8 bytes, big-endian)
 *
 * Sources: Apache Avro 1.12 Specification, "Single-object encoding"; Confluent, "Formats,
 * serializers and deserializers", section "Wire format"; Apicurio Registry, "Configuring Kafka
 * serializers/deserializers" (DefaultIdHandler).
 */
#ifndef AVRO_AVRO_FRAMING_H
#define AVRO_AVRO_FRAMING_H

#include "base/error.h"

typedef enum cst__avro_framing {
  CST__AVRO_AUTO, /* single objects of schemas that are known; all else is plain */
  CST__AVRO_NO_PREFIX,
  CST__AVRO_SINGLE_OBJECT,
  CST__AVRO_CONFLUENT,
  CST__AVRO_APICURIO
} cst__avro_framing;

enum { CST__AVRO_MOST_PREFIX = 10 };

/* Bytes of the prefix; 0 of AUTO and NO_PREFIX. */
size_t cst__avro_prefix_size(cst__avro_framing framing);
/* The number or fingerprint that a prefix names. CST_CORRUPT if the record does not begin with one.
 * Not of AUTO and NO_PREFIX. */
cst_status cst__avro_prefix_read(cst__avro_framing framing, cst_bytes record, uint64_t *id,
                                 cst_error *error);
/* Writes it. */
void cst__avro_prefix_write(cst__avro_framing framing, uint64_t id, uint8_t *to);

#endif /* AVRO_AVRO_FRAMING_H */
