/* Weights: the sampler for what is below the lowest level, and the split of others into powers of
 * two. */
#include <math.h>

#include "sketch/quantiles_store.h"

bool cst__quantiles_sample(cst__quantiles_store *store, uint64_t key, double weight,
                           uint64_t *out) {
  double had = store->sample;
  if (had + weight < 1) {
    if (had == 0 || cst__quantiles_chance(store) * (had + weight) < weight) {
      store->sample_key = key;
    }
    store->sample = had + weight;
    return false;
  }
  double part = 1 - had; /* of the weight; the rest begins the next block */
  *out = had == 0 || cst__quantiles_chance(store) < part ? key : store->sample_key;
  store->sample_key = key;
  store->sample = weight - part;
  return true;
}

/* Picks that wait to be pushed. */
typedef struct picks {
  cst__quantiles *q;
  size_t count;
  uint64_t keys[CST__QUANTILES_INBOX];
} picks;

static void push_picks(picks *p) {
  cst__quantiles_push(p->q, p->keys, p->count);
  p->count = 0;
}

static void pick(picks *p, uint64_t key, double weight) {
  p->count += cst__quantiles_sample(p->q->store, key, weight, &p->keys[p->count]);
  if (p->count == CST__QUANTILES_INBOX) {
    push_picks(p);
  }
}

/* Blocks of 2^exponent values of the weight 1 are whole once the sampler is empty: one of each is
 * taken, the others are not even looked at. */
void cst__quantiles_sample_units(cst__quantiles *q, const cst__value_block *values) {
  cst__quantiles_store *store = q->store;
  picks p;
  p.q = q;
  p.count = 0;
  int exponent = store->exponent;
  double unit = ldexp(1, -exponent);
  double block = ldexp(1, exponent);
  for (size_t at = 0; at < values->count;) {
    size_t rest = values->count - at;
    if (store->sample == 0 && block <= (double)rest) {
      uint64_t offset = exponent == 0 ? 0 : cst__quantiles_random(store) >> (64 - exponent);
      p.keys[p.count++] = cst__quantiles_key_at(q, values, at + offset);
      at += (size_t)block;
      if (p.count == CST__QUANTILES_INBOX) {
        push_picks(&p);
      }
      continue;
    }
    double fit = floor((1 - store->sample) * block);
    size_t count = fit < 1 ? 1 : fit < (double)rest ? (size_t)fit : rest;
    uint64_t offset = (uint64_t)(((__uint128_t)cst__quantiles_random(store) * count) >> 64);
    pick(&p, cst__quantiles_key_at(q, values, at + offset), (double)count * unit);
    at += count;
  }
  push_picks(&p);
}

/* ---- weighted values ---- */

/* The weight over 2^exponent as digits: those above the point, and what lies below it. */
static uint64_t split(cst__quantiles *q, double weight, double *rest) {
  double whole = floor(weight);
  *rest = weight - whole;
  if (q->plan->tails == CST__TAILS_NONE || whole < 1 << CST__QUANTILES_DIGITS) {
    return (uint64_t)whole;
  }
  int dropped = ilogb(whole) + 1 - CST__QUANTILES_DIGITS;
  double digits = ldexp(weight, -dropped);
  whole = floor(digits);
  whole += cst__quantiles_chance(q->store) < digits - whole;
  *rest = 0;
  return (uint64_t)whole << dropped;
}

void cst__quantiles_spread(cst__quantiles *q) {
  cst__quantiles_store *store = q->store;
  size_t num_pairs = store->num_pairs;
  uint64_t digits[CST__QUANTILES_PAIRS];
  uint64_t all = 0;
  picks p;
  p.q = q;
  p.count = 0;
  store->num_pairs = 0;
  /* In two factors, since 2^1074 is not a number. */
  double scale = ldexp(1, -store->exponent / 2);
  double scale_rest = ldexp(1, -store->exponent - -store->exponent / 2);
  for (size_t i = 0; i < num_pairs; i++) {
    double rest;
    digits[i] = split(q, store->pairs[i].weight * scale * scale_rest, &rest);
    all |= digits[i];
    if (rest > 0) {
      p.count += cst__quantiles_sample(store, store->pairs[i].key, rest, &p.keys[p.count]);
    }
  }
  if (all != 0) {
    cst__quantiles_empty_inbox(store);
    cst__quantiles_shrink(q);
  }
  for (; all != 0; all &= all - 1) {
    int digit = __builtin_ctzll(all);
    uint64_t keys[CST__QUANTILES_PAIRS], scratch[CST__QUANTILES_PAIRS];
    size_t count = 0;
    for (size_t i = 0; i < num_pairs; i++) {
      keys[count] = store->pairs[i].key;
      count += digits[i] >> digit & 1;
    }
    cst__keys_sort(keys, count, scratch);
    cst__quantiles_insert(q, (size_t)digit + 1, keys, count);
  }
  push_picks(&p);
}

/* ---- the lowest level ---- */

/* Levels below the new exponent go through the sampler; the keys that it gives are the lowest level
 * then. */
static void raise(cst__quantiles *q, int exponent) {
  cst__quantiles_store *store = q->store;
  size_t highest = cst__quantiles_num_levels(store) - 1;
  cst__quantiles_empty_inbox(store);
  highest = highest < 1 && store->sizes[1] > 0 ? 1 : highest;
  int by = exponent - store->exponent;
  size_t num = (size_t)by < highest ? (size_t)by : highest;
  store->sample = ldexp(store->sample, -by);
  for (size_t i = 1; i <= num; i++) {
    double weight = ldexp(1, cst__quantiles_exponent(store, i) - exponent);
    while (store->sizes[i] > 0) {
      uint64_t keys[CST__QUANTILES_INBOX], given[CST__QUANTILES_INBOX];
      size_t taken = cst__quantiles_take(store, i, keys, CST__QUANTILES_INBOX);
      size_t count = 0;
      for (size_t j = 0; j < taken && weight > 0; j++) {
        count += cst__quantiles_sample(store, keys[j], weight, &given[count]);
      }
      cst__keys_sort(given, count, keys);
      cst__quantiles_put(store, num + 1, given, count);
    }
  }
  cst__quantiles_shift(store, -(int)num);
  store->exponent = exponent;
}

void cst__quantiles_settle_exponent(cst__quantiles *q) {
  cst__quantiles_store *store = q->store;
  if (store->totals.weight == 0) {
    return;
  }
  int exponent = ilogb(store->totals.weight) - q->plan->exponents;
  int least = store->has_fractions ? CST__QUANTILES_EXPONENT_LEAST : 0;
  exponent = exponent < least ? least : exponent;
  if (exponent > store->exponent) {
    raise(q, exponent);
  } else if (exponent < store->exponent) { /* there were only integers, and no need of a sampler */
    cst__quantiles_empty_inbox(store);
    cst__quantiles_shift(store, store->exponent - exponent);
    store->exponent = exponent;
  } else {
    return;
  }
  cst__quantiles_shrink(q);
}
