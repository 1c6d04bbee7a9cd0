/* What the tests of reading and writing share: bytes in memory as a reader and as a writer, and
 * compressed and framed data made by the libraries themselves. */
#ifndef TESTS_UNIT_IO_SUPPORT_H
#define TESTS_UNIT_IO_SUPPORT_H

#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "io/input.h"
#include "io/output.h"

/* ---- growing bytes; test memory, freed by bytes_free ---- */

typedef struct bytes {
  uint8_t *data;
  size_t size;
  size_t capacity;
} bytes;

static inline bool bytes_add(bytes *b, const void *data, size_t size) {
  if (b->size + size > b->capacity) {
    size_t capacity = (b->size + size) * 2 + 64;
    uint8_t *fresh = realloc(b->data, capacity);
    if (fresh == NULL) {
      return false;
    }
    b->data = fresh;
    b->capacity = capacity;
  }
  if (size > 0) {
    memcpy(b->data + b->size, data, size);
  }
  b->size += size;
  return true;
}

static inline void bytes_free(bytes *b) {
  free(b->data);
  *b = (bytes){0};
}

/* One record in TFRecord framing, written out here once more by the specification. */
static inline void bytes_add_record(bytes *b, const void *record, size_t size) {
  uint64_t length = size;
  uint32_t crc = cst__crc32c_mask(cst__crc32c(0, &length, 8));
  uint32_t data_crc = cst__crc32c_mask(cst__crc32c(0, record, size));
  bytes_add(b, &length, 8);
  bytes_add(b, &crc, 4);
  bytes_add(b, record, size);
  bytes_add(b, &data_crc, 4);
}

/* ---- bytes as a reader ---- */

typedef struct memory {
  const uint8_t *data;
  size_t size;
  size_t most;    /* bytes given at a time; 0: all that are wanted */
  size_t fail_at; /* offset at which reading fails; 0: never */
  uint64_t next;  /* offset that a reader without seeking has to be asked for */
  bool out_of_order;
  size_t reads; /* how often it was asked */
  int closed;
} memory;

static inline cst_status memory_read(void *ctx, uint64_t offset, void *buffer, size_t size,
                                     size_t *got, cst_error *error) {
  memory *m = ctx;
  (void)error;
  m->reads++;
  m->out_of_order |= offset != m->next;
  if (m->fail_at != 0 && offset >= m->fail_at) {
    return CST_IO;
  }
  size_t there = offset < m->size ? m->size - (size_t)offset : 0;
  size_t n = size < there ? size : there;
  n = m->most != 0 && n > m->most ? m->most : n;
  if (n > 0) {
    memcpy(buffer, m->data + offset, n);
  }
  *got = n;
  m->next = offset + n;
  return CST_OK;
}

static inline void memory_close(void *ctx) { ((memory *)ctx)->closed++; }

static inline cst_reader memory_reader(memory *m, bool can_seek) {
  return (cst_reader){.size = sizeof(cst_reader),
                      .name = "memory",
                      .read_at = memory_read,
                      .close = memory_close,
                      .ctx = m,
                      .can_seek = can_seek};
}

/* Reads a stream to its end, `step` bytes at a time, behind what `out` (may be NULL) holds. */
static inline cst_status read_to_end(cst__input *input, size_t step, bytes *out, cst_error *error) {
  uint8_t *block = malloc(step);
  if (block == NULL) {
    return CST_NO_MEMORY;
  }
  cst_status status;
  size_t got;
  do {
    status = cst__input_read(input, block, step, &got, error);
    if (out != NULL && !bytes_add(out, block, got)) {
      status = CST_NO_MEMORY;
    }
  } while (status == CST_OK && got > 0);
  free(block);
  return status;
}

/* The same for bytes in memory that come `most` at a time. */
static inline cst_status read_memory(const void *data, size_t size, size_t most, size_t step,
                                     bytes *out, cst_error *error) {
  memory m = {.data = data, .size = size, .most = most};
  cst_reader reader = memory_reader(&m, false);
  cst__input *input;
  CST__TRY(cst__input_open_reader(&reader, NULL, &input, error));
  cst_status status = read_to_end(input, step, out, error);
  cst__input_close(input);
  return status;
}

/* ---- bytes as a writer ---- */

typedef struct memory_sink {
  bytes data;
  size_t fail_at; /* bytes after which writing fails; 0: never */
  int closed;
  int committed;
} memory_sink;

static inline cst_status memory_write(void *ctx, const void *data, size_t size, cst_error *error) {
  memory_sink *sink = ctx;
  (void)error;
  if (sink->fail_at != 0 && sink->data.size + size > sink->fail_at) {
    return CST_IO;
  }
  return bytes_add(&sink->data, data, size) ? CST_OK : CST_NO_MEMORY;
}

static inline cst_status memory_commit(void *ctx, bool commit, cst_error *error) {
  memory_sink *sink = ctx;
  (void)error;
  sink->closed++;
  sink->committed += commit;
  return CST_OK;
}

static inline cst_writer memory_writer(memory_sink *sink) {
  return (cst_writer){.size = sizeof(cst_writer),
                      .name = "memory",
                      .write = memory_write,
                      .close = memory_commit,
                      .ctx = sink};
}

/* Adds `size` bytes, compressed as one member or frame. */
static inline cst_status add_compressed(bytes *b, cst_compression compression, const void *data,
                                        size_t size) {
  memory_sink sink = {.data = *b};
  cst_writer writer = memory_writer(&sink);
  cst__output *output;
  CST__TRY(cst__output_open_writer(&writer, compression, 0, NULL, &output, NULL));
  cst_status status = cst__output_write(output, data, size, NULL);
  if (status == CST_OK) {
    status = cst__output_finish(output, NULL);
  }
  cst__output_free(output);
  *b = sink.data;
  return status;
}

/* Bytes that do not compress to nothing, the same in every run. */
static inline void add_noise(bytes *b, size_t size, uint32_t seed) {
  for (size_t i = 0; i < size; i++) {
    seed = seed * 1664525 + 1013904223;
    uint8_t byte = (uint8_t)(seed >> 27 & 15);
    bytes_add(b, &byte, 1);
  }
}

#endif /* TESTS_UNIT_IO_SUPPORT_H */
