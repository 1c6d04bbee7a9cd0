/* Reading bytes: every compression in pieces of every size, its faults, limits and edge cases. */
#include "format/container/container.h"
#include "io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"
#include "harness.h"
#include "io/raw.h"
#include "io_support.h"

static const cst_compression compressions[] = {CST_COMPRESSION_NONE, CST_COMPRESSION_GZIP,
                                               CST_COMPRESSION_ZLIB, CST_COMPRESSION_ZSTD};
enum { NUM_COMPRESSIONS = sizeof compressions / sizeof *compressions };

/* The stream gives exactly `plain`, however it is cut into pieces. */
static void check_reads(const bytes *stream, const bytes *plain) {
  static const size_t pieces[] = {0, 1, 2, 7, 13, 64, 65, 4096};
  static const size_t steps[] = {1, 3, 100, 65536, 1 << 20};
  for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
      bytes out = {0};
      cst_error error = CST_ERROR_INIT;
      cst_status status =
          read_memory(stream->data, stream->size, pieces[p], steps[s], &out, &error);
      CHECK_STR(error.message, "");
      CHECK_EQ(status, CST_OK);
      CHECK_EQ(out.size, plain->size);
      CHECK_MEM(out.data, plain->data, plain->size);
      bytes_free(&out);
    }
  }
}

/* The stream is refused with this status and message, and gives `before` bytes first. (libzstd
 * takes a small frame as a whole or not at all.) */
static void check_refused(const bytes *stream, cst_status expected, const char *message,
                          size_t before) {
  for (size_t piece = 0; piece <= 2; piece++) {
    bytes out = {0};
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(read_memory(stream->data, stream->size, piece, 10000, &out, &error), expected);
    CHECK_CONTAINS(error.message, message);
    CHECK_STR(error.file, "memory");
    CHECK_EQ(error.record, -1);
    CHECK(out.size == before || (out.size == 0 && strstr(message, "zstd") != NULL));
    bytes_free(&out);
  }
}

TEST(every_compression_in_every_piece) {
  bytes plain = {0};
  add_noise(&plain, 3000, 1);
  for (size_t c = 0; c < NUM_COMPRESSIONS; c++) {
    bytes stream = {0};
    CHECK_EQ(add_compressed(&stream, compressions[c], plain.data, plain.size), CST_OK);
    check_reads(&stream, &plain);
    bytes_free(&stream);
  }
  bytes_free(&plain);
}

TEST(large_streams) {
  bytes plain = {0};
  add_noise(&plain, 3 << 20, 7);
  for (size_t c = 0; c < NUM_COMPRESSIONS; c++) {
    bytes stream = {0};
    bytes out = {0};
    CHECK_EQ(add_compressed(&stream, compressions[c], plain.data, plain.size), CST_OK);
    CHECK_EQ(read_memory(stream.data, stream.size, 100000, 777777, &out, NULL), CST_OK);
    CHECK_EQ(out.size, plain.size);
    CHECK_MEM(out.data, plain.data, plain.size);
    bytes_free(&stream);
    bytes_free(&out);
  }
  bytes_free(&plain);
}

TEST(empty_streams_are_legal) {
  bytes none = {0};
  check_reads(&none, &none);
  for (size_t c = 1; c < NUM_COMPRESSIONS; c++) {
    bytes stream = {0};
    CHECK_EQ(add_compressed(&stream, compressions[c], NULL, 0), CST_OK);
    CHECK(stream.size > 0);
    check_reads(&stream, &none);
    bytes_free(&stream);
  }
}

TEST(many_gzip_members_and_an_empty_first) {
  bytes plain = {0};
  bytes stream = {0};
  add_noise(&plain, 2000, 3);
  add_compressed(&stream, CST_COMPRESSION_GZIP, NULL, 0);
  for (size_t at = 0; at < plain.size; at += 100) {
    add_compressed(&stream, CST_COMPRESSION_GZIP, plain.data + at, 100);
    if (at % 300 == 0) {
      add_compressed(&stream, CST_COMPRESSION_GZIP, NULL, 0);
    }
  }
  check_reads(&stream, &plain);
  for (int i = 0; i < 512; i++) { /* padding of tapes */
    bytes_add(&stream, "", 1);
  }
  check_reads(&stream, &plain);
  bytes_free(&plain);
  bytes_free(&stream);
}

