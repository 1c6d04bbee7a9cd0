/* Arrow data to values of Avro: a schema for the columns, and their rows as bytes.
 *
 * Structs are records, named by their paths ("Row", "Row.event"), what is nullable is a union with
 * null. docs/avro.md has the table.
 */
#ifndef AVRO_AVRO_ENCODE_H
#define AVRO_AVRO_ENCODE_H

#include <columnstone/arrow_abi.h>

#include "arrow/view.h"

typedef struct cst__avro_encoder cst__avro_encoder;

/* given: JSON of the schema that is written by, empty: one that is made of the columns.
 * CST_UNSUPPORTED, with the path, for types and names that Avro does not have, CST_SCHEMA for
 * columns that do not fit what is given. */
cst_status cst__avro_encoder_new(const struct ArrowSchema *schema, cst_bytes given,
                                 const cst_allocator *allocator, cst__avro_encoder **out,
                                 cst_error *error);
void cst__avro_encoder_free(cst__avro_encoder *encoder); /* NULL is allowed */

/* The JSON text of the schema; borrowed. */
cst_bytes cst__avro_encoder_schema(const cst__avro_encoder *encoder);

/* The rows that are written from now on are those of a batch of the schema, which is borrowed. */
cst_status cst__avro_encoder_bind(cst__avro_encoder *encoder, const cst__view *batch,
                                  cst_error *error);

/* Appends rows of the batch from *row on until `end`, or until there are `enough` bytes; *row is
 * the one after them. On failure (CST_UNSUPPORTED, with row and path, for a value that Avro's type
 * does not hold; CST_NO_MEMORY) it is the one that failed, of which a part may be there. */
cst_status cst__avro_encode_rows(const cst__avro_encoder *encoder, int64_t *row, int64_t end,
                                 size_t enough, cst__text *out, cst_error *error);

#endif /* AVRO_AVRO_ENCODE_H */
