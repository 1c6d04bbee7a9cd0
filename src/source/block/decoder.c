/* Opening decoders. */
#include "source/block/decoder.h"

cst_status cst__source_open_decoder(const cst_source *source, cst__purpose purpose,
                                    cst__record_decoder **decoder, cst_error *error) {
  const cst__reading_options *from = &source->options;
  cst__payload_options options = {.sequence_column = from->format.sequence_column,
                                  .allocator = &source->allocator};
  if (purpose == CST__FOR_CHECK) {
    options.schema = from->columns.schema;
  }
  if (purpose == CST__FOR_COLUMNS) {
    options.schema = cst__source_known_schema(source);
    options.columns = from->columns.names;
    options.num_columns = from->columns.count;
    options.column_flags = from->columns.flags;
    options.reject_unknown = source->found.sampled;
    options.raw_column = from->format.raw_column;
  }
  return cst__record_decoder_open(source->inputs->format.payload, &options, decoder, error);
}
