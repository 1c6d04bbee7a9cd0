/* A payload from outside the room: every record is text, in one column of UTF-8. What it takes is
 * a decoder, this entry, and one line that makes it known. Then plans, which the decoders of many
 * threads share. */
#include "format/payload/payload.h"

#include <columnstone/index.h>
#include <string.h>

#include "arrow/batch.h"
#include "arrow/type.h"
#include "base/utf8.h"
#include "format/registry.h"
#include "harness.h"

/* ---- the payload ---- */

typedef struct text_decoder {
  cst_decoder base; /* first */
  cst__batch_pool *pool;
} text_decoder;

static cst_status text_schema(const cst_decoder *decoder, struct ArrowSchema *out,
                              cst_error *error) {
  cst__type type = CST__TYPE_OF("text", "U");
  (void)decoder;
  return cst__types_export(&type, 1, out, error);
}

static cst_status check_text(const cst__records *records, cst_error *error) {
  for (size_t i = 0; i < records->count; i++) {
    if (!cst__utf8_valid(records->items[i].data, records->items[i].size)) {
      cst_status status = cst__fail(error, CST_CORRUPT, NULL, "the record is not UTF-8");
      cst__error_add_record(error, (int64_t)i, -1);
      return status;
    }
  }
  return CST_OK;
}

static cst_status fill_text(cst__batch *batch, const cst__records *records, struct ArrowArray *out,
                            cst_error *error) {
  static const size_t order[] = {0};
  static const char *const names[] = {"text"};
  const cst_allocator *allocator = cst__batch_pool_allocator(batch->pooled.pool);
  cst__column *column = &batch->columns[0];
  size_t total = 0;
  for (size_t i = 0; i < records->count; i++) {
    total += records->items[i].size;
  }
  if (!cst__buffer_reserve(allocator, &column->value_offsets, (records->count + 1) * 8, 0) ||
      !cst__buffer_reserve(allocator, &column->values, total, 0)) {
    return cst__fail_memory(error, total);
  }
  int64_t *ends = (int64_t *)(void *)column->value_offsets.data;
  ends[0] = 0;
  for (size_t i = 0; i < records->count; i++) {
    memcpy(column->values.data + ends[i], records->items[i].data, records->items[i].size);
    ends[i + 1] = ends[i] + (int64_t)records->items[i].size;
  }
  column->kind = CST__VALUES_BINARY;
  column->fixed_size = -1;
  column->flat = true;
  column->null_count = 0;
  column->num_values = (int64_t)records->count;
  return cst__batch_export(batch, (int64_t)records->count, order, (const char **)names, 1, out,
                           error);
}

static cst_status decode_text(cst_decoder *decoder, const cst__records *records,
                              struct ArrowSchema *out_schema, struct ArrowArray *out,
                              cst_error *error) {
  CHECK(out_schema == NULL); /* a source has it already */
  CST__TRY(check_text(records, error));
  if (out == NULL) {
    return CST_OK;
  }
  cst__batch *batch = cst__batch_take(((text_decoder *)decoder)->pool, 1);
  if (batch == NULL) {
    return cst__fail_memory(error, sizeof *batch);
  }
  cst_status status = fill_text(batch, records, out, error);
  if (status != CST_OK) {
    cst__batch_drop(batch);
  }
  return status;
}

static void free_text(cst_decoder *decoder) {
  cst__batch_pool_release(((text_decoder *)decoder)->pool);
  cst__delete(decoder);
}

static cst_status make_text(const cst_allocator *allocator, const cst__decoder_type *type,
                            cst_decoder **out, cst_error *error) {
  text_decoder *text = cst__new_zero(allocator, sizeof *text);
  if (text == NULL) {
    return cst__fail_memory(error, sizeof *text);
  }
  text->base = (cst_decoder){.type = type, .allocator = allocator};
  text->pool = cst__batch_pool_new(allocator);
  if (text->pool == NULL) {
    cst__delete(text);
    return cst__fail_memory(error, sizeof *text);
  }
  *out = &text->base;
  return CST_OK;
}

static cst_status share_text(const cst_decoder *decoder, cst_decoder **out, cst_error *error) {
  return make_text(decoder->allocator, decoder->type, out, error);
}

static const cst__decoder_type text_type = {
    .decode = decode_text, .arrow_schema = text_schema, .share = share_text, .free = free_text};

static cst_status new_text(const cst__payload_options *options, cst_decoder **out,
                           cst_error *error) {
  return make_text(options->allocator, &text_type, out, error);
}

/* Records of one column of text are its values. */
static cst_status new_text_encoder(const cst_encode_options *options, const void *format_options,
                                   cst_encoder **out, cst_error *error) {
  return cst__raw_payload.new_encoder(options, format_options, out, error);
}

static const cst__payload text_payload = {
    .name = "text",
    .types_from = CST__TYPES_FIXED,
    .can_fail = true,
    .new_decoder = new_text,
    .new_encoder = new_text_encoder,
};

/* ---- through a source ---- */

static const char *write_texts(const char *name, const char *const *texts, size_t count) {
  const char *path = harness_temp_path(name);
  cst_tfrecord_writer *writer;
  CHECK_EQ(cst_tfrecord_writer_open(path, NULL, &writer, NULL), CST_OK);
  for (size_t i = 0; i < count; i++) {
    CHECK_EQ(cst_tfrecord_writer_write(writer, texts[i], strlen(texts[i]), NULL), CST_OK);
  }
  CHECK_EQ(cst_tfrecord_writer_finish(writer, NULL), CST_OK);
  cst_tfrecord_writer_free(writer);
  return path;
}

