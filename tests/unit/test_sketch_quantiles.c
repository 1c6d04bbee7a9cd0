/* Quantiles: ranks against those of sorted values, for many seeds, orders, weights and merges;
 * saving; what memory it takes, and the lack of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "sketch/quantiles.h"

static uint64_t random_state;

static uint64_t next_random(void) {
  random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
  uint64_t mixed = (random_state ^ (random_state >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
  return mixed ^ (mixed >> 32);
}
static double chance(void) { return (double)(next_random() >> 11) * 0x1p-53; }

static cst__quantiles_plan plan_of(double error, cst__tails tails, uint64_t seed) {
  cst__quantiles_plan plan;
  CHECK_EQ(cst__quantiles_plan_init(&plan, error, tails, seed, NULL, NULL), CST_OK);
  return plan;
}

static cst_status add_some(cst__quantiles *q, cst__family family, const void *items,
                           const double *weights, size_t count) {
  cst_status status = CST_OK;
  for (size_t i = 0; i < count && status == CST_OK; i += CST__VALUES_MOST) {
    cst__value_block block = {family, count - i < CST__VALUES_MOST ? count - i : CST__VALUES_MOST,
                              (const uint64_t *)items + i, weights != NULL ? weights + i : NULL};
    status = cst__quantiles_add(q, &block, NULL);
  }
  return status;
}

static void add(cst__quantiles *q, const double *items, const double *weights, size_t count) {
  CHECK_EQ(add_some(q, CST__FAMILY_FLOAT, items, weights, count), CST_OK);
}

static cst__quantiles_view view_of(const cst__quantiles *q) {
  cst__quantiles_view view;
  CHECK_EQ(cst__quantiles_view_init(&view, q, NULL), CST_OK);
  return view;
}

/* ---- few values ---- */

static void check_quantiles(const double *items, size_t count, double low, double middle,
                            double high) {
  cst__quantiles_plan plan = plan_of(0.01, CST__TAILS_NONE, 0);
  cst__quantiles q;
  cst__quantiles_init(&q, &plan);
  add(&q, items, NULL, count);
  cst__quantiles_view view = view_of(&q);
  CHECK_DOUBLE(cst__key_double(cst__quantiles_at(&view, 0)), low);
  CHECK_DOUBLE(cst__key_double(cst__quantiles_at(&view, 0.5)), middle);
  CHECK_DOUBLE(cst__key_double(cst__quantiles_at(&view, 1)), high);
  cst__quantiles_view_reset(&view);
  cst__quantiles_reset(&q);
}

TEST(few_values) {
  check_quantiles((double[]){3}, 1, 3, 3, 3);
  check_quantiles((double[]){3, 1}, 2, 1, 1, 3);
  check_quantiles((double[]){3, NAN, 1, 2}, 4, 1, 2, 3);
  check_quantiles((double[]){INFINITY, -INFINITY, 5}, 3, -INFINITY, 5, INFINITY);
  check_quantiles((double[]){0.0, -0.0}, 2, 0, 0, 0);
}

TEST(none) {
  cst__quantiles_plan plan = plan_of(0.01, CST__TAILS_NONE, 0);
  cst__quantiles q, other;
  cst__quantiles_init(&q, &plan);
  cst__quantiles_init(&other, &plan);
  CHECK_EQ(cst__quantiles_memory(&q), 16);
  CHECK_EQ(cst__quantiles_merge(&q, &other, NULL), CST_OK);
  add(&q, (double[]){NAN, NAN}, (double[]){0.5, 2}, 2);
  cst__quantiles_view view = view_of(&q);
  CHECK_EQ(view.count, 0);
  cst__quantiles_totals totals = cst__quantiles_get_totals(&q);
  CHECK_EQ(totals.count, 2);
  CHECK_EQ(totals.nans, 2);
  CHECK_DOUBLE(totals.weight, 0);
  CHECK_DOUBLE(totals.nan_weight, 2.5);
  add(&q, (double[]){7, 8, 9}, (double[]){0, 1, 0}, 3); /* 7 and 9 weigh nothing */
  view = view_of(&q);
  CHECK_DOUBLE(cst__key_double(view.least), 8);
  CHECK_DOUBLE(cst__key_double(view.most), 8);
  CHECK_EQ(cst__quantiles_get_totals(&q).count, 5);
  cst__quantiles_view_reset(&view);
  cst__quantiles_reset(&q);
}

