/* The header of a container file, and its blocks. */
#include "avro/avro_file.h"

#include <string.h>

#include "avro/avro_bytes.h"
#include "avro/avro_program.h"
#include "base/bytes.h"

enum {
  SYNC = 16,
  MAGIC = 4,
  HEAD = 20, /* bytes that two numbers take at most */
  PIECE = 256 << 10,
  MOST_HEADER = 32 << 20
};

static const char hint_damaged[] = "the file is damaged: fetch or write it again";

struct cst__avro_file {
  cst_allocator allocator;
  cst__input *input;
  cst__avro_limits limits;
  cst__buffer window; /* bytes of the stream, from which `begin` on are still to be looked at */
  size_t begin;
  size_t end;
  uint64_t offset; /* of the window's first byte in the stream */
  bool at_end;     /* of the stream, or at `stop`, after the window */
  uint64_t first;  /* where the first block begins */
  uint64_t stop;   /* of what is read; UINT64_MAX: the end of the stream */
  bool misplaced;  /* `stop` lies within a block */
  cst__text schema;
  uint8_t sync[SYNC];
  const cst__avro_codec *codec;
};

bool cst__avro_sniff(const uint8_t *head, size_t size) {
  return size >= MAGIC && memcmp(head, "Obj\1", MAGIC) == 0;
}

/* ---- the window ---- */

static size_t there(const cst__avro_file *file) { return file->end - file->begin; }

static uint64_t place_of(const cst__avro_file *file) { return file->offset + file->begin; }

/* Reads until `size` bytes are there, or the stream ends; memory is taken as they come. */
static cst_status fill(cst__avro_file *file, size_t size, cst_error *error) {
  while (there(file) < size && !file->at_end) {
    size_t have = there(file);
    size_t want = size - have < PIECE ? PIECE : size - have;
    size_t most = have < PIECE ? PIECE : have; /* not more at a time than is there */
    want = want < most ? want : most;
    uint64_t left = file->stop - (file->offset + file->end);
    bool stops = want >= left;
    want = stops ? (size_t)left : want;
    if (file->begin > 0) {
      memmove(file->window.data, file->window.data + file->begin, have);
      file->offset += file->begin;
      file->begin = 0;
      file->end = have;
    }
    size_t room;
    if (!cst__add(have, want + CST__AVRO_SLACK, &room) ||
        !cst__buffer_reserve(&file->allocator, &file->window, room, have)) {
      return cst__fail_memory(error, have + want);
    }
    size_t got = 0;
    CST__TRY(cst__input_read(file->input, file->window.data + have, want, &got, error));
    file->end = have + got;
    /* Fewer than asked for may come before a failure, which the next call tells. */
    file->at_end = got == 0 || (stops && got == want);
    memset(file->window.data + file->end, 0, CST__AVRO_SLACK);
  }
  return CST_OK;
}

static const uint8_t *first_byte(const cst__avro_file *file) {
  return file->window.data + file->begin;
}

/* ---- the header ---- */

typedef struct header {
  cst_bytes schema;
  cst_bytes codec;
} header;

static const uint8_t *read_bytes(const uint8_t *at, const uint8_t *end, cst_bytes *out,
                                 bool *is_wrong) {
  int64_t size;
  at = cst__avro_read_long(at, end, &size);
  if (at == NULL || size < 0 || size > MOST_HEADER) {
    *is_wrong |= at != NULL;
    return NULL;
  }
  *out = (cst_bytes){at, (size_t)size};
  return size <= end - at ? at + size : NULL;
}

/* The map of metadata. NULL: it is not all there, or wrong. */
static const uint8_t *read_metadata(const uint8_t *at, const uint8_t *end, header *out,
                                    bool *is_wrong) {
  for (;;) {
    int64_t count;
    int64_t ignored;
    at = cst__avro_read_long(at, end, &count);
    if (at != NULL && count < 0) {
      *is_wrong |= count < -MOST_HEADER;
      count = -count;
      at = cst__avro_read_long(at, end, &ignored);
    }
    if (at == NULL || *is_wrong || count > MOST_HEADER) {
      *is_wrong |= at != NULL;
      return NULL;
    }
    if (count == 0) {
      return at;
    }
    for (; count > 0; count--) {
      cst_bytes key = {NULL, 0};
      cst_bytes value = {NULL, 0};
      at = read_bytes(at, end, &key, is_wrong);
      at = at != NULL ? read_bytes(at, end, &value, is_wrong) : NULL;
      if (at == NULL) {
        return NULL;
      }
      if (cst__bytes_equal(key, cst__bytes_of("avro.schema"))) {
        out->schema = value;
      } else if (cst__bytes_equal(key, cst__bytes_of("avro.codec"))) {
        out->codec = value;
      }
    }
  }
}

