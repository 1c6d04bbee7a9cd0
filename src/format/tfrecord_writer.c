/* Records into TFRecord framing. */
#include <string.h>

#include "base/crc32c.h"
#include "format/tfrecord.h"

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

/* Everything that could be wrong with the array is looked at before the first record is written. */
static cst_status check_records(const cst__view *view, cst_error *error) {
  if (view->layout != CST__LAYOUT_BINARY && view->layout != CST__LAYOUT_BINARY_VIEW &&
      view->layout != CST__LAYOUT_FIXED_BINARY) {
    char type[64];
    cst__view_type_name(view, type, sizeof type);
    return cst__fail(error, CST_INVALID_ARGUMENT, "encode the records first",
                     "records are a binary array, not %s", type);
  }
  for (int64_t i = 0; view->null_count > 0 && i < view->length; i++) {
    if (cst__view_is_null(view, i)) {
      (void)cst__fail(error, CST_INVALID_ARGUMENT, "leave null records out",
                      "a null cannot be written as a record");
      cst__error_add_record(error, i, -1);
      return CST_INVALID_ARGUMENT;
    }
  }
  return CST_OK;
}

static cst_status write_records(cst__output *output, const struct ArrowSchema *schema,
                                const struct ArrowArray *records, cst__arena *arena,
                                cst_error *error) {
  cst__view view;
  CST__TRY(cst__view_init(&view, schema, records, false, arena, error));
  CST__TRY(check_records(&view, error));
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
