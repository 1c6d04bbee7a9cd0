/* What every encoder does: looks at the batch, plans, writes its rows from the last to the first,
 * and hands the records out as one large_binary array.
 */
#ifndef DECODE_ENCODER_H
#define DECODE_ENCODER_H

#include <columnstone/example.h>

#include "decode/entry_writer.h"

typedef struct cst__encoder cst__encoder;

/* What differs from encoder to encoder, which begins with its cst__encoder. */
typedef struct cst__encoder_type {
  cst_status (*plan)(cst__encoder *encoder, const cst__view *batch, cst_error *error);
  /* Writes one record before what is there; leaves the length to the caller. */
  cst_status (*put_record)(const cst__encoder *encoder, int64_t row, cst__back *back,
                           cst_error *error);
} cst__encoder_type;

struct cst__encoder {
  const cst__encoder_type *type;
  cst_allocator allocator;
  cst_schema *schema; /* NULL: types are not checked */
  bool lossy;
  bool trusted;
  cst__batch_pool *pool;
  cst__arena arena; /* views of the batch at hand */
};

/* flags: CST_ENCODE_... The storage is zeroed; on failure nothing has to be reset. */
cst_status cst__encoder_init(cst__encoder *encoder, const cst__encoder_type *type,
                             const cst_schema *schema, uint32_t flags,
                             const cst_allocator *allocator, cst_error *error);
void cst__encoder_reset(cst__encoder *encoder);

/* As cst_example_encoder_encode. */
cst_status cst__encoder_run(cst__encoder *encoder, const struct ArrowSchema *schema,
                            const struct ArrowArray *array, struct ArrowSchema *out_schema,
                            struct ArrowArray *out, cst_error *error);

#endif /* DECODE_ENCODER_H */
