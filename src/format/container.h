/* A container: how records lie one behind the other in a stream of bytes. One table per container;
 * TFRecord is the first.
 */
#ifndef FORMAT_CONTAINER_H
#define FORMAT_CONTAINER_H

#include <columnstone/status.h>

#include "base/error.h"

/* One record in a block of bytes. */
typedef struct cst__frame {
  size_t begin; /* of the payload within the block */
  size_t size;  /* of the payload */
} cst__frame;

typedef struct cst__container {
  const char *name;   /* "tfrecord" */
  size_t header_size; /* bytes in front of a payload (12) */
  size_t footer_size; /* bytes behind it (4) */

  /* True if a stream that begins with these bytes (as many as there are, up to 64) may be one. */
  bool (*sniff)(const uint8_t *head, size_t size);

  /* Walks over complete records in data[0..size): writes up to max frames, *num_frames, and the
   * bytes that they take, *consumed. Checks the lengths (length CRC, max_record_size), not the
   * payload. *needed: 0, or the bytes from *consumed on that the next record takes altogether
   * (header_size at least) when it is not complete. On failure (CST_CORRUPT, CST_LIMIT) *num_frames
   * and *consumed count the good records in front; the error says what was found, without file and
   * record. */
  cst_status (*scan)(const uint8_t *data, size_t size, uint64_t max_record_size, cst__frame *frames,
                     size_t max, size_t *num_frames, size_t *consumed, uint64_t *needed,
                     cst_error *error);

  /* Checks one payload against its checksum; data is the block. */
  cst_status (*check)(const uint8_t *data, const cst__frame *frame, cst_error *error);

  /* The error for a stream that ends with `size` (> 0) bytes of an incomplete record, of which
   * `needed` were announced. */
  cst_status (*truncated)(const uint8_t *data, size_t size, uint64_t needed, cst_error *error);

  /* What a stream that is not this container seems to be (a git-lfs pointer, HTML, JSON, CSV,
   * Parquet, Arrow, zip, bzip2, ...): a hint, or NULL. head: up to 64 bytes of the decompressed
   * stream. */
  const char *(*guess)(const uint8_t *head, size_t size);
} cst__container;

extern const cst__container cst__tfrecord_container;

#endif /* FORMAT_CONTAINER_H */
