/* <columnstone/sequence.h>: argument checks and hand-over. */
#include <columnstone/sequence.h>

#include "arrow/records/encoding.h"
#include "base/arguments.h"
#include "decode/sequence_decoder.h"
#include "decode/sequence_encoder.h"

static cst_status read_sequence_options(cst_sequence_options *own,
                                        const cst_sequence_options *options, uint32_t all_flags,
                                        cst_error *error) {
  CST__TRY(cst__read_options(own, sizeof *own, options, error));
  CST__TRY(cst__check_allocator(own->allocator, error));
  CST__TRY(cst__check_flags(own->flags, all_flags, error));
  return cst__check_columns(own->columns, own->num_columns, error);
}

cst_status cst_sequence_decoder_new(const cst_schema *schema, const cst_sequence_options *options,
                                    cst_sequence_decoder **out, cst_error *error) {
  CST__CLEAR(out);
  cst_sequence_options own = CST_SEQUENCE_OPTIONS_INIT;
  if (out == NULL) {
    return cst__missing("out", error);
  }
  CST__TRY(read_sequence_options(&own, options, CST__RECORD_COLUMN_FLAGS, error));
  cst__sequence_decoder_options inner = {.sequence_column = own.sequence_column,
                                         .flags = own.flags,
                                         .columns = own.columns,
                                         .num_columns = own.num_columns,
                                         .allocator = own.allocator};
  return cst__sequence_decoder_new(schema, &inner, out, error);
}

void cst_sequence_decoder_free(cst_sequence_decoder *decoder) {
  cst__sequence_decoder_free(decoder);
}

cst_status cst_sequence_decoder_decode(cst_sequence_decoder *decoder, const cst_bytes *records,
                                       size_t count, struct ArrowSchema *out_schema,
                                       struct ArrowArray *out, cst_error *error) {
  CST__CLEAR(out_schema);
  CST__CLEAR(out);
  CST__TRY(cst__records_check(decoder, records, count, error));
  cst__records all = {.items = records, .count = count};
  return cst__sequence_decoder_decode(decoder, &all, out_schema, out, error);
}

cst_status cst_sequence_decoder_decode_arrow(cst_sequence_decoder *decoder,
                                             const struct ArrowSchema *schema,
                                             struct ArrowArray *records,
                                             struct ArrowSchema *out_schema, struct ArrowArray *out,
                                             cst_error *error) {
  CST__CLEAR(out_schema);
  CST__CLEAR(out);
  if (decoder == NULL || schema == NULL || records == NULL) {
    return cst__missing(decoder == NULL ? "decoder" : schema == NULL ? "schema" : "records", error);
  }
  return cst__sequence_decode_arrow(decoder, schema, records, out_schema, out, error);
}

cst_status cst_sequence_decoder_arrow_schema(const cst_sequence_decoder *decoder,
                                             struct ArrowSchema *out, cst_error *error) {
  CST__CLEAR(out);
  if (decoder == NULL || out == NULL) {
    return cst__missing(decoder == NULL ? "decoder" : "out", error);
  }
  return cst__sequence_decoder_schema(decoder, out, error);
}

/* ---- back ---- */

cst_status cst_sequence_encoder_new(const cst_schema *schema, const cst_sequence_options *options,
                                    cst_sequence_encoder **out, cst_error *error) {
  CST__CLEAR(out);
  cst_sequence_options own = CST_SEQUENCE_OPTIONS_INIT;
  if (out == NULL) {
    return cst__missing("out", error);
  }
  CST__TRY(read_sequence_options(&own, options, CST__ALL_ENCODE_FLAGS, error));
  return cst__sequence_encoder_new(schema, &own, out, error);
}

void cst_sequence_encoder_free(cst_sequence_encoder *encoder) {
  cst__sequence_encoder_free(encoder);
}

cst_status cst_sequence_encoder_encode(cst_sequence_encoder *encoder,
                                       const struct ArrowSchema *schema,
                                       const struct ArrowArray *batch,
                                       struct ArrowSchema *out_schema, struct ArrowArray *out,
                                       cst_error *error) {
  CST__CLEAR(out_schema);
  CST__CLEAR(out);
  CST__TRY(cst__encoding_check(encoder, schema, batch, out, error));
  return cst__sequence_encoder_encode(encoder, schema, batch, out_schema, out, error);
}
