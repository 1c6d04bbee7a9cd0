/* Loops that have a form for an instruction set (AVX2, SSE2, NEON), against the plain one: every
 * length, alignment and place, and random data. CRC-32C and CSV have theirs in their own files. */
#include <stdlib.h>
#include <string.h>

#include "avro/avro_take.h"
#include "decode/kernels.h"
#include "harness.h"
#include "proto/fast_wire.h"
#include "sketch/distinct_sketch.h"
#include "sketch/hashes.h"

enum { MOST_ROWS = 300 };

/* The offsets of random rows: `one_in` of them has no value; 0: all have. */
static void check_expand(cst__loop_choice choice, size_t rows, int one_in) {
  static int64_t expected[MOST_ROWS + 1];
  static int64_t found[MOST_ROWS + 1];
  uint8_t validity[MOST_ROWS / 8 + 16];
  size_t present = 0;
  int64_t end = 0;
  memset(validity, 0, sizeof validity);
  memset(expected, 0x55, sizeof expected); /* what is behind the ends is not read */
  expected[0] = 0;
  for (size_t row = 0; row < rows; row++) {
    if (one_in == 0 || rand() % one_in != 0) {
      validity[row / 8] |= (uint8_t)(1 << row % 8);
      end += rand() % 1000000007;
      expected[++present] = end;
    }
  }
  memcpy(found, expected, sizeof found);
  cst__kernels_find(CST__LOOP_SLOW)->expand(expected, validity, rows, present);
  cst__kernels_find(choice)->expand(found, validity, rows, present);
  CHECK_MEM(found, expected, sizeof found);
}

TEST(offsets_of_rows_without_values) {
  srand(3);
  for (size_t rows = 0; rows <= MOST_ROWS; rows++) {
    for (int one_in = 0; one_in < 8; one_in++) {
      check_expand(CST__LOOP_BEST, rows, one_in);
      check_expand(CST__LOOP_BASE, rows, one_in);
    }
  }
}

static bool is_ascii_plainly(const uint8_t *at, size_t size) {
  uint8_t high = 0;
  for (size_t i = 0; i < size; i++) {
    high |= at[i];
  }
  return high < 0x80;
}

/* One byte that is not ASCII: within the text, and at each place before and behind it. */
TEST(ascii_of_avro) {
  enum { LONGEST = 100 };
  uint8_t bytes[16 + LONGEST + CST__AVRO_SLACK];
  for (size_t size = 0; size <= LONGEST; size++) {
    for (size_t begin = 0; begin < 16; begin++) {
      memset(bytes, 0x7f, sizeof bytes);
      CHECK(cst__avro_is_ascii(bytes + begin, size));
      for (size_t at = 0; at < begin + size + CST__AVRO_SLACK; at++) {
        bytes[at] = 0x80;
        CHECK_EQ(cst__avro_is_ascii(bytes + begin, size), is_ascii_plainly(bytes + begin, size));
        bytes[at] = 0x7f;
      }
    }
  }
}

/* One value at a time has no vectors. */
TEST(hashes_of_blocks) {
  int64_t values[CST__VALUES_MOST];
  uint64_t hashes[CST__VALUES_MOST];
  const uint64_t key = cst__hash_key(5);
  for (size_t i = 0; i < CST__VALUES_MOST; i++) {
    values[i] = (int64_t)(i * UINT64_C(0x9e3779b97f4a7c15));
  }
  for (size_t count = 1; count <= CST__VALUES_MOST; count += count < 70 ? 1 : 37) {
    const cst__value_block block = {.family = CST__FAMILY_INT, .items = values, .count = count};
    cst__hash_values(&block, key, hashes);
    for (size_t i = 0; i < count; i++) {
      const cst__value_block one = {.family = CST__FAMILY_INT, .items = &values[i], .count = 1};
      uint64_t hash;
      cst__hash_values(&one, key, &hash);
      CHECK_EQ(hashes[i], hash);
    }
  }
}

/* Many hashes at once, of which most are too low to change a register, and each alone. */
TEST(hashes_that_change_nothing_are_left_out) {
  enum { PRECISION = 4, MANY = 20000 };
  static uint64_t hashes[MANY];
  cst__distinct_sketch many;
  cst__distinct_sketch each;
  for (size_t i = 0; i < MANY; i++) {
    hashes[i] = cst__hash_key(i);
  }
  cst__distinct_sketch_init(&many, PRECISION, 1, NULL);
  cst__distinct_sketch_init(&each, PRECISION, 1, NULL);
  for (size_t begin = 0, size = 1; begin < MANY; begin += size, size = size % 1500 + 7) {
    size = size < MANY - begin ? size : MANY - begin;
    CHECK_EQ(cst__distinct_sketch_add_hashes(&many, hashes + begin, size, NULL), CST_OK);
    for (size_t i = begin; i < begin + size; i++) {
      CHECK_EQ(cst__distinct_sketch_add_hashes(&each, &hashes[i], 1, NULL), CST_OK);
    }
    CHECK_DOUBLE(cst__distinct_sketch_estimate(&many), cst__distinct_sketch_estimate(&each));
  }
  CHECK(many.passed != 0 && many.registers != NULL && each.registers != NULL);
  CHECK_MEM(many.registers, each.registers, 1 << PRECISION);
  cst__distinct_sketch_reset(&many);
  cst__distinct_sketch_reset(&each);
}

static uint64_t random_word(void) {
  uint64_t word = 0;
  for (int i = 0; i < 5; i++) {
    word = word << 15 ^ (uint64_t)rand();
  }
  return word >> rand() % 64;
}

/* Eight bytes at a time, against one at a time: with readable bytes behind the end, and without. */
TEST(packed_varints) {
  enum { VALUES = 40 };
  srand(5);
  for (int round = 0; round < 2000; round++) {
    uint8_t bytes[VALUES * 10 + SLACK];
    int64_t values[VALUES];
    int64_t found[VALUES * 10];
    uint8_t *end = bytes;
    int count = rand() % VALUES;
    for (int i = 0; i < count; i++) {
      uint64_t left = random_word();
      for (values[i] = (int64_t)left; left >= 0x80; left >>= 7) {
        *end++ = (uint8_t)(left | 0x80);
      }
      *end++ = (uint8_t)left;
    }
    memset(end, round % 2 ? 0xff : 0, SLACK);
    for (int slack = 0; slack < 2; slack++) {
      int64_t *last = slack ? unpack(bytes, end, true, found) : unpack(bytes, end, false, found);
      CHECK(last == found + count);
      CHECK_MEM(found, values, (size_t)count * sizeof *values);
    }
  }
}

TEST(copies_of_32_bytes) {
  uint8_t from[300 + SLACK];
  uint8_t to[300 + SLACK];
  for (size_t i = 0; i < sizeof from; i++) {
    from[i] = (uint8_t)(i * 7 + 1);
  }
  for (size_t size = 0; size <= 300; size++) {
    for (size_t begin = 0; begin < 8 && begin + size <= 300; begin++) {
      memset(to, 0, sizeof to);
      copy_values(to, from + begin, size, true);
      CHECK_MEM(to, from + begin, size);
      memset(to, 0, sizeof to);
      copy_values(to, from + begin, size, false);
      CHECK_MEM(to, from + begin, size);
      CHECK_EQ(to[size], 0);
    }
  }
}
