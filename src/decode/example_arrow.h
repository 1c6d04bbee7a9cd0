/* Decoding records that lie in an Arrow array. */
#ifndef DECODE_EXAMPLE_ARROW_H
#define DECODE_EXAMPLE_ARROW_H

#include "decode/example_decoder.h"

/* What decodes records: a decoder of any message. */
typedef cst_status cst__decode_records(void *decoder, const cst__records *records,
                                       struct ArrowSchema *out_schema, struct ArrowArray *out,
                                       cst_error *error);

/* The records of an Arrow array of binary through such a decoder. With `views` and binary offsets,
 * the batch keeps the array alive: it is moved in on success. */
cst_status cst__decode_arrow(cst__decode_records *decode, void *decoder, bool views,
                             const struct ArrowSchema *schema, struct ArrowArray *records,
                             struct ArrowSchema *out_schema, struct ArrowArray *out,
                             cst_error *error);

/* As cst_example_decoder_decode_arrow. */
cst_status cst__example_decode_arrow(cst_example_decoder *decoder, const struct ArrowSchema *schema,
                                     struct ArrowArray *records, struct ArrowSchema *out_schema,
                                     struct ArrowArray *out, cst_error *error);

#endif /* DECODE_EXAMPLE_ARROW_H */
