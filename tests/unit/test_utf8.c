/* UTF-8: how far bytes are ASCII, and how far they are valid. */
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

/* One byte that is not ASCII, or that is not UTF-8, at any place of any length. */
TEST(ascii_and_utf8_prefixes) {
  enum { LONGEST = 200 };
  uint8_t bytes[LONGEST];
  memset(bytes, 'a', sizeof bytes);
  for (size_t size = 0; size < LONGEST; size++) {
    CHECK_EQ(cst__utf8_ascii_prefix(bytes, size), size);
    CHECK_EQ(cst__utf8_valid_prefix(bytes, size), size);
    for (size_t at = 0; at < size; at++) {
      bytes[at] = 0xff;
      size_t prefix = cst__utf8_ascii_prefix(bytes, size);
      CHECK(prefix <= at);
      CHECK(at < prefix + 64);
      CHECK_EQ(cst__utf8_valid_prefix(bytes, size), at);
      bytes[at] = 'a';
    }
  }
}

/* Texts of characters of all sizes, some damaged, against a walk from one character to the next. */
TEST(mixed_texts_are_valid_as_far_as_each_character) {
  static const char *const characters[] = {"a", "words of ASCII, more than a word", "\xc3\xa9",
                                           "\xe2\x82\xac", "\xf0\x9f\x8e\x89"};
  srand(13);
  for (int round = 0; round < 20000; round++) {
    uint8_t bytes[600];
    size_t size = 0;
    for (int count = rand() % 16; count > 0; count--) {
      const char *character = characters[rand() % 5];
      memcpy(bytes + size, character, strlen(character));
      size += strlen(character);
    }
    if (size > 0 && rand() % 2) {
      bytes[(size_t)rand() % size] = (uint8_t)rand();
    }
    size_t expected = 0;
    for (size_t step = 1; expected < size && step > 0; expected += step) {
      step = cst__utf8_char_size(bytes + expected, size - expected);
    }
    CHECK_EQ(cst__utf8_valid_prefix(bytes, size), expected);
  }
}

/* All pairs of bytes in front of some tails and others, within a block of 32 bytes and across two:
 * long texts are checked by blocks, characters alone are not. */
TEST(every_pair_of_bytes_across_blocks) {
  static const char *const others[] = {"",         "\x80",         "\xbf\x80",
                                       "\x80\x80", "\x80\x80\x80", "\xbf\xc2\xa9"};
  static const size_t places[] = {64, 93, 94, 95, 96, 125};
  enum { SIZE = 160 };
  uint8_t bytes[SIZE];
  for (unsigned pair = 0; pair < 1 << 16; pair++) {
    for (size_t other = 0; other < sizeof others / sizeof *others; other++) {
      const size_t at = places[(pair + other) % (sizeof places / sizeof *places)];
      memset(bytes, 'a', SIZE);
      memcpy(bytes, "\xc3\xa9", 2);
      bytes[at] = (uint8_t)(pair >> 8);
      bytes[at + 1] = (uint8_t)pair;
      memcpy(bytes + at + 2, others[other], strlen(others[other]));
      size_t expected = at;
      for (size_t step = 1; expected < SIZE && step > 0; expected += step) {
        step = cst__utf8_char_size(bytes + expected, SIZE - expected);
      }
      CHECK_EQ(cst__utf8_valid_prefix(bytes, SIZE), expected);
      CHECK_EQ(cst__utf8_valid_prefix(bytes, at + 1), bytes[at] < 0x80 ? at + 1 : at);
    }
  }
}
