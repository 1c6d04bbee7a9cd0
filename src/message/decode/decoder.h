/* Decoding messages of one type: a plan, compiled once and shared, and decoders of it, one per
 * thread.
 */
#ifndef MESSAGE_DECODE_DECODER_H
#define MESSAGE_DECODE_DECODER_H

#include <columnstone/message.h>

#include "arrow/records/records.h"
#include "arrow/type.h"

typedef struct cst__message_plan cst__message_plan; /* immutable and counted */

typedef struct cst__message_plan_options {
  const cst_message_options *message;
  const char *const *columns; /* paths; NULL: all */
  size_t num_columns;
  uint32_t column_flags; /* CST_COLUMNS_OFFSETS_32, CST_COLUMNS_BINARY_VIEWS */
  bool nullable_columns; /* all columns are nullable, as rows of bad records need it */
  const cst_allocator *allocator;
} cst__message_plan_options;

/* Copies or counts what the options point to. */
cst_status cst__message_plan_new(const cst__message_plan_options *options, cst__message_plan **out,
                                 cst_error *error);
cst__message_plan *cst__message_plan_retain(cst__message_plan *plan);
void cst__message_plan_release(cst__message_plan *plan); /* NULL is allowed */
/* The type of all batches, a struct; borrowed. */
const cst__type *cst__message_plan_type(const cst__message_plan *plan);

/* A record that does not decode; the error has its number in `records`. */
typedef void (*cst__bad_record_callback)(void *ctx, const cst_error *error);

cst_status cst__message_decoder_open(cst__message_plan *plan, cst_message_decoder **out,
                                     cst_error *error);
/* From now on a bad record is a row of nulls, and told of; the plan has nullable columns. */
void cst__message_decoder_on_bad(cst_message_decoder *decoder, cst__bad_record_callback on_bad,
                                 void *ctx);
/* As cst_example_decoder_decode. */
cst_status cst__message_decoder_decode(cst_message_decoder *decoder, const cst__records *records,
                                       struct ArrowSchema *out_schema, struct ArrowArray *out,
                                       cst_error *error);

#endif /* MESSAGE_DECODE_DECODER_H */
