/* A sketch of quantiles as bytes. Loading checks all that the other functions build on: order and
 * range of the keys, how many there are, and that their weights make up the total.
 */
#include <math.h>

#include "sketch/quantiles_store.h"

static void archive_totals(cst__archive *a, cst__quantiles_totals *t) {
  int family = (int)t->family;
  cst__archive_enum(a, &family, CST__FAMILY_BYTES);
  t->family = (cst__family)family;
  cst__archive_u64(a, &t->count);
  cst__archive_u64(a, &t->nans);
  cst__archive_double(a, &t->weight);
  cst__archive_double(a, &t->nan_weight);
  cst__archive_u64(a, &t->least);
  cst__archive_u64(a, &t->most);
  cst__archive_check(a, t->nans <= t->count && t->count <= INT64_MAX && isfinite(t->weight) &&
                            t->weight >= 0 && isfinite(t->nan_weight) && t->nan_weight >= 0 &&
                            (t->weight == 0 || t->least <= t->most));
  cst__archive_check(a, t->family != CST__FAMILY_FLOAT || t->weight == 0 ||
                            (t->least >= cst__key_of_double(-INFINITY) &&
                             t->most <= cst__key_of_double(INFINITY)));
}

static bool is_integer(double weight) { return weight == floor(weight); }

/* An exponent that the total weight asks for, and a sampler without a fraction if there were none.
 */
static bool exponent_fits(const cst__quantiles *q) {
  const cst__quantiles_store *store = q->store;
  if (store->totals.weight == 0) {
    return store->exponent == 0;
  }
  int exponent = ilogb(store->totals.weight) - q->plan->exponents;
  int least = store->has_fractions ? CST__QUANTILES_EXPONENT_LEAST : 0;
  return store->exponent == (exponent < least ? least : exponent) &&
         (store->has_fractions || is_integer(ldexp(store->sample, store->exponent)));
}

static void archive_state(cst__archive *a, cst__quantiles *q) {
  cst__quantiles_store *store = q->store;
  int64_t exponent = store->exponent;
  cst__archive_i64(a, &exponent);
  cst__archive_bool(a, &store->has_fractions);
  cst__archive_u64(a, &store->random);
  cst__archive_u64(a, &store->coins);
  cst__archive_u64(a, &store->held);
  cst__archive_u64(a, &store->sample_key);
  cst__archive_double(a, &store->sample);
  cst__archive_check(a, exponent >= CST__QUANTILES_EXPONENT_LEAST && exponent <= 1024 &&
                            store->sample >= 0 && store->sample < 1);
  store->exponent = a->bad ? 0 : (int)exponent;
  cst__archive_check(a, a->bad || exponent_fits(q)); /* NaN has no exponent */
}

static bool key_fits(const cst__quantiles *q, uint64_t kept) {
  uint64_t key = kept ^ q->plan->flip;
  return key >= q->store->totals.least && key <= q->store->totals.most;
}

/* Each key as what it is above the one before. */
static void archive_keys(cst__archive *a, const cst__quantiles *q, uint64_t *keys, size_t count) {
  uint64_t before = 0;
  for (size_t i = 0; i < count && !a->bad; i++) {
    uint64_t step = keys[i] - before;
    cst__archive_u64(a, &step);
    keys[i] = before + step;
    cst__archive_check(a, keys[i] >= before && key_fits(q, keys[i]));
    before = keys[i];
  }
}

