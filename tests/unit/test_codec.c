/* Decoders and encoders by the name of their payload: what each takes and refuses, and the records
 * of `raw`, which are what they were. */
#include <columnstone/format.h>
#include <columnstone/records.h>
#include <string.h>

#include "arrow_text.h"
#include "format/payload/payload.h"
#include "harness.h"
#include "message_sample.h"

/* ---- what there is ---- */

TEST(every_format_of_records_has_both) {
  cst_descriptors *descriptors = sample_descriptors();
  cst_message_options message = CST_MESSAGE_OPTIONS_INIT;
  const cst_format_info *info;
  message.descriptors = descriptors;
  message.message = "t.M";
  for (size_t i = 0; (info = cst_format_get(i)) != NULL; i++) {
    const bool is_message = strcmp(info->name, "message") == 0;
    const bool is_avro = strcmp(info->name, "avro") == 0; /* of files, and of records */
    const bool has_both = info->is_records || is_avro;
    const cst_option avro_schema = {"avro_schema", "\"int\"", NULL};
    cst_decode_options decoding = CST_DECODE_OPTIONS_INIT;
    cst_encode_options encoding = CST_ENCODE_OPTIONS_INIT;
    cst_decoder *decoder;
    cst_encoder *encoder;
    cst_error error = CST_ERROR_INIT;
    if (info->is_plugin) {
      continue;
    }
    decoding.message = encoding.message = is_message ? &message : NULL;
    decoding.options = &avro_schema;
    decoding.num_options = is_avro;
    const cst_status expected = has_both ? CST_OK : CST_UNSUPPORTED;
    CHECK_EQ(cst_decoder_new(info->name, &decoding, &decoder, &error), expected);
    CHECK_CONTAINS(error.hint, has_both ? "" : "cst_source_open_readers reads");
    CHECK_EQ(cst_encoder_new(info->name, &encoding, &encoder, &error), expected);
    CHECK((decoder != NULL) == has_both && (encoder != NULL) == has_both);
    cst_decoder_free(decoder);
    cst_encoder_free(encoder);
  }
  cst_descriptors_release(descriptors);
}

/* ---- what is refused ---- */

typedef struct refusal {
  const char *payload;
  bool schema;
  bool message;      /* described, without descriptors */
  cst_option option; /* name NULL: none */
  uint32_t flags;
  cst_status status;
  const char *said; /* in message or hint */
} refusal;

static const refusal refusals[] = {
    {"exampel", .status = CST_NOT_FOUND, .said = "did you mean 'example'?"},
    {"raw", .schema = true, .status = CST_INVALID_ARGUMENT, .said = "take no schema"},
    {"message", .schema = true, .status = CST_INVALID_ARGUMENT,
     .said = "remove the schema: descriptors define the types"},
    {"message", .status = CST_INVALID_ARGUMENT, .said = "with their descriptors"},
    {"message", .message = true, .status = CST_INVALID_ARGUMENT, .said = "with their descriptors"},
    {"example", .message = true, .status = CST_INVALID_ARGUMENT, .said = "name the format message"},
    {"raw", .message = true, .status = CST_INVALID_ARGUMENT, .said = "name the format message"},
    {"example", .option = {"sequence_column", "x", NULL}, .status = CST_INVALID_ARGUMENT,
     .said = "it belongs to the format sequence_example"},
    {"sequence_example", .option = {"sequence_colum", "x", NULL}, .status = CST_INVALID_ARGUMENT,
     .said = "did you mean 'sequence_column'?"},
    {"raw", .option = {"column", "x", NULL}, .status = CST_INVALID_ARGUMENT, .said = "it has none"},
    {"sequence_example", .option = {"sequence_column", NULL, NULL}, .status = CST_INVALID_ARGUMENT,
     .said = "no value"},
    {"example", .flags = 1U << 30, .status = CST_INVALID_ARGUMENT, .said = "flags"},
};

