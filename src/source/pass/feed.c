/* Ordering the blocks of all files, and cutting them into units. */
#include "source/pass/feed.h"

enum { MOST_DROPS = 1 << 16 }; /* of one unit: they take memory */

cst__feed *cst__feed_new(const cst_source *source) {
  cst__feed *feed = cst__new_zero(&source->allocator, sizeof *feed);
  if (feed == NULL) {
    return NULL;
  }
  feed->source = source;
  feed->pool = cst__pool_new(&source->allocator);
  size_t bytes;
  if (cst__mul(source->num_parts, sizeof *feed->files, &bytes)) {
    feed->files = cst__new_zero(&source->allocator, bytes);
  }
  if (feed->pool == NULL || feed->files == NULL) {
    cst__feed_free(feed);
    return NULL;
  }
  return feed;
}

static void drop_file(cst__feed_file *file) {
  while (file->first != NULL) {
    cst__block *next = file->first->next;
    cst__block_release(file->first);
    file->first = next;
  }
  cst__cursor_free(file->cursor);
  file->cursor = NULL;
}

void cst__feed_free(cst__feed *feed) {
  if (feed == NULL) {
    return;
  }
  cst__unit_reset(&feed->partial);
  for (size_t i = 0; feed->files != NULL && i < feed->source->num_parts; i++) {
    drop_file(&feed->files[i]);
  }
  cst__delete(feed->files);
  cst__pool_release(feed->pool);
  cst__delete(feed);
}

size_t cst__feed_fillable(const cst__feed *feed, size_t ahead) {
  size_t rest = feed->source->num_parts - feed->front;
  size_t end = feed->front + (ahead < rest ? ahead : rest);
  for (size_t i = feed->front; i < end; i++) {
    if (!feed->files[i].busy && !feed->files[i].ended) {
      return i;
    }
  }
  return SIZE_MAX;
}

void cst__feed_begin(cst__feed *feed, size_t file) { feed->files[file].busy = true; }

void cst__feed_fill(cst__feed *feed, size_t file, cst__block **block) {
  cst__feed_file *f = &feed->files[file];
  *block = NULL;
  if (f->cursor == NULL) {
    f->cursor = cst__cursor_new(feed->source, feed->pool, file);
  }
  if (f->cursor != NULL) {
    (void)cst__cursor_fill(f->cursor, block, NULL);
  }
}

void cst__feed_end(cst__feed *feed, size_t file, cst__block *block) {
  cst__feed_file *f = &feed->files[file];
  f->busy = false;
  f->ended = f->cursor == NULL || f->cursor->framing.ended;
  if (f->cursor != NULL) {
    feed->consumed += f->cursor->consumed - f->cursor->counted;
    f->cursor->counted = f->cursor->consumed;
    feed->compressed = feed->compressed || f->cursor->compressed;
  }
  if (block != NULL) {
    block->next = NULL;
    *(f->first == NULL ? &f->first : &f->last->next) = block;
    f->last = block;
    feed->ready_bytes += block->size;
    feed->framed += block->num_frames;
  }
}

/* The end of the run that begins at `first`, has at most `limit` records, and stops with the one
 * that reaches `bytes`. *taken: the bytes of its records. */
static size_t run_end(const cst__block *block, size_t first, size_t limit, uint64_t bytes,
                      uint64_t *taken) {
  size_t high = limit < block->num_frames - first ? first + limit : block->num_frames;
  *taken = 0;
  while (first < high && *taken < bytes) {
    *taken += block->frames[first++].size;
  }
  return first;
}

/* Moves the dropped records that are next into the partial unit. */
static bool cut_drops(cst__feed *feed, cst__block *block) {
  while (feed->taken_drops < block->drops.count) {
    cst__drop *drop = &block->drops.items[feed->taken_drops];
    if (drop->before != feed->taken) {
      break;
    }
    cst__drop moved = *drop; /* the block's own goes on to count for its records' numbers */
    moved.before = feed->partial.rows;
    drop->error = NULL;
    feed->taken_drops++;
    if (!cst__drops_add(&feed->partial.drops, &feed->source->allocator, &moved)) {
      return false;
    }
  }
  return true;
}