TEST(integers_are_exact) {
  cst__quantiles_plan plan = plan_of(0.01, CST__TAILS_HIGH, 0);
  cst__quantiles q;
  cst__quantiles_init(&q, &plan);
  int64_t items[] = {INT64_MAX, INT64_MIN, INT64_MAX - 1, 0, -1};
  CHECK_EQ(add_some(&q, CST__FAMILY_INT, items, NULL, 5), CST_OK);
  cst__quantiles_view view = view_of(&q);
  CHECK_EQ(cst__key_int(cst__quantiles_at(&view, 0)), INT64_MIN);
  CHECK_EQ(cst__key_int(cst__quantiles_at(&view, 0.4)), -1);
  CHECK_EQ(cst__key_int(cst__quantiles_at(&view, 0.8)), INT64_MAX - 1);
  CHECK_EQ(cst__key_int(cst__quantiles_at(&view, 1)), INT64_MAX);
  CHECK_DOUBLE(cst__quantiles_rank(&view, -0.5, true), 0.4);
  CHECK_DOUBLE(cst__quantiles_rank(&view, -0.5, false), 0.4);
  CHECK_DOUBLE(cst__quantiles_rank(&view, 0, false), 0.4);
  CHECK_DOUBLE(cst__quantiles_rank(&view, 0, true), 0.6);
  CHECK_DOUBLE(cst__quantiles_rank(&view, -INFINITY, true), 0);
  CHECK_DOUBLE(cst__quantiles_rank(&view, 0x1p63, false), 1);
  CHECK_DOUBLE(cst__quantiles_rank(&view, NAN, false), NAN);
  cst__quantiles_view_reset(&view);
  cst__quantiles_reset(&q);
  uint64_t naturals[] = {UINT64_MAX, 0, UINT64_MAX - 1};
  CHECK_EQ(add_some(&q, CST__FAMILY_UINT, naturals, NULL, 3), CST_OK);
  view = view_of(&q);
  CHECK(cst__quantiles_at(&view, 0.5) == UINT64_MAX - 1);
  CHECK_DOUBLE(cst__quantiles_rank(&view, -1, true), 0);
  CHECK_DOUBLE(cst__quantiles_rank(&view, 0x1p64, true), 1);
  cst__quantiles_view_reset(&view);
  cst__quantiles_reset(&q);
}

TEST(keys_are_sorted_and_merged) {
  uint64_t keys[600], scratch[600];
  for (size_t count = 0; count < 600; count += 1 + count / 20) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
      keys[i] = count % 2 == 0 ? next_random() : next_random() % 9;
      sum += keys[i];
    }
    size_t half = count / 3;
    cst__keys_sort(keys, half, scratch);
    cst__keys_sort(keys + half, count - half, scratch);
    memcpy(scratch, keys, half * sizeof *keys);
    cst__keys_merge(scratch, half, keys, count - half);
    for (size_t i = 0; i < count; i++) {
      CHECK(i == 0 || keys[i - 1] <= keys[i]);
      sum -= keys[i];
    }
    CHECK_EQ(sum, 0);
  }
}

/* ---- bounds ---- */

typedef struct sample {
  double value, weight;
} sample;

enum { MOST = 20000 };

static double values[MOST], weights[MOST];
static sample samples[MOST];

static int by_value(const void *a, const void *b) {
  double left = ((const sample *)a)->value;
  double right = ((const sample *)b)->value;
  return (left > right) - (left < right);
}

typedef enum order_kind {
  RANDOM,
  SORTED,
  REVERSED,
  ALTERNATING,
  ZIPF,
  CONSTANT,
  NUM_ORDERS
} order_kind;

