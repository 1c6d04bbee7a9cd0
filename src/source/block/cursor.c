/* Filling blocks from a file: read, frame, complete the last record, carry the rest. */
#include "source/block/cursor.h"

#include <string.h>

#include "base/interrupt.h"
#include "source/block/recover.h"

enum {
  SKIM_LEAST = 1 << 15, /* bytes that are worth a seek */
  SKIM_HEADER = 4096,
  LARGEST_FIRST =
      64 << 20 /* room that a block may have before its bytes are seen: others had them */
};

cst__cursor *cst__cursor_new(const cst_source *source, cst__pool *pool, size_t file) {
  cst__cursor *cursor = cst__new_zero(&source->allocator, sizeof *cursor);
  if (cursor != NULL) {
    cursor->framing.source = source;
    cursor->pool = pool;
    cursor->framing.file = file;
    cursor->framing.error = (cst_error)CST_ERROR_INIT;
    cursor->framing.offset = source->parts[file].begin;
    cursor->framing.record =
        source->parts[file].first_record > 0 ? (uint64_t)source->parts[file].first_record : 0;
    if (cst__reading_options_skip(&source->options)) {
      cst__framing_recover(&cursor->framing, !(source->options.values.flags & CST_SOURCE_SKIP_CRC));
    }
  }
  return cursor;
}

void cst__cursor_skim(cst__cursor *cursor) {
  cursor->framing.recover = false;
  cursor->skim = true;
  cursor->skim_size = CST__BLOCK_TARGET;
}

static void close_cursor_input(cst__cursor *cursor) {
  if (cursor->mapping != NULL) {
    cst__mapping_release(cursor->mapping);
  } else if (cursor->input != NULL) {
    cst__input_close(cursor->input);
  }
  cursor->mapping = NULL;
  cursor->input = NULL;
}

void cst__cursor_free(cst__cursor *cursor) {
  if (cursor != NULL) {
    close_cursor_input(cursor);
    cst__block_release(cursor->next);
    cst__delete(cursor);
  }
}

/* The bytes of the part of the file, from its first byte on. */
static uint64_t part_size(const cst__cursor *cursor) {
  const cst__part *part = &cursor->framing.source->parts[cursor->framing.file];
  return part->end == 0 ? UINT64_MAX : part->end - part->begin;
}

/* Its bytes after the blocks so far. */
static uint64_t part_rest(const cst__cursor *cursor) {
  return part_size(cursor) -
         (cursor->framing.offset - cursor->framing.source->parts[cursor->framing.file].begin);
}

/* Those of them that are mapped. */
static size_t mapped_rest(const cst__cursor *cursor) {
  uint64_t mapped =
      cursor->framing.offset < cursor->map_size ? cursor->map_size - cursor->framing.offset : 0;
  uint64_t rest = part_rest(cursor);
  return (size_t)(mapped < rest ? mapped : rest);
}

/* Only files that can be read from there are divided: else it has become another. That of restart
 * points is entered at its begin, too, so that they are proved. */
static cst_status seek_begin(cst__cursor *cursor, cst_error *error) {
  const cst__part *part = &cursor->framing.source->parts[cursor->framing.file];
  if ((part->begin == 0 && !part->packed) || cst__input_seek(cursor->input, part->begin)) {
    cursor->entered = part->packed ? cst__input_consumed(cursor->input) : part->begin;
    return CST_OK;
  }
  close_cursor_input(cursor);
  return cst__fail(error, CST_IO, "open it again",
                   "the file changed after it was split: its bytes can no longer be read");
}

static cst_status open_cursor_input(cst__cursor *cursor, cst_error *error) {
  const cst_source *source = cursor->framing.source;
  CST__TRY(cst__source_open_input(source, cursor->framing.file, &cursor->input, error));
  CST__TRY(seek_begin(cursor, error));
  if (!(source->options.values.flags & CST_SOURCE_MEMORY_MAP)) {
    return CST_OK;
  }
  cursor->map = cst__input_map(cursor->input, &cursor->map_size);
  if (cursor->map != NULL) {
    cursor->mapping = cst__mapping_new(&source->allocator, cursor->input);
    if (cursor->mapping == NULL) {
      close_cursor_input(cursor);
      return cst__fail_memory(error, sizeof *cursor->mapping);
    }
  }
  return CST_OK;
}

