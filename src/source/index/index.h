/* Indexes: where each record of a plain file of a container lies.
 *
 * The file "<data>.cstidx", all numbers little-endian:
 *
 *   cst__index_head | offsets: num_records times 8 bytes | CRC-32C of all before it, 4 bytes
 *
 * An offset is that of a record's header in the data. Records follow each other without
 * gaps, so that the next offset (after the last: the size of the data) ends a record.
 */
#ifndef SOURCE_INDEX_INDEX_H
#define SOURCE_INDEX_INDEX_H

#include <columnstone/index.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "source/input/source.h"

enum { CST__INDEX_VERSION = 1, CST__INDEX_IDENTITY = 64 << 10 /* bytes of each end of the data */ };

/* What tells the data of an index from other data. */
typedef struct cst__identity {
  uint64_t size; /* bytes */
  uint32_t crc; /* CRC-32C of the first 64 KiB, continued over the last 64 KiB (they may overlap) */
} cst__identity;

typedef struct cst__index_head {
  char magic[8];      /* "CSTINDEX" */
  uint32_t version;   /* 1; in the upper half the number of the container, 0 for TFRecord */
  uint32_t data_crc;  /* of the identity */
  uint64_t data_size; /* of the identity */
  uint64_t num_records;
} cst__index_head;

struct cst_index {
  cst__refcount owners;
  cst_allocator allocator;
  const cst__container *container;
  cst__identity identity; /* of an index of a part of a file, or of a reader: all zero */
  uint64_t *offsets;      /* of each record's header, and then the end of the last */
  uint64_t count;         /* records */
  size_t capacity;
  bool loaded; /* comes from the file beside the data, and covers all of it */
};

/* CST_CORRUPT if the lines of a text index are not those of this index. */
cst_status cst__index_compare_text(const cst_index *index, const char *text_path, cst_error *error);

/* What tells the data at a path from other data. */
cst_status cst__index_identify(const char *path, const cst_allocator *allocator, cst__identity *out,
                               cst_error *error);

/* Indexes what is read of the i-th file of a source, by walking over its frames. The identity is
 * left zero. CST_UNSUPPORTED if the file is compressed. */
cst_status cst__index_walk(const cst_source *source, size_t file, cst_progress_callback on_progress,
                           void *ctx, cst_index **out, cst_error *error);

/* The number of the first record that begins at `offset` or after it. */
uint64_t cst__index_find(const cst_index *index, uint64_t offset);

cst_index *cst__index_retain(cst_index *index);

#endif /* SOURCE_INDEX_INDEX_H */
