/* Serialized tf.Examples, tf.SequenceExamples and messages of any type as record batches, and back.
 */
#ifndef COLUMNSTONE_PYTHON_DECODE_H
#define COLUMNSTONE_PYTHON_DECODE_H

#include <columnstone/example.h>
#include <columnstone/message.h>
#include <columnstone/sequence.h>

#include "ext/base/base.h"

/* ---- the types ---- */

extern PyType_Spec cst__py_decoder_spec;
extern PyType_Spec cst__py_encoder_spec;
extern PyType_Spec cst__py_sequence_decoder_spec;
extern PyType_Spec cst__py_sequence_encoder_spec;
extern PyType_Spec cst__py_message_decoder_spec;
extern PyType_Spec cst__py_message_encoder_spec;

#endif /* COLUMNSTONE_PYTHON_DECODE_H */
