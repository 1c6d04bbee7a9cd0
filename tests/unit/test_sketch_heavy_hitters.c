/* Heavy hitters: true weights within the bounds, in any order and any merges; exact for few. */
#include "sketch/heavy_hitters.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static cst__heavy new_heavy(size_t size) {
  cst__heavy heavy;
  cst__heavy_options options = {size, 4096, 0};
  cst__heavy_init(&heavy, &options, NULL);
  return heavy;
}

static void add_ints(cst__heavy *heavy, const int64_t *items, const double *weights, size_t count) {
  for (size_t i = 0; i < count; i += CST__VALUES_MOST) {
    size_t n = count - i < CST__VALUES_MOST ? count - i : CST__VALUES_MOST;
    cst__value_block values = {CST__FAMILY_INT, n, items + i, weights != NULL ? weights + i : NULL};
    CHECK_EQ(cst__heavy_add(heavy, &values, NULL), CST_OK);
  }
}

static cst_status add_text(cst__heavy *heavy, const char *text, double weight) {
  cst_bytes bytes = {(const uint8_t *)text, strlen(text)};
  cst__value_block one = {CST__FAMILY_BYTES, 1, &bytes, &weight};
  return cst__heavy_add(heavy, &one, NULL);
}

static cst__text bytes_of(cst__heavy *heavy) {
  cst__text out = {0};
  cst__archive a = cst__archive_to(&out);
  cst__heavy_archive(heavy, &a);
  CHECK(!out.failed);
  return out;
}

static void check_same(cst__heavy *a, cst__heavy *b) {
  cst__text x = bytes_of(a);
  cst__text y = bytes_of(b);
  CHECK_EQ(x.size, y.size);
  CHECK_MEM(x.data, y.data, x.size);
  cst__text_free(&x);
  cst__text_free(&y);
}

static uint64_t next(uint64_t *state) {
  *state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t x = *state;
  x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
  x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
  return x ^ (x >> 32);
}

/* ---- bounds ---- */

enum { COUNT = 3000, KINDS = 1000 };

typedef struct stream {
  int64_t items[COUNT]; /* below KINDS */
  double weights[COUNT];
} stream;

enum { ZIPF, SORTED, REVERSED, CONSTANT, ALTERNATING, UNIFORM, NEW_AT_LAST, NUM_ORDERS };

static int descending(const void *a, const void *b) {
  const int64_t *x = a;
  const int64_t *y = b;
  return (*x < *y) - (*x > *y);
}

static void make_stream(stream *s, int order, uint64_t seed) {
  uint64_t state = seed;
  for (int64_t i = 0; i < COUNT; i++) {
    uint64_t random = next(&state);
    int64_t zipf = KINDS / (1 + (int64_t)(random % KINDS));
    s->items[i] = order == CONSTANT      ? 5
                  : order == ALTERNATING ? i % 2 * (i / 2 % KINDS)
                  : order == UNIFORM     ? (int64_t)(random % KINDS)
                  : order == NEW_AT_LAST
                      ? (i < COUNT / 2 ? i % KINDS : 7)
                      : zipf - 1 + (zipf == 1 ? (int64_t)(random >> 40) % 600 : 0);
    s->weights[i] = seed % 2 == 0 ? 1 : (double)(next(&state) % 8) / 4;
  }
  if (order == SORTED || order == REVERSED) {
    qsort(s->items, COUNT, sizeof *s->items, descending);
    for (size_t i = 0; order == SORTED && i < COUNT / 2; i++) {
      int64_t item = s->items[i];
      s->items[i] = s->items[COUNT - 1 - i];
      s->items[COUNT - 1 - i] = item;
    }
  }
}

/* Every value is in its bounds; what has no counter weighs at most the offset, which is at most
 * what the header says. */
