/* The bytes of a file, through decompression and TFRecord framing: read as a whole and in blocks
 * they have to give the same records and the same end, and the records written again the same
 * bytes. Recovered, they give those records and more, all of them sound, and every byte is in a
 * record or in a dropped one. */
#include <columnstone/source.h>
#include <string.h>

#include "base/crc32c.h"
#include "format/container/container.h"
#include "format/container/tfrecord.h"
#include "format/guess.h"
#include "fuzz.h"
#include "io/input.h"

enum {
  MOST_BYTES = 1 << 20,  /* of a decompressed stream that are looked at */
  MOST_RECORD = 1 << 18, /* bytes of a record */
  MOST_FRAMES = 64,
  LEAST_BLOCK = 64
};

typedef struct source {
  const uint8_t *data;
  size_t size;
  size_t most; /* bytes given at a time */
} source;

/* What a walk over the records has found. */
typedef struct walk {
  cst_status status;
  uint64_t records;
  uint64_t bytes;    /* that sound records take */
  uint32_t checksum; /* of their payloads */
  cst_error error;
} walk;

static uint8_t whole[MOST_BYTES];
static uint8_t block[MOST_BYTES];
static uint8_t repaired[MOST_BYTES];
static cst__frame frames[MOST_FRAMES];

static cst_status read_at(void *ctx, uint64_t offset, void *buffer, size_t size, size_t *got,
                          cst_error *error) {
  source *s = ctx;
  (void)error;
  size_t there = offset < s->size ? s->size - (size_t)offset : 0;
  size_t n = size < there ? size : there;
  *got = n < s->most ? n : s->most;
  if (*got > 0) {
    memcpy(buffer, s->data + offset, *got);
  }
  return CST_OK;
}

static cst__input *open_source(source *s, bool can_seek) {
  const cst_reader reader = {
      .size = sizeof reader, .name = "fuzz", .read_at = read_at, .ctx = s, .can_seek = can_seek};
  const cst__input_options options = {.is_plain = cst__container_is_proven};
  cst__input *input;
  FUZZ_ASSERT(cst__input_open_reader(&reader, &options, &input, NULL) == CST_OK);
  return input;
}

/* Takes the complete records in front of data[0..size), at most until the first fault; returns the
 * bytes that they take. */
static size_t take_records(const uint8_t *data, size_t size, walk *w, uint64_t *needed) {
  const cst__container *container = &cst__tfrecord_container;
  size_t at = 0;
  size_t count = 0;
  do {
    const cst__chunk chunk = {data + at, size - at, false};
    cst__framed framed = {.frames = frames, .max = MOST_FRAMES};
    w->status = container->scan(&chunk, MOST_RECORD, &framed, &w->error);
    const size_t used = framed.consumed;
    count = framed.count;
    *needed = framed.needed;
    FUZZ_ASSERT(used <= size - at);
    for (size_t i = 0; i < count; i++) {
      cst_error error = CST_ERROR_INIT;
      FUZZ_ASSERT(cst__frame_end(&frames[i]) <= used);
      if (container->check(data + at, &frames[i], &error) != CST_OK) {
        w->status = CST_CORRUPT;
        w->error = error;
        return at;
      }
      w->checksum = cst__crc32c(w->checksum, data + at + frames[i].begin, frames[i].size);
      w->bytes += frames[i].size + 16;
      w->records++;
    }
    at += used;
  } while (w->status == CST_OK && count == MOST_FRAMES);
  return at;
}

static void end_walk(walk *w, size_t size, uint64_t needed) {
  if (w->status == CST_OK && size > 0) {
    w->status = cst__tfrecord_container.truncated(size, needed, &w->error);
  }
}

/* Reads everything, then looks for records. *size: the bytes of the stream. */
static walk walk_whole(const uint8_t *data, size_t size, cst_status *read_status, size_t *total) {
  source s = {data, size, SIZE_MAX};
  walk w = {.error = CST_ERROR_INIT};
  cst_error error = CST_ERROR_INIT;
  cst__input *input = open_source(&s, true);
  size_t got;
  *total = 0;
  do {
    *read_status = cst__input_read(input, whole + *total, MOST_BYTES - *total, &got, &error);
    *total += got;
  } while (*read_status == CST_OK && got > 0);
  FUZZ_ASSERT(*read_status == error.code);
  FUZZ_ASSERT(*read_status == CST_OK || strcmp(error.file, "fuzz") == 0);
  FUZZ_ASSERT(*read_status == CST_OK || error.message[0] != '\0');
  uint64_t needed;
  size_t used = take_records(whole, *total, &w, &needed);
  if (*read_status == CST_OK && *total < MOST_BYTES) {
    end_walk(&w, *total - used, needed);
  }
  cst__input_close(input);
  return w;
}

