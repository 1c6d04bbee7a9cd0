/* The payload "example": every record is a serialized tf.Example. */
#include "base/error.h"
#include "decode/example_decoder.h"
#include "format/payload/payload.h"

static cst_status open_example(const cst__payload_options *options, void **decoder,
                               cst_error *error) {
  cst__example_decoder_options own = {.flags = options->column_flags,
                                      .columns = options->columns,
                                      .num_columns = options->num_columns,
                                      .reject_unknown = options->reject_unknown,
                                      .allocator = options->allocator};
  cst_example_decoder *example = NULL;
  CST__TRY(cst__example_decoder_new(options->schema, &own, &example, error));
  *decoder = example;
  return CST_OK;
}

static cst_status decode_example(void *decoder, const cst__records *records,
                                 struct ArrowSchema *out_schema, struct ArrowArray *out,
                                 cst_error *error) {
  return cst__example_decoder_decode(decoder, records, out_schema, out, error);
}

static void close_example(void *decoder) { cst__example_decoder_free(decoder); }

const cst__payload cst__example_payload = {
    .name = "example",
    .wants_schema = true,
    .open = open_example,
    .decode = decode_example,
    .close = close_example,
};
