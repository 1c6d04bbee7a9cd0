/* TFRecord: the layout of the framing.
 *
 *   bytes 0 to 7    length of the payload, little-endian
 *   bytes 8 to 11   masked CRC-32C of those 8 bytes ("length CRC")
 *   ...             payload
 *   4 bytes         masked CRC-32C of the payload ("data CRC")
 *
 * Source: tensorflow/core/lib/io/record_writer.h.
 */
#ifndef FORMAT_CONTAINER_TFRECORD_H
#define FORMAT_CONTAINER_TFRECORD_H

#include <string.h>

#include "base/crc32c.h"
#include "format/container/container.h"

enum {
  CST__TFRECORD_HEADER = 12,
  CST__TFRECORD_FOOTER = 4,
};

static inline uint32_t cst__tfrecord_load32(const uint8_t *at) {
  uint32_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

/* The checksum that the first 8 bytes of a header should have. */
static inline uint32_t cst__tfrecord_length_crc(const uint8_t *header) {
  return cst__crc32c_mask(cst__crc32c(0, header, 8));
}

/* See cst__container.find_end (tfrecord_resync.c). */
bool cst__tfrecord_find_end(cst__resync *resync, const cst__chunk *chunk, size_t *passed,
                            uint64_t *needed);

/* Writes one record's header, payload and footer. */
cst_status cst__tfrecord_write(cst__output *output, const void *record, size_t size,
                               cst_error *error);

#endif /* FORMAT_CONTAINER_TFRECORD_H */
