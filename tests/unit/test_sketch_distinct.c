/* Counts of different values: exact for few, within the bounds for many, whatever the order. */
#include "sketch/distinct_sketch.h"

#include <math.h>
#include <string.h>

#include "harness.h"
#include "sketch/hashes.h"

static void add_range(cst__distinct_sketch *sketch, int64_t begin, int64_t end, int64_t step) {
  int64_t items[CST__VALUES_MOST];
  while (begin != end) {
    cst__value_block values = {CST__FAMILY_INT, 0, items, NULL};
    for (; begin != end && values.count < CST__VALUES_MOST; begin += step) {
      items[values.count++] = begin;
    }
    CHECK_EQ(cst__distinct_sketch_add(sketch, &values, NULL), CST_OK);
  }
}

static cst__text bytes_of(cst__distinct_sketch *sketch) {
  cst__text out = {0};
  cst__archive a = cst__archive_to(&out);
  cst__distinct_sketch_archive(sketch, &a);
  CHECK(!out.failed);
  return out;
}

static void check_same(cst__distinct_sketch *a, cst__distinct_sketch *b) {
  cst__text x = bytes_of(a);
  cst__text y = bytes_of(b);
  CHECK_EQ(x.size, y.size);
  CHECK_MEM(x.data, y.data, x.size);
  cst__text_free(&x);
  cst__text_free(&y);
}

TEST(few_are_counted_exactly) {
  for (int precision = CST__DISTINCT_PRECISION_LEAST; precision <= 14; precision += 5) {
    cst__distinct_sketch sketch;
    double lower;
    double upper;
    int64_t most = cst__distinct_exact_most(precision);
    cst__distinct_sketch_init(&sketch, precision, 3, NULL);
    CHECK_DOUBLE(cst__distinct_sketch_estimate(&sketch), 0);
    for (int64_t n = 1; n <= most; n++) {
      add_range(&sketch, n - 1, n, 1);
      add_range(&sketch, 0, n > 3 ? 3 : n, 1); /* which are there already */
      cst__distinct_sketch_bounds(&sketch, 3, &lower, &upper);
      CHECK_DOUBLE(cst__distinct_sketch_estimate(&sketch), (double)n);
      CHECK_DOUBLE(lower, (double)n);
      CHECK_DOUBLE(upper, (double)n);
    }
    CHECK(cst__distinct_sketch_is_exact(&sketch));
    add_range(&sketch, -1, 0, 1);
    CHECK(!cst__distinct_sketch_is_exact(&sketch));
    cst__distinct_sketch_bounds(&sketch, 3, &lower, &upper);
    CHECK(lower > (double)most);
    CHECK(cst__distinct_sketch_memory(&sketch) <=
          sizeof sketch + (precision > 8 ? (size_t)1 << precision : 256));
    cst__distinct_sketch_reset(&sketch);
  }
}

/* Forwards, backwards, twice, and merged from parts, of which some are exact. */
TEST(the_order_does_not_matter) {
  static const int64_t counts[] = {0, 1, 2, 1000, 1536, 1537, 3000, 100000};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    int64_t n = counts[i];
    cst__distinct_sketch forwards;
    cst__distinct_sketch backwards;
    cst__distinct_sketch merged;
    cst__distinct_sketch_init(&forwards, 14, 0, NULL);
    cst__distinct_sketch_init(&backwards, 14, 0, NULL);
    cst__distinct_sketch_init(&merged, 14, 0, NULL);
    add_range(&forwards, 0, n, 1);
    add_range(&backwards, n - 1, -1, -1);
    add_range(&backwards, 0, n / 2, 1);
    for (int64_t part = 0; part < 5; part++) { /* 0, 1, 3, 6 and 10 of 20 parts */
      cst__distinct_sketch one;
      cst__distinct_sketch_init(&one, 14, 0, NULL);
      int64_t begin = n * (part * (part + 1) / 2) / 20;
      int64_t end = part == 4 ? n : n * ((part + 1) * (part + 2) / 2) / 20;
      add_range(&one, begin, end, 1);
      if (part % 2 == 0) {
        CHECK_EQ(cst__distinct_sketch_merge(&merged, &one, NULL), CST_OK);
        cst__distinct_sketch_reset(&one);
      } else {
        CHECK_EQ(cst__distinct_sketch_merge(&one, &merged, NULL), CST_OK);
        cst__distinct_sketch_reset(&merged);
        merged = one;
      }
    }
    check_same(&forwards, &backwards);
    check_same(&forwards, &merged);
    cst__distinct_sketch_reset(&forwards);
    cst__distinct_sketch_reset(&backwards);
    cst__distinct_sketch_reset(&merged);
  }
}

