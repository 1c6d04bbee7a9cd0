/* Records into TFRecord framing. */
#include <string.h>

#include "base/crc32c.h"
#include "format/tfrecord.h"

cst_status cst__tfrecord_write(cst__output *output, const void *record, size_t size,
                               cst_error *error) {
  uint8_t header[CST__TFRECORD_HEADER];
  uint64_t length = size;
  memcpy(header, &length, sizeof length);
  uint32_t crc = cst__crc32c_mask(cst__crc32c(0, header, sizeof length));
  memcpy(header + sizeof length, &crc, sizeof crc);
  uint32_t footer = cst__crc32c_mask(cst__crc32c(0, record, size));
  CST__TRY(cst__output_write(output, header, sizeof header, error));
  CST__TRY(cst__output_write(output, record, size, error));
  return cst__output_write(output, &footer, sizeof footer, error);
}
