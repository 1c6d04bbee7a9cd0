/* URLs: their names, and a program (a shell script) that writes their bytes. */
#include "io/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness.h"
#include "io/output.h"

/* Writes the bytes of the file that the URL "copy://PATH" means. */
static const char script[] =
    "#!/bin/sh\n"
    "for url; do :; done\n"
    "file=${url#copy://}\n"
    "if [ $1 = list ]; then printf \"$LISTING\" \"$2\"; exit 0; fi\n"
    "[ -e \"$file\" ] || { echo 'columnstone-code: NOT_FOUND' >&2; exit 1; }\n"
    "exec tail -c +$((${2#--offset=} + 1)) \"$file\"\n";

static const char *program(void) {
  const char *path = harness_temp_path("open-url");
  harness_write_file(path, script, sizeof script - 1);
  CHECK_EQ(chmod(path, 0755), 0);
  return path;
}

TEST(databases_are_refused) {
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__url_refuse_database("sqlite:///a.db", &error), CST_UNSUPPORTED);
  CHECK_STR(error.message, "it is a database, expected a file");
  CHECK_CONTAINS(error.hint, "data.parquet");
  CHECK_STR(error.file, "sqlite:///a.db");
  (void)cst__url_refuse_database("postgresql://user:secret@host/x", &error);
  CHECK_STR(error.file, "postgresql://user@host/x");
  CHECK_EQ(cst__url_refuse_database("grpc+tls://host", NULL), CST_UNSUPPORTED);
  CHECK_EQ(cst__url_refuse_database("grpc+tl://host", NULL), CST_OK);
  CHECK_EQ(cst__url_refuse_database("s3://postgresql/x", NULL), CST_OK);
}

TEST(outputs_are_refused) {
  cst_error error = CST_ERROR_INIT;
  cst__output *output;
  CHECK_EQ(
      cst__output_open("s3://key:secret@bucket/x", CST_COMPRESSION_NONE, 0, NULL, &output, &error),
      CST_UNSUPPORTED);
  CHECK_STR(error.file, "s3://key@bucket/x");
}

TEST(names) {
  CHECK(cst__is_url("s3://bucket/x") && cst__is_url("https://host/x?y"));
  CHECK(cst__is_url("simplecache::http://h/x") && cst__is_url("a.b::cd::s3://x"));
  CHECK(!cst__is_url("simplecache::x") && !cst__is_url("C::http://x"));
  CHECK_EQ(cst__url_path_size("simplecache::http://h/x?y"), 23);
  CHECK(!cst__is_url("x") && !cst__is_url("/a/b") && !cst__is_url("://x") && !cst__is_url("A://x"));
  CHECK_EQ(cst__url_path_size("https://h/x?secret"), 11);
  CHECK_EQ(cst__url_path_size("s3://h/x?y"), 10);
  CHECK_EQ(cst__url_path_size("s3://h/x?y?v=3"), 10);
}

TEST(names_have_no_secrets) {
  static const char *const names[][2] = {
      {"https://h/x?sig=a", "https://h/x"},
      {"https://user:s3cret@h/x", "https://h/x"},
      {"https://token@h", "https://h"},
      {"HTTPS://user:s3cret@h/x?sig=a", "HTTPS://h/x"},
      {"https://h/x#access_token=a", "https://h/x"},
      {"https://h/a@b:c", "https://h/a@b:c"},
      {"postgresql://me:pw@db/x?password=y", "postgresql://me@db/x"},
      {"postgresql://me@db/x", "postgresql://me@db/x"},
      {"s3://bucket/k?versionId=3", "s3://bucket/k"},
      {"s3://bucket/trips-?.csv", "s3://bucket/trips-?.csv"},
      {"simplecache::https://u:p@h/x?sig=1", "simplecache::https://h/x"},
      {"zip://a.csv::https://h/z.zip?sig=1", "zip://a.csv::https://h/z.zip"},
      {"a/b?c=d", "a/b?c=d"},
      {"https://:@", "https://"},
      {"::", "::"},
      {"", ""},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char url[64];
    snprintf(url, sizeof url, "%s", names[i][0]);
    cst_url_make_printable(url);
    CHECK_STR(url, names[i][1]);
  }
}

TEST(files_of_chains) {
  char buf[16];
  CHECK_STR(cst__url_of_file("zip://a.csv::https://h/z.zip", buf, sizeof buf), "zip://a.csv");
  CHECK_STR(cst__url_of_file("cache::zip://a.csv::x", buf, sizeof buf), "zip://a.csv");
  CHECK_STR(cst__url_of_file("cache::s3://b/a.csv", buf, sizeof buf), "cache::s3://b/a.csv");
  CHECK_STR(cst__url_of_file("zip://a/long/name.csv::x", buf, sizeof buf),
            "zip://a/long/name.csv::x");
  CHECK_STR(cst__url_of_file("a::b.csv", buf, sizeof buf), "a::b.csv");
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
  CHECK_EQ(cst__url_expand("/nowhere", "https://h/x?a=*", 0, &paths, NULL), CST_OK);
  CHECK_EQ(paths.count, 1);
  setenv("LISTING", "copy://a\\0copy://b\\0", 1);
  CHECK_EQ(cst__url_expand(program(), "copy://*", 0, &paths, NULL), CST_OK);
  CHECK_EQ(paths.count, 3);
  CHECK_STR(paths.items[2], "copy://b");
  setenv("LISTING", "zip://a/b.csv::copy://z\\0", 1);
  CHECK_EQ(cst__url_expand(program(), "zip://a/*::copy://z", 0, &paths, NULL), CST_OK);
  CHECK_EQ(paths.count, 4);
  setenv("LISTING", "copy://%s\\0", 1);
  CHECK_EQ(cst__url_expand(program(), "copy://*", 7, &paths, NULL), CST_OK);
  CHECK_EQ(paths.count, 5);
  CHECK_STR(paths.items[4], "copy://--max-inflation=7");
  cst__paths_reset(&paths);
}

/* What a server lists is not trusted. */
TEST(names_that_a_pattern_does_not_mean) {
  static const char *const listings[] = {
      "copy://d/b\\n.env\\0",     ".env\\0",           "copy://e/a\\0",
      "copy://d/../e/a\\0",       "file:///etc/x\\0",  "copy://d/..\\0",
      "copy://d/x/%%2e%%2E/e\\0", "copy://d/.%%2e\\0", "copy://d/a::file://x\\0",
      "copy://d/\\033[2J\\0",     "copy://d/a",        "copy://d/a\\0-\\0",
  };
  for (size_t i = 0; i < sizeof listings / sizeof *listings; i++) {
    cst__paths paths = {0};
    cst_error error = CST_ERROR_INIT;
    setenv("LISTING", listings[i], 1);
    CHECK_EQ(cst__url_expand(program(), "copy://d/*", 0, &paths, &error), CST_CORRUPT);
    CHECK_STR(error.file, "copy://d/*");
    cst__paths_reset(&paths);
  }
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
  CHECK_EQ(cst__url_reader(program(), url, 0, NULL, &reader, NULL), CST_OK);
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
  CHECK_EQ(cst__url_reader(program(), "copy:///nowhere/x", 0, NULL, &reader, NULL), CST_OK);
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
  CST__TRY(cst__url_reader(ctx, "copy:///dev/null", 0, NULL, &reader, NULL));
  cst_status status = reader.read_at(reader.ctx, 0, &byte, 1, &got, NULL);
  reader.close(reader.ctx);
  return (int)status;
}

TEST(no_memory) { FOR_EACH_ALLOCATION_FAILURE(read_one, (void *)program(), CST_NO_MEMORY); }
