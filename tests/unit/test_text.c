/* Tests of the text format: every literal form, what is printed, and where errors are. */
#include "proto_support.h"

/* The text is read as what `wanted` says in the printed form. */
static void check_text(const char *text, const char *wanted) {
  char *out;
  size_t size;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(convert_message(true, text, strlen(text), true, &out, &size, &error), CST_OK);
  CHECK_STR(out, wanted);
  cst_free(out);
}

static void check_error(const char *text, int64_t line, int64_t column, const char *message,
                        const char *hint) {
  char *out;
  size_t size;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(convert_message(true, text, strlen(text), true, &out, &size, &error), CST_CORRUPT);
  CHECK_CONTAINS(error.message, message);
  CHECK_EQ(error.line, line);
  CHECK_EQ(error.column, column);
  if (hint != NULL) {
    CHECK_CONTAINS(error.hint, hint);
  }
  CHECK_EQ(convert_message(true, text, strlen(text), true, &out, &size, NULL), CST_CORRUPT);
}

TEST(integers) {
  check_text("i64: 10", "i64: 10\n");
  check_text("i64: -10", "i64: -10\n");
  check_text("i64: - 10", "i64: -10\n");
  check_text("i64: 0x1F", "i64: 31\n");
  check_text("i64: -0X1f", "i64: -31\n");
  check_text("i64: 017", "i64: 15\n");
  check_text("i64: 0", "i64: 0\n");
  check_text("i64: -0", "i64: 0\n");
  check_text("i64: 9223372036854775807", "i64: 9223372036854775807\n");
  check_text("i64: -9223372036854775808", "i64: -9223372036854775808\n");
  check_text("u64: 18446744073709551615", "u64: 18446744073709551615\n");
  check_text("i32: -2147483648 u32: 4294967295", "i32: -2147483648\nu32: 4294967295\n");
  check_text("x32: 1 x64: 2 sx32: -1 sx64: -2 z32: -3 z64: -4",
             "x64: 2\nx32: 1\nsx32: -1\nsx64: -2\nz32: -3\nz64: -4\n");
}

TEST(integers_out_of_range) {
  check_error("i64: 9223372036854775808", 1, 6, "out of range for int64", NULL);
  check_error("i64: -9223372036854775809", 1, 6, "out of range for int64", NULL);
  check_error("i32: 2147483648", 1, 6, "out of range for int32", NULL);
  check_error("u32: 4294967296", 1, 6, "out of range for uint32", NULL);
  check_error("u64: -1", 1, 6, "out of range for uint64", NULL);
  check_error("u64: 18446744073709551616", 1, 6, "more than 64 bits", NULL);
  check_error("i64: 08", 1, 6, "expected an integer, found '08'", NULL);
  check_error("i64: 0x", 1, 6, "expected an integer", NULL);
  check_error("i64: 1.5", 1, 6, "expected an integer", NULL);
  check_error("i64: \"1\"", 1, 6, "expected an integer", NULL);
  check_error("i64: 5x", 1, 6, "expected an integer", NULL);
}

TEST(floats) {
  check_text("d: 1", "d: 1.0\n");
  check_text("d: 1.", "d: 1.0\n");
  check_text("d: .5", "d: 0.5\n");
  check_text("d: -.5f", "d: -0.5\n");
  check_text("d: 1e3 f: 1E-3F", "d: 1000.0\nf: 0.001\n");
  check_text("d: 1e+3", "d: 1000.0\n");
  check_text("d: inf f: -Infinity", "d: inf\nf: -inf\n");
  check_text("d: nan f: -NaN", "d: nan\nf: nan\n");
  check_text("d: -0.0", "d: -0.0\n");
  check_text("f: 1e39 d: 1e400", "d: inf\nf: inf\n");
  check_error("d: 0x10", 1, 4, "expected a number", NULL);
  check_error("d: 1e", 1, 4, "expected a number", NULL);
  check_error("d: 07", 1, 4, "expected a number", NULL);
  check_error("d: -07.5", 1, 5, "expected a number", NULL);
  check_error("d: .", 1, 4, "expected a number, found '.'", NULL);
  check_error("d: infinit", 1, 4, "expected a number", NULL);
}

static void check_double(double value, const char *wanted) {
  cst__text text = {0};
  cst__text_put_double(&text, value);
  CHECK_STR(text.data, wanted);
  cst__text_free(&text);
}

static void check_float(float value, const char *wanted) {
  cst__text text = {0};
  cst__text_put_float(&text, value);
  CHECK_STR(text.data, wanted);
  cst__text_free(&text);
}

