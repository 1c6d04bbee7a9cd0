/* gzip (RFC 1952), zlib (RFC 1950) and plain deflate (RFC 1951) out, by ISA-L.
 *
 * Levels are the usual 1 (fastest) to 9 (smallest). ISA-L has three steps with a dynamic Huffman
 * code, so 1 to 3, 4 to 6 and 7 to 9 are the same; its last is about as small as zlib's 3 or 4, and
 * several times as fast.
 */
#include <isa-l/igzip_lib.h>

#include "io/encoder.h"

enum { OUT = 64 << 10 };

typedef struct deflater {
  struct isal_zstream stream;
  uint8_t out[OUT];
  _Alignas(16) uint8_t level_buffer[]; /* scratch of ISA-L */
} deflater;

static void *new_deflater(uint16_t wrapper, int level, const cst_allocator *allocator) {
  static const size_t scratch[] = {0, ISAL_DEF_LVL1_DEFAULT, ISAL_DEF_LVL2_DEFAULT,
                                   ISAL_DEF_LVL3_DEFAULT};
  unsigned step = level == 0 ? 2 : (unsigned)(level + 2) / 3;
  deflater *state = cst__new(allocator, sizeof *state + scratch[step]);
  if (state != NULL) {
    isal_deflate_init(&state->stream);
    state->stream.gzip_flag = wrapper;
    state->stream.level = step;
    state->stream.level_buf = state->level_buffer;
    state->stream.level_buf_size = (uint32_t)scratch[step];
  }
  return state;
}

static void *new_gzip_encoder(int level, const cst_allocator *allocator) {
  return new_deflater(IGZIP_GZIP, level, allocator);
}

static void *new_zlib_encoder(int level, const cst_allocator *allocator) {
  return new_deflater(IGZIP_ZLIB, level, allocator);
}

static void *new_deflate_encoder(int level, const cst_allocator *allocator) {
  return new_deflater(IGZIP_DEFLATE, level, allocator);
}

static cst_status encode_deflate(void *opaque, const uint8_t *data, size_t size, bool last,
                                 const cst__byte_sink *sink, cst_error *error) {
  deflater *state = opaque;
  struct isal_zstream *stream = &state->stream;
  do {
    uint32_t part = (uint32_t)(size < INT32_MAX ? size : INT32_MAX);
    stream->next_in = (uint8_t *)(uintptr_t)data; /* read only: the library has no const */
    stream->avail_in = part;
    stream->end_of_stream = last && part == size;
    do {
      stream->next_out = state->out;
      stream->avail_out = OUT;
      int code = isal_deflate(stream);
      if (code != COMP_OK) {
        return cst__fail(error, CST_IO, NULL, "deflate failed with code %d", code);
      }
      CST__TRY(sink->put(sink->ctx, state->out, OUT - stream->avail_out, error));
    } while (stream->avail_out == 0 || stream->avail_in > 0);
    data += part;
    size -= part;
  } while (size > 0);
  return CST_OK;
}

const cst__encoder cst__gzip_encoder = {"gzip",           1,           9,
                                        new_gzip_encoder, cst__delete, encode_deflate};
const cst__encoder cst__zlib_encoder = {"zlib",           1,           9,
                                        new_zlib_encoder, cst__delete, encode_deflate};
const cst__encoder cst__deflate_encoder = {"deflate",           1,           9,
                                           new_deflate_encoder, cst__delete, encode_deflate};
