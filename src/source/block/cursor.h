/* A cursor: one file on its way into blocks of framed records. Used by one thread at a time.
 */
#ifndef SOURCE_BLOCK_CURSOR_H
#define SOURCE_BLOCK_CURSOR_H

#include "source/block/framing.h"

typedef struct cst__cursor {
  cst__framing framing; /* where it is, and how it ended */
  cst__pool *pool;
  cst__input *input;     /* NULL before the first fill and after the end */
  cst__mapping *mapping; /* of a mapped file: owns the input then */
  const uint8_t *map;
  size_t map_size;
  cst__block *next;  /* begins with the incomplete record after the last block */
  size_t carried;    /* its bytes */
  size_t last_size;  /* bytes that were in the last block: the next may well need as many */
  uint64_t entered;  /* bytes of the file before its part */
  uint64_t consumed; /* bytes taken from its part of the file; final after the end */
  uint64_t counted;  /* how much of that its owner has counted */
  bool compressed;
  bool skim;        /* pass over payloads without reading them: frames may lie beyond the data */
  size_t skim_size; /* bytes to read at once meanwhile */
} cst__cursor;

/* Opens the file lazily: this only sets the cursor up. NULL: no memory. */
cst__cursor *cst__cursor_new(const cst_source *source, cst__pool *pool, size_t file);
void cst__cursor_free(cst__cursor *cursor);

/* For counting: payloads of plain files are passed over where that is faster than reading them. The
 * blocks then have frames and a size, but their data must not be looked at. */
void cst__cursor_skim(cst__cursor *cursor);

/* The next block of at least one whole record (or dropped one), owned by the caller; *out is NULL
 * at the end of the file. Good records before a fault come first; the failure with the call after
 * them, and again with every later call. It names file, record and offset. */
cst_status cst__cursor_fill(cst__cursor *cursor, cst__block **out, cst_error *error);

#endif /* SOURCE_BLOCK_CURSOR_H */
