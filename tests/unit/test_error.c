/* cst_error: callers of older and newer versions, whose struct is smaller or larger than ours. */
#include "base/error.h"

#include <columnstone/dataset.h>
#include <columnstone/records.h>
#include <columnstone/sink.h>
#include <stdlib.h>
#include <string.h>

#include "source_support.h"

/* Something that fails, with a place and a path where it can. */
typedef struct failure {
  const char *name;
  cst_status (*run)(cst_error *error);
} failure;

static cst_status syntax(cst_error *error) {
  cst_schema *schema;
  return cst_schema_from_text("feature {", 9, &schema, error);
}

static cst_status meaning(cst_error *error) {
  static const char text[] = "feature { name: 'a' type: INT shape { dim { size: -7 } } }";
  cst_schema *schema;
  return cst_schema_from_text(text, sizeof text - 1, &schema, error);
}

static cst_status record(cst_error *error) {
  cst_decoder *decoder;
  struct ArrowArray batch;
  const cst_bytes bad = {(const uint8_t *)"\x0a\x05junk!", 7};
  CHECK_EQ(cst_decoder_new("example", NULL, &decoder, NULL), CST_OK);
  cst_status status = cst_decoder_decode(decoder, &bad, 1, NULL, &batch, error);
  cst_decoder_free(decoder);
  return status;
}

static cst_status missing_file(cst_error *error) {
  const char *path = harness_temp_path("there is no such file");
  cst_source *source;
  return cst_source_open(&path, 1, NULL, &source, error);
}

/* Reads a file whose last record is damaged, in each of the ways. */
static cst_status damaged(int32_t threads, bool skip, cst_error *error) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  const char *path = harness_temp_path("damaged.tfrecord");
  cst_source *source;
  options.threads = threads;
  options.on_error = skip ? CST_ON_ERROR_SKIP : CST_ON_ERROR_RAISE;
  options.format = "example";
  cst_status status = cst_source_open(&path, 1, &options, &source, error);
  if (status == CST_OK) {
    bytes text = {0};
    status = text_of_pass(source, &text, error);
    bytes_free(&text);
    cst_source_release(source);
  }
  return status;
}

static cst_status in_order(cst_error *error) { return damaged(1, false, error); }
static cst_status with_threads(cst_error *error) { return damaged(2, false, error); }

/* Reads JSON lines that are in memory up to where reading fails (0: nowhere). */
static cst_status read_json(const char *text, size_t fail_at, cst_error *error) {
  memory m = {.data = (const uint8_t *)text, .size = strlen(text), .fail_at = fail_at};
  const cst_reader reader = memory_reader(&m, true);
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  struct ArrowSchema schema;
  cst_source *source;
  options.format = "json";
  CST__TRY(cst_source_open_readers(&reader, 1, &options, &source, error));
  cst_status status = cst_source_arrow_schema(source, &schema, error);
  cst_source_release(source);
  return status;
}

static cst_status json(cst_error *error) {
  return read_json("{\"a\": 1}\n{\"a\": {\"b\": 2}}\n", 0, error);
}
static cst_status callback(cst_error *error) { return read_json("{\"a\": 1}\n", 1, error); }

static const failure failures[] = {{"syntax", syntax},     {"meaning", meaning},
                                   {"record", record},     {"missing_file", missing_file},
                                   {"in_order", in_order}, {"with_threads", with_threads},
                                   {"callback", callback}, {"json", json}};

/* The text of a member in as much room as an error of that size has for it. */
static void check_text(const char *text, const char *full, size_t offset, size_t size) {
  size_t n = size > offset ? size - offset : 0;
  if (n > 0) {
    size_t length = strnlen(text, n);
    CHECK(length < n || length == strlen(full));
    CHECK(length <= strlen(full));
    CHECK(length == strlen(full) || length + 5 >= n); /* cut at a character, for want of room */
  }
}

/* The same failure in an error of `size` bytes: nothing is written after them, and what they have
 * room for is the same. */
static void check_size(const failure *f, size_t size, const cst_error *full) {
  size_t all = sizeof(cst_error) + 64;
  unsigned char *block = malloc(all);
  CHECK(block != NULL);
  memset(block, 0xa5, all);
  memcpy(block, &size, sizeof size);
  cst_error *small = (cst_error *)block;
  CHECK_EQ(f->run(small), full->code);
  size_t least = size > sizeof size ? size : sizeof size;
  for (size_t i = least; i < all; i++) {
    CHECK_EQ(block[i], 0xa5);
  }
  CHECK_EQ(small->size, size);
  if (size >= offsetof(cst_error, path)) {
    CHECK_EQ(small->code, full->code);
    CHECK_EQ(small->record, full->record);
    CHECK_EQ(small->offset, full->offset);
    CHECK_EQ(small->line, full->line);
    CHECK_EQ(small->column, full->column);
    check_text(small->path, full->path, offsetof(cst_error, path), size);
    check_text(small->message, full->message, offsetof(cst_error, message), size);
    check_text(small->hint, full->hint, offsetof(cst_error, hint), size);
    check_text(small->file, full->file, offsetof(cst_error, file), size);
  }
  char text[5000];
  CHECK(cst_error_format(small, text, sizeof text) < sizeof text);
  free(block);
}

