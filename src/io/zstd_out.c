/* zstd (RFC 8878) out: frames with checksums, and after them, if there are several, the table that
 * says where they lie, so that readers can enter the file at each (seek_table.h). */
#include <zstd.h>
#include <zstd_errors.h>

#include "io/encoder.h"
#include "io/seek_table.h"

enum {
  OUT = 128 << 10,
  FRAME = 4 << 20 /* bytes of content: a reader that enters in one passes over half of it */
};

typedef struct zstd_out {
  ZSTD_CStream *stream;
  cst_allocator allocator;
  cst__frame_sizes frame; /* that is being written */
  cst__frame_sizes *frames;
  size_t num_frames;
  size_t capacity;
  uint8_t out[OUT];
} zstd_out;

static void free_state(void *opaque) {
  zstd_out *state = opaque;
  if (state != NULL) {
    ZSTD_freeCStream(state->stream);
    cst__delete(state->frames);
    cst__delete(state);
  }
}

static void *new_state(int level, const cst_allocator *allocator) {
  zstd_out *state = cst__new(allocator, sizeof *state);
  if (state == NULL) {
    return NULL;
  }
  state->allocator = cst__allocator_of(allocator);
  state->frame = (cst__frame_sizes){0, 0};
  state->frames = NULL;
  state->num_frames = 0;
  state->capacity = 0;
  state->stream = ZSTD_createCStream();
  if (state->stream == NULL ||
      ZSTD_isError(ZSTD_CCtx_setParameter(state->stream, ZSTD_c_compressionLevel, level)) ||
      ZSTD_isError(ZSTD_CCtx_setParameter(state->stream, ZSTD_c_checksumFlag, 1))) {
    free_state(state);
    return NULL;
  }
  return state;
}

/* Adds to the frame; `ends`: these are its last bytes. */
static cst_status encode_frame(zstd_out *state, const uint8_t *data, size_t size, bool ends,
                               const cst__byte_sink *sink, cst_error *error) {
  ZSTD_inBuffer input = {data, size, 0};
  size_t left;
  do {
    ZSTD_outBuffer output = {state->out, OUT, 0};
    left =
        ZSTD_compressStream2(state->stream, &output, &input, ends ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left)) {
      return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation
                 ? cst__fail_memory(error, size)
                 : cst__fail(error, CST_IO, NULL, "zstd failed: %s", ZSTD_getErrorName(left));
    }
    state->frame.compressed += (uint32_t)output.pos;
    CST__TRY(sink->put(sink->ctx, state->out, output.pos, error));
  } while (ends ? left != 0 : input.pos < input.size);
  state->frame.content += (uint32_t)size;
  return CST_OK;
}

static cst_status note_frame(zstd_out *state, cst_error *error) {
  void *frames = state->frames;
  bool ok = cst__grow(&state->allocator, &frames, &state->capacity, state->num_frames + 1,
                      sizeof *state->frames);
  state->frames = frames;
  if (!ok) {
    return cst__fail_memory(error, sizeof *state->frames);
  }
  state->frames[state->num_frames++] = state->frame;
  state->frame = (cst__frame_sizes){0, 0};
  return CST_OK;
}

/* A full frame is ended by the bytes after it, so that none is empty but that of no bytes. */
static cst_status encode_zstd(void *opaque, const uint8_t *data, size_t size, bool last,
                              const cst__byte_sink *sink, cst_error *error) {
  zstd_out *state = opaque;
  while (size > FRAME - state->frame.content) {
    size_t part = FRAME - state->frame.content;
    CST__TRY(encode_frame(state, data, part, true, sink, error));
    CST__TRY(note_frame(state, error));
    data += part;
    size -= part;
  }
  CST__TRY(encode_frame(state, data, size, last, sink, error));
  if (last && state->num_frames > 0) {
    CST__TRY(note_frame(state, error));
    return cst__seek_table_write(state->frames, state->num_frames, sink, error);
  }
  return CST_OK;
}

const cst__encoder cst__zstd_encoder = {"zstd", -100, 22, new_state, free_state, encode_zstd};
