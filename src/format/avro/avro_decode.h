/* Blocks to rows: by one thread, which has the builders of the columns and the steps that fill
 * them.
 */
#ifndef FORMAT_AVRO_AVRO_DECODE_H
#define FORMAT_AVRO_AVRO_DECODE_H

#include "avro/avro_codec.h"
#include "avro/avro_program.h"
#include "format/avro/avro_walk.h"

typedef struct cst__avro_decoder {
  const cst__avro_plan *plan;
  cst__table_drop drop; /* NULL: damage is a failure */
  void *drop_ctx;
  cst__batch_builder *batch;
  const char *name;           /* of the file */
  cst__avro_written *written; /* what the program reads; NULL: there is none yet */
  cst__avro_program program;
  cst__avro_inflater inflater;
  cst__avro_block block;
  int64_t left;   /* values of the block that are still to be read */
  int64_t record; /* number of the next one; -1: not known */
  cst__avro_loop loop;
} cst__avro_decoder;

/* The decoder is zero, or the caller's to reset, also after a failure. */
cst_status cst__avro_decoder_init(cst__avro_decoder *decoder, const cst__avro_plan *plan,
                                  cst__table_drop drop, void *drop_ctx, cst_error *error);
void cst__avro_decoder_reset(cst__avro_decoder *decoder);

/* Goes on with blocks of this file, whose next record has this number. CST_SCHEMA if its schema
 * cannot be read as the plan's. */
cst_status cst__avro_decoder_enter(cst__avro_decoder *decoder, const cst__avro_opened *opened,
                                   int64_t record, cst_error *error);
/* Goes on with this block, of which nothing is left afterwards if it is damaged and dropped. */
cst_status cst__avro_decoder_begin(cst__avro_decoder *decoder, const cst__avro_block *block,
                                   cst_error *error);
/* Appends values of the block, up to `most`; less where one is dropped. After a failure the values
 * before it are there. */
cst_status cst__avro_decoder_take(cst__avro_decoder *decoder, int64_t most, cst_error *error);
/* Drops a stretch of the file that is no block. */
cst_status cst__avro_decoder_lose(cst__avro_decoder *decoder, const cst__avro_block *lost,
                                  const cst_error *why, cst_error *error);
static inline int64_t cst__avro_decoder_rows(const cst__avro_decoder *decoder) {
  return decoder->batch->root->length;
}

#endif /* FORMAT_AVRO_AVRO_DECODE_H */