TEST(floats_are_printed_as_short_as_can_be) {
  check_double(0, "0.0");
  check_double(0.1, "0.1");
  check_double(1.0 / 3, "0.3333333333333333");
  check_double(123456789012345680.0, "1.2345678901234568e+17");
  check_double(1e15, "1000000000000000.0");
  check_double(1e16, "1e+16");
  check_double(0.0001, "0.0001");
  check_double(0.00001, "1e-05");
  check_double(5e-324, "5e-324");
  check_double(1.7976931348623157e308, "1.7976931348623157e+308");
  check_double(120, "120.0");
  check_float(0.1f, "0.1");
  check_float(0.9f, "0.9");
  check_float(16777216, "16777216.0");
  check_float(3.4028234663852886e38f, "3.4028235e+38");
  check_float(1e-45f, "1.4013e-45");
}

TEST(words) {
  check_text("b: true", "b: true\n");
  check_text("b: True", "b: true\n");
  check_text("b: t", "b: true\n");
  check_text("b: 1", "b: true\n");
  check_text("b: false", "b: false\n");
  check_text("b: f", "b: false\n");
  check_text("b: 0", "b: false\n");
  check_text("e: GREEN", "e: GREEN\n");
  check_text("e: 1", "e: GREEN\n");
  check_text("e: -5", "e: NEGATIVE\n");
  check_text("open: 77", "open: 77\n");
  check_error("b: yes", 1, 4, "expected true or false, found 'yes'", NULL);
  check_error("b: 2", 1, 4, "expected true or false", NULL);
  check_error("e: GREEM", 1, 4, "test.Color has no value 'GREEM'", "did you mean 'GREEN'?");
  check_error("e: BLUEBERRY", 1, 4, "has no value", "use one of RED, GREEN, NEGATIVE");
  check_error("e: 7", 1, 4, "test.Color has no value '7'", NULL);
}

TEST(strings) {
  check_text("s: \"a\"", "s: \"a\"\n");
  check_text("s: 'a'", "s: \"a\"\n");
  check_text("s: 'a' \"b\"\n  'c'", "s: \"abc\"\n");
  check_text("s: ''", "s: \"\"\n");
  check_text("s: '\"' \"'\"", "s: \"\\\"\\'\"\n");
  check_text("y: '\\a\\b\\f\\n\\r\\t\\v\\?\\\\\\'\\\"'",
             "y: \"\\007\\010\\014\\n\\r\\t\\013?\\\\\\'\\\"\"\n");
  check_text("y: '\\1\\12\\123\\0'", "y: \"\\001\\nS\\000\"\n");
  check_text("y: '\\x41\\x4\\xfF'", "y: \"A\\004\\377\"\n");
  check_text("s: '\\u00e4\\U0001F600\\ud83d\\ude00'", "s: \"ä😀😀\"\n");
  check_text("s: 'ä' y: 'ä'", "s: \"ä\"\ny: \"\\303\\244\"\n");
  check_text("s: '\xff'", "s: \"\\377\"\n");
  check_text("s: '\x01\x7f'", "s: \"\\001\\177\"\n");
  check_text("texts: ['a', 'b' 'c'] texts: 'd'", "texts: \"a\"\ntexts: \"bc\"\ntexts: \"d\"\n");
}

TEST(strings_that_are_wrong) {
  check_error("s: 'a", 1, 4, "no closing quote", "close the string");
  check_error("s: 'a\n'", 1, 4, "no closing quote", NULL);
  check_error("s: 'a\\", 1, 4, "no closing quote", NULL);
  check_error("s: 'a\\'", 1, 4, "no closing quote", NULL);
  check_error("s: 'ab\\q'", 1, 7, "a string has an invalid escape", "write a backslash as");
  check_error("s: '\\x'", 1, 5, "a string has an invalid escape", NULL);
  check_error("s: '\\777'", 1, 5, "a string has an invalid escape", NULL);
  check_error("s: '\\u12'", 1, 5, "a string has an invalid escape", NULL);
  check_error("s: '\\ud83d'", 1, 5, "a string has an invalid escape", NULL);
  check_error("s: '\\ud83d\\u0041'", 1, 5, "a string has an invalid escape", NULL);
  check_error("s: '\\U00110000'", 1, 5, "a string has an invalid escape", NULL);
  check_error("s: a", 1, 4, "expected a string in quotes, found 'a'", NULL);
  check_error("any { type_url: '\\377' }", 1, 17, "not valid UTF-8", NULL);
}