static cst_status fail_file(const char *what, cst_error *error) {
  return cst__fail(error, CST_CORRUPT, hint_damaged, "an Avro file: %s", what);
}

/* Takes what is needed of the header, which the window has. */
static cst_status keep_header(cst__avro_file *file, const header *h, const uint8_t *sync,
                              cst_error *error) {
  if (h->schema.data == NULL) {
    return fail_file("the header has no schema", error);
  }
  memcpy(file->sync, sync, SYNC);
  cst__text_append(&file->schema, h->schema.data, h->schema.size);
  if (file->schema.failed) {
    return cst__fail_memory(error, h->schema.size);
  }
  return cst__avro_codec_find(h->codec, &file->codec, error);
}

static cst_status read_header(cst__avro_file *file, cst_error *error) {
  for (size_t want = MAGIC;;
       want = there(file) * 2) { /* no more than it takes: damage may follow */
    header h = {{NULL, 0}, {NULL, 0}};
    bool is_wrong = false;
    CST__TRY(fill(file, want, error));
    const uint8_t *begin = first_byte(file);
    const uint8_t *end = begin + there(file);
    if (begin == NULL || !cst__avro_sniff(begin, there(file))) {
      return cst__fail(error, CST_CORRUPT, "give files that begin with \"Obj\" and the byte 1",
                       "not an Avro file");
    }
    const uint8_t *at = read_metadata(begin + MAGIC, end, &h, &is_wrong);
    if (at != NULL && end - at >= SYNC) {
      CST__TRY(keep_header(file, &h, at, error));
      file->begin += (size_t)(at + SYNC - begin);
      file->first = place_of(file);
      return CST_OK;
    }
    if (is_wrong || file->at_end) {
      return fail_file(is_wrong ? "the header is damaged" : "it ends within its header", error);
    }
    if (want >= MOST_HEADER) {
      return cst__fail(error, CST_LIMIT, "divide the schema",
                       "an Avro file with a header of more than %d bytes", MOST_HEADER);
    }
  }
}

cst_status cst__avro_file_open(cst__input *input, const cst__avro_limits *limits,
                               const cst_allocator *allocator, cst__avro_file **out,
                               cst_error *error) {
  enum { USUAL = 256 << 20 };
  cst__avro_file *file = cst__new_zero(allocator, sizeof *file);
  if (file == NULL) {
    return cst__fail_memory(error, sizeof *file);
  }
  file->allocator = cst__allocator_of(allocator);
  file->input = input;
  file->stop = UINT64_MAX;
  file->limits = *limits;
  file->limits.max_block_size = limits->max_block_size > 0 ? limits->max_block_size : USUAL;
  file->schema.allocator = file->allocator;
  cst_status status = read_header(file, error);
  if (status != CST_OK) {
    cst__avro_file_close(file);
    file = NULL;
  }
  *out = file;
  return status;
}

void cst__avro_file_close(cst__avro_file *file) {
  if (file != NULL) {
    cst__text_free(&file->schema);
    cst__buffer_free(&file->allocator, &file->window);
    cst__delete(file);
  }
}

const cst__avro_codec *cst__avro_file_codec(const cst__avro_file *file) { return file->codec; }

cst_bytes cst__avro_file_schema(const cst__avro_file *file) {
  return (cst_bytes){(const uint8_t *)file->schema.data, file->schema.size};
}

/* ---- places ---- */

static cst_status seek(cst__avro_file *file, uint64_t place, cst_error *error) {
  return cst__input_seek(file->input, place)
             ? CST_OK
             : cst__fail(error, CST_IO, "open it again",
                         "the file changed after it was split: its bytes can no longer be read");
}

