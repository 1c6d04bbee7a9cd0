/* The decoder of tf.SequenceExample, as the other rooms use it: records in, one record batch out.
 *
 * Flow: sequence_decoder.c plans the columns and owns the batch of feature lists; the context is a
 * decoder of tf.Example; sequence_loop.c walks the bytes of the usual layout (compiled once per
 * instruction set); sequence_slow.c takes every other layout that protobuf allows.
 */
#ifndef DECODE_SEQUENCE_DECODER_H
#define DECODE_SEQUENCE_DECODER_H

#include <columnstone/records.h>

#include "decode/example_decoder.h"

typedef struct cst__sequence_decoder_options {
  const char *sequence_column; /* NULL: CST_SEQUENCE_COLUMN */
  uint32_t flags;              /* CST_COLUMNS_... (fixed sizes are those of the context) */
  const char *const *columns;  /* NULL: all */
  size_t num_columns;
  bool reject_unknown; /* with a schema: a feature or list that it does not have is CST_SCHEMA */
  cst__loop_choice loop;
  const cst_allocator *allocator;
} cst__sequence_decoder_options;

/* As cst_decoder_new. */
cst_status cst__sequence_decoder_new(const cst_schema *schema,
                                     const cst__sequence_decoder_options *options,
                                     cst_decoder **out, cst_error *error);

#endif /* DECODE_SEQUENCE_DECODER_H */
