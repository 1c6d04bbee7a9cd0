/* Windows that are read in whole: two at a time, each read by the first maker that wants it. */
#include "dataset/blocks.h"

#include <stdlib.h>

#include "base/interrupt.h"

enum { MOST_BYTES = 256 << 20 /* of a window */ };

typedef enum state { STATE_EMPTY, STATE_READING, STATE_READY } state;

typedef struct entry {
  state state;
  uint64_t number;     /* of the window */
  cst__region *region; /* NULL: too large */
} entry;

struct cst__blocks {
  cst_source *source;
  const cst__epoch_order *order;
  cst__mutex lock; /* guards all below */
  cst__condition changed;
  entry entries[2];
  size_t oldest;
};

cst_status cst__blocks_new(cst_source *source, const cst__epoch_order *order,
                           const cst_allocator *allocator, cst__blocks **out, cst_error *error) {
  cst__blocks *blocks = cst__new_zero(allocator, sizeof *blocks);
  if (blocks == NULL) {
    return cst__fail_memory(error, sizeof *blocks);
  }
  blocks->source = source;
  blocks->order = order;
  cst__mutex_init(&blocks->lock);
  cst__condition_init(&blocks->changed);
  *out = blocks;
  return CST_OK;
}

void cst__blocks_free(cst__blocks *blocks) {
  if (blocks != NULL) {
    cst__region_release(blocks->entries[0].region);
    cst__region_release(blocks->entries[1].region);
    cst__condition_destroy(&blocks->changed);
    cst__mutex_destroy(&blocks->lock);
    cst__delete(blocks);
  }
}

/* The entry of a window, or the one to put it into; NULL if both are being read. */
static entry *find(cst__blocks *blocks, uint64_t number) {
  for (size_t i = 0; i < 2; i++) {
    if (blocks->entries[i].state != STATE_EMPTY && blocks->entries[i].number == number) {
      return &blocks->entries[i];
    }
  }
  size_t at = blocks->oldest;
  at ^= blocks->entries[at].state == STATE_READING;
  if (blocks->entries[at].state == STATE_READING) {
    return NULL;
  }
  blocks->oldest = at ^ 1;
  return &blocks->entries[at];
}

static int compare_stretches(const void *a, const void *b) {
  const cst__row_range *x = a;
  const cst__row_range *y = b;
  return (x->first > y->first) - (x->first < y->first);
}

/* Sorts stretches, and makes one of neighbours. Returns how many are left. */
static size_t join_stretches(cst__row_range *stretches, size_t count) {
  size_t joined = 0;
  qsort(stretches, count, sizeof *stretches, compare_stretches);
  for (size_t i = 1; i < count; i++) {
    cst__row_range *last = &stretches[joined];
    if (last->first + last->count == stretches[i].first) {
      last->count += stretches[i].count;
    } else {
      stretches[++joined] = stretches[i];
    }
  }
  return joined + 1;
}

/* Reads a window into an entry. Holds the lock, but not while it reads. */
static cst_status blocks_read_window(cst__blocks *blocks, entry *into, const cst__placed *window,
                                     cst_error *error) {
  cst__region *old = into->region;
  cst__region *region = NULL;
  *into = (entry){STATE_READING, window->number, NULL};
  cst__mutex_unlock(&blocks->lock);
  cst__region_release(old);
  cst__row_range pieces[CST__MOST_PIECES];
  size_t count = cst__epoch_order_pieces(blocks->order, window, pieces);
  cst_status status = cst__region_read(blocks->source, pieces, join_stretches(pieces, count),
                                       MOST_BYTES, &region, error);
  cst__mutex_lock(&blocks->lock);
  *into = (entry){status == CST_OK ? STATE_READY : STATE_EMPTY, window->number, region};
  cst__condition_broadcast(&blocks->changed);
  return status;
}

/* One more owner of a window's region in *out, or NULL. */
static cst_status get_window(cst__blocks *blocks, const cst__placed *window, cst__region **out,
                             cst_error *error) {
  cst_status status = CST_OK;
  cst__mutex_lock(&blocks->lock);
  entry *at = find(blocks, window->number);
  while (status == CST_OK && (at == NULL || at->state == STATE_READING)) {
    status = cst__interruptible_wait(&blocks->changed, &blocks->lock, error);
    at = find(blocks, window->number);
  }
  if (status == CST_OK && (at->state != STATE_READY || at->number != window->number)) {
    status = blocks_read_window(blocks, at, window, error);
  }
  bool found = status == CST_OK && at->region != NULL;
  *out = found ? cst__region_retain(at->region) : NULL;
  cst__mutex_unlock(&blocks->lock);
  return status;
}

cst_status cst__blocks_get(cst__blocks *blocks, uint64_t begin, uint64_t count, cst__region *out[2],
                           size_t *num, cst_error *error) {
  uint64_t end = begin + count;
  *num = 0;
  for (uint64_t at = begin; at < end && *num < 2;) {
    cst__placed window = cst__epoch_order_window(blocks->order, at);
    cst_status status = get_window(blocks, &window, &out[*num], error);
    if (status != CST_OK) {
      while (*num > 0) {
        cst__region_release(out[--*num]);
      }
      return status;
    }
    *num += out[*num] != NULL;
    at = window.begin + window.rows;
  }
  return CST_OK;
}