static double value_in(order_kind order, size_t i, size_t count) {
  switch (order) {
    case SORTED:
      return (double)i;
    case REVERSED:
      return -(double)i;
    case ALTERNATING:
      return i % 2 == 0 ? (double)i : (double)(count - i);
    case ZIPF:
      return floor(1 / (1 - chance()));
    case CONSTANT:
      return 7;
    default:
      return i % 1000 == 0 ? INFINITY : chance() - 0.5;
  }
}

typedef enum weight_kind { NO_WEIGHTS, INTEGERS, FRACTIONS, WIDE, NUM_WEIGHINGS } weight_kind;

static double weight_in(weight_kind weighing) {
  switch (weighing) {
    case INTEGERS:
      return (double)(next_random() % 10);
    case FRACTIONS:
      return chance();
    case WIDE:
      return exp(30 * chance());
    default:
      return 1;
  }
}

/* The greatest error of any rank, or with tails of one that chance takes: of all the weight, or of
 * that between the exact end and x. */
static double worst_error(const cst__quantiles *q, size_t count, cst__tails tails) {
  size_t only = next_random() % count;
  double total = 0;
  for (size_t i = 0; i < count; i++) {
    samples[i] = (sample){values[i], weights[i]};
    total += weights[i];
  }
  qsort(samples, count, sizeof *samples, by_value);
  cst__quantiles_view view = view_of(q);
  double kept = cst__quantiles_view_weight(&view);
  CHECK(fabs(kept - total) <= (tails == CST__TAILS_NONE ? 1e-9 : 0.01) * total);
  CHECK_DOUBLE(cst__quantiles_get_totals(q).weight > 0, 1);
  double worst = 0;
  double upto = 0;
  size_t next = 0;
  for (size_t i = 0; i < count; i++) {
    upto += samples[i].weight;
    if (i + 1 < count && samples[i + 1].value == samples[i].value) {
      continue;
    }
    size_t first = next;
    next = i + 1;
    double rank = cst__quantiles_rank(&view, samples[i].value, true);
    double low = tails == CST__TAILS_HIGH ? INFINITY : upto;
    double high = tails == CST__TAILS_LOW ? INFINITY : total - upto;
    double share = tails == CST__TAILS_NONE ? 1 : fmin(low, high) / total;
    double error = fabs(rank - upto / total);
    if (error > 1e-9 && (tails == CST__TAILS_NONE || (first <= only && only <= i))) {
      worst = fmax(worst, error / share);
    }
  }
  cst__quantiles_view_reset(&view);
  return worst;
}

/* Fills the sketch by one way or another. `num_parts`: merged in a random tree. */
static void fill(cst__quantiles *q, size_t count, bool is_weighted, size_t num_parts) {
  enum { PARTS = 50 };
  cst__quantiles parts[PARTS];
  for (size_t i = 0; i < num_parts; i++) {
    size_t from = count * i / num_parts;
    size_t to = count * (i + 1) / num_parts;
    cst__quantiles_init(&parts[i], q->plan);
    add(&parts[i], values + from, is_weighted ? weights + from : NULL, to - from);
  }
  for (size_t left = num_parts; left > 1; left--) {
    size_t from = next_random() % left;
    cst__quantiles taken = parts[from];
    parts[from] = parts[left - 1];
    size_t into = next_random() % (left - 1);
    CHECK_EQ(cst__quantiles_merge(&parts[into], &taken, NULL), CST_OK);
    cst__quantiles_reset(&taken);
  }
  *q = parts[0];
}

/* How many of the sketches have a rank that is too wrong. */
static size_t count_wrong(double error, cst__tails tails, weight_kind weighing, size_t num_parts,
                          size_t num_seeds) {
  size_t wrong = 0;
  for (size_t seed = 0; seed < num_seeds; seed += EVERY) {
    cst__quantiles_plan plan = plan_of(error, tails, seed);
    order_kind order = (order_kind)(seed % NUM_ORDERS);
    size_t count = MOST / 2 + next_random() % (MOST / 2);
    for (size_t i = 0; i < count; i++) {
      values[i] = value_in(order, i, count);
      weights[i] = weight_in(weighing);
    }
    cst__quantiles q;
    cst__quantiles_init(&q, &plan);
    fill(&q, count, weighing != NO_WEIGHTS, num_parts);
    wrong += worst_error(&q, count, tails) > error;
    CHECK(cst__quantiles_memory(&q) <= cst__quantiles_most_memory(&plan));
    cst__quantiles_reset(&q);
  }
  return wrong;
}

