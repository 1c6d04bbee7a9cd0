/* Framing on behind damaged records. */
#include "source/recover.h"

#include <string.h>

enum { FRAMES_STEP = 1024 };

void cst__cursor_recover(cst__cursor *cursor, bool check) {
  uint64_t most = cursor->source->max_record_size;
  cursor->recover = true;
  cursor->recovery.resync =
      (cst__resync){.max_record_size = most,
                    .ignore_data = !check,
                    .credit = most > UINT64_MAX / 4 ? UINT64_MAX / 2 : 2 * most};
}

static uint64_t framing(const cst__cursor *cursor) {
  const cst__container *container = cursor->source->container;
  return (uint64_t)container->header_size + container->footer_size;
}

static void add_drop(cst__cursor *cursor, cst__block *block, cst__drop *drop) {
  drop->before = block->num_frames;
  drop->file = cursor->file;
  drop->record = cursor->record + block->num_frames + block->drops.count;
  if (!cst__drops_add(&block->drops, &cursor->source->allocator, drop)) {
    cst__cursor_fail(cursor, cst__fail_memory(&cursor->error, sizeof *drop), NULL);
  }
}

/* ---- damaged records ---- */

/* Begins the search for the end of the damaged record that is next. */
static void open_damage(cst__cursor *cursor, const cst__block *block, cst__damage_kind kind,
                        const uint8_t *data, size_t size, uint64_t needed) {
  cst__recovery *r = &cursor->recovery;
  r->open = true;
  r->drop = (cst__drop){.kind = CST__DROP_DAMAGE, .offset = cursor->offset + block->size};
  cursor->source->container->inspect(kind, data + block->size, size - block->size, needed,
                                     &r->drop.damage);
  uint64_t length = r->drop.damage.length;
  r->resync.kind = kind;
  r->resync.length = length;
  r->resync.to_pass = length > UINT64_MAX / 2 ? length : length + framing(cursor);
  r->resync.first = 1;
  r->resync.searching = false;
}

/* Goes on with the search; true: the record has become a drop. */
static bool close_damage(cst__cursor *cursor, cst__block *block, const uint8_t *data, size_t size,
                         bool ends, uint64_t *needed) {
  cst__recovery *r = &cursor->recovery;
  size_t passed;
  bool found = cursor->source->container->find_end(&r->resync, data + block->size,
                                                   size - block->size, ends, &passed, needed);
  block->size += passed;
  r->drop.bytes += passed;
  r->resync.credit += passed;
  if (found) {
    r->open = false;
    add_drop(cursor, block, &r->drop);
  }
  return found;
}

/* A record whose payload alone is wrong: where it ends is sure, because a sound header follows. */
static void drop_payload(cst__cursor *cursor, cst__block *block, const uint8_t *data,
                         const cst__frame *frame) {
  const cst__container *container = cursor->source->container;
  cst__drop drop = {.kind = CST__DROP_DAMAGE,
                    .offset = cursor->offset + frame->begin - container->header_size,
                    .bytes = frame->size + framing(cursor)};
  container->inspect(CST__DAMAGE_DATA, data + frame->begin - container->header_size,
                     frame->size + container->header_size + container->footer_size, 0,
                     &drop.damage);
  add_drop(cursor, block, &drop);
}

static bool payload_fits(const cst__cursor *cursor, const uint8_t *data, const cst__frame *frame) {
  return cursor->recovery.resync.ignore_data ||
         cursor->source->container->check(data, frame, NULL) == CST_OK;
}

/* Keeps those of the `found` frames behind the block's whose payloads are sound; `sure`: a sound
 * header follows the last. False: the last one is damaged, and where it ends is not sure; it begins
 * at block->size then. */
static bool keep_sound(cst__cursor *cursor, cst__block *block, const uint8_t *data, size_t found,
                       bool sure) {
  const cst__frame *frames = block->frames + block->num_frames;
  for (size_t i = 0; i < found; i++) {
    cst__frame frame = frames[i];
    if (payload_fits(cursor, data, &frame)) {
      block->frames[block->num_frames++] = frame;
    } else if (i + 1 < found || sure) {
      drop_payload(cursor, block, data, &frame);
    } else {
      block->size = frame.begin - cursor->source->container->header_size;
      return false;
    }
  }
  return true;
}