/* Reads blocks of `least` bytes or of what a record needs, as a source does. */
static walk walk_blocks(const uint8_t *data, size_t size, size_t least, size_t most,
                        cst_status *read_status) {
  source s = {data, size, most};
  walk w = {.error = CST_ERROR_INIT};
  cst__input *input = open_source(&s, false);
  size_t there = 0;
  size_t total = 0;
  uint64_t needed = 0;
  for (;;) {
    size_t want = needed > least ? (size_t)needed : least;
    want = want - there < MOST_BYTES - total ? want - there : MOST_BYTES - total;
    size_t got;
    *read_status = cst__input_read(input, block + there, want, &got, NULL);
    there += got;
    total += got;
    size_t used = take_records(block, there, &w, &needed);
    memmove(block, block + used, there - used);
    there -= used;
    if (*read_status != CST_OK || got == 0 || w.status != CST_OK) {
      break;
    }
  }
  if (*read_status == CST_OK && total < MOST_BYTES) {
    end_walk(&w, there, needed);
  }
  cst__input_close(input);
  return w;
}

static cst_status put(void *ctx, const void *data, size_t size, cst_error *error) {
  size_t *at = ctx;
  (void)error;
  FUZZ_ASSERT(memcmp(whole + *at, data, size) == 0);
  *at += size;
  return CST_OK;
}

/* The sound records of `whole`, written again. */
static void write_again(const walk *w) {
  size_t compared = 0;
  const cst_writer writer = {.size = sizeof writer, .write = put, .ctx = &compared};
  cst__output *output;
  FUZZ_ASSERT(cst__output_open_writer(&writer, CST_COMPRESSION_NONE, 0, NULL, &output, NULL) ==
              CST_OK);
  for (size_t at = 0; at < w->bytes;) {
    uint64_t length;
    memcpy(&length, whole + at, sizeof length);
    FUZZ_ASSERT(cst__tfrecord_write(output, whole + at + 12, (size_t)length, NULL) == CST_OK);
    at += (size_t)length + 16;
  }
  FUZZ_ASSERT(cst__output_finish(output, NULL) == CST_OK);
  FUZZ_ASSERT(compared == w->bytes);
  cst__output_free(output);
}

/* Puts right CRCs where the lengths in the data would want them, so that changed lengths and
 * payloads come through; every third payload's is left wrong. */
static size_t repair(const uint8_t *data, size_t size) {
  size = size < MOST_BYTES ? size : MOST_BYTES;
  memcpy(repaired, data, size);
  size_t at = 0;
  for (int i = 0; size - at >= 12; i++) {
    uint64_t length;
    memcpy(&length, repaired + at, sizeof length);
    uint32_t crc = cst__crc32c_mask(cst__crc32c(0, repaired + at, 8));
    memcpy(repaired + at + 8, &crc, sizeof crc);
    if (length > size - at || size - at - length < 16) {
      break;
    }
    crc = cst__crc32c_mask(cst__crc32c(0, repaired + at + 12, (size_t)length));
    if (i % 3 != 2) {
      memcpy(repaired + at + 12 + length, &crc, sizeof crc);
    }
    at += (size_t)length + 16;
  }
  return size;
}

/* ---- recovery ---- */

typedef struct recovery {
  bool readable;     /* to the end: else how much of it comes depends on how it is read */
  size_t total;      /* bytes of `whole` */
  size_t at;         /* in it, behind the record found last */
  uint64_t records;  /* delivered */
  uint64_t sure;     /* records that must come first */
  uint32_t checksum; /* of their payloads */
  uint64_t bytes;    /* of records and dropped ones */
  int64_t offset;    /* of the record dropped last */
  bool compression;  /* was dropped */
} recovery;

static bool on_dropped(void *ctx, const cst_dropped *dropped) {
  recovery *r = ctx;
  FUZZ_ASSERT(dropped->bytes > 0 || strcmp(dropped->kind, "compression") == 0);
  FUZZ_ASSERT(dropped->offset > r->offset);
  FUZZ_ASSERT(dropped->error->message[0] != '\0');
  r->offset = dropped->offset;
  r->bytes += dropped->bytes;
  r->compression = r->compression || strcmp(dropped->kind, "compression") == 0;
  return true;
}

