/* Encoding record batches into records of whatever kind: looks at the batch, plans, writes its
 * rows from the last to the first, and hands the records out as one large_binary array.
 */
#ifndef ARROW_RECORDS_ENCODER_H
#define ARROW_RECORDS_ENCODER_H

#include <columnstone/records.h>

#include "arrow/records/back.h"
#include "arrow/view.h"

/* An array that is looked at; its parts likewise. */
typedef struct cst__viewed {
  const cst__view *view;
  const struct ArrowSchema *schema;
  const struct ArrowArray *array;
} cst__viewed;

/* What differs from encoder to encoder, whose struct begins with a cst_encoder. */
typedef struct cst__encoder_type {
  /* As cst__encoder_prepare. NULL: batches tell. */
  cst_status (*prepare)(cst_encoder *encoder, const struct ArrowSchema *schema, cst_error *error);
  cst_status (*plan)(cst_encoder *encoder, const cst__viewed *batch, cst_error *error);
  /* Writes one record before what is there; leaves the length to the caller. */
  cst_status (*put_record)(cst_encoder *encoder, int64_t row, cst__back *back, cst_error *error);
  void (*free)(cst_encoder *encoder);
} cst__encoder_type;

struct cst_encoder {
  const cst__encoder_type *type;
  cst_allocator allocator;
  bool lossy;
  bool trusted;
  cst__batch_pool *pool;
  cst__arena arena; /* views of the batch at hand */
};

/* All that there are. */
enum { CST__ALL_ENCODE_FLAGS = CST_ENCODE_LOSSY | CST_ENCODE_TRUSTED };

/* flags: CST_ENCODE_... The storage is zeroed; on failure nothing has to be reset. */
cst_status cst__encoder_init(cst_encoder *encoder, const cst__encoder_type *type, uint32_t flags,
                             const cst_allocator *allocator, cst_error *error);
void cst__encoder_reset(cst_encoder *encoder);

/* Whether records can hold columns of these types, before there are any rows: fails as the first
 * batch would, or not yet. */
cst_status cst__encoder_prepare(cst_encoder *encoder, const struct ArrowSchema *schema,
                                cst_error *error);

#endif /* ARROW_RECORDS_ENCODER_H */
