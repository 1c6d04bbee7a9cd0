/* Summaries of weighted numbers, and the levels of them. */
#include "sketch/quantile_summary/summary.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

void cst__summary_reset(cst__summary *s) {
  cst__delete(s->entries);
  *s = (cst__summary){NULL, 0};
}

static cst_status new_summary(const cst_allocator *allocator, size_t most, cst__summary *out,
                              cst_error *error) {
  size_t size;
  *out = (cst__summary){NULL, 0};
  if (cst__mul(most > 0 ? most : 1, sizeof *out->entries, &size)) {
    out->entries = cst__new(allocator, size);
  }
  return out->entries != NULL ? CST_OK : cst__fail_memory(error, most * sizeof *out->entries);
}

/* Gives back the room for more than `count` entries; after a failure it is empty. */
static cst_status shrink(const cst_allocator *allocator, cst__summary *s, size_t count,
                         cst_error *error) {
  s->count = count;
  void *smaller = cst__renew(allocator, s->entries, (count > 0 ? count : 1) * sizeof *s->entries);
  if (smaller == NULL) {
    cst__summary_reset(s);
    return cst__fail_memory(error, count * sizeof *s->entries);
  }
  s->entries = smaller;
  return CST_OK;
}

/* ---- of values ---- */

/* Equal values by their weights, so that their sum does not depend on the way of sorting. */
static int compare(const void *a, const void *b) {
  cst__weighted x;
  cst__weighted y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return x.value != y.value ? (x.value > y.value) - (x.value < y.value)
                            : (x.weight > y.weight) - (x.weight < y.weight);
}

/* The values are sorted if they were not. */
static cst_status of_values(const cst_allocator *allocator, cst__weighted *values, size_t count,
                            cst__summary *out, cst_error *error) {
  bool is_sorted = true;
  CST__TRY(new_summary(allocator, count, out, error));
  for (size_t i = 1; i < count && is_sorted; i++) {
    is_sorted = compare(&values[i - 1], &values[i]) <= 0;
  }
  if (!is_sorted) {
    qsort(values, count, sizeof *values, compare);
  }
  double upto = 0;
  for (size_t i = 0; i < count;) {
    double weight = values[i].weight;
    size_t end = i + 1;
    for (; end < count && values[end].value == values[i].value; end++) {
      weight += values[end].weight;
    }
    out->entries[out->count++] = (cst__summary_entry){values[i].value, weight, upto, upto + weight};
    upto += weight;
    i = end;
  }
  return shrink(allocator, out, out->count, error);
}

/* ---- merging ---- */

/* The entry of one side, which lies behind an entry of the other side up to which there are `below`
 * at least, and before one below which there are `before_next` at most. */
static cst__summary_entry between(const cst__summary_entry *e, double below, double before_next) {
  return (cst__summary_entry){e->value, e->weight, e->low + below, e->high + before_next};
}

static cst_status merge(const cst_allocator *allocator, const cst__summary *a,
                        const cst__summary *b, cst__summary *out, cst_error *error) {
  const cst__summary_entry *x = a->entries;
  const cst__summary_entry *y = b->entries;
  const cst__summary_entry *x_end = x + a->count;
  const cst__summary_entry *y_end = y + b->count;
  double x_below = 0; /* what there is at least up to the entry of `a` before x */
  double y_below = 0;
  CST__TRY(new_summary(allocator, a->count + b->count, out, error));
  cst__summary_entry *to = out->entries;
  while (x < x_end || y < y_end) {
    if (x < x_end && (y == y_end || x->value < y->value)) {
      *to++ = between(x, y_below, y < y_end ? y->high - y->weight : cst__summary_weight(b));
      x_below = x->low + x->weight;
      x++;
    } else if (y < y_end && (x == x_end || y->value < x->value)) {
      *to++ = between(y, x_below, x < x_end ? x->high - x->weight : cst__summary_weight(a));
      y_below = y->low + y->weight;
      y++;
    } else {
      *to++ =
          (cst__summary_entry){x->value, x->weight + y->weight, x->low + y->low, x->high + y->high};
      x_below = x->low + x->weight;
      y_below = y->low + y->weight;
      x++;
      y++;
    }
  }
  return shrink(allocator, out, (size_t)(to - out->entries), error);
}

