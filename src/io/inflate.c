/* gzip (RFC 1952), zlib (RFC 1950) and plain deflate (RFC 1951) in, by ISA-L. */
#include <isa-l/igzip_lib.h>
#include <stdio.h>

#include "io/codec.h"

/* fastavro leaves the checksum of zlib, or a part of it, behind a block of plain deflate. */
enum { ADLER_BYTES = 4 };

static const char appended[] = "the file is damaged, or something was appended to it";

typedef struct inflater {
  struct inflate_state stream;
  uint32_t wrapper; /* ISAL_GZIP, ISAL_ZLIB or ISAL_DEFLATE */
  bool inside;      /* of a member */
  bool padding;     /* zero bytes after the last member have begun */
  uint64_t members; /* begun so far */
} inflater;

static void *new_inflater(const cst_allocator *allocator, uint32_t wrapper) {
  inflater *state = cst__new(allocator, sizeof *state);
  if (state != NULL) {
    isal_inflate_init(&state->stream);
    state->wrapper = wrapper;
    state->inside = false;
    state->padding = false;
    state->members = 0;
  }
  return state;
}

static void *new_gzip_decoder(const cst_allocator *allocator) {
  return new_inflater(allocator, ISAL_GZIP);
}
static void *new_zlib_decoder(const cst_allocator *allocator) {
  return new_inflater(allocator, ISAL_ZLIB);
}
static void *new_deflate_decoder(const cst_allocator *allocator) {
  return new_inflater(allocator, ISAL_DEFLATE);
}

/* "gzip member 3", "zlib stream" or "deflate stream". */
static const char *name_part(const inflater *state, char *buf, size_t n) {
  if (state->wrapper != ISAL_GZIP) {
    return state->wrapper == ISAL_ZLIB ? "zlib stream" : "deflate stream";
  }
  (void)snprintf(buf, n, "gzip member %llu", (unsigned long long)state->members);
  return buf;
}

static cst_status fail_inflate(const inflater *state, int code, cst_error *error) {
  static const char hint[] = "the file is damaged: fetch or write it again";
  char buf[48];
  const char *part = name_part(state, buf, sizeof buf);
  const char *what;
  switch (code) {
    case ISAL_NEED_DICT:
      return cst__fail(error, CST_UNSUPPORTED, "write it without a preset dictionary",
                       "%s: needs a preset dictionary", part);
    case ISAL_INCORRECT_CHECKSUM:
      what = "wrong checksum or length";
      break;
    case ISAL_INVALID_WRAPPER:
      what = "invalid header";
      break;
    case ISAL_UNSUPPORTED_METHOD:
      what = "compression method unknown";
      break;
    case ISAL_INVALID_LOOKBACK:
      what = "invalid distance";
      break;
    case ISAL_INVALID_SYMBOL:
      what = "invalid symbol";
      break;
    default:
      what = "invalid block";
  }
  return cst__fail(error, CST_CORRUPT, hint, "%s: %s", part, what);
}

static cst_status skip_zeros(const inflater *state, cst__span *in, cst_error *error) {
  while (in->at < in->end && *in->at == 0) {
    in->at++;
  }
  if (in->at == in->end) {
    return CST_OK;
  }
  return cst__fail(error, CST_CORRUPT, appended, "trailing bytes after gzip member %llu",
                   (unsigned long long)state->members);
}

/* After a stream of plain deflate, which is the only one. Older versions of ISA-L keep up to seven
 * bytes that they have loaded and not used. */
static cst_status skip_checksum(const inflater *state, cst__span *in, cst_error *error) {
  size_t kept = state->stream.read_in_length > 0 ? (size_t)state->stream.read_in_length / 8 : 0;
  size_t trailing = kept + (size_t)(in->end - in->at);
  if (trailing > ADLER_BYTES) {
    return cst__fail(error, CST_CORRUPT, appended,
                     "%zu trailing bytes after the deflate stream (expected at most %d)", trailing,
                     ADLER_BYTES);
  }
  in->at = in->end;
  return CST_OK;
}

/* Between members, with at least one byte there: begins the next one, or takes padding. gzip(1) and
 * tapes leave zeros after the last member; anything else is a fault. */
static cst_status begin_member(inflater *state, cst__span *in, cst_error *error) {
  if (state->wrapper == ISAL_ZLIB && state->members > 0) {
    return cst__fail(error, CST_CORRUPT, appended, "trailing bytes after the zlib stream");
  }
  bool is_next = state->wrapper == ISAL_GZIP && state->members > 0;
  if (state->padding || (is_next && *in->at == 0)) {
    state->padding = true;
    return skip_zeros(state, in, error);
  }
  if (is_next && *in->at != 0x1f) {
    return skip_zeros(state, in, error);
  }
  isal_inflate_reset(&state->stream);
  state->stream.crc_flag = state->wrapper;
  state->inside = true;
  state->members++;
  return CST_OK;
}

/* One call of ISA-L; *moved: it took or gave something. */
static int inflate_step(inflater *state, cst__span *in, uint8_t *out, size_t size, size_t *got,
                        bool *moved) {
  struct inflate_state *stream = &state->stream;
  size_t there = (size_t)(in->end - in->at);
  uint32_t avail_in = (uint32_t)(there < UINT32_MAX ? there : UINT32_MAX);
  size_t room = size - *got;
  uint32_t avail_out = (uint32_t)(room < INT32_MAX ? room : INT32_MAX);
  stream->next_in = (uint8_t *)(uintptr_t)in->at; /* read only: the library has no const */
  stream->avail_in = avail_in;
  stream->next_out = out + *got;
  stream->avail_out = avail_out;
  int code = isal_inflate(stream);
  *moved = stream->avail_in != avail_in || stream->avail_out != avail_out;
  in->at = stream->next_in;
  *got += avail_out - stream->avail_out;
  return code;
}

static cst_status inflate_some(void *opaque, cst__span *in, uint8_t *out, size_t size, size_t *got,
                               cst_error *error) {
  inflater *state = opaque;
  *got = 0;
  for (;;) {
    if (!state->inside) {
      if (in->at == in->end) {
        return CST_OK;
      }
      CST__TRY(begin_member(state, in, error));
      continue;
    }
    if (*got == size) {
      return CST_OK;
    }
    bool moved;
    int code = inflate_step(state, in, out, size, got, &moved);
    if (code < 0 || code == ISAL_NEED_DICT) {
      return fail_inflate(state, code, error);
    }
    if (state->stream.block_state == ISAL_BLOCK_FINISH) {
      state->inside = false;
      if (state->wrapper == ISAL_DEFLATE) {
        return skip_checksum(state, in, error);
      }
    } else if (!moved) {
      return CST_OK;
    }
  }
}

/* The next bytes are another block. */
static void restart_deflate(void *opaque, uint64_t frames) {
  inflater *state = opaque;
  state->inside = false;
  state->members = frames;
}

static bool inflate_may_end(const void *state) { return !((const inflater *)state)->inside; }

const cst__codec cst__gzip_codec = {"gzip",       new_gzip_decoder, cst__delete,
                                    inflate_some, inflate_may_end,  NULL};
const cst__codec cst__zlib_codec = {"zlib",       new_zlib_decoder, cst__delete,
                                    inflate_some, inflate_may_end,  NULL};
const cst__codec cst__deflate_codec = {"deflate",    new_deflate_decoder, cst__delete,
                                       inflate_some, inflate_may_end,     restart_deflate};
