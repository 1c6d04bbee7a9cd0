/* Permutations and orders: every place once, far from the order of the file, the same for ever. */
#include "dataset/permutation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/epoch_order.h"
#include "harness.h"

static void check_bijection(uint64_t count, uint64_t seed) {
  cst__permutation p;
  uint8_t *seen = calloc(count, 1);
  cst__permutation_init(&p, count, seed, 3, 0);
  for (uint64_t i = 0; i < count; i++) {
    uint64_t number = cst__permutation_at(&p, i);
    CHECK(number < count);
    CHECK_EQ(seen[number], 0);
    CHECK_EQ(cst__permutation_find(&p, number), i);
    seen[number] = 1;
  }
  free(seen);
}

TEST(every_number_comes_once) {
  for (uint64_t count = 1; count <= 300; count++) {
    check_bijection(count, count * 7);
    check_bijection(count, 0);
  }
  check_bijection(1023, 1);
  check_bijection(1024, 1);
  check_bijection(1025, 1);
  check_bijection(65537, UINT64_MAX);
  check_bijection(100000, 2);
}

TEST(counts_beyond_all_files) {
  const uint64_t counts[] = {(uint64_t)1 << 40, ((uint64_t)1 << 62) - 57, ((uint64_t)1 << 63) + 9};
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
    cst__permutation p;
    cst__permutation_init(&p, counts[k], 1, 2, 3);
    for (uint64_t i = 0; i < 1000; i++) {
      uint64_t number = cst__permutation_at(&p, counts[k] - 1 - i);
      CHECK(number < counts[k]);
      CHECK_EQ(cst__permutation_find(&p, number), counts[k] - 1 - i);
    }
  }
}

/* Positions are kept for years: these numbers never change. */
TEST(the_same_for_ever) {
  cst__permutation p;
  const uint64_t expected[] = {725363, 587860, 891092, 744111, 751533, 137606};
  cst__permutation_init(&p, 1000003, 7, 2, 0);
  for (uint64_t i = 0; i < 6; i++) {
    CHECK_EQ(cst__permutation_at(&p, i * 1000), expected[i]);
  }
}

static bool differ(const cst__permutation *a, const cst__permutation *b) {
  for (uint64_t i = 0; i < 100; i++) {
    if (cst__permutation_at(a, i) != cst__permutation_at(b, i)) {
      return true;
    }
  }
  return false;
}

TEST(seed_epoch_and_part_matter) {
  cst__permutation base;
  cst__permutation other;
  cst__permutation_init(&base, 100000, 1, 1, 1);
  cst__permutation_init(&other, 100000, 2, 1, 1);
  CHECK(differ(&base, &other));
  cst__permutation_init(&other, 100000, 1, 2, 1);
  CHECK(differ(&base, &other));
  cst__permutation_init(&other, 100000, 1, 1, 2);
  CHECK(differ(&base, &other));
}

/* ---- statistics: of fixed seeds, so that they hold or do not hold for ever ---- */

static double rank_correlation(const uint64_t *rows, uint64_t count) {
  double mean = ((double)count - 1) / 2;
  double both = 0;
  double square = 0;
  for (uint64_t i = 0; i < count; i++) {
    both += ((double)i - mean) * ((double)rows[i] - mean);
    square += ((double)i - mean) * ((double)i - mean);
  }
  return both / square;
}

/* Rows and positions in 32 classes each: chi-square of the table (961 degrees of freedom). */
static double chi_square(const uint64_t *rows, uint64_t count) {
  enum { CLASSES = 32 };
  double table[CLASSES][CLASSES] = {{0}};
  double expected = (double)count / CLASSES / CLASSES;
  double sum = 0;
  for (uint64_t i = 0; i < count; i++) {
    table[i * CLASSES / count][rows[i] * CLASSES / count]++;
  }
  for (int i = 0; i < CLASSES * CLASSES; i++) {
    double off = table[i / CLASSES][i % CLASSES] - expected;
    sum += off * off / expected;
  }
  return sum;
}

static uint64_t *permuted(uint64_t count, uint64_t seed, uint64_t epoch) {
  uint64_t *rows = calloc(count, sizeof *rows);
  cst__epoch_order order;
  cst__epoch_order_init(&order, CST_SHUFFLE_GLOBAL, count, (cst__windows){1, 1}, seed, epoch);
  cst__epoch_order_rows(&order, 0, count, rows);
  return rows;
}

TEST(far_from_the_order_of_the_file) {
  double chi_sum = 0;
  for (uint64_t epoch = 0; epoch < 40; epoch++) {
    const uint64_t count = 65536; /* whole classes */
    uint64_t *rows = permuted(count, 5, epoch);
    double chi = chi_square(rows, count);
    CHECK(fabs(rank_correlation(rows, count)) < 0.02); /* 5 standard deviations */
    CHECK(chi > 961 - 6 * 43.8 && chi < 961 + 6 * 43.8);
    chi_sum += chi;
    free(rows);
  }
  CHECK(fabs(chi_sum / 40 - 961) < 5 * 43.8 / sqrt(40));
}

TEST(neighbours_part) {
  for (uint64_t seed = 0; seed < 20; seed++) {
    const uint64_t count = 100003;
    uint64_t *rows = permuted(count, seed, 0);
    double distance = 0;
    int adjacent = 0;
    for (uint64_t i = 1; i < count; i++) {
      uint64_t between = rows[i] > rows[i - 1] ? rows[i] - rows[i - 1] : rows[i - 1] - rows[i];
      distance += (double)between;
      adjacent += between == 1;
    }
    CHECK(fabs(distance / (double)count / (double)count - 1.0 / 3) < 0.005);
    CHECK(adjacent < 12); /* two are expected */
    free(rows);
  }
}