static void archive_levels(cst__archive *a, cst__quantiles *q) {
  cst__quantiles_store *store = q->store;
  uint64_t inbox[CST__QUANTILES_INBOX], scratch[CST__QUANTILES_INBOX]; /* saved in order */
  size_t num = cst__quantiles_num_levels(store);
  cst__archive_count(a, &num);
  cst__archive_check(a, num >= 1 && num < CST__QUANTILES_LEVELS);
  size_t kept = 0;
  for (size_t i = 0; i < num && !a->bad; i++) {
    size_t size = store->sizes[i];
    cst__archive_count(a, &size);
    size_t most = i == 0 ? CST__QUANTILES_INBOX : q->plan->most_keys - CST__QUANTILES_INBOX;
    cst__archive_check(a, size <= most && (i < 2 || kept - store->sizes[0] <= most - size));
    kept += size;
    store->sizes[i] = a->bad ? 0 : (uint32_t)size;
  }
  if (cst__archive_loads(a) && !a->bad) {
    cst__archive_check(a, kept <= (size_t)(a->end - a->at));
    if (!a->bad && !cst__quantiles_reserve(q, kept)) {
      cst__archive_fail_memory(a);
    }
    store->begin -= a->bad ? 0 : kept;
  }
  bool is_saving = !cst__archive_loads(a);
  if (is_saving && store->sizes[0] > 0) {
    memcpy(inbox, store->keys + store->begin, store->sizes[0] * sizeof *inbox);
    cst__keys_sort(inbox, store->sizes[0], scratch);
  }
  for (size_t i = 0; i < num && !a->bad; i++) {
    archive_keys(a, q, is_saving && i == 0 ? inbox : cst__quantiles_level(store, i),
                 store->sizes[i]);
  }
}

static void archive_pairs(cst__archive *a, cst__quantiles *q) {
  cst__quantiles_store *store = q->store;
  size_t num = store->num_pairs;
  cst__archive_count(a, &num);
  cst__archive_check(a, num <= CST__QUANTILES_PAIRS);
  if (cst__archive_loads(a) && !a->bad && num > 0) {
    store->pairs = cst__new_zero(&q->plan->allocator, num * sizeof *store->pairs);
    if (store->pairs == NULL) {
      cst__archive_fail_memory(a);
    }
    store->num_pairs = store->pairs_capacity = a->bad ? 0 : num;
  }
  for (size_t i = 0; i < store->num_pairs && !a->bad; i++) {
    cst__quantiles_pair *pair = &store->pairs[i];
    cst__archive_u64(a, &pair->key);
    cst__archive_double(a, &pair->weight);
    cst__archive_check(a, key_fits(q, pair->key) && isfinite(pair->weight) && pair->weight > 0 &&
                              (store->has_fractions || is_integer(pair->weight)));
  }
}

static void archive_schedules(cst__archive *a, cst__quantiles_store *store) {
  for (size_t i = 1; store->schedules != NULL && i < CST__QUANTILES_LEVELS; i++) {
    cst__quantiles_schedule *s = &store->schedules[i];
    uint64_t state = s->state;
    cst__archive_u64(a, &state);
    s->state = state;
    if (cst__archive_loads(a)) {
      cst__quantiles_settle_sections(s);
    }
  }
}

/* The weight of all that is kept is the total, but for rounding. With tails weights are rounded to
 * a few digits, and that it is about the total is enough: then levels are where they may be. */
static bool weight_fits(const cst__quantiles *q) {
  const cst__quantiles_store *store = q->store;
  double sum = ldexp(store->sample + store->sizes[0], store->exponent);
  for (size_t i = 1; i < CST__QUANTILES_LEVELS; i++) {
    sum += ldexp((double)store->sizes[i], cst__quantiles_exponent(store, i));
  }
  for (size_t i = 0; i < store->num_pairs; i++) {
    sum += store->pairs[i].weight;
  }
  double weight = store->totals.weight;
  return store->schedules != NULL ? sum <= 3 * weight && weight <= 3 * sum
                                  : fabs(sum - weight) <= weight * 1e-6;
}

void cst__quantiles_archive(cst__quantiles *q, cst__archive *a) {
  bool is_there = q->store != NULL;
  cst__archive_bool(a, &is_there);
  if (!is_there || a->bad) {
    return;
  }
  if (cst__quantiles_need_store(q) == NULL) {
    cst__archive_fail_memory(a);
    return;
  }
  archive_totals(a, &q->store->totals);
  archive_state(a, q);
  cst__archive_check(a, q->store->sample == 0 || key_fits(q, q->store->sample_key));
  archive_levels(a, q);
  archive_pairs(a, q);
  archive_schedules(a, q->store);
  cst__archive_check(a, a->bad || weight_fits(q));
  if (cst__archive_loads(a) && !a->bad) {
    cst__quantiles_shrink(q); /* nothing, unless somebody else wrote the bytes */
  }
}
