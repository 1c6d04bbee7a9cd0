/* A container: how records follow each other in a stream of bytes. One table of functions per
 * container, one file each, declared below, and a line in the list in container.c.
 */
#ifndef FORMAT_CONTAINER_CONTAINER_H
#define FORMAT_CONTAINER_CONTAINER_H

#include <columnstone/arrow_abi.h>
#include <columnstone/format.h>
#include <columnstone/status.h>

#include "base/error.h"
#include "io/output.h"

/* A stretch of a stream that begins where a record does, or where one is looked for. */
typedef struct cst__chunk {
  const uint8_t *data;
  size_t size;
  bool ends; /* the stream ends with it */
} cst__chunk;

/* One record in a chunk. */
typedef struct cst__frame {
  size_t begin;   /* of the payload */
  size_t size;    /* of the payload */
  uint8_t before; /* bytes of framing before the payload, */
  uint8_t after;  /* and after it */
} cst__frame;

/* Where the record begins, its framing included, and where it ends. */
static inline size_t cst__frame_start(const cst__frame *frame) {
  return frame->begin - frame->before;
}
static inline size_t cst__frame_end(const cst__frame *frame) {
  return frame->begin + frame->size + frame->after;
}

/* What a scan finds. */
typedef struct cst__framed {
  cst__frame *frames; /* the caller's, with room for `max` */
  size_t max;
  size_t count;    /* complete records */
  size_t consumed; /* bytes that they take */
  uint64_t needed; /* 0, or the record at `consumed` is not complete, and takes this many bytes in
                      all; unless `known`, that is only how many to look at next */
  bool known;      /* its length has been read, */
  cst__frame next; /* and this is its frame */
} cst__framed;

/* What is wrong with a record, as far as a container can tell. */
typedef enum cst__damage_kind {
  CST__DAMAGE_FRAMING,  /* its framing: a length that does not parse, or has a wrong checksum */
  CST__DAMAGE_DATA,     /* the payload's checksum */
  CST__DAMAGE_LIMIT,    /* it is longer than max_record_size */
  CST__DAMAGE_TRUNCATED /* the stream ends within it */
} cst__damage_kind;

/* The same with the numbers that its error needs, so that nothing else has to be kept of it. */
typedef struct cst__damage {
  cst__damage_kind kind;
  uint32_t stored; /* checksums, of containers that have them */
  uint32_t computed;
  uint64_t length; /* of the payload, as the record has it; TRUNCATED: bytes of all of it */
  uint64_t there;  /* TRUNCATED: bytes that there are */
} cst__damage;

/* What is read to prove where a damaged record ends, whatever max_record_size is. */
#define CST__RESYNC_WINDOW (UINT64_C(1) << 20)

/* The search for the end of a damaged record. The first three and the credit stay from search to
 * search, the others are set anew for each. */
typedef struct cst__resync {
  uint64_t longest; /* payload that is believed: max(max_record_size, CST__RESYNC_WINDOW) */
  bool ignore_data; /* checksums of payloads are not to be trusted */
  bool divided;     /* the stream is a part of a file, and ends where a record of the file begins */
  bool cut;         /* the file ends within the record, not only the part */
  uint64_t credit;  /* bytes of false finds that may still be looked at: what keeps it linear */
  cst__damage_kind kind;
  uint64_t length; /* of the payload, if the record has a sound one */
  size_t first;    /* the nearest place where the next record may begin: 1 to begin with */
  bool searching;  /* the first call has been made, and did not find the end */
} cst__resync;

