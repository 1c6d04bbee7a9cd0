/* A buffer that is filled back to front, as serialized messages are written: when a message's
 * fields stand there, its length is known and goes before them, and so on outwards. One pass, no
 * sizes in advance.
 */
#ifndef ARROW_RECORDS_BACK_H
#define ARROW_RECORDS_BACK_H

#include "arrow/batch.h"
#include "base/hash.h"

enum { CST__MAX_VARINT = 10 };

/* Writes the varint so that it ends at `end`; returns its begin. */
static inline uint8_t *cst__put_varint_back(uint8_t *end, uint64_t value) {
  if (value < 0x80) {
    *--end = (uint8_t)value;
    return end;
  }
  size_t size = ((size_t)(63 - __builtin_clzll(value)) / 7) + 1;
  uint8_t *begin = end - size;
  for (size_t i = 0; i + 1 < size; i++) {
    begin[i] = (uint8_t)(value | 0x80);
    value >>= 7;
  }
  begin[size - 1] = (uint8_t)value;
  return begin;
}

/* Copies exactly `size` bytes; short runs without a call. */
static inline void cst__copy_exact(uint8_t *to, const uint8_t *from, size_t size) {
  if (size >= 8 && size <= 16) {
    uint64_t first = cst__load64(from);
    uint64_t last = cst__load64(from + size - 8);
    memcpy(to, &first, 8);
    memcpy(to + size - 8, &last, 8);
  } else if (size > 0) {
    memcpy(to, from, size);
  }
}

/* Where the bytes go: filled from the end. */
typedef struct cst__back {
  const cst_allocator *allocator;
  cst__buffer *buffer;
  uint8_t *at; /* begin of what is written */
} cst__back;

bool cst__back_grow(cst__back *back, size_t want);

/* Room for `want` more bytes before what is written, which may move. False: no memory. */
static inline bool cst__back_room(cst__back *back, size_t want) {
  return (size_t)(back->at - back->buffer->data) >= want || cst__back_grow(back, want);
}

/* The number of bytes that are written. */
static inline size_t cst__back_used(const cst__back *back) {
  return (size_t)(back->buffer->data + back->buffer->capacity - back->at);
}

/* A tag and a length before what is written; there is room. */
static inline void cst__put_size(cst__back *back, size_t size, uint8_t tag) {
  back->at = cst__put_varint_back(back->at, size);
  *--back->at = tag;
}

#endif /* ARROW_RECORDS_BACK_H */