static void check_bounds(const cst__heavy *heavy, const stream *s) {
  static double truth[KINDS];
  cst__heavy_item *items;
  size_t count;
  double weight = 0;
  memset(truth, 0, sizeof truth);
  for (size_t i = 0; i < COUNT; i++) {
    truth[s->items[i]] += s->weights[i];
    weight += s->weights[i];
  }
  CHECK(heavy->offset <= weight / ((double)heavy->options.size + 1));
  CHECK_EQ(cst__heavy_items(heavy, &items, &count, NULL), CST_OK);
  CHECK(count <= 2 * heavy->options.size);
  for (size_t i = 0; i < count; i++) {
    double exact = truth[items[i].bits];
    CHECK(items[i].lower <= exact && exact <= items[i].upper);
    CHECK(items[i].upper - items[i].lower <= heavy->offset);
    CHECK(i == 0 || items[i - 1].upper > items[i].upper ||
          (items[i - 1].upper == items[i].upper && items[i - 1].bits < items[i].bits));
    truth[items[i].bits] = -1;
  }
  for (size_t i = 0; i < KINDS; i++) {
    CHECK(truth[i] <= heavy->offset);
  }
  cst__delete(items);
}

TEST(true_weights_are_within_the_bounds) {
  static stream s;
  for (uint64_t seed = 0; seed < 1050; seed++) {
    cst__heavy heavy = new_heavy(1 + (size_t)(seed * 7 % 120));
    make_stream(&s, (int)(seed % NUM_ORDERS), seed);
    add_ints(&heavy, s.items, s.weights, COUNT);
    check_bounds(&heavy, &s);
    cst__heavy_reset(&heavy);
  }
}

/* Up to twelve sketches of parts, of which any two are merged until one is left. */
TEST(any_tree_of_merges_keeps_the_bounds) {
  static stream s;
  for (uint64_t seed = 0; seed < 1050; seed++) {
    cst__heavy parts[12];
    uint64_t state = seed + 77;
    size_t num_parts = 1 + seed % 12;
    make_stream(&s, (int)(seed % NUM_ORDERS), seed);
    for (size_t i = 0; i < num_parts; i++) {
      size_t begin = COUNT * i / num_parts;
      parts[i] = new_heavy(1 + (size_t)(seed * 7 % 120));
      add_ints(&parts[i], s.items + begin, s.weights + begin, COUNT * (i + 1) / num_parts - begin);
    }
    while (num_parts > 1) {
      size_t from = (size_t)(next(&state) % num_parts);
      size_t into = from == num_parts - 1 ? 0 : num_parts - 1;
      CHECK_EQ(cst__heavy_merge(&parts[into], &parts[from], NULL), CST_OK);
      cst__heavy_reset(&parts[from]);
      if (from != num_parts - 1) {
        parts[from] = parts[num_parts - 1];
      }
      num_parts--;
    }
    check_bounds(&parts[0], &s);
    CHECK(cst__heavy_memory(&parts[0]) <= sizeof(cst__heavy) + 250 * (40 + 64) + 1024);
    cst__heavy_reset(&parts[0]);
  }
}

TEST(few_are_exact_in_any_order) {
  static stream s;
  cst__heavy forwards = new_heavy(KINDS / 2);
  cst__heavy backwards = new_heavy(KINDS / 2);
  cst__heavy other = new_heavy(KINDS / 2);
  make_stream(&s, UNIFORM, 1);
  add_ints(&forwards, s.items, s.weights, COUNT);
  for (size_t i = COUNT; i > 0; i--) {
    add_ints(i % 3 == 0 ? &other : &backwards, &s.items[i - 1], &s.weights[i - 1], 1);
  }
  CHECK_EQ(cst__heavy_merge(&other, &backwards, NULL), CST_OK);
  CHECK_DOUBLE(forwards.offset, 0);
  check_bounds(&forwards, &s);
  check_same(&forwards, &other);
  cst__heavy_reset(&forwards);
  cst__heavy_reset(&backwards);
  cst__heavy_reset(&other);
}

