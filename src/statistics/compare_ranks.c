/* Two distributions of numbers, of which it is known what part of the values is at most each of
 * some bounds: quantiles, or the buckets of a histogram.
 */
#include <math.h>
#include <stdlib.h>

#include "statistics/compare.h"

/* ---- shares ---- */

static double divergence(double p, double q) { return p > 0 ? p * log2(2 * p / (p + q)) : 0; }

double cst__shares_jensen_shannon(const cst__shares *shares) {
  double sum = 0;
  for (size_t i = 0; i < shares->count; i++) {
    const double p = shares->before[i];
    const double q = shares->after[i];
    sum += divergence(p, q) + divergence(q, p);
  }
  return fmin(fmax(sum / 2, 0), 1);
}

double cst__shares_psi(const cst__shares *shares) {
  const double least = 0.0001;
  double sum = 0;
  for (size_t i = 0; i < shares->count; i++) {
    const double p = fmax(shares->before[i], least);
    const double q = fmax(shares->after[i], least);
    sum += (q - p) * log(q / p);
  }
  return sum;
}

/* ---- ranks of a feature ---- */

/* The share of the values that a column counts. */
static double share_of(const cst__feature_row *feature, const char *column) {
  const int64_t count = cst_findings_number(feature->table, column, feature->row);
  const int64_t values = cst_findings_number(feature->table, "values", feature->row);
  return count > 0 && values > 0 ? fmin((double)count / (double)values, 1) : 0;
}

static bool take_bounds(cst__ranks *ranks, size_t count, cst__arena *arena) {
  ranks->bounds = cst__arena_take_items(arena, (int64_t)count + 1, sizeof *ranks->bounds);
  ranks->upto = cst__arena_take_items(arena, (int64_t)count + 1, sizeof *ranks->upto);
  return ranks->bounds != NULL && ranks->upto != NULL;
}

/* Bounds that are not in order, which only a table from elsewhere has, become those before them. */
static void add_bound(cst__ranks *ranks, double bound, double upto) {
  const size_t i = ranks->count++;
  const double least = i > 0 ? ranks->bounds[i - 1] : -INFINITY;
  ranks->bounds[i] = bound >= least ? bound : least;
  ranks->upto[i] = i > 0 ? fmax(upto, ranks->upto[i - 1]) : upto;
}

/* True if a part of the values or more lies at bound i, which is the first (or last) of those that
 * are equal. */
static bool begins_jump(const cst__ranks *ranks, size_t i) {
  return i + 1 < ranks->count && ranks->bounds[i + 1] == ranks->bounds[i];
}

static bool ends_jump(const cst__ranks *ranks, size_t i) {
  return i > 0 && ranks->bounds[i - 1] == ranks->bounds[i];
}

/* Where a jump follows the other, there is nothing between them: the part of a quantile that seems
 * to be there belongs to the second one, whose share is no multiple of it. */
static void close_gaps(cst__ranks *ranks) {
  for (size_t i = 1; i < ranks->count; i++) {
    const bool is_gap =
        ranks->bounds[i] > ranks->bounds[i - 1] && begins_jump(ranks, i) && ends_jump(ranks, i - 1);
    ranks->upto[i] = is_gap ? ranks->upto[i - 1] : ranks->upto[i];
  }
}

static bool read_quantiles(const cst__feature_row *feature, size_t most_parts, cst__arena *arena,
                           cst__ranks *out) {
  const char *column = feature->weighs ? "weighted_quantiles." : "quantiles.";
  const char *list = feature->weighs ? "weighted_quantiles" : "quantiles";
  size_t begin, end;
  *out = (cst__ranks){.nan = share_of(feature, "nan")};
  if (!cst_findings_items(feature->table, list, feature->row, &begin, &end) || end - begin < 2) {
    return true;
  }
  const size_t parts = end - begin - 1;
  const size_t step = parts > most_parts && parts % most_parts == 0 ? parts / most_parts : 1;
  if (!take_bounds(out, end - begin, arena)) {
    return false;
  }
  for (size_t i = 0; i <= parts; i += step) {
    add_bound(out, cst_findings_real(feature->table, column, begin + i),
              (1 - out->nan) * (double)i / (double)parts);
  }
  return true;
}

bool cst__ranks_of_quantiles(const cst__feature_row *feature, cst__arena *arena, cst__ranks *out) {
  if (!read_quantiles(feature, SIZE_MAX, arena, out)) {
    return false;
  }
  close_gaps(out);
  return true;
}

bool cst__ranks_of_deciles(const cst__feature_row *feature, cst__arena *arena, cst__ranks *out) {
  return read_quantiles(feature, 10, arena, out);
}

