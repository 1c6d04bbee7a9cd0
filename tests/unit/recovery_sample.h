/* A file whose records are known, what is done to it, and what has to be left. */
#ifndef TESTS_UNIT_RECOVERY_SAMPLE_H
#define TESTS_UNIT_RECOVERY_SAMPLE_H

#include "recovery_support.h"

enum { MOST_RECORDS = 64 };

/* A file whose records are known. */
typedef struct sample {
  bytes file;
  size_t count;
  size_t begin[MOST_RECORDS + 1]; /* where each lies; the last: the end */
} sample;

static inline void sample_add(sample *s, const void *record, size_t size) {
  s->begin[s->count] = s->file.size;
  bytes_add_record(&s->file, record, size);
  s->begin[++s->count] = s->file.size;
}

static inline void sample_free(sample *s) { bytes_free(&s->file); }

/* Records of many sizes, some of them TFRecord files themselves. */
static inline sample make_sample(void) {
  static const size_t sizes[] = {20, 0, 1, 7, 12, 16, 40, 0, 0, 100, 3, 28};
  sample s = {.count = 0};
  bytes noise = {0};
  bytes inner = {0};
  add_noise(&noise, 200, 7);
  bytes_add_record(&inner, noise.data, 9);
  bytes_add_record(&inner, noise.data, 0);
  bytes_add_record(&inner, noise.data + 9, 30);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    sample_add(&s, noise.data + i, sizes[i]);
    if (i % 4 == 2) {
      sample_add(&s, inner.data, inner.size);
    }
  }
  bytes_free(&noise);
  bytes_free(&inner);
  return s;
}

/* What is left of a sample without the records whose bit is set. */
static inline void sound_records(const sample *s, uint64_t damaged, bytes *records) {
  records->size = 0;
  for (size_t i = 0; i < s->count; i++) {
    if ((damaged >> i & 1) == 0) {
      size_t size = s->begin[i + 1] - s->begin[i] - 16;
      put_record(records, s->file.data + s->begin[i] + 12, size);
    }
  }
}

/* Where a byte of the file lies within its record. */
static const char *kind_at(const sample *s, size_t record, size_t at) {
  return at - s->begin[record] < 12 ? "length-crc" : "data-crc";
}

/* Flips one byte in each record whose bit is set, at places that `seed` chooses. */
static inline void damage(sample *s, uint64_t records, uint32_t seed, bytes *drops) {
  drops->size = 0;
  for (size_t i = 0; i < s->count; i++) {
    size_t size = s->begin[i + 1] - s->begin[i];
    if (records >> i & 1) {
      seed = seed * 1664525 + 1013904223;
      size_t at = s->begin[i] + (seed >> 8) % size;
      s->file.data[at] ^= (uint8_t)(1 + (seed >> 28));
      put_drop(drops, kind_at(s, i, at), i, s->begin[i], size);
    }
  }
}

#endif
