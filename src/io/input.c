/* A sequential, decompressed stream over raw bytes: looks at the first bytes, chooses a codec, and
 * keeps what fails until the bytes before it have been handed out. */
#include "io/input.h"

#include <string.h>

#include "base/hash.h"
#include "base/interrupt.h"
#include "base/utf8.h"
#include "io/codec.h"
#include "io/raw.h"
#include "io/seek_table.h"

enum {
  HEAD = 64,             /* bytes that are looked at */
  CHUNK = 256 << 10,     /* compressed bytes read at once */
  PROOF = 4 << 10,       /* bytes that have to inflate before zlib is believed */
  STEP = 1 << 20,        /* decompressed bytes between two looks at the ratio */
  FREE_OUTPUT = 64 << 20 /* that may come out of anything */
};

/* A compressed stream that is read frame by frame, each of which has to be what the table says. */
typedef struct frame_reading {
  cst__restarts restarts; /* count 0: there are none */
  bool active;            /* since the first seek */
  bool misplaced;         /* a frame is not what the table says */
  bool begun;             /* bytes of the frame have been taken */
  size_t frame;           /* that is read; restarts.count: after the last */
  uint64_t at;            /* place in the stream of the next byte */
  uint64_t goal;          /* bytes before it are passed over */
} frame_reading;

struct cst__input {
  cst__raw raw;
  cst_allocator allocator;
  uint64_t max_inflation;
  bool memory_map;
  bool is_text;
  bool (*is_plain)(const uint8_t *head, size_t size);
  bool looked;
  cst__compression compression;
  const cst__codec *codec; /* NULL: plain */
  void *state;             /* of the codec */
  uint8_t head[HEAD];
  bool guessed;   /* the compression is what it seems to be, but does not prove so */
  uint8_t *chunk; /* CHUNK bytes, or NULL: then buffer is the head */
  const uint8_t *buffer;
  size_t at;             /* bytes of the buffer that are used up */
  size_t end;            /* bytes of the buffer that are there */
  bool ended;            /* the raw bytes have come to their end */
  uint64_t taken;        /* by the codec since it began, or was restarted, */
  uint64_t given;        /* and what it gave */
  frame_reading *frames; /* NULL: nobody has asked for restart points */
  cst_status failed;
  cst_error failure; /* if failed is not CST_OK */
};

static cst_status new_input(const cst__input_options *options, cst__input **out, cst_error *error) {
  static const cst__input_options usual = {0};
  options = options != NULL ? options : &usual;
  cst__input *input = cst__new_zero(options->allocator, sizeof *input);
  if (input == NULL) {
    return cst__fail_memory(error, sizeof *input);
  }
  input->raw.fd = -1;
  input->allocator = cst__allocator_of(options->allocator);
  input->max_inflation = options->max_inflation != 0 ? options->max_inflation : 200;
  input->memory_map = options->memory_map;
  input->is_text = options->is_text;
  input->is_plain = options->is_plain;
  input->failure = (cst_error)CST_ERROR_INIT;
  *out = input;
  return CST_OK;
}

cst_status cst__input_open(const char *path, const cst__input_options *options, cst__input **out,
                           cst_error *error) {
  cst__input *input = NULL;
  CST__TRY(new_input(options, &input, error));
  cst_status status = cst__raw_open(&input->raw, path, &input->allocator, error);
  if (status != CST_OK) {
    cst__input_close(input);
    return status;
  }
  *out = input;
  return CST_OK;
}

cst_status cst__input_open_reader(const cst_reader *reader, const cst__input_options *options,
                                  cst__input **out, cst_error *error) {
  cst__input *input = NULL;
  CST__TRY(new_input(options, &input, error));
  cst_status status = cst__raw_open_reader(&input->raw, reader, &input->allocator, error);
  if (status != CST_OK) {
    cst__input_close(input);
    return status;
  }
  *out = input;
  return CST_OK;
}

/* ---- which compression ---- */

