/* Regions: the bytes of stretches of rows, read at once and kept for a while, so that rows out of
 * them are taken from memory.
 */
#ifndef SOURCE_INDEX_REGION_H
#define SOURCE_INDEX_REGION_H

#include "base/thread.h"
#include "source/index/access.h"

/* Bytes of one file. */
typedef struct cst__region_part {
  size_t file;
  uint64_t begin;
  size_t size;
  const uint8_t *data;
} cst__region_part;

/* Immutable and counted. */
typedef struct cst__region {
  cst__refcount owners;
  uint8_t *data;
  size_t num_parts;
  cst__region_part parts[]; /* by file and begin */
} cst__region;

/* Rows [first, first + count) of a source. */
typedef struct cst__row_range {
  uint64_t first;
  uint64_t count;
} cst__row_range;

/* Reads stretches of a source with access to its rows, which are in ascending order and have rows.
 * If they have more than `most` bytes, nothing is read and *out is NULL. */
cst_status cst__region_read(cst_source *source, const cst__row_range *stretches, size_t count,
                            uint64_t most, cst__region **out, cst_error *error);
cst__region *cst__region_retain(cst__region *region);
void cst__region_release(cst__region *region); /* NULL is allowed */

/* The bytes of a file from `begin` on, if the regions have `size` of them; else NULL. */
const uint8_t *cst__regions_find(const cst__region *const *regions, size_t num_regions, size_t file,
                                 uint64_t begin, uint64_t size);

#endif /* SOURCE_INDEX_REGION_H */
