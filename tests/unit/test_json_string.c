/* Strings of JSON: every byte in every place, and what a terminal would obey. */
#include "text/json_string.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static void check_string(const char *bytes, size_t size, cst__json_escapes escapes,
                         const char *expected) {
  cst__text out = {0};
  cst__put_json_string(&out, bytes, size, escapes);
  cst__text_append(&out, "", 0);
  CHECK_STR(out.data, expected);
  out.size = 0;
  cst__put_json_inside(&out, bytes, size, escapes);
  CHECK_EQ(out.size, strlen(expected) - 2);
  CHECK_MEM(out.data, expected + 1, out.size);
  cst__text_free(&out);
}

TEST(escapes) {
  check_string("", 0, CST__JSON_FEW, "\"\"");
  check_string(NULL, 0, CST__JSON_SHOWN, "\"\"");
  check_string("a\"b\\c/", 6, CST__JSON_FEW, "\"a\\\"b\\\\c/\"");
  check_string("\b\t\n\v\f\r\x1f\x7f", 8, CST__JSON_FEW, "\"\\b\\t\\n\\u000b\\f\\r\\u001f\x7f\"");
  check_string("\b\t\n\v\f\r\x1f\x7f", 8, CST__JSON_SHOWN,
               "\"\\b\\t\\n\\u000b\\f\\r\\u001f\\u007f\"");
  check_string("a\0b", 3, CST__JSON_FEW, "\"a\\u0000b\"");
}

TEST(what_a_terminal_obeys) {
  check_string("a\xe2\x80\xae"
               "b",
               5, CST__JSON_FEW,
               "\"a\xe2\x80\xae"
               "b\"");
  check_string("a\xe2\x80\xae"
               "b",
               5, CST__JSON_SHOWN, "\"a\\u202eb\"");
  check_string("\xc2\x9b", 2, CST__JSON_SHOWN, "\"\\u009b\"");
  check_string("\xd8\x9c\xc3\xbc", 4, CST__JSON_SHOWN, "\"\\u061c\xc3\xbc\"");
  check_string("\xf0\x9f\x98\x80 \xe2\x82\xac", 8, CST__JSON_SHOWN,
               "\"\xf0\x9f\x98\x80 \xe2\x82\xac\"");
}

TEST(names) {
  cst__text out = {0};
  cst__put_json_text(&out, "a\nb");
  CHECK_EQ(out.size, 6);
  CHECK_MEM(out.data, "\"a\\nb\"", 6);
  cst__text_free(&out);
}

/* One byte that is escaped among others, in texts of every length around a word. */
TEST(every_place) {
  for (size_t size = 1; size < 40; size++) {
    for (size_t at = 0; at < size; at++) {
      char text[48];
      char expected[64];
      memset(text, 'x', size);
      text[at] = '"';
      (void)snprintf(expected, sizeof expected, "\"%.*s\\\"%.*s\"", (int)at, text,
                     (int)(size - at - 1), text + at + 1);
      check_string(text, size, CST__JSON_FEW, expected);
      check_string(text, size, CST__JSON_SHOWN, expected);
    }
  }
}

/* Within the script element of a page. */
TEST(in_html) {
  static const struct {
    const char *bytes, *expected;
  } texts[] = {{"", "\"\""},
               {"</script><!--", "\"\\u003c/script>\\u003c!--\""},
               {"<", "\"\\u003c\""},
               {"a\xff<\xc3", "\"a\xef\xbf\xbd\\u003c\xef\xbf\xbd\""},
               {"\"\n\xc3\xa9", "\"\\\"\\n\xc3\xa9\""}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    cst__text out = {0};
    cst__put_json_in_html(&out, texts[i].bytes, strlen(texts[i].bytes));
    CHECK_STR(out.data, texts[i].expected);
    cst__text_free(&out);
  }
}

/* It ends as a string of C does, wherever its room comes from. */
TEST(a_string_of_c) {
  char bytes[200];
  for (size_t size = 0; size < sizeof bytes; size++) {
    cst__text out = {.allocator = cst__default_allocator};
    memset(bytes, size % 3 == 0 ? '\n' : 'x', size);
    cst__put_json_string(&out, bytes, size, CST__JSON_FEW);
    CHECK_EQ(strlen(out.data), out.size);
    cst__put_json_inside(&out, bytes, size, CST__JSON_FEW);
    CHECK_EQ(strlen(out.data), out.size);
    cst__text_free(&out);
  }
}

/* Texts of every length with an escape at every place, in memory that ends with them, and with an
 * escape after them that could be read. */
TEST(plain_bytes_are_copied_up_to_each_escape) {
  enum { LONGEST = 50, STEP = 16 };
  static const char escapes[] = "\"\\\n\x1f\x7f";
  char to[LONGEST + STEP];
  for (size_t size = 1; size <= LONGEST; size++) {
    uint8_t *bytes = malloc(size);
    memset(bytes, 'x', size);
    CHECK_EQ(cst__copy_json_plain(to, bytes, size, size), size);
    CHECK_MEM(to, bytes, size);
    for (size_t at = 0; at < size; at++) {
      bytes[at] = (uint8_t)escapes[(size + at) % 5];
      CHECK_EQ(cst__copy_json_plain(to, bytes, size, size), at);
      CHECK_MEM(to, bytes, at);
      CHECK_EQ(cst__copy_json_plain(to, bytes, at, size), at);
      bytes[at] = 'x';
    }
    free(bytes);
  }
}

static int without_memory(void *context) {
  cst__text out = {.allocator = cst__default_allocator};
  (void)context;
  cst__put_json_string(&out, "\n\n\n\n\n\n\n\n\n\n", 10, CST__JSON_FEW);
  bool failed = out.failed;
  cst__text_free(&out);
  return failed ? CST_NO_MEMORY : CST_OK;
}

TEST(no_memory) { FOR_EACH_ALLOCATION_FAILURE(without_memory, NULL, CST_NO_MEMORY); }

/* By steps of many bytes, or one character at a time. */
TEST(long_texts_are_as_character_by_character) {
  static const char *const characters[] = {"a",
                                           "plain words of ASCII, of some length",
                                           "\xc3\xa9",
                                           "\xc2\x85",
                                           "\xd8\x9c",
                                           "\xd8\xa7",
                                           "\xe2\x82\xac",
                                           "\xe2\x80\xae",
                                           "\xe2\x81\xa6",
                                           "\xf0\x9f\x8e\x89",
                                           "\x7f",
                                           "\x1f",
                                           "\n",
                                           "\"",
                                           "\\",
                                           " "};
  srand(14);
  for (int round = 0; round < 20000; round++) {
    char bytes[600];
    size_t size = 0;
    cst__text expected = {0};
    const cst__json_escapes escapes = round % 2 ? CST__JSON_SHOWN : CST__JSON_FEW;
    cst__text_append(&expected, "\"", 1);
    for (int count = rand() % 12; count > 0; count--) {
      const char *character = characters[rand() % (rand() % 4 ? 3 : 16)];
      for (const char *at = character; *at != '\0';) {
        const size_t step = (uint8_t)*at < 0x80 ? 1 : strlen(at);
        cst__put_json_inside(&expected, at, step, escapes);
        memcpy(bytes + size, at, step);
        size += step;
        at += step;
      }
    }
    cst__text_append(&expected, "\"", 2);
    check_string(bytes, size, escapes, expected.data);
    cst__text_free(&expected);
  }
}
