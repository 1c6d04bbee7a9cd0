/* Sorting and merging keys without a branch on their order, which no processor can foretell: eight
 * keys by a network, then runs that double, each merged from both ends at once.
 */
#include "sketch/quantiles_keys.h"

enum { NETWORK = 8 };

static inline void order(uint64_t *a, uint64_t *b) {
  uint64_t low = *a < *b ? *a : *b;
  uint64_t high = *a < *b ? *b : *a;
  *a = low;
  *b = high;
}

/* The 19 comparisons of Batcher's network for eight. */
static void sort_eight(uint64_t *keys) {
  uint64_t a = keys[0], b = keys[1], c = keys[2], d = keys[3];
  uint64_t e = keys[4], f = keys[5], g = keys[6], h = keys[7];
  order(&a, &b), order(&c, &d), order(&e, &f), order(&g, &h);
  order(&a, &c), order(&b, &d), order(&e, &g), order(&f, &h);
  order(&b, &c), order(&f, &g), order(&a, &e), order(&d, &h);
  order(&b, &f), order(&c, &g);
  order(&b, &e), order(&d, &g);
  order(&c, &e), order(&d, &f);
  order(&d, &e);
  keys[0] = a, keys[1] = b, keys[2] = c, keys[3] = d;
  keys[4] = e, keys[5] = f, keys[6] = g, keys[7] = h;
}

static void sort_few(uint64_t *keys, size_t count) {
  for (size_t i = 1; i < count; i++) {
    uint64_t key = keys[i];
    size_t at = i;
    for (; at > 0 && keys[at - 1] > key; at--) {
      keys[at] = keys[at - 1];
    }
    keys[at] = key;
  }
}

/* Two runs of the same length: as many steps from the front as from the back leave nothing over, so
 * that neither has to look for an end. */
static void merge_equal(const uint64_t *in, size_t count, uint64_t *out) {
  const uint64_t *left = in, *right = in + count;
  const uint64_t *left_end = in + count - 1, *right_end = in + 2 * count - 1;
  uint64_t *out_end = out + 2 * count - 1;
  for (size_t i = 0; i < count; i++) {
    uint64_t a = *left, b = *right;
    size_t is_right = b < a;
    *out++ = b < a ? b : a;
    left += 1 - is_right;
    right += is_right;
    uint64_t c = *left_end, d = *right_end;
    size_t is_left = d < c;
    *out_end-- = d < c ? c : d;
    left_end -= is_left;
    right_end -= 1 - is_left;
  }
}

/* How many are below `key`. */
static size_t count_below(const uint64_t *keys, size_t count, uint64_t key) {
  const uint64_t *at = keys;
  while (count > 0) {
    size_t half = count / 2;
    bool is_below = at[half] < key;
    at += is_below ? half + 1 : 0;
    count = is_below ? count - half - 1 : half;
  }
  return (size_t)(at - keys);
}

void cst__keys_merge(const uint64_t *a, size_t num_a, uint64_t *out, size_t num_b) {
  const uint64_t *b = out + num_a;
  if (num_a == 0) {
    return;
  }
  size_t j = count_below(b, num_b, a[0]); /* often many, as tails are protected */
  memmove(out, b, j * sizeof *b);
  size_t i = j < num_b ? count_below(a, num_a, b[j]) : 0;
  memmove(out + j, a, i * sizeof *a);
  while (i < num_a && j < num_b) {
    uint64_t left = a[i], right = b[j];
    size_t is_right = right < left;
    out[i + j] = right < left ? right : left;
    i += 1 - is_right;
    j += is_right;
  }
  memmove(out + i + j, a + i, (num_a - i) * sizeof *a); /* the rest of b stands where it belongs */
}

void cst__keys_sort(uint64_t *keys, size_t count, uint64_t *scratch) {
  size_t at = 0;
  for (; at + NETWORK <= count; at += NETWORK) {
    sort_eight(keys + at);
  }
  sort_few(keys + at, count - at);
  uint64_t *from = keys;
  uint64_t *to = scratch;
  for (size_t run = NETWORK; run < count; run *= 2) {
    size_t i = 0;
    for (; i + 2 * run <= count; i += 2 * run) {
      merge_equal(from + i, run, to + i);
    }
    size_t rest = count - i; /* a run, and a part of one */
    if (rest > run) {
      memcpy(to + i + run, from + i + run, (rest - run) * sizeof *to);
      cst__keys_merge(from + i, run, to + i, rest - run);
    } else {
      memcpy(to + i, from + i, rest * sizeof *to);
    }
    uint64_t *other = from;
    from = to;
    to = other;
  }
  if (from != keys) {
    memcpy(keys, from, count * sizeof *keys);
  }
}
