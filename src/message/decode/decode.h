/* Decoding messages of one type: a plan, compiled once and shared, and decoders of it, one per
 * thread.
 */
#ifndef MESSAGE_DECODE_DECODE_H
#define MESSAGE_DECODE_DECODE_H

#include <columnstone/message.h>

#include "arrow/records/decoder.h"
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

/* A decoder of the plan, which it counts. */
cst_status cst__message_decoder_open(cst__message_plan *plan, cst_decoder **out, cst_error *error);

#endif /* MESSAGE_DECODE_DECODE_H */
