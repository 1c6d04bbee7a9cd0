/* The payload "sequence_example": every record is a serialized tf.SequenceExample. */
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "decode/encoders.h"
#include "decode/sequence_decoder.h"
#include "format/payload/payload.h"
#include "proto/wire.h"

static const cst__option sequence_options[] = {
    {.info = {.name = "sequence_column",
              .kind = CST_OPTION_TEXT,
              .usual = CST_SEQUENCE_COLUMN,
              .help = "column with the feature lists (" CST_SEQUENCE_COLUMN ")",
              .reads = true,
              .writes = true},
     .offset = offsetof(cst__sequence_settings, column)},
};

const cst__option_table cst__sequence_option_table = {.owner = "sequence_example",
                                                      .options = sequence_options,
                                                      .count = 1,
                                                      .stride = sizeof *sequence_options,
                                                      .size = sizeof(cst__sequence_settings)};

static cst_status new_sequence(const cst__payload_options *options, cst_decoder **out,
                               cst_error *error) {
  const cst__sequence_settings *settings = options->format_options;
  cst__sequence_decoder_options own = {
      .sequence_column = settings != NULL ? settings->column : NULL,
      .flags = options->column_flags,
      .columns = options->columns,
      .num_columns = options->num_columns,
      .reject_unknown = options->reject_unknown,
      .allocator = options->allocator};
  return cst__sequence_decoder_new(options->schema, &own, out, error);
}

static cst_status new_sequence_encoder(const cst_encode_options *options,
                                       const void *format_options, cst_encoder **out,
                                       cst_error *error) {
  const cst__sequence_settings *settings = format_options;
  return cst__sequence_encoder_new(settings != NULL ? settings->column : NULL, options, out, error);
}

/* tensorflow/core/example/example.proto: an Example has the field 1 only, a SequenceExample with
 * feature lists the field 2 as well. */
static bool is_sequence(cst_bytes record) {
  cst__wire wire = cst__wire_of(record.data, record.size);
  bool lists = false;
  uint64_t tag;
  uint64_t size;
  while (cst__wire_varint(&wire, &tag) && cst__wire_varint(&wire, &size)) {
    uint64_t number = tag >> 3;
    if ((tag & 7) != CST__WIRE_LEN) {
      break;
    }
    if (number != 1 && number != 2) {
      return false;
    }
    lists = lists || number == 2;
    size_t rest = (size_t)(wire.end - wire.at); /* the field may end after the first bytes */
    wire.at += size < rest ? size : rest;
  }
  return lists;
}

/* A struct column of the name that the options tell. */
static bool is_of_sequences(const struct ArrowSchema *schema, const cst_option *options,
                            size_t num_options) {
  const char *name = cst__option_given(options, num_options, "sequence_example", "sequence_column");
  name = name != NULL ? name : CST_SEQUENCE_COLUMN;
  for (int64_t i = 0; i < schema->n_children; i++) {
    const struct ArrowSchema *column = schema->children[i];
    if (column->name != NULL && strcmp(column->name, name) == 0) {
      return strcmp(column->format, "+s") == 0;
    }
  }
  return false;
}

const cst__payload cst__sequence_payload = {
    .name = "sequence_example",
    .types_from = CST__TYPES_OF_DATA,
    .can_fail = true,
    .column_flags = CST__RECORD_COLUMN_FLAGS,
    .sniff = is_sequence,
    .new_decoder = new_sequence,
    .new_encoder = new_sequence_encoder,
    .matches = is_of_sequences,
};