/* The orders of four rows over 24000 seeds: each of the 24 about a thousand times. */
TEST(small_counts_have_all_orders) {
  int seen[256] = {0};
  double sum = 0;
  for (uint64_t seed = 0; seed < 24000; seed++) {
    cst__permutation p;
    uint64_t code = 0;
    cst__permutation_init(&p, 4, seed, 0, 0);
    for (uint64_t i = 0; i < 4; i++) {
      code = code << 2 | cst__permutation_at(&p, i);
    }
    seen[code]++;
  }
  for (int i = 0; i < 256; i++) {
    sum += seen[i] > 0 ? (seen[i] - 1000.0) * (seen[i] - 1000.0) / 1000.0 : 0;
    CHECK(seen[i] == 0 || seen[i] > 800);
  }
  CHECK(sum < 23 + 5 * sqrt(2.0 * 23));
}

/* Two epochs have nothing to do with each other, nor two seeds one apart. */
TEST(orders_are_independent) {
  const uint64_t count = 65536;
  uint64_t *a = permuted(count, 1, 0);
  uint64_t *b = permuted(count, 1, 1);
  uint64_t *c = permuted(count, 2, 0);
  uint64_t *joint = calloc(count, sizeof *joint);
  for (int k = 0; k < 2; k++) {
    const uint64_t *other = k == 0 ? b : c;
    for (uint64_t i = 0; i < count; i++) {
      joint[a[i]] = other[i];
    }
    CHECK(fabs(rank_correlation(joint, count)) < 0.02);
    CHECK(chi_square(joint, count) < 961 + 6 * 43.8);
  }
  free(a);
  free(b);
  free(c);
  free(joint);
}

/* ---- windows ---- */

/* Windows of `pieces` pieces of `piece` rows: each piece stands in one window. */
static void check_windows(uint64_t count, cst__windows windows, uint64_t seed) {
  cst__epoch_order order;
  uint64_t *rows = calloc(count, sizeof *rows);
  uint8_t *seen = calloc(count, 1);
  cst__epoch_order_init(&order, CST_SHUFFLE_WINDOW, count, windows, seed, 1);
  cst__epoch_order_rows(&order, 0, count, rows);
  for (uint64_t i = 0; i < count; i++) {
    uint64_t single;
    CHECK(rows[i] < count && seen[rows[i]] == 0);
    seen[rows[i]] = 1;
    cst__epoch_order_rows(&order, i, 1, &single);
    CHECK_EQ(single, rows[i]);
  }
  uint64_t piece = windows.rows / (windows.pieces < windows.rows ? windows.pieces : windows.rows);
  for (uint64_t begin = 0; begin < count;) {
    cst__row_range pieces[CST__MOST_PIECES];
    cst__placed window = cst__epoch_order_window(&order, begin);
    CHECK_EQ(window.begin, begin);
    size_t num_pieces = cst__epoch_order_pieces(&order, &window, pieces);
    CHECK(num_pieces <= windows.pieces && window.rows <= windows.rows);
    for (uint64_t i = 0; i < window.rows; i++) {
      size_t at = 0;
      while (at < num_pieces && rows[begin + i] - pieces[at].first >= pieces[at].count) {
        at++;
      }
      CHECK(at < num_pieces && pieces[at].first % piece == 0);
    }
    begin += window.rows;
  }
  free(rows);
  free(seen);
}

TEST(windows_have_their_own_rows) {
  for (uint64_t count = 1; count < 60; count++) {
    for (uint64_t window = 1; window < 12; window++) {
      for (uint64_t pieces = 1; pieces < 6; pieces++) {
        check_windows(count, (cst__windows){window, pieces}, count);
      }
    }
  }
  check_windows(10000, (cst__windows){64, 1}, 1);
  check_windows(10000, (cst__windows){64, 16}, 1);
  check_windows(10001, (cst__windows){100000, 16}, 1);
}

/* Of ten tenths of the data, a window of ten pieces has rows of most. */
TEST(pieces_mix_what_lies_far_apart) {
  uint64_t rows[1000];
  cst__epoch_order order;
  cst__epoch_order_init(&order, CST_SHUFFLE_WINDOW, 10000, (cst__windows){1000, 20}, 7, 0);
  for (uint64_t begin = 0; begin < 10000; begin += 1000) {
    bool seen[10] = {false};
    int tenths = 0;
    cst__epoch_order_rows(&order, begin, 1000, rows);
    for (size_t i = 0; i < 1000; i++) {
      tenths += !seen[rows[i] / 1000];
      seen[rows[i] / 1000] = true;
    }
    CHECK(tenths >= 6);
  }
}

TEST(without_shuffling_rows_stand_as_they_are) {
  cst__epoch_order order;
  uint64_t rows[5];
  cst__epoch_order_init(&order, CST_SHUFFLE_NONE, 100, (cst__windows){8, 1}, 1, 1);
  cst__epoch_order_rows(&order, 90, 5, rows);
  for (uint64_t i = 0; i < 5; i++) {
    CHECK_EQ(rows[i], 90 + i);
  }
  cst__epoch_order_init(&order, CST_SHUFFLE_GLOBAL, 0, (cst__windows){8, 1}, 1, 1);
  cst__epoch_order_rows(&order, 0, 0, rows);
  cst__epoch_order_init(&order, CST_SHUFFLE_WINDOW, 0, (cst__windows){8, 1}, 1, 1);
  cst__epoch_order_rows(&order, 0, 0, rows);
}
