/* URLs: their names, and a program (a shell script) that writes their bytes. */
#include "io/url.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "harness.h"

/* Writes the bytes of the file that the URL "copy://PATH" means. */
static const char script[] =
    "#!/bin/sh\n"
    "for url; do :; done\n"
    "file=${url#copy://}\n"
    "if [ $1 = list ]; then echo copy://a; echo copy://b; exit 0; fi\n"
    "[ -e \"$file\" ] || { echo 'columnstone-code: NOT_FOUND' >&2; exit 1; }\n"
    "exec tail -c +$((${2#--offset=} + 1)) \"$file\"\n";

static const char *program(void) {
  const char *path = harness_temp_path("open-url");
  harness_write_file(path, script, sizeof script - 1);
  CHECK_EQ(chmod(path, 0755), 0);
  return path;
}

TEST(names) {
  CHECK(cst__is_url("s3://bucket/x") && cst__is_url("https://host/x?y"));
  CHECK(!cst__is_url("x") && !cst__is_url("/a/b") && !cst__is_url("://x") && !cst__is_url("A://x"));
  CHECK_EQ(cst__url_name_size("https://h/x?secret"), 11);
  CHECK_EQ(cst__url_name_size("s3://h/x?y"), 10);
}

static void expect_path(const char *url, const char *path) {
  char buf[64];
  CHECK_EQ(cst__path_of_file_url(url, buf, sizeof buf), path != NULL);
  if (path != NULL) {
    CHECK_STR(buf, path);
  }
}

TEST(file_urls) {
  expect_path("file:///a/b", "/a/b");
  expect_path("file://localhost/a", "/a");
  expect_path("file:///a%20b%C3%a4%2", "/a b\xc3\xa4%2");
  expect_path("file:///a%00b", "/a%00b");
  expect_path("file://elsewhere/a", NULL);
  expect_path("/a", NULL);
  char small[4];
  CHECK(!cst__path_of_file_url("file:///abcdef", small, sizeof small));
}

TEST(patterns) {
  cst__paths paths = {0};
  CHECK_EQ(cst__url_expand("/nowhere", "https://h/x?a=*", &paths, NULL), CST_OK);
  CHECK_EQ(paths.count, 1);
  CHECK_EQ(cst__url_expand(program(), "copy://*", &paths, NULL), CST_OK);
  CHECK_EQ(paths.count, 3);
  CHECK_STR(paths.items[2], "copy://b");
  cst__paths_reset(&paths);
}

enum { SIZE = 3 << 20 };

static void expect_bytes(const cst_reader *reader, uint64_t offset, size_t size) {
  static uint8_t buffer[1 << 16];
  size_t at = 0;
  while (at < size) {
    size_t got;
    CHECK_EQ(reader->read_at(reader->ctx, offset + at, buffer, size - at, &got, NULL), CST_OK);
    CHECK(got > 0);
    for (size_t i = 0; i < got; i++) {
      CHECK_EQ(buffer[i], (uint8_t)((offset + at + i) * 7 >> 3));
    }
    at += got;
  }
}

TEST(bytes_at_any_offset) {
  static uint8_t data[SIZE];
  char url[512];
  cst_reader reader;
  for (size_t i = 0; i < SIZE; i++) {
    data[i] = (uint8_t)(i * 7 >> 3);
  }
  harness_write_file(harness_temp_path("bytes"), data, SIZE);
  snprintf(url, sizeof url, "copy://%s", harness_temp_path("bytes"));
  CHECK_EQ(cst__url_reader(program(), url, NULL, &reader, NULL), CST_OK);
  uint64_t offsets[] = {0, 100, 0, 1 << 20, (1 << 20) + 5, SIZE - 10, 2 << 20, 50};
  for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
    expect_bytes(&reader, offsets[i], 10);
  }
  expect_bytes(&reader, 0, 1 << 16);
  uint8_t byte;
  size_t got = 1;
  CHECK_EQ(reader.read_at(reader.ctx, SIZE, &byte, 1, &got, NULL), CST_OK);
  CHECK_EQ(got, 0);
  CHECK_EQ(reader.read_at(reader.ctx, SIZE, &byte, 1, &got, NULL), CST_OK);
  CHECK_EQ(got, 0);
  expect_bytes(&reader, 3, 10);
  reader.close(reader.ctx);
}

TEST(failures) {
  cst_error error = CST_ERROR_INIT;
  cst_reader reader;
  uint8_t byte;
  size_t got;
  CHECK_EQ(cst__url_reader(program(), "copy:///nowhere/x", NULL, &reader, NULL), CST_OK);
  for (int i = 0; i < 2; i++) {
    CHECK_EQ(reader.read_at(reader.ctx, 0, &byte, 1, &got, &error), CST_NOT_FOUND);
    CHECK_STR(error.file, "copy:///nowhere/x");
  }
  reader.close(reader.ctx);
}

static int read_one(void *ctx) {
  cst_reader reader;
  uint8_t byte;
  size_t got;
  CST__TRY(cst__url_reader(ctx, "copy:///dev/null", NULL, &reader, NULL));
  cst_status status = reader.read_at(reader.ctx, 0, &byte, 1, &got, NULL);
  reader.close(reader.ctx);
  return (int)status;
}

TEST(no_memory) { FOR_EACH_ALLOCATION_FAILURE(read_one, (void *)program(), CST_NO_MEMORY); }