/* True if the file is one record. */
static bool file_is_record(const cst__cursor *cursor) {
  return cursor->framing.source->inputs->container->is_whole;
}

static void judge_first_record(cst__cursor *cursor, const uint8_t *data, size_t size) {
  bool by_bytes = cursor->framing.fault != NULL && !cursor->framing.of_compression;
  if (cursor->framing.offset == 0 && cursor->framing.failure == CST_CORRUPT && by_bytes) {
    (void)cst__framing_judge(&cursor->framing, data, size);
  }
}

/* Frames what lies in the chunk from block->size on. *framed: what the last scan found. A failure
 * waits in the cursor. */
static void frame_sound_records(cst__cursor *cursor, cst__block *block, const cst__chunk *chunk,
                                cst__framed *framed) {
  do {
    const cst__chunk rest = {chunk->data + block->size, chunk->size - block->size,
                             chunk->ends && cursor->framing.failure == CST_OK};
    if (!cst__block_reserve_frames(block, block->num_frames + CST__FRAMES_STEP)) {
      cst__framing_fail_memory(&cursor->framing, CST__FRAMES_STEP * sizeof *block->frames);
      return;
    }
    cst_status status =
        cst__framing_scan(&cursor->framing, block, &rest, framed, &cursor->framing.error);
    block->size += framed->consumed;
    block->num_frames += framed->count;
    if (status != CST_OK) {
      bool limit = status == CST_LIMIT;
      cst__framing_fail(&cursor->framing, status,
                        limit ? "limit" : cursor->framing.source->inputs->container->framing_fault);
      if (block->num_frames == 0) {
        judge_first_record(cursor, chunk->data + block->size, chunk->size - block->size);
      }
      return;
    }
  } while (framed->count > 0 && framed->needed == 0 && block->size < chunk->size);
}

/* *framed: what is known of the next record, from block->size on, if it is incomplete. */
static void frame_records(cst__cursor *cursor, cst__block *block, const uint8_t *data, size_t size,
                          cst__framed *framed) {
  bool ends = cursor->framing.ended || (cursor->map != NULL && size == mapped_rest(cursor));
  const cst__chunk chunk = {data, size, ends};
  *framed = (cst__framed){0};
  if (cursor->framing.offset + block->size == 0 && !file_is_record(cursor) &&
      cst__framing_is_proven_other(&cursor->framing, data, size)) {
    return;
  }
  if (cursor->framing.recover) {
    cst__recover_records(&cursor->framing, block, &chunk, framed);
  } else {
    frame_sound_records(cursor, block, &chunk, framed);
  }
}

/* A reading has failed. */
static void fail_reading(cst__cursor *cursor, cst_status status) {
  bool of_data = (status == CST_CORRUPT || status == CST_LIMIT || status == CST_FORMAT) &&
                 !cst__input_is_misplaced(cursor->input); /* nobody knows what is lost then */
  cst__framing_fail(&cursor->framing, status, of_data ? "compression" : NULL);
  cursor->framing.of_compression = of_data;
}

/* Where a part ends with a frame of its restart points, that may turn out not to be one. */
static void check_last_frame(cst__cursor *cursor) {
  uint8_t none;
  size_t got;
  cst_status status = cst__input_read(cursor->input, &none, 0, &got, &cursor->framing.error);
  if (status != CST_OK) {
    fail_reading(cursor, status);
  }
}

/* Reads until the block holds `limit` bytes or the stream, or the part of it, ends. */
static void read_until(cst__cursor *cursor, cst__block *block, size_t *filled, size_t limit) {
  uint64_t rest = part_rest(cursor);
  bool to_end = limit >= rest;
  limit = to_end ? (size_t)rest : limit;
  while (*filled < limit && !cursor->framing.ended) {
    size_t got = 0;
    cst_status status = cst__input_read(cursor->input, block->buffer + *filled, limit - *filled,
                                        &got, &cursor->framing.error);
    *filled += got;
    if (status != CST_OK) {
      fail_reading(cursor, status);
    } else if (got == 0) {
      cursor->framing.ended = true;
    }
  }
  if (to_end && !cursor->framing.ended &&
      cursor->framing.source->parts[cursor->framing.file].packed) {
    check_last_frame(cursor);
  }
  cursor->framing.ended = cursor->framing.ended || to_end;
}

/* How far to read so that the next record is whole; 0: it is left to the next block. Room for a
 * record that is larger than all before grows by doubling, as its bytes arrive. */
