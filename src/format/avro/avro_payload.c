/* The payload "avro": every record is a value of Avro's binary encoding, with or without a prefix
 * that names its schema. */
#include "avro/avro_records.h"
#include "format/avro/avro_options.h"
#include "format/payload/payload.h"

/* The texts of schemas that are given, read. */
typedef struct texts {
  cst__text schema, writer, schemas;
} texts;

static cst_status read_text(const char *given, cst__text *text, cst_bytes *out, cst_error *error) {
  if (given == NULL) {
    return CST_OK;
  }
  CST__TRY(cst__avro_options_text(given, text, error));
  *out = (cst_bytes){(const uint8_t *)text->data, text->size};
  return CST_OK;
}

static cst_status read_texts(const cst__avro_options *given, texts *read,
                             cst__avro_record_options *out, cst_error *error) {
  CST__TRY(read_text(given->schema, &read->schema, &out->schema, error));
  CST__TRY(read_text(given->writer_schema, &read->writer, &out->writer, error));
  return read_text(given->schemas, &read->schemas, &out->schemas, error);
}

static cst_status new_records(const cst__payload_options *options, cst_decoder **out,
                              cst_error *error) {
  static const cst__avro_options usual = {.schema = NULL};
  const cst__avro_options *given =
      options->format_options != NULL ? options->format_options : &usual;
  const cst_allocator allocator = cst__allocator_of(options->allocator);
  texts read = {{.allocator = allocator}, {.allocator = allocator}, {.allocator = allocator}};
  cst__avro_record_options own = {.framing = given->framing,
                                  .columns = {.columns = options->columns,
                                              .num_columns = options->num_columns,
                                              .column_flags = options->column_flags,
                                              .enums = given->enums,
                                              .recursion = given->recursion},
                                  .nullable_columns = options->null_rows,
                                  .allocator = options->allocator};
  CST__TRY(cst__avro_options_of_records(given, error));
  cst_status status = read_texts(given, &read, &own, error);
  if (status == CST_OK) {
    status = cst__avro_records_new(&own, out, error);
  }
  cst__text_free(&read.schema);
  cst__text_free(&read.writer);
  cst__text_free(&read.schemas);
  return status;
}

static cst_status new_record_encoder(const cst_encode_options *options, const void *format_options,
                                     cst_encoder **out, cst_error *error) {
  const cst__avro_options *given = format_options;
  cst__avro_record_writing writing = {.framing = CST__AVRO_AUTO};
  cst__text text = {.allocator = cst__allocator_of(options->allocator)};
  cst_status status = cst__avro_options_of_records(given, error);
  if (status == CST_OK && given != NULL) {
    writing.framing = given->framing;
    writing.number = given->schema_id;
    status = read_text(given->schema, &text, &writing.schema, error);
  }
  if (status == CST_OK) {
    status = cst__avro_record_encoder_new(&writing, options, out, error);
  }
  cst__text_free(&text);
  return status;
}

const cst__payload cst__avro_payload = {
    .name = "avro",
    .types_from = CST__TYPES_FIXED,
    .null_rows = true,
    .can_fail = true,
    .column_flags = CST__RECORD_COLUMN_FLAGS,
    .new_decoder = new_records,
    .new_encoder = new_record_encoder,
};