TEST(all_ranks_are_within_the_bound) { /* at once, where the bound is for each by itself */
  CHECK(count_wrong(0.05, CST__TAILS_NONE, NO_WEIGHTS, 1, 1000) <= 10);
  CHECK(count_wrong(0.01, CST__TAILS_NONE, NO_WEIGHTS, 1, 30) == 0);
}

TEST(so_they_are_after_merges) {
  CHECK(count_wrong(0.05, CST__TAILS_NONE, NO_WEIGHTS, 2, 60) <= 2);
  CHECK(count_wrong(0.05, CST__TAILS_NONE, NO_WEIGHTS, 50, 240) <= 4);
}

TEST(so_they_are_with_weights) {
  for (weight_kind weighing = INTEGERS; weighing < NUM_WEIGHINGS; weighing++) {
    CHECK(count_wrong(0.05, CST__TAILS_NONE, weighing, 1, 60) <= 2);
    CHECK(count_wrong(0.05, CST__TAILS_NONE, weighing, 7, 60) <= 2);
  }
}

TEST(tails_are_exact) {
  for (int tails = CST__TAILS_LOW; tails <= (int)CST__TAILS_BOTH; tails++) {
    CHECK(count_wrong(0.05, (cst__tails)tails, NO_WEIGHTS, 1, 120) <= 4);
    CHECK(count_wrong(0.05, (cst__tails)tails, NO_WEIGHTS, 20, 120) <= 4);
    CHECK(count_wrong(0.05, (cst__tails)tails, INTEGERS, 3, 60) <= 3);
    cst__quantiles_plan plan = plan_of(0.05, (cst__tails)tails, 3);
    cst__quantiles q;
    cst__quantiles_init(&q, &plan);
    for (size_t i = 0; i < MOST; i++) {
      values[i] = (double)(i * 7919 % MOST);
    }
    fill(&q, MOST, false, 5);
    cst__quantiles_view view = view_of(&q);
    for (size_t i = 0; i < 20; i++) {
      double low = (double)(i + 1) / MOST;
      if ((tails & CST__TAILS_LOW) != 0) {
        CHECK_DOUBLE(cst__quantiles_rank(&view, (double)i, true), low);
      }
      if ((tails & CST__TAILS_HIGH) != 0) {
        CHECK_DOUBLE(cst__quantiles_rank(&view, (double)(MOST - 1 - i), false), 1 - low);
      }
    }
    cst__quantiles_view_reset(&view);
    cst__quantiles_reset(&q);
  }
}

TEST(weights_that_are_huge_or_tiny) {
  cst__quantiles_plan plan = plan_of(0.05, CST__TAILS_NONE, 1);
  const double scales[] = {5e-324, 1e-310, 1e-30, 1e250};
  for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
    cst__quantiles q;
    cst__quantiles_init(&q, &plan);
    for (size_t j = 0; j < 3000; j++) {
      values[j] = chance();
      weights[j] = scales[i] * (double)(1 + j % 3);
    }
    fill(&q, 3000, true, 3);
    CHECK(worst_error(&q, 3000, CST__TAILS_NONE) < 0.05);
    add(&q, (double[]){17}, (double[]){1e290}, 1); /* outweighs all */
    cst__quantiles_view view = view_of(&q);
    CHECK_DOUBLE(cst__key_double(cst__quantiles_at(&view, 1e-3)), 17);
    cst__quantiles_view_reset(&view);
    cst__quantiles_reset(&q);
  }
}

