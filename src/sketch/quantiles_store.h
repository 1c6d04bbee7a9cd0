/* What a sketch of quantiles keeps, and how its levels give and take keys.
 *
 * All keys lie in one block, at its end: those of the inbox (index 0), then those of index 1, 2,
 * ... The inbox is in no order, all others are sorted. Inbox and index 1 are of the level
 * `exponent`, the i-th index of exponent + i - 1. So what is added goes in front of everything, and
 * the survivors of a level stand beside those of the next.
 */
#ifndef SKETCH_QUANTILES_STORE_H
#define SKETCH_QUANTILES_STORE_H

#include "sketch/quantiles.h"

enum {
  CST__QUANTILES_LEVELS = 66, /* with the inbox */
  CST__QUANTILES_INBOX = 512,
  CST__QUANTILES_PAIRS = 256, /* weighted values that wait */
  CST__QUANTILES_DIGITS = 10, /* of weights, with tails */
  CST__QUANTILES_EXPONENT_LEAST = -1074
};

typedef struct cst__quantiles_pair {
  uint64_t key;
  double weight;
} cst__quantiles_pair;

/* With tails: what the compactions of a level have been. */
typedef struct cst__quantiles_schedule {
  uint64_t state;    /* which sections were compacted: a counter */
  uint32_t section;  /* keys */
  uint32_t sections; /* that are not protected */
} cst__quantiles_schedule;

typedef struct cst__quantiles_store {
  cst__quantiles_totals totals;
  int exponent;
  bool has_fractions; /* a weight was not an integer: the exponent may be negative */
  uint64_t random;
  uint64_t coins; /* by the level modulo 64: of the compaction before, */
  uint64_t held;  /* whose opposite is the next one's */
  uint64_t sample_key;
  double sample; /* its weight over 2^exponent, below 1; 0: there is none */
  uint64_t *keys;
  size_t capacity;
  size_t begin; /* of the keys; those before are free */
  uint32_t sizes[CST__QUANTILES_LEVELS];
  cst__quantiles_pair *pairs;
  size_t num_pairs;
  size_t pairs_capacity;
  cst__quantiles_schedule *schedules; /* one for each index; NULL: without tails */
} cst__quantiles_store;

/* ---- chance ---- */

static inline uint64_t cst__quantiles_random(cst__quantiles_store *store) {
  uint64_t z = store->random += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}
/* From 0 to below 1. */
static inline double cst__quantiles_chance(cst__quantiles_store *store) {
  return (double)(cst__quantiles_random(store) >> 11) * 0x1p-53;
}
/* Takes in a key of the data. */
static inline void cst__quantiles_stir(cst__quantiles_store *store, uint64_t key) {
  uint64_t mixed = (store->random ^ key) * UINT64_C(0xd6e8feb86659fd93);
  store->random = mixed ^ (mixed >> 32);
}

/* ---- quantiles_levels.c ---- */

/* The store, made if there is none; NULL: out of memory. */
cst__quantiles_store *cst__quantiles_need_store(cst__quantiles *q);
/* Room for `more` keys, or for as many as a sketch ever keeps; false: out of memory. */
bool cst__quantiles_reserve(cst__quantiles *q, size_t more);
/* The level of an index other than that of the inbox, as an exponent. */
static inline int cst__quantiles_exponent(const cst__quantiles_store *store, size_t index) {
  return store->exponent + (int)index - 1;
}
static inline size_t cst__quantiles_kept(const cst__quantiles_store *store) {
  return store->capacity - store->begin;
}
/* The keys of an index. */
uint64_t *cst__quantiles_level(const cst__quantiles_store *store, size_t index);
/* Indexes up to the last that has keys, at least 1. */
size_t cst__quantiles_num_levels(const cst__quantiles_store *store);

/* Adds keys of the weight 2^exponent in any order. There is room for them. */
void cst__quantiles_push(cst__quantiles *q, const uint64_t *keys, size_t count);
/* Sorts the inbox into index 1. */
void cst__quantiles_empty_inbox(cst__quantiles_store *store);
/* Adds at most an inbox full of sorted keys to an index from 1 on, and compacts what is full. There
 * is room for them. */
void cst__quantiles_insert(cst__quantiles *q, size_t index, const uint64_t *keys, size_t count);
/* The same without compacting. */
void cst__quantiles_put(cst__quantiles_store *store, size_t index, const uint64_t *keys,
                        size_t count);
/* Takes at most `most` keys of the lowest values away from an index from 1 on; those below it and
 * the inbox are empty. */
size_t cst__quantiles_take(cst__quantiles_store *store, size_t index, uint64_t *keys, size_t most);
/* Compacts until there is room for an inbox. */
void cst__quantiles_shrink(cst__quantiles *q);
/* Index i becomes i + by: what falls out has no keys. */
void cst__quantiles_shift(cst__quantiles_store *store, int by);
/* With tails: a level that was merged has sections enough for its state. */
void cst__quantiles_settle_sections(cst__quantiles_schedule *schedule);

/* ---- quantiles_sampler.c ---- */

/* Adds values of the weight 1, none of which is NaN. There is room for as many keys. */
void cst__quantiles_sample_units(cst__quantiles *q, const cst__value_block *values);
/* Adds `key` with a weight above 0 and up to 1, over 2^exponent, to the sampler. True: *out is a
 * key of the weight 2^exponent that it gives. */
bool cst__quantiles_sample(cst__quantiles_store *store, uint64_t key, double weight, uint64_t *out);
/* Puts the weighted values that wait into the levels. There is room for them. */
void cst__quantiles_spread(cst__quantiles *q);
/* Makes the lowest level what the total weight asks for. */
void cst__quantiles_settle_exponent(cst__quantiles *q);

/* The key of a value, as it is kept. */
static inline uint64_t cst__quantiles_key_at(const cst__quantiles *q,
                                             const cst__value_block *values, size_t i) {
  switch (values->family) {
    case CST__FAMILY_INT:
      return cst__key_of_int(((const int64_t *)values->items)[i]) ^ q->plan->flip;
    case CST__FAMILY_UINT:
      return ((const uint64_t *)values->items)[i] ^ q->plan->flip;
    default:
      return cst__key_of_double(((const double *)values->items)[i]) ^ q->plan->flip;
  }
}

#endif /* SKETCH_QUANTILES_STORE_H */