/* Goes on at a place, which is not after `stop`. */
static cst_status go_to(cst__avro_file *file, uint64_t place, cst_error *error) {
  if (place >= file->offset && place - file->offset <= file->end) {
    file->begin = (size_t)(place - file->offset);
    return CST_OK;
  }
  CST__TRY(seek(file, place, error));
  file->offset = place;
  file->begin = file->end = 0;
  file->at_end = false;
  return CST_OK;
}

/* Forgets what the window has of bytes from `stop` on. */
static void stop_at(cst__avro_file *file, uint64_t stop) {
  file->stop = stop;
  if (file->offset + file->end >= stop) {
    file->end = stop > file->offset ? (size_t)(stop - file->offset) : 0;
    file->begin = file->begin < file->end ? file->begin : file->end;
    file->at_end = true;
  }
}

cst_status cst__avro_file_limit(cst__avro_file *file, uint64_t begin, uint64_t end,
                                cst_error *error) {
  if (begin > file->first) {
    CST__TRY(go_to(file, begin, error));
  }
  stop_at(file, end > file->first ? end : file->first);
  return CST_OK;
}

bool cst__avro_file_is_misplaced(const cst__avro_file *file) { return file->misplaced; }

/* ---- blocks ---- */

/* The head: number of values, size of their bytes. Its own size is in *head. */
static cst_status read_head(cst__avro_file *file, int64_t *count, int64_t *size, size_t *head,
                            cst_error *error) {
  CST__TRY(fill(file, HEAD, error));
  const uint8_t *begin = first_byte(file);
  const uint8_t *end = begin + there(file);
  const uint8_t *at = cst__avro_read_long(begin, end, count);
  at = at != NULL ? cst__avro_read_long(at, end, size) : NULL;
  if (at == NULL || *count < 0 || *size < 0) {
    return fail_file(at == NULL && file->at_end && there(file) < HEAD
                         ? "it ends within the head of a block"
                         : "the head of a block is damaged",
                     error);
  }
  *head = (size_t)(at - begin);
  if ((uint64_t)*size > file->limits.max_block_size) {
    return cst__fail(error, CST_LIMIT, "read it with a larger max_record_size",
                     "an Avro block of %lld bytes: more than %llu", (long long)*size,
                     (unsigned long long)file->limits.max_block_size);
  }
  return CST_OK;
}

/* A block whose marker is not there: the file is cut, or the block is damaged, or what is read was
 * cut within it. */
static cst_status fail_cut(cst__avro_file *file, uint64_t marker_at, cst_error *error) {
  uint8_t marker[SYNC];
  size_t got = 0;
  uint64_t end = file->offset + file->end;
  if (end < file->stop) {
    return fail_file("it ends within a block", error);
  }
  CST__TRY(seek(file, marker_at, error));
  CST__TRY(cst__input_fill(file->input, marker, SYNC, &got, error));
  file->misplaced = got == SYNC && memcmp(marker, file->sync, SYNC) == 0;
  return file->misplaced ? cst__fail(error, CST_CORRUPT, "read it as a whole",
                                     "no Avro block begins at byte %llu", (unsigned long long)end)
                         : fail_file("a block is not followed by the sync marker", error);
}

static cst_status read_block(cst__avro_file *file, cst__avro_block *out, cst_error *error) {
  int64_t size = 0;
  size_t head = 0;
  CST__TRY(read_head(file, &out->count, &size, &head, error));
  size_t all = head + (size_t)size + SYNC;
  CST__TRY(fill(file, all, error));
  if (there(file) < all) {
    return fail_cut(file, place_of(file) + all - SYNC, error);
  }
  const uint8_t *values = first_byte(file) + head;
  if (memcmp(values + size, file->sync, SYNC) != 0) {
    return fail_file("a block is not followed by the sync marker", error);
  }
  out->size = all;
  out->is_compressed = file->codec->inflate != NULL;
  out->at = out->offset + (out->is_compressed ? 0 : head);
  out->values = (cst_bytes){values, (size_t)size};
  return CST_OK;
}

cst_status cst__avro_file_next(cst__avro_file *file, cst__avro_block *out, bool *ended,
                               cst_error *error) {
  CST__TRY(fill(file, 1, error));
  *ended = there(file) == 0;
  if (*ended) {
    return CST_OK;
  }
  *out = (cst__avro_block){.offset = place_of(file)};
  cst_status status = read_block(file, out, error);
  if (status != CST_OK) {
    cst__error_add_record(error, -1, (int64_t)out->offset);
    return status;
  }
  file->begin += out->size;
  return CST_OK;
}

