/* Protobuf's JSON to message trees. */
#include "message/text/json_read.h"

#include <stdio.h>

#include "harness.h"
#include "message_sample.h"

static cst_error last_error;

static cst__json_reader open_reader(const cst_descriptors *set, uint32_t flags) {
  cst_message_options options = CST_MESSAGE_OPTIONS_INIT;
  cst__json_reader reader;
  options.descriptors = set;
  options.flags = flags;
  cst__json_reader_init(&reader, &options, NULL);
  return reader;
}

static uint32_t reading_flags;

/* The tree as text, on one line. */
static cst_status read_as_text(const char *json, char *out, size_t room) {
  cst_descriptors *set = sample_descriptors();
  cst__json_reader reader = open_reader(set, reading_flags);
  cst__arena arena;
  cst__text text = {0};
  cst__arena_init(&arena, NULL);
  last_error = (cst_error)CST_ERROR_INIT;
  cst__message *message = cst__message_new(&arena, sample_message(set));
  cst_status status = cst__message_read_json(
      &reader, &arena, message, (cst_bytes){(const uint8_t *)json, strlen(json)}, &last_error);
  if (status == CST_OK) {
    cst__message_put_text(message, &text);
    size_t used = 0;
    for (size_t i = 0; i < text.size && used + 1 < room; i++) {
      bool is_space = text.data[i] == ' ' || text.data[i] == '\n';
      if (!is_space || (used > 0 && out[used - 1] != ' ')) {
        out[used++] = is_space ? ' ' : text.data[i];
      }
    }
    out[used > 0 ? used - 1 : 0] = '\0';
  }
  cst__text_free(&text);
  cst__arena_reset(&arena);
  cst__json_reader_reset(&reader);
  cst_descriptors_release(set);
  return status;
}

static void check_json(const char *json, const char *text) {
  char have[512] = "";
  CHECK_EQ(read_as_text(json, have, sizeof have), CST_OK);
  CHECK_STR(have, text);
}

static void check_bad_json(const char *json, const char *path, int64_t offset, const char *part) {
  char have[512];
  CHECK_EQ(read_as_text(json, have, sizeof have), CST_CORRUPT);
  CHECK_STR(last_error.path, path);
  CHECK_EQ(last_error.offset, offset);
  CHECK_CONTAINS(last_error.message, part);
}

TEST(names) {
  check_json("{}", "");
  check_json(" {\"anInt\": 1} ", "an_int: 1");
  check_json("{\"an_int\": 1}", "an_int: 1");
  check_json("{\"@o\": 1}", "other: 1");
  check_json("{\"other\": 1}", "other: 1");
  check_json("{\"[t.extra]\": 1, \"[t.more]\": [\"x\"]}", "[t.extra]: 1 [t.more]: \"x\"");
  check_bad_json("{\"anint\": 1}", "", 1, "no field 'anint'");
  CHECK_CONTAINS(last_error.hint, "anInt");
  check_bad_json("{\"\": 1}", "", 1, "no field");
  check_bad_json("{\"t.extra\": 1}", "", 1, "no field");
  check_bad_json("{\"[an_int]\": 1}", "", 1, "no field");
  check_bad_json("{\"kid\":{\"x\":1}}", "kid", 8, "no field 'x'");
  check_bad_json("{\"anInt\": 1, \"anInt\": 2}", "", 13, "duplicate key");
  check_bad_json("{\"anInt\": 1, \"an_int\": 2}", "an_int", 13, "twice");
  check_bad_json("{\"one\": 1, \"two\": \"\"}", "two", 11, "oneof");
}

