/* Adding to a sketch of quantiles, and merging. */
#include "sketch/quantiles.h"

#include <math.h>

#include "sketch/quantiles_store.h"

static cst_status fail_memory(const cst__quantiles *q, cst_error *error) {
  return cst__fail_memory(error, cst__quantiles_memory(q));
}

static cst_status check_weight(double weight, cst_error *error) {
  return isfinite(weight) ? CST_OK
                          : cst__fail(error, CST_LIMIT, "make the weights smaller",
                                      "the sum of the weights is beyond what a double holds");
}

cst__quantiles_totals cst__quantiles_get_totals(const cst__quantiles *q) {
  return q->store != NULL ? q->store->totals : (cst__quantiles_totals){0};
}

/* Counts stop at INT64_MAX. */
static uint64_t count_sum(uint64_t a, uint64_t b) { return b < INT64_MAX - a ? a + b : INT64_MAX; }

static void widen(cst__quantiles_totals *totals, uint64_t least, uint64_t most) {
  bool is_first = totals->weight == 0;
  totals->least = is_first || least < totals->least ? least : totals->least;
  totals->most = is_first || most > totals->most ? most : totals->most;
}

/* ---- a block of values ---- */

/* The values that have a rank, and what is to be added to the totals. */
typedef struct block {
  cst__value_block values;
  cst__quantiles_totals totals; /* `count` and `weight`: of all */
  bool has_fractions;
  /* Values and weights without those that have no rank. */
  union {
    double doubles[CST__VALUES_MOST];
    uint64_t integers[CST__VALUES_MOST];
  } items;
  double weights[CST__VALUES_MOST];
} block;

enum { LANES = 8 };

/* Least and greatest of doubles, without NaN; how many are NaN. */
static size_t scan_doubles(const double *items, size_t count, double *least, double *most) {
  double low[LANES], high[LANES];
  uint64_t nans[LANES] = {0};
  for (size_t lane = 0; lane < LANES; lane++) {
    low[lane] = INFINITY;
    high[lane] = -INFINITY;
  }
  size_t i = 0;
  for (; i + LANES <= count; i += LANES) {
    for (size_t lane = 0; lane < LANES; lane++) {
      double item = items[i + lane];
      low[lane] = item < low[lane] ? item : low[lane];
      high[lane] = item > high[lane] ? item : high[lane];
      nans[lane] += item != item;
    }
  }
  for (; i < count; i++) {
    low[0] = items[i] < low[0] ? items[i] : low[0];
    high[0] = items[i] > high[0] ? items[i] : high[0];
    nans[0] += items[i] != items[i];
  }
  for (size_t lane = 1; lane < LANES; lane++) {
    low[0] = low[lane] < low[0] ? low[lane] : low[0];
    high[0] = high[lane] > high[0] ? high[lane] : high[0];
    nans[0] += nans[lane];
  }
  *least = low[0];
  *most = high[0];
  return nans[0];
}

/* Keys of the least and the greatest value; how many are NaN. */
static size_t scan(const cst__value_block *values, uint64_t *least, uint64_t *most) {
  if (values->family == CST__FAMILY_FLOAT) {
    double low, high;
    size_t nans = scan_doubles(values->items, values->count, &low, &high);
    *least = cst__key_of_double(low);
    *most = cst__key_of_double(high);
    return nans;
  }
  const uint64_t *items = values->items;
  uint64_t sign = values->family == CST__FAMILY_INT ? CST__KEY_SIGN : 0;
  *least = UINT64_MAX;
  *most = 0;
  for (size_t i = 0; i < values->count; i++) {
    uint64_t key = items[i] ^ sign;
    *least = key < *least ? key : *least;
    *most = key > *most ? key : *most;
  }
  return 0;
}

/* Leaves out NaN and values of the weight 0. */
static void leave_out(block *b, const cst__value_block *values) {
  bool is_float = values->family == CST__FAMILY_FLOAT;
  size_t count = 0;
  for (size_t i = 0; i < values->count; i++) {
    double weight = values->weights != NULL ? values->weights[i] : 1;
    b->weights[count] = weight;
    bool is_nan = false;
    if (is_float) {
      double item = ((const double *)values->items)[i];
      b->items.doubles[count] = item;
      is_nan = item != item;
    } else {
      b->items.integers[count] = ((const uint64_t *)values->items)[i];
    }
    b->totals.nans += is_nan;
    b->totals.nan_weight += is_nan ? weight : 0;
    count += !is_nan && weight > 0;
  }
  b->values.items = &b->items;
  b->values.weights = values->weights != NULL ? b->weights : NULL;
  b->values.count = count;
}

