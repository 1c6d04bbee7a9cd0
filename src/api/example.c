/* <columnstone/example.h>: argument checks and hand-over. */
#include <columnstone/example.h>

#include "base/error.h"
#include "decode/example_arrow.h"
#include "decode/example_decoder.h"
#include "decode/example_encoder.h"

enum {
  ALL_COLUMN_FLAGS = CST_COLUMNS_OFFSETS_32 | CST_COLUMNS_BINARY_VIEWS | CST_COLUMNS_FIXED_SIZE,
  ALL_ENCODE_FLAGS = CST_ENCODE_LOSSY | CST_ENCODE_TRUSTED
};

static cst_status null_argument(cst_error *error, const char *name) {
  return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "argument `%s` is NULL", name);
}

static cst_status check_options(size_t size, size_t known, uint32_t flags, uint32_t all,
                                cst_error *error) {
  if (size != known) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "initialise the options with their _INIT macro",
                     "options.size is %zu, expected %zu", size, known);
  }
  if (flags & ~all) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "unknown flags 0x%x", flags & ~all);
  }
  return CST_OK;
}

cst_status cst_example_decoder_new(const cst_schema *schema, const cst_decode_options *options,
                                   cst_example_decoder **out, cst_error *error) {
  const cst_decode_options usual = CST_DECODE_OPTIONS_INIT;
  options = options != NULL ? options : &usual;
  if (out == NULL) {
    return null_argument(error, "out");
  }
  CST__TRY(check_options(options->size, sizeof usual, options->flags, ALL_COLUMN_FLAGS, error));
  for (size_t i = 0; options->columns != NULL && i < options->num_columns; i++) {
    if (options->columns[i] == NULL) {
      return null_argument(error, "columns[i]");
    }
  }
  cst__example_decoder_options inner = {.flags = options->flags,
                                        .columns = options->columns,
                                        .num_columns = options->num_columns,
                                        .allocator = options->allocator};
  return cst__example_decoder_new(schema, &inner, out, error);
}

void cst_example_decoder_free(cst_example_decoder *decoder) {
  cst__example_decoder_free(decoder);
}

cst_status cst_example_decoder_decode(cst_example_decoder *decoder, const cst_bytes *records,
                                      size_t count, struct ArrowSchema *out_schema,
                                      struct ArrowArray *out, cst_error *error) {
  if (decoder == NULL) {
    return null_argument(error, "decoder");
  }
  if (records == NULL && count > 0) {
    return null_argument(error, "records");
  }
  for (size_t i = 0; i < count; i++) {
    if (records[i].data == NULL && records[i].size > 0) {
      return null_argument(error, "records[i].data");
    }
  }
  cst__records all = {.items = records, .count = count};
  return cst__example_decoder_decode(decoder, &all, out_schema, out, error);
}

cst_status cst_example_decoder_decode_arrow(cst_example_decoder *decoder,
                                            const struct ArrowSchema *schema,
                                            struct ArrowArray *records,
                                            struct ArrowSchema *out_schema, struct ArrowArray *out,
                                            cst_error *error) {
  if (decoder == NULL || schema == NULL || records == NULL) {
    return null_argument(error, decoder == NULL ? "decoder" : schema == NULL ? "schema" : "records");
  }
  return cst__example_decode_arrow(decoder, schema, records, out_schema, out, error);
}

cst_status cst_example_decoder_arrow_schema(const cst_example_decoder *decoder,
                                            struct ArrowSchema *out, cst_error *error) {
  if (decoder == NULL || out == NULL) {
    return null_argument(error, decoder == NULL ? "decoder" : "out");
  }
  return cst__example_decoder_schema(decoder, out, error);
}

cst_status cst_example_encoder_new(const cst_schema *schema, const cst_encode_options *options,
                                   cst_example_encoder **out, cst_error *error) {
  const cst_encode_options usual = CST_ENCODE_OPTIONS_INIT;
  options = options != NULL ? options : &usual;
  if (out == NULL) {
    return null_argument(error, "out");
  }
  CST__TRY(check_options(options->size, sizeof usual, options->flags, ALL_ENCODE_FLAGS, error));
  return cst__example_encoder_new(schema, options, out, error);
}

void cst_example_encoder_free(cst_example_encoder *encoder) {
  cst__example_encoder_free(encoder);
}

cst_status cst_example_encoder_encode(cst_example_encoder *encoder,
                                      const struct ArrowSchema *schema,
                                      const struct ArrowArray *batch,
                                      struct ArrowSchema *out_schema, struct ArrowArray *out,
                                      cst_error *error) {
  if (encoder == NULL || schema == NULL || batch == NULL || out == NULL) {
    return null_argument(error, encoder == NULL  ? "encoder"
                                : schema == NULL ? "schema"
                                : batch == NULL  ? "batch"
                                                 : "out");
  }
  return cst__example_encoder_encode(encoder, schema, batch, out_schema, out, error);
}