typedef struct cst__container {
  cst_container_info info;
  const char *framing_fault; /* kind of a fault of CST__DAMAGE_FRAMING, as cst_dropped has it */
  uint8_t least_framing;     /* bytes that a record takes besides its payload, */
  uint8_t most_framing;      /* at least and at most; a record takes one byte at least, unless */
  bool is_whole;             /* every stream is one record, whatever its bytes are, if any */

  /* True if a stream that begins with this chunk (of 32 KiB, if it does not end before) is one.
   * NULL: the bytes cannot tell, so that it has to be named. */
  bool (*sniff)(const cst__chunk *head);
  bool sniff_proves; /* `sniff` is never right by chance: other formats need not be asked first */

  /* Walks over the complete records that the chunk begins with. Checks their framing and
   * max_record_size (0: the usual one), not the payload. On failure (CST_CORRUPT, CST_LIMIT) count
   * and consumed are those of the good records before it; the error says what was found, without
   * file and record. */
  cst_status (*scan)(const cst__chunk *chunk, uint64_t max_record_size, cst__framed *out,
                     cst_error *error);

  /* Checks one payload against its checksum. NULL: there are none. */
  cst_status (*check)(const uint8_t *data, const cst__frame *frame, cst_error *error);

  /* The error for a stream that ends with `size` (> 0) bytes of an incomplete record, of which
   * `needed` were announced. */
  cst_status (*truncated)(size_t size, uint64_t needed, cst_error *error);

  /* Looks at the damaged record that the chunk begins with. */
  void (*inspect)(cst__damage_kind kind, const cst__chunk *chunk, uint64_t needed,
                  cst__damage *damage);

  /* The error that reading the damaged record gives. */
  cst_status (*explain)(const cst__damage *damage, uint64_t max_record_size, cst_error *error);

  /* Goes on with the search for the end of a damaged record. True: the next record, or the end of
   * the stream, is at data + *passed. False: the first *passed bytes need not be seen again, and
   * the next call wants those after them, at least *needed. */
  bool (*find_end)(cst__resync *resync, const cst__chunk *chunk, size_t *passed, uint64_t *needed);

  /* The first place from `at` on (0: the chunk begins where a record does; else the byte before it
   * counts) where a record may begin; SIZE_MAX if there is none whose first begin_size bytes are in
   * the chunk. `room`: bytes from the chunk's first one to the end of all records. NULL: the begin
   * of a record cannot be found from the middle of a file. */
  size_t (*find_begin)(const cst__chunk *chunk, size_t at, uint64_t room, uint64_t max_record_size);
  uint8_t begin_size;
  bool begin_is_sure; /* else it is one if the records that follow are sound */

  /* Size of the payload of a record that takes this many bytes; see cst_index_record. */
  uint64_t (*payload_size)(uint64_t record_size);

  /* Writes one record. CST_UNSUPPORTED for one that the container cannot hold. */
  cst_status (*write)(cst__output *output, const void *record, size_t size, cst_error *error);
} cst__container;

/* All containers, one line each; they are asked in this order what bytes are. */
#define CST__CONTAINERS(X) \
  X(tfrecord)              \
  X(delimited)             \
  X(lines)                 \
  X(file)

#define CST__DECLARE_CONTAINER(name) extern const cst__container cst__##name##_container;
CST__CONTAINERS(CST__DECLARE_CONTAINER)
#undef CST__DECLARE_CONTAINER

/* Lines again, for a sink with keep_returns: only its `write` is its own. */
extern const cst__container cst__lines_with_returns;

/* The i-th of all containers; NULL after the last one. Indexes keep the number: it never changes.
 */
const cst__container *cst__container_get(size_t i);

/* CST_NOT_FOUND lists the known ones. */
cst_status cst__container_find(const char *name, const cst__container **out, cst_error *error);

/* The container whose extension the name of a file has, before that of a compression; NULL if none.
 * Shards as "trips.tfrecord-00000-of-00010" have it too. */
const cst__container *cst__container_find_by_path(const char *path);

/* The container that a stream's first bytes mean; `proven`: one that proves itself. NULL if none.
 */
const cst__container *cst__container_sniff(const cst__chunk *head, bool proven);

/* True for the first bytes of a container that proves itself. */
bool cst__container_is_proven(const uint8_t *head, size_t size);

/* The payload of the first record, or as much of it as the chunk has; false if it has none. */
bool cst__container_first_record(const cst__container *container, const cst__chunk *head,
                                 cst_bytes *out);

/* Writes all slots of a binary-like Arrow array without nulls, which is validated fully first. The
 * error of one that the container cannot hold has its number. */
cst_status cst__container_write_arrow(const cst__container *container, cst__output *output,
                                      const struct ArrowSchema *schema,
                                      const struct ArrowArray *records,
                                      const cst_allocator *allocator, cst_error *error);

#define CST__DEFAULT_RECORD_SIZE (UINT64_C(256) << 20)

/* The limit that scans heed, for max_record_size: sums with it are numbers still. */
static inline uint64_t cst__record_limit(uint64_t max_record_size) {
  uint64_t largest = UINT64_C(1) << 62;
  uint64_t limit = max_record_size == 0 ? CST__DEFAULT_RECORD_SIZE : max_record_size;
  return limit < largest ? limit : largest;
}

/* CST_UNSUPPORTED if no file of the container has so many records, and (unless it `ends` with them)
 * none will have when more follow. */
cst_status cst__container_check_count(const cst__container *container, uint64_t count, bool ends,
                                      cst_error *error);

/* Errors that containers share. */
cst_status cst__fail_record_limit(uint64_t length, uint64_t limit, cst_error *error);
cst_status cst__fail_record_truncated(size_t size, uint64_t needed, const char *what,
                                      cst_error *error);

#endif /* FORMAT_CONTAINER_CONTAINER_H */
