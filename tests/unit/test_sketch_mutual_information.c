/* Mutual information: exact for few values, one state in any order, bytes, memory. */
#include "sketch/mutual_information.h"

#include <math.h>
#include <string.h>

#include "harness.h"

static void add(cst__mutual *m, const int64_t *x, const int64_t *y, size_t count) {
  for (size_t i = 0; i < count; i += CST__VALUES_MOST) {
    size_t part = count - i < CST__VALUES_MOST ? count - i : CST__VALUES_MOST;
    const cst__value_block a = {CST__FAMILY_INT, part, x + i, NULL};
    const cst__value_block b = {CST__FAMILY_INT, part, y + i, NULL};
    CHECK(cst__mutual_add(m, &a, &b));
  }
}

static cst_mutual_information tell(const cst__mutual *m) {
  cst_mutual_information told;
  CHECK(cst__mutual_tell(m, &told));
  return told;
}

static void check_near(double actual, double expected) { CHECK(fabs(actual - expected) < 1e-12); }

TEST(few_values) {
  static const int64_t x[] = {1, 1, 2, 2, 3, 3, 3, 3};
  static const int64_t same[] = {7, 7, 5, 5, 6, 6, 6, 6};
  static const int64_t halves[] = {0, 1, 0, 1, 0, 1, 0, 1};
  cst__mutual m;
  cst__mutual_init(&m, 4, 0, NULL);
  CHECK_DOUBLE(tell(&m).information, (double)NAN);
  add(&m, x, same, 8);
  cst_mutual_information told = tell(&m);
  check_near(told.information, 1.5 * log(2));
  check_near(told.entropy_x, 1.5 * log(2));
  check_near(told.entropy_y, 1.5 * log(2));
  check_near(told.corrected, told.information + 2.0 / 16);
  CHECK_EQ(told.num_pairs, 8);
  CHECK_EQ(told.num_x, 3);
  CHECK_EQ(told.num_cells, 3);
  CHECK(told.is_exact);
  cst__mutual_reset(&m);
  add(&m, x, halves, 8);
  told = tell(&m);
  check_near(told.information, 0);
  check_near(told.corrected, -2.0 / 16);
  CHECK_EQ(told.num_cells, 6);
  cst__mutual_reset(&m);
}

/* ---- order and merges ---- */

enum { SAMPLE = 5000 };

static void make_sample(uint64_t seed, uint64_t num_values, int64_t *x, int64_t *y) {
  for (size_t i = 0; i < SAMPLE; i++) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    x[i] = (int64_t)((seed >> 33) % num_values);
    y[i] = (seed >> 20) % 4 == 0 ? (int64_t)((seed >> 40) % num_values) : x[i] / 2;
  }
}

static cst__text saved(cst__mutual *m) {
  cst__text out = {0};
  cst__archive a = cst__archive_to(&out);
  cst__mutual_archive(m, &a);
  return out;
}

static void check_same(cst__mutual *a, cst__mutual *b) {
  cst__text x = saved(a);
  cst__text y = saved(b);
  CHECK(!x.failed && !y.failed);
  CHECK_EQ(x.size, y.size);
  CHECK_MEM(x.data, y.data, x.size);
  cst__text_free(&x);
  cst__text_free(&y);
}

TEST(any_order_has_the_same_bytes) {
  static const uint64_t numbers[] = {3, 10, 11, 40, 3000};
  static int64_t x[SAMPLE], y[SAMPLE], turned_x[SAMPLE], turned_y[SAMPLE];
  for (size_t k = 0; k < 5; k++) {
    cst__mutual whole;
    cst__mutual parts[3];
    make_sample(k, numbers[k], x, y);
    for (size_t i = 0; i < SAMPLE; i++) {
      turned_x[i] = x[SAMPLE - 1 - i];
      turned_y[i] = y[SAMPLE - 1 - i];
    }
    cst__mutual_init(&whole, 10, 0, NULL);
    add(&whole, x, y, SAMPLE);
    for (int i = 0; i < 3; i++) {
      cst__mutual_init(&parts[i], 10, 0, NULL);
    }
    add(&parts[0], turned_x, turned_y, 20);
    add(&parts[1], turned_x + 20, turned_y + 20, 3000);
    add(&parts[2], turned_x + 3020, turned_y + 3020, SAMPLE - 3020);
    CHECK(cst__mutual_merge(&parts[0], &parts[2]));
    CHECK(cst__mutual_merge(&parts[1], &parts[0]));
    check_same(&whole, &parts[1]);
    CHECK_EQ(tell(&whole).is_exact, numbers[k] <= 10);
    CHECK_DOUBLE(tell(&whole).information, tell(&parts[1]).information);
    CHECK(tell(&whole).num_x <= 20 && tell(&whole).num_y <= 20);
    CHECK(cst__mutual_memory(&whole) < 120000);
    for (int i = 0; i < 3; i++) {
      cst__mutual_reset(&parts[i]);
    }
    cst__mutual_reset(&whole);
  }
}

