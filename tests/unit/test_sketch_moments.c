/* Moments: exact whatever the order and the merges, both ways through bytes, without memory. */
#include "sketch/moments.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "harness.h"
#include "sketch/exact_ratio.h"

static uint64_t random_bits(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state ^ *state >> 29;
}

static void add_doubles(cst__moments *m, const double *values, const double *weights,
                        size_t count) {
  for (size_t i = 0; i < count; i += CST__VALUES_MOST) {
    size_t part = count - i < CST__VALUES_MOST ? count - i : CST__VALUES_MOST;
    const cst__value_block block = {CST__FAMILY_FLOAT, part, values + i,
                                    weights != NULL ? weights + i : NULL};
    CHECK(cst__moments_add(m, &block));
  }
}

static cst__moments_result tell_doubles(const double *values, const double *weights, size_t count) {
  cst__moments m;
  cst__moments_result result;
  cst__moments_init(&m, NULL);
  add_doubles(&m, values, weights, count);
  cst__moments_tell(&m, true, &result);
  cst__moments_reset(&m);
  return result;
}

static cst__text saved(const cst__moments *m) {
  cst__text out = {0};
  cst__archive a = cst__archive_to(&out);
  cst__moments copy = *m; /* saving only reads it */
  cst__moments_archive(&copy, &a);
  return out;
}

static void check_same(const cst__moments *a, const cst__moments *b) {
  cst__text x = saved(a);
  cst__text y = saved(b);
  CHECK_EQ(x.size, y.size);
  CHECK_MEM(x.data, y.data, x.size);
  cst__text_free(&x);
  cst__text_free(&y);
}

/* ---- results ---- */

TEST(nothing_cancels) {
  static const double far[] = {1e16, 1, -1e16, 1e300, 1, -1e300, 5e-324};
  cst__moments_result r = tell_doubles(far, NULL, 7);
  CHECK_DOUBLE(r.sum, 2);
  CHECK_DOUBLE(r.mean, 2.0 / 7);
  static const double near[] = {1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4};
  r = tell_doubles(near, NULL, 4);
  CHECK_DOUBLE(r.mean, 1e9 + 2.5);
  CHECK_DOUBLE(r.variance, 1.25);
  CHECK_DOUBLE(r.sample_variance, 5.0 / 3);
  static const double same[] = {0.1, 0.1, 0.1};
  r = tell_doubles(same, NULL, 3);
  CHECK_DOUBLE(r.mean, 0.1);
  CHECK_DOUBLE(r.variance, 0);
  CHECK_DOUBLE(r.weight, 3);
}

TEST(huge_and_tiny) {
  static const double huge[] = {DBL_MAX, DBL_MAX, DBL_MAX};
  cst__moments_result r = tell_doubles(huge, NULL, 3);
  CHECK_DOUBLE(r.sum, (double)INFINITY);
  CHECK_DOUBLE(r.mean, DBL_MAX);
  CHECK_DOUBLE(r.variance, 0);
  static const double tiny[] = {0x1p-1074, 0x1p-1074, 0, 0};
  r = tell_doubles(tiny, NULL, 4);
  CHECK_DOUBLE(r.sum, 0x1p-1073);
  CHECK_DOUBLE(r.mean, 0); /* a tie, to even */
  static const double three[] = {0x1p-1074, 0x1p-1074, 0x1p-1074, 0};
  r = tell_doubles(three, NULL, 4);
  CHECK_DOUBLE(r.mean, 0x1p-1074);
}

TEST(weights) {
  static const double values[] = {1, 2, 4, 100};
  static const double weights[] = {0.5, 1.5, 1, 0};
  cst__moments_result r = tell_doubles(values, weights, 4);
  CHECK_DOUBLE(r.weight, 3);
  CHECK_DOUBLE(r.sum, 7.5);
  CHECK_DOUBLE(r.mean, 2.5);
  CHECK_DOUBLE(r.variance, 22.5 / 3 - 6.25);
  CHECK_DOUBLE(r.sample_variance, (22.5 - 3 * 6.25) / 2);
  static const double none[] = {0, 0, 0, 0};
  r = tell_doubles(values, none, 4);
  CHECK_DOUBLE(r.weight, 0);
  CHECK_DOUBLE(r.mean, (double)NAN);
  CHECK_DOUBLE(r.variance, (double)NAN);
  CHECK_DOUBLE(r.sample_variance, (double)NAN);
  static const double most[] = {1e300, 1e300, 5e-324, 1e-300};
  r = tell_doubles(values, most, 4);
  CHECK_DOUBLE(r.mean, 1.5);
  CHECK_DOUBLE(r.variance, 0.25);
}

TEST(empty_and_one) {
  cst__moments_result r = tell_doubles(NULL, NULL, 0);
  CHECK_DOUBLE(r.sum, 0);
  CHECK_DOUBLE(r.mean, (double)NAN);
  CHECK_DOUBLE(r.variance, (double)NAN);
  static const double one[] = {-2.5};
  r = tell_doubles(one, NULL, 1);
  CHECK_DOUBLE(r.mean, -2.5);
  CHECK_DOUBLE(r.variance, 0);
  CHECK_DOUBLE(r.sample_variance, (double)NAN);
}

