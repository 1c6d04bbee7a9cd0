/* TFRecord framing: finding records in a block, checking them, and writing them. */
#include "format/tfrecord.h"

#include <string.h>

#include "base/crc32c.h"
#include "base/hash.h"
#include "format/container.h"
#include "format/guess.h"

#define DEFAULT_MAX_RECORD_SIZE (UINT64_C(256) << 20)
#define LARGEST_RECORD_SIZE (UINT64_C(1) << 62)

enum { HEADER = CST__TFRECORD_HEADER, FOOTER = CST__TFRECORD_FOOTER };

static uint32_t load32(const uint8_t *at) {
  uint32_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

static uint32_t length_crc(const uint8_t *header) {
  return cst__crc32c_mask(cst__crc32c(0, header, 8));
}

static cst_status fail_length(const uint8_t *header, cst_error *error) {
  return cst__fail(error, CST_CORRUPT,
                   "damaged from here on: the records behind it cannot be found",
                   "length CRC: stored %08x, computed %08x of length %llu", load32(header + 8),
                   length_crc(header), (unsigned long long)cst__load64(header));
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
    if (length_crc(header) != load32(header + 8)) {
      status = fail_length(header, error);
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

static cst_status check(const uint8_t *data, const cst__frame *frame, cst_error *error) {
  const uint8_t *payload = data + frame->begin;
  uint32_t computed = cst__crc32c_mask(cst__crc32c(0, payload, frame->size));
  uint32_t stored = load32(payload + frame->size);
  if (computed == stored) {
    return CST_OK;
  }
  return cst__fail(error, CST_CORRUPT, "the record is damaged; those around it may be sound",
                   "data CRC: stored %08x, computed %08x over %zu bytes", stored, computed,
                   frame->size);
}

static cst_status truncated(const uint8_t *data, size_t size, uint64_t needed, cst_error *error) {
  (void)data;
  return cst__fail(error, CST_CORRUPT, "the file is cut: fetch or write it again",
                   "truncated: %zu of %llu bytes of a record%s", size, (unsigned long long)needed,
                   size < HEADER ? "'s header" : "");
}

static bool sniff(const uint8_t *head, size_t size) {
  if (size >= HEADER) {
    return length_crc(head) == load32(head + 8);
  }
  return cst__guess_format(head, size) == NULL;
}

const cst__container cst__tfrecord_container = {
    .name = "tfrecord",
    .header_size = HEADER,
    .footer_size = FOOTER,
    .sniff = sniff,
    .scan = scan,
    .check = check,
    .truncated = truncated,
    .guess = cst__guess_format,
};