TEST(weights_without_a_sum) {
  cst__quantiles_plan plan = plan_of(0.05, CST__TAILS_NONE, 1);
  cst__quantiles q;
  cst__quantiles_init(&q, &plan);
  double item = 1, weight = 1e308;
  cst_error error = CST_ERROR_INIT;
  cst__value_block block = {CST__FAMILY_FLOAT, 1, &item, &weight};
  CHECK_EQ(cst__quantiles_add(&q, &block, NULL), CST_OK);
  CHECK_EQ(cst__quantiles_add(&q, &block, &error), CST_LIMIT);
  CHECK_STR(error.message, "the sum of the weights is beyond what a double holds");
  CHECK_EQ(cst__quantiles_merge(&q, &q, &error), CST_LIMIT);
  CHECK_EQ(cst__quantiles_get_totals(&q).count, 1);
  cst__quantiles_reset(&q);
}

TEST(merged_with_itself) {
  cst__quantiles_plan plan = plan_of(0.05, CST__TAILS_LOW, 1);
  cst__quantiles q;
  cst__quantiles_init(&q, &plan);
  add(&q, (double[]){1, 2, 3}, (double[]){1, 0.5, 1}, 3);
  CHECK_EQ(cst__quantiles_merge(&q, &q, NULL), CST_OK);
  cst__quantiles_view view = view_of(&q);
  CHECK_DOUBLE(cst__quantiles_view_weight(&view), 5);
  CHECK_DOUBLE(cst__quantiles_rank(&view, 2, false), 0.4);
  cst__quantiles_view_reset(&view);
  cst__quantiles_reset(&q);
}

TEST(counts_do_not_wrap) {
  cst__quantiles_plan plan = plan_of(0.5, CST__TAILS_NONE, 1);
  cst__quantiles q;
  cst__quantiles_init(&q, &plan);
  add(&q, (double[]){1, 2, NAN}, NULL, 3);
  for (int i = 0; i < 70; i++) {
    CHECK_EQ(cst__quantiles_merge(&q, &q, NULL), CST_OK);
  }
  CHECK_EQ(cst__quantiles_get_totals(&q).count, INT64_MAX);
  CHECK_EQ(cst__quantiles_get_totals(&q).nans, INT64_MAX);
  CHECK_DOUBLE(cst__quantiles_get_totals(&q).weight, 0x1p71);
  CHECK(cst__quantiles_memory(&q) <= cst__quantiles_most_memory(&plan));
  cst__quantiles_reset(&q);
}

/* ---- histograms ---- */

TEST(histograms) {
  cst__quantiles_plan plan = plan_of(0.01, CST__TAILS_NONE, 0);
  cst__quantiles q;
  double bounds[5], parts[4];
  cst__quantiles_init(&q, &plan);
  add(&q, (double[]){-INFINITY, 0, 1, 2, 3, 4, 8, INFINITY}, NULL, 8);
  cst__quantiles_view view = view_of(&q);
  cst__quantiles_equal_depth(&view, 4, bounds, parts);
  const double depth_bounds[] = {-INFINITY, 0, 2, 4, INFINITY};
  const double width_bounds[] = {0, 2, 4, 6, 8};
  const double width_parts[] = {2, 2, 1, 1};
  for (size_t i = 0; i < 4; i++) {
    CHECK_DOUBLE(bounds[i + 1], depth_bounds[i + 1]);
    CHECK_DOUBLE(parts[i], 2);
  }
  CHECK(cst__quantiles_equal_width(&view, 4, bounds, parts));
  for (size_t i = 0; i < 4; i++) {
    CHECK_DOUBLE(bounds[i], width_bounds[i]);
    CHECK_DOUBLE(parts[i], width_parts[i]);
  }
  cst__quantiles_view_reset(&view);
  cst__quantiles_reset(&q);
  add(&q, (double[]){-1.5e308, 1.5e308}, NULL, 2); /* their difference is no double */
  view = view_of(&q);
  CHECK(cst__quantiles_equal_width(&view, 4, bounds, parts));
  CHECK_DOUBLE(bounds[2], 0);
  CHECK_DOUBLE(parts[0] + parts[3], 2);
  cst__quantiles_view_reset(&view);
  cst__quantiles_reset(&q);
  add(&q, (double[]){-INFINITY, INFINITY}, NULL, 2);
  view = view_of(&q);
  CHECK(!cst__quantiles_equal_width(&view, 4, bounds, parts));
  cst__quantiles_view_reset(&view);
  cst__quantiles_reset(&q);
}

