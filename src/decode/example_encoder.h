/* The encoder of tf.Example, as the other rooms use it. */
#ifndef DECODE_EXAMPLE_ENCODER_H
#define DECODE_EXAMPLE_ENCODER_H

#include <columnstone/example.h>

/* As the public functions of the same name. */
cst_status cst__example_encoder_new(const cst_schema *schema, const cst_encode_options *options,
                                    cst_example_encoder **out, cst_error *error);
void cst__example_encoder_free(cst_example_encoder *encoder);
cst_status cst__example_encoder_encode(cst_example_encoder *encoder,
                                       const struct ArrowSchema *schema,
                                       const struct ArrowArray *batch,
                                       struct ArrowSchema *out_schema, struct ArrowArray *out,
                                       cst_error *error);

#endif /* DECODE_EXAMPLE_ENCODER_H */
