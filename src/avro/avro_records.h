/* Values of Avro that are records by themselves, in the containers of others: a plan of what they
 * become, and decoders of it, one per thread; and an encoder.
 */
#ifndef AVRO_AVRO_RECORDS_H
#define AVRO_AVRO_RECORDS_H

#include "arrow/records/decoder.h"
#include "arrow/records/encoder.h"
#include "avro/avro_columns.h"
#include "avro/avro_framing.h"

typedef struct cst__avro_record_options {
  cst__avro_framing framing;
  /* JSON of schemas, .data NULL: not given. */
  cst_bytes schema;  /* the reader's; else the writer's, else the first of the table */
  cst_bytes writer;  /* of records that name none; else the reader's */
  cst_bytes schemas; /* the table of those that records name */
  cst__avro_column_options columns;
  bool nullable_columns; /* all columns are nullable, as rows of bad records need it */
  const cst_allocator *allocator;
} cst__avro_record_options;

/* Copies what it needs. CST_SCHEMA for schemas that are none, CST_INVALID_ARGUMENT without any. */
cst_status cst__avro_records_new(const cst__avro_record_options *options, cst_decoder **out,
                                 cst_error *error);

typedef struct cst__avro_record_writing {
  cst_bytes schema;          /* JSON of the one that is written by; empty: of the columns */
  cst__avro_framing framing; /* AUTO: no prefix */
  uint64_t number;           /* of the schema, of CONFLUENT and APICURIO */
} cst__avro_record_writing;

/* Copies what it needs. CST_INVALID_ARGUMENT for a number that the prefix does not hold. */
cst_status cst__avro_record_encoder_new(const cst__avro_record_writing *writing,
                                        const cst_encode_options *options, cst_encoder **out,
                                        cst_error *error);

#endif /* AVRO_AVRO_RECORDS_H */
