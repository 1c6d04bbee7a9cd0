/* Avro values as records: prefixes, tables of schemas, resolution, and encoding by a schema. */
#include <columnstone/records.h>
#include <string.h>

#include "arrow_text.h"
#include "avro/avro_framing.h"
#include "avro/avro_known.h"
#include "harness.h"

static const char v1[] =
    "{\"type\": \"record\", \"name\": \"E\", \"fields\": [{\"name\": \"id\", \"type\": \"int\"}]}";
static const char v2[] =
    "{\"type\": \"record\", \"name\": \"E\", \"fields\": [{\"name\": \"id\", \"type\": \"long\"},"
    "{\"name\": \"kind\", \"type\": {\"type\": \"enum\", \"name\": \"K\", \"symbols\": [\"A\", "
    "\"B\"]}, \"default\": \"B\"},"
    "{\"name\": \"what\", \"type\": [\"null\", \"string\", \"int\"], \"default\": null}]}";
static const char table[] =
    "{\"7\": {\"type\": \"record\", \"name\": \"E\", \"fields\": [{\"name\": \"id\", \"type\": "
    "\"int\"}]}, \"9\": \"\\\"long\\\"\"}";

static const uint8_t of_seven[] = {0, 0, 0, 0, 7, 0x0a};
static const uint8_t of_eight[] = {0, 0, 0, 0, 8, 0x0a};
static const uint8_t cut[] = {0, 0, 0, 0, 7};
static const uint8_t longer[] = {0, 0, 0, 0, 7, 0x0a, 0};

static const cst_option confluent[] = {
    {"avro_schema", v2, NULL}, {"avro_framing", "confluent", NULL}, {"avro_schemas", table, NULL}};

static cst_status decode(const cst_option *options, size_t num_options, cst_bytes record,
                         struct ArrowArray *out, cst_error *error) {
  cst_decode_options decoding = CST_DECODE_OPTIONS_INIT;
  cst_decoder *decoder;
  decoding.options = options;
  decoding.num_options = num_options;
  CST__TRY(cst_decoder_new("avro", &decoding, &decoder, error));
  cst_status status = cst_decoder_decode(decoder, &record, 1, NULL, out, error);
  cst_decoder_free(decoder);
  return status;
}

