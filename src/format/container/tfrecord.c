/* TFRecord framing: finding records in a block, checking them, and writing them. */
#include "format/container/tfrecord.h"

#include <string.h>

#include "base/crc32c.h"
#include "base/hash.h"
#include "base/prefetch.h"
#include "format/container/container.h"

enum {
  HEADER = CST__TFRECORD_HEADER,
  FOOTER = CST__TFRECORD_FOOTER,
  /* Where the next header lies is known only when this one is there: in a mapped file each would be
   * waited for. Loading every line some records ahead makes a stream of it. */
  FETCH_AHEAD = 4096,
  FETCH_MOST = 1024
};

static cst_status fail_length(uint32_t stored, uint32_t computed, uint64_t length,
                              cst_error *error) {
  return cst__fail(error, CST_CORRUPT,
                   "damaged: on_error \"skip\" continues with the next valid record",
                   "length CRC: stored %08x, computed %08x of length %llu", stored, computed,
                   (unsigned long long)length);
}

static cst_status tfrecord_scan(const cst__chunk *chunk, uint64_t max_record_size, cst__framed *out,
                                cst_error *error) {
  const uint64_t limit = cst__record_limit(max_record_size);
  size_t at = 0;
  size_t count = 0;
  cst_status status = CST_OK;
  out->needed = 0;
  out->known = false;
  while (count < out->max && at < chunk->size) {
    size_t rest = chunk->size - at;
    if (rest < HEADER) {
      out->needed = HEADER;
      break;
    }
    const uint8_t *header = chunk->data + at;
    uint64_t length = cst__load64(header);
    if (cst__tfrecord_length_crc(header) != cst__tfrecord_load32(header + 8)) {
      status = fail_length(cst__tfrecord_load32(header + 8), cst__tfrecord_length_crc(header),
                           length, error);
      break;
    }
    if (length > limit) {
      status = cst__fail_record_limit(length, limit, error);
      break;
    }
    const cst__frame frame = {at + HEADER, (size_t)length, HEADER, FOOTER};
    if (length + HEADER + FOOTER > rest) {
      out->needed = length + HEADER + FOOTER;
      out->known = true;
      out->next = frame;
      break;
    }
    out->frames[count++] = frame;
    size_t size = (size_t)length + HEADER + FOOTER;
    if (rest > size + FETCH_AHEAD) { /* a record that was picked alone has nothing after it */
      cst__prefetch(header + FETCH_AHEAD, size, FETCH_MOST);
    }
    at += size;
  }
  out->count = count;
  out->consumed = at;
  return status;
}

static cst_status fail_data(uint32_t stored, uint32_t computed, uint64_t size, cst_error *error) {
  return cst__fail(error, CST_CORRUPT, "the record is damaged; its neighbours may be intact",
                   "data CRC: stored %08x, computed %08x over %llu bytes", stored, computed,
                   (unsigned long long)size);
}

static cst_status tfrecord_check(const uint8_t *data, const cst__frame *frame, cst_error *error) {
  const uint8_t *payload = data + frame->begin;
  uint32_t computed = cst__crc32c_mask(cst__crc32c(0, payload, frame->size));
  uint32_t stored = cst__tfrecord_load32(payload + frame->size);
  return computed == stored ? CST_OK : fail_data(stored, computed, frame->size, error);
}

static cst_status tfrecord_truncated(size_t size, uint64_t needed, cst_error *error) {
  return cst__fail_record_truncated(size, needed, size < HEADER ? "record's header" : "record",
                                    error);
}

static void tfrecord_inspect(cst__damage_kind kind, const cst__chunk *chunk, uint64_t needed,
                             cst__damage *damage) {
  const uint8_t *data = chunk->data;
  *damage = (cst__damage){.kind = kind, .length = needed, .there = chunk->size};
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

static cst_status tfrecord_explain(const cst__damage *damage, uint64_t max_record_size,
                                   cst_error *error) {
  switch (damage->kind) {
    case CST__DAMAGE_FRAMING:
      return fail_length(damage->stored, damage->computed, damage->length, error);
    case CST__DAMAGE_DATA:
      return fail_data(damage->stored, damage->computed, damage->length, error);
    case CST__DAMAGE_LIMIT:
      return cst__fail_record_limit(damage->length, max_record_size, error);
    case CST__DAMAGE_TRUNCATED:
      break;
  }
  return tfrecord_truncated((size_t)damage->there, damage->length, error);
}

static bool tfrecord_sniff(const cst__chunk *head) {
  return head->size >= HEADER &&
         cst__tfrecord_length_crc(head->data) == cst__tfrecord_load32(head->data + 8);
}

/* Most places are told from a header by their length alone. */
static size_t tfrecord_find_begin(const cst__chunk *chunk, size_t at, uint64_t room,
                                  uint64_t max_record_size) {
  const uint64_t limit = cst__record_limit(max_record_size);
  for (; at + HEADER <= chunk->size; at++) {
    const uint8_t *header = chunk->data + at;
    uint64_t length = cst__load64(header);
    if (length < room - at && length + HEADER + FOOTER <= room - at && length <= limit &&
        cst__tfrecord_length_crc(header) == cst__tfrecord_load32(header + 8)) {
      return at;
    }
  }
  return SIZE_MAX;
}

static uint64_t tfrecord_payload_size(uint64_t record_size) {
  return record_size - HEADER - FOOTER;
}

cst_status cst__tfrecord_write(cst__output *output, const void *record, size_t size,
                               cst_error *error) {
  uint8_t header[HEADER];
  uint64_t length = size;
  memcpy(header, &length, sizeof length);
  uint32_t crc = cst__tfrecord_length_crc(header);
  memcpy(header + sizeof length, &crc, sizeof crc);
  uint32_t footer = cst__crc32c_mask(cst__crc32c(0, record, size));
  CST__TRY(cst__output_write(output, header, sizeof header, error));
  CST__TRY(cst__output_write(output, record, size, error));
  return cst__output_write(output, &footer, sizeof footer, error);
}

static const char *const extensions[] = {".tfrecord", ".tfrecords", ".tfrec", NULL};

const cst__container cst__tfrecord_container = {
    .info = {"tfrecord", "TFRecord", extensions, "example"},
    .framing_fault = "length-crc",
    .least_framing = HEADER + FOOTER,
    .most_framing = HEADER + FOOTER,
    .sniff = tfrecord_sniff,
    .sniff_proves = true,
    .scan = tfrecord_scan,
    .check = tfrecord_check,
    .truncated = tfrecord_truncated,
    .inspect = tfrecord_inspect,
    .explain = tfrecord_explain,
    .find_end = cst__tfrecord_find_end,
    .find_begin = tfrecord_find_begin,
    .begin_size = HEADER,
    .payload_size = tfrecord_payload_size,
    .write = cst__tfrecord_write,
};
