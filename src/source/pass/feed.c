/* Ordering the blocks of all files, or taking them in turns, and cutting them into units. */
#include "source/pass/feed.h"

enum { MOST_DROPS = 1 << 16 }; /* of one unit: they take memory */

/* Begins with the group that has a file, if there is one. */
static void enter_group(cst__feed *feed, size_t file) {
  const cst_source *source = feed->source;
  size_t begun = feed->at_once.begun;
  feed->front = file;
  if (file >= source->num_parts) {
    return;
  }
  cst__group group = cst__group_of(begun + source->num_parts, feed->at_once.files, begun + file);
  feed->group = (cst__group){file, group.end - begun};
  cst__turns_init(&feed->turns, feed->group.end - file, feed->at_once.turn);
  for (size_t i = file; i < feed->group.end; i++) {
    cst__turns_tell(&feed->turns, i - file, source->parts[i].size);
  }
  cst__turns_begin(&feed->turns);
  feed->front = file + feed->turns.current;
}

cst__feed *cst__feed_new(const cst_source *source) {
  cst__feed *feed = cst__new_zero(&source->allocator, sizeof *feed);
  if (feed == NULL) {
    return NULL;
  }
  feed->source = source;
  feed->pool = cst__pool_new(&source->allocator);
  feed->at_once = (cst__at_once){.files = 1, .turn = 1};
  size_t bytes;
  if (cst__mul(source->num_parts, sizeof *feed->files, &bytes)) {
    feed->files = cst__new_zero(&source->allocator, bytes);
  }
  if (feed->pool == NULL || feed->files == NULL ||
      !cst__turns_reserve(&feed->turns, &source->allocator, 1)) {
    cst__feed_free(feed);
    return NULL;
  }
  enter_group(feed, 0);
  return feed;
}

bool cst__feed_cut_at_once(cst__feed *feed, const cst__at_once *at_once) {
  if (!cst__turns_reserve(&feed->turns, &feed->source->allocator, at_once->files)) {
    return false;
  }
  feed->at_once = *at_once;
  enter_group(feed, 0);
  return true;
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
  cst__turns_reset(&feed->turns);
  cst__pool_release(feed->pool);
  cst__delete(feed);
}

static bool is_fillable(const cst__feed_file *file) { return !file->busy && !file->ended; }

/* Of the group, the file with the fewest blocks ahead; of those after it, the first. */
size_t cst__feed_fillable(const cst__feed *feed, size_t ahead) {
  size_t num_files = feed->source->num_parts;
  size_t found = SIZE_MAX;
  if (feed->front >= num_files) {
    return SIZE_MAX;
  }
  if (ahead == 1) {
    return is_fillable(&feed->files[feed->front]) ? feed->front : SIZE_MAX;
  }
  for (size_t i = feed->group.begin; i < feed->group.end; i++) {
    if (is_fillable(&feed->files[i]) &&
        (found == SIZE_MAX || feed->files[i].num_blocks < feed->files[found].num_blocks)) {
      found = i;
    }
  }
  size_t rest = num_files - feed->group.end;
  size_t end = feed->group.end + (ahead - 1 < rest ? ahead - 1 : rest);
  for (size_t i = feed->group.end; i < end && found == SIZE_MAX; i++) {
    found = is_fillable(&feed->files[i]) ? i : SIZE_MAX;
  }
  return found;
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
    f->num_blocks++;
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
static bool cut_drops(cst__feed *feed, cst__feed_file *file) {
  cst__block *block = file->first;
  while (file->taken_drops < block->drops.count) {
    cst__drop *drop = &block->drops.items[file->taken_drops];
    if (drop->before != file->taken) {
      break;
    }
    cst__drop moved = *drop; /* the block's own goes on to count for its records' numbers */
    moved.before = feed->partial.rows;
    drop->error = NULL;
    file->taken_drops++;
    if (!cst__drops_add(&feed->partial.drops, &feed->source->allocator, &moved)) {
      return false;
    }
  }
  return true;
}

/* Moves records of the front file's first block into the partial unit, up to the next dropped one,
 * or the end of the file's turn. */
static bool cut_records(cst__feed *feed, cst__feed_file *file, size_t rows, uint64_t bytes) {
  cst__unit *unit = &feed->partial;
  cst__block *block = file->first;
  size_t limit = rows - unit->rows;
  limit = feed->turns.room < limit ? (size_t)feed->turns.room : limit;
  if (file->taken_drops < block->drops.count) {
    size_t run = block->drops.items[file->taken_drops].before - file->taken;
    limit = run < limit ? run : limit;
  }
  uint64_t taken;
  size_t end = run_end(block, file->taken, limit, bytes - unit->bytes, &taken);
  size_t count = end - file->taken;
  if (!cst__unit_add(unit, feed->source, block, file->taken, count)) {
    return false;
  }
  unit->bytes += taken;
  file->taken = end;
  cst__turns_take(&feed->turns, count);
  feed->front = feed->group.begin + feed->turns.current;
  return true;
}

static bool cut_block(cst__feed *feed, size_t rows, uint64_t bytes) {
  cst__feed_file *file = &feed->files[feed->front];
  cst__block *block = file->first;
  if (!cut_drops(feed, file) ||
      (file->taken < block->num_frames && !cut_records(feed, file, rows, bytes))) {
    return false;
  }
  if (file->taken == block->num_frames && file->taken_drops == block->drops.count) {
    file->first = block->next;
    file->num_blocks--;
    file->taken = 0;
    file->taken_drops = 0;
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
  if (cst__turns_end(&feed->turns)) {
    feed->front = feed->group.begin + feed->turns.current;
  } else {
    enter_group(feed, feed->group.end);
  }
  return *failure == CST_OK;
}

/* Rows before a failure that do not fill a batch may fail themselves, and earlier. */
static bool must_try(const cst__feed *feed) {
  return feed->partial.rows > 0 && !cst__reading_options_skip(&feed->source->options);
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
    } else if (file->cursor != NULL && file->cursor->framing.failure != CST_OK &&
               (feed->partial.drops.count > 0 || must_try(feed))) {
      if (must_try(feed)) {
        feed->partial.is_trial = true;
      } else {
        cst__unit_forget_rows(&feed->partial);
      }
      hand_over(feed, unit);
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