/* 7 * 0.9 + 7 * 0.1 is a bit more than 7. */
TEST(buckets_of_one_value) {
  cst__quantiles_plan plan = plan_of(0.01, CST__TAILS_NONE, 0);
  cst__quantiles q;
  double bounds[11], parts[10];
  cst__quantiles_init(&q, &plan);
  add(&q, (double[]){7, 7}, NULL, 2);
  cst__quantiles_view view = view_of(&q);
  CHECK(cst__quantiles_equal_width(&view, 10, bounds, parts));
  for (size_t i = 0; i < 10; i++) {
    CHECK_DOUBLE(bounds[i], 7);
    CHECK_DOUBLE(parts[i], i < 9 ? 0 : 2);
  }
  cst__quantiles_view_reset(&view);
  cst__quantiles_reset(&q);
}

/* ---- saving ---- */

static cst__text save(cst__quantiles *q) {
  cst__text out = {0};
  cst__archive a = cst__archive_to(&out);
  cst__quantiles_archive(q, &a);
  CHECK(!out.failed);
  return out;
}

static bool load(cst__quantiles *q, const cst__text *saved) {
  cst__archive a = cst__archive_from((const uint8_t *)saved->data, saved->size);
  cst__quantiles_archive(q, &a);
  return !a.bad && a.at == a.end;
}

TEST(saved_states_go_on_as_the_others) {
  for (int tails = 0; tails <= (int)CST__TAILS_BOTH; tails++) {
    for (int is_weighted = 0; is_weighted < 2; is_weighted++) {
      cst__quantiles_plan plan = plan_of(0.1, (cst__tails)tails, 5);
      cst__quantiles a, b;
      cst__quantiles_init(&a, &plan);
      for (size_t i = 0; i < MOST; i++) {
        values[i] = chance();
        weights[i] = chance();
      }
      for (size_t at = 0; at < MOST - 3000; at += 2777) {
        add(&a, values + at, is_weighted ? weights + at : NULL, 2777);
        cst__text saved = save(&a);
        cst__quantiles_init(&b, &plan);
        CHECK(load(&b, &saved));
        cst__text again = save(&b);
        CHECK_EQ(again.size, saved.size);
        CHECK_MEM(again.data, saved.data, saved.size);
        cst__text_free(&saved);
        cst__text_free(&again);
        add(&a, values, NULL, 1000);
        add(&b, values, NULL, 1000);
        saved = save(&a);
        again = save(&b);
        CHECK_EQ(again.size, saved.size);
        CHECK_MEM(again.data, saved.data, saved.size);
        cst__text_free(&saved);
        cst__text_free(&again);
        cst__quantiles_reset(&a);
        a = b;
      }
      cst__quantiles_reset(&a);
    }
  }
}

/* Whatever the bytes are: they are refused, or make a sketch that works and keeps its bounds. */
TEST(damaged_states) {
  size_t refused = 0;
  for (int tails = 0; tails <= (int)CST__TAILS_BOTH; tails += 3) {
    cst__quantiles_plan plan = plan_of(0.3, (cst__tails)tails, 5);
    cst__quantiles a, b;
    cst__quantiles_init(&a, &plan);
    for (size_t i = 0; i < MOST; i++) {
      values[i] = (double)(next_random() % 1000);
      weights[i] = chance();
    }
    add(&a, values, NULL, 3000);
    add(&a, values, weights, 1100);
    cst__text saved = save(&a);
    for (size_t i = 0; i < 30000; i += EVERY) {
      size_t at = next_random() % (i % 2 == 0 ? 150 : saved.size);
      char before = saved.data[at];
      saved.data[at] = (char)next_random();
      cst__quantiles_init(&b, &plan);
      bool is_good = load(&b, &saved);
      refused += !is_good;
      if (is_good && add_some(&b, CST__FAMILY_FLOAT, values, weights, 300) == CST_OK) {
        add(&b, values, NULL, 600);
        CHECK_EQ(cst__quantiles_merge(&b, &a, NULL), CST_OK);
        cst__quantiles_view view = view_of(&b);
        cst__quantiles_view_reset(&view);
        CHECK(cst__quantiles_memory(&b) <= cst__quantiles_most_memory(&plan));
      }
      cst__quantiles_reset(&b);
      saved.data[at] = before;
    }
    cst__text_free(&saved);
    cst__quantiles_reset(&a);
  }
  CHECK(refused > 30000 / EVERY);
}

