/* Framing on after damaged records. */
#include "source/block/recover.h"

#include "source/block/crossing.h"

static void add_framing_drop(cst__framing *framing, cst__block *block, cst__drop *drop) {
  drop->before = block->num_frames;
  drop->file = framing->file;
  drop->record = framing->record + block->num_frames + block->drops.count;
  if (!cst__drops_add(&block->drops, &framing->source->allocator, drop)) {
    cst__framing_fail_memory(framing, sizeof *drop);
  }
}

/* ---- damaged records ---- */

/* What lies after the block's records. */
static cst__chunk rest_of(const cst__chunk *chunk, const cst__block *block) {
  return (cst__chunk){chunk->data + block->size, chunk->size - block->size, chunk->ends};
}

/* Begins the search for the end of the damaged record that is next. */
static void open_damage(cst__framing *framing, const cst__block *block, cst__damage_kind kind,
                        const cst__chunk *chunk, uint64_t needed) {
  cst__recovery *r = &framing->recovery;
  const cst__chunk rest = rest_of(chunk, block);
  r->open = true;
  r->drop = (cst__drop){.kind = CST__DROP_DAMAGE, .offset = framing->offset + block->size};
  framing->source->inputs->container->inspect(kind, &rest, needed, &r->drop.damage);
  r->resync.kind = kind;
  r->resync.length = r->drop.damage.length;
  r->resync.first = 1;
  r->resync.cut = false;
  r->resync.searching = false;
}

/* Goes on with the search; true: the record has become a drop. */
static bool close_damage(cst__framing *framing, cst__block *block, const cst__chunk *chunk,
                         uint64_t *needed) {
  cst__recovery *r = &framing->recovery;
  const cst__chunk rest = rest_of(chunk, block);
  size_t passed;
  bool found = framing->source->inputs->container->find_end(&r->resync, &rest, &passed, needed);
  block->size += passed;
  r->drop.bytes += passed;
  r->resync.credit += passed;
  if (found) {
    r->open = false;
    add_framing_drop(framing, block, &r->drop);
  }
  return found;
}

/* How far an open search has to see. A few bytes for the next place to look at are not the end of
 * a record: to read them by themselves would be one read for each byte of the damaged record. */
static void want_rest_of_damage(const cst__framing *framing, uint64_t needed, cst__framed *framed) {
  framed->needed = needed;
  framed->known = needed > framing->source->inputs->container->begin_size;
}

/* True if a record begins in the rest of the stream, of which the first bytes are damaged. */
static bool is_followed(const cst__framing *framing, const cst__chunk *chunk,
                        const cst__block *block) {
  cst__resync trial = framing->recovery.resync;
  cst__chunk rest = rest_of(chunk, block);
  size_t passed;
  uint64_t needed;
  rest.ends = true;
  return framing->source->inputs->container->find_end(&trial, &rest, &passed, &needed) &&
         passed < rest.size;
}

static bool payload_fits(const cst__framing *framing, const uint8_t *data,
                         const cst__frame *frame) {
  const cst__container *container = framing->source->inputs->container;
  return container->check == NULL || framing->recovery.resync.ignore_data ||
         container->check(data, frame, NULL) == CST_OK;
}

/* Goes on from a frame whose payload is wrong. True: it has become a drop, which ends where the
 * frame does. False: what comes next has to be looked for from block->size on. */
static bool pass_over_frame(cst__framing *framing, cst__block *block, const cst__chunk *chunk,
                            const cst__frame *frame, uint64_t *needed) {
  block->size = cst__frame_start(frame);
  open_damage(framing, block, CST__DAMAGE_DATA, chunk, 0);
  return close_damage(framing, block, chunk, needed) && block->size == cst__frame_end(frame) &&
         framing->failure == CST_OK;
}

/* Keeps those of the `found` frames after the block's whose payloads are sound. False: see
 * pass_over_frame. */
static bool keep_sound(cst__framing *framing, cst__block *block, const cst__chunk *chunk,
                       size_t found, uint64_t *needed) {
  const cst__frame *frames = block->frames + block->num_frames;
  for (size_t i = 0; i < found; i++) {
    cst__frame frame = frames[i];
    if (payload_fits(framing, chunk->data, &frame)) {
      block->frames[block->num_frames++] = frame;
      block->size = cst__frame_end(&frame);
    } else if (!pass_over_frame(framing, block, chunk, &frame, needed)) {
      return false;
    }
  }
  return true;
}

/* True if the stream begins with something else than records, and the framing has failed. Bytes
 * that look like another format are damage if a record follows them, or if the file has been
 * divided. */
static bool is_other_format(cst__framing *framing, const cst__block *block,
                            const cst__chunk *chunk) {
  return framing->offset + block->size == 0 && !framing->recovery.resync.divided &&
         !is_followed(framing, chunk, block) &&
         cst__framing_judge(framing, chunk->data, chunk->size);
}

