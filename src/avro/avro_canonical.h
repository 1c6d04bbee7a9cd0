/* The canonical form of a schema, and its fingerprint. */
#ifndef AVRO_AVRO_CANONICAL_H
#define AVRO_AVRO_CANONICAL_H

#include "avro/avro_schema.h"

/* Appends the canonical form. */
cst_status cst__avro_put_canonical(const cst__avro_schema *schema, cst__text *out,
                                   cst_error *error);

/* CRC-64-AVRO of bytes, and of the canonical form of a schema. */
uint64_t cst__avro_crc64(cst_bytes text);
cst_status cst__avro_fingerprint(const cst__avro_schema *schema, uint64_t *out, cst_error *error);

#endif /* AVRO_AVRO_CANONICAL_H */
