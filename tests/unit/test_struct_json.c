/* Struct, Value and ListValue: from the wire to JSON text. */
#include "message/text/struct_json.h"

#include <stdio.h>
#include <string.h>

#include "harness.h"

static cst_error last_error;

static cst_status to_json(cst__struct_kind kind, const char *wire, size_t size, char out[256]) {
  cst__struct_json state;
  cst_bytes json = {NULL, 0};
  cst__struct_json_init(&state, NULL);
  last_error = (cst_error)CST_ERROR_INIT;
  cst_status status = cst__struct_to_json(&state, kind, (cst_bytes){(const uint8_t *)wire, size},
                                          CST__DEPTH_LIMIT, &json, &last_error);
  if (status == CST_OK) {
    (void)snprintf(out, 256, "%.*s", (int)json.size, (const char *)json.data);
  }
  cst__struct_json_reset(&state);
  return status;
}

#define CHECK_JSON(kind, wire, text)                               \
  do {                                                             \
    char have[256] = "";                                           \
    CHECK_EQ(to_json(kind, wire, sizeof(wire) - 1, have), CST_OK); \
    CHECK_STR(have, text);                                         \
  } while (0)

#define CHECK_FAILS(kind, wire, status, at)                        \
  do {                                                             \
    char have[256];                                                \
    CHECK_EQ(to_json(kind, wire, sizeof(wire) - 1, have), status); \
    CHECK_EQ(last_error.offset, at);                               \
  } while (0)

TEST(values) {
  CHECK_JSON(CST__STRUCT_VALUE, "", "null");
  CHECK_JSON(CST__STRUCT_VALUE, "\x08\x00", "null");
  CHECK_JSON(CST__STRUCT_VALUE, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "null");
  CHECK_JSON(CST__STRUCT_VALUE, "\x20\x01", "true");
  CHECK_JSON(CST__STRUCT_VALUE, "\x20\x00", "false");
  CHECK_JSON(CST__STRUCT_VALUE, "\x20\x80\x01", "true");
  CHECK_JSON(CST__STRUCT_VALUE, "\x1a\x01x", "\"x\"");
  CHECK_JSON(CST__STRUCT_VALUE, "\x2a\x00", "{}");
  CHECK_JSON(CST__STRUCT_VALUE, "\x32\x00", "[]");
}

static void check_number(double number, const char *text) {
  char wire[9] = {0x11};
  char have[256] = "";
  memcpy(wire + 1, &number, 8);
  CHECK_EQ(to_json(CST__STRUCT_VALUE, wire, 9, have), CST_OK);
  CHECK_STR(have, text);
}

TEST(numbers) {
  check_number(0, "0");
  check_number(-0.0, "-0.0");
  check_number(1, "1");
  check_number(-12.5, "-12.5");
  check_number(9007199254740991.0, "9007199254740991");
  check_number(9007199254740994.0, "9007199254740994");
  check_number(1e20, "100000000000000000000");
  check_number(1e21, "1e+21");
  check_number(1.5e300, "1.5e+300");
  check_number(0.000001, "0.000001");
  check_number(0.00001234, "0.00001234");
  check_number(1e-7, "1e-7");
  check_number(5e-324, "5e-324");
  CHECK_FAILS(CST__STRUCT_VALUE, "\x11\0\0\0\0\0\0\xf0\x7f", CST_SCHEMA, -1);
  CHECK_FAILS(CST__STRUCT_VALUE, "\x11\0\0\0\0\0\0\xf8\x7f", CST_SCHEMA, -1);
}

TEST(strings) {
  CHECK_JSON(CST__STRUCT_VALUE, "\x1a\x00", "\"\"");
  CHECK_JSON(CST__STRUCT_VALUE, "\x1a\x08\"\\/\n\t\x01\x7f\x1f",
             "\"\\\"\\\\/\\n\\t\\u0001\x7f\\u001f\"");
  CHECK_JSON(CST__STRUCT_VALUE, "\x1a\x15plain text, na\xc3\xafve \b\r",
             "\"plain text, na\xc3\xafve \\b\\r\"");
  CHECK_FAILS(CST__STRUCT_VALUE, "\x1a\x02\xc3(", CST_CORRUPT, 2);
  CHECK_FAILS(CST__STRUCT_OBJECT, "\x0a\x05\x0a\x01\xff\x12\x00", CST_CORRUPT, 4);
}

TEST(objects_are_sorted) {
  CHECK_JSON(CST__STRUCT_OBJECT, "", "{}");
  CHECK_JSON(CST__STRUCT_OBJECT,
             "\x0a\x07\x0a\x01z\x12\x02\x20\x01"
             "\x0a\x05\x0a\x01"
             "a\x12\x00"
             "\x0a\x06\x0a\x02zz\x12\x00"
             "\x0a\x04\x0a\x00\x12\x00",
             "{\"\":null,\"a\":null,\"z\":true,\"zz\":null}");
  CHECK_JSON(CST__STRUCT_LIST, "\x0a\x02\x20\x01\x0a\x00\x0a\x09\x2a\x07\x0a\x05\x0a\x01k\x12\x00",
             "[true,null,{\"k\":null}]");
}