static size_t next_limit(cst__cursor *cursor, cst__block *block, size_t filled,
                         const cst__framed *framed) {
  const uint64_t needed = framed->needed;
  if (block->size > 0) {
    return framed->known && needed <= block->capacity - block->size ? block->size + (size_t)needed
                                                                    : 0;
  }
  size_t limit = needed < SIZE_MAX / 2 ? (size_t)needed : SIZE_MAX / 2;
  if (limit > block->capacity) {
    size_t doubled = filled > block->capacity / 2 ? block->capacity * 2 : block->capacity;
    limit = limit < doubled ? limit : doubled;
    if (!cst__block_reserve(block, limit, filled)) {
      cst__framing_fail_memory(&cursor->framing, limit);
      return 0;
    }
  }
  return limit;
}

/* Passes over the rest of the record after the block's, and takes it as read; false: read it. */
static bool skim_record(cst__cursor *cursor, cst__block *block, size_t *filled,
                        const cst__framed *framed) {
  const uint64_t needed = framed->needed;
  uint64_t there = *filled - block->size;
  uint64_t skipped = 0;
  if (!framed->known || needed - there < SKIM_LEAST || block->size + needed > part_rest(cursor) ||
      !cst__input_skip(cursor->input, needed - there, &skipped)) {
    return false;
  }
  if (skipped < needed - there) {
    cursor->framing.ended = true;
    *filled += (size_t)skipped;
    return true;
  }
  if (!cst__block_reserve_frames(block, block->num_frames + 1)) {
    cst__framing_fail_memory(&cursor->framing, sizeof *block->frames);
    return true;
  }
  block->frames[block->num_frames++] = framed->next;
  block->size += (size_t)needed;
  *filled = block->size;
  return true;
}

/* The same for a part of a file, of which `filled` bytes from the cursor's offset on were there. */
static void check_part_end(cst__cursor *cursor, size_t filled, size_t size, uint64_t needed) {
  if (filled < part_rest(cursor)) {
    cst__framing_fail(&cursor->framing,
                      cst__fail(&cursor->framing.error, CST_IO, "open it again",
                                "the file is shorter than when it was split"),
                      NULL);
  } else if (size > 0 &&
             cst__part_ends_file(&cursor->framing.source->parts[cursor->framing.file])) {
    cst__framing_fail(
        &cursor->framing,
        cursor->framing.source->inputs->container->truncated(size, needed, &cursor->framing.error),
        "truncated");
  } else if (size > 0) {
    cst__framing_fail_crossing(&cursor->framing, needed, size);
  }
}

/* A stream that ends here must end with a record; and a file must be as long as it was. `filled`
 * bytes were there from the cursor's offset on, `size` of them after the last record. */
static void check_stream_end(cst__cursor *cursor, size_t filled, size_t size, uint64_t needed) {
  if (cursor->framing.failure != CST_OK) {
    return;
  }
  if (part_size(cursor) != UINT64_MAX) {
    check_part_end(cursor, filled, size, needed);
    return;
  }
  int64_t file_size = cst__input_file_size(cursor->input);
  if (size > 0) {
    cst__framing_fail(
        &cursor->framing,
        cursor->framing.source->inputs->container->truncated(size, needed, &cursor->framing.error),
        "truncated");
  } else if (file_size >= 0 && cursor->mapping == NULL &&
             cst__input_consumed(cursor->input) != (uint64_t)file_size) {
    cst__framing_fail(
        &cursor->framing,
        cst__fail(&cursor->framing.error, CST_IO, "retry when no process is writing the file",
                  "the file changed while it was read: read %llu bytes of %lld",
                  (unsigned long long)cst__input_consumed(cursor->input), (long long)file_size),
        NULL);
  }
}

/* Puts the bytes of the incomplete record into the next block. */
static void carry_rest(cst__cursor *cursor, const cst__block *block, size_t filled) {
  size_t rest = filled - block->size;
  if (rest == 0 || cursor->framing.ended) {
    return;
  }
  size_t capacity = rest + CST__BLOCK_TARGET + CST__BLOCK_SLACK;
  capacity = capacity < filled && filled <= LARGEST_FIRST ? filled : capacity;
  cursor->next = cst__block_take(cursor->pool, capacity);
  if (cursor->next == NULL) {
    cst__framing_fail_memory(&cursor->framing, capacity);
    return;
  }
  memcpy(cursor->next->buffer, block->buffer + block->size, rest);
  cursor->carried = rest;
}