static cst_source *open_texts(const char *path, cst_on_error on_error) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_source *source;
  cst__format_set_extra(&text_payload); /* the one line */
  options.format = "text";
  options.batch_size = 2;
  options.threads = 2;
  options.on_error = on_error;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
  CHECK_STR(cst_source_format(source), "text");
  cst__format_set_extra(NULL);
  return source;
}

TEST(a_payload_from_outside_is_read) {
  static const char *const texts[] = {"one", "", "tr\xc3\xa8s", "four", "five"};
  cst_source *source = open_texts(write_texts("texts.tfrecord", texts, 5), CST_ON_ERROR_RAISE);
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst_pass *pass;
  size_t row = 0;
  CHECK_EQ(cst_source_arrow_schema(source, &schema, NULL), CST_OK);
  CHECK_STR(schema.children[0]->format, "U");
  schema.release(&schema);
  CHECK_EQ(cst_pass_new(source, &pass, NULL), CST_OK);
  for (;;) {
    CHECK_EQ(cst_pass_next(pass, &batch, NULL), CST_OK);
    if (batch.release == NULL) {
      break;
    }
    const int64_t *ends = batch.children[0]->buffers[1];
    const char *values = batch.children[0]->buffers[2];
    for (int64_t i = 0; i < batch.length; i++, row++) {
      CHECK_EQ(ends[i + 1] - ends[i], strlen(texts[row]));
      CHECK_MEM(values + ends[i], texts[row], strlen(texts[row]));
    }
    batch.release(&batch);
  }
  cst_pass_free(pass);
  CHECK_EQ(row, 5);
  const uint64_t wanted[] = {3};
  CHECK_EQ(cst_source_take(source, wanted, 1, &batch, NULL), CST_OK);
  CHECK_MEM(batch.children[0]->buffers[2], "four", 4);
  batch.release(&batch);
  cst_source_release(source);
}

TEST(its_entry_gives_a_decoder_an_encoder_and_a_sink) {
  static const cst_bytes texts[] = {{(const uint8_t *)"one", 3}, {(const uint8_t *)"two", 3}};
  const char *path = harness_temp_path("written.tfrecord");
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  struct ArrowSchema schema;
  struct ArrowArray batch, records;
  cst_decoder *decoder;
  cst_encoder *encoder;
  cst_sink *sink;
  cst__format_set_extra(&text_payload);
  CHECK_EQ(cst_decoder_new("text", NULL, &decoder, NULL), CST_OK);
  CHECK_EQ(cst_encoder_new("text", NULL, &encoder, NULL), CST_OK);
  CHECK_EQ(cst_decoder_arrow_schema(decoder, &schema, NULL), CST_OK);
  CHECK_EQ(cst_decoder_decode(decoder, texts, 2, NULL, &batch, NULL), CST_OK);
  CHECK_EQ(cst_encoder_encode(encoder, &schema, &batch, NULL, &records, NULL), CST_OK);
  CHECK_MEM(records.buffers[2], "onetwo", 6);
  options.format = "text";
  CHECK_EQ(cst_sink_open(path, &schema, &options, &sink, NULL), CST_OK);
  CHECK_EQ(cst_sink_write(sink, &batch, NULL), CST_OK);
  CHECK_EQ(cst_sink_finish(sink, NULL), CST_OK);
  cst__format_set_extra(NULL);
  cst_sink_free(sink);
  cst_source *source = open_texts(path, CST_ON_ERROR_RAISE);
  const uint64_t wanted[] = {1};
  struct ArrowArray second;
  CHECK_EQ(cst_source_take(source, wanted, 1, &second, NULL), CST_OK);
  CHECK_MEM(second.children[0]->buffers[2], "two", 3);
  second.release(&second);
  cst_source_release(source);
  records.release(&records);
  batch.release(&batch);
  schema.release(&schema);
  cst_decoder_free(decoder);
  cst_encoder_free(encoder);
}

TEST(its_failures_have_a_place_and_can_be_skipped) {
  static const char *const texts[] = {"one", "not \xff text", "three"};
  const char *path = write_texts("bad.tfrecord", texts, 3);
  cst_source *source = open_texts(path, CST_ON_ERROR_SKIP);
  struct ArrowArray batch;
  cst_pass *pass;
  cst_findings *faults;
  CHECK_EQ(cst_source_verify(source, NULL, &faults, NULL, NULL), CST_OK);
  CHECK_EQ(cst_findings_total(faults, "num_faults"), 1);
  CHECK_STR(cst_findings_text(faults, "kind", 0), "record");
  CHECK_EQ(cst_findings_number(faults, "record", 0), 1);
  cst_findings_free(faults);
  CHECK_EQ(cst_pass_new(source, &pass, NULL), CST_OK);
  CHECK_EQ(cst_pass_next(pass, &batch, NULL), CST_OK);
  CHECK_EQ(batch.length, 2);
  batch.release(&batch);
  CHECK_EQ(cst_pass_next(pass, &batch, NULL), CST_OK);
  CHECK(batch.release == NULL);
  CHECK_EQ(cst_pass_dropped(pass), 1);
  cst_pass_free(pass);
  cst_schema *schema;
  CHECK_EQ(cst_source_infer(source, NULL, NULL, &schema, NULL), CST_OK); /* it has columns */
  CHECK_EQ(cst_schema_num_features(schema), 1);
  cst_schema_release(schema);
  cst_source_release(source);
}
