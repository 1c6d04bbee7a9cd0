/* zstd (RFC 8878) out: one frame with a checksum. */
#include <zstd.h>
#include <zstd_errors.h>

#include "io/encoder.h"

enum { OUT = 128 << 10 };

typedef struct zstd_out {
  ZSTD_CStream *stream;
  uint8_t out[OUT];
} zstd_out;

static void free_state(void *opaque) {
  zstd_out *state = opaque;
  if (state != NULL) {
    ZSTD_freeCStream(state->stream);
    cst__delete(state);
  }
}

static void *new_state(int level, const cst_allocator *allocator) {
  zstd_out *state = cst__new(allocator, sizeof *state);
  if (state == NULL) {
    return NULL;
  }
  state->stream = ZSTD_createCStream();
  if (state->stream == NULL ||
      ZSTD_isError(ZSTD_CCtx_setParameter(state->stream, ZSTD_c_compressionLevel, level)) ||
      ZSTD_isError(ZSTD_CCtx_setParameter(state->stream, ZSTD_c_checksumFlag, 1))) {
    free_state(state);
    return NULL;
  }
  return state;
}

static cst_status encode_zstd(void *opaque, const uint8_t *data, size_t size, bool last,
                              const cst__byte_sink *sink, cst_error *error) {
  zstd_out *state = opaque;
  ZSTD_inBuffer input = {data, size, 0};
  size_t left;
  do {
    ZSTD_outBuffer output = {state->out, OUT, 0};
    left =
        ZSTD_compressStream2(state->stream, &output, &input, last ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left)) {
      return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation
                 ? cst__fail_memory(error, size)
                 : cst__fail(error, CST_IO, NULL, "zstd failed: %s", ZSTD_getErrorName(left));
    }
    CST__TRY(sink->put(sink->ctx, state->out, output.pos, error));
  } while (last ? left != 0 : input.pos < input.size);
  return CST_OK;
}

const cst__encoder cst__zstd_encoder = {"zstd", -100, 22, new_state, free_state, encode_zstd};