static void check_said(const refusal *r, const cst_error *error, const void *made) {
  CHECK(made == NULL);
  CHECK_EQ(error->code, r->status);
  CHECK_CONTAINS(strstr(error->hint, r->said) != NULL ? error->hint : error->message, r->said);
}

TEST(what_a_payload_does_not_take_is_not_ignored) {
  static const char text[] = "feature { name: 'a' type: INT }";
  static const cst_message_options message = CST_MESSAGE_OPTIONS_INIT;
  cst_schema *schema;
  CHECK_EQ(cst_schema_from_text(text, strlen(text), &schema, NULL), CST_OK);
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    const refusal *r = &refusals[i];
    cst_decode_options decoding = CST_DECODE_OPTIONS_INIT;
    cst_encode_options encoding = CST_ENCODE_OPTIONS_INIT;
    cst_decoder *decoder;
    cst_encoder *encoder;
    cst_error error = CST_ERROR_INIT;
    decoding.flags = encoding.flags = r->flags;
    decoding.schema = encoding.schema = r->schema ? schema : NULL;
    decoding.message = encoding.message = r->message ? &message : NULL;
    decoding.options = encoding.options = &r->option;
    decoding.num_options = encoding.num_options = r->option.name != NULL ? 1 : 0;
    (void)cst_decoder_new(r->payload, &decoding, &decoder, &error);
    check_said(r, &error, decoder);
    error = (cst_error)CST_ERROR_INIT;
    (void)cst_encoder_new(r->payload, &encoding, &encoder, &error);
    check_said(r, &error, encoder);
  }
  cst_schema_release(schema);
}

TEST(columns_that_a_payload_does_not_have) {
  static const char *const hints[] = {"leave fixed_size out", "leave nested out"};
  for (uint32_t i = 0; i < 2; i++) {
    cst_decode_options options = CST_DECODE_OPTIONS_INIT;
    cst_decoder *decoder;
    cst_error error = CST_ERROR_INIT;
    options.flags = i == 0 ? CST_COLUMNS_FIXED_SIZE : CST_COLUMNS_NESTED;
    CHECK_EQ(cst_decoder_new("raw", &options, &decoder, &error), CST_INVALID_ARGUMENT);
    CHECK_STR(error.hint, hints[i]);
  }
}

TEST(options_of_other_formats_are_left_out) {
  const cst_option options[] = {{"delimiter", ";", "csv"},
                                {"sequence_column", "steps", "sequence_example"}};
  static const char text[] =
      "feature { name: 'steps' type: STRUCT struct_domain { feature { name: 'a' type: INT } } }";
  cst_decode_options decoding = CST_DECODE_OPTIONS_INIT;
  cst_schema *schema;
  cst_decoder *decoder;
  struct ArrowSchema type;
  CHECK_EQ(cst_schema_from_text(text, strlen(text), &schema, NULL), CST_OK);
  decoding.schema = schema;
  decoding.options = options;
  decoding.num_options = 2;
  CHECK_EQ(cst_decoder_new("sequence_example", &decoding, &decoder, NULL), CST_OK);
  cst_schema_release(schema);
  CHECK_EQ(cst_decoder_arrow_schema(decoder, &type, NULL), CST_OK);
  CHECK_STR(type.children[0]->name, "steps");
  type.release(&type);
  cst_decoder_free(decoder);
}

/* ---- raw ---- */

static cst_status raw_round_trip(struct ArrowSchema *schema, struct ArrowArray *batch,
                                 uint32_t flags, struct ArrowSchema *out_schema,
                                 struct ArrowArray *out, cst_error *error) {
  cst_decode_options decoding = CST_DECODE_OPTIONS_INIT;
  cst_encoder *encoder = NULL;
  cst_decoder *decoder = NULL;
  struct ArrowSchema made;
  struct ArrowArray records = {.release = NULL};
  decoding.flags = flags;
  cst_status status = cst_encoder_new("raw", NULL, &encoder, error);
  if (status == CST_OK) {
    status = cst_encoder_encode(encoder, schema, batch, &made, &records, error);
  }
  cst_encoder_free(encoder);
  if (status != CST_OK) {
    return status;
  }
  status = cst_decoder_new("raw", &decoding, &decoder, error);
  if (status == CST_OK) {
    status = cst_decoder_decode_arrow(decoder, &made, &records, out_schema, out, error);
  }
  cst_decoder_free(decoder);
  made.release(&made);
  if (records.release != NULL) {
    records.release(&records);
  }
  return status;
}