static cst_status copy(const cst_allocator *allocator, const cst__summary *from, cst__summary *out,
                       cst_error *error) {
  CST__TRY(new_summary(allocator, from->count, out, error));
  memcpy(out->entries, from->entries, from->count * sizeof *out->entries);
  out->count = from->count;
  return CST_OK;
}

/* Adds what another one has, which is not empty. */
static cst_status merge_into(const cst_allocator *allocator, cst__summary *s,
                             const cst__summary *other, cst_error *error) {
  cst__summary merged;
  if (s->count == 0) {
    cst__summary_reset(s);
    return copy(allocator, other, s, error);
  }
  CST__TRY(merge(allocator, s, other, &merged, error));
  cst__delete(s->entries);
  *s = merged;
  return CST_OK;
}

/* ---- making shorter ---- */

/* Leaves out what lies between two entries whose ranks are no further from each other than the
 * larger share, 1 / `size` or eps, of the weight; but spread over all of them, so that about `size`
 * stay: each entry that is left out costs `size` of a credit, and one that stays earns as much as
 * there are entries. The first and the last one stay. After a failure it is empty. */
static cst_status make_shorter(const cst_allocator *allocator, cst__summary *s, size_t size,
                               double eps, cst_error *error) {
  const size_t count = s->count;
  cst__summary_entry *entries = s->entries;
  if (count <= size) {
    return CST_OK;
  }
  const double most = cst__summary_weight(s) * fmax(1.0 / (double)size, eps);
  int64_t used = 0; /* of the credit */
  size_t kept = 1;
  size_t last = 1;
  for (size_t at = 0; at + 1 < count;) {
    size_t next = at + 1;
    while (next < count && used < (int64_t)count &&
           (entries[next].high - entries[next].weight) - (entries[at].low + entries[at].weight) <=
               most) {
      used += (int64_t)size;
      next++;
    }
    at = next - 1 > at ? next - 1 : at + 1;
    entries[kept++] = entries[at];
    last = at;
    used -= (int64_t)count;
  }
  if (last + 1 < count) {
    entries[kept++] = entries[count - 1];
  }
  return shrink(allocator, s, kept, error);
}

/* ---- the sketch ---- */

/* The smallest block with which the levels for so many values stay within eps. */
static uint64_t block_for(double eps, uint64_t most) {
  uint64_t block = 2;
  if (eps <= DBL_EPSILON) {
    return most > 2 ? most : 2;
  }
  for (unsigned level = 1; level < 63; level++) {
    uint64_t holds;
    if (__builtin_mul_overflow(UINT64_C(1) << level, block, &holds) || holds >= most) {
      break;
    }
    block = (uint64_t)ceil(level / eps) + 1;
  }
  return block;
}

void cst__summary_sketch_init(cst__summary_sketch *s, double eps, uint64_t most,
                              const cst_allocator *allocator) {
  const uint64_t block = block_for(eps, most);
  *s = (cst__summary_sketch){.allocator = cst__allocator_of(allocator),
                             .eps = eps,
                             .most = most,
                             .block = (size_t)block,
                             .room = (size_t)(most / 2 < block ? most : 2 * block)};
}

void cst__summary_sketch_reset(cst__summary_sketch *s) {
  cst__delete(s->buffer);
  for (size_t i = 0; i < s->num_levels; i++) {
    cst__summary_reset(&s->levels[i]);
  }
  cst__summary_sketch_init(s, s->eps, s->most, &s->allocator);
}

static const cst__summary *level_of(const cst__summary_sketch *s, size_t level) {
  static const cst__summary none = {NULL, 0};
  return level < s->num_levels ? &s->levels[level] : &none;
}