static void look(block *b, const cst__value_block *values) {
  b->values = *values;
  b->totals = (cst__quantiles_totals){.count = values->count, .family = values->family};
  b->has_fractions = false;
  size_t nans = scan(values, &b->totals.least, &b->totals.most);
  if (nans > 0 || values->weights != NULL) {
    leave_out(b, values);
    (void)scan(&b->values, &b->totals.least, &b->totals.most);
  }
  if (values->weights == NULL) {
    b->totals.weight = (double)b->values.count;
    return;
  }
  for (size_t i = 0; i < b->values.count; i++) {
    b->totals.weight += b->weights[i];
    b->has_fractions |= b->weights[i] != floor(b->weights[i]);
  }
}

/* Room for keys and for pairs, and when these may have to be spread, for the keys that they give.
 */
static bool reserve(cst__quantiles *q, size_t keys, size_t pairs) {
  cst__quantiles_store *store = q->store;
  size_t want = store->num_pairs + pairs;
  if (pairs > 0 && want > CST__QUANTILES_PAIRS) {
    bool has_tails = q->plan->tails != CST__TAILS_NONE;
    keys += want * (has_tails ? CST__QUANTILES_DIGITS + 1 : (size_t)q->plan->exponents + 2);
    want = CST__QUANTILES_PAIRS;
  }
  if (!cst__quantiles_reserve(q, keys)) {
    return false;
  }
  if (pairs == 0 || want <= store->pairs_capacity) {
    return true;
  }
  size_t grown = 2 * store->pairs_capacity > want ? 2 * store->pairs_capacity : want;
  grown = grown < CST__QUANTILES_PAIRS ? grown : CST__QUANTILES_PAIRS;
  cst__quantiles_pair *made = cst__renew(&q->plan->allocator, store->pairs, grown * sizeof *made);
  if (made == NULL) {
    return false;
  }
  store->pairs = made;
  store->pairs_capacity = grown;
  return true;
}

static void add_pair(cst__quantiles *q, uint64_t key, double weight) {
  cst__quantiles_store *store = q->store;
  if (store->num_pairs == CST__QUANTILES_PAIRS) {
    cst__quantiles_spread(q);
  }
  store->pairs[store->num_pairs++] = (cst__quantiles_pair){key, weight};
}

/* What both adding and merging do to the totals, before keys come in. */
static void add_totals(cst__quantiles_store *store, const cst__quantiles_totals *more,
                       bool has_fractions) {
  cst__quantiles_totals *totals = &store->totals;
  totals->family = totals->family == CST__FAMILY_NONE ? more->family : totals->family;
  totals->count = count_sum(totals->count, more->count);
  totals->nans = count_sum(totals->nans, more->nans);
  totals->nan_weight += more->nan_weight;
  if (more->weight > 0) {
    widen(totals, more->least, more->most);
  }
  totals->weight += more->weight;
  store->has_fractions |= has_fractions;
}

cst_status cst__quantiles_add(cst__quantiles *q, const cst__value_block *values, cst_error *error) {
  if (values->count == 0) {
    return CST_OK;
  }
  block b;
  look(&b, values);
  cst__quantiles_store *store = cst__quantiles_need_store(q);
  if (store == NULL) {
    return fail_memory(q, error);
  }
  CST__TRY(check_weight(store->totals.weight + b.totals.weight, error));
  CST__TRY(check_weight(store->totals.nan_weight + b.totals.nan_weight, error));
  /* Values of the weight 1 need no pairs where the lowest level is 1 or above. */
  bool is_plain = b.values.weights == NULL && store->exponent >= 0;
  size_t count = b.values.count;
  if (!reserve(q, count, is_plain ? 0 : count)) {
    return fail_memory(q, error);
  }
  add_totals(store, &b.totals, b.has_fractions);
  cst__quantiles_settle_exponent(q);
  if (count == 0) {
    return CST_OK;
  }
  cst__quantiles_stir(store, cst__quantiles_key_at(q, &b.values, 0));
  if (is_plain) {
    cst__quantiles_sample_units(q, &b.values);
    return CST_OK;
  }
  for (size_t i = 0; i < count; i++) {
    add_pair(q, cst__quantiles_key_at(q, &b.values, i),
             b.values.weights != NULL ? b.values.weights[i] : 1);
  }
  return CST_OK;
}

/* ---- merging ---- */

