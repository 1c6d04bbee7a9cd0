/* Decoding records that lie anywhere: in memory that stays or does not, or in an Arrow array. */
#ifndef DECODE_MESSAGE_DECODER_H
#define DECODE_MESSAGE_DECODER_H

#include "decode/records.h"

/* A decoder of some message. */
typedef struct cst__message_decoder {
  void *self;
  /* With `views`, every record lies in one of the blocks. `error` is not NULL. */
  cst_status (*decode)(void *self, const cst__records *records, struct ArrowSchema *out_schema,
                       struct ArrowArray *out, cst_error *error);
  bool views; /* the batches point into the records */
  const cst_allocator *allocator;
} cst__message_decoder;

/* Decodes records; copies them first if views would point at records that do not stay. */
cst_status cst__decode_records(const cst__message_decoder *decoder, const cst__records *records,
                               struct ArrowSchema *out_schema, struct ArrowArray *out,
                               cst_error *error);

/* Decodes the records of an Arrow array of binary. With views and binary offsets, the batch keeps
 * the array alive: it is moved in on success. */
cst_status cst__decode_arrow(const cst__message_decoder *decoder, const struct ArrowSchema *schema,
                             struct ArrowArray *records, struct ArrowSchema *out_schema,
                             struct ArrowArray *out, cst_error *error);

#endif /* DECODE_MESSAGE_DECODER_H */
