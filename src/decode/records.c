/* Records and the batches that point into them. */
#include "decode/records.h"

cst_status cst__records_keep(const cst__records *records, cst__batch *batch, cst_error *error) {
  for (size_t i = 0; i < records->num_blocks; i++) {
    const cst__block_ref *block = &records->blocks[i];
    cst__keepalive keep = {block->data, block->size, block->owner, block->release};
    block->retain(block->owner);
    if (!cst__batch_keep(batch, &keep)) {
      block->release(block->owner);
      return cst__fail_memory(error, sizeof keep);
    }
  }
  return CST_OK;
}