TEST(unknown_fields_are_passed_over) {
  reading_flags = CST_MESSAGE_IGNORE_UNKNOWN;
  check_json("{\"nix\": {\"a\": [1, \"x\"]}, \"anInt\": 1, \"kid\": {\"x\": 1, \"b\": true}}",
             "an_int: 1 kid { b: true }");
  check_json("{\"[t.nix]\": 1, \"\": 2}", "");
  check_json("{\"color\": \"GREEN\", \"kids\": [{\"color\": \"GREEN\"}, {\"color\": \"BLUE\"}]}",
             "kids { } kids { color: BLUE }");
  check_json(
      "{\"colors\": [\"GREEN\", \"BLUE\", \"\"], \"tints\": {\"a\": \"GREEN\", \"b\": \"RED\"}}",
      "colors: BLUE tints { key: \"b\" value: RED }");
  check_json("{\"any\": {\"@type\": \"x/t.M\", \"nix\": 1, \"anInt\": 1}}",
             "any { type_url: \"x/t.M\" value: \"\\010\\001\" }");
  check_json("{\"any\": {\"@type\": \"x/google.protobuf.Int64Value\", \"nix\": 1, \"value\": 1}}",
             "any { type_url: \"x/google.protobuf.Int64Value\" value: \"\\010\\001\" }");
  check_bad_json("{\"color\": 7}", "color", 1, "no such value");
  check_bad_json("{\"color\": \"7\"}", "color", 1, "no such value");
  check_bad_json("{\"color\": true}", "color", 1, "true or false");
  check_bad_json("{\"nix\": 1, \"nix\": 2}", "", 11, "duplicate key");
  check_bad_json("{\"any\": {\"@type\": \"x/t.N\"}}", "any", 1, "do not have");
  reading_flags = 0;
  check_bad_json("{\"colors\": [\"GREEN\"]}", "colors", 1, "no such value");
}

TEST(null_is_absent) {
  check_json("{\"anInt\": null, \"kid\": null, \"ints\": null, \"counts\": null, \"at\": null}",
             "");
  check_json("{\"one\": null, \"two\": \"x\"}", "two: \"x\"");
  check_json("{\"value\": null, \"none\": null}",
             "value { null_value: NULL_VALUE } none: NULL_VALUE");
  check_json("{\"values\": [null]}", "values { null_value: NULL_VALUE }");
  check_bad_json("{\"ints\": [null]}", "ints", 1, "null");
  check_bad_json("{\"kids\": [null]}", "kids", 1, "null");
  check_bad_json("{\"counts\": {\"a\": null}}", "counts.value", 12, "null");
}

TEST(integers) {
  check_json("{\"anInt\": -2147483648, \"long\": \"-9223372036854775808\", \"u\": 4294967295}",
             "an_int: -2147483648 long: -9223372036854775808 u: 4294967295");
  check_json("{\"ulong\": 18446744073709551615, \"long\": 9007199254740993}",
             "long: 9007199254740993 ulong: 18446744073709551615");
  check_json("{\"anInt\": 1e3, \"long\": \"1.50e2\", \"u\": 1.0}", "an_int: 1000 long: 150 u: 1");
  check_bad_json("{\"anInt\": 2147483648}", "an_int", 1, "range");
  check_bad_json("{\"u\": -1}", "u", 1, "range");
  check_bad_json("{\"long\": 9223372036854775808}", "long", 1, "range");
  check_bad_json("{\"long\": \"-9223372036854775809\"}", "long", 1, "range");
  check_bad_json("{\"ulong\": 18446744073709551616}", "ulong", 1, "range");
  check_bad_json("{\"long\": 1e400}", "long", 1, "range");
  check_bad_json("{\"anInt\": 1.5}", "an_int", 1, "fraction");
  check_bad_json("{\"anInt\": \" 1\"}", "an_int", 1, "not a number");
  check_bad_json("{\"anInt\": \"\"}", "an_int", 1, "not a number");
  check_bad_json("{\"anInt\": true}", "an_int", 1, "true or false, expected int32");
  check_bad_json("{\"ints\": [1, {}]}", "ints", 1, "an object, expected sint32");
}

TEST(floats) {
  check_json("{\"f\": 1, \"d\": \"1.5\"}", "f: 1.0 d: 1.5");
  check_json("{\"f\": \"NaN\", \"d\": \"-Infinity\"}", "f: nan d: -inf");
  check_json("{\"f\": 3.4028235e38, \"d\": 123456789012345678901234567890}",
             "f: 3.4028235e+38 d: 1.2345678901234568e+29");
  check_bad_json("{\"f\": 3.5e38}", "f", 1, "range");
  check_bad_json("{\"d\": 1e400}", "d", 1, "range");
  check_bad_json("{\"d\": \"1e400\"}", "d", 1, "not a number");
  check_bad_json("{\"d\": \"nan\"}", "d", 1, "not a number");
}