/* RFC 1950: CM is 8, CINFO at most 7, FCHECK makes the two bytes a multiple of 31. Much else begins
 * so, too ("x^2", "H,"): see prove_zlib. */
static bool is_zlib(const uint8_t *head, size_t size) {
  return size >= 2 && (head[0] & 15) == 8 && head[0] >> 4 <= 7 &&
         ((unsigned)head[0] << 8 | head[1]) % 31 == 0;
}

/* RFC 1952: CM is 8, the upper bits of FLG are zero. Fewer bytes are those of a file that is cut.
 */
static bool is_gzip(const uint8_t *head, size_t size) {
  return size >= 2 && head[0] == 0x1f && head[1] == 0x8b && (size < 3 || head[2] == 8) &&
         (size < 4 || (head[3] & 0xe0) == 0);
}

static cst__compression detect(const uint8_t *head, size_t size) {
  if (is_gzip(head, size)) {
    return CST__GZIP;
  }
  if (size >= 4) {
    uint32_t magic;
    memcpy(&magic, head, sizeof magic);
    if (magic == 0xfd2fb528 || (magic & 0xfffffff0) == 0x184d2a50) {
      return CST__ZSTD;
    }
  }
  return is_zlib(head, size) ? CST__ZLIB : CST__PLAIN;
}

static const cst__codec *const codecs[] = {
    [CST__GZIP] = &cst__gzip_codec, [CST__ZLIB] = &cst__zlib_codec, [CST__ZSTD] = &cst__zstd_codec};

const char *cst__compression_name(cst__compression compression) {
  return compression != CST__PLAIN ? codecs[compression]->name : NULL;
}

static cst_status start_codec(cst__input *input, cst_error *error) {
  if (input->compression == CST__PLAIN) {
    return CST_OK;
  }
  input->codec = codecs[input->compression];
  input->state = input->codec->new_state(&input->allocator);
  if (input->chunk == NULL) {
    input->chunk = cst__new(&input->allocator, CHUNK);
  }
  return input->state != NULL && input->chunk != NULL ? CST_OK : cst__fail_memory(error, CHUNK);
}

/* ---- zlib: two bytes prove nothing ---- */

/* Puts the first PROOF bytes, or as many as there are, into the chunk. */
static cst_status fill_proof(cst__input *input, cst_error *error) {
  input->chunk = cst__new(&input->allocator, CHUNK);
  if (input->chunk == NULL) {
    return cst__fail_memory(error, CHUNK);
  }
  memcpy(input->chunk, input->head, input->end);
  input->buffer = input->chunk;
  while (input->end < PROOF && !input->ended) {
    size_t got;
    CST__TRY(
        cst__raw_read(&input->raw, input->chunk + input->end, PROOF - input->end, &got, error));
    input->end += got;
    input->ended = got == 0;
  }
  return CST_OK;
}

/* True if all of the proof inflates and, if these are all the bytes, they end with the stream. */
static cst_status try_codec(const cst__input *input, const cst__codec *codec, bool *proved,
                            cst_error *error) {
  uint8_t out[4096];
  size_t got;
  cst__span in = {input->buffer, input->buffer + input->end};
  const uint8_t *before;
  void *state = codec->new_state(&input->allocator);
  if (state == NULL) {
    return cst__fail_memory(error, sizeof out);
  }
  cst_status status;
  do {
    before = in.at;
    status = codec->decode(state, &in, out, sizeof out, &got, NULL);
  } while (status == CST_OK && (got > 0 || in.at > before));
  *proved = status == CST_OK && in.at == in.end && (!input->ended || codec->may_end(state));
  codec->free_state(state);
  return CST_OK;
}

/* Text may have control characters; 64 compressed bytes are hardly ever UTF-8. */
static bool is_like_text(const uint8_t *head, size_t size) {
  enum { LEAST = 16, LONGEST_CHARACTER = 4 };
  return cst__is_text(head, size) ||
         (size >= LEAST && memchr(head, 0, size) == NULL &&
          cst__utf8_valid_prefix(head, size) + LONGEST_CHARACTER > size);
}