/* Every record that comes back lies in the stream, with both of its CRCs, behind the one before. */
static void find_survivor(recovery *r, const uint8_t *payload, size_t size) {
  uint8_t header[12];
  uint64_t length = size;
  memcpy(header, &length, 8);
  uint32_t crc = cst__crc32c_mask(cst__crc32c(0, header, 8));
  uint32_t data_crc = cst__crc32c_mask(cst__crc32c(0, payload, size));
  memcpy(header + 8, &crc, 4);
  for (;;) {
    const uint8_t *found = memmem(whole + r->at, r->total - r->at, header, sizeof header);
    FUZZ_ASSERT(found != NULL);
    size_t there = r->total - (size_t)(found - whole);
    FUZZ_ASSERT(there >= size + 16);
    r->at = (size_t)(found - whole) + 1;
    if (memcmp(found + 12 + size, &data_crc, 4) == 0 &&
        (size == 0 || memcmp(found + 12, payload, size) == 0)) {
      r->at += size + 15;
      return;
    }
  }
}

static void take_survivors(recovery *r, const struct ArrowArray *batch) {
  const int64_t *offsets =
      (const int64_t *)batch->children[0]->buffers[1] + batch->children[0]->offset;
  const uint8_t *data = batch->children[0]->buffers[2];
  for (int64_t i = 0; i < batch->length; i++) {
    size_t size = (size_t)(offsets[i + 1] - offsets[i]);
    if (r->readable) {
      find_survivor(r, data + offsets[i], size);
    }
    if (r->records++ < r->sure) {
      r->checksum = cst__crc32c(r->checksum, data + offsets[i], size);
    }
    r->bytes += size + 16;
  }
}

/* The stream must be in `whole`, and `w` the walk over it. */
static void recover(const uint8_t *data, size_t size, bool readable, size_t total, size_t most,
                    const walk *w) {
  source s = {data, size, most};
  recovery r = {.readable = readable, .total = total, .sure = w->records, .offset = -1};
  const cst_reader reader = {
      .size = sizeof reader, .name = "fuzz", .read_at = read_at, .ctx = &s, .can_seek = true};
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_source *opened;
  cst_pass *pass;
  options.format = "raw";
  options.container = "tfrecord";
  options.batch_size = 7;
  options.max_record_size = MOST_RECORD;
  options.on_error = CST_ON_ERROR_SKIP;
  options.on_dropped = on_dropped;
  options.dropped_ctx = &r;
  FUZZ_ASSERT(cst_source_open_readers(&reader, 1, &options, &opened, NULL) == CST_OK);
  FUZZ_ASSERT(cst_pass_new(opened, &pass, NULL) == CST_OK);
  cst_status status;
  struct ArrowArray batch;
  while ((status = cst_pass_next(pass, &batch, NULL)) == CST_OK && batch.release != NULL) {
    take_survivors(&r, &batch);
    batch.release(&batch);
  }
  FUZZ_ASSERT(status == CST_OK || status == CST_FORMAT || status == CST_UNSUPPORTED);
  if (status == CST_OK && readable) {
    FUZZ_ASSERT(r.records >= w->records && r.checksum == w->checksum);
    FUZZ_ASSERT(r.compression || r.bytes == total);
  }
  cst_pass_free(pass);
  cst_source_release(opened);
}

/* Both walks over the data; the outcome. */
static const char *try_data(const uint8_t *data, size_t size) {
  uint32_t mix = cst__crc32c(0, data, size);
  cst_status first_read;
  cst_status second_read;
  size_t total;
  walk first = walk_whole(data, size, &first_read, &total);
  walk second =
      walk_blocks(data, size, LEAST_BLOCK + mix % 5000, 1 + (mix >> 16) % 3000, &second_read);
  FUZZ_ASSERT(first.records == second.records || first_read != CST_OK);
  FUZZ_ASSERT(first.checksum == second.checksum || first_read != CST_OK);
  FUZZ_ASSERT(first.status == second.status || first_read != CST_OK);
  FUZZ_ASSERT(first.status == CST_OK || first.error.message[0] != '\0');
  const cst__chunk head = {whole, total, true};
  const cst__container *sniffed = cst__container_sniff(&head, true);
  FUZZ_ASSERT((sniffed != NULL) == cst__tfrecord_container.sniff(&head));
  (void)cst__guess_format(whole, total < 64 ? total : 64);
  write_again(&first);
  if (total < MOST_BYTES) {
    recover(data, size, first_read == CST_OK, total, 1 + (mix >> 8) % 70000, &first);
  }
  cst_status status = first.status != CST_OK ? first.status : first_read;
  return status == CST_OK && first.records == 0 ? "EMPTY" : cst_status_name(status);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_outcome(try_data(data, size));
  fuzz_outcome(try_data(repaired, repair(data, size)));
  return 0;
}
