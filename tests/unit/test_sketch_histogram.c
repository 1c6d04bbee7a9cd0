/* Histograms: buckets, merges, both ways through bytes, without memory. */
#include "sketch/histogram.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "harness.h"

static void add_doubles(cst__histogram *h, const double *values, const double *weights,
                        size_t count) {
  const cst__value_block block = {CST__FAMILY_FLOAT, count, values, weights};
  CHECK(cst__histogram_add(h, &block));
}

static void init(cst__histogram *h, double low, double high, size_t buckets) {
  CHECK(cst__histogram_init(h, low, high, buckets, NULL));
}

TEST(places) {
  static const double values[] = {
      0, 0.999, 1, 2, 2.5, 4, -0.1, 4.1, (double)NAN, (double)INFINITY, -(double)INFINITY, -0.0};
  static const uint64_t expected[] = {2, 3, 1, 2, 1, 2, 1};
  cst__histogram h;
  init(&h, 0, 4, 4);
  CHECK_DOUBLE(cst__histogram_weight(&h, 1), 0);
  add_doubles(&h, values, NULL, 12);
  for (size_t i = 0; i < 7; i++) {
    CHECK_EQ(cst__histogram_count(&h, i), expected[i]);
    CHECK_DOUBLE(cst__histogram_weight(&h, i), (double)expected[i]);
  }
  cst__histogram_reset(&h);
}

/* Every edge lies in the bucket that begins with it, and the double below in the one before. */
TEST(edges) {
  static const double ends[][2] = {
      {0, 1}, {-1e-300, 3e-300}, {1e9, 1e9 + 1}, {-DBL_MAX / 4, 1e300}, {0.1, 0.7}, {-5, 1e-9}};
  for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
    cst__histogram h;
    init(&h, ends[k][0], ends[k][1], 77);
    for (size_t i = 0; i <= 77; i++) {
      double edge = cst__histogram_edge(&h, i);
      double two[] = {edge, nextafter(edge, -DBL_MAX)};
      add_doubles(&h, two, NULL, 2);
    }
    for (size_t i = 0; i < 79; i++) {
      CHECK_EQ(cst__histogram_count(&h, i), i == 77 ? 3 : i == 0 ? 1 : i == 78 ? 0 : 2);
    }
    cst__histogram_reset(&h);
  }
}

TEST(ends_that_are_none) {
  cst__histogram h;
  CHECK(!cst__histogram_init(&h, 1, 1, 4, NULL));
  CHECK(!cst__histogram_init(&h, 2, 1, 4, NULL));
  CHECK(!cst__histogram_init(&h, (double)NAN, 1, 4, NULL));
  CHECK(!cst__histogram_init(&h, 0, (double)INFINITY, 4, NULL));
  CHECK(!cst__histogram_init(&h, -DBL_MAX, DBL_MAX, 4, NULL));
  CHECK(!cst__histogram_init(&h, 0, 1, 0, NULL));
  CHECK(!cst__histogram_init(&h, 0, 1, CST__HISTOGRAM_MOST + 1, NULL));
  CHECK(!cst__histogram_init(&h, 1e16, 1e16 + 8, 100, NULL));
  CHECK(!cst__histogram_init(&h, 0, 0x1p-1074, 2, NULL));
  CHECK(cst__histogram_init(&h, 0, 1, CST__HISTOGRAM_MOST, NULL));
}

TEST(integers) {
  static const int64_t ints[] = {INT64_MIN, -1, 0, 9, 10, 11};
  static const uint64_t uints[] = {0, 10, UINT64_MAX};
  cst__histogram h;
  init(&h, 0, 10, 2);
  cst__value_block block = {CST__FAMILY_INT, 6, ints, NULL};
  CHECK(cst__histogram_add(&h, &block));
  block = (cst__value_block){CST__FAMILY_UINT, 3, uints, NULL};
  CHECK(cst__histogram_add(&h, &block));
  CHECK_EQ(cst__histogram_count(&h, 0), 2);
  CHECK_EQ(cst__histogram_count(&h, 1), 2);
  CHECK_EQ(cst__histogram_count(&h, 2), 3);
  CHECK_EQ(cst__histogram_count(&h, 3), 2);
  cst__histogram_reset(&h);
}

static cst__text saved(cst__histogram *h) {
  cst__text out = {0};
  cst__archive a = cst__archive_to(&out);
  cst__histogram_archive(h, &a);
  return out;
}

