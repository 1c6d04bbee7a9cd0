/* Arrow values as JSON: strings, bytes, lists, structs, nulls. */
#include "arrow_text.h"
#include "format/json/text.h"

static void check_value(const char *type, const char *rows, const char *expected) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst__arena arena;
  cst__view view;
  cst__json_text text = {.allocator = cst__default_allocator};
  arrow_text(type, rows, &schema, &array);
  cst__arena_init(&arena, NULL);
  CHECK_EQ(cst__view_init(&view, &schema, &array, false, &arena, NULL), CST_OK);
  CHECK_EQ(cst__json_check(&view, NULL), CST_OK);
  for (int64_t i = 0; i < view.length; i++) {
    cst__json_append(&text, i > 0 ? "; " : "", i > 0 ? 2 : 0);
    cst__json_value(&text, &view, i);
  }
  cst__json_append(&text, "", 1);
  CHECK(!text.failed);
  CHECK_STR(text.data, expected);
  cst__json_reset(&text);
  cst__arena_reset(&arena);
  ArrowSchemaRelease(&schema);
  ArrowArrayRelease(&array);
}

TEST(lists_keep_null_and_empty_apart) {
  check_value("large_list<int64>", "[1, 2] null [] [3]", "[1, 2]; null; []; [3]");
  check_value("list<float32>", "[0.5, null] null", "[0.5, null]; null");
  check_value("fixed_list<int32>[2]", "[1, 2] [3, 4]", "[1, 2]; [3, 4]");
  check_value("large_list<large_list<int64>>", "[[1], []] [null]", "[[1], []]; [null]");
}

TEST(scalars) {
  check_value("bool", "true null", "true; null");
  check_value("uint64", "18446744073709551615", "18446744073709551615");
  check_value("int8", "-128 127", "-128; 127");
  check_value("float16", "1.5 -0.25", "1.5; -0.25");
  check_value("null", "null null", "null; null");
}

TEST(structs) {
  check_value("struct{a: int64, b: list<int64>}", "{1, [2]} {null, null}",
              "{\"a\": 1, \"b\": [2]}; {\"a\": null, \"b\": null}");
}

static void check_bytes(const char *bytes, size_t size, const char *expected) {
  cst__json_text text = {.allocator = cst__default_allocator};
  cst__json_bytes(&text, (cst_bytes){(const uint8_t *)bytes, size});
  cst__json_append(&text, "", 1);
  CHECK_STR(text.data, expected);
  cst__json_reset(&text);
}

TEST(bytes) {
  check_bytes("", 0, "\"\"");
  check_bytes("a\"b\\c/", 6, "\"a\\\"b\\\\c/\"");
  check_bytes("\b\t\n\v\f\r\x1f\x7f", 8, "\"\\b\\t\\n\\u000b\\f\\r\\u001f\\u007f\"");
  check_bytes("a\0b", 3, "\"a\\u0000b\"");
  check_bytes("gr\xc3\xbcn \xf0\x9f\x98\x80", 10, "\"gr\xc3\xbcn \xf0\x9f\x98\x80\"");
  check_bytes("\xff", 1, "{\"base64\": \"/w==\"}");
  check_bytes("\xff\x00", 2, "{\"base64\": \"/wA=\"}");
  check_bytes("\xff\x00\x01", 3, "{\"base64\": \"/wAB\"}");
  check_bytes("\xed\xa0\x80x", 4, "{\"base64\": \"7aCAeA==\"}");
}

TEST(keys) {
  cst__json_text text = {.allocator = cst__default_allocator};
  cst__json_key(&text, "a\"\xff"
                       "b");
  cst__json_append(&text, "", 1);
  CHECK_STR(text.data, "\"a\\\"\\\\xffb\": ");
  cst__json_reset(&text);
}

TEST(types_without_json_are_refused_by_name) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst__arena arena;
  cst__view view;
  cst_error error = CST_ERROR_INIT;
  arrow_text("struct{a: int64, t: timestamp}", "{1, 2}", &schema, &array);
  cst__arena_init(&arena, NULL);
  CHECK_EQ(cst__view_init(&view, &schema, &array, false, &arena, NULL), CST_OK);
  CHECK_EQ(cst__json_check(&view.children[1], &error), CST_UNSUPPORTED);
  CHECK_STR(error.path, "t");
  cst__arena_reset(&arena);
  ArrowSchemaRelease(&schema);
  ArrowArrayRelease(&array);
}