TEST(many_keys) {
  enum { KEYS = 40 };
  char wire[KEYS * 7];
  char have[256] = "";
  char want[256] = "{";
  for (int i = 0; i < KEYS; i++) {
    char key = (char)('0' + KEYS - 1 - i);
    const char entry[7] = {0x0a, 5, 0x0a, 1, key, 0x12, 0};
    memcpy(wire + (ptrdiff_t)i * 7, entry, 7);
  }
  CHECK_EQ(to_json(CST__STRUCT_OBJECT, wire, 17L * 7, have), CST_OK);
  for (int i = KEYS - 17; i < KEYS; i++) {
    char *end = want + strlen(want);
    (void)snprintf(end, 16, "%s\"%c\":null", i > KEYS - 17 ? "," : "", '0' + i);
  }
  strcat(want, "}");
  CHECK_STR(have, want);
}

/* What is not in the form that writers give. */
TEST(merged_values) {
  /* The last entry of a key. */
  CHECK_JSON(CST__STRUCT_OBJECT,
             "\x0a\x07\x0a\x01"
             "a\x12\x02\x20\x01\x0a\x07\x0a\x01"
             "a\x12\x02\x20\x00",
             "{\"a\":false}");
  /* An entry without a key, or without a value, or the other way round. */
  CHECK_JSON(CST__STRUCT_OBJECT, "\x0a\x02\x12\x00", "{\"\":null}");
  CHECK_JSON(CST__STRUCT_OBJECT, "\x0a\x03\x0a\x01x", "{\"x\":null}");
  CHECK_JSON(CST__STRUCT_OBJECT, "\x0a\x07\x12\x02\x20\x01\x0a\x01x", "{\"x\":true}");
  /* The last kind; two lists in a row are one. */
  CHECK_JSON(CST__STRUCT_VALUE, "\x20\x01\x1a\x01x", "\"x\"");
  CHECK_JSON(CST__STRUCT_VALUE, "\x32\x02\x0a\x00\x32\x04\x0a\x02\x20\x01", "[null,true]");
  /* Unknown fields are no part of it. */
  CHECK_JSON(CST__STRUCT_VALUE, "\x20\x01\x38\x05", "true");
  CHECK_JSON(CST__STRUCT_VALUE, "\x38\x05", "null");
  CHECK_JSON(CST__STRUCT_LIST, "\x10\x01\x0a\x00", "[null]");
}

TEST(malformed) {
  CHECK_FAILS(CST__STRUCT_VALUE, "\x20", CST_CORRUPT, 1);
  CHECK_FAILS(CST__STRUCT_VALUE, "\x11\x00", CST_CORRUPT, 1);
  CHECK_FAILS(CST__STRUCT_VALUE, "\x1a\x05x", CST_CORRUPT, 2);
  CHECK_FAILS(CST__STRUCT_OBJECT, "\x0a\x05\x0a\x09x\x12\x00", CST_CORRUPT, 4);
  CHECK_FAILS(CST__STRUCT_LIST, "\x0a\x80\x80\x80\x80\x80\x00", CST_CORRUPT, 7);
}

/* The bytes as the payload of a field. */
static size_t wrap(char *wire, size_t size, char tag) {
  size_t head = size > 127 ? 3 : 2;
  memmove(wire + head, wire, size);
  wire[0] = tag;
  wire[1] = (char)(size > 127 ? 0x80 | (size & 0x7f) : size);
  if (size > 127) {
    wire[2] = (char)(size >> 7);
  }
  return size + head;
}

/* Lists in lists: a Value and a ListValue are two levels. */
TEST(depth) {
  char wire[512];
  char have[256] = "";
  size_t size = 0;
  for (int i = 0; i < 50; i++) {
    size = wrap(wire, size, 0x32); /* list_value of a Value */
    size = wrap(wire, size, 0x0a); /* values of a ListValue */
  }
  CHECK_EQ(to_json(CST__STRUCT_LIST, wire, size, have), CST_OK);
  CHECK_EQ(strlen(have), 102);
  CHECK_EQ(to_json(CST__STRUCT_VALUE, wire, size, have), CST_OK); /* unknown fields */
  cst__struct_json state;
  cst_bytes json;
  cst__struct_json_init(&state, NULL);
  CHECK_EQ(cst__struct_to_json(&state, CST__STRUCT_LIST, (cst_bytes){(uint8_t *)wire, size}, 99,
                               &json, NULL),
           CST_CORRUPT);
  cst__struct_json_reset(&state);
}

static int without_memory(void *context) {
  const char *wire = context;
  char have[256];
  return to_json(CST__STRUCT_OBJECT, wire, 18, have);
}