/* How the estimates of many seeds lie about the truth. */
typedef struct spread {
  double squares, told; /* sums */
  int outside[4];       /* of 1, 2, 3 deviations */
} spread;

static spread spread_of(int precision, int64_t n, int64_t step, uint64_t seeds) {
  spread s = {0};
  for (uint64_t seed = 0; seed < seeds; seed++) {
    cst__distinct_sketch sketch;
    cst__distinct_sketch_init(&sketch, precision, seed, NULL);
    add_range(&sketch, 0, n * step, step);
    double off = cst__distinct_sketch_estimate(&sketch) / (double)n - 1;
    for (int k = 1; k <= 3; k++) {
      double lower;
      double upper;
      cst__distinct_sketch_bounds(&sketch, k, &lower, &upper);
      s.outside[k] += (double)n < lower || (double)n > upper;
      s.told += k == 1 ? log(upper / lower) / 2 : 0;
    }
    s.squares += off * off;
    cst__distinct_sketch_reset(&sketch);
  }
  return s;
}

static void check_spread(int precision, int64_t n, int64_t step) {
  enum { SEEDS = 1000 };
  spread s = spread_of(precision, n, step, SEEDS);
  double measured = sqrt(s.squares / SEEDS);
  double told = s.told / SEEDS;
  CHECK(measured < told * 1.12);
  CHECK(measured > told * 0.88);
  CHECK(measured < 0.80 / sqrt(ldexp(1, precision)));
  CHECK(s.outside[1] > 250 && s.outside[1] < 390); /* 317 */
  CHECK(s.outside[2] < 80);                        /* 46 */
  CHECK(s.outside[3] < 15);                        /* 3 */
}

TEST(estimates_are_within_the_bounds) {
  static const struct {
    int precision;
    int64_t n;
    int64_t step;
  } cases[] = {{8, 200, 1},   {8, 500, 1000}, {8, 5000, 1},   {8, 30000, (int64_t)1 << 40},
               {11, 400, 1},  {11, 3000, -1}, {11, 20000, 8}, {14, 1600, 1},
               {14, 20000, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i += EVERY) {
    check_spread(cases[i].precision, cases[i].n, cases[i].step);
  }
}

TEST(registers_that_are_full_give_all_hashes) {
  cst__distinct_sketch sketch;
  double lower;
  double upper;
  cst__distinct_sketch_init(&sketch, 4, 0, NULL);
  for (uint64_t index = 0; index < 16; index++) {
    for (int rank = 1; rank <= 61; rank++) {
      uint64_t hash = index << 60 | (rank < 61 ? UINT64_C(1) << (rank - 1) : 0);
      CHECK_EQ(cst__distinct_sketch_add_hashes(&sketch, &hash, 1, NULL), CST_OK);
    }
  }
  cst__distinct_sketch_bounds(&sketch, 3, &lower, &upper);
  CHECK(upper <= ldexp(1, 64));
  CHECK(cst__distinct_sketch_estimate(&sketch) > ldexp(1, 63));
  cst__distinct_sketch_reset(&sketch);
}

static bool loads(int precision, const char *bytes, size_t size) {
  cst__distinct_sketch sketch;
  cst__distinct_sketch_init(&sketch, precision, 0, NULL);
  cst__archive a = cst__archive_from((const uint8_t *)bytes, size);
  cst__distinct_sketch_archive(&sketch, &a);
  bool good = !a.bad && a.at == a.end;
  cst__distinct_sketch_reset(&sketch);
  return good;
}

TEST(what_is_saved_is_loaded) {
  static const int64_t counts[] = {0, 1, 2, 500, 1536, 5000};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    cst__distinct_sketch sketch;
    cst__distinct_sketch loaded;
    cst__distinct_sketch_init(&sketch, 14, 0, NULL);
    cst__distinct_sketch_init(&loaded, 14, 0, NULL);
    add_range(&sketch, 0, counts[i], 1);
    cst__text out = bytes_of(&sketch);
    cst__archive a = cst__archive_from((const uint8_t *)out.data, out.size);
    cst__distinct_sketch_archive(&loaded, &a);
    CHECK(!a.bad);
    check_same(&sketch, &loaded);
    add_range(&sketch, 3, 9000, 1); /* and goes on as it would have */
    add_range(&loaded, 3, 9000, 1);
    check_same(&sketch, &loaded);
    for (size_t size = 0; size < out.size; size += size < 100 ? 1 : 997) {
      CHECK(!loads(14, out.data, size));
    }
    cst__text_free(&out);
    cst__distinct_sketch_reset(&sketch);
    cst__distinct_sketch_reset(&loaded);
  }
}

