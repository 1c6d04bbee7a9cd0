/* Records into TFRecord framing. */
#include <string.h>

#include "base/crc32c.h"
#include "format/container/tfrecord.h"

#include "arrow/view.h"

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

static cst_status write_records(cst__output *output, const struct ArrowSchema *schema,
                                const struct ArrowArray *records, cst__arena *arena,
                                cst_error *error) {
  cst__view view; /* all that could be wrong is looked at before the first record is written */
  CST__TRY(cst__view_init_records(&view, schema, records, arena, error));
  for (int64_t i = 0; i < view.length; i++) {
    cst_bytes record = cst__view_bytes(&view, i);
    CST__TRY(cst__tfrecord_write(output, record.data, record.size, error));
  }
  return CST_OK;
}

cst_status cst__tfrecord_write_arrow(cst__output *output, const struct ArrowSchema *schema,
                                     const struct ArrowArray *records,
                                     const cst_allocator *allocator, cst_error *error) {
  cst__arena arena;
  cst__arena_init(&arena, allocator);
  cst_status status = write_records(output, schema, records, &arena, error);
  cst__arena_reset(&arena);
  return status;
}
