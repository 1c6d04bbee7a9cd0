/* The payload "example": every record is a serialized tf.Example. */
#include "base/error.h"
#include "decode/encoders.h"
#include "decode/example_decoder.h"
#include "format/payload/payload.h"
#include "proto/wire.h"

static cst_status new_example(const cst__payload_options *options, cst_decoder **out,
                              cst_error *error) {
  cst__example_decoder_options own = {.flags = options->column_flags,
                                      .columns = options->columns,
                                      .num_columns = options->num_columns,
                                      .reject_unknown = options->reject_unknown,
                                      .allocator = options->allocator};
  return cst__example_decoder_new(options->schema, &own, out, error);
}

static cst_status new_example_encoder(const cst_encode_options *options, const void *format_options,
                                      cst_encoder **out, cst_error *error) {
  (void)format_options;
  return cst__example_encoder_new(options, out, error);
}

/* tensorflow/core/example/example.proto: an Example has the field 1 only, its features. */
static bool is_example(cst_bytes record) {
  cst__wire wire = cst__wire_of(record.data, record.size);
  bool seen = false;
  uint64_t tag;
  uint64_t size;
  while (cst__wire_varint(&wire, &tag) && cst__wire_varint(&wire, &size)) {
    if (tag != (1 << 3 | CST__WIRE_LEN)) {
      return false;
    }
    size_t rest = (size_t)(wire.end - wire.at); /* the field may end after the first bytes */
    wire.at += size < rest ? size : rest;
    seen = true;
  }
  return seen;
}

/* A sound message none of whose fields is that of an Example's features. */
static bool is_other_message(cst_bytes record) {
  cst__wire wire = cst__wire_of(record.data, record.size);
  cst__wire_field field;
  while (cst__wire_next(&wire, CST__DEPTH_LIMIT, &field)) {
    if (field.number == 1 && field.type == CST__WIRE_LEN) {
      return false;
    }
  }
  return record.size > 0 && wire.fault == CST__WIRE_FAULT_NONE;
}

const cst__payload cst__example_payload = {
    .name = "example",
    .types_from = CST__TYPES_OF_DATA,
    .can_fail = true,
    .column_flags = CST__ALL_COLUMN_FLAGS,
    .sniff = is_example,
    .is_foreign = is_other_message,
    .new_decoder = new_example,
    .new_encoder = new_example_encoder,
};
