/* bzip2 in, any number of streams, and out. */
#include <limits.h>

#include "io/codec.h"
#include "io/encoder.h"
#include "io/loaded/library.h"

static unsigned at_most(size_t size) { return size < UINT_MAX ? (unsigned)size : UINT_MAX; }

/* ---- in ---- */

typedef struct bunzip {
  const cst__bzip2_library *library; /* NULL before the first stream */
  cst__bz_stream stream;
  bool inside; /* of a stream */
} bunzip;

static void *new_bunzip(const cst_allocator *allocator) {
  return cst__new_zero(allocator, sizeof(bunzip));
}

static void free_bunzip(void *opaque) {
  bunzip *state = opaque;
  if (state != NULL && state->inside) {
    (void)state->library->decompress_end(&state->stream);
  }
  cst__delete(state);
}

static cst_status fail_bunzip(int code, cst_error *error) {
  return code == CST__BZ_MEM_ERROR
             ? cst__fail_memory(error, 0)
             : cst__fail(error, CST_CORRUPT, "the file is damaged: fetch or write it again",
                         "bzip2 stream: %s",
                         code == CST__BZ_DATA_ERROR_MAGIC
                             ? "it does not begin as one"
                             : "what it holds, or a checksum, is wrong");
}

static cst_status bunzip_some(void *opaque, cst__span *in, uint8_t *out, size_t size, size_t *got,
                              cst_error *error) {
  bunzip *state = opaque;
  cst__bz_stream *stream = &state->stream;
  int code = CST__BZ_OK;
  *got = 0;
  if (state->library == NULL) {
    state->library = cst__bzip2_load(error);
  }
  if (state->library == NULL) {
    return CST_UNSUPPORTED;
  }
  while (*got < size && (in->at < in->end || state->inside)) {
    if (!state->inside) {
      *stream = (cst__bz_stream){.opaque = NULL};
      code = state->library->decompress_init(stream, 0, 0);
      if (code != CST__BZ_OK) {
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
    code = state->library->decompress(stream);
    in->at += there - stream->avail_in;
    *got += room - stream->avail_out;
    if (code != CST__BZ_OK) {
      (void)state->library->decompress_end(stream);
      state->inside = false;
    }
    if (code != CST__BZ_OK && code != CST__BZ_STREAM_END) {
      return fail_bunzip(code, error);
    }
    if (code == CST__BZ_OK && stream->avail_in == there && stream->avail_out == room) {
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
  const cst__bzip2_library *library; /* NULL before it has begun */
  cst__bz_stream stream;
  int level;
  char out[OUT];
} bzip;

static void *new_bzip(int level, const cst_allocator *allocator) {
  bzip *state = cst__new(allocator, sizeof *state);
  if (state != NULL) {
    state->library = NULL;
    state->level = level != 0 ? level : USUAL_LEVEL;
  }
  return state;
}

static void free_bzip(void *opaque) {
  bzip *state = opaque;
  if (state != NULL && state->library != NULL) {
    (void)state->library->compress_end(&state->stream);
  }
  cst__delete(state);
}

static cst_status begin_bzip(bzip *state, cst_error *error) {
  const cst__bzip2_library *library = cst__bzip2_load(error);
  if (library == NULL) {
    return CST_UNSUPPORTED;
  }
  state->stream = (cst__bz_stream){.opaque = NULL};
  if (library->compress_init(&state->stream, state->level, 0, 0) != CST__BZ_OK) {
    return cst__fail_memory(error, 0);
  }
  state->library = library;
  return CST_OK;
}

static cst_status bzip_all(void *opaque, const uint8_t *data, size_t size, bool last,
                           const cst__byte_sink *sink, cst_error *error) {
  bzip *state = opaque;
  cst__bz_stream *stream = &state->stream;
  int code;
  if (state->library == NULL) {
    CST__TRY(begin_bzip(state, error));
  }
  do {
    unsigned part = at_most(size);
    bool ends = last && part == size;
    stream->next_in = (char *)(uintptr_t)data; /* read only: the library has no const */
    stream->avail_in = part;
    do {
      stream->next_out = state->out;
      stream->avail_out = OUT;
      code = part > 0 || ends
                 ? state->library->compress(stream, ends ? CST__BZ_FINISH : CST__BZ_RUN)
                 : CST__BZ_RUN_OK;
      if (code < 0) {
        return cst__fail(error, CST_IO, NULL, "bzip2 failed with code %d", code);
      }
      CST__TRY(sink->put(sink->ctx, state->out, OUT - stream->avail_out, error));
    } while (ends ? code != CST__BZ_STREAM_END : stream->avail_in > 0);
    data += part;
    size -= part;
  } while (size > 0);
  return CST_OK;
}

const cst__encoder cst__bzip2_encoder = {"bzip2", 1, 9, new_bzip, free_bzip, bzip_all};
