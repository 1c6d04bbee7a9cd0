/* The slow reference of recovery: which records a damaged TFRecord file has, by a scan of every
 * offset of all of its bytes. src/format/container/tfrecord_resync.c gives the rules and the
 * reasons.
 */
#ifndef TESTS_UNIT_RECOVERY_REFERENCE_H
#define TESTS_UNIT_RECOVERY_REFERENCE_H

#include "base/hash.h"
#include "format/container/tfrecord.h"
#include "harness.h"
#include "io_support.h"

typedef struct damaged_file {
  const uint8_t *data;
  size_t size;
  uint64_t limit; /* max_record_size, or 1 MiB if that is more: of lengths that are believed */
} damaged_file;

static inline bool header_is_right(const damaged_file *f, size_t at) {
  return at + 12 <= f->size && cst__load64(f->data + at) <= f->limit &&
         cst__tfrecord_load32(f->data + at + 8) == cst__tfrecord_length_crc(f->data + at);
}

/* Is there a record of this length whose payload has the right checksum? */
static inline bool payload_is_right(const damaged_file *f, size_t at, uint64_t length) {
  if (length > f->limit || at + 16 + length > f->size) {
    return false;
  }
  const uint8_t *payload = f->data + at + 12;
  return cst__crc32c_mask(cst__crc32c(0, payload, (size_t)length)) ==
         cst__tfrecord_load32(payload + length);
}

static inline bool record_is_sound(const damaged_file *f, size_t at) {
  return header_is_right(f, at) && payload_is_right(f, at, cst__load64(f->data + at));
}

static inline size_t record_end(const damaged_file *f, size_t at) {
  return at + 16 + (size_t)cst__load64(f->data + at);
}

typedef bool length_test(const damaged_file *f, size_t at, uint64_t length);

/* The end of the record by the first right header that differs from the one at `at` in at most one
 * byte and passes the test (NULL: any does); 0: none. */
static inline size_t likely_end(const damaged_file *f, size_t at, length_test *test) {
  uint8_t header[12];
  damaged_file one = {header, sizeof header, f->limit};
  for (size_t i = 0; at + 12 <= f->size && i < 12; i++) {
    for (int value = 0; value < 256; value++) {
      memcpy(header, f->data + at, sizeof header);
      header[i] = (uint8_t)value;
      uint64_t length = cst__load64(header);
      if (header_is_right(&one, 0) && (test == NULL || test(f, at, length))) {
        return at + 16 + (size_t)length;
      }
    }
  }
  return 0;
}

/* Can this length of a damaged record be believed? */
static inline bool extent_is_right(const damaged_file *f, size_t at, uint64_t length) {
  if (length > f->limit || at + 16 + length > f->size) {
    return false;
  }
  size_t end = at + 16 + (size_t)length;
  bool proved = end == f->size || likely_end(f, end, NULL) != 0;
  for (size_t i = at + 1; i < end; i++) {
    if (record_is_sound(f, i) && (!proved || record_end(f, i) > end - 4)) {
      return false;
    }
  }
  return proved || f->size - end < 12;
}

static inline bool length_is_right(const damaged_file *f, size_t at, uint64_t length) {
  return payload_is_right(f, at, length) || extent_is_right(f, at, length);
}

/* The end of a damaged record as its own header tells it, or 0. */
static inline size_t told_end(const damaged_file *f, size_t at) {
  if (header_is_right(f, at)) {
    return extent_is_right(f, at, cst__load64(f->data + at)) ? record_end(f, at) : 0;
  }
  if (at + 12 > f->size || likely_end(f, at, NULL) != 0) {
    return likely_end(f, at, length_is_right);
  }
  /* more of the length's checksum is wrong: the payload's is proof enough */
  uint64_t length = cst__load64(f->data + at);
  return length <= 1 << 16 && payload_is_right(f, at, length) ? record_end(f, at) : 0;
}

/* Where the next record can begin after a damaged one whose header does not tell. `divided`: the
 * bytes are a part of a file, and end where a record begins. */
static inline size_t search_from(const damaged_file *f, size_t at, bool divided) {
  size_t from = at + 1;
  if (header_is_right(f, at) && record_end(f, at) > f->size && !divided) {
    from = at + 12;
    while (record_is_sound(f, from)) {
      from = record_end(f, from);
    }
    from = from == f->size ? at + 12 : from;
  }
  return from;
}

/* The end of the damaged record at `at`. */
static inline size_t damage_end(const damaged_file *f, size_t at, bool divided) {
  size_t end = told_end(f, at);
  if (end != 0) {
    return end;
  }
  for (end = search_from(f, at, divided); end < f->size; end++) {
    if (record_is_sound(f, end) ||
        (header_is_right(f, end) && extent_is_right(f, end, cst__load64(f->data + end)))) {
      break;
    }
  }
  return end < f->size ? end : f->size;
}

#endif /* TESTS_UNIT_RECOVERY_REFERENCE_H */
