/* Encoding record batches, into messages of whatever kind: looks at the batch, plans, writes its
 * rows from the last to the first, and hands the records out as one large_binary array.
 */
#ifndef ARROW_RECORDS_ENCODING_H
#define ARROW_RECORDS_ENCODING_H

#include <columnstone/example.h>

#include "arrow/records/back.h"
#include "arrow/view.h"

typedef struct cst__encoding cst__encoding;

/* An array that is looked at; its parts likewise. */
typedef struct cst__viewed {
  const cst__view *view;
  const struct ArrowSchema *schema;
  const struct ArrowArray *array;
} cst__viewed;

/* What differs from encoder to encoder, which begins with its cst__encoding. */
typedef struct cst__encoding_type {
  cst_status (*plan)(cst__encoding *encoder, const cst__viewed *batch, cst_error *error);
  /* Writes one record before what is there; leaves the length to the caller. */
  cst_status (*put_record)(cst__encoding *encoder, int64_t row, cst__back *back, cst_error *error);
} cst__encoding_type;

struct cst__encoding {
  const cst__encoding_type *type;
  cst_allocator allocator;
  bool lossy;
  bool trusted;
  cst__batch_pool *pool;
  cst__arena arena; /* views of the batch at hand */
};

/* All that there are. */
enum { CST__ALL_ENCODE_FLAGS = CST_ENCODE_LOSSY | CST_ENCODE_TRUSTED };

/* What an encoder is called with. */
cst_status cst__encoding_check(const void *encoder, const struct ArrowSchema *schema,
                               const struct ArrowArray *batch, const struct ArrowArray *out,
                               cst_error *error);

/* flags: CST_ENCODE_... The storage is zeroed; on failure nothing has to be reset. */
cst_status cst__encoding_init(cst__encoding *encoder, const cst__encoding_type *type,
                              uint32_t flags, const cst_allocator *allocator, cst_error *error);
void cst__encoding_reset(cst__encoding *encoder);

/* As cst_example_encoder_encode. */
cst_status cst__encoding_run(cst__encoding *encoder, const struct ArrowSchema *schema,
                             const struct ArrowArray *array, struct ArrowSchema *out_schema,
                             struct ArrowArray *out, cst_error *error);

#endif /* ARROW_RECORDS_ENCODING_H */