TEST(text_and_bytes) {
  check_json("{\"b\": true, \"s\": \"\\u00e9\\n\", \"raw\": \"/+8=\"}",
             "b: true s: \"\xc3\xa9\\n\" raw: \"\\377\\357\"");
  check_json("{\"raw\": \"_-8\"}", "raw: \"\\377\\357\"");
  check_json("{\"raw\": \"\"}", "raw: \"\"");
  check_bad_json("{\"raw\": \"a\"}", "raw", 1, "base64");
  check_bad_json("{\"raw\": \"ab c\"}", "raw", 1, "base64");
  check_bad_json("{\"s\": 1}", "s", 1, "a number, expected string");
  check_bad_json("{\"b\": \"true\"}", "b", 1, "a string, expected bool");
}

TEST(enums) {
  check_json("{\"color\": \"BLUE\"}", "color: BLUE");
  check_json("{\"color\": 5}", "color: BLUE");
  check_json("{\"color\": \"5\"}", "color: BLUE");
  check_bad_json("{\"color\": \"BLU\"}", "color", 1, "no such value");
  CHECK_CONTAINS(last_error.hint, "BLUE");
  check_bad_json("{\"color\": 6}", "color", 1, "no such value");
  check_bad_json("{\"color\": \"\"}", "color", 1, "no such value");
}

TEST(messages_lists_and_maps) {
  check_json("{\"ints\": [1, -1], \"kids\": [{}, {\"kid\": {\"anInt\": 1}}]}",
             "ints: 1 ints: -1 kids { } kids { kid { an_int: 1 } }");
  check_json("{\"point\": {\"x\": 1}}", "Point { x: 1 }");
  check_json("{\"counts\": {\"b\": \"1\", \"a\": 2}, \"flags\": {\"true\": {}, \"false\": {}}}",
             "counts { key: \"b\" value: 1 } counts { key: \"a\" value: 2 } "
             "flags { key: true value { } } flags { key: false value { } }");
  check_bad_json("{\"ints\": 1}", "ints", 1, "expected a list of sint32");
  check_bad_json("{\"kid\": []}", "kid", 1, "a list, expected an object");
  check_bad_json("[]", "", 0, "a list, expected an object");
  check_bad_json("{\"counts\": []}", "counts", 1, "map");
  check_bad_json("{\"counts\": {\"a\": 1, \"a\": 2}}", "counts", 20, "duplicate key");
  check_bad_json("{\"flags\": {\"yes\": {}}}", "flags.key", 11, "true");
  check_bad_json("{\"kids\": [{}, {\"kids\": [{\"flags\": {\"true\": {\"b\": 1}}}]}]}",
                 "kids.kids.flags.value.b", 44, "a number");
}

TEST(well_known) {
  check_json("{\"at\": \"1970-01-01T00:00:01.5Z\", \"took\": \"-1.5s\"}",
             "at { seconds: 1 nanos: 500000000 } took { seconds: -1 nanos: -500000000 }");
  check_json("{\"mask\": \"fooBar.b,c\"}", "mask { paths: \"foo_bar.b\" paths: \"c\" }");
  check_json("{\"mask\": \"a,\"}", "mask { paths: \"a\" paths: \"\" }");
  check_json("{\"mask\": \"\"}", "mask { }");
  check_json("{\"wrapped\": \"7\"}", "wrapped { value: 7 }");
  check_json("{\"struct\": {\"a\": [true, \"x\", 2.5]}}",
             "struct { fields { key: \"a\" value { list_value { values { bool_value: true } "
             "values { string_value: \"x\" } values { number_value: 2.5 } } } } }");
  check_json("{\"list\": [{}]}", "list { values { struct_value { } } }");
  check_bad_json("{\"at\": 1}", "at", 1, "not a google.protobuf.Timestamp");
  check_bad_json("{\"took\": \"1\"}", "took", 1, "not a google.protobuf.Duration");
  check_bad_json("{\"mask\": \"foo_bar\"}", "mask", 1, "underscore");
  check_bad_json("{\"mask\": []}", "mask", 1, "FieldMask");
  check_bad_json("{\"struct\": []}", "struct", 1, "Struct");
  check_bad_json("{\"list\": {}}", "list", 1, "ListValue");
  check_bad_json("{\"value\": {\"a\": {\"b\": 1, \"b\": 2}}}", "value", 25, "duplicate key");
  check_bad_json("{\"wrapped\": {}}", "wrapped", 1, "an object");
}

