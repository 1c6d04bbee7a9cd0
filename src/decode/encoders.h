/* The encoders of tf.Example and tf.SequenceExample, as the other rooms use them: of record
 * batches, records. */
#ifndef DECODE_ENCODERS_H
#define DECODE_ENCODERS_H

#include <columnstone/records.h>

/* As cst_encoder_new, of the schema, the flags and the allocator in the options. */
cst_status cst__example_encoder_new(const cst_encode_options *options, cst_encoder **out,
                                    cst_error *error);
/* The column of feature lists has this name; NULL: CST_SEQUENCE_COLUMN. */
cst_status cst__sequence_encoder_new(const char *sequence_column, const cst_encode_options *options,
                                     cst_encoder **out, cst_error *error);

#endif /* DECODE_ENCODERS_H */