static bool load(cst__histogram *h, const void *bytes, size_t size) {
  cst__archive a = cst__archive_from(bytes, size);
  init(h, 0, 1, 3);
  cst__histogram_archive(h, &a);
  return !a.bad && a.at == a.end;
}

static const double sample[] = {0.1, 0.2, 0.5, 0.9, -1, 2, (double)NAN, 0.5};
static const double sample_weights[] = {1e300, 1, 0.1, 0, 5e-324, 3, 0.25, 0.2};

static void check_same(cst__histogram *a, cst__histogram *b) {
  cst__text x = saved(a);
  cst__text y = saved(b);
  CHECK_EQ(x.size, y.size);
  CHECK_MEM(x.data, y.data, x.size);
  cst__text_free(&x);
  cst__text_free(&y);
}

/* Also where only some values have weights, the first or the last ones. */
TEST(any_order_has_the_same_bytes) {
  for (size_t cut = 0; cut <= 8; cut++) {
    cst__histogram whole;
    cst__histogram a;
    cst__histogram b;
    init(&whole, 0, 1, 3);
    init(&a, 0, 1, 3);
    init(&b, 0, 1, 3);
    add_doubles(&whole, sample, sample_weights, cut);
    add_doubles(&whole, sample + cut, NULL, 8 - cut);
    for (size_t i = cut; i-- > 0;) {
      add_doubles(&a, sample + i, sample_weights + i, 1);
    }
    add_doubles(&b, sample + cut, NULL, 8 - cut);
    CHECK(cst__histogram_merge(&b, &a));
    check_same(&whole, &b);
    cst__histogram_reset(&b);
    add_doubles(&b, sample + cut, NULL, 8 - cut);
    CHECK(cst__histogram_merge(&a, &b));
    check_same(&whole, &a);
    if (cut == 8) {
      CHECK_DOUBLE(cst__histogram_weight(&a, 2), 0.1 + 0.2); /* rounded once, here as well */
      CHECK_DOUBLE(cst__histogram_weight(&a, 1), 1e300);
    }
    cst__histogram_reset(&whole);
    cst__histogram_reset(&a);
    cst__histogram_reset(&b);
  }
}

TEST(there_and_back) {
  for (int weighs = 0; weighs < 2; weighs++) {
    cst__histogram h;
    cst__histogram again;
    init(&h, 0, 1, 3);
    add_doubles(&h, sample, weighs ? sample_weights : NULL, 8);
    cst__text bytes = saved(&h);
    CHECK(load(&again, bytes.data, bytes.size));
    check_same(&h, &again);
    cst__histogram_reset(&again);
    for (size_t i = 0; i < bytes.size; i++) {
      CHECK(!load(&again, bytes.data, i));
      cst__histogram_reset(&again);
      bytes.data[i] ^= (char)(1 << i % 8);
      if (load(&again, bytes.data, bytes.size)) {
        CHECK(cst__histogram_weight(&again, 1) >= 0);
      }
      cst__histogram_reset(&again);
      bytes.data[i] ^= (char)(1 << i % 8);
    }
    cst__text_free(&bytes);
    cst__histogram_reset(&h);
  }
}

static int one_of_each(void *context) {
  cst__histogram h;
  cst__histogram other;
  cst__histogram again;
  (void)context;
  init(&h, 0, 1, 3);
  init(&other, 0, 1, 3);
  init(&again, 0, 1, 3);
  const cst__value_block plain = {CST__FAMILY_FLOAT, 8, sample, NULL};
  const cst__value_block weighted = {CST__FAMILY_FLOAT, 8, sample, sample_weights};
  bool ok = cst__histogram_add(&h, &plain) && cst__histogram_add(&other, &weighted) &&
            cst__histogram_merge(&h, &other);
  cst__text bytes = {0};
  if (ok) {
    bytes = saved(&h);
    cst__archive a = cst__archive_from((const uint8_t *)bytes.data, bytes.size);
    ok = !bytes.failed;
    if (ok) {
      cst__histogram_archive(&again, &a);
      ok = !a.bad;
      CHECK(ok || a.no_memory);
    }
  }
  cst__text_free(&bytes);
  cst__histogram_reset(&h);
  cst__histogram_reset(&other);
  cst__histogram_reset(&again);
  return ok ? CST_OK : CST_NO_MEMORY;
}

TEST(allocation_failures) { FOR_EACH_ALLOCATION_FAILURE(one_of_each, NULL, CST_NO_MEMORY); }