/* What the record is that the stream ends within, and its damage if only the part ends there. The
 * framing fails if the part's end is within a record: it was found by what lies in that record's
 * payload, and what is left of it must not be dropped as a damaged record's rest, since the next
 * part has it as records. */
static cst__crossing judge_crossing(cst__framing *framing, const cst__block *block,
                                    const cst__chunk *chunk, const cst__framed *framed,
                                    cst__damage *damage) {
  cst__crossing crossing = CST__CROSSING_FILE;
  if (!framing->recovery.resync.divided || framing->failure != CST_OK) {
    return crossing;
  }
  cst_status status = cst__framing_cross(framing, framing->offset + block->size, framed, &crossing,
                                         damage, &framing->error);
  if (status != CST_OK) {
    cst__framing_fail(framing, status, NULL);
  } else if (crossing == CST__CROSSING_PART) {
    cst__framing_fail_crossing(framing, framed->needed, chunk->size - block->size);
  }
  return crossing;
}

/* The stream ends within a record; true: go on. If that is because its compression is damaged, the
 * rest is reported as such, unless sound records follow within it. */
static bool open_cut_record(cst__framing *framing, const cst__block *block, const cst__chunk *chunk,
                            const cst__framed *framed) {
  cst__recovery *r = &framing->recovery;
  cst__damage damage;
  const bool was_sound = framing->failure == CST_OK;
  if (!was_sound && framing->fault == NULL) {
    return false;
  }
  const cst__crossing crossing = judge_crossing(framing, block, chunk, framed, &damage);
  if (was_sound && framing->failure != CST_OK) {
    return false;
  }
  open_damage(framing, block, CST__DAMAGE_TRUNCATED, chunk, framed->needed);
  if (crossing == CST__CROSSING_NOT) { /* nothing is cut: it is not as long as it says */
    r->drop.damage = damage;
    return true;
  }
  r->resync.cut = framed->known;
  if (framing->failure != CST_OK) {
    r->open = is_followed(framing, chunk, block);
    return r->open;
  }
  return framed->known || !is_other_format(framing, block, chunk);
}

/* Frames records up to the next damaged one, or as far as there is room for frames. False: more
 * bytes are needed, or none are left. */
static bool frame_on(cst__framing *framing, cst__block *block, const cst__chunk *chunk,
                     cst__framed *framed) {
  cst__chunk rest = rest_of(chunk, block);
  uint64_t wanted;
  if (!cst__block_reserve_frames(block, block->num_frames + CST__FRAMES_STEP)) {
    cst__framing_fail_memory(framing, CST__FRAMES_STEP * sizeof *block->frames);
    return false;
  }
  rest.ends = chunk->ends && framing->failure == CST_OK; /* else it is cut there */
  cst_status status = cst__framing_scan(framing, block, &rest, framed, NULL);
  if (!keep_sound(framing, block, chunk, framed->count, &wanted)) {
    framed->needed = 0;
    if (framing->recovery.open) {
      want_rest_of_damage(framing, wanted, framed);
    }
    return !framing->recovery.open;
  }
  if (status != CST_OK) {
    framed->needed = 0;
    open_damage(framing, block, status == CST_LIMIT ? CST__DAMAGE_LIMIT : CST__DAMAGE_FRAMING,
                chunk, 0);
    return status == CST_LIMIT || !is_other_format(framing, block, chunk);
  }
  if (framed->needed > 0 && chunk->ends) {
    return open_cut_record(framing, block, chunk, framed);
  }
  return framed->needed == 0;
}

void cst__recover_records(cst__framing *framing, cst__block *block, const cst__chunk *chunk,
                          cst__framed *framed) {
  bool was_sound = framing->failure == CST_OK;
  uint64_t wanted;
  do {
    *framed = (cst__framed){0};
    if (framing->recovery.open && !close_damage(framing, block, chunk, &wanted)) {
      want_rest_of_damage(framing, wanted, framed);
      return;
    }
    if (was_sound && framing->failure != CST_OK) {
      return;
    }
  } while (block->size < chunk->size && frame_on(framing, block, chunk, framed));
}

bool cst__recover_compression(cst__framing *framing, cst__block *block, size_t filled,
                              uint64_t unread) {
  bool is_data = framing->failure == CST_CORRUPT || framing->failure == CST_LIMIT;
  if (!is_data || !framing->of_compression) {
    return false;
  }
  cst__drop drop = {.kind = CST__DROP_COMPRESSION,
                    .offset = framing->offset + block->size,
                    .bytes = filled - block->size + unread,
                    .error = cst__error_keep(&framing->source->allocator, &framing->error)};
  if (drop.error == NULL) {
    cst__framing_fail_memory(framing, sizeof *drop.error);
    return false;
  }
  block->size = filled;
  framing->failure = CST_OK;
  framing->fault = NULL;
  add_framing_drop(framing, block, &drop);
  return true;
}