/* ---- memory ---- */

static int use_memory(void *context) {
  const cst__quantiles_plan *plan = context;
  cst__quantiles a, b;
  cst__quantiles_view view = {0};
  cst__quantiles_init(&a, plan);
  cst__quantiles_init(&b, plan);
  cst_status status = add_some(&a, CST__FAMILY_FLOAT, values, NULL, 1000);
  if (status == CST_OK) {
    status = add_some(&b, CST__FAMILY_FLOAT, values, weights, 1000);
  }
  uint64_t count = cst__quantiles_get_totals(&a).count;
  if (status == CST_OK) {
    status = cst__quantiles_merge(&a, &b, NULL);
    CHECK(status == CST_OK || cst__quantiles_get_totals(&a).count == count);
  }
  if (status == CST_OK) {
    status = cst__quantiles_merge(&a, &a, NULL);
  }
  if (status == CST_OK) {
    status = cst__quantiles_view_init(&view, &a, NULL);
  }
  cst__quantiles_view_reset(&view);
  cst__text saved = {0};
  cst__archive out = cst__archive_to(&saved);
  if (status == CST_OK) {
    cst__quantiles_archive(&a, &out);
    status = saved.failed ? CST_NO_MEMORY : CST_OK;
  }
  cst__quantiles_reset(&b);
  if (status == CST_OK) {
    cst__archive in = cst__archive_from((const uint8_t *)saved.data, saved.size);
    cst__quantiles_archive(&b, &in);
    status = in.no_memory ? CST_NO_MEMORY : in.bad ? CST_CORRUPT : CST_OK;
  }
  cst__text_free(&saved);
  cst__quantiles_reset(&a);
  cst__quantiles_reset(&b);
  return (int)status;
}

TEST(out_of_memory) {
  for (size_t i = 0; i < 1000; i++) {
    values[i] = chance();
    weights[i] = chance();
  }
  cst__quantiles_plan plan = plan_of(0.05, CST__TAILS_NONE, 0);
  FOR_EACH_ALLOCATION_FAILURE(use_memory, &plan, CST_NO_MEMORY);
  plan = plan_of(0.05, CST__TAILS_BOTH, 0);
  FOR_EACH_ALLOCATION_FAILURE(use_memory, &plan, CST_NO_MEMORY);
}

TEST(small_sketches_are_small) {
  cst__quantiles_plan plan = plan_of(0.01, CST__TAILS_NONE, 0);
  cst__quantiles q;
  cst__quantiles_init(&q, &plan);
  add(&q, (double[]){1}, NULL, 1);
  CHECK(cst__quantiles_memory(&q) < 700);
  CHECK(cst__quantiles_most_memory(&plan) < 20000);
  cst__quantiles_reset(&q);
}

TEST(errors_that_are_taken) {
  cst__quantiles_plan plan;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__quantiles_plan_init(&plan, 1e-5, CST__TAILS_NONE, 0, NULL, NULL), CST_OK);
  CHECK_EQ(cst__quantiles_plan_init(&plan, 0.5, CST__TAILS_NONE, 0, NULL, NULL), CST_OK);
  CHECK_EQ(cst__quantiles_plan_init(&plan, 0, CST__TAILS_NONE, 0, NULL, &error),
           CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "the error of a sketch of quantiles has to be from 0.00001 to 0.5");
  CHECK_EQ(cst__quantiles_plan_init(&plan, NAN, CST__TAILS_NONE, 0, NULL, NULL),
           CST_INVALID_ARGUMENT);
}