/* Moves records of the front block into the partial unit, up to the next dropped one. */
static bool cut_records(cst__feed *feed, cst__block *block, size_t rows, uint64_t bytes) {
  cst__unit *unit = &feed->partial;
  size_t limit = rows - unit->rows;
  if (feed->taken_drops < block->drops.count) {
    size_t run = block->drops.items[feed->taken_drops].before - feed->taken;
    limit = run < limit ? run : limit;
  }
  uint64_t taken;
  size_t end = run_end(block, feed->taken, limit, bytes - unit->bytes, &taken);
  if (!cst__unit_add(unit, feed->source, block, feed->taken, end - feed->taken)) {
    return false;
  }
  unit->bytes += taken;
  feed->taken = end;
  return true;
}

static bool cut_block(cst__feed *feed, size_t rows, uint64_t bytes) {
  cst__feed_file *file = &feed->files[feed->front];
  cst__block *block = file->first;
  if (!cut_drops(feed, block) ||
      (feed->taken < block->num_frames && !cut_records(feed, block, rows, bytes))) {
    return false;
  }
  if (feed->taken == block->num_frames && feed->taken_drops == block->drops.count) {
    file->first = block->next;
    feed->taken = 0;
    feed->taken_drops = 0;
    feed->ready_bytes -= block->size;
    cst__block_release(block);
  }
  return true;
}

static void hand_over(cst__feed *feed, cst__unit *unit) {
  cst__unit empty = *unit;
  *unit = feed->partial;
  feed->partial = empty;
}

/* What has been dropped before a failure is still reported. */
static bool has_failed(const cst__feed_file *file) {
  return file->cursor != NULL && file->cursor->framing.failure != CST_OK;
}

/* Leaves the front file, whose blocks are all cut; false if it failed. */
static bool leave_file(cst__feed *feed, cst_status *failure, cst_error *error) {
  cst__feed_file *file = &feed->files[feed->front];
  *failure = CST_OK;
  if (file->cursor == NULL) {
    *failure = cst__fail_memory(error, sizeof *file->cursor);
  } else if (file->cursor->framing.failure != CST_OK) {
    *failure = file->cursor->framing.failure;
    cst__error_copy(error, &file->cursor->framing.error);
  }
  drop_file(file);
  feed->front++;
  return *failure == CST_OK;
}

/* Rows before a failure that do not fill a batch may fail themselves, and earlier. */
static bool must_try(const cst__feed *feed) {
  return feed->partial.rows > 0 && !cst__reading_options_skip(&feed->source->options);
}

static void hand_over_last(cst__feed *feed, cst__unit *unit) {
  if (must_try(feed)) {
    feed->partial.is_trial = true;
  } else {
    cst__unit_forget_rows(&feed->partial);
  }
  hand_over(feed, unit);
}

static cst__cut fail_cut(cst__feed *feed) {
  feed->finished = true;
  cst__unit_clear(&feed->partial);
  return CST__CUT_FAILED;
}

cst__cut cst__feed_cut(cst__feed *feed, size_t rows, uint64_t bytes, cst__unit *unit,
                       cst_status *failure, cst_error *error) {
  while (feed->front < feed->source->num_parts) {
    cst__feed_file *file = &feed->files[feed->front];
    if (file->first != NULL) {
      if (!cut_block(feed, rows, bytes)) {
        *failure = cst__fail_memory(error, sizeof(cst__run));
        return fail_cut(feed);
      }
      feed->partial.by_bytes = feed->partial.bytes >= bytes;
      if (feed->partial.rows >= rows || feed->partial.by_bytes ||
          feed->partial.drops.count >= MOST_DROPS) {
        hand_over(feed, unit);
        return CST__CUT_UNIT;
      }
    } else if (!file->ended) {
      return CST__CUT_WAIT;
    } else if (has_failed(file) && (feed->partial.drops.count > 0 || must_try(feed))) {
      hand_over_last(feed, unit);
      return CST__CUT_UNIT;
    } else if (!leave_file(feed, failure, error)) {
      return fail_cut(feed);
    }
  }
  if (feed->partial.rows > 0 || feed->partial.drops.count > 0) {
    hand_over(feed, unit);
    return CST__CUT_UNIT;
  }
  feed->finished = true;
  return CST__CUT_END;
}
