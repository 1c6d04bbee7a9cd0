/* A cursor: one file on its way into blocks of framed records. Used by one thread at a time.
 */
#ifndef SOURCE_BLOCK_CURSOR_H
#define SOURCE_BLOCK_CURSOR_H

#include "source/block/block.h"
#include "source/input/source.h"

/* A damaged record whose end is being looked for, block by block. */
typedef struct cst__recovery {
  bool open; /* there is one */
  cst__drop drop;
  cst__resync resync;
} cst__recovery;

typedef struct cst__cursor {
  const cst_source *source;
  cst__pool *pool;
  size_t file;
  cst__input *input;     /* NULL before the first fill and behind the end */
  cst__mapping *mapping; /* of a mapped file: owns the input then */
  const uint8_t *map;
  size_t map_size;
  cst__block *next;  /* begins with the incomplete record behind the last block */
  size_t carried;    /* its bytes */
  size_t last_size;  /* bytes that were in the last block: the next may well need as many */
  uint64_t record;   /* number of the next record */
  uint64_t offset;   /* of its first byte in the stream */
  uint64_t consumed; /* bytes taken from its part of the file; final behind the end */
  uint64_t counted;  /* how much of that its owner has counted */
  bool compressed;
  bool skim;        /* pass over payloads without reading them: frames may lie behind the data */
  size_t skim_size; /* bytes to read at once meanwhile */
  bool recover;     /* damaged records are dropped; the sums of all payloads are checked */
  cst__recovery recovery;
  bool ended;         /* nothing more will come */
  const char *fault;  /* kind of the failure, as cst_fault has it; NULL: none of the data's */
  cst_status failure; /* waits behind the last block */
  cst_error error;
} cst__cursor;

/* Opens the file lazily: this only sets the cursor up. NULL: no memory. */
cst__cursor *cst__cursor_new(const cst_source *source, cst__pool *pool, size_t file);
void cst__cursor_free(cst__cursor *cursor);

/* For counting: payloads of plain files are passed over where that is faster than reading them. The
 * blocks then have frames and a size, but their data must not be looked at. */
void cst__cursor_skim(cst__cursor *cursor);

/* Drops damaged records, as the source's on_error may have said already. `check`: payloads by their
 * checksums. */
void cst__cursor_recover(cst__cursor *cursor, bool check);

/* The next block of at least one whole record (or dropped one), owned by the caller; *out is NULL
 * at the end of the file. Good records in front of a fault come first; the failure with the call
 * after them, and again with every later call. It names file, record and offset. */
cst_status cst__cursor_fill(cst__cursor *cursor, cst__block **out, cst_error *error);

/* ---- for recover.c ---- */

/* Frames the `rest` after the block's records, which is not added to it yet. */
cst_status cst__cursor_scan(const cst__cursor *cursor, cst__block *block, const cst__chunk *rest,
                            cst__framed *framed, cst_error *error);

/* Keeps a failure that is already in cursor->error, for after the good records. */
void cst__cursor_fail(cst__cursor *cursor, cst_status failure, const char *fault);

/* A file that is no TFRecord at all is told from one that is damaged by its first bytes: true, and
 * the cursor has failed, if they are of something else. */
bool cst__cursor_judge(cst__cursor *cursor, const uint8_t *data, size_t size);

#endif /* SOURCE_BLOCK_CURSOR_H */
