/* Counting the records of each file by their framing alone; tabular formats are read. */
#include "source/scan/count.h"

#include <columnstone/index.h>
#include <columnstone/source.h>

#include "base/arguments.h"
#include "source/index/access.h"
#include "source/input/prepare.h"
#include "source/pass/pass.h"
#include "source/scan/scan_found.h"
#include "source/scan/scan_tabular.h"

/* Records that are dropped for their payload alone are records. */
static void count_dropped(cst__file_count *count, const cst__block *block) {
  for (size_t i = 0; i < block->drops.count; i++) {
    const cst__drop *drop = &block->drops.items[i];
    if (drop->kind == CST__DROP_DAMAGE && drop->damage.kind == CST__DAMAGE_DATA) {
      count->records++;
      count->record_bytes += drop->damage.length;
    }
  }
}

void cst__count_block(cst__file_count *count, const cst_source *source, const cst__cursor *cursor,
                      const cst__block *block) {
  count->records += block->num_frames;
  for (size_t i = 0; i < block->num_frames; i++) {
    count->record_bytes += block->frames[i].size;
  }
  count_dropped(count, block);
  count->stream_bytes = cursor->framing.offset - source->parts[cursor->framing.file].begin;
  count->file_bytes = cursor->consumed;
}

static cst_status count_source_file(const cst_source *source, cst__cursor *cursor,
                                    cst__file_count *count, const cst__scan_calls *calls,
                                    cst__scan_place *place, cst_error *error) {
  for (;;) {
    cst__block *block;
    CST__TRY(cst__cursor_fill(cursor, &block, error));
    count->file_bytes = cursor->consumed;
    if (block == NULL) {
      return CST_OK;
    }
    cst__count_block(count, source, cursor, block);
    cst__block_release(block);
    CST__TRY(cst__scan_tell(calls, place, count->file_bytes, count->records, error));
  }
}

static cst_status count_source_files(const cst_source *source, cst__pool *pool,
                                     const cst__scan_calls *calls, cst_error *error) {
  cst__scan_place place = {0};
  for (size_t i = 0; i < source->num_parts; i++) {
    cst__file_count count = {.file = cst__source_name(source, i)};
    cst__cursor *cursor = cst__cursor_new(source, pool, i);
    if (cursor == NULL) {
      return cst__fail_memory(error, sizeof *cursor);
    }
    if (!(source->options.values.flags & CST_SOURCE_MEMORY_MAP)) {
      cst__cursor_skim(cursor);
    }
    cst_status status = count_source_file(source, cursor, &count, calls, &place, error);
    cst__cursor_free(cursor);
    CST__TRY(status);
    place.bytes += count.file_bytes;
    place.records += count.records;
    calls->on_file(calls->ctx, &count);
  }
  return CST_OK;
}

static cst_status count_all(cst_source *source, const cst__scan_calls *calls, cst_error *error) {
  if (source->inputs->format.payload == NULL) {
    return cst__scan_tabular(source, calls, false, error);
  }
  CST__TRY(cst__source_acquire_all(source, error));
  cst__pool *pool = cst__pool_new(&source->allocator);
  if (pool == NULL) {
    return cst__fail_memory(error, sizeof(void *));
  }
  cst_status status = count_source_files(source, pool, calls, error);
  cst__pool_release(pool);
  return status;
}

cst_status cst_source_count(cst_source *source, cst_progress_callback on_progress, void *ctx,
                            cst_findings **files, cst_error *error) {
  cst__scan_found found = {0};
  CST__CLEAR(files);
  if (source == NULL || files == NULL) {
    return cst__missing(source == NULL ? "source" : "files", error);
  }
  cst_status status = cst__scan_found_begin(&found, &source->allocator, false, error);
  if (status == CST_OK) {
    const cst__scan_calls calls = cst__scan_found_calls(&found, on_progress, ctx);
    status = count_all(source, &calls, error);
  }
  return cst__scan_found_finish(&found, status, files, NULL, error);
}

/* ---- rows ---- */

static void add_count(void *ctx, const cst__file_count *count) {
  *(uint64_t *)ctx += count->records;
}

cst_status cst__source_count_by_pass(cst_source *source, uint64_t *rows, cst_error *error) {
  cst_pass *pass;
  struct ArrowArray batch;
  cst_status status;
  CST__TRY(cst_pass_new(source, &pass, error));
  for (;;) {
    status = cst_pass_next(pass, &batch, error);
    if (status != CST_OK || batch.release == NULL) {
      break;
    }
    *rows += (uint64_t)batch.length;
    batch.release(&batch);
  }
  cst_pass_free(pass);
  return status;
}

/* From the indexes, or by reading what has none. */
static cst_status find_num_rows(cst_source *source, uint64_t *rows, cst_error *error) {
  cst_error own = CST_ERROR_INIT;
  cst__access *access = NULL;
  *rows = 0;
  if (source->inputs->format.payload == NULL || !cst__reading_options_keep_rows(&source->options)) {
    return cst__source_count_by_pass(source, rows, error);
  }
  cst_status status = cst__source_access(source, &access, &own);
  if (status == CST_UNSUPPORTED && source->inputs->rereadable) {
    const cst__scan_calls calls = {.on_file = add_count, .ctx = rows};
    return count_all(source, &calls, error);
  }
  if (status != CST_OK) {
    cst__error_copy(error, &own);
    return status;
  }
  *rows = access->num_rows;
  return CST_OK;
}

cst_status cst_source_num_rows(cst_source *source, uint64_t *rows, cst_error *error) {
  CST__CLEAR(rows);
  if (source == NULL || rows == NULL) {
    return cst__missing(source == NULL ? "source" : "rows", error);
  }
  cst__mutex_lock(&source->lock);
  bool known = source->found.counted;
  *rows = source->found.num_rows;
  cst__mutex_unlock(&source->lock);
  if (known) {
    return CST_OK;
  }
  CST__TRY(find_num_rows(source, rows, error));
  cst__mutex_lock(&source->lock);
  source->found.counted = true;
  source->found.num_rows = *rows;
  cst__mutex_unlock(&source->lock);
  return CST_OK;
}
