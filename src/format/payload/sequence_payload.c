/* The payload "sequence_example": every record is a serialized tf.SequenceExample. */
#include "base/error.h"
#include "decode/sequence_decoder.h"
#include "format/payload/payload.h"

static cst_status open_sequence(const cst__payload_options *options, void **decoder,
                                cst_error *error) {
  cst__sequence_decoder_options own = {.sequence_column = options->sequence_column,
                                       .flags = options->column_flags,
                                       .columns = options->columns,
                                       .num_columns = options->num_columns,
                                       .reject_unknown = options->reject_unknown,
                                       .allocator = options->allocator};
  cst_sequence_decoder *sequence = NULL;
  CST__TRY(cst__sequence_decoder_new(options->schema, &own, &sequence, error));
  *decoder = sequence;
  return CST_OK;
}

static cst_status decode_sequence(void *decoder, const cst__records *records,
                                  struct ArrowSchema *out_schema, struct ArrowArray *out,
                                  cst_error *error) {
  return cst__sequence_decoder_decode(decoder, records, out_schema, out, error);
}

static void close_sequence(void *decoder) { cst__sequence_decoder_free(decoder); }

const cst__payload cst__sequence_payload = {
    .name = "sequence_example",
    .wants_schema = true,
    .open = open_sequence,
    .decode = decode_sequence,
    .close = close_sequence,
};