/* Merging is commutative, also in bytes, and what was loaded goes on as what was saved. */
TEST(merges_and_loaded_ones_give_the_same_bytes) {
  static stream s;
  for (uint64_t seed = 0; seed < 40; seed++) {
    make_stream(&s, (int)(seed % NUM_ORDERS), seed);
    cst__heavy a = new_heavy(20);
    cst__heavy b = new_heavy(20);
    cst__heavy ab = new_heavy(20);
    add_ints(&a, s.items, s.weights, COUNT / 2);
    add_ints(&b, s.items + COUNT / 2, s.weights + COUNT / 2, COUNT / 2);
    CHECK_EQ(cst__heavy_merge(&ab, &a, NULL), CST_OK);
    check_same(&ab, &a);
    CHECK_EQ(cst__heavy_merge(&ab, &b, NULL), CST_OK);
    CHECK_EQ(cst__heavy_merge(&b, &a, NULL), CST_OK);
    check_same(&ab, &b);
    cst__text out = bytes_of(&a);
    cst__heavy loaded = new_heavy(20);
    cst__archive load = cst__archive_from((const uint8_t *)out.data, out.size);
    cst__heavy_archive(&loaded, &load);
    CHECK(!load.bad && load.at == load.end);
    check_same(&a, &loaded);
    add_ints(&a, s.items, s.weights, COUNT);
    add_ints(&loaded, s.items, s.weights, COUNT);
    check_same(&a, &loaded);
    cst__text_free(&out);
    cst__heavy_reset(&a);
    cst__heavy_reset(&b);
    cst__heavy_reset(&ab);
    cst__heavy_reset(&loaded);
  }
}

/* ---- values ---- */

static void check_top(const cst__heavy *heavy, size_t at, const char *text, double lower) {
  cst__heavy_item *items;
  size_t count;
  CHECK_EQ(cst__heavy_items(heavy, &items, &count, NULL), CST_OK);
  CHECK(at < count);
  CHECK_EQ(items[at].bytes.size, strlen(text));
  CHECK_MEM(items[at].bytes.data, text, strlen(text));
  CHECK_DOUBLE(items[at].lower, lower);
  CHECK_DOUBLE(items[at].upper, lower);
  cst__delete(items);
}

TEST(ties_are_in_the_order_of_values) {
  cst__heavy heavy = new_heavy(10);
  static const char *const texts[] = {
      "b", "abcdefghijklmnopqrstuvwxyz", "", "ab", "abcdefghij", "abcdefghijk"};
  for (size_t i = 0; i < 6; i++) {
    CHECK_EQ(add_text(&heavy, texts[i], 2), CST_OK);
  }
  CHECK_EQ(add_text(&heavy, "b", 1), CST_OK);
  check_top(&heavy, 0, "b", 3);
  check_top(&heavy, 1, "", 2);
  check_top(&heavy, 2, "ab", 2);
  check_top(&heavy, 3, "abcdefghij", 2);
  check_top(&heavy, 4, "abcdefghijk", 2);
  check_top(&heavy, 5, "abcdefghijklmnopqrstuvwxyz", 2);
  cst__heavy_reset(&heavy);
}

TEST(numbers_are_in_their_order) {
  static const double floats[] = {1.5, (double)NAN, -0.0, -(double)INFINITY, 0.0, -2, -(double)NAN};
  static const double expected[] = {0, (double)NAN, -(double)INFINITY, -2, 1.5};
  cst__heavy heavy = new_heavy(10);
  cst__value_block values = {CST__FAMILY_FLOAT, 7, floats, NULL};
  cst__heavy_item *items;
  size_t count;
  CHECK_EQ(cst__heavy_add(&heavy, &values, NULL), CST_OK);
  CHECK_EQ(cst__heavy_items(&heavy, &items, &count, NULL), CST_OK);
  CHECK_EQ(count, 5);
  for (size_t i = 0; i < 5; i++) {
    double value;
    memcpy(&value, &items[i].bits, sizeof value);
    CHECK_DOUBLE(value, expected[i]);
    CHECK_DOUBLE(items[i].upper, i < 2 ? 2 : 1);
    CHECK(!signbit(value) || value < 0);
  }
  cst__delete(items);
  cst__heavy_reset(&heavy);
  static const int64_t ints[] = {3, INT64_MIN, -1, INT64_MAX};
  values = (cst__value_block){CST__FAMILY_INT, 4, ints, NULL};
  CHECK_EQ(cst__heavy_add(&heavy, &values, NULL), CST_OK);
  CHECK_EQ(cst__heavy_items(&heavy, &items, &count, NULL), CST_OK);
  CHECK_EQ((int64_t)items[0].bits, INT64_MIN);
  CHECK_EQ((int64_t)items[1].bits, -1);
  CHECK_EQ((int64_t)items[3].bits, INT64_MAX);
  cst__delete(items);
  cst__heavy_reset(&heavy);
}