TEST(any) {
  check_json("{\"any\": {}}", "any { }");
  check_json("{\"any\": {\"anInt\": 1, \"@type\": \"x/t.M\"}}",
             "any { type_url: \"x/t.M\" value: \"\\010\\001\" }");
  check_json("{\"any\": {\"@type\": \"x/google.protobuf.Duration\", \"value\": \"1s\"}}",
             "any { type_url: \"x/google.protobuf.Duration\" value: \"\\010\\001\" }");
  check_json("{\"any\": {\"@type\": \"x/t.M\"}}", "any { type_url: \"x/t.M\" }");
  check_bad_json("{\"any\": {\"anInt\": 1}}", "any", 1, "without its type");
  check_bad_json("{\"any\": {\"@type\": \"x/t.N\"}}", "any", 1, "do not have");
  check_bad_json("{\"any\": {\"@type\": \"x/t.M\", \"x\": 1}}", "any", 27, "no field");
  check_bad_json("{\"any\": {\"@type\": \"x/google.protobuf.Duration\"}}", "any", 1, "value");
  check_bad_json("{\"any\": []}", "any", 1, "an object");
}

TEST(depth) {
  char json[1024] = "";
  char have[512];
  for (int levels = 99; levels <= 100; levels++) {
    char *at = json;
    for (int i = 0; i < levels; i++) {
      memcpy(at, "{\"kid\":", 7);
      at += 7;
    }
    *at++ = '{';
    memset(at, '}', (size_t)levels + 1);
    at[levels + 1] = '\0';
    CHECK_EQ(read_as_text(json, have, sizeof have), levels == 99 ? CST_OK : CST_CORRUPT);
  }
  CHECK_CONTAINS(last_error.message, "deeper");
}

TEST(no_json) {
  check_bad_json("", "", 0, "empty");
  check_bad_json("{\"anInt\": NaN}", "", 10, "invalid JSON");
  check_bad_json("{\"s\": \"\xff\"}", "", 7, "invalid JSON");
  check_bad_json("{} {}", "", 3, "invalid JSON");
}

typedef struct memory_case {
  cst_descriptors *set;
  const char *json;
} memory_case;

static int read_without_memory(void *context) {
  const memory_case *c = context;
  cst__json_reader reader = open_reader(c->set, 0);
  cst__arena arena;
  cst__arena_init(&arena, NULL);
  cst__message *message = cst__message_new(&arena, sample_message(c->set));
  cst_bytes text = {(const uint8_t *)c->json, strlen(c->json)};
  cst_status status = message == NULL
                          ? CST_NO_MEMORY
                          : cst__message_read_json(&reader, &arena, message, text, NULL);
  cst__arena_reset(&arena);
  cst__json_reader_reset(&reader);
  return (int)status;
}

TEST(memory) {
  memory_case c = {
      sample_descriptors(),
      "{\"kids\": [{\"counts\": {\"a\": 1, \"b\": 2}, \"raw\": \"aaaa\", \"color\": \"RED\"}],"
      "\"any\": {\"@type\": \"x/t.M\", \"struct\": {\"x\": [1]}}, \"mask\": \"a,b\","
      "\"at\": \"1970-01-01T00:00:01.5Z\", \"ints\": [1, 2, 3], \"wrapped\": 1}"};
  FOR_EACH_ALLOCATION_FAILURE(read_without_memory, &c, CST_NO_MEMORY);
  cst_descriptors_release(c.set);
}
