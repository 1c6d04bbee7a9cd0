/* The encoder of messages: every Arrow type that holds a field's values, the order of the wire, and
 * what is refused with row and path.
 */
#include "message/encode/message_encoder.h"

#include <columnstone/message.h>

#include "arrow_text.h"
#include "proto/descriptor_proto.h"
#include "proto/descriptor_set.h"
#include "proto/message.h"

#define FIELD(name, number, label, type) \
  " field { name: '" name "' number: " number " label: " label " type: " type " } "
#define FIELD_OF(name, number, label, type, of)                                                  \
  " field { name: '" name "' number: " number " label: " label " type: " type " type_name: '" of \
  "' } "
#define MEMBER(name, number, type) \
  " field { name: '" name "' number: " number " label: 1 type: " type " oneof_index: 0 } "
#define ENTRY(name, key, value)                                                                    \
  " nested_type { name: '" name "' options { map_entry: true } " FIELD("key", "1", "1", key) value \
      " } "

/* proto3: fields without presence, packed lists, checked strings, open enums. */
static const char file3[] =
    "name: 'three.proto' package: 't' syntax: 'proto3'"
    "dependency: 'google/protobuf/timestamp.proto' dependency: 'google/protobuf/duration.proto'"
    "dependency: 'google/protobuf/wrappers.proto' dependency: 'google/protobuf/struct.proto'"
    "dependency: 'google/protobuf/any.proto' dependency: 'google/type/date.proto'"
    "dependency: 'google/type/timeofday.proto'"
    "enum_type { name: 'Color' value { name: 'NONE' number: 0 } value { name: 'RED' number: 1 }"
    "            value { name: 'BLUE' number: 2 } }"
    "message_type { name: 'Three' oneof_decl { name: 'choice' }" FIELD("d", "1", "1", "1")
        FIELD("f", "2", "1", "2") FIELD("i64", "3", "1", "3") FIELD("u64", "4", "1", "4") FIELD(
            "i32", "5", "1", "5") FIELD("x64", "6", "1", "6") FIELD("x32", "7", "1", "7")
            FIELD("b", "8", "1", "8") FIELD("s", "9", "1", "9") FIELD("y", "12", "1", "12") FIELD(
                "u32", "13", "1", "13") FIELD_OF("e", "14", "1", "14", ".t.Color")
                FIELD("sx32", "15", "1", "15") FIELD("sx64", "16", "1", "16") FIELD(
                    "z32", "17", "1", "17") FIELD("z64", "18", "1", "18")
                    FIELD("ints", "20", "3", "3") FIELD("floats", "21", "3", "2") FIELD(
                        "texts", "22", "3", "9") FIELD("bools", "23", "3", "8")
                        FIELD_OF("colors", "24", "3", "14", ".t.Color") FIELD_OF(
                            "child", "25", "1",
                            "11", ".t.Three") FIELD_OF("children", "26", "3", "11", ".t.Three")
                            FIELD_OF("numbers", "27", "3", "11", ".t.Three.NumbersEntry")
                                FIELD_OF("names", "28", "3", "11", ".t.Three.NamesEntry") MEMBER(
                                    "one", "29", "5") MEMBER("two", "30", "9")
                                    FIELD_OF("timestamp", "31", "1", "11",
                                             ".google.protobuf.Timestamp")
                                        FIELD_OF("duration", "32", "1", "11",
                                                 ".google.protobuf.Duration")
                                            FIELD_OF("date", "33", "1", "11", ".google.type.Date")
                                                FIELD_OF("time", "34", "1", "11",
                                                         ".google.type.TimeOfDay")
                                                    FIELD_OF("wrapped", "35", "1", "11",
                                                             ".google.protobuf.Int64Value")
                                                        FIELD_OF("json", "36", "1", "11",
                                                                 ".google.protobuf.Struct")
                                                            FIELD_OF("any", "37", "1", "11",
                                                                     ".google.protobuf.Any")
                                                                ENTRY("NumbersEntry", "5",
                                                                      FIELD_OF("value", "2", "1",
                                                                               "11", ".t.Three"))
                                                                    ENTRY("NamesEntry", "9",
                                                                          FIELD("value", "2", "1",
                                                                                "3")) "}";

/* proto2: presence, required fields, groups, extensions, closed enums, numbers far apart. */
static const char file2[] =
    "name: 'two.proto' package: 't' syntax: 'proto2'"
    "enum_type { name: 'Closed' value { name: 'A' number: 1 } value { name: 'B' number: -1 } }"
    "message_type { name: 'Two'" FIELD("id", "1", "2", "5") FIELD_OF(
        "closed", "2", "1", "14", ".t.Closed") FIELD("ints", "11", "3", "5") FIELD("text", "12",
                                                                                   "1", "9")
        FIELD("flag", "13", "1", "8") FIELD_OF("group", "14", "1", "10", ".t.Two.Group") FIELD(
            "last", "536870911", "1", "3") FIELD_OF("groups", "15", "3", "10", ".t.Two.Group")
            FIELD_OF("two", "16", "1", "11", ".t.Two") " nested_type { name: 'Group' " FIELD(
                "x", "1", "1",
                "5") "} }"
                     " extension { name: 'first' extendee: '.t.Two' number: 3 label: 1 type: 5 }"
                     " extension { name: 'second' extendee: '.t.Two' number: 4 label: 1 type: 5 }"
                     "message_type { name: 'Set' options { message_set_wire_format: true } }"
                     " extension { name: 'set' extendee: '.t.Two' number: 5 label: 1 type: 11"
                     "   type_name: '.t.Set' }";

