/* TFRecord framing: scanning, checking, truncation and damage, in every compression. */
#include <stdio.h>
#include "format/container/container.h"
#include "format/guess.h"

#include "harness.h"
#include "io_support.h"

static const cst__container *const tfrecord = &cst__tfrecord_container;

enum { MOST_FRAMES = 16 };

typedef struct walk {
  size_t records; /* sound ones in front of the first fault */
  size_t bytes;   /* that they take */
  uint64_t needed;
  cst_error error;
} walk;

/* Scans a whole stream of bytes and checks every record. */
static cst_status walk_bytes(const uint8_t *data, size_t size, uint64_t max_record_size,
                             walk *out) {
  cst__frame frames[MOST_FRAMES];
  *out = (walk){.error = CST_ERROR_INIT};
  cst_status status = CST_OK;
  while (status == CST_OK && out->bytes < size) {
    const uint8_t *at = data + out->bytes;
    const cst__chunk chunk = {at, size - out->bytes, true};
    cst__framed framed = {.frames = frames, .max = MOST_FRAMES};
    status = tfrecord->scan(&chunk, max_record_size, &framed, &out->error);
    out->needed = framed.needed;
    for (size_t i = 0; i < framed.count; i++) {
      CST__TRY(tfrecord->check(at, &frames[i], &out->error));
      out->records++;
    }
    out->bytes += framed.consumed;
    if (status == CST_OK && out->needed > 0) {
      return tfrecord->truncated(size - out->bytes, out->needed, &out->error);
    }
  }
  return status;
}

static void add_three(bytes *b) {
  bytes_add_record(b, "first", 5);
  bytes_add_record(b, "", 0);
  bytes_add_record(b, "the third record", 16);
}

enum { FIRST_END = 21, SECOND_END = 37, THIRD_END = 69 };

static bool at_record_end(size_t size) {
  return size == 0 || size == FIRST_END || size == SECOND_END || size == THIRD_END;
}

TEST(whole_records) {
  bytes b = {0};
  add_three(&b);
  CHECK_EQ(b.size, THIRD_END);
  cst__frame frames[MOST_FRAMES];
  cst__chunk chunk = {b.data, b.size, true};
  cst__framed framed = {.frames = frames, .max = MOST_FRAMES};
  CHECK_EQ(tfrecord->scan(&chunk, 0, &framed, NULL), CST_OK);
  CHECK_EQ(framed.count, 3);
  CHECK_EQ(framed.consumed, b.size);
  CHECK_EQ(framed.needed, 0);
  CHECK_EQ(frames[0].begin, 12);
  CHECK_EQ(frames[0].size, 5);
  CHECK_EQ(frames[1].size, 0);
  CHECK_MEM(b.data + frames[2].begin, "the third record", 16);
  for (size_t i = 0; i < framed.count; i++) {
    CHECK_EQ(tfrecord->check(b.data, &frames[i], NULL), CST_OK);
  }
  framed.max = 2;
  CHECK_EQ(tfrecord->scan(&chunk, 0, &framed, NULL), CST_OK);
  CHECK_EQ(framed.count, 2);
  CHECK_EQ(framed.consumed, SECOND_END);
  CHECK_EQ(framed.needed, 0);
  chunk.size = 0;
  CHECK_EQ(tfrecord->scan(&chunk, 0, &framed, NULL), CST_OK);
  CHECK_EQ(framed.count + framed.consumed + framed.needed, 0);
  bytes_free(&b);
}

/* What TensorFlow 2.21 writes for the record "hi". */
TEST(bytes_of_tensorflow) {
  static const uint8_t file[] = {2,    0,    0,    0,   0,   0,    0,    0,    0x78,
                                 0x27, 0x0b, 0x34, 'h', 'i', 0x13, 0xd6, 0x08, 0x56};
  bytes b = {0};
  bytes_add_record(&b, "hi", 2);
  CHECK_EQ(b.size, sizeof file);
  CHECK_MEM(b.data, file, sizeof file);
  bytes_free(&b);
}

