/* bzip2 in, any number of streams, and out. */
#include <bzlib.h>
#include <limits.h>

#include "io/codec.h"
#include "io/encoder.h"

static unsigned at_most(size_t size) { return size < UINT_MAX ? (unsigned)size : UINT_MAX; }

/* ---- in ---- */

typedef struct bunzip {
  bz_stream stream;
  bool inside; /* of a stream */
} bunzip;

static void *new_bunzip(const cst_allocator *allocator) {
  return cst__new_zero(allocator, sizeof(bunzip));
}

static void free_bunzip(void *opaque) {
  bunzip *state = opaque;
  if (state != NULL && state->inside) {
    (void)BZ2_bzDecompressEnd(&state->stream);
  }
  cst__delete(state);
}

static cst_status fail_bunzip(int code, cst_error *error) {
  return code == BZ_MEM_ERROR
             ? cst__fail_memory(error, 0)
             : cst__fail(error, CST_CORRUPT, "the file is damaged: fetch or write it again",
                         "bzip2 stream: %s",
                         code == BZ_DATA_ERROR_MAGIC ? "it does not begin as one"
                                                     : "what it holds, or a checksum, is wrong");
}

static cst_status bunzip_some(void *opaque, cst__span *in, uint8_t *out, size_t size, size_t *got,
                              cst_error *error) {
  bunzip *state = opaque;
  bz_stream *stream = &state->stream;
  int code = BZ_OK;
  *got = 0;
  while (*got < size && (in->at < in->end || state->inside)) {
    if (!state->inside) {
      *stream = (bz_stream){.opaque = NULL};
      code = BZ2_bzDecompressInit(stream, 0, 0);
      if (code != BZ_OK) {
        return fail_bunzip(code, error);
      }
      state->inside = true;
    }
    const unsigned there = at_most((size_t)(in->end - in->at));
    const unsigned room = at_most(size - *got);
    stream->next_in = (char *)(uintptr_t)in->at; /* read only: the library has no const */
    stream->avail_in = there;
    stream->next_out = (char *)out + *got;
    stream->avail_out = room;
    code = BZ2_bzDecompress(stream);
    in->at += there - stream->avail_in;
    *got += room - stream->avail_out;
    if (code != BZ_OK) {
      (void)BZ2_bzDecompressEnd(stream);
      state->inside = false;
    }
    if (code != BZ_OK && code != BZ_STREAM_END) {
      return fail_bunzip(code, error);
    }
    if (code == BZ_OK && stream->avail_in == there && stream->avail_out == room) {
      break; /* it needs more */
    }
  }
  return CST_OK;
}

static bool bunzip_may_end(const void *state) { return !((const bunzip *)state)->inside; }

const cst__codec cst__bzip2_codec = {"bzip2",     new_bunzip,     free_bunzip,
                                     bunzip_some, bunzip_may_end, NULL};

/* ---- out ---- */

enum { OUT = 64 << 10, USUAL_LEVEL = 9 };

typedef struct bzip {
  bz_stream stream;
  char out[OUT];
} bzip;

static void *new_bzip(int level, const cst_allocator *allocator) {
  bzip *state = cst__new(allocator, sizeof *state);
  if (state == NULL) {
    return NULL;
  }
  state->stream = (bz_stream){.opaque = NULL};
  if (BZ2_bzCompressInit(&state->stream, level != 0 ? level : USUAL_LEVEL, 0, 0) != BZ_OK) {
    cst__delete(state);
    return NULL;
  }
  return state;
}

static void free_bzip(void *opaque) {
  bzip *state = opaque;
  if (state != NULL) {
    (void)BZ2_bzCompressEnd(&state->stream);
    cst__delete(state);
  }
}

static cst_status bzip_all(void *opaque, const uint8_t *data, size_t size, bool last,
                           const cst__byte_sink *sink, cst_error *error) {
  bzip *state = opaque;
  bz_stream *stream = &state->stream;
  int code;
  do {
    unsigned part = at_most(size);
    bool ends = last && part == size;
    stream->next_in = (char *)(uintptr_t)data; /* read only: the library has no const */
    stream->avail_in = part;
    do {
      stream->next_out = state->out;
      stream->avail_out = OUT;
      code = part > 0 || ends ? BZ2_bzCompress(stream, ends ? BZ_FINISH : BZ_RUN) : BZ_RUN_OK;
      if (code < 0) {
        return cst__fail(error, CST_IO, NULL, "bzip2 failed with code %d", code);
      }
      CST__TRY(sink->put(sink->ctx, state->out, OUT - stream->avail_out, error));
    } while (ends ? code != BZ_STREAM_END : stream->avail_in > 0);
    data += part;
    size -= part;
  } while (size > 0);
  return CST_OK;
}

const cst__encoder cst__bzip2_encoder = {"bzip2", 1, 9, new_bzip, free_bzip, bzip_all};
