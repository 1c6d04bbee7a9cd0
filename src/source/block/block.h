/* Blocks: counted, recycled buffers that hold whole records of one file, and where they lie in it.
 * Where damaged records are dropped, they leave gaps between the frames.
 *
 *   data                         data + size      + BLOCK_PADDING
 *   | record | record | ... | record | readable bytes |
 *
 * A block belongs to whoever still reads from it: the file that fills it, the units that are cut
 * from it, and the batches whose views point into it. The last one gives it back to its pool, from
 * whatever thread.
 */
#ifndef SOURCE_BLOCK_BLOCK_H
#define SOURCE_BLOCK_BLOCK_H

#include "base/alloc.h"
#include "base/thread.h"
#include "format/container/container.h"
#include "io/input.h"
#include "source/block/drops.h"

enum {
  CST__BLOCK_PADDING = 64, /* readable bytes after the last record */
  CST__BLOCK_TARGET =
      256 << 10,              /* bytes that a block usually holds: some of them fit in the cache */
  CST__BLOCK_SLACK = 64 << 10 /* room to complete the last record in place */
};

typedef struct cst__pool cst__pool;

/* A mapped file, open as long as a block points into it. */
typedef struct cst__mapping {
  cst__refcount owners;
  cst__input *input;
} cst__mapping;

typedef struct cst__block {
  cst__refcount owners;
  cst__pool *pool;
  struct cst__block *next; /* in a list of its owner */
  const uint8_t *data;     /* `buffer`, or within `mapping` */
  size_t size;             /* bytes of whole records, and of dropped ones */
  uint8_t *buffer;
  size_t capacity;       /* of the buffer, padding not counted */
  cst__mapping *mapping; /* or NULL */
  cst__frame *frames;
  size_t num_frames;
  size_t frames_capacity;
  size_t file;      /* index of the file */
  uint64_t record;  /* number of the first record within the file */
  uint64_t offset;  /* of `data` in the uncompressed stream */
  cst__drops drops; /* the dropped records among them */
} cst__block;

/* A counted pool: its owner holds one count and every block that is out another. NULL: no memory.
 */
cst__pool *cst__pool_new(const cst_allocator *allocator);
void cst__pool_release(cst__pool *pool);

/* An empty block with room for `capacity` bytes (0: for a window into a map) and one owner; NULL:
 * no memory. */
cst__block *cst__block_take(cst__pool *pool, size_t capacity);

/* Makes room for `capacity` bytes, keeping the first `keep`; false: no memory. */
bool cst__block_reserve(cst__block *block, size_t capacity, size_t keep);

/* Gives up most of the room of a block that is nearly empty and may wait for long among many: that
 * of a small file. False: no memory, the block is as it was. */
bool cst__block_trim(cst__block *block);

/* Makes room for more frames; false: no memory. */
bool cst__block_reserve_frames(cst__block *block, size_t count);

/* Number of a record within the file, dropped ones counted. */
uint64_t cst__block_record(const cst__block *block, size_t frame);

/* One owner more; one less. void *, as cst__block_ref wants them. */
void cst__block_retain(void *block);
void cst__block_release(void *block);

/* NULL: no memory; the input then still belongs to the caller. */
cst__mapping *cst__mapping_new(const cst_allocator *allocator, cst__input *input);
void cst__mapping_release(cst__mapping *mapping);

#endif /* SOURCE_BLOCK_BLOCK_H */
