/* A container: how records follow each other in a stream of bytes. One table of functions per
 * container.
 */
#ifndef FORMAT_CONTAINER_H
#define FORMAT_CONTAINER_H

#include <columnstone/format.h>

#include "base/error.h"

/* One record in a block of bytes. */
typedef struct cst__frame {
  size_t begin; /* of the payload within the block */
  size_t size;  /* of the payload */
} cst__frame;

/* What is wrong with a record, as far as a container can tell. */
typedef enum cst__damage_kind {
  CST__DAMAGE_LENGTH,   /* its length's checksum is wrong */
  CST__DAMAGE_DATA,     /* the payload's */
  CST__DAMAGE_LIMIT,    /* it is longer than max_record_size */
  CST__DAMAGE_TRUNCATED /* the stream ends within it */
} cst__damage_kind;

/* The same with the numbers that its error needs, so that nothing else has to be kept of it. */
typedef struct cst__damage {
  cst__damage_kind kind;
  uint32_t stored; /* checksums */
  uint32_t computed;
  uint64_t length; /* of the payload, as the record has it; TRUNCATED: bytes of all of it */
  uint64_t there;  /* TRUNCATED: bytes that there are */
} cst__damage;

/* What is read to prove where a damaged record ends, whatever max_record_size is. */
#define CST__RESYNC_WINDOW (UINT64_C(1) << 20)

/* The search for the end of a damaged record. The first four stay from search to search, the others
 * are set anew for each. */
typedef struct cst__resync {
  uint64_t longest; /* payload that is believed: max(max_record_size, CST__RESYNC_WINDOW) */
  bool ignore_data; /* checksums of payloads are not to be trusted */
  bool divided;     /* the stream is a part of a file, and ends where a record of it begins */
  uint64_t credit;  /* bytes of false finds that may still be looked at: what keeps it linear */
  cst__damage_kind kind;
  uint64_t length; /* of the payload, if the record has a sound one */
  size_t first;    /* place where the next header may be at first: 1 */
  bool searching;  /* the record's own extent cannot be told */
} cst__resync;

typedef struct cst__container {
  cst_container_info info;
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

  /* Looks at the damaged record that data begins with. */
  void (*inspect)(cst__damage_kind kind, const uint8_t *data, size_t size, uint64_t needed,
                  cst__damage *damage);

  /* The error that reading the damaged record gives. */
  cst_status (*explain)(const cst__damage *damage, uint64_t max_record_size, cst_error *error);

  /* Goes on with the search for the end of a damaged record; `ends`: no bytes will follow. True:
   * the next record, or the end of the stream, is at data + *passed. False: the first *passed bytes
   * need not be seen again, and the next call wants those behind them, at least *needed. */
  bool (*find_end)(cst__resync *resync, const uint8_t *data, size_t size, bool ends, size_t *passed,
                   uint64_t *needed);

  /* What a stream that is not this container seems to be (a git-lfs pointer, HTML, JSON, CSV,
   * Parquet, Arrow, zip, bzip2, ...): a hint, or NULL. head: up to 64 bytes of the decompressed
   * stream. */
  const char *(*guess)(const uint8_t *head, size_t size);
} cst__container;

extern const cst__container cst__tfrecord_container;

/* The i-th of all containers; NULL after the last one. */
const cst__container *cst__container_get(size_t i);

#endif /* FORMAT_CONTAINER_H */
