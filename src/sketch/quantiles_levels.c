/* Levels of keys: room, the inbox, and compaction, with protected tails or without. */
#include <math.h>

#include "sketch/quantiles_store.h"

enum { FIRST_CAPACITY = 16, LEAST_ROOM = 8, FIRST_SECTIONS = 3, LEAST_SECTION = 4 };

cst_status cst__quantiles_plan_init(cst__quantiles_plan *plan, double error, cst__tails tails,
                                    uint64_t seed, const cst_allocator *allocator,
                                    cst_error *error_out) {
  if (!(error >= 1e-5 && error <= 0.5)) {
    return cst__fail(error_out, CST_INVALID_ARGUMENT, "take 0.01 for ranks within one percent",
                     "the error of a sketch of quantiles has to be from 0.00001 to 0.5");
  }
  *plan = (cst__quantiles_plan){.allocator = cst__allocator_of(allocator),
                                .error = error,
                                .seed = seed,
                                .tails = tails,
                                .k = (uint64_t)ceil(4.2 / error)};
  size_t sum = 0;
  double room = (double)plan->k;
  for (size_t depth = 0; depth < CST__QUANTILES_DEPTHS; depth++, room *= 2.0 / 3) {
    plan->rooms[depth] = room > LEAST_ROOM ? (uint32_t)ceil(room) : LEAST_ROOM;
    sum += plan->rooms[depth];
  }
  plan->most_keys = sum + CST__QUANTILES_INBOX;
  plan->exponents = 2 * (int)ceil(log2((double)plan->k));
  if (tails != CST__TAILS_NONE) {
    plan->section = 2 * (uint32_t)ceil(0.24 / error);
    plan->section = plan->section < LEAST_SECTION ? LEAST_SECTION : plan->section;
    plan->flip = tails == CST__TAILS_HIGH ? UINT64_MAX : 0;
    plan->exponents = 50;
    /* Sections are 96 at most (a state of 64 bits), each 1/sqrt(32) of what it was at first. */
    size_t level = 2 * 96 * ((size_t)plan->section / 5 + LEAST_SECTION);
    plan->most_keys = (CST__QUANTILES_LEVELS - 1) * level * (tails == CST__TAILS_BOTH ? 2 : 1) +
                      CST__QUANTILES_INBOX;
  }
  return CST_OK;
}

size_t cst__quantiles_most_memory(const cst__quantiles_plan *plan) {
  return sizeof(cst__quantiles) + sizeof(cst__quantiles_store) +
         plan->most_keys * sizeof(uint64_t) + CST__QUANTILES_PAIRS * sizeof(cst__quantiles_pair) +
         (plan->tails != CST__TAILS_NONE ? CST__QUANTILES_LEVELS * sizeof(cst__quantiles_schedule)
                                         : 0);
}

cst__quantiles_store *cst__quantiles_need_store(cst__quantiles *q) {
  if (q->store != NULL) {
    return q->store;
  }
  cst__quantiles_store *store = cst__new_zero(&q->plan->allocator, sizeof *store);
  if (store == NULL) {
    return NULL;
  }
  store->random = q->plan->seed;
  if (q->plan->tails != CST__TAILS_NONE) {
    store->schedules =
        cst__new_zero(&q->plan->allocator, CST__QUANTILES_LEVELS * sizeof *store->schedules);
    if (store->schedules == NULL) {
      cst__delete(store);
      return NULL;
    }
    for (size_t i = 0; i < CST__QUANTILES_LEVELS; i++) {
      store->schedules[i] = (cst__quantiles_schedule){0, q->plan->section, FIRST_SECTIONS};
    }
  }
  q->store = store;
  return store;
}

void cst__quantiles_reset(cst__quantiles *q) {
  if (q->store != NULL) {
    cst__delete(q->store->keys);
    cst__delete(q->store->pairs);
    cst__delete(q->store->schedules);
    cst__delete(q->store);
    q->store = NULL;
  }
}

size_t cst__quantiles_memory(const cst__quantiles *q) {
  const cst__quantiles_store *store = q->store;
  if (store == NULL) {
    return sizeof *q;
  }
  return sizeof *q + sizeof *store + store->capacity * sizeof *store->keys +
         store->pairs_capacity * sizeof *store->pairs +
         (store->schedules != NULL ? CST__QUANTILES_LEVELS * sizeof *store->schedules : 0);
}

