/* Rows as single records: the prefix, and the value. */
#include "arrow/records/encoder.h"
#include "avro/avro_canonical.h"
#include "avro/avro_encode.h"
#include "avro/avro_records.h"

typedef struct record_encoder {
  cst_encoder base; /* first */
  cst__avro_record_writing writing;
  uint8_t prefix[CST__AVRO_MOST_PREFIX];
  cst__text given;           /* the schema that is written by; empty: that of the columns */
  cst__avro_encoder *values; /* of the columns of the batch at hand */
  cst__text row;
} record_encoder;

/* What stands before each value of the schema. */
static cst_status make_prefix(record_encoder *e, cst_error *error) {
  uint64_t id = e->writing.number;
  if (e->writing.framing == CST__AVRO_SINGLE_OBJECT) {
    cst__avro_schema schema;
    cst_status status = cst__avro_schema_parse(&schema, cst__avro_encoder_schema(e->values),
                                               &e->base.allocator, error);
    if (status == CST_OK) {
      status = cst__avro_fingerprint(&schema, &id, error);
    }
    cst__avro_schema_reset(&schema);
    CST__TRY(status);
  }
  cst__avro_prefix_write(e->writing.framing, id, e->prefix);
  return CST_OK;
}

static cst_status prepare_records(cst_encoder *encoder, const struct ArrowSchema *schema,
                                  cst_error *error) {
  record_encoder *e = (record_encoder *)encoder;
  cst__avro_encoder_free(e->values);
  e->values = NULL;
  cst_bytes given = {(const uint8_t *)e->given.data, e->given.size};
  CST__TRY(cst__avro_encoder_new(schema, given, &encoder->allocator, &e->values, error));
  return make_prefix(e, error);
}

static cst_status plan_records(cst_encoder *encoder, const cst__viewed *batch, cst_error *error) {
  record_encoder *e = (record_encoder *)encoder;
  CST__TRY(prepare_records(encoder, batch->schema, error));
  return cst__avro_encoder_bind(e->values, batch->view, error);
}

static cst_status put_record(cst_encoder *encoder, int64_t row, cst__back *back, cst_error *error) {
  record_encoder *e = (record_encoder *)encoder;
  e->row.size = 0;
  cst__text_append(&e->row, e->prefix, cst__avro_prefix_size(e->writing.framing));
  int64_t next = row;
  CST__TRY(cst__avro_encode_rows(e->values, &next, row + 1, SIZE_MAX, &e->row, error));
  if (!cst__back_room(back, e->row.size)) {
    return cst__fail_memory(error, e->row.size);
  }
  back->at -= e->row.size;
  cst__copy_exact(back->at, (const uint8_t *)e->row.data, e->row.size);
  return CST_OK;
}

static void free_encoder(cst_encoder *encoder) {
  record_encoder *e = (record_encoder *)encoder;
  cst__avro_encoder_free(e->values);
  cst__text_free(&e->row);
  cst__text_free(&e->given);
  cst__encoder_reset(encoder);
  cst__delete(e);
}

static const cst__encoder_type record_encoder_type = {.prepare = prepare_records,
                                                      .plan = plan_records,
                                                      .put_record = put_record,
                                                      .free = free_encoder};

static cst_status check_number(const cst__avro_record_writing *writing, cst_error *error) {
  bool has_number =
      writing->framing == CST__AVRO_CONFLUENT || writing->framing == CST__AVRO_APICURIO;
  if (has_number && writing->number == 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "pass avro_schema_id",
                     "the record prefix needs the schema id, which is not given");
  }
  if (!has_number && writing->number != 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "remove avro_schema_id, or set avro_framing",
                     "avro_schema_id is given, but the records have no prefix for it");
  }
  return writing->framing != CST__AVRO_CONFLUENT || writing->number <= UINT32_MAX
             ? CST_OK
             : cst__fail(error, CST_INVALID_ARGUMENT, NULL, "the schema id has more than 32 bits");
}

cst_status cst__avro_record_encoder_new(const cst__avro_record_writing *writing,
                                        const cst_encode_options *options, cst_encoder **out,
                                        cst_error *error) {
  CST__TRY(check_number(writing, error));
  record_encoder *e = cst__new_zero(options->allocator, sizeof *e);
  if (e == NULL) {
    return cst__fail_memory(error, sizeof *e);
  }
  cst_status status =
      cst__encoder_init(&e->base, &record_encoder_type, options->flags, options->allocator, error);
  if (status != CST_OK) {
    cst__delete(e);
    return status;
  }
  e->writing = *writing;
  e->row.allocator = e->given.allocator = e->base.allocator;
  cst__text_append(&e->given, writing->schema.data, writing->schema.size);
  if (e->given.failed) {
    free_encoder(&e->base);
    return cst__fail_memory(error, writing->schema.size);
  }
  *out = &e->base;
  return CST_OK;
}
