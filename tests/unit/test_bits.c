/* Bits of bitmaps as bytes, and back. */
#include "arrow/owned.h"
#include "harness.h"

enum { MANY = 100 };

TEST(bits_become_bytes_from_any_place_on) {
  uint8_t bits[MANY / 8 + 2];
  uint8_t bytes[MANY + 1];
  for (size_t i = 0; i < sizeof bits; i++) bits[i] = (uint8_t)(i * 37 + 5);
  for (int64_t from = 0; from < 9; from++) {
    for (int64_t count = 0; count < MANY - 8; count++) {
      bytes[count] = 7;
      cst__bits_to_bytes(bits, from, count, bytes);
      for (int64_t i = 0; i < count; i++) {
        CHECK_EQ(bytes[i], bits[(from + i) >> 3] >> ((from + i) & 7) & 1);
      }
      CHECK_EQ(bytes[count], 7);
    }
  }
}

TEST(bytes_that_are_not_zero_become_bits) {
  uint8_t bytes[MANY];
  uint8_t bits[MANY / 8 + 2];
  for (int i = 0; i < MANY; i++) bytes[i] = (uint8_t)(i % 3 == 0 ? 0 : 1 << i % 8);
  for (unsigned invert = 0; invert < 2; invert++) {
    for (int64_t count = 0; count < MANY; count++) {
      bits[cst__bits_size(count)] = 7;
      cst__bytes_to_bits(bytes, count, invert, bits);
      for (int64_t i = 0; i < count; i++) {
        CHECK_EQ(bits[i >> 3] >> (i & 7) & 1, (bytes[i] != 0) ^ invert);
      }
      if (count % 8 != 0) CHECK_EQ(bits[count >> 3] >> (count & 7), 0);
      CHECK_EQ(bits[cst__bits_size(count)], 7);
    }
  }
}