static void write_damaged(void) {
  bytes file = {0};
  add_examples(&file, 0, 3);
  file.data[file.size - 1] ^= 1;
  (void)write_bytes("damaged.tfrecord", &file);
  bytes_free(&file);
}

TEST(nothing_is_written_after_the_end_of_a_smaller_error) {
  static const size_t at[] = {0,
                              8,
                              16,
                              offsetof(cst_error, path) - 8,
                              offsetof(cst_error, path),
                              offsetof(cst_error, path) + 1,
                              offsetof(cst_error, message),
                              offsetof(cst_error, message) + 10,
                              offsetof(cst_error, hint),
                              offsetof(cst_error, hint) + 10,
                              offsetof(cst_error, file),
                              offsetof(cst_error, file) + 10,
                              sizeof(cst_error) - 1,
                              sizeof(cst_error)};
  write_damaged();
  for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
    cst_error full = CST_ERROR_INIT;
    CHECK(failures[i].run(&full) != CST_OK);
    CHECK(full.message[0] != '\0');
    for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
      check_size(&failures[i], at[k], &full);
    }
  }
}

TEST(a_larger_error_gets_what_we_have) {
  write_damaged();
  cst_error full = CST_ERROR_INIT;
  CHECK(in_order(&full) != CST_OK);
  check_size(&failures[4], sizeof(cst_error) + 32, &full);
}

TEST(copies_between_sizes) {
  cst_error from = CST_ERROR_INIT;
  cst_error to = CST_ERROR_INIT;
  (void)cst__fail(&from, CST_CORRUPT, "hint", "message");
  cst__error_add_record(&from, 3, 4);
  cst__error_add_path(&from, "path", 4);
  cst__error_add_file(&from, "file");
  to.size = offsetof(cst_error, message) + 4;
  memset(to.file, 'x', sizeof to.file);
  cst__error_copy(&to, &from);
  CHECK_EQ(to.size, offsetof(cst_error, message) + 4);
  CHECK_EQ(to.record, 3);
  CHECK_STR(to.path, "path");
  CHECK_STR(to.message, "...");
  CHECK_EQ(to.file[0], 'x');
  cst_error back = CST_ERROR_INIT;
  (void)cst__fail(&back, CST_IO, "old hint", "old");
  cst__error_copy(&back, &to);
  CHECK_EQ(back.code, CST_CORRUPT);
  CHECK_STR(back.message, "...");
  CHECK_STR(back.hint, "");
  CHECK_STR(back.file, "");
}

TEST(an_error_without_anything_in_it_has_a_text) {
  char text[64];
  cst_error none = CST_ERROR_INIT;
  CHECK_EQ(cst_error_format(&none, text, sizeof text), 2);
  CHECK_STR(text, "ok");
  CHECK_EQ(cst_error_format(NULL, text, sizeof text), 2);
  CHECK_STR(text, "ok");
  CHECK_EQ(cst_error_format(NULL, NULL, 0), 2);
  CHECK_EQ(cst_error_format(NULL, NULL, 1), 2); /* no buffer, whatever its size */
  CHECK_EQ(cst_error_format(&none, NULL, SIZE_MAX), 2);
}

TEST(text_of_others) {
  static const char *const pairs[][2] = {
      {"plain \xc3\xbc\xe2\x82\xac", "plain \xc3\xbc\xe2\x82\xac"},
      {"\x1b[31m\n", "\\x1b[31m\\x0a"},
      {"\xc2\x9b", "\\xc2\\x9b"},
      {"\xc2\xa0", "\xc2\xa0"},
      {"a\xe2\x80\xae", "a\\xe2\\x80\\xae"},
      {"\xe2\x81\xa6", "\\xe2\\x81\\xa6"},
      {"\xe2\x80\xa6", "\xe2\x80\xa6"},
      {"\xd8\x9c", "\\xd8\\x9c"},
      {"\xff\xe2\x80", "\\xff\\xe2\\x80"},
      {"", ""},
  };
  char buf[32];
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    size_t size = strlen(pairs[i][0]);
    CHECK_EQ(cst_text_escape(buf, sizeof buf, pairs[i][0], size), strlen(pairs[i][1]));
    CHECK_STR(buf, pairs[i][1]);
  }
  CHECK_EQ(cst_text_escape(buf, 6,
                           "ab\x1b"
                           "cd",
                           5),
           8); /* whole characters, as many as fit */
  CHECK_STR(buf, "ab");
  CHECK_EQ(cst_text_escape(NULL, 0, "\x1b", 1), 4);
  CHECK_EQ(cst_text_escape(buf, sizeof buf, NULL, 0), 0);
  CHECK_STR(buf, "");
}

TEST(what_a_callback_says_is_handed_on) {
  cst_error own = CST_ERROR_INIT;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__error_take(&error, "reader's read_at", CST_OK, &own), CST_OK);
  CHECK_EQ(error.code, CST_OK);
  CHECK_EQ(cst__error_take(&error, "reader's read_at", CST_IO, &own), CST_IO);
  CHECK_CONTAINS(error.message, "the reader's read_at failed with status 3");
  (void)cst__fail(&own, CST_IO, NULL, "the disk is full");
  CHECK_EQ(cst__error_take(&error, "writer's write", CST_LIMIT, &own), CST_LIMIT);
  CHECK_EQ(error.code, CST_LIMIT);
  CHECK_STR(error.message, "the disk is full");
}
