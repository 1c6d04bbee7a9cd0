/* What the targets of containers without checksums share: a stream in whole and in pieces, the
 * records written again, and the search for what follows damage. */
#ifndef FUZZ_CONTAINER_FEED_H
#define FUZZ_CONTAINER_FEED_H

#include <string.h>

#include "format/container/container.h"
#include "fuzz.h"

enum { FEED_RECORD = 100, FEED_FRAMES = 5 };

/* What a walk over a stream finds. */
typedef struct feed_walk {
  size_t records;
  size_t refused; /* of these, when they were written */
  size_t bytes;   /* of the sound records, with their framing */
  uint64_t sum;   /* of their payloads */
  cst_status status;
} feed_walk;

static inline uint64_t feed_sum(uint64_t sum, const uint8_t *data, size_t size) {
  sum = (sum ^ size) * UINT64_C(0x100000001b3);
  for (size_t i = 0; i < size; i++) {
    sum = (sum ^ data[i]) * UINT64_C(0x100000001b3);
  }
  return sum;
}

/* Walks over the stream, of which `step` more bytes are there each time; writes the records. */
static inline feed_walk feed_walk_over(const cst__container *container, const uint8_t *data,
                                       size_t size, size_t step, cst__output *output) {
  feed_walk w = {0};
  size_t there = 0;
  while (w.status == CST_OK && (w.bytes < size || there < size)) {
    cst__frame frames[FEED_FRAMES];
    cst__framed framed = {.frames = frames, .max = FEED_FRAMES};
    cst_error error = CST_ERROR_INIT;
    there = size - there < step ? size : there + step;
    const cst__chunk chunk = {data + w.bytes, there - w.bytes, there == size};
    w.status = container->scan(&chunk, FEED_RECORD, &framed, &error);
    FUZZ_ASSERT(w.status == error.code);
    size_t end = 0;
    for (size_t i = 0; i < framed.count; i++) {
      const uint8_t *record = chunk.data + frames[i].begin;
      FUZZ_ASSERT(cst__frame_start(&frames[i]) == end);
      FUZZ_ASSERT(frames[i].size <= FEED_RECORD);
      end = cst__frame_end(&frames[i]);
      w.sum = feed_sum(w.sum, record, frames[i].size);
      if (output != NULL) {
        cst_status written = container->write(output, record, frames[i].size, NULL);
        FUZZ_ASSERT(written == CST_OK || written == CST_UNSUPPORTED);
        w.refused += written != CST_OK;
      }
    }
    FUZZ_ASSERT(end == framed.consumed && end <= chunk.size);
    FUZZ_ASSERT(framed.needed == 0 || framed.needed > chunk.size - end);
    w.records += framed.count;
    w.bytes += end;
    if (w.status == CST_OK && chunk.ends && framed.needed > 0) {
      w.status = container->truncated(chunk.size - end, framed.needed, NULL);
      FUZZ_ASSERT(w.status == CST_CORRUPT);
    }
  }
  return w;
}

/* The search for the end of a damaged record moves on, in pieces as in whole, and not too far. */
static inline size_t feed_find_end(const cst__container *container, cst__damage_kind kind,
                                   const uint8_t *data, size_t size, size_t step) {
  cst__resync resync = {.longest = 1 << 20, .kind = kind, .first = 1};
  size_t at = 0;
  size_t there = size < 12 ? size : 12;
  for (;;) {
    const cst__chunk chunk = {data + at, there - at, there == size};
    size_t passed = 0;
    uint64_t needed = 0;
    bool found = container->find_end(&resync, &chunk, &passed, &needed);
    FUZZ_ASSERT(passed <= chunk.size);
    at += passed;
    if (found) {
      return at;
    }
    FUZZ_ASSERT(!chunk.ends && needed > 0);
    there = size - there < step ? size : there + step;
  }
}

typedef struct feed_copy {
  uint8_t *data;
  size_t size;
} feed_copy;

static inline cst_status feed_put(void *ctx, const void *data, size_t size, cst_error *error) {
  feed_copy *copy = ctx;
  (void)error;
  memcpy(copy->data + copy->size, data, size);
  copy->size += size;
  return CST_OK;
}

/* All of it; `room` has space for 12 bytes more per byte of the input. */
static inline void feed_container(const cst__container *container, const uint8_t *data, size_t size,
                                  uint8_t *room) {
  feed_copy copy = {room, 0};
  const cst_writer writer = {.size = sizeof writer, .write = feed_put, .ctx = &copy};
  cst__output *output;
  FUZZ_ASSERT(cst__output_open_writer(&writer, CST_COMPRESSION_NONE, 0, NULL, &output, NULL) ==
              CST_OK);
  const feed_walk whole = feed_walk_over(container, data, size, size + 1, output);
  FUZZ_ASSERT(cst__output_finish(output, NULL) == CST_OK);
  cst__output_free(output);
  for (size_t step = 1; step < 40; step += 6) {
    const feed_walk pieces = feed_walk_over(container, data, size, step, NULL);
    FUZZ_ASSERT(pieces.records == whole.records && pieces.sum == whole.sum);
    FUZZ_ASSERT(pieces.status == whole.status && pieces.bytes == whole.bytes);
  }
  const feed_walk again = feed_walk_over(container, room, copy.size, copy.size + 1, NULL);
  FUZZ_ASSERT(again.status == CST_OK);
  FUZZ_ASSERT(again.records == whole.records - whole.refused);
  FUZZ_ASSERT(whole.refused > 0 || again.sum == whole.sum);
  if (whole.status == CST_LIMIT) {
    const uint8_t *rest = data + whole.bytes;
    const size_t left = size - whole.bytes;
    FUZZ_ASSERT(feed_find_end(container, CST__DAMAGE_LIMIT, rest, left, 1) ==
                feed_find_end(container, CST__DAMAGE_LIMIT, rest, left, left));
  }
  const cst__chunk head = {data, size, true};
  const cst__chunk cut = {data, size, false};
  (void)cst__container_sniff(&head, false);
  (void)cst__container_sniff(&cut, false);
  fuzz_outcome(cst_status_name(whole.status));
}

#endif