TEST(memory) {
  char normal[] = "\x0a\x07\x0a\x01z\x12\x02\x20\x01\x0a\x07\x0a\x01y\x12\x02\x20\x01";
  char twice[] = "\x0a\x07\x0a\x01z\x12\x02\x20\x01\x0a\x07\x0a\x01z\x12\x02\x20\x01";
  FOR_EACH_ALLOCATION_FAILURE(without_memory, normal, CST_NO_MEMORY);
  FOR_EACH_ALLOCATION_FAILURE(without_memory, twice, CST_NO_MEMORY);
}

/* ---- back ---- */

static cst_status from_json(cst__struct_kind kind, const char *json, char *out, size_t *size) {
  cst__struct_json state;
  cst_bytes wire = {NULL, 0};
  cst__struct_json_init(&state, NULL);
  last_error = (cst_error)CST_ERROR_INIT;
  cst_bytes text = {(const uint8_t *)json, strlen(json)};
  cst_status status =
      cst__struct_from_json(&state, kind, text, CST__DEPTH_LIMIT, &wire, &last_error);
  if (status == CST_OK) {
    CHECK(wire.size <= 512);
    if (wire.size > 0) {
      memcpy(out, wire.data, wire.size);
    }
    *size = wire.size;
  }
  cst__struct_json_reset(&state);
  return status;
}

/* Bytes from text, and the text again from the bytes. */
static void check_both_ways(cst__struct_kind kind, const char *json, const char *text) {
  char wire[512];
  char have[256] = "";
  size_t size = 0;
  CHECK_EQ(from_json(kind, json, wire, &size), CST_OK);
  CHECK_EQ(to_json(kind, wire, size, have), CST_OK);
  CHECK_STR(have, text);
}

TEST(both_ways) {
  char wire[512];
  size_t size = 0;
  check_both_ways(CST__STRUCT_OBJECT, " { } ", "{}");
  check_both_ways(CST__STRUCT_OBJECT, "{\"b\": [1, -0.0, 2.50], \"a\": {\"\\u00e9\": null}}",
                  "{\"a\":{\"\xc3\xa9\":null},\"b\":[1,-0.0,2.5]}");
  check_both_ways(CST__STRUCT_VALUE, "123456789012345678901234567890", "1.2345678901234568e+29");
  check_both_ways(CST__STRUCT_VALUE, "true", "true");
  check_both_ways(CST__STRUCT_LIST, "[\"\\u0000\", false]", "[\"\\u0000\",false]");
  CHECK_EQ(from_json(CST__STRUCT_OBJECT, "{\"b\":true,\"a\":null}", wire, &size), CST_OK);
  CHECK_EQ(size, 18);
  CHECK_MEM(wire,
            "\x0a\x07\x0a\x01"
            "a\x12\x02\x08\x00\x0a\x07\x0a\x01"
            "b\x12\x02\x20\x01",
            18);
}

static void check_refused(cst__struct_kind kind, const char *json, cst_status status, int64_t at) {
  char wire[512];
  size_t size;
  CHECK_EQ(from_json(kind, json, wire, &size), status);
  CHECK_EQ(last_error.offset, at);
}

TEST(texts_that_are_no_struct) {
  check_refused(CST__STRUCT_VALUE, "", CST_CORRUPT, 0);
  check_refused(CST__STRUCT_VALUE, "[1, NaN]", CST_CORRUPT, 4);
  CHECK_CONTAINS(last_error.hint, "strings");
  check_refused(CST__STRUCT_VALUE, "1 2", CST_CORRUPT, 2);
  check_refused(CST__STRUCT_VALUE, "{\"a\":{\"b\":1,\"b\":2}}", CST_CORRUPT, 12);
  check_refused(CST__STRUCT_VALUE, "{\"a\":1e400}", CST_UNSUPPORTED, 1);
  check_refused(CST__STRUCT_OBJECT, "[]", CST_UNSUPPORTED, 0);
  check_refused(CST__STRUCT_LIST, "{}", CST_UNSUPPORTED, 0);
}

TEST(depth_of_texts) {
  char json[256] = "";
  char wire[512];
  size_t size;
  memset(json, '[', 51);
  memset(json + 51, ']', 51);
  CHECK_EQ(from_json(CST__STRUCT_LIST, json, wire, &size), CST_OK);
  memset(json, '[', 52);
  memset(json + 52, ']', 52);
  CHECK_EQ(from_json(CST__STRUCT_LIST, json, wire, &size), CST_UNSUPPORTED);
}

static int text_without_memory(void *context) {
  char wire[512];
  size_t size;
  return from_json(CST__STRUCT_OBJECT, context, wire, &size);
}

TEST(memory_of_texts) {
  char json[] = "{\"b\":[1,2],\"a\":{\"c\":\"d\"}}";
  FOR_EACH_ALLOCATION_FAILURE(text_without_memory, json, CST_NO_MEMORY);
}
