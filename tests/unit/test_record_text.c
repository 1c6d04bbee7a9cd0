/* Records in the text format and in JSON, to the wire format and back; what JSON says and cannot
 * say. */
#include "message/text/record_text.h"

#include <stdio.h>

#include "harness.h"
#include "message_sample.h"

static cst_error last_error;
static const char *written_unknown; /* the option unknown_fields */

/* How texts of the form are read and written. */
static cst__record_text open_record(cst_message_form form, const cst_descriptors *set,
                                    const char *unknown_fields) {
  cst_message_options options = CST_MESSAGE_OPTIONS_INIT;
  cst__record_text record;
  options.form = form;
  options.descriptors = set;
  options.unknown_fields = unknown_fields;
  cst__record_text_init(&record, &options, sample_message(set), NULL);
  return record;
}

/* The text in one form becomes bytes, and these the text in another. */
static cst_status convert_record(cst_message_form from, cst_message_form to, const char *text,
                                 char *out, size_t room) {
  cst_descriptors *set = sample_descriptors();
  cst__record_text reader = open_record(from, set, NULL);
  cst__record_text writer = open_record(to, set, written_unknown);
  cst_bytes wire = {NULL, 0};
  cst_bytes printed = {NULL, 0};
  last_error = (cst_error)CST_ERROR_INIT;
  cst_bytes bytes = {(const uint8_t *)text, strlen(text)};
  cst_status status = cst__record_text_read(&reader, bytes, 32, &wire, &last_error);
  if (status == CST_OK) {
    CHECK_EQ(wire.data[wire.size], 0); /* the slack */
    CHECK_EQ(wire.data[wire.size + 31], 0);
    status = cst__record_text_write(&writer, wire, &printed, &last_error);
  }
  if (status == CST_OK) {
    (void)snprintf(out, room, "%.*s", (int)printed.size, (const char *)printed.data);
  }
  cst__record_text_reset(&reader);
  cst__record_text_reset(&writer);
  cst_descriptors_release(set);
  return status;
}

/* Both ways. */
static void check_pair(const char *text, const char *json) {
  char have[512] = "";
  CHECK_EQ(convert_record(CST_MESSAGE_TEXT, CST_MESSAGE_JSON, text, have, sizeof have), CST_OK);
  CHECK_STR(have, json);
  CHECK_EQ(convert_record(CST_MESSAGE_JSON, CST_MESSAGE_TEXT, json, have, sizeof have), CST_OK);
  CHECK_STR(have, text);
}

TEST(scalars) {
  check_pair("", "{}");
  check_pair("an_int: -1 long: -2 u: 4294967295 ulong: 18446744073709551615",
             "{\"anInt\":-1,\"long\":\"-2\",\"u\":4294967295,\"ulong\":\"18446744073709551615\"}");
  check_pair("f: 0.1 d: 1e+16 b: true", "{\"f\":0.1,\"d\":1e+16,\"b\":true}");
  check_pair("f: inf d: nan", "{\"f\":\"Infinity\",\"d\":\"NaN\"}");
  check_pair("f: -inf d: -0.0", "{\"f\":\"-Infinity\",\"d\":-0.0}");
  check_pair("s: \"\xc3\xa9\\n\\\"\\001\"", "{\"s\":\"\xc3\xa9\\n\\\"\\u0001\"}");
  check_pair("raw: \"\"", "{\"raw\":\"\"}");
  check_pair("raw: \"\\377\"", "{\"raw\":\"/w==\"}");
  check_pair("raw: \"\\377\\376\"", "{\"raw\":\"//4=\"}");
  check_pair("raw: \"abc\"", "{\"raw\":\"YWJj\"}");
  check_pair("color: BLUE none: NULL_VALUE", "{\"color\":\"BLUE\",\"none\":null}");
}

TEST(fields) {
  check_pair("ints: 1 ints: -2 kids { } kids { an_int: 1 }",
             "{\"ints\":[1,-2],\"kids\":[{},{\"anInt\":1}]}");
  check_pair("Point { x: 1 } other: 2", "{\"point\":{\"x\":1},\"@o\":2}");
  check_pair("[t.extra]: 1 [t.more]: \"x\"", "{\"[t.extra]\":1,\"[t.more]\":[\"x\"]}");
  check_pair(
      "counts { key: \"a\" value: 1 } counts { key: \"b\" value: 0 } "
      "flags { key: false value { } } flags { key: true value { b: true } }",
      "{\"counts\":{\"a\":\"1\",\"b\":\"0\"},\"flags\":{\"false\":{},\"true\":{\"b\":true}}}");
}