TEST(messages) {
  check_text("m { i64: 1 }", "m {\n  i64: 1\n}\n");
  check_text("m: { i64: 1 }", "m {\n  i64: 1\n}\n");
  check_text("m < i64: 1 >", "m {\n  i64: 1\n}\n");
  check_text("m {} g <>", "g {\n}\nm {\n}\n");
  check_text("children { i64: 1 } children { }", "children {\n  i64: 1\n}\nchildren {\n}\n");
  check_text("children [{ i64: 1 }, <>]", "children {\n  i64: 1\n}\nchildren {\n}\n");
  check_text("children: []", "");
  check_text("i64: 1, i32: 2; b: t", "i64: 1\ni32: 2\nb: true\n");
  check_text("many: [1, 2] many: 3", "many: 1\nmany: 2\nmany: 3\n");
  check_text("map { value: 1 key: 'x' } map: { key: 'a' }",
             "map {\n  key: \"a\"\n  value: 0\n}\nmap {\n  key: \"x\"\n  value: 1\n}\n");
  check_text("# first\n  i64: # second ' {\n 1# third", "i64: 1\n");
  check_text("\xef\xbb\xbfi64: 1", "i64: 1\n");
  check_text("i64: 1\r\ni32:\t2\v\f", "i64: 1\ni32: 2\n");
  check_text("", "");
  check_text(" \n# nothing\n", "");
}

TEST(syntax_errors_name_line_and_column) {
  check_error("m {\n  i64 1\n}", 2, 7, "expected ':', found '1'", NULL);
  check_error("m {\n  i64: 1\n", 3, 1, "expected '}', found the end of the text", NULL);
  check_error("m {\n  i64: 1 >", 2, 10, "expected a field's name, found '>'", NULL);
  check_error("m 5", 1, 3, "expected '{', found '5'", NULL);
  check_error("}", 1, 1, "expected a field's name, found '}'", NULL);
  check_error("many: [1 2]", 1, 10, "expected ']', found '2'", NULL);
  check_error("many: [1,]", 1, 10, "expected an integer, found ']'", NULL);
  check_error("i64: [1]", 1, 6, "expected an integer, found '['", NULL);
  check_error("i64", 1, 4, "expected ':', found the end", NULL);
  check_error("i64: 1 i64: 2", 1, 8, "test.All has 'i64' twice", "remove one of them");
  check_error("m {} m {}", 1, 6, "test.All has 'm' twice", NULL);
  check_error("one_int: 1 one_text: 'a'", 1, 12, "both members of the oneof 'choice'", NULL);
  check_error("i65: 1", 1, 1, "test.All has no field 'i65'", "did you mean 'i64'?");
  check_error("m { nothing_like_it: 1 }", 1, 5, "has no field", NULL);
  check_error("[foo.bar]: 1", 1, 1, "has no extensions", "by its number");
  check_error("\x01", 1, 1, "expected a field's name, found '\\x01'", NULL);
}

/* A text with `levels` messages inside each other, `open` each. */
static char *nested_text(const char *open, const char *close, size_t levels) {
  cst__text text = {0};
  for (size_t i = 0; i < levels; i++) {
    cst__text_puts(&text, open);
  }
  for (size_t i = 0; i < levels; i++) {
    cst__text_puts(&text, close);
  }
  return text.data;
}

TEST(depth_is_limited) {
  static const char *const forms[][2] = {
      {"m{", "}"}, {"children [<", ">]"}, {"77 {", "}"}, {"77 <", ">"}};
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    char *out;
    size_t size;
    cst_error error = CST_ERROR_INIT;
    char *text = nested_text(forms[i][0], forms[i][1], 100);
    CHECK_EQ(convert_message(true, text, strlen(text), true, &out, &size, NULL), CST_OK);
    cst_free(out);
    cst_free(text);
    text = nested_text(forms[i][0], forms[i][1], 101);
    CHECK_EQ(convert_message(true, text, strlen(text), true, &out, &size, &error), CST_CORRUPT);
    CHECK_CONTAINS(error.message, "nested deeper than 100 levels");
    CHECK_EQ(error.line, 1);
    cst_free(text);
  }
}

static void check_bytes(const char *text, const char *bytes, size_t size, const char *printed) {
  char *out;
  char *again;
  size_t out_size;
  size_t again_size;
  CHECK_EQ(convert_message(true, text, strlen(text), false, &out, &out_size, NULL), CST_OK);
  CHECK_EQ(out_size, size);
  CHECK_MEM(out, bytes, size);
  CHECK_EQ(convert_message(false, out, out_size, true, &again, &again_size, NULL), CST_OK);
  CHECK_STR(again, printed);
  cst_free(out);
  CHECK_EQ(convert_message(true, again, again_size, false, &out, &out_size, NULL), CST_OK);
  CHECK_EQ(out_size, size);
  CHECK_MEM(out, bytes, size);
  cst_free(out);
  cst_free(again);
}
#define CHECK_BYTES(text, bytes, printed) check_bytes(text, bytes, sizeof(bytes) - 1, printed)

