/* The schemas that records may name: by numbers, as registries give them, and by fingerprints.
 */
#ifndef AVRO_AVRO_KNOWN_H
#define AVRO_AVRO_KNOWN_H

#include "avro/avro_schema.h"
#include "base/hash.h"

typedef struct cst__avro_known_schema {
  cst__avro_schema schema;
  uint64_t number; /* if it has one */
  uint64_t fingerprint;
} cst__avro_known_schema;

/* Zero-initialised storage, with the allocator set; the caller's to reset. */
typedef struct cst__avro_known {
  cst_allocator allocator;
  cst__json_document document; /* of the table */
  cst__avro_known_schema **items;
  size_t count;
  size_t capacity;
  cst__name_map by_number; /* whose names are the bytes of the numbers */
  cst__name_map by_fingerprint;
} cst__avro_known;

/* Adds one that has no number. *index: of it. */
cst_status cst__avro_known_add(cst__avro_known *known, cst_bytes text, size_t *index,
                               cst_error *error);
/* Adds a table, once: a JSON object of numbers (in decimal digits) to schemas, or a list of
 * schemas. A schema is there as it is, or as a string that has its JSON. CST_SCHEMA for what is no
 * such table, with the number as the path. */
cst_status cst__avro_known_add_table(cst__avro_known *known, cst_bytes text, cst_error *error);
void cst__avro_known_reset(cst__avro_known *known);

/* SIZE_MAX: there is none. */
size_t cst__avro_known_number(const cst__avro_known *known, uint64_t number);
size_t cst__avro_known_fingerprint(const cst__avro_known *known, uint64_t fingerprint);

#endif /* AVRO_AVRO_KNOWN_H */
