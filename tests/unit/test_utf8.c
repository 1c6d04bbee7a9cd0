/* UTF-8: how far bytes are ASCII, and how far they are valid. */
#include "base/utf8.h"

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