/* Bytes that do not inflate are damaged zlib, unless they can be something else: text, a TFRecord
 * whose header is damaged (its length has fewer than 32 bits), or another small number. */
static bool may_be_damaged(const uint8_t *head, size_t size) {
  static const uint8_t zeros[4] = {0};
  bool is_number =
      size >= 12 && (memcmp(head + 2, zeros, 2) == 0 || memcmp(head + 4, zeros, 4) == 0);
  return head[0] == 0x78 && !is_number && !is_like_text(head, size < HEAD ? size : HEAD);
}

static cst_status prove_zlib(cst__input *input, cst_error *error) {
  bool proved;
  CST__TRY(fill_proof(input, error));
  CST__TRY(try_codec(input, &cst__zlib_codec, &proved, error));
  if (!proved && (input->is_text || !may_be_damaged(input->buffer, input->end))) {
    input->compression = CST__PLAIN;
  }
  input->guessed = !proved && input->compression == CST__ZLIB;
  return CST_OK;
}

static cst_status look_at_head(cst__input *input, cst_error *error) {
  input->buffer = input->head;
  while (input->end < HEAD && !input->ended) {
    size_t got;
    CST__TRY(cst__raw_read(&input->raw, input->head + input->end, HEAD - input->end, &got, error));
    input->end += got;
    input->ended = got == 0;
  }
  bool is_plain = input->is_plain != NULL && input->is_plain(input->head, input->end);
  input->compression = is_plain ? CST__PLAIN : detect(input->head, input->end);
  if (input->compression == CST__ZLIB) {
    CST__TRY(prove_zlib(input, error));
  }
  CST__TRY(start_codec(input, error));
  if (input->raw.at_any_offset) { /* the large reads then begin at a page */
    input->raw.offset = 0;
    input->end = 0;
    input->ended = false;
  }
  if (input->memory_map && input->codec == NULL) {
    cst__raw_map(&input->raw);
  }
  return CST_OK;
}

/* Every failure is kept, for this call and all that follow. */
static cst_status keep_failure(cst__input *input, cst_status status) {
  static const char guess[] = "zlib was detected from the first two bytes, but the rest is damaged "
                              "or something else: if it is plain CSV or JSON, name the format";
  if (status == CST_CORRUPT && input->guessed) {
    memcpy(input->failure.hint, guess, sizeof guess);
  }
  if (status != CST_OK) {
    cst__error_add_file(&input->failure, input->raw.name);
    input->failed = status;
  }
  return status;
}

/* Looks at the first bytes, once; false if that or anything later has failed. */
static bool is_usable(cst__input *input) {
  if (input->failed == CST_OK && !input->looked) {
    input->looked = true;
    (void)keep_failure(input, look_at_head(input, &input->failure));
  }
  return input->failed == CST_OK;
}

static cst_status give_failure(const cst__input *input, cst_error *error) {
  cst__error_copy(error, &input->failure);
  return input->failed;
}

/* ---- reading ---- */

static cst_status read_plain(cst__input *input, uint8_t *out, size_t size, size_t *got,
                             cst_error *error) {
  if (input->at < input->end) {
    size_t there = input->end - input->at;
    *got = there < size ? there : size;
    memcpy(out, input->buffer + input->at, *got);
    input->at += *got;
  }
  while (*got < size && !input->ended) {
    size_t n;
    CST__TRY(cst__raw_read(&input->raw, out + *got, size - *got, &n, error));
    *got += n;
    input->ended = n == 0;
  }
  return CST_OK;
}

static cst_status refill(cst__input *input, cst_error *error) {
  if (input->at < input->end || input->ended) {
    return CST_OK;
  }
  size_t got;
  CST__TRY(cst__raw_read(&input->raw, input->chunk, CHUNK, &got, error));
  input->buffer = input->chunk;
  input->at = 0;
  input->end = got;
  input->ended = got == 0;
  return CST_OK;
}