/* Merges a summary that is not empty with the levels, which stay as they are: it comes to stand on
 * `*level`, and those up to there are in it. After a failure it is empty. */
static cst_status climb(const cst__summary_sketch *s, cst__summary *up, size_t *level,
                        cst_error *error) {
  for (size_t at = 0;; at++) {
    *level = at;
    if (level_of(s, at)->count == 0) {
      return CST_OK;
    }
    cst_status status = merge_into(&s->allocator, up, level_of(s, at), error);
    if (status != CST_OK) {
      cst__summary_reset(up);
      return status;
    }
    if (up->count <= s->block + 1 || at == CST__SUMMARY_LEVELS - 1) {
      return CST_OK;
    }
    CST__TRY(make_shorter(&s->allocator, up, s->block, s->eps, error));
  }
}

/* Takes a summary over. */
static cst_status take(cst__summary_sketch *s, cst__summary *up, cst_error *error) {
  size_t level;
  if (up->count == 0) {
    cst__summary_reset(up);
    return CST_OK;
  }
  CST__TRY(climb(s, up, &level, error));
  for (size_t i = 0; i <= level; i++) {
    cst__summary_reset(&s->levels[i]);
  }
  s->levels[level] = *up;
  s->num_levels = level < s->num_levels ? s->num_levels : level + 1;
  return CST_OK;
}

/* Takes one over that may be too long. */
static cst_status rise(cst__summary_sketch *s, cst__summary *up, cst_error *error) {
  CST__TRY(make_shorter(&s->allocator, up, s->block, s->eps, error));
  return take(s, up, error);
}

static cst_status flush(cst__summary_sketch *s, cst_error *error) {
  cst__summary made;
  CST__TRY(of_values(&s->allocator, s->buffer, s->num_buffered, &made, error));
  s->num_buffered = 0;
  return rise(s, &made, error);
}

/* Counts a weight. */
static cst_status weigh(cst__summary_sketch *s, double weight, cst_error *error) {
  s->weight += weight;
  return isfinite(s->weight) ? CST_OK
                             : cst__fail(error, CST_LIMIT, "scale the weights",
                                         "the sum of all weights is more than a double holds");
}

/* One whose weight is counted. */
static cst_status push(cst__summary_sketch *s, cst__weighted one, cst_error *error) {
  void *buffer = s->buffer;
  if (!cst__grow(&s->allocator, &buffer, &s->capacity, s->num_buffered + 1, sizeof one)) {
    return cst__fail_memory(error, s->num_buffered * sizeof one);
  }
  s->buffer = buffer;
  s->buffer[s->num_buffered++] = one;
  return s->num_buffered >= s->room ? flush(s, error) : CST_OK;
}

cst_status cst__summary_push(cst__summary_sketch *s, double value, double weight,
                             cst_error *error) {
  CST__TRY(weigh(s, weight, error));
  return push(s, (cst__weighted){value, weight}, error);
}

static cst_status rise_copy(cst__summary_sketch *s, const cst__summary *from, cst_error *error) {
  cst__summary made;
  if (from->count == 0) {
    return CST_OK;
  }
  CST__TRY(copy(&s->allocator, from, &made, error));
  return rise(s, &made, error);
}

cst_status cst__summary_push_summary(cst__summary_sketch *s, const cst__summary *from,
                                     cst_error *error) {
  CST__TRY(weigh(s, cst__summary_weight(from), error));
  return rise_copy(s, from, error);
}

cst_status cst__summary_sketch_merge(cst__summary_sketch *into, const cst__summary_sketch *from,
                                     cst_error *error) {
  CST__TRY(weigh(into, from->weight, error));
  for (size_t i = 0; i < from->num_buffered; i++) {
    CST__TRY(push(into, from->buffer[i], error));
  }
  for (size_t i = 0; i < from->num_levels; i++) {
    CST__TRY(rise_copy(into, &from->levels[i], error));
  }
  into->is_compact = into->is_compact || from->is_compact;
  return CST_OK;
}

