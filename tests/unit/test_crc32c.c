/* CRC-32C: published values, and every way against the tables. */
#include "base/crc32c.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

/* RFC 3720, B.4. */
TEST(values_of_the_rfc) {
  uint8_t data[32];
  memset(data, 0, sizeof data);
  CHECK_EQ(cst__crc32c(0, data, sizeof data), 0x8a9136aa);
  memset(data, 0xff, sizeof data);
  CHECK_EQ(cst__crc32c(0, data, sizeof data), 0x62a8ab43);
  for (size_t i = 0; i < sizeof data; i++) {
    data[i] = (uint8_t)i;
  }
  CHECK_EQ(cst__crc32c(0, data, sizeof data), 0x46dd794e);
  for (size_t i = 0; i < sizeof data; i++) {
    data[i] = (uint8_t)(31 - i);
  }
  CHECK_EQ(cst__crc32c(0, data, sizeof data), 0x113fdb5c);
  CHECK_EQ(cst__crc32c(0, "123456789", 9), 0xe3069283);
  CHECK_EQ(cst__crc32c(0, NULL, 0), 0);
}

TEST(pieces_make_the_whole) {
  const char *text = "the quick brown fox jumps over the lazy dog";
  uint32_t whole = cst__crc32c(0, text, strlen(text));
  for (size_t cut = 0; cut <= strlen(text); cut++) {
    uint32_t first = cst__crc32c(0, text, cut);
    CHECK_EQ(cst__crc32c(first, text + cut, strlen(text) - cut), whole);
  }
}

/* The header of a record of 7 bytes, as TensorFlow writes it. */
TEST(masked_form) {
  const uint8_t header[12] = {7, 0, 0, 0, 0, 0, 0, 0};
  uint32_t crc = cst__crc32c(0, header, 8);
  uint32_t masked = cst__crc32c_mask(crc);
  CHECK_EQ(masked, ((crc >> 15) | (crc << 17)) + 0xa282ead8);
}

static void compare_ways(cst__crc32c_way way) {
  enum { LARGEST = 20000 };
  static uint8_t data[LARGEST + 64];
  uint32_t seed = 1;
  for (size_t i = 0; i < sizeof data; i++) {
    seed = seed * 1664525 + 1013904223;
    data[i] = (uint8_t)(seed >> 24);
  }
  for (size_t size = 0; size <= LARGEST; size += size < 4200 ? 1 : 251) {
    const uint8_t *at = data + size % 61;
    uint32_t begin = (uint32_t)size * 0x9e3779b9;
    if (cst__crc32c_by(way, begin, at, size) !=
        cst__crc32c_by(CST__CRC32C_TABLES, begin, at, size)) {
      CHECK_EQ(size, -1);
    }
  }
}

TEST(every_way_is_the_same) {
  for (int way = CST__CRC32C_TABLES; way < CST__NUM_CRC32C_WAYS; way++) {
    if (cst__crc32c_has((cst__crc32c_way)way)) {
      compare_ways((cst__crc32c_way)way);
    }
  }
}
