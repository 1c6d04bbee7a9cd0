/* Arrow values as JSON: strings, bytes, lists, structs, nulls. */
#include "arrow_text.h"
#include "format/json/text.h"

static void check_value(const char *type, const char *rows, const char *expected) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst__arena arena;
  cst__view view;
  cst__text text = {.allocator = cst__default_allocator};
  arrow_text(type, rows, &schema, &array);
  cst__arena_init(&arena, NULL);
  CHECK_EQ(cst__view_init(&view, &schema, &array, false, &arena, NULL), CST_OK);
  CHECK_EQ(cst__json_check(&view, NULL), CST_OK);
  for (int64_t i = 0; i < view.length; i++) {
    cst__text_append(&text, i > 0 ? "; " : "", i > 0 ? 2 : 0);
    cst__json_value(&text, &view, i);
  }
  cst__text_append(&text, "", 1);
  CHECK(!text.failed);
  CHECK_STR(text.data, expected);
  cst__text_free(&text);
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

TEST(times) {
  check_value("timestamp[ns, UTC]", "1000000005 -1 null",
              "\"1970-01-01T00:00:01.000000005Z\"; \"1969-12-31T23:59:59.999999999Z\"; null");
  check_value("timestamp[s, Berlin]", "-1 1709208000",
              "\"1969-12-31T23:59:59Z\"; \"2024-02-29T12:00:00Z\"");
  check_value("timestamp[us]", "1", "\"1970-01-01T00:00:00.000001\"");
  check_value("timestamp[ms]", "-62135596800000 253402300799999",
              "\"0001-01-01T00:00:00.000\"; \"9999-12-31T23:59:59.999\"");
  check_value("timestamp", "253402300800 -62167219201",
              "\"+10000-01-01T00:00:00\"; \"-0001-12-31T23:59:59\"");
  check_value("timestamp", "9223372036854775807 -9223372036854775807",
              "\"+292277026596-12-04T15:30:07\"; \"-292277022657-01-27T08:29:53\"");
  check_value("date32", "19782 -1 null", "\"2024-02-29\"; \"1969-12-31\"; null");
  check_value("date64", "86400000 -1", "\"1970-01-02\"; \"1969-12-31\"");
  check_value("time64", "3720000000000 86399999999999",
              "\"01:02:00.000000000\"; \"23:59:59.999999999\"");
  check_value("time64[us]", "1", "\"00:00:00.000001\"");
  check_value("time32[ms]", "1 -1", "\"00:00:00.001\"; \"-00:00:00.001\"");
  check_value("time32", "3600", "\"01:00:00\"");
}

TEST(durations) {
  check_value("duration[ns]", "1500000000 -1500000 1 0 -1",
              "\"1.500s\"; \"-0.001500s\"; \"0.000000001s\"; \"0s\"; \"-0.000000001s\"");
  check_value("duration", "-5 9223372036854775807", "\"-5s\"; \"9223372036854775807s\"");
  check_value("duration[us]", "10", "\"0.000010s\"");
  check_value("list<duration[ms]>", "[1, null]", "[\"0.001s\", null]");
}

static void check_bytes(const char *bytes, size_t size, const char *expected) {
  cst__text text = {.allocator = cst__default_allocator};
  cst__json_bytes(&text, (cst_bytes){(const uint8_t *)bytes, size});
  cst__text_append(&text, "", 1);
  CHECK_STR(text.data, expected);
  cst__text_free(&text);
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
  cst__text text = {.allocator = cst__default_allocator};
  cst__json_key(&text, "a\"\xff"
                       "b");
  cst__text_append(&text, "", 1);
  CHECK_STR(text.data, "\"a\\\"\\\\xffb\": ");
  cst__text_free(&text);
}

TEST(types_without_json_are_refused_by_name) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst__arena arena;
  cst__view view;
  cst_error error = CST_ERROR_INIT;
  arrow_text("struct{a: int64, t: timestamp}", "{1, 2}", &schema, &array);
  CHECK_EQ(ArrowSchemaSetFormat(schema.children[1], "tiD"), 0); /* an interval, 8 bytes as well */
  cst__arena_init(&arena, NULL);
  CHECK_EQ(cst__view_init(&view, &schema, &array, false, &arena, NULL), CST_OK);
  CHECK_EQ(cst__json_check(&view.children[1], &error), CST_UNSUPPORTED);
  CHECK_STR(error.path, "t");
  cst__arena_reset(&arena);
  ArrowSchemaRelease(&schema);
  ArrowArrayRelease(&array);
}
