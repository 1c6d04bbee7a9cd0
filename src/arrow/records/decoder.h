/* What every decoder of records has in common, whose struct begins with it; and a call of one, with
 * records that lie anywhere: in memory that stays or does not, or in an Arrow array.
 */
#ifndef ARROW_RECORDS_DECODER_H
#define ARROW_RECORDS_DECODER_H

#include <columnstone/records.h>

#include "arrow/records/records.h"

/* A record that does not decode; the error has its number in the records. */
typedef void (*cst__bad_record_callback)(void *ctx, const cst_error *error);

typedef struct cst__decoder_type {
  /* With `views`, every record lies in one of the blocks. `error` is not NULL. Either output may be
   * NULL. Errors have the record's index and the path. */
  cst_status (*decode)(cst_decoder *decoder, const cst__records *records,
                       struct ArrowSchema *out_schema, struct ArrowArray *out, cst_error *error);
  /* As cst_decoder_arrow_schema. */
  cst_status (*arrow_schema)(const cst_decoder *decoder, struct ArrowSchema *out, cst_error *error);
  /* As cst__decoder_share. */
  cst_status (*share)(const cst_decoder *decoder, cst_decoder **out, cst_error *error);
  /* From now on a record that does not decode is a row of nulls, and told of. NULL: it cannot. */
  void (*on_bad)(cst_decoder *decoder, cst__bad_record_callback on_bad, void *ctx);
  void (*free)(cst_decoder *decoder);
} cst__decoder_type;

struct cst_decoder {
  const cst__decoder_type *type;
  bool views; /* the batches point into the records */
  const cst_allocator *allocator;
};

/* A decoder of the same columns, for another thread: it borrows what was compiled for `decoder`,
 * which decodes nothing from then on and has to outlive it. Any number of threads may do so at
 * once. The new decoder is not to be asked for schemas. *out is NULL where the columns come from
 * the data of each batch: then every thread makes a decoder anew. */
cst_status cst__decoder_share(const cst_decoder *decoder, cst_decoder **out, cst_error *error);

/* As cst_decoder_decode, for records whose surroundings are known: copies them first if views would
 * point at records that do not stay. */
cst_status cst__decoder_decode(cst_decoder *decoder, const cst__records *records,
                               struct ArrowSchema *out_schema, struct ArrowArray *out,
                               cst_error *error);

#endif /* ARROW_RECORDS_DECODER_H */
