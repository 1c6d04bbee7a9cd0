/* TFRecord framing: finding records in a block, checking them, and writing them. */
#include "format/container/tfrecord.h"

#include <string.h>

#include "base/crc32c.h"
#include "base/hash.h"
#include "format/container/container.h"
#include "format/guess.h"

#define DEFAULT_MAX_RECORD_SIZE (UINT64_C(256) << 20)
#define LARGEST_RECORD_SIZE (UINT64_C(1) << 62)

enum { HEADER = CST__TFRECORD_HEADER, FOOTER = CST__TFRECORD_FOOTER };

static cst_status fail_length(uint32_t stored, uint32_t computed, uint64_t length,
                              cst_error *error) {
  return cst__fail(error, CST_CORRUPT,
                   "damaged: on_error \"skip\" goes on with the next record that can be found",
                   "length CRC: stored %08x, computed %08x of length %llu", stored, computed,
                   (unsigned long long)length);
}

static cst_status fail_limit(uint64_t length, uint64_t limit, cst_error *error) {
  return cst__fail(error, CST_LIMIT, "raise max_record_size if such records are to be expected",
                   "record of %llu bytes, the limit is %llu", (unsigned long long)length,
                   (unsigned long long)limit);
}

static cst_status scan(const uint8_t *data, size_t size, uint64_t max_record_size,
                       cst__frame *frames, size_t max, size_t *num_frames, size_t *consumed,
                       uint64_t *needed, cst_error *error) {
  uint64_t limit = max_record_size == 0 ? DEFAULT_MAX_RECORD_SIZE : max_record_size;
  limit = limit < LARGEST_RECORD_SIZE ? limit : LARGEST_RECORD_SIZE;
  size_t at = 0;
  size_t count = 0;
  cst_status status = CST_OK;
  *needed = 0;
  while (count < max && at < size) {
    size_t rest = size - at;
    if (rest < HEADER) {
      *needed = HEADER;
      break;
    }
    const uint8_t *header = data + at;
    uint64_t length = cst__load64(header);
    if (cst__tfrecord_length_crc(header) != cst__tfrecord_load32(header + 8)) {
      status = fail_length(cst__tfrecord_load32(header + 8), cst__tfrecord_length_crc(header),
                           length, error);
      break;
    }
    if (length > limit) {
      status = fail_limit(length, limit, error);
      break;
    }
    if (length + HEADER + FOOTER > rest) {
      *needed = length + HEADER + FOOTER;
      break;
    }
    frames[count++] = (cst__frame){at + HEADER, (size_t)length};
    at += (size_t)length + HEADER + FOOTER;
  }
  *num_frames = count;
  *consumed = at;
  return status;
}

static cst_status fail_data(uint32_t stored, uint32_t computed, uint64_t size, cst_error *error) {
  return cst__fail(error, CST_CORRUPT, "the record is damaged; those around it may be sound",
                   "data CRC: stored %08x, computed %08x over %llu bytes", stored, computed,
                   (unsigned long long)size);
}

static cst_status check(const uint8_t *data, const cst__frame *frame, cst_error *error) {
  const uint8_t *payload = data + frame->begin;
  uint32_t computed = cst__crc32c_mask(cst__crc32c(0, payload, frame->size));
  uint32_t stored = cst__tfrecord_load32(payload + frame->size);
  return computed == stored ? CST_OK : fail_data(stored, computed, frame->size, error);
}

static cst_status truncated(const uint8_t *data, size_t size, uint64_t needed, cst_error *error) {
  (void)data;
  return cst__fail(error, CST_CORRUPT, "the file is cut: fetch or write it again",
                   "truncated: %zu of %llu bytes of a record%s", size, (unsigned long long)needed,
                   size < HEADER ? "'s header" : "");
}

static void inspect(cst__damage_kind kind, const uint8_t *data, size_t size, uint64_t needed,
                    cst__damage *damage) {
  *damage = (cst__damage){.kind = kind, .length = needed, .there = size};
  if (kind == CST__DAMAGE_TRUNCATED) {
    return;
  }
  damage->length = cst__load64(data);
  damage->stored = cst__tfrecord_load32(data + 8);
  damage->computed = cst__tfrecord_length_crc(data);
  if (kind == CST__DAMAGE_DATA) {
    const uint8_t *payload = data + HEADER;
    damage->stored = cst__tfrecord_load32(payload + damage->length);
    damage->computed = cst__crc32c_mask(cst__crc32c(0, payload, (size_t)damage->length));
  }
}

static cst_status explain(const cst__damage *damage, uint64_t max_record_size, cst_error *error) {
  switch (damage->kind) {
    case CST__DAMAGE_LENGTH:
      return fail_length(damage->stored, damage->computed, damage->length, error);
    case CST__DAMAGE_DATA:
      return fail_data(damage->stored, damage->computed, damage->length, error);
    case CST__DAMAGE_LIMIT:
      return fail_limit(damage->length, max_record_size, error);
    case CST__DAMAGE_TRUNCATED:
      break;
  }
  return truncated(NULL, (size_t)damage->there, damage->length, error);
}

static bool sniff(const uint8_t *head, size_t size) {
  if (size >= HEADER) {
    return cst__tfrecord_length_crc(head) == cst__tfrecord_load32(head + 8);
  }
  return cst__guess_format(head, size) == NULL;
}

static const char *const extensions[] = {".tfrecord", ".tfrecords", ".tfrec", NULL};

const cst__container cst__tfrecord_container = {
    .info = {"tfrecord", "TFRecord", extensions},
    .header_size = HEADER,
    .footer_size = FOOTER,
    .sniff = sniff,
    .scan = scan,
    .check = check,
    .truncated = truncated,
    .inspect = inspect,
    .explain = explain,
    .find_end = cst__tfrecord_find_end,
    .guess = cst__guess_format,
};