TEST(what_is_not_finite) {
  static const double values[] = {(double)NAN,       -0.0, (double)INFINITY, 3,
                                  -(double)INFINITY, -1,   (double)NAN};
  cst__moments m;
  cst__moments_result r;
  cst__moments_number least;
  cst__moments_number largest;
  cst__moments_init(&m, NULL);
  CHECK(!cst__moments_extremes(&m, &least, &largest));
  add_doubles(&m, values, NULL, 2);
  CHECK(cst__moments_extremes(&m, &least, &largest));
  CHECK_EQ(least.as_int, 0); /* +0 */
  add_doubles(&m, values + 2, NULL, 5);
  CHECK_EQ(m.count, 7);
  CHECK_EQ(m.num_nan, 2);
  CHECK_EQ(m.num_zeros, 1);
  CHECK_EQ(m.num_negative, 1);
  CHECK_EQ(m.num_plus_infinity, 1);
  CHECK_EQ(m.num_minus_infinity, 1);
  CHECK(cst__moments_extremes(&m, &least, &largest));
  CHECK_DOUBLE(least.as_double, -(double)INFINITY);
  CHECK_DOUBLE(largest.as_double, (double)INFINITY);
  cst__moments_tell(&m, true, &r);
  CHECK_DOUBLE(r.weight, 3);
  CHECK_DOUBLE(r.mean, 2.0 / 3);
  cst__moments_reset(&m);
  add_doubles(&m, values, NULL, 1);
  CHECK(!cst__moments_extremes(&m, &least, &largest));
  cst__moments_reset(&m);
}

TEST(integers) {
  static const int64_t ints[] = {INT64_MIN, INT64_MAX, -1, 0, 5};
  static const uint64_t uints[] = {UINT64_MAX, UINT64_MAX, 0};
  cst__value_block block = {CST__FAMILY_INT, 5, ints, NULL};
  cst__moments m;
  cst__moments_result r;
  cst__moments_init(&m, NULL);
  CHECK(cst__moments_add(&m, &block));
  cst__moments_tell(&m, true, &r);
  CHECK_DOUBLE(r.sum, 3);
  CHECK_DOUBLE(r.mean, 0.6);
  CHECK_EQ(m.least.as_int, INT64_MIN);
  CHECK_EQ(m.largest.as_int, INT64_MAX);
  CHECK_EQ(m.num_negative, 2);
  CHECK_EQ(m.num_zeros, 1);
  cst__moments_reset(&m);
  block = (cst__value_block){CST__FAMILY_UINT, 3, uints, NULL};
  CHECK(cst__moments_add(&m, &block));
  cst__moments_tell(&m, true, &r);
  CHECK_DOUBLE(r.sum, 0x1p65);
  CHECK_DOUBLE(r.mean, 12297829382473034410.0); /* 2/3 of 2^64 - 1 */
  CHECK(m.largest.as_uint == UINT64_MAX);
  cst__moments_reset(&m);
}

/* ---- order and merges ---- */

enum { SAMPLE = 3000 };

/* Doubles of all sizes or of like size, some of them zeros and not finite; integers as doubles. */
static void make_sample(int kind, uint64_t seed, double *values, double *weights) {
  for (size_t i = 0; i < SAMPLE; i++) {
    uint64_t bits = random_bits(&seed);
    double any;
    memcpy(&any, &bits, sizeof any);
    values[i] = kind == 0   ? any
                : kind == 1 ? (double)(int64_t)bits * 0x1p-60
                            : (double)(bits % 100);
    values[i] = bits % 7 == 0 ? 0 : values[i];
    weights[i] = (double)(bits >> 40) * 0x1p-20;
  }
}

static void check_any_order(const double *values, const double *weights) {
  cst__moments whole;
  cst__moments parts[3];
  double turned[SAMPLE];
  double turned_weights[SAMPLE];
  cst__moments_init(&whole, NULL);
  add_doubles(&whole, values, weights, SAMPLE);
  for (size_t i = 0; i < SAMPLE; i++) {
    turned[i] = values[SAMPLE - 1 - i];
    turned_weights[i] = weights != NULL ? weights[SAMPLE - 1 - i] : 1;
  }
  for (int i = 0; i < 3; i++) {
    cst__moments_init(&parts[i], NULL);
  }
  const double *theirs = weights != NULL ? turned_weights : NULL;
  add_doubles(&parts[0], turned, theirs, 1);
  add_doubles(&parts[1], turned + 1, theirs != NULL ? theirs + 1 : NULL, 1500);
  add_doubles(&parts[2], turned + 1501, theirs != NULL ? theirs + 1501 : NULL, SAMPLE - 1501);
  CHECK(cst__moments_merge(&parts[2], &parts[0]));
  CHECK(cst__moments_merge(&parts[1], &parts[2]));
  check_same(&whole, &parts[1]);
  for (int i = 0; i < 3; i++) {
    cst__moments_reset(&parts[i]);
  }
  cst__moments_reset(&whole);
}

