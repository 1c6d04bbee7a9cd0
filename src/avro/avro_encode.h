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

/* Appends a row of a batch of the schema. On failure (CST_UNSUPPORTED, with row and path, for a
 * value that Avro's type does not hold; CST_NO_MEMORY) a part of it may be there. */
cst_status cst__avro_encode_row(const cst__avro_encoder *encoder, const cst__view *batch,
                                int64_t row, cst__text *out, cst_error *error);

#endif /* AVRO_AVRO_ENCODE_H */
