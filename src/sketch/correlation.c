/* Covariance and correlation. */
#include "sketch/correlation.h"

#include <math.h>

#include "base/arguments.h"
#include "sketch/exact_ratio.h"

static uint64_t count_sum(uint64_t a, uint64_t b) {
  uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* ---- all sums ---- */

enum { NUM_SUMS = 6 };

/* What is done with each; `degree`: it is of products of so many doubles. */
typedef struct part {
  size_t offset;
  int degree;
} part;

static const part parts[NUM_SUMS] = {
    {offsetof(cst__correlation, x[0]), 2},     {offsetof(cst__correlation, x[1]), 3},
    {offsetof(cst__correlation, y[0]), 2},     {offsetof(cst__correlation, y[1]), 3},
    {offsetof(cst__correlation, products), 3}, {offsetof(cst__correlation, weight), 1}};

static cst__exact_sum *sum_at(cst__correlation *c, int i) {
  return (cst__exact_sum *)(void *)((char *)c + parts[i].offset);
}

static const cst__exact_sum *sum_of(const cst__correlation *c, int i) {
  return (const cst__exact_sum *)(const void *)((const char *)c + parts[i].offset);
}

void cst__correlation_init(cst__correlation *correlation, const cst_allocator *allocator) {
  *correlation = (cst__correlation){.allocator = allocator};
}

void cst__correlation_reset(cst__correlation *correlation) {
  for (int i = 0; i < NUM_SUMS; i++) {
    cst__exact_sum_reset(sum_at(correlation, i));
  }
  cst__correlation_init(correlation, correlation->allocator);
}

size_t cst__correlation_memory(const cst__correlation *correlation) {
  size_t size = sizeof *correlation;
  for (int i = 0; i < NUM_SUMS; i++) {
    size += cst__exact_sum_memory(sum_of(correlation, i));
  }
  return size;
}

bool cst__correlation_merge(cst__correlation *into, const cst__correlation *from) {
  bool ok = true;
  for (int i = 0; ok && i < NUM_SUMS; i++) {
    ok = cst__exact_sum_merge(sum_at(into, i), into->allocator, sum_of(from, i));
  }
  into->count = count_sum(into->count, from->count);
  into->num_not_finite = count_sum(into->num_not_finite, from->num_not_finite);
  return ok;
}

/* ---- adding ---- */

static bool is_finite_at(const cst__value_block *values, size_t i) {
  return values->family != CST__FAMILY_FLOAT || isfinite(cst__values_floats(values)[i]);
}

static cst__exact_factor factor_at(const cst__value_block *values, size_t i) {
  switch (values->family) {
    case CST__FAMILY_INT:
      return cst__exact_of_int(cst__values_ints(values)[i]);
    case CST__FAMILY_UINT:
      return (cst__exact_factor){cst__values_uints(values)[i], 0, false};
    default:
      return cst__exact_of_double(cst__values_floats(values)[i]);
  }
}

static bool add_weighted(cst__correlation *c, cst__exact_factor x, cst__exact_factor y,
                         double weight) {
  const cst__exact_factor w = cst__exact_of_double(weight);
  const cst__exact_term terms[NUM_SUMS] = {
      cst__exact_product2(w, x),    cst__exact_product3(w, x, x),
      cst__exact_product2(w, y),    cst__exact_product3(w, y, y),
      cst__exact_product3(w, x, y), {{w.size, 0, 0}, w.exponent, false}};
  bool ok = true;
  for (int i = 0; ok && i < NUM_SUMS; i++) {
    ok = cst__exact_sum_add(sum_at(c, i), c->allocator, &terms[i]);
  }
  return ok;
}

static bool add_squares(cst__exact_sum sums[2], const cst_allocator *allocator,
                        const cst__value_block *values) {
  switch (values->family) {
    case CST__FAMILY_INT:
      return cst__exact_sum_ints(sums, allocator, cst__values_ints(values), values->count);
    case CST__FAMILY_UINT:
      return cst__exact_sum_uints(sums, allocator, cst__values_uints(values), values->count);
    default:
      return cst__exact_sum_doubles(sums, allocator, cst__values_floats(values), values->count);
  }
}

/* Finite numbers of weight 1. */
static bool add_plain(cst__correlation *c, const cst__value_block *x, const cst__value_block *y) {
  const cst__exact_term weight = {{x->count, 0, 0}, 0, false};
  bool ok = add_squares(c->x, c->allocator, x) && add_squares(c->y, c->allocator, y) &&
            cst__exact_sum_add(&c->weight, c->allocator, &weight);
  c->count = count_sum(c->count, x->count);
  if (ok && x->family == CST__FAMILY_FLOAT && y->family == CST__FAMILY_FLOAT) {
    return cst__exact_sum_products(&c->products, c->allocator, cst__values_floats(x),
                                   cst__values_floats(y), x->count);
  }
  for (size_t i = 0; ok && i < x->count; i++) {
    const cst__exact_term product = cst__exact_product2(factor_at(x, i), factor_at(y, i));
    ok = cst__exact_sum_add(&c->products, c->allocator, &product);
  }
  return ok;
}

bool cst__correlation_add(cst__correlation *correlation, const cst__value_block *x,
                          const cst__value_block *y) {
  cst__correlation *c = correlation;
  size_t finite = 0;
  for (size_t i = 0; i < x->count; i++) {
    finite += is_finite_at(x, i) && is_finite_at(y, i);
  }
  if (finite == x->count && x->weights == NULL) {
    return add_plain(c, x, y);
  }
  bool ok = true;
  for (size_t i = 0; ok && i < x->count; i++) {
    if (is_finite_at(x, i) && is_finite_at(y, i)) {
      double weight = x->weights != NULL ? x->weights[i] : 1;
      ok = add_weighted(c, factor_at(x, i), factor_at(y, i), weight);
    }
  }
  c->count = count_sum(c->count, finite);
  c->num_not_finite = count_sum(c->num_not_finite, x->count - finite);
  return ok;
}

/* ---- results ---- */

/* weight * sum(a * b) - sum(a) * sum(b). */
static void spread_of(const cst__exact_number *weight, const cst__exact_sum *products,
                      const cst__exact_sum *a, const cst__exact_sum *b, cst__exact_number *out) {
  cst__exact_number left;
  cst__exact_number right;
  cst__exact_number first;
  cst__exact_number second;
  cst__exact_from_sum(&left, products);
  cst__exact_multiply(&first, weight, &left);
  cst__exact_from_sum(&left, a);
  cst__exact_from_sum(&right, b);
  cst__exact_multiply(&second, &left, &right);
  cst__exact_subtract(out, &first, &second);
}

/* The square root of a rounded square is the number again: equal columns have 1, and no other
 * number. */
static double pearson(const cst__exact_number *together, const cst__exact_number *x,
                      const cst__exact_number *y) {
  int exponents[3];
  double product = cst__exact_scaled(together, &exponents[0]);
  double of_x = cst__exact_scaled(x, &exponents[1]);
  double of_y = cst__exact_scaled(y, &exponents[2]);
  if (x->count == 0 || y->count == 0) {
    return (double)NAN;
  }
  double size =
      ldexp(product / sqrt(of_x * of_y), exponents[0] - (exponents[1] + exponents[2]) / 2);
  return size > 1 ? 1 : size < -1 ? -1 : size;
}

static double mean_of(const cst__exact_sum *sum, const cst__exact_number *weight) {
  cst__exact_number number;
  cst__exact_from_sum(&number, sum);
  return cst__exact_divide(&number, weight);
}

static int64_t clipped(uint64_t count) { return count < INT64_MAX ? (int64_t)count : INT64_MAX; }

void cst__correlation_tell(const cst__correlation *correlation, cst_correlation *out) {
  const cst__correlation *c = correlation;
  cst__exact_number weight;
  cst__exact_number of_x;
  cst__exact_number of_y;
  cst__exact_number together;
  cst__exact_number by;
  cst__exact_number one;
  cst__exact_number less_one;
  cst__exact_from_sum(&weight, &c->weight);
  spread_of(&weight, &c->x[1], &c->x[0], &c->x[0], &of_x);
  spread_of(&weight, &c->y[1], &c->y[0], &c->y[0], &of_y);
  spread_of(&weight, &c->products, &c->x[0], &c->y[0], &together);
  cst__exact_multiply(&by, &weight, &weight);
  *out = (cst_correlation){.num_pairs = clipped(c->count),
                           .num_not_finite = clipped(c->num_not_finite),
                           .weight = cst__exact_round(&weight),
                           .mean_x = mean_of(&c->x[0], &weight),
                           .mean_y = mean_of(&c->y[0], &weight),
                           .variance_x = cst__exact_divide(&of_x, &by),
                           .variance_y = cst__exact_divide(&of_y, &by),
                           .covariance = cst__exact_divide(&together, &by),
                           .sample_covariance = (double)NAN,
                           .correlation = pearson(&together, &of_x, &of_y)};
  cst__exact_from_count(&one, 1);
  cst__exact_subtract(&less_one, &weight, &one);
  if (!less_one.negative) {
    cst__exact_multiply(&by, &weight, &less_one);
    out->sample_covariance = cst__exact_divide(&together, &by);
  }
}

/* ---- the state ---- */

/* What holds of all numbers: neither weights nor variances are negative, and the covariance is no
 * larger than the variances allow. */
static bool sums_fit(const cst__correlation *c) {
  cst_correlation told;
  cst__correlation_tell(c, &told);
  bool is_empty = c->count == 0;
  for (int i = 0; i < NUM_SUMS && is_empty; i++) {
    is_empty = sum_of(c, i)->count == 0;
  }
  return (c->count > 0 || is_empty) && cst__exact_sum_sign(&c->weight) >= 0 &&
         !(told.variance_x < 0) && !(told.variance_y < 0);
}

void cst__correlation_archive(cst__correlation *correlation, cst__archive *a) {
  cst__archive_u64(a, &correlation->count);
  cst__archive_u64(a, &correlation->num_not_finite);
  for (int i = 0; i < NUM_SUMS; i++) {
    cst__exact_sum_archive(sum_at(correlation, i), correlation->allocator, parts[i].degree, a);
  }
  cst__archive_check(a, a->bad || !cst__archive_loads(a) || sums_fit(correlation));
}

/* ---- the kind ---- */

static cst_status create(const void *options, const cst_allocator *allocator, void **state,
                         cst_error *error) {
  (void)options;
  cst__correlation *made = cst__new(allocator, sizeof *made);
  *state = made;
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  cst__correlation_init(made, allocator);
  return CST_OK;
}

static void free_correlation(void *state) {
  if (state != NULL) {
    cst__correlation_reset(state);
    cst__delete(state);
  }
}

static cst_status done(bool ok, cst_error *error) {
  return ok ? CST_OK : cst__fail_memory(error, sizeof(cst__exact_number));
}

static cst_status add_pairs(void *state, const cst__value_block *x, const cst__value_block *y,
                            cst_error *error) {
  return done(cst__correlation_add(state, x, y), error);
}

static cst_status merge(void *into, const void *from, cst_error *error) {
  return done(cst__correlation_merge(into, from), error);
}

static void archive(void *state, cst__archive *a) { cst__correlation_archive(state, a); }

static size_t memory(const void *state) { return cst__correlation_memory(state); }

const cst__sketch_kind cst__correlation_kind = {
    .name = "correlation",
    .version = 1,
    .summary = "covariance and correlation of the numbers of two columns, exactly",
    .families = 1u << CST__FAMILY_INT | 1u << CST__FAMILY_UINT | 1u << CST__FAMILY_FLOAT,
    .create = create,
    .free = free_correlation,
    .add_pairs = add_pairs,
    .merge = merge,
    .archive = archive,
    .memory = memory,
};

cst_status cst_sketch_correlation(const cst_sketch *sketch, cst_correlation *out,
                                  cst_error *error) {
  const void *state;
  if (out == NULL) {
    return cst__missing("out", error);
  }
  *out = (cst_correlation){0};
  CST__TRY(cst__sketch_state(sketch, &cst__correlation_kind, &state, error));
  cst__correlation_tell(state, out);
  return CST_OK;
}
