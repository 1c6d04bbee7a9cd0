/* Hashes of values for sketches: fixed for ever, equal where values are, and well mixed. */
#include "sketch/hashes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static uint64_t hash_of(cst__family family, const void *item, uint64_t seed) {
  uint64_t hash = 0;
  cst__value_block one = {family, 1, item, NULL};
  cst__hash_values(&one, cst__hash_key(seed), &hash);
  return hash;
}

static uint64_t hash_of_int(int64_t value) { return hash_of(CST__FAMILY_INT, &value, 0); }
static uint64_t hash_of_uint(uint64_t value) { return hash_of(CST__FAMILY_UINT, &value, 0); }
static uint64_t hash_of_float(double value) { return hash_of(CST__FAMILY_FLOAT, &value, 0); }
static uint64_t hash_of_text(const char *text) {
  cst_bytes bytes = {(const uint8_t *)text, strlen(text)};
  return hash_of(CST__FAMILY_BYTES, &bytes, 0);
}

/* Saved sketches hold hashes: these never change. */
TEST(hashes_stay_as_they_are) {
  CHECK(cst__hash_key(0) == UINT64_C(0xe220a8397b1dcdaf));
  CHECK(hash_of_int(0) == UINT64_C(0x48218226ff3cd4bf));
  CHECK(hash_of_int(-1) == UINT64_C(0x5b67d05fbbc88e0c));
  CHECK(hash_of_float(1.5) == UINT64_C(0x79d2a77931b3630f));
  CHECK(hash_of_text("") == UINT64_C(0x48218226ff3cd4bf));
  CHECK(hash_of_text("abc") == UINT64_C(0xca08e78cad9c0748));
  CHECK(hash_of_text("abcdefgh") == UINT64_C(0xf733bf923eb9fbc4));
  CHECK(hash_of_text("abcdefghijk") == UINT64_C(0x8c3f0fd9ca580d43));
  CHECK(hash_of_text("the quick brown fox jumps over the lazy dog") ==
        UINT64_C(0xc14420e5e9d121f4));
}

TEST(equal_values_have_equal_hashes) {
  CHECK(hash_of_int(7) == hash_of_uint(7));
  CHECK(hash_of_int(INT64_MAX) == hash_of_uint(INT64_MAX));
  CHECK(hash_of_int(-1) != hash_of_uint(UINT64_MAX));
  CHECK(hash_of_int(INT64_MIN) != hash_of_uint(UINT64_C(1) << 63));
  CHECK(hash_of_float(0.0) == hash_of_float(-0.0));
  CHECK(hash_of_float((double)NAN) == hash_of_float(-(double)NAN));
  CHECK(hash_of_float((double)INFINITY) != hash_of_float(-(double)INFINITY));
  uint64_t payload = UINT64_C(0xfff0000000000123);
  double other_nan;
  memcpy(&other_nan, &payload, sizeof other_nan);
  CHECK(hash_of_float(other_nan) == hash_of_float((double)NAN));
}

TEST(words_of_few_bytes_are_their_bytes) {
  uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 200};
  for (size_t size = 0; size <= 8; size++) {
    uint64_t expected = 0;
    memcpy(&expected, bytes, size);
    uint8_t *exact = malloc(size + 1); /* so that a sanitizer sees what is read beyond them */
    CHECK(exact != NULL);
    uint8_t *at = exact + 1;
    memcpy(at, bytes, size);
    CHECK(cst__word_of_few(at, size) == expected);
    free(exact);
  }
}

static uint64_t next(uint64_t *state) {
  *state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t x = *state;
  x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
  return x ^ (x >> 32);
}

/* The block's hashes, by whatever the machine has, are those of single values. */
TEST(a_block_is_as_its_values) {
  enum { COUNT = 333 };
  uint8_t bytes[COUNT + 64];
  cst_bytes items[COUNT];
  uint64_t hashes[COUNT];
  uint64_t state = 1;
  for (size_t i = 0; i < sizeof bytes; i++) {
    bytes[i] = (uint8_t)next(&state);
  }
  for (int eights = 0; eights < 2; eights++) {
    for (size_t i = 0; i < COUNT; i++) {
      items[i] = (cst_bytes){bytes + i, eights ? 8 : i % 64};
    }
    cst__value_block block = {CST__FAMILY_BYTES, COUNT, items, NULL};
    cst__hash_values(&block, cst__hash_key(5), hashes);
    for (size_t i = 0; i < COUNT; i++) {
      CHECK(hashes[i] == cst__hash_bytes(items[i], cst__hash_key(5)));
    }
  }
}

static int compare(const void *a, const void *b) {
  const uint64_t *x = a;
  const uint64_t *y = b;
  return (*x > *y) - (*x < *y);
}

/* Beginnings, zeros and texts that differ in one place of any length up to 100. */
TEST(different_values_have_different_hashes) {
  enum { LONGEST = 100, COUNT = (LONGEST + 1) * (LONGEST + 2) / 2 };
  static uint64_t hashes[2 * COUNT];
  uint8_t bytes[LONGEST] = {0};
  size_t count = 0;
  for (size_t size = 0; size <= LONGEST; size++) {
    hashes[count++] = cst__hash_bytes((cst_bytes){bytes, size}, cst__hash_key(0));
    for (size_t i = 0; i < size; i++) {
      bytes[i] = 1;
      hashes[count++] = cst__hash_bytes((cst_bytes){bytes, size}, cst__hash_key(0));
      bytes[i] = 0;
    }
  }
  CHECK_EQ(count, COUNT);
  qsort(hashes, count, sizeof *hashes, compare);
  for (size_t i = 1; i < count; i++) {
    CHECK(hashes[i] != hashes[i - 1]);
  }
}

/* Each bit of the value turns each bit of the hash in half of all cases. */
static void check_avalanche(size_t size) {
  enum { ROUNDS = 2000 };
  uint8_t bytes[40];
  uint64_t state = size;
  for (size_t bit = 0; bit < 8 * size; bit++) {
    int turned[64] = {0};
    for (int round = 0; round < ROUNDS; round++) {
      for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(next(&state) >> 32);
      }
      uint64_t before = cst__hash_bytes((cst_bytes){bytes, size}, cst__hash_key(0));
      bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
      uint64_t change = before ^ cst__hash_bytes((cst_bytes){bytes, size}, cst__hash_key(0));
      for (int i = 0; i < 64; i++) {
        turned[i] += (int)(change >> i & 1);
      }
    }
    for (int i = 0; i < 64; i++) { /* seven standard deviations */
      CHECK(abs(turned[i] - ROUNDS / 2) < 157);
    }
  }
}

TEST(every_bit_turns_half_of_the_hash) {
  check_avalanche(4);
  check_avalanche(8);
  check_avalanche(13);
  check_avalanche(40);
}
