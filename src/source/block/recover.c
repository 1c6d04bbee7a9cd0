/* Framing on after damaged records. */
#include "source/block/recover.h"

#include <string.h>

enum { FRAMES_STEP = 1024 };

void cst__cursor_recover(cst__cursor *cursor, bool check) {
  uint64_t limit = cursor->source->options.max_record_size;
  uint64_t longest = limit > CST__RESYNC_WINDOW ? limit : CST__RESYNC_WINDOW;
  longest =
      longest < UINT64_MAX / 4 ? longest : UINT64_MAX / 4; /* sums with it are numbers still */
  cursor->recover = true;
  cursor->recovery.resync = (cst__resync){.longest = longest,
                                          .ignore_data = !check,
                                          .divided = cursor->source->parts[cursor->file].end != 0,
                                          .credit = 2 * longest};
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

/* What lies after the block's records. */
static cst__chunk rest_of(const cst__chunk *chunk, const cst__block *block) {
  return (cst__chunk){chunk->data + block->size, chunk->size - block->size, chunk->ends};
}

/* Begins the search for the end of the damaged record that is next. */
static void open_damage(cst__cursor *cursor, const cst__block *block, cst__damage_kind kind,
                        const cst__chunk *chunk, uint64_t needed) {
  cst__recovery *r = &cursor->recovery;
  const cst__chunk rest = rest_of(chunk, block);
  r->open = true;
  r->drop = (cst__drop){.kind = CST__DROP_DAMAGE, .offset = cursor->offset + block->size};
  cursor->source->inputs->container->inspect(kind, &rest, needed, &r->drop.damage);
  r->resync.kind = kind;
  r->resync.length = r->drop.damage.length;
  r->resync.first = 1;
  r->resync.searching = false;
}

/* Goes on with the search; true: the record has become a drop. */
static bool close_damage(cst__cursor *cursor, cst__block *block, const cst__chunk *chunk,
                         uint64_t *needed) {
  cst__recovery *r = &cursor->recovery;
  const cst__chunk rest = rest_of(chunk, block);
  size_t passed;
  bool found = cursor->source->inputs->container->find_end(&r->resync, &rest, &passed, needed);
  block->size += passed;
  r->drop.bytes += passed;
  r->resync.credit += passed;
  if (found) {
    r->open = false;
    add_drop(cursor, block, &r->drop);
  }
  return found;
}

/* True if a record begins in the rest of the stream, of which the first bytes are damaged. */
static bool is_followed(const cst__cursor *cursor, const cst__chunk *chunk,
                        const cst__block *block) {
  cst__resync trial = cursor->recovery.resync;
  cst__chunk rest = rest_of(chunk, block);
  size_t passed;
  uint64_t needed;
  rest.ends = true;
  return cursor->source->inputs->container->find_end(&trial, &rest, &passed, &needed) &&
         passed < rest.size;
}

static bool payload_fits(const cst__cursor *cursor, const uint8_t *data, const cst__frame *frame) {
  const cst__container *container = cursor->source->inputs->container;
  return container->check == NULL || cursor->recovery.resync.ignore_data ||
         container->check(data, frame, NULL) == CST_OK;
}

/* Goes on from a frame whose payload is wrong. True: it has become a drop, which ends where the
 * frame does. False: what comes next has to be looked for from block->size on. */
static bool pass_over_frame(cst__cursor *cursor, cst__block *block, const cst__chunk *chunk,
                            const cst__frame *frame, uint64_t *needed) {
  block->size = cst__frame_start(frame);
  open_damage(cursor, block, CST__DAMAGE_DATA, chunk, 0);
  return close_damage(cursor, block, chunk, needed) && block->size == cst__frame_end(frame) &&
         cursor->failure == CST_OK;
}

/* Keeps those of the `found` frames after the block's whose payloads are sound. False: see
 * pass_over_frame. */
static bool keep_sound(cst__cursor *cursor, cst__block *block, const cst__chunk *chunk,
                       size_t found, uint64_t *needed) {
  const cst__frame *frames = block->frames + block->num_frames;
  for (size_t i = 0; i < found; i++) {
    cst__frame frame = frames[i];
    if (payload_fits(cursor, chunk->data, &frame)) {
      block->frames[block->num_frames++] = frame;
      block->size = cst__frame_end(&frame);
    } else if (!pass_over_frame(cursor, block, chunk, &frame, needed)) {
      return false;
    }
  }
  return true;
}

/* True if the stream begins with something else than records, and the cursor has failed. Bytes that
 * look like another format are damage if a record follows them, or if the file has been divided. */
static bool is_other_format(cst__cursor *cursor, const cst__block *block, const cst__chunk *chunk) {
  return cursor->offset + block->size == 0 && !cursor->recovery.resync.divided &&
         !is_followed(cursor, chunk, block) && cst__cursor_judge(cursor, chunk->data, chunk->size);
}

/* The stream ends within a record; true: go on. If that is because its compression is damaged, the
 * rest is told of as such, unless sound records follow within it. */
static bool open_cut_record(cst__cursor *cursor, const cst__block *block, const cst__chunk *chunk,
                            const cst__framed *framed) {
  cst__recovery *r = &cursor->recovery;
  if (cursor->failure != CST_OK && cursor->fault == NULL) {
    return false;
  }
  open_damage(cursor, block, CST__DAMAGE_TRUNCATED, chunk, framed->needed);
  if (cursor->failure != CST_OK) {
    r->open = is_followed(cursor, chunk, block);
    return r->open;
  }
  return framed->known || !is_other_format(cursor, block, chunk);
}

/* Frames records up to the next damaged one, or as far as there is room for frames. False: more
 * bytes are needed, or none are left. */
static bool frame_on(cst__cursor *cursor, cst__block *block, const cst__chunk *chunk,
                     cst__framed *framed) {
  cst__chunk rest = rest_of(chunk, block);
  uint64_t wanted;
  if (!cst__block_reserve_frames(block, block->num_frames + FRAMES_STEP)) {
    cst__cursor_fail(cursor, cst__fail_memory(&cursor->error, FRAMES_STEP * sizeof *block->frames),
                     NULL);
    return false;
  }
  rest.ends = chunk->ends && cursor->failure == CST_OK; /* else it is cut there */
  cst_status status = cst__cursor_scan(cursor, block, &rest, framed, NULL);
  if (!keep_sound(cursor, block, chunk, framed->count, &wanted)) {
    framed->needed = cursor->recovery.open ? wanted : 0;
    framed->known = cursor->recovery.open;
    return !cursor->recovery.open;
  }
  if (status != CST_OK) {
    framed->needed = 0;
    open_damage(cursor, block, status == CST_LIMIT ? CST__DAMAGE_LIMIT : CST__DAMAGE_FRAMING, chunk,
                0);
    return status == CST_LIMIT || !is_other_format(cursor, block, chunk);
  }
  if (framed->needed > 0 && chunk->ends) {
    return open_cut_record(cursor, block, chunk, framed);
  }
  return framed->needed == 0;
}

void cst__recover_records(cst__cursor *cursor, cst__block *block, const cst__chunk *chunk,
                          cst__framed *framed) {
  bool was_sound = cursor->failure == CST_OK;
  do {
    *framed = (cst__framed){0};
    if (cursor->recovery.open && !close_damage(cursor, block, chunk, &framed->needed)) {
      framed->known = true;
      return;
    }
    if (was_sound && cursor->failure != CST_OK) {
      return;
    }
  } while (block->size < chunk->size && frame_on(cursor, block, chunk, framed));
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
