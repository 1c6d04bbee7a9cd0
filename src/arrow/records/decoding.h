/* Decoding records that lie anywhere: in memory that stays or does not, or in an Arrow array. */
#ifndef ARROW_RECORDS_DECODING_H
#define ARROW_RECORDS_DECODING_H

#include "arrow/records/records.h"

/* A decoder of some message. */
typedef struct cst__decoding {
  void *self;
  /* With `views`, every record lies in one of the blocks. `error` is not NULL. */
  cst_status (*decode)(void *self, const cst__records *records, struct ArrowSchema *out_schema,
                       struct ArrowArray *out, cst_error *error);
  bool views; /* the batches point into the records */
  const cst_allocator *allocator;
} cst__decoding;

/* Decodes records; copies them first if views would point at records that do not stay. */
cst_status cst__decode_records(const cst__decoding *decoder, const cst__records *records,
                               struct ArrowSchema *out_schema, struct ArrowArray *out,
                               cst_error *error);

/* Decodes the records of an Arrow array of binary. With views and binary offsets, the batch keeps
 * the array alive: it is moved in on success. */
cst_status cst__decode_arrow(const cst__decoding *decoder, const struct ArrowSchema *schema,
                             struct ArrowArray *records, struct ArrowSchema *out_schema,
                             struct ArrowArray *out, cst_error *error);

#endif /* ARROW_RECORDS_DECODING_H */
