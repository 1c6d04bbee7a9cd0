/* Sets of strings of every length, and the counting of different ones. */
#include <stdio.h>

#include "harness.h"
#include "validate/strings.h"

enum { LONGEST = 40 };

/* Strings of one length that differ in one byte each: at every position. */
static void fill(uint8_t *out, size_t size, size_t changed) {
  memset(out, 'a', size);
  if (changed < size) {
    out[changed] = 'b';
  }
}

TEST(strings_that_differ_in_one_byte) {
  for (size_t size = 0; size <= LONGEST; size++) {
    cst__arena arena;
    cst__string_set set;
    uint8_t known[LONGEST];
    uint8_t other[LONGEST];
    cst_bytes value = {known, size};
    cst__arena_init(&arena, NULL);
    fill(known, size, SIZE_MAX);
    CHECK(cst__string_set_init(&set, &value, 1, &arena));
    fill(other, size, SIZE_MAX);
    CHECK(cst__string_set_has(&set, other, size));
    for (size_t i = 0; i < size; i++) {
      fill(other, size, i);
      CHECK(!cst__string_set_has(&set, other, size));
      CHECK(!cst__string_set_has(&set, known, i)); /* a shorter one */
    }
    cst__arena_reset(&arena);
  }
}

TEST(many_strings) {
  enum { COUNT = 3000 };
  static char texts[COUNT][32];
  static cst_bytes values[COUNT];
  cst__arena arena;
  cst__string_set set;
  cst__arena_init(&arena, NULL);
  for (size_t i = 0; i < COUNT; i++) {
    int size = snprintf(texts[i], sizeof texts[i], "%zu a value of some length", i * 7);
    values[i] = (cst_bytes){(const uint8_t *)texts[i], (size_t)size};
  }
  CHECK(cst__string_set_init(&set, values, COUNT / 2, &arena));
  for (size_t i = 0; i < COUNT; i++) {
    CHECK_EQ(cst__string_set_has(&set, values[i].data, values[i].size), i < COUNT / 2);
  }
  cst__distinct distinct = {0};
  for (size_t i = 0; i < 2 * COUNT; i++) {
    CHECK(cst__distinct_add(&distinct, values[i % 500], &arena));
  }
  CHECK_EQ(distinct.count, 500);
  for (size_t i = 0; i < COUNT; i++) {
    CHECK(cst__distinct_add(&distinct, values[i], &arena));
  }
  CHECK_EQ(distinct.count, CST__MAX_DISTINCT);
  cst__arena_reset(&arena);
}

/* Where hashes lie differs from table to table, and what is saved does not. */
TEST(places_are_seeded_and_saved_bytes_are_not) {
  static char texts[400][16];
  cst__arena arena;
  cst__distinct made[2] = {{0}, {0}};
  cst__text saved[2] = {{0}, {0}};
  cst__arena_init(&arena, NULL);
  for (size_t i = 0; i < 2; i++) {
    for (size_t k = 0; k < 400; k++) {
      int size = snprintf(texts[k], sizeof texts[k], "value %zu", k);
      cst_bytes value = {(const uint8_t *)texts[k], (size_t)size};
      CHECK(cst__distinct_add(&made[i], value, &arena));
    }
    cst__archive a = cst__archive_to(&saved[i]);
    cst__distinct_archive(&made[i], &a, &arena);
    CHECK(!a.bad);
  }
  size_t moved = 0;
  for (size_t i = 0; i < 2 * CST__MAX_DISTINCT; i++) {
    moved += made[0].places[i] != made[1].places[i];
  }
  CHECK(moved > 0);
  CHECK_EQ(saved[0].size, saved[1].size);
  CHECK_MEM(saved[0].data, saved[1].data, saved[0].size);
  cst__distinct again = {0};
  cst__archive a = cst__archive_from((const uint8_t *)saved[0].data, saved[0].size);
  cst__distinct_archive(&again, &a, &arena);
  CHECK(!a.bad);
  CHECK_EQ(again.count, 400);
  cst__text_free(&saved[0]);
  cst__text_free(&saved[1]);
  cst__arena_reset(&arena);
}