/* A sketch that has the same in it. */
static cst_status copy_store(cst__quantiles *to, const cst__quantiles *from, cst_error *error) {
  cst__quantiles_store *copy = cst__quantiles_need_store(to);
  if (copy == NULL) {
    return fail_memory(to, error);
  }
  const cst__quantiles_store *store = from->store;
  size_t kept = cst__quantiles_kept(store);
  if (!reserve(to, kept, store->num_pairs)) {
    return fail_memory(to, error);
  }
  cst__quantiles_store made = *store;
  made.keys = copy->keys;
  made.capacity = copy->capacity;
  made.begin = copy->capacity - kept;
  made.pairs = copy->pairs;
  made.pairs_capacity = copy->pairs_capacity;
  made.schedules = copy->schedules;
  *copy = made;
  if (kept > 0) {
    memcpy(copy->keys + copy->begin, store->keys + store->begin, kept * sizeof *copy->keys);
  }
  if (store->num_pairs > 0) {
    memcpy(copy->pairs, store->pairs, store->num_pairs * sizeof *store->pairs);
  }
  if (copy->schedules != NULL) {
    memcpy(copy->schedules, store->schedules, CST__QUANTILES_LEVELS * sizeof *copy->schedules);
  }
  return CST_OK;
}

/* Keys of the level `exponent`, in order. */
static void add_level(cst__quantiles *q, int exponent, const uint64_t *keys, size_t count) {
  cst__quantiles_store *store = q->store;
  int above = exponent - store->exponent;
  for (size_t at = 0; at < count;) {
    size_t now = count - at < CST__QUANTILES_INBOX ? count - at : CST__QUANTILES_INBOX;
    if (above >= 0) {
      cst__quantiles_empty_inbox(store);
      cst__quantiles_shrink(q);
      cst__quantiles_insert(q, (size_t)above + 1, keys + at, now);
    } else {
      double weight = ldexp(1, above);
      uint64_t given[CST__QUANTILES_INBOX];
      size_t num = 0;
      for (size_t i = 0; i < now && weight > 0; i++) {
        num += cst__quantiles_sample(store, keys[at + i], weight, &given[num]);
      }
      cst__quantiles_push(q, given, num);
    }
    at += now;
  }
}

static void merge_schedules(cst__quantiles_store *into, const cst__quantiles_store *from) {
  for (size_t i = 1; into->schedules != NULL && i < CST__QUANTILES_LEVELS; i++) {
    int index = cst__quantiles_exponent(from, i) - into->exponent + 1;
    if (index >= 1 && index < CST__QUANTILES_LEVELS) {
      cst__quantiles_schedule *s = &into->schedules[index];
      const cst__quantiles_schedule *other = &from->schedules[i];
      uint64_t state = s->state | other->state;
      *s = other->sections > s->sections ? *other : *s;
      s->state = state;
      cst__quantiles_settle_sections(s);
    }
  }
}

/* There is room for all. */
static void merge_keys(cst__quantiles *into, const cst__quantiles_store *from) {
  cst__quantiles_settle_exponent(into);
  cst__quantiles_store *store = into->store;
  merge_schedules(store, from);
  cst__quantiles_stir(store, from->random);
  size_t num_levels = cst__quantiles_num_levels(from);
  uint64_t inbox[CST__QUANTILES_INBOX], scratch[CST__QUANTILES_INBOX];
  size_t in_inbox = from->sizes[0];
  if (in_inbox > 0) {
    memcpy(inbox, from->keys + from->begin, in_inbox * sizeof *inbox);
    cst__keys_sort(inbox, in_inbox, scratch);
    add_level(into, from->exponent, inbox, in_inbox);
  }
  for (size_t i = 1; i < num_levels; i++) {
    add_level(into, cst__quantiles_exponent(from, i), cst__quantiles_level(from, i),
              from->sizes[i]);
  }
  if (from->sample > 0) {
    add_pair(into, from->sample_key, ldexp(from->sample, from->exponent));
  }
  for (size_t i = 0; i < from->num_pairs; i++) {
    add_pair(into, from->pairs[i].key, from->pairs[i].weight);
  }
}

cst_status cst__quantiles_merge(cst__quantiles *into, const cst__quantiles *from,
                                cst_error *error) {
  if (from->store == NULL) {
    return CST_OK;
  }
  if (into == from) {
    cst__quantiles copy;
    cst__quantiles_init(&copy, into->plan);
    cst_status status = copy_store(&copy, from, error);
    status = status == CST_OK ? cst__quantiles_merge(into, &copy, error) : status;
    cst__quantiles_reset(&copy);
    return status;
  }
  const cst__quantiles_store *theirs = from->store;
  if (into->store == NULL) {
    cst_status status = copy_store(into, from, error);
    if (status != CST_OK) {
      cst__quantiles_reset(into);
    }
    return status;
  }
  CST__TRY(check_weight(into->store->totals.weight + theirs->totals.weight, error));
  CST__TRY(check_weight(into->store->totals.nan_weight + theirs->totals.nan_weight, error));
  size_t pairs = theirs->num_pairs + (theirs->sample > 0);
  if (!reserve(into, cst__quantiles_kept(theirs), pairs)) {
    return fail_memory(into, error);
  }
  add_totals(into->store, &theirs->totals, theirs->has_fractions);
  merge_keys(into, theirs);
  return CST_OK;
}
