/* Record batches to container files of Avro. The marker between blocks is made of the schema, so
 * that the same rows are the same bytes. */
#include <string.h>

#include "avro/avro_bytes.h"
#include "avro/avro_codec.h"
#include "avro/avro_encode.h"
#include "base/bytes.h"
#include "base/sha256.h"
#include "format/avro/avro_options.h"
#include "format/sink/sink_format.h"

enum { SYNC = 16, USUAL_BLOCK = 64 << 10 };

typedef struct avro_sink {
  cst_allocator allocator;
  cst__output *output;              /* lent */
  const struct ArrowSchema *schema; /* borrowed */
  cst__arena arena;                 /* the views of one batch */
  cst__avro_encoder *encoder;
  const cst__avro_codec *codec;
  size_t block_size;
  cst__text block; /* values that are not written yet, */
  int64_t count;   /* and how many they are */
  cst__text out;
  uint8_t sync[SYNC];
} avro_sink;

static void avro_free(void *ptr) {
  avro_sink *sink = ptr;
  cst__arena_reset(&sink->arena);
  cst__avro_encoder_free(sink->encoder);
  cst__text_free(&sink->block);
  cst__text_free(&sink->out);
  cst__delete(sink);
}

static cst_status write_out(avro_sink *sink, cst_error *error) {
  size_t size = sink->out.size;
  sink->out.size = 0;
  return sink->out.failed ? cst__fail_memory(error, size)
                          : cst__output_write(sink->output, sink->out.data, size, error);
}

static void put_sized(cst__text *out, cst_bytes bytes) {
  cst__avro_put_long(out, (int64_t)bytes.size);
  cst__text_append(out, bytes.data, bytes.size);
}

static cst_status write_header(avro_sink *sink, cst_error *error) {
  uint8_t digest[CST__SHA256_SIZE];
  cst_bytes schema = cst__avro_encoder_schema(sink->encoder);
  cst__sha256(schema.data, schema.size, digest);
  memcpy(sink->sync, digest, SYNC);
  cst__text_append(&sink->out, "Obj\1\4", 5);
  put_sized(&sink->out, cst__bytes_of("avro.codec"));
  put_sized(&sink->out, cst__bytes_of(sink->codec->name));
  put_sized(&sink->out, cst__bytes_of("avro.schema"));
  put_sized(&sink->out, schema);
  cst__avro_put_long(&sink->out, 0);
  cst__text_append(&sink->out, sink->sync, SYNC);
  return write_out(sink, error);
}

/* By the schema that is given, or one of the columns. */
static cst_status make_encoder(avro_sink *sink, const char *given, cst_error *error) {
  cst__text text = {.allocator = sink->allocator};
  cst_status status = given != NULL ? cst__avro_options_text(given, &text, error) : CST_OK;
  if (status == CST_OK) {
    const cst_bytes schema = {(const uint8_t *)text.data, text.size};
    status = cst__avro_encoder_new(sink->schema, schema, &sink->allocator, &sink->encoder, error);
  }
  cst__text_free(&text);
  return status;
}

static cst_status open_encoder(avro_sink *sink, const cst__avro_options *options,
                               cst_error *error) {
  cst__avro_codec_word word = options != NULL ? options->codec : CST__AVRO_WRITE_DEFLATE;
  sink->block_size =
      options != NULL && options->block_size > 0 ? (size_t)options->block_size : USUAL_BLOCK;
  CST__TRY(cst__avro_options_of_files(options, error));
  CST__TRY(cst__avro_codec_find(cst__bytes_of(cst__avro_codec_words[word]), &sink->codec, error));
  CST__TRY(cst__sink_check_names(sink->schema, error));
  CST__TRY(make_encoder(sink, options != NULL ? options->schema : NULL, error));
  return write_header(sink, error);
}

static cst_status avro_open(const cst__sink_target *open, void **out, cst_error *error) {
  cst_allocator allocator = cst__allocator_of(open->options->allocator);
  avro_sink *sink = cst__new_zero(&allocator, sizeof *sink);
  if (sink == NULL) {
    return cst__fail_memory(error, sizeof *sink);
  }
  sink->allocator = sink->block.allocator = sink->out.allocator = allocator;
  sink->output = open->output;
  sink->schema = open->schema;
  cst__arena_init(&sink->arena, &allocator);
  cst_status status = open_encoder(sink, open->format_options, error);
  if (status != CST_OK) {
    avro_free(sink);
    return status;
  }
  *out = sink;
  return CST_OK;
}

static cst_status flush_block(avro_sink *sink, cst_error *error) {
  cst__text packed = {.allocator = sink->allocator};
  cst_bytes block = {(const uint8_t *)sink->block.data, sink->block.size};
  if (sink->count == 0) {
    return CST_OK;
  }
  cst_status status = cst__avro_deflate(sink->codec, &block, &packed, error);
  if (status == CST_OK) {
    cst__avro_put_long(&sink->out, sink->count);
    cst__avro_put_long(&sink->out, (int64_t)block.size);
    status = write_out(sink, error);
  }
  if (status == CST_OK) {
    status = cst__output_write(sink->output, block.data, block.size, error);
  }
  if (status == CST_OK) {
    status = cst__output_write(sink->output, sink->sync, SYNC, error);
  }
  cst__text_free(&packed);
  sink->block.size = 0;
  sink->count = 0;
  return status;
}

static cst_status put_rows(avro_sink *sink, const cst__view *batch, cst_error *error) {
  CST__TRY(cst__avro_encoder_bind(sink->encoder, batch, error));
  for (int64_t row = 0; row < batch->length;) {
    const int64_t first = row;
    cst_status status = cst__avro_encode_rows(sink->encoder, &row, batch->length, sink->block_size,
                                              &sink->block, error);
    sink->count += row - first;
    CST__TRY(status);
    if (sink->block.size >= sink->block_size) {
      CST__TRY(flush_block(sink, error));
    }
  }
  return CST_OK;
}

static cst_status avro_write(void *ptr, const struct ArrowArray *batch, cst_error *error) {
  avro_sink *sink = ptr;
  cst__view view;
  cst_status status = cst__view_init(&view, sink->schema, batch, false, &sink->arena, error);
  if (status == CST_OK) {
    status = cst__view_refuse_nulls(&view, "the row", error);
  }
  if (status == CST_OK) {
    status = put_rows(sink, &view, error);
  }
  cst__arena_reset(&sink->arena);
  return status;
}

static cst_status avro_finish(void *ptr, cst_error *error) { return flush_block(ptr, error); }

const cst__sink_format cst__sink_avro = {
    .open = avro_open,
    .write = avro_write,
    .finish = avro_finish,
    .free = avro_free,
};