static cst_status check_inflation_ratio(const cst__input *input, cst_error *error) {
  if (input->given <= FREE_OUTPUT || input->given / input->max_inflation < input->taken) {
    return CST_OK;
  }
  return cst__fail(error, CST_LIMIT, "if you trust the file, raise max_inflation",
                   "%llu bytes of %s expand to %llu, more than %llu times as much",
                   (unsigned long long)input->taken, input->codec->name,
                   (unsigned long long)input->given, (unsigned long long)input->max_inflation);
}

/* Up to `size` bytes out of what is buffered. */
static cst_status decode_some(cst__input *input, uint8_t *out, size_t size, size_t *got,
                              cst_error *error) {
  const uint8_t *begin = input->buffer + input->at;
  cst__span in = {begin, input->buffer + input->end};
  cst_status status = input->codec->decode(input->state, &in, out, size, got, error);
  size_t used = (size_t)(in.at - begin);
  input->at += used;
  input->taken += used;
  input->given += *got;
  CST__TRY(status);
  if (used == 0 && *got == 0 && in.at < in.end) {
    return cst__fail(error, CST_CORRUPT, NULL, "%s data that leads nowhere", input->codec->name);
  }
  return check_inflation_ratio(input, error);
}

static cst_status fail_cut_input(const cst__input *input, cst_error *error) {
  return cst__fail(error, CST_CORRUPT, "the file is truncated: fetch or write it again",
                   "the file ends inside its %s data, after %llu bytes", input->codec->name,
                   (unsigned long long)input->taken);
}

static cst_status read_compressed(cst__input *input, uint8_t *out, size_t size, size_t *got,
                                  cst_error *error) {
  while (*got < size) {
    CST__TRY(refill(input, error));
    size_t step = size - *got < STEP ? size - *got : STEP;
    size_t n;
    cst_status status = decode_some(input, out + *got, step, &n, error);
    *got += n;
    CST__TRY(status);
    if (input->ended && n == 0 && input->at == input->end) {
      if (input->codec->may_end(input->state)) {
        return CST_OK;
      }
      return fail_cut_input(input, error);
    }
  }
  return CST_OK;
}

bool cst__input_skip(cst__input *input, uint64_t size, uint64_t *skipped) {
  cst__raw *raw = &input->raw;
  *skipped = 0;
  if (!is_usable(input) || input->codec != NULL || !raw->at_any_offset || raw->size < 0) {
    return false;
  }
  uint64_t rest = raw->offset < (uint64_t)raw->size ? (uint64_t)raw->size - raw->offset : 0;
  *skipped = size < rest ? size : rest;
  raw->offset += *skipped;
  return true;
}

/* ---- frame by frame ---- */

/* Looks for restart points, once. False: there are none, or they cannot be read. */
static bool find_restarts(cst__input *input) {
  if (!is_usable(input) || input->codec == NULL || input->codec->restart == NULL) {
    return false;
  }
  if (input->frames == NULL) {
    frame_reading *frames = cst__new_zero(&input->allocator, sizeof *frames);
    cst_status status = frames != NULL ? cst__seek_table_read(&input->raw, &input->allocator,
                                                              &frames->restarts, &input->failure)
                                       : cst__fail_memory(&input->failure, sizeof *frames);
    input->frames = frames;
    (void)keep_failure(input, status);
  }
  return input->failed == CST_OK && input->frames->restarts.count > 0;
}

static cst_status fail_misplaced(cst__input *input, cst_error *error) {
  frame_reading *frames = input->frames;
  frames->misplaced = true;
  return cst__fail(error, CST_CORRUPT,
                   "the file is damaged or was assembled by hand: write it again",
                   "the length of %s frame %llu differs from the seek table at the end of the file",
                   input->codec->name, (unsigned long long)frames->frame + 1);
}

/* Up to `size` bytes of the frame, which may end with them. */
static cst_status decode_frame(cst__input *input, uint8_t *out, size_t size, size_t *got,
                               cst_error *error) {
  frame_reading *frames = input->frames;
  CST__TRY(refill(input, error));
  size_t before = input->at;
  cst_status status = decode_some(input, out, size, got, error);
  frames->begun = frames->begun || input->at > before;
  frames->at += *got;
  return status == CST_OK && *got == 0 && input->ended && input->at == input->end
             ? fail_cut_input(input, error)
             : status;
}