/* True if the stream begins with something else than records, and the cursor has failed. */
static bool is_other_format(cst__cursor *cursor, const cst__block *block, const uint8_t *data,
                            size_t size) {
  return cursor->offset + block->size == 0 && cst__cursor_judge(cursor, data, size);
}

/* Frames records up to the next damaged one, or as far as there is room for frames. False: more
 * bytes are needed, or none are left. */
static bool frame_on(cst__cursor *cursor, cst__block *block, const uint8_t *data, size_t size,
                     bool ends, uint64_t *needed) {
  const cst__container *container = cursor->source->container;
  size_t found;
  size_t consumed;
  if (!cst__block_reserve_frames(block, block->num_frames + FRAMES_STEP)) {
    cst__cursor_fail(cursor, cst__fail_memory(&cursor->error, FRAMES_STEP * sizeof *block->frames),
                     NULL);
    return false;
  }
  cst__frame *frames = block->frames + block->num_frames;
  cst_status status = container->scan(
      data + block->size, size - block->size, cursor->source->max_record_size, frames,
      block->frames_capacity - block->num_frames, &found, &consumed, needed, NULL);
  for (size_t i = 0; i < found; i++) {
    frames[i].begin += block->size;
  }
  block->size += consumed;
  bool sure = status == CST_OK && *needed > container->header_size;
  if (!keep_sound(cursor, block, data, found, sure)) {
    open_damage(cursor, block, CST__DAMAGE_DATA, data, size, 0);
    return true;
  }
  if (status != CST_OK) {
    open_damage(cursor, block, status == CST_LIMIT ? CST__DAMAGE_LIMIT : CST__DAMAGE_LENGTH, data,
                size, 0);
    return status == CST_LIMIT || !is_other_format(cursor, block, data, size);
  }
  if (*needed > 0 && ends && cursor->failure == CST_OK) {
    open_damage(cursor, block, CST__DAMAGE_TRUNCATED, data, size, *needed);
    return *needed > container->header_size || !is_other_format(cursor, block, data, size);
  }
  return *needed == 0;
}

void cst__recover_records(cst__cursor *cursor, cst__block *block, const uint8_t *data, size_t size,
                          bool ends, uint64_t *needed) {
  bool was_sound = cursor->failure == CST_OK;
  do {
    *needed = 0;
    if (cursor->recovery.open && !close_damage(cursor, block, data, size, ends, needed)) {
      return;
    }
    if (was_sound && cursor->failure != CST_OK) {
      return;
    }
  } while (block->size < size && frame_on(cursor, block, data, size, ends, needed));
}

bool cst__recover_compression(cst__cursor *cursor, cst__block *block, size_t filled) {
  bool is_data = cursor->failure == CST_CORRUPT || cursor->failure == CST_LIMIT;
  if (!is_data || cursor->fault == NULL || strcmp(cursor->fault, "compression") != 0) {
    return false;
  }
  int64_t file_size = cst__input_file_size(cursor->input);
  uint64_t consumed = cst__input_consumed(cursor->input);
  uint64_t unread =
      file_size > 0 && (uint64_t)file_size > consumed ? (uint64_t)file_size - consumed : 0;
  cst__drop drop = {.kind = CST__DROP_COMPRESSION,
                    .offset = cursor->offset + block->size,
                    .bytes = filled - block->size + unread,
                    .error = cst__error_keep(&cursor->source->allocator, &cursor->error)};
  if (drop.error == NULL) {
    cst__cursor_fail(cursor, cst__fail_memory(&cursor->error, sizeof *drop.error), NULL);
    return false;
  }
  block->size = filled;
  cursor->failure = CST_OK;
  cursor->fault = NULL;
  add_drop(cursor, block, &drop);
  return true;
}
