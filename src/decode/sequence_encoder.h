/* The encoder of tf.SequenceExample, as the other rooms use it. */
#ifndef DECODE_SEQUENCE_ENCODER_H
#define DECODE_SEQUENCE_ENCODER_H

#include <columnstone/sequence.h>

/* As the public functions of the same name. */
cst_status cst__sequence_encoder_new(const cst_schema *schema, const cst_sequence_options *options,
                                     cst_sequence_encoder **out, cst_error *error);
void cst__sequence_encoder_free(cst_sequence_encoder *encoder);
cst_status cst__sequence_encoder_encode(cst_sequence_encoder *encoder,
                                        const struct ArrowSchema *schema,
                                        const struct ArrowArray *batch,
                                        struct ArrowSchema *out_schema, struct ArrowArray *out,
                                        cst_error *error);

#endif /* DECODE_SEQUENCE_ENCODER_H */