static bool frame_has_ended(const cst__input *input) {
  return input->frames->begun && input->codec->may_end(input->state);
}

/* Takes what is left of a frame whose content has been given, and goes on to the next one. */
static cst_status end_frame(cst__input *input, cst_error *error) {
  frame_reading *frames = input->frames;
  const cst__restart *next = &frames->restarts.items[frames->frame + 1];
  while (!frame_has_ended(input)) {
    uint8_t more;
    size_t got = 0;
    CST__TRY(decode_frame(input, &more, 1, &got, error));
    if (got > 0) {
      return fail_misplaced(input, error);
    }
  }
  if (cst__input_consumed(input) != next->disk) {
    return fail_misplaced(input, error);
  }
  frames->begun = false;
  frames->frame++;
  if (frames->frame == frames->restarts.count) { /* the table follows, which has been read */
    input->raw.offset = input->raw.size > 0 ? (uint64_t)input->raw.size : 0;
    input->at = 0;
    input->end = 0;
    input->ended = true;
  }
  return CST_OK;
}

static cst_status read_frames(cst__input *input, uint8_t *out, size_t size, size_t *got,
                              cst_error *error) {
  frame_reading *frames = input->frames;
  while (frames->frame < frames->restarts.count) {
    uint64_t room = frames->restarts.items[frames->frame + 1].stream - frames->at;
    if (room == 0) { /* also if nobody wants more: it shows whether the frame ends here */
      CST__TRY(end_frame(input, error));
      continue;
    }
    if (*got == size) {
      return CST_OK;
    }
    size_t step = size - *got < STEP ? size - *got : STEP;
    step = step < room ? step : (size_t)room;
    size_t n = 0;
    cst_status status = decode_frame(input, out + *got, step, &n, error);
    *got += n;
    CST__TRY(status);
    if (n < room && frame_has_ended(input)) {
      return fail_misplaced(input, error);
    }
  }
  return CST_OK;
}

/* Passes over what lies between the begin of the frame and the place that was sought. */
static cst_status pass_to_goal(cst__input *input, cst_error *error) {
  frame_reading *frames = input->frames;
  uint8_t passed[16 << 10];
  while (frames->at < frames->goal) {
    uint64_t left = frames->goal - frames->at;
    size_t got = 0;
    CST__TRY(cst__interrupted(error));
    CST__TRY(read_frames(input, passed, left < sizeof passed ? (size_t)left : sizeof passed, &got,
                         error));
    if (got == 0) {
      frames->goal = frames->at; /* the stream ends before it */
    }
  }
  return CST_OK;
}

static void seek_frame(cst__input *input, uint64_t offset) {
  frame_reading *frames = input->frames;
  size_t frame = cst__restarts_find(&frames->restarts, offset);
  const cst__restart *at = &frames->restarts.items[frame];
  frames->goal = offset;
  if (frames->active && frame == frames->frame && frames->at <= offset) {
    return; /* it lies ahead in this frame */
  }
  frames->active = true;
  frames->begun = false;
  frames->frame = frame;
  frames->at = at->stream;
  input->codec->restart(input->state, frame);
  input->raw.offset = at->disk;
  input->at = 0;
  input->end = 0;
  input->ended = false;
  input->taken = 0;
  input->given = 0;
}

bool cst__input_seek(cst__input *input, uint64_t offset) {
  if (find_restarts(input)) {
    seek_frame(input, offset);
    return true;
  }
  if (input->failed != CST_OK) {
    return input->codec != NULL; /* the next reading tells what is wrong with them */
  }
  if (!is_usable(input) || input->codec != NULL || !input->raw.at_any_offset) {
    return false;
  }
  input->raw.offset = offset;
  input->at = 0;
  input->end = 0;
  input->ended = false;
  return true;
}