TEST(any_order_has_the_same_bytes) {
  double values[SAMPLE];
  double weights[SAMPLE];
  for (int i = 0; i < 30; i++) {
    make_sample(i % 3, (uint64_t)i, values, weights);
    check_any_order(values, NULL);
    check_any_order(values, weights);
  }
}

/* Values without weights weigh 1, whenever the first weights come. */
TEST(weights_from_the_middle_on) {
  double values[SAMPLE];
  double weights[SAMPLE];
  double ones[SAMPLE];
  make_sample(1, 5, values, weights);
  for (size_t i = 0; i < SAMPLE; i++) {
    ones[i] = 1;
  }
  cst__moments a;
  cst__moments b;
  cst__moments c;
  cst__moments_init(&a, NULL);
  cst__moments_init(&b, NULL);
  cst__moments_init(&c, NULL);
  add_doubles(&a, values, NULL, 1000);
  add_doubles(&a, values + 1000, weights, 1000);
  add_doubles(&a, values + 2000, NULL, 1000);
  add_doubles(&b, values + 1000, weights, 1000);
  add_doubles(&c, values, NULL, 1000);
  add_doubles(&c, values + 2000, NULL, 1000);
  CHECK(cst__moments_merge(&b, &c));
  check_same(&a, &b);
  cst__moments_reset(&b);
  add_doubles(&b, values + 1000, weights, 1000);
  CHECK(cst__moments_merge(&c, &b));
  check_same(&a, &c);
  cst__moments_reset(&c);
  add_doubles(&c, values, ones, 1000);
  add_doubles(&c, values + 1000, weights, 1000);
  add_doubles(&c, values + 2000, ones, 1000);
  check_same(&a, &c);
  cst__moments_reset(&a);
  cst__moments_reset(&b);
  cst__moments_reset(&c);
}

/* ---- bytes ---- */

static bool load(cst__moments *m, const void *bytes, size_t size) {
  cst__archive a = cst__archive_from(bytes, size);
  cst__moments_init(m, NULL);
  cst__moments_archive(m, &a);
  return !a.bad && a.at == a.end;
}

TEST(there_and_back) {
  double values[SAMPLE];
  double weights[SAMPLE];
  for (int kind = 0; kind < 3; kind++) {
    cst__moments m;
    cst__moments again;
    make_sample(kind, 9, values, weights);
    cst__moments_init(&m, NULL);
    add_doubles(&m, values, kind == 1 ? weights : NULL, SAMPLE);
    cst__text bytes = saved(&m);
    CHECK(load(&again, bytes.data, bytes.size));
    check_same(&m, &again);
    cst__moments_reset(&again);
    CHECK(cst__moments_memory(&m) < 4000);
    for (size_t i = 0; i < bytes.size; i++) {
      cst__moments_result r;
      CHECK(!load(&again, bytes.data, i));
      cst__moments_reset(&again);
      bytes.data[i] ^= (char)(1 << i % 8);
      if (load(&again, bytes.data, bytes.size)) { /* other numbers, but such as there may be */
        cst__moments_tell(&again, true, &r);
        CHECK(!(r.variance < 0) && !(r.weight < 0));
      }
      cst__moments_reset(&again);
      bytes.data[i] ^= (char)(1 << i % 8);
    }
    cst__text_free(&bytes);
    cst__moments_reset(&m);
  }
}

/* ---- memory ---- */

static int one_of_each(void *context) {
  double values[SAMPLE];
  double weights[SAMPLE];
  cst__moments m;
  cst__moments other;
  cst__moments again;
  (void)context;
  make_sample(0, 3, values, weights);
  cst__moments_init(&m, NULL);
  cst__moments_init(&other, NULL);
  cst__moments_init(&again, NULL);
  const cst__value_block block = {CST__FAMILY_FLOAT, 1000, values, NULL};
  const cst__value_block weighted = {CST__FAMILY_FLOAT, 1000, values + 1000, weights};
  bool ok = cst__moments_add(&m, &block) && cst__moments_add(&other, &weighted) &&
            cst__moments_add(&other, &block) && cst__moments_merge(&m, &other);
  cst__text bytes = {0};
  if (ok) {
    bytes = saved(&m);
    cst__archive a = cst__archive_from((const uint8_t *)bytes.data, bytes.size);
    ok = !bytes.failed;
    if (ok) {
      cst__moments_archive(&again, &a);
      ok = !a.bad;
      CHECK(ok || a.no_memory);
    }
  }
  cst__text_free(&bytes);
  cst__moments_reset(&m);
  cst__moments_reset(&other);
  cst__moments_reset(&again);
  return ok ? CST_OK : CST_NO_MEMORY;
}

TEST(allocation_failures) { FOR_EACH_ALLOCATION_FAILURE(one_of_each, NULL, CST_NO_MEMORY); }