bool cst__quantiles_reserve(cst__quantiles *q, size_t more) {
  cst__quantiles_store *store = q->store;
  size_t kept = cst__quantiles_kept(store);
  size_t want = kept + more < q->plan->most_keys ? kept + more : q->plan->most_keys;
  if (want <= store->capacity) {
    return true;
  }
  size_t grown = store->capacity + store->capacity / 2;
  grown = grown < FIRST_CAPACITY ? FIRST_CAPACITY : grown;
  grown = grown < want ? want : grown;
  grown = grown < q->plan->most_keys ? grown : q->plan->most_keys;
  uint64_t *keys = cst__new(&q->plan->allocator, grown * sizeof *keys);
  if (keys == NULL) {
    return false;
  }
  if (kept > 0) {
    memcpy(keys + grown - kept, store->keys + store->begin, kept * sizeof *keys);
  }
  cst__delete(store->keys);
  store->keys = keys;
  store->capacity = grown;
  store->begin = grown - kept;
  return true;
}

uint64_t *cst__quantiles_level(const cst__quantiles_store *store, size_t index) {
  size_t at = store->begin;
  for (size_t i = 0; i < index; i++) {
    at += store->sizes[i];
  }
  return store->keys + at;
}

size_t cst__quantiles_num_levels(const cst__quantiles_store *store) {
  size_t num = CST__QUANTILES_LEVELS;
  while (num > 1 && store->sizes[num - 1] == 0) {
    num--;
  }
  return num;
}

/* ---- compaction ---- */

/* The odd ones, not the even ones. Every second coin is the opposite of the one before. */
static bool toss(cst__quantiles_store *store, size_t index, uint64_t key) {
  uint64_t bit = UINT64_C(1) << (cst__quantiles_exponent(store, index) & 63);
  store->held ^= bit;
  if ((store->held & bit) == 0) {
    return (store->coins & bit) == 0;
  }
  cst__quantiles_stir(store, key);
  bool coin = cst__quantiles_random(store) >> 63 != 0;
  store->coins = coin ? store->coins | bit : store->coins & ~bit;
  return coin;
}

static void reverse(uint64_t *keys, size_t count) {
  for (size_t i = 0, j = count; i + 1 < j; i++) {
    uint64_t key = keys[i];
    keys[i] = keys[--j];
    keys[j] = key;
  }
}

/* Every other key from `low` to before `high`, an even number of them, goes up to the next index,
 * the others go away. The inbox may hold keys. */
static void compact(cst__quantiles_store *store, size_t index, size_t low, size_t high) {
  uint64_t *level = cst__quantiles_level(store, index);
  uint64_t *begin = store->keys + store->begin;
  size_t half = (high - low) / 2;
  size_t above = store->sizes[index] - high;
  size_t odd = toss(store, index, level[low + half]);
  uint64_t *survivors = level + low;
  for (size_t i = 0; i < half; i++) {
    survivors[i] = level[low + 2 * i + odd];
  }
  if (above > 0) { /* what stays stands before what goes up */
    memmove(survivors + half, level + high, above * sizeof *level);
    reverse(survivors, half);
    reverse(survivors + half, above);
    reverse(survivors, half + above);
    survivors += above;
  }
  cst__keys_merge(survivors, half, survivors + half, store->sizes[index + 1]);
  memmove(begin + half, begin, (size_t)(survivors - begin) * sizeof *begin);
  store->begin += half;
  store->sizes[index] -= (uint32_t)(2 * half);
  store->sizes[index + 1] += (uint32_t)half;
}

/* ---- without tails ---- */

/* How many keys a level holds before it may be compacted; SIZE_MAX: any number. */
static size_t room_of(const cst__quantiles_plan *plan, const cst__quantiles_store *store,
                      size_t index) {
  int top = ilogb(store->totals.weight / (double)plan->k) + 1;
  int depth = top - cst__quantiles_exponent(store, index);
  return depth <= 0
             ? SIZE_MAX
             : plan->rooms[depth < CST__QUANTILES_DEPTHS ? depth : CST__QUANTILES_DEPTHS - 1];
}

/* The lowest level that is full. There is one: what lies above all that may be full are k keys at
 * most, as they have no more than the total weight. */
static void compact_lowest(cst__quantiles *q) {
  cst__quantiles_store *store = q->store;
  size_t index = 1;
  while (index < CST__QUANTILES_LEVELS - 2 &&
         store->sizes[index] < room_of(q->plan, store, index)) {
    index++;
  }
  size_t size = store->sizes[index];
  compact(store, index, size % 2, size);
}

/* ---- with tails ---- */

void cst__quantiles_settle_sections(cst__quantiles_schedule *s) {
  while (s->sections < 64 && s->state >= UINT64_C(1) << (s->sections - 1)) {
    uint32_t smaller = 2 * (uint32_t)((double)s->section / 2 * 0.70710678118654752 + 0.5);
    if (smaller < LEAST_SECTION) {
      break;
    }
    s->section = smaller;
    s->sections *= 2;
  }
}