TEST(bytes_that_saving_never_writes_are_bad) {
  char registers[2 + 16] = {1, 16, 4, 8, 10, 12, 13, 15};
  CHECK(loads(4, registers, sizeof registers));
  CHECK(!loads(5, registers, sizeof registers));
  static const uint8_t bad[] = {1, 3,  5,   6,
                                9, 11, 248, 255}; /* rank 1 has none below it; 62 is too high */
  for (size_t i = 0; i < sizeof bad; i++) {
    registers[9] = (char)bad[i];
    CHECK(!loads(4, registers, sizeof registers));
  }
  CHECK(loads(4, "\0\2\5\1", 4));
  CHECK(!loads(4, "\0\2\5\0", 4)); /* twice */
  CHECK(!loads(4, "\0\1\0", 3));   /* no hash is 0 */
  CHECK(!loads(4, "\2", 1));
  CHECK(!loads(4, "\0\2\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 13)); /* beyond 64 bits */
  char many[2 + 25] = {0, 25};
  memset(many + 2, 1, 25);
  CHECK(!loads(4, many, sizeof many)); /* 24 is the most */
}

static int merge_and_save(void *context) {
  (void)context;
  cst__distinct_sketch a;
  cst__distinct_sketch b;
  int64_t items[600];
  cst__value_block values = {CST__FAMILY_INT, 600, items, NULL};
  cst__text out = {0};
  cst__distinct_sketch_init(&a, 12, 0, NULL);
  cst__distinct_sketch_init(&b, 12, 0, NULL);
  for (int64_t i = 0; i < 600; i++) {
    items[i] = i;
  }
  cst_status status = cst__distinct_sketch_add(&a, &values, NULL);
  values.count = 100;
  status = status != CST_OK ? status : cst__distinct_sketch_add(&b, &values, NULL);
  cst__archive save = cst__archive_to(&out);
  cst__distinct_sketch_archive(&b, &save);
  status = status != CST_OK ? status : out.failed ? CST_NO_MEMORY : CST_OK;
  status = status != CST_OK ? status : cst__distinct_sketch_merge(&b, &a, NULL);
  cst__distinct_sketch_reset(&b);
  cst__archive load = cst__archive_from((const uint8_t *)out.data, out.size);
  if (status == CST_OK) {
    cst__distinct_sketch_archive(&b, &load);
    status = load.no_memory ? CST_NO_MEMORY : CST_OK;
  }
  cst__text_free(&out);
  cst__distinct_sketch_reset(&a);
  cst__distinct_sketch_reset(&b);
  return status;
}

TEST(failing_allocations_are_reported) {
  FOR_EACH_ALLOCATION_FAILURE(merge_and_save, NULL, CST_NO_MEMORY);
}
