/* Counting the records of each file by their framing alone; whole formats are read. */
#include "source/block/cursor.h"
#include "source/input/source.h"
#include "source/scan/scan.h"

/* Records that are dropped for their payload alone are records. */
static void count_dropped(cst_file_count *count, const cst__block *block) {
  for (size_t i = 0; i < block->drops.count; i++) {
    const cst__drop *drop = &block->drops.items[i];
    if (drop->kind == CST__DROP_DAMAGE && drop->damage.kind == CST__DAMAGE_DATA) {
      count->records++;
      count->record_bytes += drop->damage.length;
    }
  }
}

void cst__count_block(cst_file_count *count, const cst_source *source, const cst__cursor *cursor,
                      const cst__block *block) {
  uint64_t framing = source->container->header_size + source->container->footer_size;
  count->records += block->num_frames;
  if (cursor->recover) {
    for (size_t i = 0; i < block->num_frames; i++) {
      count->record_bytes += block->frames[i].size;
    }
    count_dropped(count, block);
  } else {
    count->record_bytes += block->size - block->num_frames * framing;
  }
  count->stream_bytes = cursor->offset;
  count->file_bytes = cursor->consumed;
}

static cst_status count_file(const cst_source *source, cst__cursor *cursor, cst_file_count *count,
                             cst_error *error) {
  for (;;) {
    cst__block *block;
    CST__TRY(cst__cursor_fill(cursor, &block, error));
    count->file_bytes = cursor->consumed;
    if (block == NULL) {
      return CST_OK;
    }
    cst__count_block(count, source, cursor, block);
    cst__block_release(block);
  }
}

static cst_status count_files(const cst_source *source, cst__pool *pool, cst_count_callback on_file,
                              void *ctx, cst_error *error) {
  for (size_t i = 0; i < source->num_files; i++) {
    cst_file_count count = {.file = source->files[i].name};
    cst__cursor *cursor = cst__cursor_new(source, pool, i);
    if (cursor == NULL) {
      return cst__fail_memory(error, sizeof *cursor);
    }
    if (!(source->flags & CST_SOURCE_MEMORY_MAP)) {
      cst__cursor_skim(cursor);
    }
    cst_status status = count_file(source, cursor, &count, error);
    cst__cursor_free(cursor);
    CST__TRY(status);
    on_file(ctx, &count);
  }
  return CST_OK;
}

cst_status cst__source_count(cst_source *source, cst_count_callback on_file, void *ctx,
                             cst_error *error) {
  if (source->payload == NULL) {
    cst__scan scan = {.on_file = on_file, .ctx = ctx};
    return cst__scan_whole(source, &scan, error);
  }
  CST__TRY(cst__source_claim_whole(source, error));
  cst__pool *pool = cst__pool_new(&source->allocator);
  if (pool == NULL) {
    return cst__fail_memory(error, sizeof(void *));
  }
  cst_status status = count_files(source, pool, on_file, ctx, error);
  cst__pool_release(pool);
  return status;
}
