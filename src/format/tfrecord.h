/* TFRecord: the framing's layout, and the writer that every record payload shares.
 *
 *   bytes 0 to 7    length of the payload, little-endian
 *   bytes 8 to 11   masked CRC-32C of those 8 bytes ("length CRC")
 *   ...             payload
 *   4 bytes         masked CRC-32C of the payload ("data CRC")
 *
 * Source: tensorflow/core/lib/io/record_writer.h.
 */
#ifndef FORMAT_TFRECORD_H
#define FORMAT_TFRECORD_H

#include "io/output.h"

enum {
  CST__TFRECORD_HEADER = 12,
  CST__TFRECORD_FOOTER = 4,
};

/* Writes one record's header, payload and footer. */
cst_status cst__tfrecord_write(cst__output *output, const void *record, size_t size,
                               cst_error *error);

#endif /* FORMAT_TFRECORD_H */