/* P2: cut at every byte, a file is refused except at a record's end. */
TEST(truncation_at_every_byte) {
  bytes b = {0};
  add_three(&b);
  for (size_t size = 0; size <= b.size; size++) {
    walk w;
    cst_status status = walk_bytes(b.data, size, 0, &w);
    CHECK_EQ(status, at_record_end(size) ? CST_OK : CST_CORRUPT);
    CHECK_EQ(w.records, (size >= FIRST_END) + (size >= SECOND_END) + (size >= THIRD_END));
    CHECK_EQ(w.needed > 0, !at_record_end(size));
    if (status != CST_OK) {
      CHECK_CONTAINS(w.error.message, "truncated");
    }
  }
  walk w;
  (void)walk_bytes(b.data, FIRST_END + 5, 0, &w);
  CHECK_STR(w.error.message, "truncated: 5 of 12 bytes of a record's header");
  (void)walk_bytes(b.data, THIRD_END - 1, 0, &w);
  CHECK_STR(w.error.message, "truncated: 31 of 32 bytes of a record");
  bytes_free(&b);
}

/* The same through every compression: no cut gives a file that looks whole, but at nothing at all.
 */
TEST(truncation_of_compressed_files) {
  static const cst_compression all[] = {CST_COMPRESSION_GZIP, CST_COMPRESSION_ZLIB,
                                        CST_COMPRESSION_ZSTD};
  bytes plain = {0};
  add_three(&plain);
  for (size_t c = 0; c < 3; c++) {
    bytes stream = {0};
    CHECK_EQ(add_compressed(&stream, all[c], plain.data, plain.size), CST_OK);
    for (size_t size = 1; size <= stream.size; size++) {
      bytes out = {0};
      walk w;
      cst_status status = read_memory(stream.data, size, 0, 10, &out, NULL);
      if (status == CST_OK) {
        status = walk_bytes(out.data, out.size, 0, &w);
      }
      CHECK_EQ(status, size == stream.size ? CST_OK : CST_CORRUPT);
      bytes_free(&out);
    }
    bytes_free(&stream);
  }
  bytes_free(&plain);
}

/* CRC-32C finds every single flipped bit. */
TEST(flipped_bits) {
  bytes b = {0};
  add_three(&b);
  for (size_t bit = 0; bit < b.size * 8; bit++) {
    b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    walk w;
    CHECK_EQ(walk_bytes(b.data, b.size, 0, &w), CST_CORRUPT);
    CHECK_EQ(w.records, (bit / 8 >= FIRST_END) + (bit / 8 >= SECOND_END));
    CHECK(strncmp(w.error.message, "length CRC", 10) == 0 ||
          strncmp(w.error.message, "data CRC", 8) == 0);
    b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  bytes_free(&b);
}

TEST(messages_of_wrong_crcs) {
  bytes b = {0};
  bytes_add_record(&b, "first", 5);
  uint32_t sound;
  char expected[128];
  walk w;
  memcpy(&sound, b.data + 8, 4);
  b.data[8] ^= 1;
  CHECK_EQ(walk_bytes(b.data, b.size, 0, &w), CST_CORRUPT);
  snprintf(expected, sizeof expected, "length CRC: stored %08x, computed %08x of length 5",
           sound ^ 1, sound);
  CHECK_STR(w.error.message, expected);
  CHECK_CONTAINS(w.error.hint, "damaged: on_error \"skip\" continues with the next valid record");
  b.data[8] ^= 1;
  memcpy(&sound, b.data + 17, 4);
  b.data[17] ^= 1;
  CHECK_EQ(walk_bytes(b.data, b.size, 0, &w), CST_CORRUPT);
  snprintf(expected, sizeof expected, "data CRC: stored %08x, computed %08x over 5 bytes",
           sound ^ 1, sound);
  CHECK_STR(w.error.message, expected);
  bytes_free(&b);
}

static void add_header(bytes *b, uint64_t length) {
  uint32_t crc = cst__crc32c_mask(cst__crc32c(0, &length, 8));
  bytes_add(b, &length, 8);
  bytes_add(b, &crc, 4);
}

/* P5: a length is a claim, also with a right CRC. */
TEST(absurd_lengths) {
  static const uint64_t lengths[] = {(256 << 20) + 1, UINT64_C(1) << 62, UINT64_MAX - 15,
                                     UINT64_MAX};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    bytes b = {0};
    walk w;
    add_header(&b, lengths[i]);
    CHECK_EQ(walk_bytes(b.data, b.size, 0, &w), CST_LIMIT);
    CHECK_CONTAINS(w.error.message, "the limit is 268435456");
    CHECK_CONTAINS(w.error.hint, "max_record_size");
    cst_status status = walk_bytes(b.data, b.size, UINT64_MAX, &w);
    CHECK_EQ(status, lengths[i] > UINT64_C(1) << 62 ? CST_LIMIT : CST_CORRUPT);
    CHECK_EQ(w.needed, status == CST_CORRUPT ? lengths[i] + 16 : 0);
    bytes_free(&b);
  }
}

