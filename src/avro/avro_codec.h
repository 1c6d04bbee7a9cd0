/* The codecs of container files: how blocks are compressed.
 */
#ifndef AVRO_AVRO_CODEC_H
#define AVRO_AVRO_CODEC_H

#include "arrow/batch.h"

typedef struct cst__avro_inflater cst__avro_inflater;

typedef struct cst__avro_codec {
  const char *name; /* "deflate", ... */
  /* Inflates a block into inflater->out, behind which there is slack; NULL: it is plain. */
  cst_status (*inflate)(cst__avro_inflater *inflater, cst_bytes block, size_t *size,
                        cst_error *error);
  /* Compresses one into `room`; NULL: it is plain. */
  cst_status (*deflate)(const struct cst__avro_codec *codec, cst_bytes block, cst__text *room,
                        cst_error *error);
  const void *streams; /* a cst__codec, for those that are made of streams, */
  const void *encoder; /* and a cst__encoder */
} cst__avro_codec;

struct cst__avro_inflater {
  const cst__avro_codec *codec;
  cst_allocator allocator;
  cst__buffer out;
  void *state; /* of the stream; NULL: none yet */
  uint64_t max_inflation;
};

/* No name is "null". CST_UNSUPPORTED for one that is not known. */
cst_status cst__avro_codec_find(cst_bytes name, const cst__avro_codec **out, cst_error *error);

void cst__avro_inflater_init(cst__avro_inflater *inflater, const cst__avro_codec *codec,
                             uint64_t max_inflation, const cst_allocator *allocator);
void cst__avro_inflater_reset(cst__avro_inflater *inflater);

/* The bytes that a block becomes, valid until the next one. CST_LIMIT for too many of them. */
cst_status cst__avro_inflate(cst__avro_inflater *inflater, cst_bytes block, cst_bytes *out,
                             cst_error *error);

/* Compresses a block into `room`, where its bytes are then; one that is plain stays as it is. */
cst_status cst__avro_deflate(const cst__avro_codec *codec, cst_bytes *block, cst__text *room,
                             cst_error *error);

#endif /* AVRO_AVRO_CODEC_H */
