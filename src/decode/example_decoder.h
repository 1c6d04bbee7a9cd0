/* The decoder of tf.Example, as the other rooms use it: records in, one record batch out.
 *
 * Flow: example_decoder.c plans the columns and owns the batches; example_loop.c walks the bytes of
 * the usual layout (compiled once per instruction set); example_slow.c takes every other layout
 * that protobuf allows.
 */
#ifndef DECODE_EXAMPLE_DECODER_H
#define DECODE_EXAMPLE_DECODER_H

#include <columnstone/arrow_abi.h>
#include <columnstone/example.h>

#include "decode/records.h"

/* Which loop walks the bytes; all of them do the same, tests compare them. */
typedef enum cst__loop_choice {
  CST__LOOP_BEST, /* for this machine */
  CST__LOOP_BASE, /* the portable one */
  CST__LOOP_SLOW  /* nothing but the rare cases' way */
} cst__loop_choice;

typedef struct cst__example_decoder_options {
  uint32_t flags;             /* CST_COLUMNS_... */
  const char *const *columns; /* NULL: all */
  size_t num_columns;
  bool reject_unknown; /* with a schema: a feature that it does not have is CST_SCHEMA */
  cst__loop_choice loop;
  const cst_allocator *allocator;
} cst__example_decoder_options;

/* As cst_example_decoder_new. */
cst_status cst__example_decoder_new(const cst_schema *schema,
                                    const cst__example_decoder_options *options,
                                    cst_example_decoder **out, cst_error *error);
void cst__example_decoder_free(cst_example_decoder *decoder);

/* As cst_example_decoder_decode, for records whose surroundings are known. With views and no
 * blocks, the records are copied first. Errors have the record's index and the feature's path. */
cst_status cst__example_decoder_decode(cst_example_decoder *decoder, const cst__records *records,
                                       struct ArrowSchema *out_schema, struct ArrowArray *out,
                                       cst_error *error);
/* True if the batches have zero-copy views. */
bool cst__example_decoder_views(const cst_example_decoder *decoder);
cst_status cst__example_decoder_schema(const cst_example_decoder *decoder, struct ArrowSchema *out,
                                       cst_error *error);

#endif /* DECODE_EXAMPLE_DECODER_H */
