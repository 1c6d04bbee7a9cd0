/* Reading a sketch of quantiles: all that is kept in order, and what can be asked of it. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "sketch/quantiles_store.h"

/* All keys with their weights, as runs that are each sorted. */
typedef struct runs {
  cst__quantiles_pair *pairs;
  size_t count;
  size_t ends[CST__QUANTILES_LEVELS + 2];
  size_t num;
} runs;

static void end_run(runs *r) { r->ends[r->num++] = r->count; }

static void merge_two(const cst__quantiles_pair *from, const size_t ends[3],
                      cst__quantiles_pair *to) {
  size_t i = ends[0];
  size_t j = ends[1];
  for (size_t out = ends[0]; out < ends[2]; out++) {
    bool is_right = i == ends[1] || (j < ends[2] && from[j].key < from[i].key);
    to[out] = is_right ? from[j++] : from[i++];
  }
}

/* Merges neighbours until one run is left. */
static void merge_runs(runs *r, cst__quantiles_pair *other) {
  while (r->num > 1) {
    size_t num = 0;
    size_t begin = 0;
    for (size_t i = 0; i < r->num; i += 2) {
      size_t middle = r->ends[i];
      size_t end = i + 1 < r->num ? r->ends[i + 1] : middle;
      merge_two(r->pairs, (size_t[3]){begin, middle, end}, other);
      r->ends[num++] = end;
      begin = end;
    }
    r->num = num;
    cst__quantiles_pair *swap = r->pairs;
    r->pairs = other;
    other = swap;
  }
}

static int by_key(const void *a, const void *b) {
  uint64_t left = ((const cst__quantiles_pair *)a)->key;
  uint64_t right = ((const cst__quantiles_pair *)b)->key;
  return (left > right) - (left < right);
}

static void gather(const cst__quantiles_store *store, runs *r) {
  uint64_t inbox[CST__QUANTILES_INBOX], scratch[CST__QUANTILES_INBOX];
  for (size_t index = 0; index < CST__QUANTILES_LEVELS; index++) {
    const uint64_t *keys = cst__quantiles_level(store, index);
    size_t size = store->sizes[index];
    if (index == 0 && size > 0) {
      memcpy(inbox, keys, size * sizeof *inbox);
      cst__keys_sort(inbox, size, scratch);
      keys = inbox;
    }
    double weight = ldexp(1, index == 0 ? store->exponent : cst__quantiles_exponent(store, index));
    for (size_t i = 0; i < size; i++) {
      r->pairs[r->count++] = (cst__quantiles_pair){keys[i], weight};
    }
    if (size > 0) {
      end_run(r);
    }
  }
  if (store->num_pairs > 0) {
    memcpy(r->pairs + r->count, store->pairs, store->num_pairs * sizeof *store->pairs);
    qsort(r->pairs + r->count, store->num_pairs, sizeof *store->pairs, by_key);
    r->count += store->num_pairs;
    end_run(r);
  }
  if (store->sample > 0) {
    r->pairs[r->count++] =
        (cst__quantiles_pair){store->sample_key, ldexp(store->sample, store->exponent)};
    end_run(r);
  }
}

cst_status cst__quantiles_view_init(cst__quantiles_view *view, const cst__quantiles *q,
                                    cst_error *error) {
  const cst__quantiles_store *store = q->store;
  *view = (cst__quantiles_view){.family = CST__FAMILY_NONE};
  if (store == NULL || store->totals.weight == 0) {
    return CST_OK;
  }
  size_t most = cst__quantiles_kept(store) + store->num_pairs + 1;
  cst__quantiles_pair *room = cst__new(&q->plan->allocator, 2 * most * sizeof *room);
  view->keys = cst__new(&q->plan->allocator, most * sizeof *view->keys);
  view->upto = cst__new(&q->plan->allocator, most * sizeof *view->upto);
  if (room == NULL || view->keys == NULL || view->upto == NULL) {
    cst__delete(room);
    cst__quantiles_view_reset(view);
    return cst__fail_memory(error, 4 * most * sizeof *room);
  }
  runs r = {.pairs = room};
  gather(store, &r);
  merge_runs(&r, room + most);
  double sum = 0;
  size_t count = 0;
  uint64_t flip = q->plan->flip;
  for (size_t i = 0; i < r.count; i++) {
    const cst__quantiles_pair *pair = &r.pairs[flip == 0 ? i : r.count - 1 - i];
    uint64_t key = pair->key ^ flip;
    sum += pair->weight;
    count += count == 0 || view->keys[count - 1] != key;
    view->keys[count - 1] = key;
    view->upto[count - 1] = sum;
  }
  cst__delete(room);
  view->family = store->totals.family;
  view->count = count;
  view->least = store->totals.least;
  view->most = store->totals.most;
  return CST_OK;
}

