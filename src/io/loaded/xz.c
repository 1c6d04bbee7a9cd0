/* xz in, any number of streams, and out. */
#include "io/codec.h"
#include "io/encoder.h"
#include "io/loaded/library.h"

/* ---- in ---- */

static const uint64_t most_memory = 128 << 20; /* what `xz -9` asks for is half of it */

typedef struct unxz {
  const cst__lzma_library *library; /* NULL before the first stream */
  cst__lzma_stream stream;
  bool inside; /* of a stream */
} unxz;

static void *new_unxz(const cst_allocator *allocator) {
  return cst__new_zero(allocator, sizeof(unxz));
}

static void free_unxz(void *opaque) {
  unxz *state = opaque;
  if (state != NULL && state->library != NULL) {
    state->library->end(&state->stream);
  }
  cst__delete(state);
}

static cst_status fail_unxz(int code, cst_error *error) {
  switch (code) {
    case CST__LZMA_MEM_ERROR:
      return cst__fail_memory(error, 0);
    case CST__LZMA_MEMLIMIT_ERROR:
      return cst__fail(error, CST_LIMIT, "compress with xz -9 at most",
                       "an xz stream that needs more than 128 MiB of memory");
    case CST__LZMA_OPTIONS_ERROR:
      return cst__fail(error, CST_UNSUPPORTED, "compress it with other options",
                       "an xz stream with options that are not known");
    default:
      return cst__fail(error, CST_CORRUPT, "the file is damaged: fetch or write it again",
                       "xz stream: %s",
                       code == CST__LZMA_FORMAT_ERROR ? "it does not begin as one"
                                                      : "what it holds, or a checksum, is wrong");
  }
}

static cst_status unxz_some(void *opaque, cst__span *in, uint8_t *out, size_t size, size_t *got,
                            cst_error *error) {
  unxz *state = opaque;
  cst__lzma_stream *stream = &state->stream;
  *got = 0;
  if (state->library == NULL) {
    state->library = cst__lzma_load(error);
  }
  if (state->library == NULL) {
    return CST_UNSUPPORTED;
  }
  while (*got < size && (in->at < in->end || state->inside)) {
    if (!state->inside) { /* the memory of the stream before is used again */
      int begun = state->library->stream_decoder(stream, most_memory, 0);
      if (begun != CST__LZMA_OK) {
        return fail_unxz(begun, error);
      }
      state->inside = true;
    }
    const size_t there = (size_t)(in->end - in->at);
    const size_t room = size - *got;
    stream->next_in = in->at;
    stream->avail_in = there;
    stream->next_out = out + *got;
    stream->avail_out = room;
    int code = state->library->code(stream, CST__LZMA_RUN);
    in->at += there - stream->avail_in;
    *got += room - stream->avail_out;
    state->inside = code == CST__LZMA_OK || code == CST__LZMA_BUF_ERROR;
    if (!state->inside && code != CST__LZMA_STREAM_END) {
      return fail_unxz(code, error);
    }
    if (state->inside && stream->avail_in == there && stream->avail_out == room) {
      break; /* it needs more */
    }
  }
  return CST_OK;
}

static bool unxz_may_end(const void *state) { return !((const unxz *)state)->inside; }

const cst__codec cst__xz_codec = {"xz", new_unxz, free_unxz, unxz_some, unxz_may_end, NULL};

/* ---- out ---- */

enum { OUT = 64 << 10, USUAL_LEVEL = 6 };

typedef struct xz {
  const cst__lzma_library *library; /* NULL before it has begun */
  cst__lzma_stream stream;
  int level;
  uint8_t out[OUT];
} xz;

static void *new_xz(int level, const cst_allocator *allocator) {
  xz *state = cst__new(allocator, sizeof *state);
  if (state != NULL) {
    state->library = NULL;
    state->stream = (cst__lzma_stream){.next_in = NULL};
    state->level = level != 0 ? level : USUAL_LEVEL;
  }
  return state;
}

static void free_xz(void *opaque) {
  xz *state = opaque;
  if (state != NULL && state->library != NULL) {
    state->library->end(&state->stream);
  }
  cst__delete(state);
}

/* A dictionary is never larger than all there is: it costs time to make one. */
static cst_status begin_xz(xz *state, size_t size, bool is_all, cst_error *error) {
  cst__lzma_options options;
  const cst__lzma_filter filters[] = {{CST__LZMA_FILTER_LZMA2, &options},
                                      {CST__LZMA_NO_FILTER, NULL}};
  const cst__lzma_library *library = cst__lzma_load(error);
  if (library == NULL) {
    return CST_UNSUPPORTED;
  }
  bool known = library->preset(&options, (uint32_t)state->level) == 0;
  if (known && is_all && size < options.dict_size) {
    options.dict_size = size > CST__LZMA_DICT_SIZE_MIN ? (uint32_t)size : CST__LZMA_DICT_SIZE_MIN;
  }
  state->library = library;
  int code = known ? library->stream_encoder(&state->stream, filters, CST__LZMA_CHECK_CRC64)
                   : CST__LZMA_OPTIONS_ERROR;
  return code == CST__LZMA_OK ? CST_OK
         : code == CST__LZMA_MEM_ERROR
             ? cst__fail_memory(error, size)
             : cst__fail(error, CST_IO, NULL, "xz failed with code %d", code);
}

static cst_status xz_all(void *opaque, const uint8_t *data, size_t size, bool last,
                         const cst__byte_sink *sink, cst_error *error) {
  xz *state = opaque;
  cst__lzma_stream *stream = &state->stream;
  int code;
  if (state->library == NULL) {
    CST__TRY(begin_xz(state, size, last, error));
  }
  stream->next_in = data;
  stream->avail_in = size;
  do {
    stream->next_out = state->out;
    stream->avail_out = OUT;
    code = state->library->code(stream, last ? CST__LZMA_FINISH : CST__LZMA_RUN);
    if (code != CST__LZMA_OK && code != CST__LZMA_STREAM_END && code != CST__LZMA_BUF_ERROR) {
      return code == CST__LZMA_MEM_ERROR
                 ? cst__fail_memory(error, size)
                 : cst__fail(error, CST_IO, NULL, "xz failed with code %d", code);
    }
    CST__TRY(sink->put(sink->ctx, state->out, OUT - stream->avail_out, error));
  } while (last ? code != CST__LZMA_STREAM_END : stream->avail_in > 0);
  return CST_OK;
}

const cst__encoder cst__xz_encoder = {"xz", 1, 9, new_xz, free_xz, xz_all};