static void put_file(cst__wire_out *set, const char *text) {
  cst__arena arena;
  cst_error error = CST_ERROR_INIT;
  cst__arena_init(&arena, NULL);
  cst__message *file = cst__message_new(&arena, cst__file_descriptor_def);
  cst_bytes all = {(const uint8_t *)text, strlen(text)};
  cst_status status = cst__message_merge_text(&arena, file, all, CST__DEPTH_LIMIT, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  size_t before = cst__wire_out_size(set);
  cst__message_put_wire(file, set);
  cst__wire_put_varint(set, cst__wire_out_size(set) - before);
  cst__wire_put_tag(set, 1, CST__WIRE_LEN);
  cst__arena_reset(&arena);
}

static cst_descriptors *make_descriptors(void) {
  cst__wire_out set = {0};
  cst_descriptors *out = NULL;
  char *bytes;
  size_t size;
  cst_error error = CST_ERROR_INIT;
  put_file(&set, file3);
  put_file(&set, file2);
  CHECK_EQ(cst__wire_out_finish(&set, &bytes, &size, NULL), CST_OK);
  cst_status status = cst_descriptors_new(bytes, size, NULL, &out, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  cst_free(bytes);
  return out;
}

/* ---- one batch ---- */

typedef struct encode_case {
  const char *message; /* "t.Three" if NULL */
  const char *type;
  const char *rows;
  const char *format; /* of the first column, in place of what `type` says */
  const char *name;   /* likewise */
  const char *unknown;
  uint32_t flags;
} encode_case;

typedef struct encoded_batch {
  cst_descriptors *set;
  const cst__message_def *def;
  struct ArrowSchema schema;
  struct ArrowArray array;
} encoded_batch;

static void release_encoded(encoded_batch *e) {
  if (e->array.release != NULL) {
    e->array.release(&e->array);
    e->schema.release(&e->schema);
  }
  cst_descriptors_release(e->set);
}

static cst_status encode_messages(const encode_case *c, encoded_batch *e, cst_error *error) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_encoder *encoder = NULL;
  cst_message_options message = CST_MESSAGE_OPTIONS_INIT;
  cst_encode_options options = CST_ENCODE_OPTIONS_INIT;
  memset(e, 0, sizeof *e);
  e->set = make_descriptors();
  message.descriptors = e->set;
  message.message = c->message != NULL ? c->message : "t.Three";
  message.unknown_fields = c->unknown;
  options.flags = c->flags;
  e->def = cst__descriptors_find(e->set, message.message, strlen(message.message));
  arrow_text(c->type, c->rows, &schema, &array);
  if (c->format != NULL) {
    CHECK_EQ(ArrowSchemaSetFormat(schema.children[0], c->format), 0);
  }
  if (c->name != NULL) {
    CHECK_EQ(ArrowSchemaSetName(schema.children[0], c->name), 0);
  }
  options.message = &message;
  CHECK_EQ(cst_encoder_new("message", &options, &encoder, NULL), CST_OK);
  cst_status status = cst_encoder_encode(encoder, &schema, &array, &e->schema, &e->array, error);
  cst_encoder_free(encoder);
  array.release(&array);
  schema.release(&schema);
  return status;
}

static cst_bytes encoded_record(const encoded_batch *e, int64_t i) {
  const int64_t *offsets = e->array.buffers[1];
  const uint8_t *bytes = e->array.buffers[2];
  return (cst_bytes){bytes + offsets[i], (size_t)(offsets[i + 1] - offsets[i])};
}

/* All records as text, in one line, with " | " between them. */
static void check_case(encode_case c, const char *expected) {
  encoded_batch e;
  cst_error error = CST_ERROR_INIT;
  cst__text all = {0};
  cst_status status = encode_messages(&c, &e, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  for (int64_t i = 0; i < e.array.length; i++) {
    cst__arena arena;
    cst__arena_init(&arena, NULL);
    cst__message *record = cst__message_new(&arena, e.def);
    CHECK_EQ(cst__message_merge(&arena, record, encoded_record(&e, i), CST__DEPTH_LIMIT, &error),
             CST_OK);
    cst__text_puts(&all, i > 0 ? "| " : "");
    cst__message_put_text(record, &all);
    cst__arena_reset(&arena);
  }
  char *text;
  size_t size;
  CHECK_EQ(cst__text_finish(&all, &text, &size, NULL), CST_OK);
  size_t kept = 0;
  for (size_t i = 0; i < size; i++) { /* blanks once */
    char at = text[i] == '\n' ? ' ' : text[i];
    if (at != ' ' || (kept > 0 && text[kept - 1] != ' ')) {
      text[kept++] = at;
    }
  }
  text[kept > 0 && text[kept - 1] == ' ' ? kept - 1 : kept] = '\0';
  CHECK_STR(text, expected);
  cst_free(text);
  release_encoded(&e);
}
#define CHECK_RECORDS(expected, ...) check_case((encode_case){__VA_ARGS__}, expected)

/* The first record, byte by byte. */
static void check_bytes(encode_case c, const char *expected, size_t size) {
  encoded_batch e;
  cst_error error = CST_ERROR_INIT;
  cst_status status = encode_messages(&c, &e, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  CHECK_EQ(encoded_record(&e, 0).size, size);
  CHECK_MEM(encoded_record(&e, 0).data, expected, size);
  release_encoded(&e);
}
#define CHECK_BYTES(expected, ...) \
  check_bytes((encode_case){__VA_ARGS__}, expected, sizeof expected - 1)

typedef struct refusal {
  cst_status status;
  int64_t row;
  const char *path;
  const char *message;
} refusal;

static void check_refusal(encode_case c, refusal expected) {
  encoded_batch e;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(encode_messages(&c, &e, &error), expected.status);
  CHECK_CONTAINS(error.message, expected.message);
  CHECK_STR(error.path, expected.path);
  CHECK_EQ(error.record, expected.row);
  CHECK(e.array.release == NULL && e.schema.release == NULL);
  release_encoded(&e);
}
#define CHECK_REFUSED(status, row, path, text, ...) \
  check_refusal((encode_case){__VA_ARGS__}, (refusal){status, row, path, text})
#define REFUSED(row, path, text, ...) CHECK_REFUSED(CST_UNSUPPORTED, row, path, text, __VA_ARGS__)

/* ---- scalars ---- */

TEST(scalars_of_their_own_types) {
  CHECK_RECORDS("d: 0.5 f: -1.5 i64: -1 u64: 18446744073709551615 i32: -2 b: true",
                .type = "struct{f: float32, d: float64, b: bool, i64: int64, u64: uint64,"
                        " i32: int32}",
                .rows = "{-1.5, 0.5, true, -1, 18446744073709551615, -2}");
  CHECK_RECORDS("x64: 1 x32: 2 u32: 4294967295 sx32: -1 sx64: -2 z32: -3 z64: -4",
                .type = "struct{x64: uint64, x32: uint32, u32: uint32, sx32: int32, sx64: int64,"
                        " z32: int32, z64: int64}",
                .rows = "{1, 2, 4294967295, -1, -2, -3, -4}");
  CHECK_RECORDS("s: \"a\" y: \"b\" | | s: \"c\"", .type = "struct{s: large_string, y: binary}",
                .rows = "{'a', 'b'} {'', ''} {'c', null}");
}

TEST(zero_without_presence_is_not_written) {
  CHECK_BYTES("", .type = "struct{d: float64, i64: int64, s: string, b: bool, e: int32, z32: int8}",
              .rows = "{0, 0, '', 0, 0, 0}");
  CHECK_BYTES("\x09\0\0\0\0\0\0\0\x80", .type = "struct{d: float64}", .rows = "{-0.0}");
  CHECK_BYTES("\x08\x01\x68\0", .message = "t.Two", .type = "struct{flag: bool, id: int32}",
              .rows = "{0, 1}");
}

TEST(integers_of_every_width) {
  CHECK_RECORDS("i64: -1 u64: 200 i32: 65535 | i64: 1 u64: 1",
                .type = "struct{i64: int8, u64: uint8, i32: uint16}",
                .rows = "{-1, 200, 65535} {1, 1, null}");
  CHECK_RECORDS("i64: 7 u64: 8 b: true z64: 9",
                .type = "struct{i64: uint64, u64: int64,"
                        " z64: uint32, b: uint8}",
                .rows = "{7, 8, 9, 1}");
  REFUSED(1, "i32", "out of range for type", .type = "struct{i32: int64}",
          .rows = "{1} {2147483648}");
  REFUSED(0, "u32", "out of range for type", .type = "struct{u32: int64}", .rows = "{-1}");
  REFUSED(0, "i64", "out of range for type", .type = "struct{i64: uint64}",
          .rows = "{9223372036854775808}");
  REFUSED(0, "b", "out of range for type", .type = "struct{b: int8}", .rows = "{2}");
  REFUSED(-1, "i64", "column of type float64", .type = "struct{i64: float64}", .rows = "{1.0}");
}

TEST(floats_that_are_exact) {
  CHECK_RECORDS("d: 0.5 f: 0.25 | d: 3.0 f: 4.0", .type = "struct{d: float32, f: float64}",
                .rows = "{0.5, 0.25} {3.0, 4.0}");
  CHECK_RECORDS("d: 3.0 f: -4.0", .type = "struct{d: int64, f: int8}", .rows = "{3, -4}");
  CHECK_RECORDS("d: 1.5 f: 1.5", .type = "struct{d: float16, f: float16}", .rows = "{1.5, 1.5}");
  CHECK_RECORDS("f: nan", .type = "struct{f: float64}", .rows = "{nan}");
  REFUSED(0, "f", "exactly", .type = "struct{f: float64}", .rows = "{0.1}");
  REFUSED(0, "f", "exactly", .type = "struct{f: int64}", .rows = "{16777217}");
  REFUSED(0, "d", "exactly", .type = "struct{d: uint64}", .rows = "{18446744073709551615}");
  CHECK_RECORDS("f: 0.1", .type = "struct{f: float64}", .rows = "{0.1}", .flags = CST_ENCODE_LOSSY);
}

TEST(strings_of_every_layout) {
  CHECK_RECORDS("s: \"abc\" y: \"de\"", .type = "struct{s: binary_view, y: fixed_binary[2]}",
                .rows = "{'abc', 'de'}");
  CHECK_RECORDS("s: \"a text of more than twelve bytes\"", .type = "struct{s: string_view}",
                .rows = "{'a text of more than twelve bytes'}");
  REFUSED(0, "s", "not valid UTF-8, at its byte 1", .type = "struct{s: binary}",
          .rows = "{'a\xff'}");
  CHECK_RECORDS("id: 1 text: \"\\377\"", .message = "t.Two",
                .type = "struct{id: int8, text: binary}", .rows = "{1, '\xff'}");
}

TEST(enums_by_name_and_number) {
  CHECK_RECORDS("e: RED colors: BLUE colors: NONE colors: 7",
                .type = "struct{e: string, colors: list<large_binary>}",
                .rows = "{'RED', ['BLUE', 'NONE', '7']}");
  CHECK_RECORDS("e: BLUE | e: -5", .type = "struct{e: int64}", .rows = "{2} {-5}");
  REFUSED(0, "e", "a name that the enum Color does not have", .type = "struct{e: string}",
          .rows = "{'GREEN'}");
  REFUSED(0, "e", "a number that the enum Color", .type = "struct{e: string}",
          .rows = "{'99999999999'}");
  REFUSED(0, "closed", "a number that the enum Closed", .message = "t.Two",
          .type = "struct{closed: int32}", .rows = "{7}");
  CHECK_RECORDS("id: 1 closed: B", .message = "t.Two", .type = "struct{closed: int8, id: int8}",
                .rows = "{-1, 1}");
}

/* ---- lists ---- */

TEST(lists_of_every_layout) {
  CHECK_RECORDS("ints: 1 ints: -2 | | ints: 300", .type = "struct{ints: large_list<int64>}",
                .rows = "{[1, -2]} {null} {[300]}");
  CHECK_RECORDS("ints: 1 ints: 2 texts: \"a\" | texts: \"\" texts: \"b\"",
                .type = "struct{ints: list<uint8>, texts: large_list<string>}",
                .rows = "{[1, 2], ['a']} {[], ['', 'b']}");
  CHECK_RECORDS("ints: 1 ints: 2 floats: 0.5",
                .type = "struct{ints: fixed_list<int64>[2],"
                        " floats: list_view<float32>}",
                .rows = "{[1, 2], [0.5]}");
  CHECK_RECORDS("floats: 1.0 floats: 2.0 bools: true bools: false",
                .type = "struct{floats: list<float32>, bools: large_list<bool>}",
                .rows = "{[1.0, 2.0], [1, 0]}");
  CHECK_RECORDS("id: 1 ints: 5 ints: 6", .message = "t.Two",
                .type = "struct{id: int32, ints: list<int32>}", .rows = "{1, [5, 6]}");
  CHECK_BYTES("\x08\x01\x58\x05\x58\x06", .message = "t.Two",
              .type = "struct{id: int32, ints: list<int32>}", .rows = "{1, [5, 6]}");
  CHECK_RECORDS("", .type = "struct{ints: list<null>, texts: null}", .rows = "{[], null}");
  REFUSED(1, "ints", "item 1 of the list is null", .type = "struct{ints: list<int64>}",
          .rows = "{[1]} {[2, null]}");
  REFUSED(0, "texts", "item 0 of the list is null", .type = "struct{texts: list<string>}",
          .rows = "{[null]}");
  REFUSED(0, "ints", "item 0 of the list is null", .type = "struct{ints: list<null>}",
          .rows = "{[null]}");
  REFUSED(-1, "ints", "a field of type repeated int64 cannot be made of a column of type int64",
          .type = "struct{ints: int64}", .rows = "{1}");
  REFUSED(-1, "i64", "column of type list<int64>", .type = "struct{i64: list<int64>}",
          .rows = "{[1]}");
}

TEST(long_packed_lists) {
  enum { COUNT = 5000 };
  struct ArrowSchema schema;
  struct ArrowArray array;
  encoded_batch e = {.set = make_descriptors()};
  cst_message_options message = CST_MESSAGE_OPTIONS_INIT;
  cst_encoder *encoder;
  arrow_text("struct{ints: large_list<int64>}", "", &schema, &array);
  array.release(&array);
  CHECK_EQ(ArrowArrayInitFromSchema(&array, &schema, NULL), 0);
  CHECK_EQ(ArrowArrayStartAppending(&array), 0);
  for (int64_t i = 0; i < COUNT; i++) {
    CHECK_EQ(ArrowArrayAppendInt(array.children[0]->children[0], -i), 0);
  }
  CHECK_EQ(ArrowArrayFinishElement(array.children[0]), 0);
  CHECK_EQ(ArrowArrayFinishElement(&array), 0);
  CHECK_EQ(ArrowArrayFinishBuildingDefault(&array, NULL), 0);
  message.descriptors = e.set;
  message.message = "t.Three";
  CHECK_EQ(
      cst_encoder_new(
          "message", &(cst_encode_options){.size = sizeof(cst_encode_options), .message = &message},
          &encoder, NULL),
      CST_OK);
  for (int again = 0; again < 2; again++) { /* the second time into warm memory, by the same plan */
    CHECK_EQ(cst_encoder_encode(encoder, &schema, &array, &e.schema, &e.array, NULL), CST_OK);
    cst_bytes record = encoded_record(&e, 0);
    CHECK_EQ(record.size, 2 + 3 + 1 + (COUNT - 1) * 10); /* tag, length, zero, the rest */
    CHECK_EQ(record.data[record.size - 1], 1);
    e.array.release(&e.array);
    e.schema.release(&e.schema);
    e.array.release = NULL;
  }
  cst_encoder_free(encoder);
  array.release(&array);
  schema.release(&schema);
  release_encoded(&e);
}

/* ---- messages ---- */

TEST(messages_and_null_ones) {
  CHECK_RECORDS("child { i64: 1 child { } } | | child { } children { s: \"a\" } children { }",
                .type = "struct{child: struct{i64: int64, child: struct{}},"
                        " children: large_list<struct{s: string}>}",
                .rows = "{{1, {}}, null} {null, []} {{null, null}, [{'a'}, {null}]}");
  REFUSED(0, "children", "item 0 of the list is null",
          .type = "struct{children: list<struct{s: string}>}", .rows = "{[null]}");
  REFUSED(0, "child.child.i32", "out of range for type",
          .type = "struct{child: struct{child: struct{i32: int64}}}", .rows = "{{{5000000000}}}");
}

TEST(messages_as_their_bytes) {
  CHECK_RECORDS("child { i64: 1 } children { } children { i64: 2 } | child { }",
                .type = "struct{child: binary, children: list<large_binary>}",
                .rows = "{'\x18\x01', ['', '\x18\x02']} {'', null}");
  REFUSED(0, "child", "not fields of a message", .type = "struct{child: binary}",
          .rows = "{'\x18'}");
  REFUSED(-1, "child", "a field of type Three cannot be made of a column of type string",
          .type = "struct{child: string}", .rows = "{'x'}");
}

TEST(groups) {
  CHECK_BYTES("\x08\x01\x73\x08\x05\x74\x7b\x7c\x7b\x08\x06\x7c", .message = "t.Two",
              .type = "struct{id: int8, group: struct{x: int32}, groups: list<struct{x: int8}>}",
              .rows = "{1, {5}, [{null}, {6}]}");
  CHECK_BYTES("\x08\x01\x73\x08\x05\x74", .message = "t.Two",
              .type = "struct{id: int8, group: binary}", .rows = "{1, '\x08\x05'}");
}

TEST(required_fields) {
  REFUSED(1, "id", "its value is null", .message = "t.Two", .type = "struct{id: int32}",
          .rows = "{1} {null}");
  REFUSED(0, "id", "the field is required but has no column", .message = "t.Two",
          .type = "struct{text: string}", .rows = "{'a'}");
  REFUSED(1, "two.id", "the field is required but has no column", .message = "t.Two",
          .type = "struct{id: int32, two: struct{text: string}}", .rows = "{1, null} {1, {'a'}}");
  REFUSED(0, "id", "its value is null", .message = "t.Two", .type = "struct{id: null}",
          .rows = "{null}");
}

TEST(oneofs) {
  CHECK_RECORDS("one: 0 | two: \"\" |", .type = "struct{two: string, one: int32}",
                .rows = "{null, 0} {'', null} {null, null}");
  REFUSED(1, "", "both 'one' and 'two' have a value, but only one field of the oneof 'choice' may",
          .type = "struct{two: string, one: int32}", .rows = "{'a', null} {'', 0}");
}

TEST(columns_without_a_field) {
  CHECK_REFUSED(CST_NOT_FOUND, -1, "tect", "the message t.Two has no such field",
                .message = "t.Two", .type = "struct{tect: string}", .rows = "{'a'}");
  CHECK_REFUSED(CST_NOT_FOUND, -1, "child.nothing", "has no such field",
                .type = "struct{child: struct{nothing: string}}", .rows = "{null}");
  CHECK_REFUSED(CST_INVALID_ARGUMENT, -1, "s", "two columns have the same name",
                .type = "struct{s: string, s: string}", .rows = "{'a', 'b'}");
}

TEST(unknown_fields_and_extensions_come_last) {
  CHECK_BYTES("\x08\x01\xf8\xff\xff\xff\x0f\x02\x18\x07\x20\x05", .message = "t.Two",
              .type = "struct{u: binary, last: int64, id: int32}",
              .rows = "{'\x18\x07\x20\x05', 2, 1}", .unknown = "u");
  CHECK_BYTES("\x08\x01\xf8\xff\xff\xff\x0f\x02\x18\x07", .message = "t.Two",
              .type = "struct{first: int64, last: int64, id: int32}", .rows = "{7, 2, 1}",
              .name = "(t.first)");
  CHECK_REFUSED(CST_NOT_FOUND, -1, "first", "has no such field", .message = "t.Two",
                .type = "struct{first: int64}", .rows = "{7}");
  REFUSED(0, "u", "not fields of a message", .type = "struct{u: binary}", .rows = "{'\x07'}",
          .unknown = "u");
}

/* ---- maps ---- */

TEST(maps_in_the_order_of_upb) {
  CHECK_BYTES("\xe2\x01\x06\x0a\x02"
              "ab\x10\x02"
              "\xe2\x01\x05\x0a\x01"
              "a\x10\x03"
              "\xe2\x01\x05\x0a\x01"
              "b\x10\0"
              "\xe2\x01\x04\x0a\0\x10\x01",
              .type = "struct{names: list<struct{key: string, value: int64}>}",
              .rows = "{[{'', 1}, {'ab', 2}, {'b', 0}, {'a', 3}]}");
  CHECK_RECORDS("numbers { key: -1 value { } } numbers { key: 2 value { i64: 1 } } numbers { key: 0"
                " value { } }",
                .type = "struct{numbers: large_list<struct{k: int64, v: struct{i64: int8}}>}",
                .rows = "{[{0, {0}}, {2, {1}}, {-1, {0}}]}");
  CHECK_RECORDS("names { key: \"a\" value: 1 }",
                .type = "struct{names: list<struct{value: int8, key: binary}>}",
                .rows = "{[{1, 'a'}]}");
  REFUSED(0, "names.key", "two entries of the map have the same key",
          .type = "struct{names: list<struct{key: string, value: int64}>}",
          .rows = "{[{'a', 1}, {'b', 2}, {'a', 3}]}");
  REFUSED(0, "names.key", "the key of a map's entry is null",
          .type = "struct{names: list<struct{key: string, value: int64}>}",
          .rows = "{[{null, 1}]}");
  REFUSED(0, "names.value", "the value of a map's entry is null",
          .type = "struct{names: list<struct{key: string, value: int64}>}",
          .rows = "{[{'a', null}]}");
  REFUSED(-1, "names", "a field of type map cannot be made of a column of type list<int64>",
          .type = "struct{names: list<int64>}", .rows = "{[1]}");
}

/* ---- well-known types ---- */

TEST(points_in_time) {
  CHECK_RECORDS("timestamp { seconds: 1 nanos: 500000000 } | timestamp { seconds: -1 nanos: "
                "999000000 } | timestamp { } |",
                .type = "struct{timestamp: int64}", .rows = "{1500} {-1} {0} {null}",
                .format = "tsm:UTC");
  CHECK_RECORDS("timestamp { seconds: -1 nanos: 999999999 }", .type = "struct{timestamp: int64}",
                .rows = "{-1}", .format = "tsn:");
  CHECK_RECORDS("timestamp { seconds: 5 }", .type = "struct{timestamp: struct{seconds: int64}}",
                .rows = "{{5}}");
  CHECK_RECORDS("duration { seconds: -1 nanos: -500000 } | duration { seconds: 2 }",
                .type = "struct{duration: int64}", .rows = "{-1000500} {2000000}", .format = "tDu");
  REFUSED(-1, "timestamp", "column of type duration", .type = "struct{timestamp: int64}",
          .rows = "{1}", .format = "tDs");
}

TEST(dates_and_times_of_day) {
  CHECK_RECORDS("date { year: 1970 month: 1 day: 1 } | date { year: 2000 month: 2 day: 29 } | date "
                "{ year: 1 month: 1 day: 1 } | date { year: 9999 month: 12 day: 31 }",
                .type = "struct{date: int32}", .rows = "{0} {11016} {-719162} {2932896}",
                .format = "tdD");
  CHECK_RECORDS("date { year: 1969 month: 12 day: 31 }", .type = "struct{date: int64}",
                .rows = "{-86400000}", .format = "tdm");
  REFUSED(1, "date", "a date outside the years 1 to 9999", .type = "struct{date: int32}",
          .rows = "{0} {2932897}", .format = "tdD");
  REFUSED(0, "date", "a date that is not a whole day", .type = "struct{date: int64}", .rows = "{1}",
          .format = "tdm");
  CHECK_RECORDS("time { hours: 23 minutes: 59 seconds: 58 nanos: 5 }",
                .type = "struct{time: int64}", .rows = "{86398000000005}", .format = "ttn");
  CHECK_RECORDS("time { seconds: 1 }", .type = "struct{time: int32}", .rows = "{1}",
                .format = "tts");
  REFUSED(0, "time", "before 0 or after 24 hours", .type = "struct{time: int32}", .rows = "{-1}",
          .format = "ttm");
}

TEST(wrappers_and_json) {
  CHECK_RECORDS("wrapped { value: 7 } | wrapped { } |", .type = "struct{wrapped: int8}",
                .rows = "{7} {0} {null}");
  CHECK_RECORDS("wrapped { value: 7 }", .type = "struct{wrapped: struct{value: int64}}",
                .rows = "{{7}}");
  REFUSED(-1, "wrapped", "column of type string", .type = "struct{wrapped: string}",
          .rows = "{'7'}");
  CHECK_RECORDS("json { fields { key: \"a\" value { bool_value: true } } }",
                .type = "struct{json: large_string}", .rows = "{'{\"a\":true}'}");
  CHECK_REFUSED(CST_CORRUPT, 1, "json", "", .type = "struct{json: string}", .rows = "{'{}'} {'{'}");
}

TEST(what_an_any_holds) {
  CHECK_RECORDS("any { type_url: \"x/t.Two\" value: \"\\010\\001\" }",
                .type = "struct{any: struct{type_url: string, value: binary}}",
                .rows = "{{'x/t.Two', '\x08\x01'}}");
}

/* Renames the second field of the first column. */
static void check_cast(const char *type, const char *rows, const char *expected, refusal refused) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  encoded_batch e = {.set = make_descriptors()};
  cst_message_options message = CST_MESSAGE_OPTIONS_INIT;
  cst_encoder *encoder;
  cst_error error = CST_ERROR_INIT;
  message.descriptors = e.set;
  message.message = "t.Three";
  arrow_text(type, rows, &schema, &array);
  CHECK_EQ(ArrowSchemaSetName(schema.children[0]->children[1], "(t.Two)"), 0);
  CHECK_EQ(
      cst_encoder_new(
          "message", &(cst_encode_options){.size = sizeof(cst_encode_options), .message = &message},
          &encoder, NULL),
      CST_OK);
  cst_status status = cst_encoder_encode(encoder, &schema, &array, &e.schema, &e.array, &error);
  CHECK_CONTAINS(error.message, refused.message);
  CHECK_STR(error.path, refused.path);
  CHECK_EQ(status, refused.status);
  if (refused.status == CST_OK) {
    CHECK_EQ(encoded_record(&e, 0).size, strlen(expected));
    CHECK_MEM(encoded_record(&e, 0).data, expected, strlen(expected));
  }
  cst_encoder_free(encoder);
  array.release(&array);
  schema.release(&schema);
  release_encoded(&e);
}

TEST(what_an_any_is_cast_to) {
  refusal none = {CST_OK, 0, "", ""};
  check_cast("struct{any: struct{type_url: string, two: struct{id: int32}}}", "{{'h/t.Two', {5}}}",
             "\xaa\x02\x0d\x0a\x07h/t.Two\x12\x02\x08\x05", none);
  check_cast("struct{any: struct{type_url: string, two: struct{id: int32}}}", "{{null, {5}}}",
             "\xaa\x02\x1f\x0a\x19type.googleapis.com/t.Two\x12\x02\x08\x05", none);
  check_cast("struct{any: struct{type_url: string, two: struct{id: int32}}}",
             "{{'h/t.Three', null}}", "\xaa\x02\x0b\x0a\x09h/t.Three", none);
  check_cast("struct{any: struct{type_url: string, two: struct{id: int32}}}",
             "{{'h/t.Three', {5}}}", "",
             (refusal){CST_UNSUPPORTED, 0, "any", "type_url names another message"});
  check_cast("struct{any: struct{value: binary, two: struct{id: int32}}}", "{{'a', {5}}}", "",
             (refusal){CST_UNSUPPORTED, 0, "any", "both 'value' and '(t.Two)'"});
  check_cast("struct{any: struct{value: binary, two: struct{id: int32}}}", "{{'', {null}}}", "",
             (refusal){CST_UNSUPPORTED, 0, "any.(t.Two).id", "its value is null"});
}

/* ---- dictionaries ---- */

/* A batch of one column `name`, encoded with a dictionary of text. */
static void make_dictionary(const char *name, const char *indices, const char *values,
                            struct ArrowSchema *schema, struct ArrowArray *array) {
  struct ArrowSchema value_schema;
  struct ArrowArray value_array;
  arrow_text("struct{x: int8}", indices, schema, array);
  arrow_text("string", values, &value_schema, &value_array);
  CHECK_EQ(ArrowSchemaSetName(schema->children[0], name), 0);
  CHECK_EQ(ArrowSchemaAllocateDictionary(schema->children[0]), 0);
  ArrowSchemaMove(&value_schema, schema->children[0]->dictionary);
  CHECK_EQ(ArrowArrayAllocateDictionary(array->children[0]), 0);
  ArrowArrayMove(&value_array, array->children[0]->dictionary);
}

static cst_status encode_dictionary(const char *name, const char *indices, const char *values,
                                    encoded_batch *e, cst_error *error) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_message_options message = CST_MESSAGE_OPTIONS_INIT;
  cst_encoder *encoder;
  *e = (encoded_batch){.set = make_descriptors()};
  message.descriptors = e->set;
  message.message = "t.Three";
  make_dictionary(name, indices, values, &schema, &array);
  CHECK_EQ(
      cst_encoder_new(
          "message", &(cst_encode_options){.size = sizeof(cst_encode_options), .message = &message},
          &encoder, NULL),
      CST_OK);
  cst_status status = cst_encoder_encode(encoder, &schema, &array, &e->schema, &e->array, error);
  cst_encoder_free(encoder);
  array.release(&array);
  schema.release(&schema);
  return status;
}

TEST(dictionaries) {
  encoded_batch e;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(encode_dictionary("e", "{2} {null} {0}", "'NONE' 'GREEN' 'RED'", &e, NULL), CST_OK);
  CHECK_EQ(encoded_record(&e, 0).size, 2);
  CHECK_MEM(encoded_record(&e, 0).data, "\x70\x01", 2);
  CHECK_EQ(encoded_record(&e, 1).size, 0);
  CHECK_EQ(encoded_record(&e, 2).size, 0);
  release_encoded(&e);
  CHECK_EQ(encode_dictionary("e", "{0} {1}", "'NONE' 'GREEN' 'RED'", &e, &error), CST_UNSUPPORTED);
  CHECK_CONTAINS(error.message, "a name that the enum Color does not have");
  CHECK_EQ(error.record, 1);
  release_encoded(&e);
  CHECK_EQ(encode_dictionary("s", "{1} {0}", "'a' 'b' null", &e, NULL), CST_OK);
  CHECK_MEM(encoded_record(&e, 0).data,
            "\x4a\x01"
            "b",
            3);
  release_encoded(&e);
  CHECK_EQ(encode_dictionary("s", "{1} {2}", "'a' 'b'", &e, &error), CST_CORRUPT);
  CHECK_STR(error.path, "s");
  CHECK_CONTAINS(error.message, "index 2 of a dictionary of 2 values");
  release_encoded(&e);
}

/* ---- the encoder ---- */

TEST(slices_and_changing_schemas) {
  struct ArrowSchema schemas[2];
  struct ArrowArray arrays[2];
  encoded_batch e = {.set = make_descriptors()};
  cst_message_options message = CST_MESSAGE_OPTIONS_INIT;
  cst_encoder *encoder;
  message.descriptors = e.set;
  message.message = "t.Three";
  CHECK_EQ(
      cst_encoder_new(
          "message", &(cst_encode_options){.size = sizeof(cst_encode_options), .message = &message},
          &encoder, NULL),
      CST_OK);
  arrow_text("struct{i64: int64, child: struct{s: string}}", "{1, {'a'}} {2, {'b'}} {3, null}",
             &schemas[0], &arrays[0]);
  arrow_text("struct{s: string}", "{'q'} {'r'}", &schemas[1], &arrays[1]);
  arrow_text_slice(&arrays[0], 1, 2);
  for (int i = 0; i < 4; i++) {
    CHECK_EQ(cst_encoder_encode(encoder, &schemas[i & 1], &arrays[i & 1], NULL, &e.array, NULL),
             CST_OK);
    CHECK_EQ(e.array.length, 2);
    CHECK_MEM(encoded_record(&e, 0).data, (i & 1) ? "\x4a\x01q" : "\x18\x02\xca", 3);
    e.array.release(&e.array);
  }
  e.array.release = NULL;
  cst_encoder_free(encoder);
  for (int i = 0; i < 2; i++) {
    arrays[i].release(&arrays[i]);
    schemas[i].release(&schemas[i]);
  }
  release_encoded(&e);
}

TEST(message_sets_are_refused) {
  REFUSED(-1, "(t.set)", "wire format of message sets", .message = "t.Two",
          .type = "struct{x: struct{}}", .rows = "{{}}", .name = "(t.set)");
}

TEST(arguments) {
  cst_descriptors *set = make_descriptors();
  cst_encoder *encoder;
  cst_error error = CST_ERROR_INIT;
  cst_message_options message = CST_MESSAGE_OPTIONS_INIT;
  CHECK_EQ(cst_encoder_new("message", NULL, &encoder, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(
      cst_encoder_new(
          "message", &(cst_encode_options){.size = sizeof(cst_encode_options), .message = &message},
          &encoder, &error),
      CST_INVALID_ARGUMENT);
  message.descriptors = set;
  message.message = "t.Thre";
  CHECK_EQ(
      cst_encoder_new(
          "message", &(cst_encode_options){.size = sizeof(cst_encode_options), .message = &message},
          &encoder, &error),
      CST_NOT_FOUND);
  CHECK_CONTAINS(error.hint, "Three");
  message.message = "t.Three";
  message.form = CST_MESSAGE_CONFLUENT;
  CHECK_EQ(
      cst_encoder_new(
          "message", &(cst_encode_options){.size = sizeof(cst_encode_options), .message = &message},
          &encoder, &error),
      CST_UNSUPPORTED);
  CHECK(encoder == NULL);
  cst_encoder_free(NULL);
  cst_descriptors_release(set);
}

/* ---- memory ---- */

typedef struct memory_case {
  cst_descriptors *set;
  struct ArrowSchema schema;
  struct ArrowArray array;
} memory_case;

static int encode_scenario(void *context) {
  memory_case *c = context;
  cst_message_options message = CST_MESSAGE_OPTIONS_INIT;
  cst_encoder *encoder = NULL;
  struct ArrowSchema schema;
  struct ArrowArray array;
  message.descriptors = c->set;
  message.message = "t.Three";
  message.unknown_fields = "unknown";
  cst_status status = cst_encoder_new(
      "message", &(cst_encode_options){.size = sizeof(cst_encode_options), .message = &message},
      &encoder, NULL);
  if (status == CST_OK) {
    status = cst_encoder_encode(encoder, &c->schema, &c->array, &schema, &array, NULL);
  }
  if (status == CST_OK) {
    array.release(&array);
    schema.release(&schema);
  }
  cst_encoder_free(encoder);
  return (int)status;
}

TEST(every_allocation_may_fail) {
  memory_case c = {.set = make_descriptors()};
  arrow_text("struct{one: int32, two: string, e: string, unknown: binary, json: string,"
             " names: list<struct{key: string, value: int64}>, wrapped: int64,"
             " child: struct{ints: list<int64>}}",
             "{1, null, 'RED', '\xa0\x06\x01', '{\"a\":[1]}', [{'b', 1}, {'a', 2}], 7, {[1]}}",
             &c.schema, &c.array);
  FOR_EACH_ALLOCATION_FAILURE(encode_scenario, &c, CST_NO_MEMORY);
  c.array.release(&c.array);
  c.schema.release(&c.schema);
  make_dictionary("e", "{0}", "'RED'", &c.schema, &c.array);
  FOR_EACH_ALLOCATION_FAILURE(encode_scenario, &c, CST_NO_MEMORY);
  c.array.release(&c.array);
  c.schema.release(&c.schema);
  cst_descriptors_release(c.set);
}