void cst__quantiles_view_reset(cst__quantiles_view *view) {
  cst__delete(view->keys);
  cst__delete(view->upto);
  *view = (cst__quantiles_view){.family = CST__FAMILY_NONE};
}

uint64_t cst__quantiles_at(const cst__quantiles_view *view, double rank) {
  if (!(rank > 0)) {
    return view->least;
  }
  if (rank >= 1) {
    return view->most;
  }
  /* A rank of i/n may lie a little above i/n as a double. */
  double want = rank * cst__quantiles_view_weight(view) * (1 - 4 * DBL_EPSILON);
  size_t low = 0;
  size_t high = view->count - 1;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (view->upto[middle] < want) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return view->keys[low];
}

double cst__quantiles_upto(const cst__quantiles_view *view, uint64_t key, bool is_inclusive) {
  size_t low = 0; /* the keys before it count */
  size_t high = view->count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (view->keys[middle] < key || (is_inclusive && view->keys[middle] == key)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? 0 : view->upto[low - 1];
}

double cst__quantiles_double(cst__family family, uint64_t key) {
  switch (family) {
    case CST__FAMILY_INT:
      return (double)cst__key_int(key);
    case CST__FAMILY_UINT:
      return (double)key;
    default:
      return cst__key_double(key);
  }
}

/* The weight of values <= x, or < x. */
static double weight_upto(const cst__quantiles_view *view, double x, bool is_inclusive) {
  if (view->family == CST__FAMILY_FLOAT) {
    return cst__quantiles_upto(view, cst__key_of_double(x), is_inclusive);
  }
  bool is_signed = view->family == CST__FAMILY_INT;
  if (x < (is_signed ? -0x1p63 : 0)) {
    return 0;
  }
  if (x >= (is_signed ? 0x1p63 : 0x1p64)) {
    return cst__quantiles_view_weight(view);
  }
  double whole = floor(x);
  uint64_t key = is_signed ? cst__key_of_int((int64_t)whole) : (uint64_t)whole;
  return cst__quantiles_upto(view, key, is_inclusive || whole != x);
}

double cst__quantiles_rank(const cst__quantiles_view *view, double x, bool is_inclusive) {
  return x != x ? NAN : weight_upto(view, x, is_inclusive) / cst__quantiles_view_weight(view);
}

void cst__quantiles_equal_depth(const cst__quantiles_view *view, size_t count, double *bounds,
                                double *weights) {
  double before = 0;
  for (size_t i = 0; i <= count; i++) {
    uint64_t key = cst__quantiles_at(view, (double)i / (double)count);
    bounds[i] = cst__quantiles_double(view->family, key);
    if (i > 0) {
      double upto = cst__quantiles_upto(view, key, true);
      weights[i - 1] = upto - before;
      before = upto;
    }
  }
}

/* The least and the greatest finite value; false: there is none. */
static bool finite_range(const cst__quantiles_view *view, double *least, double *most) {
  *least = cst__quantiles_double(view->family, view->least);
  *most = cst__quantiles_double(view->family, view->most);
  size_t first = 0;
  size_t last = view->count;
  while (first < last && !isfinite(cst__quantiles_double(view->family, view->keys[first]))) {
    first++;
  }
  while (last > first && !isfinite(cst__quantiles_double(view->family, view->keys[last - 1]))) {
    last--;
  }
  bool is_any = first < last;
  if (is_any && !isfinite(*least)) {
    *least = cst__quantiles_double(view->family, view->keys[first]);
  }
  if (is_any && !isfinite(*most)) {
    *most = cst__quantiles_double(view->family, view->keys[last - 1]);
  }
  return is_any || (isfinite(*least) && isfinite(*most));
}

bool cst__quantiles_equal_width(const cst__quantiles_view *view, size_t count, double *bounds,
                                double *weights) {
  double least, most;
  if (!finite_range(view, &least, &most)) {
    return false;
  }
  bounds[0] = least;
  for (size_t i = 1; i < count; i++) { /* no difference, which might be infinite */
    const double share = (double)i / (double)count;
    const double bound = least * (1 - share) + most * share;
    bounds[i] = fmin(most, fmax(bounds[i - 1], bound)); /* whatever rounding does */
  }
  bounds[count] = most;
  double before = weight_upto(view, least, false);
  for (size_t i = 0; i < count; i++) {
    double upto = weight_upto(view, bounds[i + 1], i + 1 == count);
    weights[i] = upto - before;
    before = upto;
  }
  return true;
}
