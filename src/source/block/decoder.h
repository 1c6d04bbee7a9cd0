/* The decoder of a source's records, for one of several purposes.
 */
#ifndef SOURCE_BLOCK_DECODER_H
#define SOURCE_BLOCK_DECODER_H

#include "format/payload/payload.h"
#include "source/input/source.h"

/* What a decoder of the source's payload is for. */
typedef enum cst__purpose {
  CST__FOR_COLUMNS, /* batches as the options say */
  CST__FOR_TYPES,   /* inference: all columns, of the types that the data have */
  CST__FOR_RECORDS, /* no columns, and no decoder: a pass gives its units' records as they are */
  CST__FOR_CHECK    /* verification: all columns, of the given schema if there is one */
} cst__purpose;

/* True if records that do not decode are rows of nulls. */
static inline bool cst__source_has_null_rows(const cst_source *source, cst__purpose purpose) {
  return purpose != CST__FOR_CHECK && source->options.values.on_error == CST_ON_ERROR_NULL;
}

/* The plan of the source's columns, bound once, when its schema is known. Borrowed. */
cst_status cst__source_plan(const cst_source *source, cst__record_plan **out, cst_error *error);

cst_status cst__source_open_decoder(const cst_source *source, cst__purpose purpose,
                                    cst__record_decoder **decoder, cst_error *error);

#endif /* SOURCE_BLOCK_DECODER_H */