TEST(fields_by_number) {
  CHECK_BYTES("1000: 5", "\xc0\x3e\x05", "1000: 5\n");
  CHECK_BYTES("1000: -1", "\xc0\x3e\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
              "1000: 18446744073709551615\n");
  CHECK_BYTES("1000: 0x00000005", "\xc5\x3e\5\0\0\0", "1000: 0x00000005\n");
  CHECK_BYTES("1000: 0x0000000000000005", "\xc1\x3e\5\0\0\0\0\0\0\0", "1000: 0x0000000000000005\n");
  CHECK_BYTES("1000: 0x5", "\xc0\x3e\x05", "1000: 5\n");
  CHECK_BYTES("1000: \"abc\"",
              "\xc2\x3e\x03"
              "abc",
              "1000: \"abc\"\n");
  CHECK_BYTES("1000: ''", "\xc2\x3e\x00", "1000: \"\"\n");
  CHECK_BYTES("1000 { 1: 'x' 2: 3 }", "\xc2\x3e\x05\x0a\x01x\x10\x03",
              "1000 {\n  1: \"x\"\n  2: 3\n}\n");
  CHECK_BYTES("1000 < 1: 5 >", "\xc3\x3e\x08\x05\xc4\x3e", "1000 <\n  1: 5\n>\n");
  CHECK_BYTES("1000: [1, 2]", "\xc0\x3e\x01\xc0\x3e\x02", "1000: 1\n1000: 2\n");
  CHECK_BYTES("3: 5", "\x18\x05", "i64: 5\n");
  CHECK_BYTES("3: 'x'", "\x1a\x01x", "3: \"x\"\n");
  CHECK_BYTES("m { 7: 1 i64: 2 }", "\x5a\x04\x18\x02\x38\x01", "m {\n  i64: 2\n  7: 1\n}\n");
}

TEST(fields_by_number_that_are_wrong) {
  check_error("0: 1", 1, 1, "number is not from 1", NULL);
  check_error("1000 { 0: 1 }", 1, 8, "number is not from 1", NULL);
  check_error("1000 < 1 { 0: 1 } >", 1, 12, "number is not from 1", NULL);
  check_error("1000 < 0: 2 >", 1, 8, "number is not from 1", NULL);
  check_error("536870912: 1", 1, 1, "number is not from 1", NULL);
  check_error("77: x", 1, 5, "expected an integer, found 'x'", NULL);
  check_error("77: 1.5", 1, 5, "expected an integer", NULL);
  check_error("i64: 1 11: 'x'", 1, 8, "the bytes end inside a value", NULL);
}

TEST(an_expanded_any_is_kept_as_text) {
  const char *text = "any {\n  [type.googleapis.com/a.B] { x: 1 y < z: \"}\" > }\n}\n";
  check_text(text, text);
  check_text("any { [a.b/C]: < > }", "any {\n  [a.b/C]: < >\n}\n");
  check_text("any { type_url: 'a/b' value: '\\001' }",
             "any {\n  type_url: \"a/b\"\n  value: \"\\001\"\n}\n");
  check_error("any { [a/b] { ", 1, 15, "expected '}', found the end", NULL);
  check_error("any { [a/b] { > }", 1, 15, "expected '}', found '>'", NULL);
  check_error("any { [a/b] }", 1, 13, "expected '{', found '}'", NULL);
  check_error("any { [a/b] {} [c/d] {} }", 1, 16, "more than one value", NULL);
  char *deep = nested_text("{", "}", 101);
  char whole[300];
  snprintf(whole, sizeof whole, "any { [a/b] %s }", deep);
  check_error(whole, 1, 113, "nested deeper", NULL);
  cst_free(deep);
}

TEST(an_expanded_any_is_found) {
  const char *text = "children {}\nchildren { any {\n [a/b] {} } }";
  cst__arena arena;
  cst__message *message;
  cst__arena_init(&arena, NULL);
  CHECK_EQ(read_message(&arena, true, text, strlen(text), &message, NULL), CST_OK);
  const cst__message *found = cst__message_find_expanded_any(message);
  CHECK(found != NULL);
  CHECK_EQ(found->line, 2);
  CHECK_EQ(found->column, 16);
  cst__arena_reset(&arena);
}

static int read_and_fail(void *context) {
  char *out = NULL;
  size_t size;
  const char *text = context;
  cst_status status = convert_message(true, text, strlen(text), true, &out, &size, NULL);
  cst_free(out);
  return status == CST_CORRUPT ? CST_OK : (int)status;
}

TEST(out_of_memory_on_the_way_to_an_error) {
  char text[] = "s: 'a\\n' 'b' 77 { 78: 'c\\n' 79 < 1: 2 > 80: } ";
  FOR_EACH_ALLOCATION_FAILURE(read_and_fail, text, CST_NO_MEMORY);
}
