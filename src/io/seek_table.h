/* Seek tables: where a zstd stream can be entered. The "zstd seekable format" puts the data into
 * frames that stand alone, and after them a skippable frame that lists their sizes.
 */
#ifndef IO_SEEK_TABLE_H
#define IO_SEEK_TABLE_H

#include "base/alloc.h"
#include "io/encoder.h"
#include "io/raw.h"

/* Where a frame begins. */
typedef struct cst__restart {
  uint64_t disk;   /* in the file, */
  uint64_t stream; /* and its first byte in what is compressed */
} cst__restart;

/* The frames of a file, and then where the last one ends. */
typedef struct cst__restarts {
  cst__restart *items; /* cst__delete */
  size_t count;        /* of the frames; 0: there is no table, or none that fits the file */
} cst__restarts;

/* Reads the table at the end of a file that can be read at any offset. Whether the frames are what
 * it says is not known before they are read: it may lie. */
cst_status cst__seek_table_read(const cst__raw *raw, const cst_allocator *allocator,
                                cst__restarts *out, cst_error *error);

/* The first frame from whose begin on the stream's byte `offset` comes, nearest to it: that which
 * begins there, or before it. Empty frames before that byte are not passed over. */
size_t cst__restarts_find(const cst__restarts *restarts, uint64_t offset);

/* The place in the stream of the first frame that begins at byte `disk` of the file or after it;
 * the stream's size if there is none. */
uint64_t cst__restarts_after(const cst__restarts *restarts, uint64_t disk);

/* One entry of a table. */
typedef struct cst__frame_sizes {
  uint32_t compressed;
  uint32_t content;
} cst__frame_sizes;

/* Writes a table of these frames. */
cst_status cst__seek_table_write(const cst__frame_sizes *frames, size_t count,
                                 const cst__byte_sink *sink, cst_error *error);

#endif /* IO_SEEK_TABLE_H */