/* RFC 1952 with every optional field: FEXTRA, FNAME, FCOMMENT and FHCRC are skipped. */
TEST(gzip_header_fields) {
  bytes member = {0};
  bytes stream = {0};
  bytes plain = {0};
  add_noise(&plain, 500, 5);
  add_compressed(&member, CST_COMPRESSION_GZIP, plain.data, plain.size);
  uint8_t header[10];
  memcpy(header, member.data, sizeof header);
  CHECK_EQ(header[3], 0);
  header[3] = 4 | 8 | 16; /* no FHCRC: its value would depend on a CRC-32 */
  bytes_add(&stream, header, sizeof header);
  bytes_add(&stream,
            "\x05\x00"
            "extra"
            "name\0"
            "comment",
            2 + 5 + 5 + 8);
  bytes_add(&stream, member.data + sizeof header, member.size - sizeof header);
  check_reads(&stream, &plain);
  bytes_free(&member);
  bytes_free(&stream);
  bytes_free(&plain);
}

TEST(zstd_frames_and_skippable_ones) {
  static const char skippable[] = "\x5a\x2a\x4d\x18\x03\x00\x00\x00"
                                  "abc";
  bytes plain = {0};
  bytes stream = {0};
  add_noise(&plain, 1000, 9);
  bytes_add(&stream, skippable, 11);
  add_compressed(&stream, CST_COMPRESSION_ZSTD, plain.data, 400);
  bytes_add(&stream, skippable, 11);
  add_compressed(&stream, CST_COMPRESSION_ZSTD, plain.data + 400, 600);
  bytes_add(&stream, skippable, 11);
  check_reads(&stream, &plain);
  bytes_free(&plain);
  bytes_free(&stream);
}

TEST(trailing_garbage_is_refused) {
  static const char *const messages[] = {NULL, "trailing bytes after gzip member",
                                         "trailing bytes after the zlib stream",
                                         "trailing bytes after zstd frame 1"};
  bytes plain = {0};
  add_noise(&plain, 1000, 11);
  for (size_t c = 1; c < NUM_COMPRESSIONS; c++) {
    bytes stream = {0};
    add_compressed(&stream, compressions[c], plain.data, plain.size);
    bytes_add(&stream, "garbage", 7);
    check_refused(&stream, CST_CORRUPT, messages[c], plain.size);
    bytes_free(&stream);
  }
  bytes stream = {0};
  add_compressed(&stream, CST_COMPRESSION_GZIP, plain.data, plain.size);
  bytes_add(&stream, "\0\0\0\0x", 5);
  check_refused(&stream, CST_CORRUPT, "trailing bytes after gzip member", plain.size);
  bytes_free(&stream);
  bytes_free(&plain);
}

/* Cut anywhere behind the magic, a compressed stream is refused; what came before is given. */
TEST(truncation_at_every_byte) {
  bytes plain = {0};
  add_noise(&plain, 300, 13);
  for (size_t c = 1; c < NUM_COMPRESSIONS; c++) {
    bytes stream = {0};
    add_compressed(&stream, compressions[c], plain.data, plain.size);
    for (size_t size = 4; size < stream.size; size++) {
      bytes out = {0};
      cst_error error = CST_ERROR_INIT;
      CHECK_EQ(read_memory(stream.data, size, 0, 100, &out, &error), CST_CORRUPT);
      CHECK_CONTAINS(error.message, "the file ends inside its");
      CHECK(out.size <= plain.size);
      CHECK(out.size == 0 || memcmp(out.data, plain.data, out.size) == 0);
      bytes_free(&out);
    }
    bytes_free(&stream);
  }
  bytes_free(&plain);
}

