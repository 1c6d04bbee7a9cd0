/* Decoding records that lie in an Arrow array. */
#ifndef DECODE_EXAMPLE_ARROW_H
#define DECODE_EXAMPLE_ARROW_H

#include "decode/example_decoder.h"

/* As cst_example_decoder_decode_arrow. */
cst_status cst__example_decode_arrow(cst_example_decoder *decoder, const struct ArrowSchema *schema,
                                     struct ArrowArray *records, struct ArrowSchema *out_schema,
                                     struct ArrowArray *out, cst_error *error);

#endif /* DECODE_EXAMPLE_ARROW_H */
