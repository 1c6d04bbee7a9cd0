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
