/* Raw Snappy in and out: every kind of element, and what is damaged. */
#include "io/snappy.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define BLOCK(text) ((cst_bytes){(const uint8_t *)(text), sizeof(text) - 1})

typedef struct row {
  cst_bytes block;
  const char *text; /* NULL: damaged */
} row;

TEST(elements) {
  const row rows[] = {
      {BLOCK("\x00"), ""},
      {BLOCK("\x03\x08"
             "abc"),
       "abc"},
      /* a length of its own byte, of 2, of 3 and of 4 */
      {BLOCK("\x03\xf0\x02"
             "abc"),
       "abc"},
      {BLOCK("\x03\xf4\x02\x00"
             "abc"),
       "abc"},
      {BLOCK("\x03\xf8\x02\x00\x00"
             "abc"),
       "abc"},
      {BLOCK("\x03\xfc\x02\x00\x00\x00"
             "abc"),
       "abc"},
      /* copies of three forms; the last one overlaps itself */
      {BLOCK("\x08\x0c"
             "abcd"
             "\x01\x04"),
       "abcdabcd"},
      {BLOCK("\x06\x0c"
             "abcd"
             "\x06\x03\x00"),
       "abcdbc"},
      {BLOCK("\x06\x0c"
             "abcd"
             "\x07\x02\x00\x00\x00"),
       "abcdcd"},
      {BLOCK("\x09\x00"
             "a"
             "\x1e\x01\x00"),
       "aaaaaaaaa"},
      /* damaged: more or less than is said, copies from before the begin, cut elements */
      {BLOCK("\x02\x08"
             "abc"),
       NULL},
      {BLOCK("\x04\x08"
             "abc"),
       NULL},
      {BLOCK("\x08\x0c"
             "abcd"
             "\x01\x05"),
       NULL},
      {BLOCK("\x08\x0c"
             "abcd"
             "\x01\x00"),
       NULL},
      {BLOCK("\x08\x0c"
             "abcd"
             "\x01"),
       NULL},
      {BLOCK("\x03\x08"
             "ab"),
       NULL},
      {BLOCK("\x03\xfc\xff\xff\xff\xff"
             "abc"),
       NULL},
      {BLOCK("\x03"), NULL},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint8_t out[16];
    size_t size = 0;
    CHECK(cst__snappy_size(rows[i].block, &size));
    CHECK(size <= sizeof out);
    bool ok = cst__snappy_decode(rows[i].block, out, size);
    CHECK_EQ(ok, rows[i].text != NULL);
    if (rows[i].text != NULL) {
      CHECK_EQ(size, strlen(rows[i].text));
      CHECK_MEM(out, rows[i].text, size);
    }
  }
}

TEST(lengths) {
  size_t size;
  CHECK(!cst__snappy_size(BLOCK(""), &size));
  CHECK(!cst__snappy_size(BLOCK("\x80"), &size));
  CHECK(!cst__snappy_size(BLOCK("\xff\xff\xff\xff\x1f"), &size));
  CHECK(!cst__snappy_size(BLOCK("\xff\xff\xff\xff\xff\x01"), &size));
  CHECK(cst__snappy_size(BLOCK("\xff\xff\xff\xff\x0f"), &size));
  CHECK_EQ(size, UINT32_MAX);
}

TEST(checksum) { CHECK_EQ(cst__crc32("123456789", 9), 0xcbf43926); }

/* Of every size around those where literals, copies and fragments change. */
TEST(what_is_compressed_comes_back) {
  enum { MOST = 140000 };
  uint8_t *plain = malloc(MOST);
  uint8_t *packed = malloc(cst__snappy_most(MOST));
  uint8_t *again = malloc(MOST);
  uint32_t state = 1;
  for (int kind = 0; kind < 4; kind++) { /* noise, one byte, words, words far from each other */
    for (size_t i = 0; i < MOST; i++) {
      state = state * 1664525 + 1013904223;
      plain[i] = kind == 0   ? (uint8_t)(state >> 24)
                 : kind == 1 ? 'a'
                 : kind == 2 ? (uint8_t) "tea pot "[state >> 29]
                             : (uint8_t)(i % 5000 < 100 ? i : state >> 24);
    }
    for (size_t size = 0; size <= MOST; size += size < 300 ? 1 : 4547) {
      size_t found;
      cst_bytes block = {packed, cst__snappy_encode((cst_bytes){plain, size}, packed)};
      CHECK(block.size <= cst__snappy_most(size));
      CHECK(kind != 1 || size < 1000 || block.size < size / 10);
      CHECK(cst__snappy_size(block, &found) && found == size);
      CHECK(cst__snappy_decode(block, again, size));
      CHECK(size == 0 || memcmp(again, plain, size) == 0);
    }
  }
  free(plain);
  free(packed);
  free(again);
}