/* ---- all of it ---- */

/* The buffer as a summary, on the level that it would come to stand on. */
static cst_status raise_buffer(const cst__summary_sketch *s, cst__summary *up, size_t *level,
                               cst_error *error) {
  const size_t count = s->num_buffered;
  cst__weighted *copy = cst__new(&s->allocator, count * sizeof *copy);
  if (copy == NULL) {
    return cst__fail_memory(error, count * sizeof *copy);
  }
  memcpy(copy, s->buffer, count * sizeof *copy);
  cst_status status = of_values(&s->allocator, copy, count, up, error);
  cst__delete(copy);
  if (status != CST_OK) {
    return status;
  }
  CST__TRY(make_shorter(&s->allocator, up, s->block, s->eps, error));
  return climb(s, up, level, error);
}

cst_status cst__summary_sketch_all(const cst__summary_sketch *s, cst__summary *out,
                                   cst_error *error) {
  size_t rest = 0; /* the first level that is not in it */
  *out = (cst__summary){NULL, 0};
  if (s->num_buffered > 0) {
    CST__TRY(raise_buffer(s, out, &rest, error));
    rest++;
  }
  for (; rest < s->num_levels; rest++) {
    cst_status status = s->levels[rest].count > 0
                            ? merge_into(&s->allocator, out, &s->levels[rest], error)
                            : CST_OK;
    if (status != CST_OK) {
      cst__summary_reset(out);
      return status;
    }
  }
  return CST_OK;
}

cst_status cst__summary_sketch_compact(cst__summary_sketch *s, cst_error *error) {
  cst__summary all;
  if (s->is_compact) {
    return CST_OK;
  }
  CST__TRY(cst__summary_sketch_all(s, &all, error));
  CST__TRY(make_shorter(&s->allocator, &all, s->block, s->eps, error));
  const double weight = s->weight;
  cst__summary_sketch_reset(s);
  s->weight = weight;
  s->is_compact = true;
  return take(s, &all, error); /* which cannot fail: there are no levels */
}

void cst__summary_cuts(const cst__summary *s, size_t parts, double *values, double *upto) {
  const cst__summary_entry *entries = s->entries;
  const double weight = cst__summary_weight(s);
  size_t at = 0;
  for (size_t i = 0; i <= parts; i++) {
    const double twice = 2 * ((double)i * weight / (double)parts);
    while (at + 1 < s->count && twice >= entries[at + 1].low + entries[at + 1].high) {
      at++;
    }
    const cst__summary_entry *e = &entries[at];
    bool is_next = at + 1 < s->count &&
                   twice >= e->low + e->weight + (entries[at + 1].high - entries[at + 1].weight);
    e += is_next;
    values[i] = e->value;
    upto[i] = e->high;
  }
}

/* ---- loaded ones ---- */

static bool weight_fits(double weight) { return isfinite(weight) && weight >= 0; }

bool cst__summary_fits(const cst__summary *s) {
  for (size_t i = 0; i < s->count; i++) {
    const cst__summary_entry *e = &s->entries[i];
    if (isnan(e->value) || (i > 0 && !(e[-1].value < e->value)) || !weight_fits(e->weight) ||
        !weight_fits(e->low) || !weight_fits(e->high)) {
      return false;
    }
  }
  return true;
}

bool cst__summary_sketch_settle(cst__summary_sketch *s) {
  double weight = 0;
  for (size_t i = 0; i < s->num_buffered; i++) {
    const cst__weighted *one = &s->buffer[i];
    if (isnan(one->value) || !isfinite(one->weight) || one->weight <= 0) {
      return false;
    }
    weight += one->weight;
  }
  for (size_t i = 0; i < s->num_levels; i++) {
    if (!cst__summary_fits(&s->levels[i])) {
      return false;
    }
    weight += cst__summary_weight(&s->levels[i]);
  }
  s->weight = weight;
  return isfinite(weight) && s->num_buffered < s->room;
}