TEST(weights_are_never_lost_in_infinity) {
  cst__heavy heavy = new_heavy(1);
  CHECK_EQ(add_text(&heavy, "none", 0), CST_OK);
  CHECK_EQ(heavy.table.count, 0);
  CHECK_EQ(add_text(&heavy, "tiny", 5e-324), CST_OK);
  CHECK_EQ(add_text(&heavy, "huge", 1e300), CST_OK);
  check_top(&heavy, 0, "huge", 1e300);
  check_top(&heavy, 1, "tiny", 5e-324);
  for (int i = 0; i < 4; i++) {
    CHECK_EQ(add_text(&heavy, "huge", DBL_MAX), CST_OK);
  }
  check_top(&heavy, 0, "huge", DBL_MAX);
  CHECK_EQ(add_text(&heavy, "third", 1), CST_OK); /* "third" is the second: "tiny" goes */
  CHECK_DOUBLE(heavy.offset, 1);
  CHECK_EQ(heavy.table.count, 1);
  CHECK_EQ(add_text(&heavy, "a", DBL_MAX), CST_OK);
  CHECK_EQ(add_text(&heavy, "b", DBL_MAX), CST_OK);
  CHECK_EQ(add_text(&heavy, "c", 1), CST_OK);
  CHECK(heavy.offset <= DBL_MAX);
  cst__heavy_reset(&heavy);
}

/* What is too small to be seen beside what was forgotten has a counter as well. */
TEST(tiny_weights_after_large_ones) {
  cst__heavy heavy = new_heavy(1);
  CHECK_EQ(add_text(&heavy, "a", 8), CST_OK);
  CHECK_EQ(add_text(&heavy, "b", 6), CST_OK);
  CHECK_EQ(add_text(&heavy, "c", 4), CST_OK);
  CHECK_DOUBLE(heavy.offset, 6);
  CHECK_EQ(add_text(&heavy, "d", 1e-30), CST_OK);
  CHECK_EQ(heavy.table.count, 2);
  cst__text out = bytes_of(&heavy);
  cst__heavy loaded = new_heavy(1);
  cst__archive load = cst__archive_from((const uint8_t *)out.data, out.size);
  cst__heavy_archive(&loaded, &load);
  CHECK(!load.bad);
  check_same(&heavy, &loaded);
  cst__text_free(&out);
  cst__heavy_reset(&loaded);
  cst__heavy_reset(&heavy);
}

/* Of a value that is too long, the beginning is kept, and its size and hash tell it from others. */
TEST(long_values_are_cut_and_told_apart) {
  enum { LONG = 1 << 20 };
  cst__heavy heavy;
  cst__heavy_options options = {5, 16, 0};
  cst__heavy_item *items;
  size_t count;
  char *text = malloc(LONG + 1);
  CHECK(text != NULL);
  memset(text, 'x', LONG);
  text[LONG] = '\0';
  cst__heavy_init(&heavy, &options, NULL);
  CHECK_EQ(add_text(&heavy, text, 3), CST_OK);
  CHECK_EQ(add_text(&heavy, text, 3), CST_OK);
  CHECK_EQ(add_text(&heavy, text + 1, 2), CST_OK);
  text[LONG - 1] = 'y';
  CHECK_EQ(add_text(&heavy, text, 1), CST_OK);
  text[16] = '\0';
  CHECK_EQ(add_text(&heavy, text, 0.5), CST_OK);
  CHECK_EQ(cst__heavy_items(&heavy, &items, &count, NULL), CST_OK);
  CHECK_EQ(count, 4);
  static const double expected[] = {6, 2, 1, 0.5};
  for (size_t i = 0; i < 4; i++) {
    CHECK_EQ(items[i].bytes.size, 16);
    CHECK_MEM(items[i].bytes.data, "xxxxxxxxxxxxxxxx", 16);
    CHECK_DOUBLE(items[i].lower, expected[i]);
  }
  cst__delete(items);
  CHECK(cst__heavy_memory(&heavy) < 2000);
  cst__text out = bytes_of(&heavy);
  cst__heavy loaded;
  cst__heavy_init(&loaded, &options, NULL);
  cst__archive load = cst__archive_from((const uint8_t *)out.data, out.size);
  cst__heavy_archive(&loaded, &load);
  CHECK(!load.bad);
  check_same(&heavy, &loaded);
  cst__text_free(&out);
  cst__heavy_reset(&loaded);
  cst__heavy_reset(&heavy);
  free(text);
}