bool cst__input_restart(cst__input *input, uint64_t place, uint64_t *point, uint64_t *size) {
  if (!find_restarts(input)) {
    return false;
  }
  const cst__restarts *restarts = &input->frames->restarts;
  *point = cst__restarts_after(restarts, place);
  *size = restarts->items[restarts->count].stream;
  return true;
}

bool cst__input_is_misplaced(const cst__input *input) {
  return input->frames != NULL && input->frames->misplaced;
}

/* ---- reading of either kind ---- */

static cst_status read_either(cst__input *input, uint8_t *out, size_t size, size_t *got,
                              cst_error *error) {
  if (input->codec == NULL) {
    return read_plain(input, out, size, got, error);
  }
  if (input->frames == NULL || !input->frames->active) {
    return read_compressed(input, out, size, got, error);
  }
  CST__TRY(pass_to_goal(input, error));
  return read_frames(input, out, size, got, error);
}

cst_status cst__input_read(cst__input *input, void *buffer, size_t size, size_t *got,
                           cst_error *error) {
  *got = 0;
  if (!is_usable(input)) {
    return give_failure(input, error);
  }
  cst_status status = keep_failure(input, read_either(input, buffer, size, got, &input->failure));
  return status == CST_OK || *got > 0 ? CST_OK : give_failure(input, error);
}

cst_status cst__input_fill(cst__input *input, void *buffer, size_t size, size_t *got,
                           cst_error *error) {
  size_t part = 1;
  for (*got = 0; *got < size && part > 0; *got += part) {
    CST__TRY(cst__input_read(input, (uint8_t *)buffer + *got, size - *got, &part, error));
  }
  return CST_OK;
}

cst_status cst__input_finish(cst__input *input, cst_error *error) {
  uint8_t rest[4096];
  size_t got = 1;
  while (input->codec != NULL && got > 0) {
    CST__TRY(cst__input_read(input, rest, sizeof rest, &got, error));
  }
  return CST_OK;
}

const uint8_t *cst__input_map(cst__input *input, size_t *size) {
  bool mapped = is_usable(input) && input->raw.map != NULL;
  *size = mapped ? input->raw.map_size : 0;
  return mapped ? input->raw.map : NULL;
}

cst__compression cst__input_compression(cst__input *input, cst_error *error) {
  if (!is_usable(input)) {
    (void)give_failure(input, error);
  }
  return input->compression;
}

uint64_t cst__input_consumed(const cst__input *input) {
  return input->raw.offset - (input->end - input->at);
}

int64_t cst__input_file_size(const cst__input *input) { return input->raw.size; }

const char *cst__input_name(const cst__input *input) { return input->raw.name; }

void cst__input_close(cst__input *input) {
  if (input == NULL) {
    return;
  }
  if (input->state != NULL) {
    input->codec->free_state(input->state);
  }
  if (input->frames != NULL) {
    cst__delete(input->frames->restarts.items);
    cst__delete(input->frames);
  }
  cst__delete(input->chunk);
  cst__raw_close(&input->raw);
  cst__delete(input);
}

/* The text grows with what is there, not with what a header claims. */
static cst_status read_to_end(cst__input *input, size_t most, cst__text *out, cst_error *error) {
  enum { FILE_STEP = 64 << 10 };
  size_t got = FILE_STEP;
  while (got == FILE_STEP && out->size <= most) {
    char *room = cst__text_reserve(out, FILE_STEP);
    if (room == NULL) {
      return cst__fail_memory(error, out->size + FILE_STEP);
    }
    CST__TRY(cst__input_read(input, room, FILE_STEP, &got, error));
    out->size += got;
  }
  return CST_OK;
}

cst_status cst__input_read_file(const char *path, size_t most, cst__text *out, cst_error *error) {
  cst__input *input;
  CST__TRY(cst__input_open(path, NULL, &input, error));
  cst_status status = read_to_end(input, most, out, error);
  cst__input_close(input);
  if (status != CST_OK) {
    cst__error_add_file(error, path);
  }
  return status;
}