/* What is left of the file counts for the record that its compression ends in. */
static bool recover_compression(cst__cursor *cursor, cst__block *block, size_t filled) {
  int64_t size = cst__input_file_size(cursor->input);
  uint64_t consumed = cst__input_consumed(cursor->input);
  uint64_t unread = size > 0 && (uint64_t)size > consumed ? (uint64_t)size - consumed : 0;
  return cst__recover_compression(&cursor->framing, block, filled, unread);
}

static void fill_buffered(cst__cursor *cursor, cst__block *block) {
  size_t filled = cursor->carried;
  size_t limit =
      filled < CST__BLOCK_TARGET / 2 ? CST__BLOCK_TARGET : filled + CST__BLOCK_TARGET / 2;
  cst__framed framed = {0};
  cursor->carried = 0;
  if (cursor->skim) {
    limit = filled + cursor->skim_size;
  }
  while (limit > 0 && !cursor->framing.ended) {
    read_until(cursor, block, &filled, limit);
    framed = (cst__framed){0};
    if (filled > block->size || cursor->framing.recovery.open) {
      frame_records(cursor, block, block->buffer, filled, &framed);
    }
    if (cursor->skim && !cursor->framing.ended && skim_record(cursor, block, &filled, &framed)) {
      break;
    }
    limit = filled > block->size ? next_limit(cursor, block, filled, &framed) : 0;
  }
  if (cursor->framing.ended &&
      !(cursor->framing.recover && recover_compression(cursor, block, filled))) {
    const uint8_t *rest = block->buffer + block->size;
    size_t size = filled - block->size;
    check_stream_end(cursor, filled, size, framed.needed);
    if (block->num_frames == 0 && !framed.known) {
      judge_first_record(cursor, rest, size);
    }
  }
  carry_rest(cursor, block, filled);
  if (cursor->skim) {
    /* As much is read at once as the size of the records makes sensible. */
    bool large = block->num_frames > 0 && block->size / block->num_frames >= SKIM_LEAST;
    cursor->skim_size = large ? SKIM_HEADER : CST__BLOCK_TARGET;
  } else {
    cursor->last_size = filled < LARGEST_FIRST ? filled : LARGEST_FIRST;
  }
}

/* Copies a window that ends too near the end of its map for the padding. */
static bool pad_window(cst__block *block) {
  const uint8_t *window = block->data;
  if (!cst__block_reserve(block, block->size, 0)) {
    return false;
  }
  memcpy(block->buffer, window, block->size);
  block->data = block->buffer;
  return true;
}

static void fill_mapped(cst__cursor *cursor, cst__block *block) {
  size_t rest = mapped_rest(cursor);
  const uint8_t *data = rest > 0 ? cursor->map + cursor->framing.offset : cursor->map;
  size_t window = rest < CST__BLOCK_TARGET ? rest : CST__BLOCK_TARGET;
  cst__framed framed = {0};
  if (rest > 0) {
    frame_records(cursor, block, data, window, &framed);
  }
  while (block->size == 0 && framed.needed > window && window < rest && !cursor->framing.ended) {
    window = framed.needed < rest ? (size_t)framed.needed : rest;
    frame_records(cursor, block, data, window, &framed);
  }
  if (!cursor->framing.ended && (block->size == 0 || block->size == rest)) {
    cursor->framing.ended = true;
    check_stream_end(cursor, rest, rest - block->size, framed.needed);
    if (block->num_frames == 0) {
      judge_first_record(cursor, data, rest);
    }
  }
  block->data = data;
  if (rest - block->size >= CST__BLOCK_PADDING) {
    cst__refcount_up(&cursor->mapping->owners);
    block->mapping = cursor->mapping;
  } else if (block->num_frames > 0 && !pad_window(block)) {
    block->num_frames = 0;
    block->size = 0;
    cst__drops_clear(&block->drops, 0);
    cst__framing_fail_memory(&cursor->framing, rest);
  }
}

static cst__block *take_block(cst__cursor *cursor) {
  cst__block *block = cursor->next;
  cursor->next = NULL;
  if (block == NULL) {
    size_t capacity = CST__BLOCK_TARGET + CST__BLOCK_SLACK;
    capacity = capacity < cursor->last_size ? cursor->last_size : capacity;
    block = cst__block_take(cursor->pool, cursor->map != NULL ? 0 : capacity);
  }
  return block;
}