TEST(prefixes) {
  static const struct {
    cst__avro_framing framing;
    uint64_t id;
    uint8_t bytes[CST__AVRO_MOST_PREFIX];
  } rows[] = {
      {CST__AVRO_SINGLE_OBJECT, UINT64_C(0x0102030405060708), {0xc3, 0x01, 8, 7, 6, 5, 4, 3, 2, 1}},
      {CST__AVRO_CONFLUENT, 258, {0, 0, 0, 1, 2}},
      {CST__AVRO_APICURIO, 258, {0, 0, 0, 0, 0, 0, 0, 1, 2}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint8_t made[CST__AVRO_MOST_PREFIX] = {0};
    uint64_t id = 0;
    size_t size = cst__avro_prefix_size(rows[i].framing);
    cst__avro_prefix_write(rows[i].framing, rows[i].id, made);
    CHECK_MEM(made, rows[i].bytes, sizeof made);
    CHECK_EQ(cst__avro_prefix_read(rows[i].framing, (cst_bytes){made, size}, &id, NULL), CST_OK);
    CHECK_EQ(id, rows[i].id);
    CHECK_EQ(cst__avro_prefix_read(rows[i].framing, (cst_bytes){made, size - 1}, &id, NULL),
             CST_CORRUPT);
    made[0]++;
    CHECK_EQ(cst__avro_prefix_read(rows[i].framing, (cst_bytes){made, size}, &id, NULL),
             CST_CORRUPT);
  }
  CHECK_EQ(cst__avro_prefix_size(CST__AVRO_AUTO), 0);
}

TEST(tables) {
  cst__avro_known known = {.allocator = cst__default_allocator};
  const cst_bytes text = {(const uint8_t *)table, strlen(table)};
  CHECK_EQ(cst__avro_known_add_table(&known, text, NULL), CST_OK);
  CHECK_EQ(known.count, 2);
  CHECK_EQ(cst__avro_known_number(&known, 7), 0);
  CHECK_EQ(cst__avro_known_number(&known, 9), 1);
  CHECK_EQ(cst__avro_known_number(&known, 8), SIZE_MAX);
  CHECK_EQ(cst__avro_known_fingerprint(&known, known.items[1]->fingerprint), 1);
  cst__avro_known_reset(&known);
}

TEST(records_of_a_registry) {
  struct ArrowArray batch = {.release = NULL};
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(decode(confluent, 3, (cst_bytes){of_seven, sizeof of_seven}, &batch, &error), CST_OK);
  if (batch.release != NULL) {
    CHECK_EQ(batch.length, 1);
    CHECK_EQ(((const int64_t *)batch.children[0]->buffers[1])[0], 5);
    CHECK_EQ(((const int32_t *)batch.children[1]->buffers[1])[0], 1);
    CHECK_EQ(batch.children[2]->null_count, 1);
    batch.release(&batch);
  }
  CHECK_EQ(decode(confluent, 3, (cst_bytes){of_eight, sizeof of_eight}, &batch, &error),
           CST_SCHEMA);
  CHECK_CONTAINS(error.message, "unknown schema id 8");
  CHECK_EQ(decode(confluent, 3, (cst_bytes){cut, sizeof cut}, &batch, &error), CST_CORRUPT);
  CHECK_EQ(decode(confluent, 3, (cst_bytes){longer, sizeof longer}, &batch, &error), CST_CORRUPT);
  CHECK_CONTAINS(error.message, "trailing bytes after the value of a record");
  CHECK_EQ(decode(confluent, 0, (cst_bytes){cut, sizeof cut}, &batch, &error),
           CST_INVALID_ARGUMENT);
}

/* ---- back ---- */

typedef struct columns {
  struct ArrowSchema schema;
  struct ArrowArray array;
} columns;

static cst_status encode(const columns *from, const char *schema, struct ArrowArray *out,
                         cst_error *error) {
  const cst_option given[] = {{"avro_schema", schema, NULL}, {"avro_framing", "plain", NULL}};
  cst_encode_options options = CST_ENCODE_OPTIONS_INIT;
  cst_encoder *encoder;
  options.options = given;
  options.num_options = 2;
  CST__TRY(cst_encoder_new("avro", &options, &encoder, error));
  cst_status status = cst_encoder_encode(encoder, &from->schema, &from->array, NULL, out, error);
  cst_encoder_free(encoder);
  return status;
}

static void make_columns(columns *out) {
  arrow_text("struct{kind: string, id: int32, what: struct{int: int64, string: string}}",
             "{'A', 3, {5, null}} {'B', 4, {null, 'x'}} {'A', 5, null}", &out->schema, &out->array);
}

static void free_columns(columns *made) {
  ArrowSchemaRelease(&made->schema);
  ArrowArrayRelease(&made->array);
}

TEST(written_by_a_schema) {
  static const uint8_t expected[] = {6, 0, 4, 10, 8, 2, 2, 2, 'x', 10, 0, 0};
  columns made;
  struct ArrowArray records = {.release = NULL};
  make_columns(&made);
  CHECK_EQ(encode(&made, v2, &records, NULL), CST_OK);
  if (records.release != NULL) {
    CHECK_EQ(records.length, 3);
    CHECK_MEM(records.buffers[2], expected, sizeof expected);
    records.release(&records);
  }
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(encode(&made, v1, &records, &error), CST_SCHEMA);
  CHECK_STR(error.path, "kind");
  free_columns(&made);
}

/* ---- memory ---- */

static int decode_and_free(void *context) {
  struct ArrowArray batch = {.release = NULL};
  (void)context;
  cst_status status = decode(confluent, 3, (cst_bytes){of_seven, sizeof of_seven}, &batch, NULL);
  if (batch.release != NULL) {
    batch.release(&batch);
  }
  return (int)status;
}

static int encode_and_free(void *context) {
  struct ArrowArray records = {.release = NULL};
  cst_status status = encode(context, v2, &records, NULL);
  if (records.release != NULL) {
    records.release(&records);
  }
  return (int)status;
}

TEST(no_memory) {
  columns made;
  make_columns(&made);
  FOR_EACH_ALLOCATION_FAILURE(decode_and_free, NULL, CST_NO_MEMORY);
  FOR_EACH_ALLOCATION_FAILURE(encode_and_free, &made, CST_NO_MEMORY);
  free_columns(&made);
}