bool cst__ranks_of_histogram(const cst__feature_row *feature, cst__arena *arena, cst__ranks *out) {
  const cst_findings *table = feature->table;
  const char *list = feature->weighs ? "weighted_histogram" : "histogram";
  const char *const fields[] = {feature->weighs ? "weighted_histogram.low" : "histogram.low",
                                feature->weighs ? "weighted_histogram.high" : "histogram.high",
                                feature->weighs ? "weighted_histogram.weight" : "histogram.weight"};
  const double infinite[] = {share_of(feature, "minus_infinity"),
                             share_of(feature, "plus_infinity")};
  double all = 0;
  size_t begin, end;
  *out = (cst__ranks){.nan = share_of(feature, "nan")};
  (void)cst_findings_items(table, list, feature->row, &begin, &end);
  for (size_t i = begin; i < end; i++) {
    all += fmax(cst_findings_real(table, fields[2], i), 0);
  }
  if (!(all > 0) && infinite[0] + infinite[1] == 0) {
    return true;
  }
  if (!take_bounds(out, 2 * (end - begin) + 4, arena)) {
    return false;
  }
  const double finite = fmax(1 - out->nan - infinite[0] - infinite[1], 0);
  double upto = infinite[0];
  if (infinite[0] > 0) {
    add_bound(out, -INFINITY, 0);
    add_bound(out, -INFINITY, upto);
  }
  for (size_t i = begin; i < end && all > 0; i++) {
    add_bound(out, cst_findings_real(table, fields[0], i), upto);
    upto += finite * fmax(cst_findings_real(table, fields[2], i), 0) / all;
    add_bound(out, cst_findings_real(table, fields[1], i), upto);
  }
  if (infinite[1] > 0) {
    add_bound(out, INFINITY, upto);
    add_bound(out, INFINITY, 1 - out->nan);
  }
  return true;
}

/* ---- what part is below a number ---- */