TEST(raw_records_are_what_they_were) {
  static const char *const types[] = {"struct{x: binary}", "struct{x: string}"};
  static const char *const formats[] = {"Z", "z", "vz"};
  static const uint32_t flags[] = {0, CST_COLUMNS_OFFSETS_32, CST_COLUMNS_BINARY_VIEWS};
  for (size_t i = 0; i < 6; i++) {
    struct ArrowSchema schema, out_schema;
    struct ArrowArray batch, out;
    arrow_text(types[i % 2], "{'not seen'} {''} {'one'} {'a record longer than a view holds'}",
               &schema, &batch);
    batch.offset = 1;
    batch.length = 3;
    CHECK_EQ(raw_round_trip(&schema, &batch, flags[i / 2], &out_schema, &out, NULL), CST_OK);
    CHECK_EQ(out.length, 3);
    CHECK_STR(out_schema.children[0]->name, "record");
    CHECK_STR(out_schema.children[0]->format, formats[i / 2]);
    if (i / 2 == 0) {
      const int64_t *ends = out.children[0]->buffers[1];
      CHECK_EQ(ends[1], 0);
      CHECK_EQ(ends[2], 3);
      CHECK_MEM(out.children[0]->buffers[2], "onea record longer than a view holds", 36);
    }
    batch.release(&batch);
    schema.release(&schema);
    out.release(&out);
    out_schema.release(&out_schema);
  }
}

TEST(what_is_no_raw_record) {
  static const char *const batches[][3] = {
      {"struct{x: int64}", "{1}", "of another type"},
      {"struct{x: binary, y: binary}", "{'a', 'b'}", "there are 2 columns"},
      {"struct{x: binary}", "{'a'} {null}", "the record is null"},
  };
  for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
    struct ArrowSchema schema, out_schema;
    struct ArrowArray batch, out;
    cst_error error = CST_ERROR_INIT;
    arrow_text(batches[i][0], batches[i][1], &schema, &batch);
    CHECK_EQ(raw_round_trip(&schema, &batch, 0, &out_schema, &out, &error), CST_UNSUPPORTED);
    CHECK_CONTAINS(error.message, batches[i][2]);
    batch.release(&batch);
    schema.release(&schema);
  }
}

/* ---- memory ---- */

static int make_and_run(void *context) {
  struct ArrowSchema *schema = ((struct ArrowSchema **)context)[0];
  struct ArrowArray *batch = ((struct ArrowArray **)context)[1];
  struct ArrowSchema out_schema;
  struct ArrowArray out;
  const cst_option named = {.name = "sequence_column", .value = "steps"};
  cst_encode_options encoding = CST_ENCODE_OPTIONS_INIT;
  cst_encoder *encoder;
  encoding.options = &named;
  encoding.num_options = 1;
  cst_status status = cst_encoder_new("sequence_example", &encoding, &encoder, NULL);
  cst_encoder_free(encoder);
  if (status == CST_OK) {
    status = raw_round_trip(schema, batch, CST_COLUMNS_BINARY_VIEWS, &out_schema, &out, NULL);
  }
  if (status == CST_OK) {
    out.release(&out);
    out_schema.release(&out_schema);
  }
  return (int)status;
}

TEST(no_memory) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  void *context[] = {&schema, &batch};
  arrow_text("struct{x: binary}", "{'one'} {'a record longer than a view holds'}", &schema, &batch);
  FOR_EACH_ALLOCATION_FAILURE(make_and_run, context, CST_NO_MEMORY);
  batch.release(&batch);
  schema.release(&schema);
}
