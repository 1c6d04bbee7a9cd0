/* The windows of a direct dataset that are in use, read in whole: mixing neighbouring rows then
 * costs one read for each window instead of one for each row. Shared by the makers of a loader.
 */
#ifndef DATASET_BLOCKS_H
#define DATASET_BLOCKS_H

#include "dataset/epoch_order.h"
#include "source/index/region.h"

typedef struct cst__blocks cst__blocks;

/* `order`, of windows, has to outlive it. */
cst_status cst__blocks_new(cst_source *source, const cst__epoch_order *order,
                           const cst_allocator *allocator, cst__blocks **out, cst_error *error);
void cst__blocks_free(cst__blocks *blocks); /* NULL is allowed */

/* The windows that have positions [begin, begin + count): at most two regions, each with one more
 * owner, in out[0 .. *num). Fewer, or none, if windows are too large to be kept, or too many. */
cst_status cst__blocks_get(cst__blocks *blocks, uint64_t begin, uint64_t count, cst__region *out[2],
                           size_t *num, cst_error *error);

#endif /* DATASET_BLOCKS_H */