/* Compacts the level if it is full. */
static bool compact_with_tails(cst__quantiles *q, size_t index) {
  cst__quantiles_store *store = q->store;
  cst__quantiles_schedule *s = &store->schedules[index];
  bool keeps_high = q->plan->tails == CST__TAILS_BOTH;
  size_t size = store->sizes[index];
  size_t half = (size_t)s->section * s->sections;
  if (size < (keeps_high ? 4 : 2) * half) {
    return false;
  }
  size_t ones = s->state == UINT64_MAX ? 64 : (size_t)__builtin_ctzll(~s->state);
  size_t sections = ones + 1 < s->sections ? ones + 1 : s->sections;
  size_t kept = half + (s->sections - sections) * s->section;
  size_t low = kept;
  size_t high = keeps_high ? size - kept : size;
  if ((high - low) % 2 != 0) {
    high -= keeps_high;
    low += !keeps_high;
  }
  compact(store, index, low, high);
  s->state++;
  cst__quantiles_settle_sections(s);
  return true;
}

void cst__quantiles_shrink(cst__quantiles *q) {
  cst__quantiles_store *store = q->store;
  if (store->schedules != NULL) {
    for (size_t i = 1; i < CST__QUANTILES_LEVELS - 1; i++) {
      while (compact_with_tails(q, i)) {
      }
    }
    return;
  }
  while (cst__quantiles_kept(store) - store->sizes[0] > q->plan->most_keys - CST__QUANTILES_INBOX) {
    compact_lowest(q);
  }
}

/* ---- giving and taking ---- */

void cst__quantiles_empty_inbox(cst__quantiles_store *store) {
  uint64_t keys[CST__QUANTILES_INBOX];
  size_t count = store->sizes[0];
  if (count == 0) {
    return;
  }
  uint64_t *inbox = store->keys + store->begin;
  cst__keys_sort(inbox, count, keys);
  if (store->sizes[1] > 0) {
    memcpy(keys, inbox, count * sizeof *keys);
    cst__keys_merge(keys, count, inbox, store->sizes[1]);
  }
  store->sizes[1] += (uint32_t)count;
  store->sizes[0] = 0;
}

void cst__quantiles_push(cst__quantiles *q, const uint64_t *keys, size_t count) {
  cst__quantiles_store *store = q->store;
  while (count > 0) {
    if (store->sizes[0] == CST__QUANTILES_INBOX) {
      cst__quantiles_empty_inbox(store);
      cst__quantiles_shrink(q);
    }
    size_t free = CST__QUANTILES_INBOX - store->sizes[0];
    size_t now = count < free ? count : free;
    store->begin -= now;
    memcpy(store->keys + store->begin, keys, now * sizeof *keys);
    store->sizes[0] += (uint32_t)now;
    keys += now;
    count -= now;
  }
}

void cst__quantiles_put(cst__quantiles_store *store, size_t index, const uint64_t *keys,
                        size_t count) {
  uint64_t *begin = store->keys + store->begin;
  uint64_t *level = cst__quantiles_level(store, index);
  memmove(begin - count, begin, (size_t)(level - begin) * sizeof *begin);
  cst__keys_merge(keys, count, level - count, store->sizes[index]);
  store->begin -= count;
  store->sizes[index] += (uint32_t)count;
}

void cst__quantiles_insert(cst__quantiles *q, size_t index, const uint64_t *keys, size_t count) {
  cst__quantiles_put(q->store, index, keys, count);
  cst__quantiles_shrink(q);
}

size_t cst__quantiles_take(cst__quantiles_store *store, size_t index, uint64_t *keys, size_t most) {
  size_t count = store->sizes[index] < most ? store->sizes[index] : most;
  memcpy(keys, cst__quantiles_level(store, index), count * sizeof *keys);
  store->begin += count;
  store->sizes[index] -= (uint32_t)count;
  return count;
}

void cst__quantiles_shift(cst__quantiles_store *store, int by) {
  uint32_t sizes[CST__QUANTILES_LEVELS] = {store->sizes[0]};
  for (int i = 1; i < CST__QUANTILES_LEVELS; i++) {
    int from = i - by;
    sizes[i] = from >= 1 && from < CST__QUANTILES_LEVELS ? store->sizes[from] : 0;
  }
  memcpy(store->sizes, sizes, sizeof sizes);
  if (store->schedules == NULL) {
    return;
  }
  int count = CST__QUANTILES_LEVELS;
  cst__quantiles_schedule last = store->schedules[count - 1]; /* nothing was ever that high */
  cst__quantiles_schedule schedules[CST__QUANTILES_LEVELS];
  for (int i = 0; i < count; i++) {
    int from = i - by;
    schedules[i] = from >= 1 && from < count ? store->schedules[from] : last;
  }
  memcpy(store->schedules, schedules, sizeof schedules);
}