/* A flipped bit is found by a checksum, or hits bits that carry nothing: never a wrong byte. */
TEST(flipped_bits_are_found) {
  bytes plain = {0};
  add_noise(&plain, 200, 17);
  for (size_t c = 1; c < NUM_COMPRESSIONS; c++) {
    bytes stream = {0};
    add_compressed(&stream, compressions[c], plain.data, plain.size);
    for (size_t bit = 4 * 8; bit < stream.size * 8; bit++) {
      stream.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
      bytes out = {0};
      cst_status status = read_memory(stream.data, stream.size, 0, 4096, &out, NULL);
      if (status == CST_OK) {
        CHECK_EQ(out.size, plain.size);
        CHECK_MEM(out.data, plain.data, plain.size);
      }
      bytes_free(&out);
      stream.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    bytes_free(&stream);
  }
  bytes_free(&plain);
}

TEST(wrong_checksums_are_named) {
  static const char *const messages[] = {NULL, "gzip member 1: wrong checksum or length",
                                         "zlib stream: wrong checksum or length",
                                         "zstd frame 1: Restored data doesn't match checksum"};
  bytes plain = {0};
  add_noise(&plain, 1000, 19);
  for (size_t c = 1; c < NUM_COMPRESSIONS; c++) {
    bytes stream = {0};
    add_compressed(&stream, compressions[c], plain.data, plain.size);
    size_t back = compressions[c] == CST_COMPRESSION_GZIP ? 8 : 4;
    stream.data[stream.size - back] ^= 1;
    check_refused(&stream, CST_CORRUPT, messages[c], plain.size);
    bytes_free(&stream);
  }
  bytes stream = {0}; /* ISIZE of gzip */
  add_compressed(&stream, CST_COMPRESSION_GZIP, plain.data, plain.size);
  stream.data[stream.size - 1] ^= 1;
  check_refused(&stream, CST_CORRUPT, "gzip member 1: wrong checksum or length", plain.size);
  bytes_free(&stream);
  bytes_free(&plain);
}

/* Hand-made gzip members, each wrong in one way. */
TEST(kinds_of_gzip_faults) {
  static const uint8_t header[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
  static const struct {
    const char *deflate; /* 12 bytes behind the header */
    const char *message;
  } cases[] = {
      {"\x07\0\0\0\0\0\0\0\0\0\0\0", "gzip member 1: invalid block"},      /* BTYPE 3 */
      {"\x01\x05\0\x05\0\0\0\0\0\0\0\0", "gzip member 1: invalid block"},  /* NLEN */
      {"\x03\x02\0\0\0\0\0\0\0\0\0\0", "gzip member 1: invalid distance"}, /* back from 0 */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bytes stream = {0};
    bytes_add(&stream, header, sizeof header);
    bytes_add(&stream, cases[i].deflate, 12);
    check_refused(&stream, CST_CORRUPT, cases[i].message, 0);
    bytes_free(&stream);
  }
  bytes stream = {0};
  add_compressed(&stream, CST_COMPRESSION_GZIP, "x", 1);
  bytes_add(&stream, "\x1f\x8b\x07\0\0\0\0\0\0\3", 10);
  check_refused(&stream, CST_CORRUPT, "gzip member 2: compression method unknown", 1);
  bytes_free(&stream);
  add_compressed(&stream, CST_COMPRESSION_GZIP, "x", 1);
  bytes_add(&stream, "\x1f\x8c\x08\0\0\0\0\0\0\3", 10);
  check_refused(&stream, CST_CORRUPT, "gzip member 2: invalid header", 1);
  bytes_free(&stream);
}

TEST(zlib_with_a_dictionary_is_unsupported) {
  bytes stream = {0};
  bytes_add(&stream, "\x78\xbb\x01\x02\x03\x04\x05\x06", 8);
  check_refused(&stream, CST_UNSUPPORTED, "preset dictionary", 0);
  bytes_free(&stream);
}

TEST(zstd_window_beyond_the_limit) {
  bytes stream = {0}; /* magic, no single segment, window descriptor of 2^31 bytes */
  bytes_add(&stream, "\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", 9);
  check_refused(&stream, CST_LIMIT, "window of more than 128 MiB", 0);
  bytes_free(&stream);
}

/* ---- detection ---- */

static cst__compression compression_of(const void *data, size_t size) {
  memory m = {.data = data, .size = size};
  cst_reader reader = memory_reader(&m, true);
  const cst__input_options options = {.is_plain = cst__container_is_proven};
  cst__input *input = NULL;
  if (cst__input_open_reader(&reader, &options, &input, NULL) != CST_OK) {
    return (cst__compression)-1;
  }
  cst__compression found = cst__input_compression(input, NULL);
  cst__input_close(input);
  return found;
}

TEST(text_is_not_zlib) {
  CHECK_EQ(compression_of("x^2+1", 5), CST__PLAIN);
  CHECK_EQ(compression_of("hC,1\r\n", 6), CST__PLAIN);
  CHECK_EQ(compression_of("x\x9c\x03\0", 4), CST__ZLIB);
  CHECK_EQ(compression_of("x\x9d\x03\0", 4), CST__PLAIN);    /* FCHECK */
  CHECK_EQ(compression_of("\x88\x1c\x03\0", 4), CST__PLAIN); /* CINFO 8 */
  CHECK_EQ(compression_of("\x1f", 1), CST__PLAIN);
  CHECK_EQ(compression_of("\x1f\x8b", 2), CST__GZIP);
  CHECK_EQ(compression_of("\x1f\x8b\x07\0\0\0\0\0\0\3", 10), CST__PLAIN);   /* CM */
  CHECK_EQ(compression_of("\x1f\x8b\x08\x20\0\0\0\0\0\3", 10), CST__PLAIN); /* FLG */
  CHECK_EQ(compression_of("\x28\xb5\x2f", 3), CST__PLAIN);
  CHECK_EQ(compression_of("\x50\x2a\x4d\x18", 4), CST__ZSTD);
}

/* Reads bytes that can be read only once, `most` at a time, and are no compressed ones. */
static void check_plain(const bytes *b, size_t most) {
  bytes out = {0};
  CHECK_EQ(read_memory(b->data, b->size, most, 1000, &out, NULL), CST_OK);
  CHECK_EQ(out.size, b->size);
  CHECK_MEM(out.data, b->data, b->size);
  bytes_free(&out);
}

/* Whatever two bytes they begin with, in UTF-8 and in Latin-1. */
TEST(no_text_is_zlib) {
  static const char *const texts[] = {"Gr\xc3\xb6\xc3\x9f"
                                      "e,x\n1,2\n",
                                      "\xe4\xb8\xad\xe5\x9b\xbd\n", ";Z\xc3\xbcrich\n",
                                      "\t\xc3\x84nderung\n", "\xfc,\xdf\n"};
  for (unsigned first = 0x08; first < 0x80; first += 16) {
    for (unsigned second = 0; second < 256; second++) {
      const uint8_t head[2] = {(uint8_t)first, (uint8_t)second};
      for (size_t i = 0; first > 32 && cst__is_text(head, 2) && i < 5; i++) {
        bytes b = {0};
        bytes_add(&b, head, 2);
        CHECK_EQ(compression_of(b.data, b.size), CST__PLAIN);
        for (int n = 0; n < (second % 16 == 0 ? 1000 : 3); n++) {
          bytes_add(&b, texts[i], strlen(texts[i]));
        }
        CHECK_EQ(compression_of(b.data, b.size), CST__PLAIN);
        check_plain(&b, i % 2 == 0 ? 0 : 7);
        bytes_free(&b);
      }
    }
  }
}

TEST(text_with_control_characters_is_not_zlib) {
  static const char *const texts[] = {"x^2,formula\x1b[0m,\f page\x01\n1,2,3\n",
                                      "x}\x1b[31mred\x1b[0m and the rest of it\n",
                                      "x^\xc3\xa9t\xc3\xa9\x1b[0m,\x7f and more of the same"};
  for (size_t i = 0; i < 3; i++) {
    CHECK_EQ(compression_of(texts[i], strlen(texts[i])), CST__PLAIN);
  }
}

/* In Latin-1 it is text only if somebody says so; what inflates is zlib all the same. */
TEST(text_that_is_named_is_not_damaged_zlib) {
  const char text[] = "x^\xe9t\xe9\x1b[0m,\x1b and more of the same\n";
  bytes stream = {0};
  add_compressed(&stream, CST_COMPRESSION_ZLIB, text, strlen(text));
  for (int is_text = 0; is_text < 2; is_text++) {
    cst__input_options options = {.is_text = is_text};
    for (int packed = 0; packed < 2; packed++) {
      memory m = {.data = packed ? stream.data : (const uint8_t *)text,
                  .size = packed ? stream.size : strlen(text)};
      cst_reader reader = memory_reader(&m, true);
      cst__input *input = NULL;
      CHECK_EQ(cst__input_open_reader(&reader, &options, &input, NULL), CST_OK);
      bool plain = is_text && !packed;
      CHECK_EQ(cst__input_compression(input, NULL), plain ? CST__PLAIN : CST__ZLIB);
      cst__input_close(input);
    }
  }
  bytes_free(&stream);
}

/* Streams of any window and size, also such as look like text for a while. */
TEST(zlib_is_proved_by_inflating) {
  bytes plain = {0};
  add_noise(&plain, 20000, 3);
  for (size_t size = 0; size <= plain.size; size = size * 3 + 1) {
    bytes stream = {0};
    add_compressed(&stream, CST_COMPRESSION_ZLIB, plain.data, size);
    for (unsigned cinfo = 0; cinfo < 8; cinfo++) {
      stream.data[0] = (uint8_t)(cinfo << 4 | 8);
      stream.data[1] = (uint8_t)(31 - (cinfo << 4 | 8) * 256 % 31);
      CHECK_EQ(compression_of(stream.data, stream.size), CST__ZLIB);
    }
    bytes out = {0};
    CHECK_EQ(read_memory(stream.data, stream.size, 5, 1000, &out, NULL), CST_OK);
    CHECK_EQ(out.size, size);
    CHECK_MEM(out.data, plain.data, size);
    bytes_free(&out);
    bytes_free(&stream);
  }
  bytes_free(&plain);
}

TEST(what_seems_to_be_damaged_zlib_says_so) {
  bytes plain = {0};
  bytes stream = {0};
  cst_error error = CST_ERROR_INIT;
  add_noise(&plain, 1000, 3);
  add_compressed(&stream, CST_COMPRESSION_ZLIB, plain.data, plain.size);
  stream.data[20] ^= 255;
  CHECK_EQ(read_memory(stream.data, stream.size, 0, 1000, NULL, &error), CST_CORRUPT);
  CHECK_CONTAINS(error.message, "zlib");
  CHECK_CONTAINS(error.hint, "zlib was detected from the first two bytes, but the rest is damaged "
                             "or something else: if it is plain CSV or JSON, name the format");
  CHECK_CONTAINS(error.hint, "name the format");
  bytes_free(&plain);
  bytes_free(&stream);
}

/* A record whose length looks like a magic is still a record, and also one whose header is damaged
 * and begins as zlib does. */
TEST(tfrecords_win) {
  static const uint64_t lengths[] = {0x088b1f, 0x9c78, 0x184d2a50, 0xfd2fb528};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    uint8_t head[12];
    memcpy(head, &lengths[i], 8);
    uint32_t crc = cst__crc32c_mask(cst__crc32c(0, head, 8));
    memcpy(head + 8, &crc, 4);
    CHECK_EQ(compression_of(head, sizeof head), CST__PLAIN);
    head[8] ^= 1;
    CHECK_EQ(compression_of(head, sizeof head) == CST__PLAIN, lengths[i] == 0x9c78);
  }
}

/* ---- limits ---- */

static cst_status read_with_ratio(const bytes *stream, uint64_t ratio, uint64_t *given,
                                  cst_error *error) {
  memory m = {.data = stream->data, .size = stream->size};
  cst_reader reader = memory_reader(&m, true);
  cst__input_options options = {.max_inflation = ratio};
  cst__input *input;
  CST__TRY(cst__input_open_reader(&reader, &options, &input, error));
  static uint8_t block[1 << 20];
  cst_status status;
  size_t got;
  *given = 0;
  do {
    status = cst__input_read(input, block, sizeof block, &got, error);
    *given += got;
  } while (status == CST_OK && got > 0);
  cst__input_close(input);
  return status;
}

TEST(inflation_bombs) {
  enum { PLAIN = 100 << 20 };
  uint8_t *zeros = calloc(1, PLAIN);
  for (size_t c = 1; c < NUM_COMPRESSIONS; c++) {
    bytes stream = {0};
    uint64_t given;
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(add_compressed(&stream, compressions[c], zeros, PLAIN), CST_OK);
    CHECK_EQ(read_with_ratio(&stream, 0, &given, &error), CST_LIMIT);
    CHECK_CONTAINS(error.message, "more than 200 times");
    CHECK_CONTAINS(error.hint, "max_inflation");
    CHECK(given >= 64 << 20 && given <= 66 << 20);
    CHECK_EQ(read_with_ratio(&stream, 1000000, &given, &error), CST_OK);
    CHECK_EQ(given, PLAIN);
    bytes_free(&stream);
  }
  free(zeros);
}

/* ---- files and readers ---- */

TEST(files) {
  bytes plain = {0};
  add_noise(&plain, 700000, 23);
  const char *path = harness_temp_path("plain");
  harness_write_file(path, plain.data, plain.size);
  cst__input *input;
  bytes out = {0};
  CHECK_EQ(cst__input_open(path, NULL, &input, NULL), CST_OK);
  CHECK_EQ(cst__input_file_size(input), plain.size);
  CHECK_STR(cst__input_name(input), path);
  CHECK_EQ(read_to_end(input, 300000, &out, NULL), CST_OK);
  CHECK_EQ(cst__input_consumed(input), plain.size);
  CHECK_EQ(out.size, plain.size);
  CHECK_MEM(out.data, plain.data, plain.size);
  cst__input_close(input);
  bytes_free(&out);
  bytes_free(&plain);
}

TEST(consumed_counts_compressed_bytes) {
  bytes plain = {0};
  bytes stream = {0};
  add_noise(&plain, 700000, 23);
  add_compressed(&stream, CST_COMPRESSION_GZIP, plain.data, plain.size);
  const char *path = harness_temp_path("packed");
  harness_write_file(path, stream.data, stream.size);
  cst__input *input;
  CHECK_EQ(cst__input_open(path, NULL, &input, NULL), CST_OK);
  CHECK_EQ(cst__input_consumed(input), 0);
  uint8_t block[1000];
  size_t got;
  CHECK_EQ(cst__input_read(input, block, sizeof block, &got, NULL), CST_OK);
  CHECK(cst__input_consumed(input) > 0 && cst__input_consumed(input) < stream.size);
  CHECK_EQ(read_to_end(input, 100000, NULL, NULL), CST_OK);
  CHECK_EQ(cst__input_consumed(input), stream.size);
  CHECK_EQ(cst__input_file_size(input), stream.size);
  CHECK_EQ(cst__input_compression(input, NULL), CST__GZIP);
  cst__input_close(input);
  bytes_free(&plain);
  bytes_free(&stream);
}

TEST(skipping) {
  bytes plain = {0};
  bytes stream = {0};
  add_noise(&plain, 5000, 29);
  add_compressed(&stream, CST_COMPRESSION_GZIP, plain.data, plain.size);
  const char *path = harness_temp_path("skipped");
  const char *packed = harness_temp_path("skipped.gz");
  harness_write_file(path, plain.data, plain.size);
  harness_write_file(packed, stream.data, stream.size);
  uint8_t block[100];
  size_t got;
  uint64_t skipped;
  cst__input *input;
  CHECK_EQ(cst__input_open(path, NULL, &input, NULL), CST_OK);
  CHECK(cst__input_skip(input, 1000, &skipped));
  CHECK_EQ(skipped, 1000);
  CHECK_EQ(cst__input_read(input, block, sizeof block, &got, NULL), CST_OK);
  CHECK_EQ(got, 100);
  CHECK_MEM(block, plain.data + 1000, 100);
  CHECK(cst__input_skip(input, 10000, &skipped));
  CHECK_EQ(skipped, 3900); /* to the end */
  CHECK_EQ(cst__input_consumed(input), plain.size);
  CHECK_EQ(cst__input_read(input, block, sizeof block, &got, NULL), CST_OK);
  CHECK_EQ(got, 0);
  cst__input_close(input);
  CHECK_EQ(cst__input_open(packed, NULL, &input, NULL), CST_OK);
  CHECK(!cst__input_skip(input, 1, &skipped));
  CHECK_EQ(cst__input_read(input, block, sizeof block, &got, NULL), CST_OK);
  CHECK_MEM(block, plain.data, 100);
  cst__input_close(input);
  memory m = {.data = plain.data, .size = plain.size};
  cst_reader reader = memory_reader(&m, false);
  CHECK_EQ(cst__input_open_reader(&reader, NULL, &input, NULL), CST_OK);
  CHECK(!cst__input_skip(input, 1, &skipped));
  CHECK_EQ(skipped, 0);
  cst__input_close(input);
  bytes_free(&plain);
  bytes_free(&stream);
}

TEST(maps_of_plain_files_only) {
  bytes plain = {0};
  bytes stream = {0};
  add_noise(&plain, 5000, 29);
  add_compressed(&stream, CST_COMPRESSION_ZSTD, plain.data, plain.size);
  const char *path = harness_temp_path("mapped");
  const char *packed = harness_temp_path("mapped.zst");
  const char *empty = harness_temp_path("empty");
  harness_write_file(path, plain.data, plain.size);
  harness_write_file(packed, stream.data, stream.size);
  harness_write_file(empty, "", 0);
  cst__input_options options = {.memory_map = true};
  cst__input *input;
  size_t size;
  CHECK_EQ(cst__input_open(path, &options, &input, NULL), CST_OK);
  const uint8_t *map = cst__input_map(input, &size);
  CHECK_EQ(size, plain.size);
  CHECK_MEM(map, plain.data, plain.size);
  cst__input_close(input);
  CHECK_EQ(cst__input_open(packed, &options, &input, NULL), CST_OK);
  CHECK(cst__input_map(input, &size) == NULL);
  CHECK_EQ(size, 0);
  cst__input_close(input);
  CHECK_EQ(cst__input_open(empty, &options, &input, NULL), CST_OK);
  CHECK(cst__input_map(input, &size) == NULL);
  CHECK_EQ(read_to_end(input, 100, NULL, NULL), CST_OK);
  cst__input_close(input);
  CHECK_EQ(cst__input_open(path, NULL, &input, NULL), CST_OK);
  CHECK(cst__input_map(input, &size) == NULL);
  cst__input_close(input);
  bytes_free(&plain);
  bytes_free(&stream);
}

TEST(what_cannot_be_opened) {
  cst__input *input;
  cst_error error = CST_ERROR_INIT;
  const char *missing = harness_temp_path("missing");
  CHECK_EQ(cst__input_open(missing, NULL, &input, &error), CST_NOT_FOUND);
  CHECK_CONTAINS(error.message, "No such file");
  CHECK_STR(error.file, missing);
  CHECK_EQ(cst__input_open(harness_temp_dir(), NULL, &input, &error), CST_IO);
  CHECK_CONTAINS(error.message, "Is a directory");
  CHECK_CONTAINS(error.hint, "pattern");
  const char *path = harness_temp_path("forbidden");
  harness_write_file(path, "x", 1);
  CHECK_EQ(chmod(path, 0), 0);
  if (geteuid() != 0) {
    CHECK_EQ(cst__input_open(path, NULL, &input, &error), CST_IO);
    CHECK_CONTAINS(error.message, "Permission denied");
    CHECK_CONTAINS(error.hint, "permission bits");
  }
  cst_reader reader = {.size = sizeof reader};
  CHECK_EQ(cst__input_open_reader(&reader, NULL, &input, &error), CST_INVALID_ARGUMENT);
}

TEST(hints_of_the_system) {
  static const struct {
    int code;
    cst_status status;
    const char *hint;
  } cases[] = {
      {EACCES, CST_IO, "permission bits"}, {ENOENT, CST_NOT_FOUND, "path"},
      {EMFILE, CST_IO, "ulimit"},          {ENOSPC, CST_IO, "free disk space, or write elsewhere"},
      {EROFS, CST_IO, "another folder"},   {EIO, CST_IO, "system's log"},
      {ENOMEM, CST_NO_MEMORY, ""},         {EFBIG, CST_IO, ""}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(cst__fail_system(&error, cases[i].code, "cannot x"), cases[i].status);
    CHECK_CONTAINS(error.message, "cannot x: ");
    CHECK_CONTAINS(error.message, strerror(cases[i].code));
    CHECK_CONTAINS(error.hint, cases[i].hint);
  }
}

static void *write_later(void *context) {
  int fd = *(int *)context;
  usleep(2000);
  (void)!write(fd, "late", 4);
  close(fd);
  return NULL;
}

/* A pipe that somebody has set to non-blocking is waited for. */
TEST(standard_input_without_blocking) {
  int ends[2];
  pthread_t thread;
  int kept = dup(STDIN_FILENO);
  CHECK_EQ(pipe2(ends, O_NONBLOCK), 0);
  CHECK(dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
  close(ends[0]);
  CHECK_EQ(pthread_create(&thread, NULL, write_later, &ends[1]), 0);
  cst__input *input;
  bytes out = {0};
  cst_status opened = cst__input_open("-", NULL, &input, NULL);
  cst_status status = opened == CST_OK ? read_to_end(input, 10, &out, NULL) : opened;
  pthread_join(thread, NULL);
  if (kept >= 0) {
    dup2(kept, STDIN_FILENO);
    close(kept);
  }
  CHECK_EQ(status, CST_OK);
  CHECK_EQ(cst__input_file_size(input), -1);
  CHECK_EQ(out.size, 4);
  CHECK_MEM(out.data, "late", 4);
  cst__input_close(input);
  cst__input_close(NULL);
  bytes_free(&out);
}

TEST(standard_input) {
  bytes plain = {0};
  add_noise(&plain, 40000, 31);
  const char *path = harness_temp_path("stdin");
  harness_write_file(path, plain.data, plain.size);
  int kept = dup(STDIN_FILENO);
  int fd = open(path, O_RDONLY);
  CHECK(fd >= 0);
  CHECK(lseek(fd, 100, SEEK_SET) == 100); /* as if somebody had read from it before */
  CHECK(dup2(fd, STDIN_FILENO) == STDIN_FILENO);
  cst__input *input;
  bytes out = {0};
  CHECK_EQ(cst__input_open("-", NULL, &input, NULL), CST_OK);
  CHECK_STR(cst__input_name(input), "<stdin>");
  CHECK_EQ(cst__input_file_size(input), plain.size - 100);
  CHECK_EQ(read_to_end(input, 1000, &out, NULL), CST_OK);
  CHECK_EQ(out.size, plain.size - 100);
  CHECK_MEM(out.data, plain.data + 100, out.size);
  cst__input_close(input);
  CHECK(fcntl(STDIN_FILENO, F_GETFD) >= 0); /* still open */
  close(fd);
  if (kept >= 0) {
    dup2(kept, STDIN_FILENO);
    close(kept);
  }
  bytes_free(&out);
  bytes_free(&plain);
}

TEST(readers_without_seeking_are_asked_in_order) {
  bytes plain = {0};
  add_noise(&plain, 5000, 37);
  for (size_t c = 0; c < NUM_COMPRESSIONS; c++) {
    bytes stream = {0};
    add_compressed(&stream, compressions[c], plain.data, plain.size);
    memory m = {.data = stream.data, .size = stream.size, .most = 10};
    cst_reader reader = memory_reader(&m, false);
    cst__input *input;
    CHECK_EQ(cst__input_open_reader(&reader, NULL, &input, NULL), CST_OK);
    CHECK_EQ(read_to_end(input, 333, NULL, NULL), CST_OK);
    cst__input_close(input);
    CHECK(!m.out_of_order);
    CHECK_EQ(m.closed, 0); /* borrowed */
    bytes_free(&stream);
  }
  bytes_free(&plain);
}

TEST(failures_of_readers) {
  bytes plain = {0};
  add_noise(&plain, 5000, 41);
  memory m = {.data = plain.data, .size = plain.size, .most = 1000, .fail_at = 3000};
  cst_reader reader = memory_reader(&m, false);
  cst__input *input;
  uint8_t block[4096];
  size_t got;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__input_open_reader(&reader, NULL, &input, NULL), CST_OK);
  CHECK_EQ(cst__input_read(input, block, sizeof block, &got, &error), CST_OK);
  CHECK_EQ(error.code, CST_OK);
  CHECK(got >= 3000 && got < 4096); /* what came before the fault */
  CHECK_MEM(block, plain.data, got);
  for (int again = 0; again < 2; again++) {
    CHECK_EQ(cst__input_read(input, block, sizeof block, &got, &error), CST_IO);
    CHECK_EQ(got, 0);
    CHECK_EQ(error.code, CST_IO);
    CHECK_CONTAINS(error.message, "read_at failed");
    CHECK_STR(error.file, "memory");
  }
  cst__input_close(input);
  bytes_free(&plain);
}

static cst_status read_too_much(void *ctx, uint64_t offset, void *buffer, size_t size, size_t *got,
                                cst_error *error) {
  (void)ctx, (void)offset, (void)buffer, (void)error;
  *got = size + 1;
  return CST_OK;
}

static cst_status read_with_text(void *ctx, uint64_t offset, void *buffer, size_t size, size_t *got,
                                 cst_error *error) {
  (void)ctx, (void)offset, (void)buffer, (void)size, (void)got;
  return cst__fail(error, CST_CALLBACK, "ask the owner", "no luck today");
}

TEST(readers_that_misbehave) {
  uint8_t block[10];
  size_t got;
  cst__input *input;
  cst_error error = CST_ERROR_INIT;
  cst_reader reader = {.size = sizeof reader, .read_at = read_too_much};
  CHECK_EQ(cst__input_open_reader(&reader, NULL, &input, NULL), CST_OK);
  CHECK_EQ(cst__input_read(input, block, sizeof block, &got, &error), CST_CALLBACK);
  CHECK_CONTAINS(error.message, "of 64");
  CHECK_STR(error.file, "<reader>");
  cst__input_close(input);
  reader.read_at = read_with_text;
  CHECK_EQ(cst__input_open_reader(&reader, NULL, &input, NULL), CST_OK);
  CHECK_EQ(cst__input_compression(input, &error), CST__PLAIN);
  CHECK_STR(error.message, "no luck today");
  CHECK_EQ(cst__input_read(input, block, sizeof block, &got, &error), CST_CALLBACK);
  CHECK_STR(error.hint, "ask the owner");
  cst__input_close(input);
}

static int read_all(void *context) {
  const char *path = context;
  cst__input *input;
  CST__TRY(cst__input_open(path, NULL, &input, NULL));
  cst_status status = read_to_end(input, 1000, NULL, NULL);
  cst__input_close(input);
  return (int)status;
}

TEST(allocations_that_fail) {
  bytes plain = {0};
  add_noise(&plain, 5000, 43);
  for (size_t c = 0; c < NUM_COMPRESSIONS; c++) {
    bytes stream = {0};
    add_compressed(&stream, compressions[c], plain.data, plain.size);
    const char *path = harness_temp_path("allocations");
    harness_write_file(path, stream.data, stream.size);
    FOR_EACH_ALLOCATION_FAILURE(read_all, (void *)(uintptr_t)path, CST_NO_MEMORY);
    bytes_free(&stream);
  }
  bytes_free(&plain);
}