TEST(well_known_types) {
  check_pair("at { seconds: 1 nanos: 5 } took { seconds: -1 }",
             "{\"at\":\"1970-01-01T00:00:01.000000005Z\",\"took\":\"-1s\"}");
  check_pair("mask { paths: \"foo_bar.b\" paths: \"c\" }", "{\"mask\":\"fooBar.b,c\"}");
  check_pair("wrapped { value: 7 }", "{\"wrapped\":\"7\"}");
  check_pair("struct { fields { key: \"a\" value { list_value { values { null_value: NULL_VALUE } "
             "} } } } list { }",
             "{\"struct\":{\"a\":[null]},\"list\":[]}");
  check_pair(
      "value { number_value: 1.5 } values { bool_value: true } values { string_value: \"\" }",
      "{\"value\":1.5,\"values\":[true,\"\"]}");
  check_pair("any { type_url: \"x/t.M\" value: \"\\010\\001\" }",
             "{\"any\":{\"@type\":\"x/t.M\",\"anInt\":1}}");
  check_pair("any { type_url: \"x/google.protobuf.Int64Value\" value: \"\\010\\001\" }",
             "{\"any\":{\"@type\":\"x/google.protobuf.Int64Value\",\"value\":\"1\"}}");
  check_pair("any { }", "{\"any\":{}}");
}

TEST(unknown_fields_of_the_text_format) {
  const char *text = "kid { b: true 900: 1 } flags { key: true value { 901: 2 } } 902 { 903: 3 }";
  char have[512] = "";
  CHECK_EQ(convert_record(CST_MESSAGE_TEXT, CST_MESSAGE_TEXT, text, have, sizeof have), CST_OK);
  CHECK_STR(have, "kid { b: true } flags { key: true value { } }");
  written_unknown = "rest";
  CHECK_EQ(convert_record(CST_MESSAGE_TEXT, CST_MESSAGE_TEXT, text, have, sizeof have), CST_OK);
  CHECK_STR(have, text);
  written_unknown = NULL;
}

static void check_unsaid(const char *text, const char *path, const char *part) {
  char have[512];
  CHECK_EQ(convert_record(CST_MESSAGE_TEXT, CST_MESSAGE_JSON, text, have, sizeof have),
           CST_UNSUPPORTED);
  CHECK_STR(last_error.path, path);
  CHECK_CONTAINS(last_error.message, part);
}

TEST(what_json_cannot_say) {
  check_unsaid("kid { at { nanos: -1 } }", "kid.at", "timestamp");
  check_unsaid("took { seconds: 1 nanos: -1 }", "took", "duration");
  check_unsaid("mask { paths: 'fooBar' }", "mask", "lowerCamel");
  check_unsaid("mask { paths: 'foo_' }", "mask", "lowerCamel");
  check_unsaid("mask { paths: 'foo_1' }", "mask", "lowerCamel");
  check_unsaid("value { number_value: nan }", "value", "not finite");
  check_unsaid("any { type_url: 'x/t.N' }", "any", "do not have");
  check_unsaid("any { type_url: 'x/t.M' value: '\\010' }", "any",
               "the bytes of an Any do not match its type");
  check_unsaid("s: '\\377'", "s", "UTF-8");
}

TEST(places_are_said_in_words) {
  char have[512];
  CHECK_EQ(convert_record(CST_MESSAGE_JSON, CST_MESSAGE_TEXT, "{\"kid\":{\"b\":1}}", have, 512),
           CST_CORRUPT);
  CHECK_STR(last_error.message, "a number, expected bool, at byte 8");
  CHECK_STR(last_error.path, "kid.b");
  CHECK_EQ(last_error.offset, -1);
  CHECK_EQ(convert_record(CST_MESSAGE_TEXT, CST_MESSAGE_JSON, "kid {\n b: x }", have, 512),
           CST_CORRUPT);
  CHECK_STR(last_error.message,
            "expected true or false, found something else, at line 2, column 5");
  CHECK_STR(last_error.path, "kid.b");
  CHECK_EQ(last_error.line, 0);
}

typedef struct memory_case {
  cst_descriptors *set;
  cst_message_form form;
  const char *text;
} memory_case;

static int convert_without_memory(void *context) {
  const memory_case *c = context;
  cst__record_text record = open_record(c->form, c->set, NULL);
  cst_bytes wire;
  cst_bytes text;
  cst_status status = cst__record_text_read(
      &record, (cst_bytes){(const uint8_t *)c->text, strlen(c->text)}, 32, &wire, NULL);
  if (status == CST_OK) {
    status = cst__record_text_write(&record, wire, &text, NULL);
  }
  cst__record_text_reset(&record);
  return (int)status;
}

TEST(memory) {
  cst_descriptors *set = sample_descriptors();
  memory_case c = {set, CST_MESSAGE_JSON,
                   "{\"kids\":[{\"an_int\":1}],\"counts\":{\"b\":1,\"a\":2},"
                   "\"any\":{\"@type\":\"x/t.M\",\"counts\":{\"a\":1}},\"at\":"
                   "\"1970-01-01T00:00:01Z\"}"};
  FOR_EACH_ALLOCATION_FAILURE(convert_without_memory, &c, CST_NO_MEMORY);
  c.form = CST_MESSAGE_TEXT;
  c.text = "kids { an_int: 1 } counts { key: 'b' } counts { key: 'a' } [t.extra]: 1";
  FOR_EACH_ALLOCATION_FAILURE(convert_without_memory, &c, CST_NO_MEMORY);
  cst_descriptors_release(set);
}