/* Coarser columns tell no more of each other. */
TEST(more_values_tell_no_less) {
  static int64_t x[SAMPLE], y[SAMPLE];
  double before = 0;
  make_sample(1, 200, x, y);
  for (size_t most = 2; most <= 512; most *= 4) {
    cst__mutual m;
    cst__mutual_init(&m, most, 0, NULL);
    add(&m, x, y, SAMPLE);
    CHECK(tell(&m).information >= before - 0.05);
    CHECK(tell(&m).information <= tell(&m).entropy_x + 1e-9);
    before = tell(&m).information;
    cst__mutual_reset(&m);
  }
  CHECK(before > 1);
}

/* ---- bytes and memory ---- */

static bool load(cst__mutual *m, const void *bytes, size_t size) {
  cst__archive a = cst__archive_from(bytes, size);
  cst__mutual_init(m, 5, 0, NULL);
  cst__mutual_archive(m, &a);
  return !a.bad && a.at == a.end;
}

TEST(there_and_back) {
  static int64_t x[SAMPLE], y[SAMPLE];
  for (uint64_t num_values = 4; num_values < 20; num_values += 9) {
    cst__mutual m;
    cst__mutual again;
    make_sample(4, num_values, x, y);
    cst__mutual_init(&m, 5, 0, NULL);
    add(&m, x, y, 100);
    cst__text bytes = saved(&m);
    CHECK(load(&again, bytes.data, bytes.size));
    check_same(&m, &again);
    add(&m, x + 100, y + 100, 1000);
    add(&again, x + 100, y + 100, 1000);
    check_same(&m, &again);
    cst__mutual_reset(&again);
    for (size_t i = 0; i < bytes.size; i++) {
      CHECK(!load(&again, bytes.data, i));
      cst__mutual_reset(&again);
      bytes.data[i] ^= (char)(1 << i % 8);
      if (load(&again, bytes.data, bytes.size)) {
        CHECK(tell(&again).information >= 0);
        add(&again, x, y, 1000);
      }
      cst__mutual_reset(&again);
      bytes.data[i] ^= (char)(1 << i % 8);
    }
    cst__text_free(&bytes);
    cst__mutual_reset(&m);
  }
}

static int one_of_each(void *context) {
  static int64_t x[SAMPLE], y[SAMPLE];
  cst__mutual m;
  cst__mutual other;
  cst__mutual again;
  cst_mutual_information told;
  (void)context;
  make_sample(2, 30, x, y);
  cst__mutual_init(&m, 5, 0, NULL);
  cst__mutual_init(&other, 5, 0, NULL);
  cst__mutual_init(&again, 5, 0, NULL);
  const cst__value_block a = {CST__FAMILY_INT, 100, x, NULL};
  const cst__value_block b = {CST__FAMILY_INT, 100, y, NULL};
  bool ok = cst__mutual_add(&m, &a, &a) && cst__mutual_add(&other, &a, &b) &&
            cst__mutual_merge(&m, &other) && cst__mutual_tell(&m, &told);
  cst__text bytes = {0};
  if (ok) {
    bytes = saved(&m);
    ok = !bytes.failed;
  }
  if (ok) {
    cst__archive archive = cst__archive_from((const uint8_t *)bytes.data, bytes.size);
    cst__mutual_archive(&again, &archive);
    ok = !archive.bad;
    CHECK(ok || archive.no_memory);
  }
  cst__text_free(&bytes);
  cst__mutual_reset(&m);
  cst__mutual_reset(&other);
  cst__mutual_reset(&again);
  return ok ? CST_OK : CST_NO_MEMORY;
}

TEST(allocation_failures) { FOR_EACH_ALLOCATION_FAILURE(one_of_each, NULL, CST_NO_MEMORY); }
