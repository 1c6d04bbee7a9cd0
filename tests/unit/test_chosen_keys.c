/* Keys that somebody has chosen so that they meet: where a hash table's seed is not known, they lie
 * as far apart as any others. */
#include <stdio.h>

#include "decode/name_table.h"
#include "harness.h"
#include "message/decode/message_loop.h"
#include "validate/strings.h"

enum { COUNT = 4096, LONGEST_RUN = 100 /* of slots that are taken; chance gives some ten */ };

static size_t longer_run(size_t *run, size_t longest, bool is_taken) {
  *run = is_taken ? *run + 1 : 0;
  return *run > longest ? *run : longest;
}

/* The same at both ends, of one length. */
TEST(values_of_a_domain) {
  enum { SIZE = 26 };
  static char texts[COUNT][SIZE + 1];
  static cst_bytes values[COUNT];
  cst__arena arena;
  cst__string_set set;
  cst__arena_init(&arena, NULL);
  for (size_t i = 0; i < COUNT; i++) {
    (void)snprintf(texts[i], sizeof texts[i], "abcdefgh%010zuhgfedcba", i);
    values[i] = (cst_bytes){(const uint8_t *)texts[i], SIZE};
  }
  CHECK(cst__string_set_init(&set, values, COUNT, &arena));
  size_t run = 0;
  size_t longest = 0;
  for (size_t i = 0; i <= set.mask; i++) {
    longest = longer_run(&run, longest, set.slots[i].data != NULL);
  }
  CHECK(longest < LONGEST_RUN);
  cst__arena_reset(&arena);
}

/* Short ones whose end is what the length is mixed with: a product with zero is zero. */
TEST(values_that_undo_the_mixing) {
  static uint64_t words[COUNT][2];
  static cst_bytes values[COUNT];
  cst__arena arena;
  cst__string_set set;
  cst__arena_init(&arena, NULL);
  for (size_t i = 0; i < COUNT; i++) {
    words[i][0] = i;
    words[i][1] = 16 * UINT64_C(0x9e3779b97f4a7c15) ^ UINT64_C(0xd6e8feb86659fd93);
    values[i] = (cst_bytes){(const uint8_t *)words[i], sizeof words[i]};
  }
  CHECK(cst__string_set_init(&set, values, COUNT, &arena));
  size_t run = 0;
  size_t longest = 0;
  for (size_t i = 0; i <= set.mask; i++) {
    longest = longer_run(&run, longest, set.slots[i].data != NULL);
  }
  CHECK(longest < LONGEST_RUN);
  cst__arena_reset(&arena);
}

/* Names of features that differ in their 15th and 16th bytes only. */
TEST(names_of_features) {
  cst__name_table table;
  CHECK(cst__name_table_init(&table, NULL));
  for (size_t i = 0; i < COUNT; i++) {
    char name[32];
    int size = snprintf(name, sizeof name, "abcdefghijklmn%c%ctheiends", (int)('0' + i % 64),
                        (int)('0' + i / 64));
    CHECK(cst__name_table_add(&table, (const uint8_t *)name, (size_t)size));
  }
  size_t run = 0;
  size_t longest = 0;
  for (size_t i = 0; i <= table.mask; i++) {
    longest = longer_run(&run, longest, table.slots[i] != 0);
  }
  CHECK(longest < LONGEST_RUN);
  cst__name_table_reset(&table);
}

/* Numbers of fields that met as long as they were hashed without a seed. */
TEST(numbers_of_fields) {
  enum { ROOM = 8192, MOST_NUMBER = 1 << 29 };
  static size_t taken[ROOM];
  const cst__node node = {.num_index = ROOM, .seed = cst__random_seed()};
  size_t found = 0;
  size_t most = 0;
  for (uint32_t number = 1; number < MOST_NUMBER && found < COUNT; number++) {
    uint64_t old = (number * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
    if ((old & (ROOM - 1)) == 5) {
      size_t at = cst__number_hash(&node, number);
      most = ++taken[at] > most ? taken[at] : most;
      found++;
    }
  }
  CHECK_EQ(found, COUNT);
  CHECK(most < LONGEST_RUN);
}

TEST(seeds_differ) { CHECK(cst__random_seed() != cst__random_seed()); }