/* Says where the block lies, and goes on after it. */
static void place_block(cst__cursor *cursor, cst__block *block) {
  block->file = cursor->framing.file;
  block->record = cursor->framing.record;
  block->offset = cursor->framing.offset;
  cursor->framing.record += block->num_frames + block->drops.count;
  cursor->framing.offset += block->size;
  cursor->compressed =
      cursor->map == NULL && cst__input_compression(cursor->input, NULL) != CST__PLAIN;
  cursor->consumed =
      cursor->map != NULL ? cursor->framing.offset : cst__input_consumed(cursor->input);
  cursor->consumed -= cursor->entered;
  if (cursor->framing.source->parts[cursor->framing.file].packed) {
    /* Parts of a packed file share frames: each counts for the bytes that it was given, so that the
     * sum is that of the file. */
    const cst__part *part = &cursor->framing.source->parts[cursor->framing.file];
    bool done = cursor->framing.ended && cursor->framing.failure == CST_OK;
    cursor->consumed =
        done || cursor->consumed > (uint64_t)part->size ? (uint64_t)part->size : cursor->consumed;
  }
  if (block->data == block->buffer && !cursor->skim) {
    memset(block->buffer + block->size, 0, CST__BLOCK_PADDING);
  }
}

static cst_status deliver_failure(cst__cursor *cursor, cst_error *error) {
  if (cursor->framing.failure != CST_OK) {
    cst__error_copy(error, &cursor->framing.error);
  }
  return cursor->framing.failure;
}

/* The next block; NULL if nothing is in it but what is being passed over. */
static cst__block *fill_next_block(cst__cursor *cursor) {
  cst__block *block = take_block(cursor);
  if (block == NULL) {
    cst__framing_fail_memory(&cursor->framing, CST__BLOCK_TARGET);
    return NULL;
  }
  if (cursor->map != NULL) {
    fill_mapped(cursor, block);
  } else {
    fill_buffered(cursor, block);
  }
  /* A file without bytes is a record, too, where each is one. */
  bool is_empty = file_is_record(cursor) && cursor->framing.ended &&
                  cursor->framing.failure == CST_OK && cursor->framing.offset + block->size == 0 &&
                  block->num_frames == 0 && block->drops.count == 0;
  if (is_empty && !cst__block_reserve_frames(block, 1)) {
    cst__framing_fail_memory(&cursor->framing, sizeof *block->frames);
  } else if (is_empty) {
    block->frames[block->num_frames++] = (cst__frame){0};
  }
  place_block(cursor, block);
  if (cursor->framing.ended) {
    if (!cursor->skim && !cst__block_trim(block)) {
      cst__framing_fail_memory(&cursor->framing, block->size);
    }
    close_cursor_input(cursor);
    if (cursor->framing.failure != CST_OK) {
      cst__error_add_file(&cursor->framing.error,
                          cst__source_name(cursor->framing.source, cursor->framing.file));
      cst__error_add_record(
          &cursor->framing.error,
          cst__source_record(cursor->framing.source, cursor->framing.file, cursor->framing.record),
          (int64_t)cursor->framing.offset);
    }
  }
  if (block->num_frames == 0 && block->drops.count == 0) {
    cst__block_release(block);
    return NULL;
  }
  return block;
}

cst_status cst__cursor_fill(cst__cursor *cursor, cst__block **out, cst_error *error) {
  *out = NULL;
  if (cursor->input == NULL && !cursor->framing.ended) {
    cst_status opened = open_cursor_input(cursor, &cursor->framing.error);
    if (opened != CST_OK) {
      cst__framing_fail(&cursor->framing, opened, NULL);
      cst__error_add_file(&cursor->framing.error,
                          cst__source_name(cursor->framing.source, cursor->framing.file));
    }
  }
  cst_status told = cursor->framing.ended ? CST_OK : cst__interrupted(&cursor->framing.error);
  if (told != CST_OK) {
    cst__framing_fail(&cursor->framing, told, NULL);
  }
  while (*out == NULL && !cursor->framing.ended) {
    *out = fill_next_block(cursor);
  }
  return *out != NULL ? CST_OK : deliver_failure(cursor, error);
}
