/* Records and the batches that point into them. */
#include "arrow/records/records.h"

#include <string.h>

#include "base/arguments.h"

cst_status cst__records_check(const void *decoder, const cst_bytes *records, size_t count,
                              cst_error *error) {
  if (decoder == NULL) {
    return cst__missing("decoder", error);
  }
  if (records == NULL && count > 0) {
    return cst__missing("records", error);
  }
  for (size_t i = 0; i < count; i++) {
    if (records[i].data == NULL && records[i].size > 0) {
      return cst__missing("records[i].data", error);
    }
  }
  return CST_OK;
}

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

enum { COPY_PADDING = 64 };

/* Records that were copied one after the other, counted by the batches whose views point into them.
 */
typedef struct copied_block {
  cst__refcount owners;
  uint8_t bytes[];
} copied_block;

static void copied_retain(void *owner) { cst__refcount_up(&((copied_block *)owner)->owners); }

static void copied_release(void *owner) {
  if (cst__refcount_down(&((copied_block *)owner)->owners)) {
    cst__delete(owner);
  }
}

static bool sum_sizes(const cst__records *records, size_t *total) {
  *total = 0;
  for (size_t i = 0; i < records->count; i++) {
    if (!cst__add(*total, records->items[i].size, total) || *total > INT32_MAX) {
      return false;
    }
  }
  return true;
}

static void copy_into_block(const cst__records *records, cst_bytes *items, uint8_t *at) {
  for (size_t i = 0; i < records->count; i++) {
    items[i] = (cst_bytes){at, records->items[i].size};
    if (items[i].size > 0) {
      memcpy(at, records->items[i].data, items[i].size);
    }
    at += items[i].size;
  }
  memset(at, 0, COPY_PADDING);
}

cst_status cst__records_copy(const cst_allocator *allocator, const cst__records *records,
                             cst__copied *out, cst_error *error) {
  size_t total;
  if (!sum_sizes(records, &total)) {
    return cst__fail(error, CST_LIMIT, "use smaller batches",
                     "views reach 2147483647 bytes of records in one call");
  }
  cst_bytes *items = cst__new(allocator, (records->count + 1) * sizeof *items);
  copied_block *block =
      items != NULL ? cst__new(allocator, sizeof *block + total + COPY_PADDING) : NULL;
  if (block == NULL) {
    cst__delete(items);
    return cst__fail_memory(error, total);
  }
  cst__refcount_init(&block->owners);
  copy_into_block(records, items, block->bytes);
  out->items = items;
  out->block = (cst__block_ref){block->bytes, total, block, copied_retain, copied_release};
  out->records = (cst__records){.items = items,
                                .count = records->count,
                                .padding = COPY_PADDING,
                                .blocks = &out->block,
                                .num_blocks = 1,
                                .validity = records->validity};
  return CST_OK;
}

void cst__copied_release(cst__copied *copied) {
  copied_release(copied->block.owner);
  cst__delete(copied->items);
}