/* ---- after damage ---- */

/* The first marker in the window after its first byte; NULL: there is none. */
static const uint8_t *find_marker(const cst__avro_file *file) {
  size_t size = there(file);
  return size > 1 ? memmem(first_byte(file) + 1, size - 1, file->sync, SYNC) : NULL;
}

cst_status cst__avro_file_recover(cst__avro_file *file, uint64_t *passed, cst_error *error) {
  uint64_t from = place_of(file);
  for (;;) {
    cst_error own = CST_ERROR_INIT;
    cst_status status = fill(file, PIECE, &own);
    if (cst__is_fault(status)) { /* damaged compression ends its file */
      file->begin = file->end;
      file->at_end = true;
      break;
    }
    if (status != CST_OK) {
      cst__error_copy(error, &own);
      return status;
    }
    const uint8_t *marker = find_marker(file);
    if (marker != NULL) {
      file->begin = (size_t)(marker - file->window.data) + SYNC;
      break;
    }
    if (file->at_end) {
      file->begin = file->end;
      break;
    }
    file->begin = file->end - SYNC; /* a marker may begin in what is there */
  }
  *passed = place_of(file) - from;
  return CST_OK;
}

/* ---- where blocks begin ---- */

/* Looks at the block that should begin at *at, which becomes its end if it is one. */
static cst_status step(cst__avro_file *file, uint64_t *at, bool *sound, bool *ended,
                       cst_error *error) {
  int64_t count = 0;
  int64_t size = 0;
  size_t head = 0;
  CST__TRY(go_to(file, *at, error));
  CST__TRY(fill(file, HEAD, error));
  *ended = there(file) == 0;
  if (*ended) {
    return CST_OK;
  }
  cst_error own = CST_ERROR_INIT;
  *sound = read_head(file, &count, &size, &head, &own) == CST_OK &&
           (file->stop == UINT64_MAX || head + (uint64_t)size + SYNC <= file->stop - *at);
  if (!*sound) {
    return CST_OK;
  }
  uint64_t marker_at = *at + head + (uint64_t)size;
  CST__TRY(go_to(file, marker_at, error));
  CST__TRY(fill(file, SYNC, error));
  *sound = there(file) >= SYNC && memcmp(first_byte(file), file->sync, SYNC) == 0;
  *at = *sound ? marker_at + SYNC : *at;
  return CST_OK;
}

/* True in *sound if a block begins at `at`, as far as those after it show. *next: else none of the
 * blocks before it is one either. */
static cst_status try_begin(cst__avro_file *file, uint64_t at, bool *sound, uint64_t *next,
                            cst_error *error) {
  uint64_t begin = at;
  bool ended = false;
  *sound = true;
  for (size_t blocks = 0;
       *sound && !ended && (blocks < CST__AVRO_CHAIN_BLOCKS || at - begin < CST__AVRO_CHAIN_BYTES);
       blocks++) {
    CST__TRY(step(file, &at, sound, &ended, error));
  }
  *next = at + 1;
  return CST_OK;
}

cst_status cst__avro_file_find(cst__avro_file *file, uint64_t from, uint64_t end, uint64_t *out,
                               cst_error *error) {
  bool found = false;
  *out = file->first < end ? file->first : end;
  stop_at(file, end);
  for (uint64_t at = from; from > file->first && !found && *out < end;) { /* none is before `at` */
    CST__TRY(go_to(file, at - SYNC, error));
    CST__TRY(fill(file, PIECE, error));
    if (there(file) < SYNC && at == from && end == UINT64_MAX) {
      return cst__fail(error, CST_STATE, "plan it again",
                       "the file changed since it was planned: it ends before byte %llu",
                       (unsigned long long)from);
    }
    const uint8_t *marker =
        there(file) >= SYNC ? memmem(first_byte(file), there(file), file->sync, SYNC) : NULL;
    if (marker != NULL) {
      *out = file->offset + (uint64_t)(marker - file->window.data) + SYNC;
      CST__TRY(try_begin(file, *out, &found, &at, error));
    } else if (file->at_end) {
      *out = end;
    } else {
      at = file->offset + file->end + 1; /* a marker may begin in the last bytes */
    }
  }
  return CST_OK;
}
