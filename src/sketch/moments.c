/* Moments of a column of numbers. */
#include "sketch/moments.h"

#include <math.h>

#include "base/arguments.h"
#include "sketch/exact_ratio.h"

enum { NUM_WEIGHTED = 3 };

static uint64_t count_sum(uint64_t a, uint64_t b) {
  uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t num_finite(const cst__moments *m) {
  return m->count - m->num_nan - m->num_plus_infinity - m->num_minus_infinity;
}

void cst__moments_init(cst__moments *moments, const cst_allocator *allocator) {
  *moments = (cst__moments){.allocator = allocator};
}

void cst__moments_reset(cst__moments *moments) {
  for (int i = 0; moments->weighted != NULL && i < NUM_WEIGHTED; i++) {
    cst__exact_sum_reset(&moments->weighted[i]);
  }
  cst__delete(moments->weighted);
  cst__exact_sum_reset(&moments->sums[0]);
  cst__exact_sum_reset(&moments->sums[1]);
  cst__moments_init(moments, moments->allocator);
}

size_t cst__moments_memory(const cst__moments *moments) {
  size_t size = sizeof *moments + cst__exact_sum_memory(&moments->sums[0]) +
                cst__exact_sum_memory(&moments->sums[1]);
  for (int i = 0; moments->weighted != NULL && i < NUM_WEIGHTED; i++) {
    size += sizeof *moments->weighted + cst__exact_sum_memory(&moments->weighted[i]);
  }
  return size;
}

/* ---- weighted sums ---- */

/* Adds values of weight 1, of which there are sums. */
static bool add_plain(cst__moments *m, uint64_t count, const cst__exact_sum sums[2]) {
  const cst__exact_term weight = {{count, 0, 0}, 0, false};
  return cst__exact_sum_add(&m->weighted[0], m->allocator, &weight) &&
         cst__exact_sum_merge(&m->weighted[1], m->allocator, &sums[0]) &&
         cst__exact_sum_merge(&m->weighted[2], m->allocator, &sums[1]);
}

/* From now on there are weights; until now all were 1. */
static bool begin_weights(cst__moments *m) {
  if (m->weighted != NULL) {
    return true;
  }
  m->weighted = cst__new_zero(m->allocator, NUM_WEIGHTED * sizeof *m->weighted);
  return m->weighted != NULL && add_plain(m, num_finite(m), m->sums);
}

/* Integers that are no doubles. */
static bool add_weighted_ints(cst__moments *m, const cst__value_block *values) {
  bool ok = true;
  for (size_t i = 0; ok && i < values->count; i++) {
    const cst__exact_factor by = cst__exact_of_double(values->weights[i]);
    const cst__exact_factor value =
        values->family == CST__FAMILY_INT
            ? cst__exact_of_int(cst__values_ints(values)[i])
            : (cst__exact_factor){cst__values_uints(values)[i], 0, false};
    const cst__exact_term terms[NUM_WEIGHTED] = {{{by.size, 0, 0}, by.exponent, false},
                                                 cst__exact_product2(by, value),
                                                 cst__exact_product3(by, value, value)};
    for (int k = 0; ok && k < NUM_WEIGHTED; k++) {
      ok = cst__exact_sum_add(&m->weighted[k], m->allocator, &terms[k]);
    }
  }
  return ok;
}

/* True if all integers are doubles as well, which they come to be in `to`. */
static bool read_doubles(const cst__value_block *values, double *to) {
  const uint64_t most = UINT64_C(1) << 53;
  uint64_t far = 0;
  for (size_t i = 0; i < values->count; i++) {
    if (values->family == CST__FAMILY_INT) {
      int64_t value = cst__values_ints(values)[i];
      far |= (uint64_t)value + most > 2 * most;
      to[i] = (double)value;
    } else {
      uint64_t value = cst__values_uints(values)[i];
      far |= value > most;
      to[i] = (double)value;
    }
  }
  return far == 0;
}

static bool add_weighted(cst__moments *m, const cst__value_block *values) {
  double converted[CST__VALUES_MOST];
  const double *items = converted;
  if (values->family == CST__FAMILY_FLOAT) {
    items = cst__values_floats(values);
  } else if (!read_doubles(values, converted)) {
    return add_weighted_ints(m, values);
  }
  return cst__exact_sum_weighted(m->weighted, m->allocator, items, values->weights, values->count);
}

/* ---- extremes and counts of a block, which has a value at least ---- */

typedef struct seen {
  cst__moments_number least, largest;
  uint64_t zeros, negative;
} seen;

/* Values may stand in several lanes, whose extremes do not wait for each other. */
enum { LANES = 4 };

static double lesser(double a, double b) { return a < b ? a : b; }
static double larger(double a, double b) { return a > b ? a : b; }

static seen see_doubles(const double *values, size_t count) {
  double least[LANES];
  double largest[LANES];
  uint64_t zeros = 0;
  uint64_t negative = 0;
  size_t i = 0;
  for (int k = 0; k < LANES; k++) {
    least[k] = largest[k] = values[0];
  }
  for (; i + LANES <= count; i += LANES) {
    for (int k = 0; k < LANES; k++) {
      double value = values[i + (size_t)k];
      least[k] = lesser(value, least[k]);
      largest[k] = larger(value, largest[k]);
      negative += value < 0;
      zeros += !(value < 0) & !(value > 0);
    }
  }
  for (; i < count; i++) {
    least[0] = lesser(values[i], least[0]);
    largest[0] = larger(values[i], largest[0]);
    negative += values[i] < 0;
    zeros += !(values[i] < 0) & !(values[i] > 0);
  }
  for (int k = 1; k < LANES; k++) {
    least[0] = lesser(least[k], least[0]);
    largest[0] = larger(largest[k], largest[0]);
  }
  return (seen){{.as_double = least[0] + 0.0}, {.as_double = largest[0] + 0.0}, zeros, negative};
}

static seen see_ints(const int64_t *values, size_t count) {
  seen s = {{.as_int = values[0]}, {.as_int = values[0]}, 0, 0};
  for (size_t i = 0; i < count; i++) {
    s.least.as_int = values[i] < s.least.as_int ? values[i] : s.least.as_int;
    s.largest.as_int = values[i] > s.largest.as_int ? values[i] : s.largest.as_int;
    s.zeros += values[i] == 0;
    s.negative += values[i] < 0;
  }
  return s;
}

static seen see_uints(const uint64_t *values, size_t count) {
  seen s = {{.as_uint = values[0]}, {.as_uint = values[0]}, 0, 0};
  for (size_t i = 0; i < count; i++) {
    s.least.as_uint = values[i] < s.least.as_uint ? values[i] : s.least.as_uint;
    s.largest.as_uint = values[i] > s.largest.as_uint ? values[i] : s.largest.as_uint;
    s.zeros += values[i] == 0;
  }
  return s;
}

static bool is_below(cst__family family, cst__moments_number a, cst__moments_number b) {
  return family == CST__FAMILY_INT    ? a.as_int < b.as_int
         : family == CST__FAMILY_UINT ? a.as_uint < b.as_uint
                                      : a.as_double < b.as_double;
}

/* Adds what was seen; the count of the values is added afterwards. */
static void note(cst__moments *m, const seen *s) {
  bool is_first = num_finite(m) == 0;
  if (is_first || is_below(m->family, s->least, m->least)) {
    m->least = s->least;
  }
  if (is_first || is_below(m->family, m->largest, s->largest)) {
    m->largest = s->largest;
  }
  m->num_zeros = count_sum(m->num_zeros, s->zeros);
  m->num_negative = count_sum(m->num_negative, s->negative);
}

/* ---- adding ---- */

static bool add_sums(cst__exact_sum sums[2], const cst_allocator *allocator,
                     const cst__value_block *values) {
  switch (values->family) {
    case CST__FAMILY_INT:
      return cst__exact_sum_ints(sums, allocator, values->items, values->count);
    case CST__FAMILY_UINT:
      return cst__exact_sum_uints(sums, allocator, values->items, values->count);
    default:
      return cst__exact_sum_doubles(sums, allocator, values->items, values->count);
  }
}

/* Values of weight 1, where others have weights. */
static bool add_among_weighted(cst__moments *m, const cst__value_block *values) {
  cst__exact_sum sums[2] = {{NULL, 0, 0}, {NULL, 0, 0}};
  bool ok = add_sums(sums, m->allocator, values) && add_plain(m, values->count, sums) &&
            cst__exact_sum_merge(&m->sums[0], m->allocator, &sums[0]) &&
            cst__exact_sum_merge(&m->sums[1], m->allocator, &sums[1]);
  cst__exact_sum_reset(&sums[0]);
  cst__exact_sum_reset(&sums[1]);
  return ok;
}

/* Finite values, one at least. */
static bool add_finite(cst__moments *m, const cst__value_block *values) {
  seen s = values->family == CST__FAMILY_INT    ? see_ints(values->items, values->count)
           : values->family == CST__FAMILY_UINT ? see_uints(values->items, values->count)
                                                : see_doubles(values->items, values->count);
  bool ok = values->weights == NULL || begin_weights(m);
  note(m, &s);
  m->count = count_sum(m->count, values->count);
  if (values->weights != NULL) {
    return ok && add_sums(m->sums, m->allocator, values) && add_weighted(m, values);
  }
  return m->weighted != NULL ? add_among_weighted(m, values)
                             : add_sums(m->sums, m->allocator, values);
}

static bool all_finite(const double *values, size_t count) {
  enum { INFINITE = 0x7ff00000 };
  int32_t top = 0;
  for (size_t i = 0; i < count; i++) {
    uint64_t bits;
    memcpy(&bits, &values[i], sizeof bits);
    int32_t high = (int32_t)(bits >> 32) & INT32_MAX;
    top = high > top ? high : top;
  }
  return top < INFINITE;
}

/* Counts what is not finite, and adds the rest. */
static bool add_some_finite(cst__moments *m, const cst__value_block *values) {
  double finite[CST__VALUES_MOST];
  double weights[CST__VALUES_MOST];
  const double *items = values->items;
  cst__value_block rest = {values->family, 0, finite, values->weights != NULL ? weights : NULL};
  uint64_t num_nan = 0;
  uint64_t num_plus = 0;
  for (size_t i = 0; i < values->count; i++) {
    if (isfinite(items[i])) {
      weights[rest.count] = values->weights != NULL ? values->weights[i] : 1;
      finite[rest.count++] = items[i];
    } else {
      num_nan += isnan(items[i]) != 0;
      num_plus += items[i] > 0;
    }
  }
  if ((values->weights != NULL && !begin_weights(m)) || (rest.count > 0 && !add_finite(m, &rest))) {
    return false;
  }
  uint64_t others = values->count - rest.count;
  m->count = count_sum(m->count, others);
  m->num_nan = count_sum(m->num_nan, num_nan);
  m->num_plus_infinity = count_sum(m->num_plus_infinity, num_plus);
  m->num_minus_infinity = count_sum(m->num_minus_infinity, others - num_nan - num_plus);
  return true;
}

bool cst__moments_add(cst__moments *moments, const cst__value_block *values) {
  if (values->count == 0) {
    return true;
  }
  moments->family = values->family;
  return values->family == CST__FAMILY_FLOAT && !all_finite(values->items, values->count)
             ? add_some_finite(moments, values)
             : add_finite(moments, values);
}

bool cst__moments_merge(cst__moments *into, const cst__moments *from) {
  if (from->family == CST__FAMILY_NONE) {
    return true;
  }
  into->family = from->family;
  if (from->weighted != NULL && !begin_weights(into)) {
    return false;
  }
  bool ok = into->weighted == NULL || from->weighted != NULL ||
            add_plain(into, num_finite(from), from->sums);
  for (int i = 0; ok && from->weighted != NULL && i < NUM_WEIGHTED; i++) {
    ok = cst__exact_sum_merge(&into->weighted[i], into->allocator, &from->weighted[i]);
  }
  for (int i = 0; ok && i < 2; i++) {
    ok = cst__exact_sum_merge(&into->sums[i], into->allocator, &from->sums[i]);
  }
  if (num_finite(from) > 0) {
    const seen s = {from->least, from->largest, from->num_zeros, from->num_negative};
    note(into, &s);
  }
  into->count = count_sum(into->count, from->count);
  into->num_nan = count_sum(into->num_nan, from->num_nan);
  into->num_plus_infinity = count_sum(into->num_plus_infinity, from->num_plus_infinity);
  into->num_minus_infinity = count_sum(into->num_minus_infinity, from->num_minus_infinity);
  return ok;
}

/* ---- results ---- */

static void weigh(const cst__moments *m, bool by_weights, cst__exact_number *weight) {
  if (by_weights && m->weighted != NULL) {
    cst__exact_from_sum(weight, &m->weighted[0]);
  } else {
    cst__exact_from_count(weight, num_finite(m));
  }
}

/* weight * sum(x^2) - sum(x)^2, which is not negative. */
static void spread_of(const cst__moments *m, bool by_weights, const cst__exact_number *weight,
                      cst__exact_number *out) {
  const cst__exact_sum *sums = by_weights && m->weighted != NULL ? m->weighted + 1 : m->sums;
  cst__exact_number plain;
  cst__exact_number first;
  cst__exact_number second;
  cst__exact_from_sum(&plain, &sums[0]);
  cst__exact_multiply(&second, &plain, &plain);
  cst__exact_from_sum(&plain, &sums[1]);
  cst__exact_multiply(&first, weight, &plain);
  cst__exact_subtract(out, &first, &second);
}

void cst__moments_tell(const cst__moments *moments, bool by_weights, cst__moments_result *out) {
  const cst__exact_sum *sums =
      by_weights && moments->weighted != NULL ? moments->weighted + 1 : moments->sums;
  cst__exact_number weight;
  cst__exact_number sum;
  cst__exact_number spread;
  cst__exact_number by;
  cst__exact_number one;
  cst__exact_number less_one;
  weigh(moments, by_weights, &weight);
  cst__exact_from_sum(&sum, &sums[0]);
  spread_of(moments, by_weights, &weight, &spread);
  out->weight = cst__exact_round(&weight);
  out->sum = cst__exact_round(&sum);
  out->mean = cst__exact_divide(&sum, &weight);
  cst__exact_multiply(&by, &weight, &weight);
  out->variance = cst__exact_divide(&spread, &by);
  cst__exact_from_count(&one, 1);
  cst__exact_subtract(&less_one, &weight, &one);
  cst__exact_multiply(&by, &weight, &less_one);
  out->sample_variance = less_one.negative ? (double)NAN : cst__exact_divide(&spread, &by);
}

bool cst__moments_extremes(const cst__moments *moments, cst__moments_number *least,
                           cst__moments_number *largest) {
  const cst__moments *m = moments;
  const cst__moments_number plus = {.as_double = (double)INFINITY};
  const cst__moments_number minus = {.as_double = -(double)INFINITY};
  bool any = num_finite(m) > 0;
  *least = m->num_minus_infinity > 0 ? minus : any ? m->least : plus;
  *largest = m->num_plus_infinity > 0 ? plus : any ? m->largest : minus;
  return m->count > m->num_nan;
}

/* ---- the state ---- */

static bool is_number(cst__family family, cst__moments_number n) {
  return family != CST__FAMILY_FLOAT ||
         (isfinite(n.as_double) && (n.as_uint != UINT64_C(1) << 63)); /* -0 is 0 */
}

static bool is_negative(cst__family family, cst__moments_number n) {
  return family == CST__FAMILY_FLOAT ? n.as_double < 0 : family == CST__FAMILY_INT && n.as_int < 0;
}

/* What holds of the counts and extremes of all that adding makes. */
static bool counts_fit(const cst__moments *m) {
  uint64_t others = count_sum(m->num_nan, count_sum(m->num_plus_infinity, m->num_minus_infinity));
  if (others > m->count || (m->family == CST__FAMILY_NONE) != (m->count == 0) ||
      m->family == CST__FAMILY_BYTES || (others > 0 && m->family != CST__FAMILY_FLOAT)) {
    return false;
  }
  if (num_finite(m) == 0) {
    return m->least.as_uint == 0 && m->largest.as_uint == 0 && m->num_zeros == 0 &&
           m->num_negative == 0 && m->sums[0].count == 0 && m->sums[1].count == 0;
  }
  return count_sum(m->num_zeros, m->num_negative) <= num_finite(m) &&
         is_number(m->family, m->least) && is_number(m->family, m->largest) &&
         !is_below(m->family, m->largest, m->least) &&
         is_negative(m->family, m->least) == (m->num_negative > 0) &&
         (m->num_negative > 0 || cst__exact_sum_sign(&m->sums[0]) >= 0);
}

/* No numbers have a negative variance. */
static bool spread_fits(const cst__moments *m, bool by_weights) {
  cst__exact_number weight;
  cst__exact_number spread;
  weigh(m, by_weights, &weight);
  spread_of(m, by_weights, &weight, &spread);
  return !weight.negative && !spread.negative;
}

void cst__moments_archive(cst__moments *moments, cst__archive *a) {
  cst__moments *m = moments;
  int family = (int)m->family;
  bool has_weights = m->weighted != NULL;
  cst__archive_enum(a, &family, CST__FAMILY_BYTES);
  m->family = (cst__family)family;
  cst__archive_u64(a, &m->count);
  cst__archive_u64(a, &m->num_zeros);
  cst__archive_u64(a, &m->num_negative);
  cst__archive_u64(a, &m->num_nan);
  cst__archive_u64(a, &m->num_plus_infinity);
  cst__archive_u64(a, &m->num_minus_infinity);
  cst__archive_double(a, &m->least.as_double); /* eight bytes of whatever family */
  cst__archive_double(a, &m->largest.as_double);
  cst__exact_sum_archive(&m->sums[0], m->allocator, 1, a);
  cst__exact_sum_archive(&m->sums[1], m->allocator, 2, a);
  cst__archive_bool(a, &has_weights);
  if (has_weights && m->weighted == NULL) {
    m->weighted = cst__new_zero(m->allocator, NUM_WEIGHTED * sizeof *m->weighted);
    if (m->weighted == NULL) {
      cst__archive_fail_memory(a);
      return;
    }
  }
  for (int i = 0; has_weights && i < NUM_WEIGHTED; i++) {
    cst__exact_sum_archive(&m->weighted[i], m->allocator, i + 1, a);
  }
  if (cst__archive_loads(a) && !a->bad) {
    cst__archive_check(a, counts_fit(m));
    cst__archive_check(a, !a->bad && spread_fits(m, false) && spread_fits(m, true));
  }
}

/* ---- the kind ---- */

static cst_status create(const void *options, const cst_allocator *allocator, void **state,
                         cst_error *error) {
  (void)options;
  cst__moments *made = cst__new(allocator, sizeof *made);
  *state = made;
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  cst__moments_init(made, allocator);
  return CST_OK;
}

static void free_moments(void *state) {
  if (state != NULL) {
    cst__moments_reset(state);
    cst__delete(state);
  }
}

static cst_status add(void *state, const cst__value_block *values, cst_error *error) {
  return cst__moments_add(state, values) ? CST_OK
                                         : cst__fail_memory(error, sizeof(cst__exact_number));
}

static cst_status merge(void *into, const void *from, cst_error *error) {
  return cst__moments_merge(into, from) ? CST_OK
                                        : cst__fail_memory(error, sizeof(cst__exact_number));
}

static void archive(void *state, cst__archive *a) { cst__moments_archive(state, a); }

static size_t memory(const void *state) { return cst__moments_memory(state); }

const cst__sketch_kind cst__moments_kind = {
    .name = "moments",
    .version = 1,
    .summary = "count, sum, mean, deviation and extremes of numbers, exactly",
    .families = 1u << CST__FAMILY_INT | 1u << CST__FAMILY_UINT | 1u << CST__FAMILY_FLOAT,
    .create = create,
    .free = free_moments,
    .add = add,
    .merge = merge,
    .archive = archive,
    .memory = memory,
};

/* ---- for callers ---- */

static int64_t clipped(uint64_t count) { return count < INT64_MAX ? (int64_t)count : INT64_MAX; }

static cst_sketch_number number_of(cst__family family, cst__moments_number n) {
  return family == CST__FAMILY_INT    ? (cst_sketch_number){'l', {.int64 = n.as_int}}
         : family == CST__FAMILY_UINT ? (cst_sketch_number){'L', {.uint64 = n.as_uint}}
                                      : (cst_sketch_number){'g', {.float64 = n.as_double}};
}

cst_status cst_sketch_moments(const cst_sketch *sketch, bool weighted, cst_moments *out,
                              cst_error *error) {
  const void *state;
  if (out == NULL) {
    return cst__missing("out", error);
  }
  *out = (cst_moments){0};
  CST__TRY(cst__sketch_state(sketch, &cst__moments_kind, &state, error));
  const cst__moments *m = state;
  cst__moments_result result;
  cst__moments_number least;
  cst__moments_number largest;
  cst__moments_tell(m, weighted, &result);
  if (cst__moments_extremes(m, &least, &largest)) {
    out->min = number_of(m->family, least);
    out->max = number_of(m->family, largest);
  }
  out->num_values = clipped(m->count);
  out->num_zeros = clipped(m->num_zeros);
  out->num_negative = clipped(m->num_negative);
  out->num_nan = clipped(m->num_nan);
  out->num_plus_infinity = clipped(m->num_plus_infinity);
  out->num_minus_infinity = clipped(m->num_minus_infinity);
  out->weight = result.weight;
  out->sum = result.sum;
  out->mean = result.mean;
  out->variance = result.variance;
  out->sample_variance = result.sample_variance;
  return CST_OK;
}
