/* zstd (RFC 8878) in: any number of frames, skippable ones too. */
#include <zstd.h>
#include <zstd_errors.h>

#include "io/codec.h"

typedef struct unzstd {
  ZSTD_DStream *stream;
  bool inside;     /* of a frame */
  bool stops;      /* after each frame */
  uint64_t frames; /* ended so far */
} unzstd;

static void free_unzstd(void *opaque) {
  unzstd *state = opaque;
  if (state != NULL) {
    ZSTD_freeDStream(state->stream);
    cst__delete(state);
  }
}

static void *new_unzstd(const cst_allocator *allocator) {
  unzstd *state = cst__new_zero(allocator, sizeof *state);
  if (state == NULL) {
    return NULL;
  }
  state->stream = ZSTD_createDStream();
  if (state->stream == NULL) {
    free_unzstd(state);
    return NULL;
  }
  return state;
}

static cst_status fail_unzstd(const unzstd *state, size_t code, cst_error *error) {
  unsigned long long frame = (unsigned long long)state->frames + 1;
  switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation:
      return cst__fail_memory(error, 0);
    case ZSTD_error_frameParameter_windowTooLarge:
      return cst__fail(error, CST_LIMIT, "compress with --long=27 at most",
                       "zstd frame %llu needs a window of more than 128 MiB", frame);
    case ZSTD_error_dictionary_wrong:
      return cst__fail(error, CST_UNSUPPORTED, "compress without a dictionary",
                       "zstd frame %llu needs a dictionary", frame);
    case ZSTD_error_prefix_unknown:
      return cst__fail(error, CST_CORRUPT, "the file is damaged, or something was appended to it",
                       "trailing bytes after zstd frame %llu", (unsigned long long)state->frames);
    default:
      return cst__fail(error, CST_CORRUPT, "the file is damaged: fetch or write it again",
                       "zstd frame %llu: %s", frame, ZSTD_getErrorName(code));
  }
}

static cst_status unzstd_some(void *opaque, cst__span *in, uint8_t *out, size_t size, size_t *got,
                              cst_error *error) {
  unzstd *state = opaque;
  ZSTD_inBuffer input = {in->at, (size_t)(in->end - in->at), 0};
  ZSTD_outBuffer output = {out, size, 0};
  cst_status status = CST_OK;
  while (output.pos < size && (input.pos < input.size || state->inside)) {
    size_t pos_in = input.pos;
    size_t pos_out = output.pos;
    size_t code = ZSTD_decompressStream(state->stream, &output, &input);
    if (ZSTD_isError(code)) {
      status = fail_unzstd(state, code, error);
      break;
    }
    state->inside = code != 0;
    state->frames += code == 0;
    if ((input.pos == pos_in && output.pos == pos_out) || (state->stops && code == 0)) {
      break;
    }
  }
  in->at += input.pos;
  *got = output.pos;
  return status;
}

static bool unzstd_may_end(const void *state) { return !((const unzstd *)state)->inside; }

static void restart_unzstd(void *opaque, uint64_t frames) {
  unzstd *state = opaque;
  (void)ZSTD_DCtx_reset(state->stream, ZSTD_reset_session_only);
  state->inside = false;
  state->stops = true;
  state->frames = frames;
}

const cst__codec cst__zstd_codec = {"zstd",      new_unzstd,     free_unzstd,
                                    unzstd_some, unzstd_may_end, restart_unzstd};
