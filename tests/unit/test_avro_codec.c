/* Blocks of Avro container files: what may stand behind a stream of plain deflate, and what may
 * not. */
#include "avro/avro_codec.h"

#include <stdio.h>
#include <string.h>

#include "harness.h"

enum { LARGEST = 100000, MOST_TRAILING = 4 };

/* A block and the text that it becomes. */
typedef struct sample {
  uint8_t plain[LARGEST];
  size_t size;
  cst__text packed;
  uint8_t block[2 * LARGEST];
} sample;

static sample s;

static const cst__avro_codec *find_codec(const char *name) {
  const cst__avro_codec *codec = NULL;
  cst_error error = CST_ERROR_INIT;
  const cst_bytes word = {(const uint8_t *)name, strlen(name)};
  CHECK_EQ(cst__avro_codec_find(word, &codec, &error), CST_OK);
  return codec;
}

static void make_sample(const char *codec, size_t size) {
  uint32_t seed = 1;
  for (size_t i = 0; i < size; i++) {
    seed = seed * 1664525 + 1013904223;
    s.plain[i] = (uint8_t)(seed >> 24 & 15);
  }
  s.size = size;
  s.packed = (cst__text){.allocator = cst__default_allocator};
  cst_bytes block = {s.plain, size};
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__avro_deflate(find_codec(codec), &block, &s.packed, &error), CST_OK);
  CHECK(block.size + 64 < sizeof s.block);
  memcpy(s.block, block.data, block.size);
}

static void check_inflates(cst__avro_inflater *inflater, size_t trailing) {
  cst_bytes out;
  cst_error error = CST_ERROR_INIT;
  const cst_bytes block = {s.block, s.packed.size + trailing};
  CHECK_EQ(cst__avro_inflate(inflater, block, &out, &error), CST_OK);
  CHECK_EQ(out.size, s.size);
  CHECK_MEM(out.data, s.plain, s.size);
}

static void check_corrupt(cst__avro_inflater *inflater, size_t size, const char *message) {
  cst_bytes out;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__avro_inflate(inflater, (cst_bytes){s.block, size}, &out, &error), CST_CORRUPT);
  CHECK_CONTAINS(error.message, message);
}

/* Up to four bytes, whatever they are, are the checksum that fastavro leaves; more are an error,
 * and the next block is read as ever. */
static void check_trailing(cst__avro_inflater *inflater, const uint8_t *trailing) {
  memcpy(s.block + s.packed.size, trailing, 16);
  for (size_t n = 0; n <= MOST_TRAILING; n++) {
    check_inflates(inflater, n);
  }
  for (size_t n = MOST_TRAILING + 1; n <= 16; n++) {
    char message[96];
    (void)snprintf(message, sizeof message,
                   "%zu trailing bytes after the deflate stream (expected at most 4)", n);
    check_corrupt(inflater, s.packed.size + n, message);
    check_inflates(inflater, 0);
  }
}

TEST(bytes_behind_a_deflate_stream) {
  static const uint8_t trailing[][16] = {
      {0x5d, 0x09, 0xc8, 0x01, 0x7f},
      {0},
      {3, 0, 3, 0, 3, 0, 3, 0, 3, 0, 3, 0, 3, 0, 3, 0}, /* streams of nothing */
      {1, 0, 0, 0xff, 0xff, 1, 0, 0, 0xff, 0xff, 1, 0, 0, 0xff, 0xff, 1},
      {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
  };
  static const size_t sizes[] = {0, 1, 2, 7, 30, 64, 65, 1000, 4096, LARGEST};
  cst__avro_inflater inflater;
  cst__avro_inflater_init(&inflater, find_codec("deflate"), 0, &cst__default_allocator);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    make_sample("deflate", sizes[i]);
    for (size_t k = 0; k < sizeof trailing / sizeof *trailing; k++) {
      check_trailing(&inflater, trailing[k]);
    }
    cst__text_free(&s.packed);
  }
  cst__avro_inflater_reset(&inflater);
}

/* The same after a stream that fills the room for it to the last byte. */
TEST(bytes_behind_a_stream_that_fills_its_room) {
  static const uint8_t trailing[16] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (size_t size = 1; size < 600; size++) {
    cst__avro_inflater inflater;
    cst__avro_inflater_init(&inflater, find_codec("deflate"), 0, &cst__default_allocator);
    make_sample("deflate", size);
    check_trailing(&inflater, trailing);
    cst__text_free(&s.packed);
    cst__avro_inflater_reset(&inflater);
  }
}

TEST(a_deflate_stream_without_its_end) {
  cst__avro_inflater inflater;
  cst__avro_inflater_init(&inflater, find_codec("deflate"), 0, &cst__default_allocator);
  make_sample("deflate", 1000);
  for (size_t size = 1; size < s.packed.size; size++) {
    check_corrupt(&inflater, size, "Avro block: truncated deflate stream");
  }
  check_inflates(&inflater, 0);
  cst__text_free(&s.packed);
  cst__avro_inflater_reset(&inflater);
}

/* The other codecs end where their streams do. */
TEST(bytes_behind_a_block_of_another_codec) {
  static const struct {
    const char *codec;
    const char *message;
  } cases[] = {{"zstandard", "zstd"}, {"snappy", "Avro block: "}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cst__avro_inflater inflater;
    cst__avro_inflater_init(&inflater, find_codec(cases[i].codec), 0, &cst__default_allocator);
    make_sample(cases[i].codec, 1000);
    memset(s.block + s.packed.size, 0x55, 8);
    check_inflates(&inflater, 0);
    for (size_t n = 1; n <= 8; n++) {
      check_corrupt(&inflater, s.packed.size + n, cases[i].message);
    }
    cst__text_free(&s.packed);
    cst__avro_inflater_reset(&inflater);
  }
}