/* How many bounds are below the number, and at most it with `inclusive`. */
static size_t count_below(const cst__ranks *ranks, double number, bool inclusive) {
  size_t low = 0;
  size_t high = ranks->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const double bound = ranks->bounds[middle];
    if (bound < number || (inclusive && bound == number)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* The part up to a number between two bounds, the second of which is bounds[next]. */
static double between(const cst__ranks *ranks, size_t next, double number) {
  const double from = ranks->bounds[next - 1];
  const double to = ranks->bounds[next];
  const double upto = ranks->upto[next - 1];
  if (!isfinite(from) || !isfinite(to)) {
    return upto;
  }
  const double share = (number / 2 - from / 2) / (to / 2 - from / 2);
  return upto + (ranks->upto[next] - upto) * share;
}

double cst__ranks_upto(const cst__ranks *ranks, double number) {
  const size_t count = count_below(ranks, number, true);
  if (count == 0) {
    return 0;
  }
  return count == ranks->count || ranks->bounds[count - 1] == number
             ? ranks->upto[count - 1]
             : between(ranks, count, number);
}

double cst__ranks_below(const cst__ranks *ranks, double number) {
  const size_t count = count_below(ranks, number, false);
  if (count == ranks->count) {
    return count > 0 ? ranks->upto[count - 1] : 0;
  }
  if (ranks->bounds[count] == number) {
    return ranks->upto[count];
  }
  return count > 0 ? between(ranks, count, number) : 0;
}

double cst__ranks_distance(const cst__ranks *before, const cst__ranks *after, double *place) {
  const cst__ranks *const both[] = {before, after};
  double most = fabs(before->nan - after->nan);
  *place = (double)NAN;
  for (size_t side = 0; side < 2; side++) {
    for (size_t i = 0; i < both[side]->count; i++) {
      const double x = both[side]->bounds[i];
      const double upto = fabs(cst__ranks_upto(before, x) - cst__ranks_upto(after, x));
      const double below = fabs(cst__ranks_below(before, x) - cst__ranks_below(after, x));
      if (fmax(upto, below) > most) {
        most = fmax(upto, below);
        *place = x;
      }
    }
  }
  return fmin(most, 1);
}

/* ---- bins ---- */

static int compare_reals(const void *a, const void *b) {
  const double x = *(const double *)a;
  const double y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* The bounds of both, in order, each once. NULL: no memory. */
static double *join_bounds(const cst__ranks *before, const cst__ranks *after, cst__arena *arena,
                           size_t *count) {
  const size_t all = before->count + after->count;
  double *bounds = cst__arena_take_items(arena, (int64_t)all + 1, sizeof *bounds);
  *count = 0;
  if (bounds == NULL) {
    return NULL;
  }
  for (size_t i = 0; i < before->count; i++) {
    bounds[i] = before->bounds[i];
  }
  for (size_t i = 0; i < after->count; i++) {
    bounds[before->count + i] = after->bounds[i];
  }
  if (all > 1) {
    qsort(bounds, all, sizeof *bounds, compare_reals);
  }
  for (size_t i = 0; i < all; i++) {
    if (i == 0 || bounds[i] > bounds[*count - 1]) {
      bounds[(*count)++] = bounds[i];
    }
  }
  return bounds;
}

/* Shares that grow bin by bin. */
typedef struct cutter {
  const cst__ranks *before, *after;
  cst__shares *out;
  double upto[2]; /* the end of the last bin */
} cutter;

static bool cutter_init(cutter *c, const cst__ranks *before, const cst__ranks *after,
                        size_t most_bins, cst__arena *arena, cst__shares *out) {
  *c = (cutter){before, after, out, {0, 0}};
  out->count = 0;
  out->before = cst__arena_take_items(arena, (int64_t)most_bins, sizeof *out->before);
  out->after = cst__arena_take_items(arena, (int64_t)most_bins, sizeof *out->after);
  return out->before != NULL && out->after != NULL;
}

static void cut_bin(cutter *c, double before, double after) {
  const size_t i = c->out->count++;
  c->out->before[i] = fmax(before - c->upto[0], 0);
  c->out->after[i] = fmax(after - c->upto[1], 0);
  c->upto[0] = before;
  c->upto[1] = after;
}

static void cut_below(cutter *c, double number) {
  cut_bin(c, cst__ranks_below(c->before, number), cst__ranks_below(c->after, number));
}

static void cut_upto(cutter *c, double number) {
  cut_bin(c, cst__ranks_upto(c->before, number), cst__ranks_upto(c->after, number));
}

/* What is above the last bound, and NaN. */
static void cut_end(cutter *c) {
  cut_bin(c, 1 - c->before->nan, 1 - c->after->nan);
  cut_bin(c, 1, 1);
}

/* The part of the values that the side which tells less can tell apart. */
static double coarsest(const cst__ranks *before, const cst__ranks *after) {
  const size_t count = before->count == 0             ? after->count
                       : after->count == 0            ? before->count
                       : before->count < after->count ? before->count
                                                      : after->count;
  return count > 1 ? 1 / (double)(count - 1) : 1;
}

/* True if more than that lies at the number: then it has a bin of its own. Less may be there on one
 * side, and around it on the other one, by what they tell. */
static bool jumps(const cst__ranks *ranks, double number, double coarse) {
  return cst__ranks_upto(ranks, number) - cst__ranks_below(ranks, number) > 1.5 * coarse;
}

static bool begins(const cst__ranks *ranks, double number) {
  return ranks->count > 0 && ranks->bounds[0] == number;
}

static bool ends(const cst__ranks *ranks, double number) {
  return ranks->count > 0 && ranks->bounds[ranks->count - 1] == number;
}

bool cst__ranks_even_bins(const cst__ranks *before, const cst__ranks *after, cst__arena *arena,
                          cst__shares *out) {
  enum { BINS = 20 };
  size_t count;
  cutter c;
  const double *bounds = join_bounds(before, after, arena, &count);
  if (bounds == NULL || !cutter_init(&c, before, after, 2 * (BINS + 4) + 2, arena, out)) {
    return false;
  }
  const double all = 2 - before->nan - after->nan;
  const double coarse = coarsest(before, after);
  int part = 1;
  for (size_t i = 0; i < count; i++) {
    const double upto = cst__ranks_upto(before, bounds[i]) + cst__ranks_upto(after, bounds[i]);
    const bool is_cut = part <= BINS && upto >= all * (part - 1e-9) / BINS;
    if (begins(before, bounds[i]) || begins(after, bounds[i]) ||
        (is_cut && (jumps(before, bounds[i], coarse) || jumps(after, bounds[i], coarse)))) {
      cut_below(&c, bounds[i]);
    }
    if (is_cut || ends(before, bounds[i]) || ends(after, bounds[i])) {
      cut_upto(&c, bounds[i]);
    }
    while (part <= BINS && upto >= all * (part - 1e-9) / BINS) {
      part++;
    }
  }
  cut_end(&c);
  return true;
}

bool cst__ranks_deciles(const cst__ranks *before, const cst__ranks *after, cst__arena *arena,
                        cst__shares *out) {
  enum { BINS = 10 };
  cutter c;
  if (!cutter_init(&c, before, after, 2 * BINS + 2, arena, out)) {
    return false;
  }
  const double all = 1 - before->nan;
  const double coarse = coarsest(before, after);
  int part = 1;
  for (size_t i = 0; i < before->count && part <= BINS; i++) {
    if (before->upto[i] < all * (part - 1e-9) / BINS) {
      continue;
    }
    if (jumps(before, before->bounds[i], coarse)) {
      cut_below(&c, before->bounds[i]);
    }
    cut_upto(&c, before->bounds[i]);
    const double upto = cst__ranks_upto(before, before->bounds[i]);
    part++;
    while (part <= BINS && upto >= all * (part - 1e-9) / BINS) {
      part++;
    }
  }
  cut_end(&c);
  return true;
}

bool cst__ranks_all_bins(const cst__ranks *before, const cst__ranks *after, cst__arena *arena,
                         cst__shares *out) {
  size_t count;
  cutter c;
  const double *bounds = join_bounds(before, after, arena, &count);
  if (bounds == NULL || !cutter_init(&c, before, after, 2 * count + 2, arena, out)) {
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    cut_below(&c, bounds[i]);
    cut_upto(&c, bounds[i]);
  }
  cut_end(&c);
  return true;
}