TEST(limits_of_records) {
  bytes b = {0};
  walk w;
  add_three(&b);
  CHECK_EQ(walk_bytes(b.data, b.size, 16, &w), CST_OK);
  CHECK_EQ(walk_bytes(b.data, b.size, 15, &w), CST_LIMIT);
  CHECK_EQ(w.records, 2);
  CHECK_EQ(w.bytes, SECOND_END);
  bytes_free(&b);
}

TEST(trailing_zeros_are_no_records) {
  bytes b = {0};
  walk w;
  add_three(&b);
  for (int i = 0; i < 64; i++) {
    bytes_add(&b, "", 1);
  }
  CHECK_EQ(walk_bytes(b.data, b.size, 0, &w), CST_CORRUPT);
  CHECK_EQ(w.records, 3);
  CHECK_CONTAINS(w.error.message, "length CRC: stored 00000000");
  bytes_free(&b);
}

/* ---- what the stream may be ---- */

TEST(sniffing) {
  bytes b = {0};
  add_three(&b);
  for (size_t size = 0; size <= 64; size++) { /* fewer bytes than a header's tell nothing */
    CHECK(tfrecord->sniff(&(cst__chunk){b.data, size, false}) == (size >= 12));
  }
  b.data[3] ^= 1;
  CHECK(!tfrecord->sniff(&(cst__chunk){b.data, 64, false}));
  CHECK(!tfrecord->sniff(&(cst__chunk){(const uint8_t *)"a,b\n1,2\n3,4\n", 12, true}));
  bytes_free(&b);
}

TEST(guesses) {
  static const struct {
    const char *bytes;
    size_t size;
    const char *part;
  } cases[] = {
      {"version https://git-lfs.github.com/spec/v1\n", 43, "Git LFS"},
      {"<!DOCTYPE html>", 15, "HTML"},
      {"\n  <HTML><head>", 15, "HTML"},
      {"<?xml version=", 14, "XML"},
      {"<Error><Code>", 13, "download"},
      {"{\"a\": 1}", 8, "JSON"},
      {" [1, 2]", 7, "JSON"},
      {"a,b\n1,2\n", 8, "CSV"},
      {"\xef\xbb\xbf"
       "a;b\n",
       7, "CSV"},
      {"hello\n", 6, "text"},
      {"PAR1\x15\x04", 6, "Parquet"},
      {"ARROW1\0\0", 8, "Arrow file"},
      {"\xff\xff\xff\xff\x88\0\0\0", 8, "Arrow stream"},
      {"PK\x03\x04", 4, "zip"},
      {"PAR1,PAR2\n1,2\n", 14, "CSV"},
      {"ORC;\xc3\x84\n", 7, "CSV"},
      {"BZh91AY&SY\x94\x02", 12, "bzip2"},
      {"\xfd"
       "7zXZ\0",
       6, "xz"},
      {"\x1f\x8b\x08\0", 4, "gzip within"},
      {"\x28\xb5\x2f\xfd", 4, "zstd within"},
      {"\x93NUMPY", 6, "NumPy"},
      {"features {\n  feature {", 22, "text-format Example"},
      {"\x0a\x14\x0a\x12\x0a\x01"
       "a\x12\x0d",
       9, "without a TFRecord"},
      {"\x0a\x94\x01\x0a\x12\x0a\x01"
       "a\x12\x0d",
       10, "without a TFRecord"},
      {"\0\0\0\0\0\0\0\0\0\0\0\0", 12, "zero bytes"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *hint = cst__guess_format((const uint8_t *)cases[i].bytes, cases[i].size);
    CHECK_CONTAINS(hint != NULL ? hint : "none", cases[i].part);
    CHECK(hint == NULL || strlen(hint) < sizeof((cst_error *)0)->hint);
  }
  CHECK(cst__guess_format((const uint8_t *)"", 0) == NULL);
  CHECK(cst__guess_format((const uint8_t *)"\x05\x81\xfe\x01", 4) == NULL);
}
