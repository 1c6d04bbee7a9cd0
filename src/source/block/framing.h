/* Framing: finding the records of a file in the bytes that are read of it, up to a failure, or (see
 * recover.h) past damaged ones.
 */
#ifndef SOURCE_BLOCK_FRAMING_H
#define SOURCE_BLOCK_FRAMING_H

#include "source/block/block.h"
#include "source/input/source.h"

enum { CST__FRAMES_STEP = 1024 }; /* frames that a block has room for at least */

/* A damaged record whose end is being looked for, block by block. */
typedef struct cst__recovery {
  bool open; /* there is one */
  cst__drop drop;
  cst__resync resync;
} cst__recovery;

/* Where a file is, and how it ended. */
typedef struct cst__framing {
  const cst_source *source;
  size_t file;
  uint64_t record; /* number of the next record */
  uint64_t offset; /* of its first byte in the stream */
  bool recover;    /* damaged records are dropped; the sums of all payloads are checked */
  cst__recovery recovery;
  bool ended;          /* nothing more will come */
  cst_status failure;  /* waits after the last block */
  const char *fault;   /* kind of the failure, as cst_dropped has it; NULL: none of the data's */
  bool of_compression; /* the fault is one of the compression */
  cst_error error;
} cst__framing;

/* Drops damaged records from now on. `check`: payloads by their checksums. */
void cst__framing_recover(cst__framing *framing, bool check);

/* Keeps a failure that is already in framing->error, for after the good records. */
void cst__framing_fail(cst__framing *framing, cst_status failure, const char *fault);
void cst__framing_fail_memory(cst__framing *framing, size_t wanted);

/* Fails: the end of a part of a file, where a record was believed to begin, lies within one that
 * takes `needed` bytes, of which `size` are in the part. */
void cst__framing_fail_crossing(cst__framing *framing, uint64_t needed, size_t size);

/* A file that is not of the container at all is told from one that is damaged by its first bytes:
 * true, and the framing has failed, if they are of something else. */
bool cst__framing_judge(cst__framing *framing, const uint8_t *data, size_t size);

/* The same for the first bytes of a file that prove to be of another container. Those that have no
 * checksums would find records in them. */
bool cst__framing_is_proven_other(cst__framing *framing, const uint8_t *data, size_t size);

/* The container's scan, by the source's options. */
cst_status cst__framing_scan_chunk(const cst_source *source, const cst__chunk *chunk,
                                   cst__framed *framed, cst_error *error);

/* Frames the `rest` after the block's records, which is not added to it yet. */
cst_status cst__framing_scan(const cst__framing *framing, cst__block *block, const cst__chunk *rest,
                             cst__framed *framed, cst_error *error);

#endif /* SOURCE_BLOCK_FRAMING_H */