/* ---- saving ---- */

typedef struct saved {
  int family;
  double offset;
  const char *text[2];
  double lower[2], error[2];
} saved;

static bool loads(saved s, size_t cut) {
  cst__text out = {0};
  cst__archive a = cst__archive_to(&out);
  size_t count = 2;
  cst__archive_enum(&a, &s.family, 100);
  cst__archive_double(&a, &s.offset);
  cst__archive_count(&a, &count);
  for (size_t i = 0; i < 2; i++) {
    cst_bytes bytes = {(const uint8_t *)s.text[i], strlen(s.text[i])};
    cst__archive_bytes(&a, &bytes);
    cst__archive_double(&a, &s.lower[i]);
    cst__archive_double(&a, &s.error[i]);
  }
  cst__heavy heavy = new_heavy(1);
  cst__archive load = cst__archive_from((const uint8_t *)out.data, out.size - cut);
  cst__heavy_archive(&heavy, &load);
  bool good = !load.bad;
  cst__heavy_reset(&heavy);
  cst__text_free(&out);
  return good;
}

TEST(bytes_that_saving_never_writes_are_bad) {
  static const saved sound = {CST__FAMILY_BYTES, 2, {"a", "b"}, {3, 1}, {0, 2}};
  CHECK(loads(sound, 0));
  for (size_t cut = 1; cut < 20; cut++) {
    CHECK(!loads(sound, cut));
  }
  saved s = sound;
  s.text[1] = "a"; /* twice */
  CHECK(!loads(s, 0));
  s.text[0] = "b"; /* not in their order */
  CHECK(!loads(s, 0));
  s = sound;
  s.error[1] = 0.5; /* would have gone */
  CHECK(!loads(s, 0));
  s.error[1] = 3; /* nothing has forgotten as much */
  CHECK(!loads(s, 0));
  s = sound;
  s.family = CST__FAMILY_NONE;
  CHECK(!loads(s, 0));
  s.family = CST__FAMILY_BYTES + 1;
  CHECK(!loads(s, 0));
  static const double bad[] = {-1, (double)NAN, (double)INFINITY};
  for (size_t i = 0; i < 3; i++) {
    s = sound;
    s.lower[0] = bad[i];
    CHECK(!loads(s, 0));
    s = sound;
    s.error[0] = bad[i];
    CHECK(!loads(s, 0));
    s = sound;
    s.offset = bad[i];
    CHECK(!loads(s, 0));
  }
}

static int add_merge_and_save(void *context) {
  (void)context;
  cst__heavy a = new_heavy(8);
  cst__heavy b = new_heavy(8);
  cst__text out = {0};
  cst__heavy_item *items = NULL;
  size_t count = 0;
  char text[32];
  cst_status status = CST_OK;
  for (int i = 0; i < 40 && status == CST_OK; i++) {
    (void)snprintf(text, sizeof text, "number %d of them all", i);
    status = add_text(i % 2 == 0 ? &a : &b, text, i);
  }
  status = status != CST_OK ? status : cst__heavy_merge(&a, &b, NULL);
  status = status != CST_OK ? status : cst__heavy_items(&a, &items, &count, NULL);
  cst__delete(items);
  cst__archive save = cst__archive_to(&out);
  cst__heavy_archive(&a, &save);
  status = status != CST_OK ? status : out.failed ? CST_NO_MEMORY : CST_OK;
  if (status == CST_OK) {
    cst__archive load = cst__archive_from((const uint8_t *)out.data, out.size);
    cst__heavy_reset(&b);
    cst__heavy_archive(&b, &load);
    status = load.no_memory ? CST_NO_MEMORY : CST_OK;
  }
  cst__text_free(&out);
  cst__heavy_reset(&a);
  cst__heavy_reset(&b);
  return status;
}

TEST(failing_allocations_are_reported) {
  FOR_EACH_ALLOCATION_FAILURE(add_merge_and_save, NULL, CST_NO_MEMORY);
}
