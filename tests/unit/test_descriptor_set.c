/* Tests of descriptor sets: files in text form, serialized here, read as tables. */
#include "proto/descriptor_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "proto/builtin_files.h"
#include "proto/descriptor_proto.h"
#include "proto/message.h"

/* A set of up to 8 files, each in the text form of FileDescriptorProto. */
typedef struct file_texts {
  const char *texts[8];
} file_texts;

static char *serialized_file(const char *text, size_t *size) {
  cst__arena arena;
  char *bytes = NULL;
  cst_error error = CST_ERROR_INIT;
  cst__arena_init(&arena, NULL);
  cst__message *file = cst__message_new(&arena, cst__file_descriptor_def);
  cst_bytes all = {(const uint8_t *)text, strlen(text)};
  cst_status status = cst__message_merge_text(&arena, file, all, CST__DEPTH_LIMIT, &error);
  if (status != CST_OK) {
    fprintf(stderr, "%d:%d: %s\n", (int)error.line, (int)error.column, error.message);
  }
  CHECK_EQ(status, CST_OK);
  cst__wire_out out = {0};
  cst__message_put_wire(file, &out);
  CHECK_EQ(cst__wire_out_finish(&out, &bytes, size, NULL), CST_OK);
  cst__arena_reset(&arena);
  return bytes;
}

static char *serialized_set(const file_texts *files, size_t *size) {
  cst__wire_out out = {0};
  char *bytes = NULL;
  for (size_t i = 8; i-- > 0;) {
    if (files->texts[i] != NULL) {
      size_t file_size;
      char *file = serialized_file(files->texts[i], &file_size);
      cst__wire_put_bytes(&out, file, file_size);
      cst__wire_put_varint(&out, file_size);
      cst__wire_put_tag(&out, 1, CST__WIRE_LEN);
      cst_free(file);
    }
  }
  CHECK_EQ(cst__wire_out_finish(&out, &bytes, size, NULL), CST_OK);
  return bytes;
}

static cst_descriptors *read_set(const file_texts *files) {
  size_t size;
  char *bytes = serialized_set(files, &size);
  cst_descriptors *set = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst_descriptors_new(bytes, size, NULL, &set, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  cst_free(bytes);
  return set;
}
#define READ(...) read_set(&(file_texts){{__VA_ARGS__}})

/* The set is refused with this path and message. */
static void check_refused(const file_texts *files, const char *path, const char *message) {
  size_t size;
  char *bytes = serialized_set(files, &size);
  cst_descriptors *set = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_descriptors_new(bytes, size, NULL, &set, &error), CST_SCHEMA);
  CHECK(set == NULL);
  CHECK_STR(error.path, path);
  CHECK_CONTAINS(error.message, message);
  cst_free(bytes);
}
#define CHECK_REFUSED(path, message, ...) check_refused(&(file_texts){{__VA_ARGS__}}, path, message)

static const cst__message_def *find(const cst_descriptors *set, const char *name) {
  const cst__message_def *found = cst__descriptors_find(set, name, strlen(name));
  CHECK(found != NULL);
  return found;
}

static const cst__field_def *field(const cst__message_def *message, const char *name) {
  const cst__field_def *found = cst__field_by_name(message, name, strlen(name));
  CHECK(found != NULL);
  return found;
}

/* Types by number: 1 double, 2 float, 3 int64, 5 int32, 8 bool, 9 string, 10 group, 11 message,
 * 12 bytes, 13 uint32, 14 enum, 17 sint32. Labels: 1 optional, 2 required, 3 repeated. */
#define FIELD(name, number, label, type, more) \
  "field { name: '" name "' number: " #number " label: " #label " type: " #type " " more " } "

TEST(fields_have_numbers_names_and_places) {
  cst_descriptors *set =
      READ("name: 'a.proto' package: 'shop' syntax: 'proto3' message_type { name: 'Session' " FIELD(
          "user_id", 7, 1, 3, "") FIELD("tags", 2, 3, 9, "json_name: 'TAGS'")
               FIELD("x_1y", 536870911, 1, 12, "") "}");
  const cst__message_def *session = find(set, "shop.Session");
  CHECK(session == find(set, ".shop.Session"));
  CHECK_STR(session->full_name, "shop.Session");
  CHECK_EQ(session->num_fields, 3);
  CHECK_EQ(session->fields[0].number, 2);
  CHECK_STR(session->fields[0].name, "tags");
  CHECK_STR(session->fields[0].json_name, "TAGS");
  CHECK_EQ(session->fields[0].place, 1);
  CHECK_EQ(session->fields[0].flags, CST__FIELD_REPEATED | CST__FIELD_UTF8);
  CHECK_EQ(session->fields[1].number, 7);
  CHECK_STR(session->fields[1].json_name, "userId");
  CHECK_EQ(session->fields[1].place, 0);
  CHECK_EQ(session->fields[1].flags, CST__FIELD_IMPLICIT);
  CHECK_STR(session->fields[2].json_name, "x1y");
  CHECK(cst__field_by_number(session, 536870911) == &session->fields[2]);
  CHECK(field(session, "user_id") == &session->fields[1]);
  CHECK(cst__field_by_name(session, "user", 4) == NULL);
  CHECK(cst__field_by_name(session, "tags\0x", 6) == NULL);
  CHECK(cst__descriptors_find(set, "shop", 4) == NULL);
  CHECK(cst__descriptors_find(set, "", 0) == NULL);
  cst_descriptors_release(set);
}

TEST(what_syntaxes_say_about_fields) {
  static const char fields[] = FIELD("plain", 1, 1, 5, "") FIELD("many", 2, 3, 5, "")
      FIELD("text", 3, 1, 9, "") FIELD("packed", 4, 3, 5, "options { packed: true }")
          FIELD("unpacked", 5, 3, 5, "options { packed: false }")
              FIELD("color", 6, 1, 14, "type_name: '.Color'")
                  FIELD("child", 7, 1, 11, "type_name: '.M'")
                      FIELD("texts", 8, 3, 9, "options { packed: true }");
  static const char color[] = "enum_type { name: 'Color' value { name: 'RED' } }";
  static const struct {
    const char *syntax;
    unsigned plain, many, text, packed, unpacked;
    bool open;
  } cases[] = {
      {"", 0, 1, 0, 3, 1, false},
      {"syntax: 'proto2'", 0, 1, 0, 3, 1, false},
      {"syntax: 'proto3'", 4, 3, 12, 3, 1, true},
      {"syntax: 'editions' edition: 1000", 0, 3, 8, 3, 3, true},
      {"syntax: 'editions' edition: 1001", 0, 3, 8, 3, 3, true},
      {"syntax: 'editions' edition: 1000 options { features { field_presence: 2 enum_type: 2 "
       "repeated_field_encoding: 2 utf8_validation: 3 } }",
       4, 1, 4, 1, 1, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[2000];
    (void)snprintf(text, sizeof text, "name: 'a' %s message_type { name: 'M' %s } %s",
                   cases[i].syntax, fields, color);
    cst_descriptors *set = READ(text);
    const cst__message_def *m = find(set, "M");
    CHECK_EQ(field(m, "plain")->flags, cases[i].plain);
    CHECK_EQ(field(m, "many")->flags, cases[i].many);
    CHECK_EQ(field(m, "text")->flags, cases[i].text);
    CHECK_EQ(field(m, "packed")->flags, cases[i].packed);
    CHECK_EQ(field(m, "unpacked")->flags, cases[i].unpacked);
    CHECK_EQ(field(m, "color")->values->is_open, cases[i].open);
    CHECK_EQ(field(m, "child")->flags, 0);
    CHECK(field(m, "child")->message == m);
    CHECK_EQ(field(m, "texts")->flags & CST__FIELD_PACKED, 0);
    cst_descriptors_release(set);
  }
}

TEST(features_are_inherited) {
  cst_descriptors *set = READ(
      "name: 'a' syntax: 'editions' edition: 1000 options { features { field_presence: 2 } } "
      "message_type { name: 'M' options { features { message_encoding: 2 utf8_validation: 3 } "
      "} " FIELD("implicit", 1, 1, 9, "") FIELD(
          "explicit", 2, 1, 9, "options { features { field_presence: 1 utf8_validation: 2 } }")
          FIELD("needed", 3, 1, 5, "options { features { field_presence: 3 } }")
              FIELD("delimited", 4, 1, 11, "type_name: 'M'") FIELD(
                  "prefixed", 5, 1, 11,
                  "type_name: 'M' options { features { message_encoding: 1 } }")
                  FIELD("map", 6, 3, 11, "type_name: 'MapEntry'") FIELD(
                      "member", 7, 1, 9,
                      "oneof_index: 0") "oneof_decl { name: 'one' options { features { "
                                        "utf8_validation: 2 } } } "
                                        "nested_type { name: 'MapEntry' options { map_entry: true "
                                        "} " FIELD("key", 1, 1, 9, "") FIELD(
                                            "value", 2, 1, 11,
                                            "type_name: 'M'") "} "
                                                              "enum_type { name: 'E' value { name: "
                                                              "'Z' number: 3 } "
                                                              "options { features { enum_type: 2 } "
                                                              "} } " FIELD("closed", 8, 1, 14,
                                                                           "type_name: 'E'") "}");
  const cst__message_def *m = find(set, "M");
  CHECK_EQ(field(m, "implicit")->flags, CST__FIELD_IMPLICIT);
  CHECK_EQ(field(m, "explicit")->flags, CST__FIELD_UTF8);
  CHECK_EQ(field(m, "needed")->flags, CST__FIELD_REQUIRED);
  CHECK_EQ(field(m, "delimited")->type, CST__FIELD_GROUP);
  CHECK_EQ(field(m, "prefixed")->type, CST__FIELD_MESSAGE);
  CHECK_EQ(field(m, "map")->type, CST__FIELD_MESSAGE);
  CHECK_EQ(field(field(m, "map")->message, "value")->type, CST__FIELD_MESSAGE);
  CHECK_EQ(field(m, "member")->flags, CST__FIELD_UTF8);
  CHECK(!field(m, "closed")->values->is_open);
  CHECK_EQ(field(m, "closed")->default_value->bits, 3); /* the first one */
  cst_descriptors_release(set);
}

TEST(defaults) {
  cst_descriptors *set = READ(
      "name: 'a' message_type { name: 'M' " FIELD(
          "i", 1, 1, 5, "default_value: '-2147483648'") FIELD("u", 2, 1, 13,
                                                              "default_value: '4294967295'")
          FIELD("l", 3, 1, 3, "default_value: '-9223372036854775808'") FIELD(
              "d", 4, 1, 1, "default_value: '-inf'") FIELD("f", 5, 1, 2, "default_value: '1.5e+3'")
              FIELD("n", 6, 1, 2, "default_value: 'nan'") FIELD(
                  "b", 7, 1, 8, "default_value: 'true'") FIELD("s", 8, 1, 9,
                                                               "default_value: 'a\\n\"b'")
                  FIELD("y", 9, 1, 12, "default_value: '\\\\001\\\\\"\\\\xff'") FIELD(
                      "e", 10,
                      1, 14, "type_name: 'E' default_value: 'B'") FIELD("none", 11, 1, 5, "")
                      FIELD("empty", 12, 1, 9,
                            "default_value: ''") "enum_type { name: 'E' value { name: 'A' number: "
                                                 "0 } value { name: 'B' number: -7 } } }");
  const cst__message_def *m = find(set, "M");
  CHECK_EQ(field(m, "i")->default_value->bits, INT32_MIN);
  CHECK_EQ(field(m, "u")->default_value->bits, UINT32_MAX);
  CHECK_EQ(field(m, "l")->default_value->bits, INT64_MIN);
  cst__value value = {.u = field(m, "d")->default_value->bits};
  CHECK(value.d < 0 && value.d * 2 == value.d);
  value.u = field(m, "f")->default_value->bits;
  CHECK_DOUBLE((double)value.f, 1500.0);
  value.u = field(m, "n")->default_value->bits;
  CHECK(value.f != value.f);
  CHECK_EQ(field(m, "b")->default_value->bits, 1);
  CHECK_EQ(field(m, "s")->default_value->bytes.size, 4);
  CHECK_MEM(field(m, "s")->default_value->bytes.data, "a\n\"b", 4);
  CHECK_EQ(field(m, "y")->default_value->bytes.size, 3);
  CHECK_MEM(field(m, "y")->default_value->bytes.data, "\001\"\xff", 3);
  CHECK_EQ(field(m, "e")->default_value->bits, -7);
  CHECK(field(m, "none")->default_value == NULL);
  CHECK_EQ(field(m, "empty")->default_value->bytes.size, 0);
  cst_descriptors_release(set);
  static const char *const wrong[][2] = {
      {"5", "2147483648"}, {"5", "x"},     {"5", "1 2"}, {"5", ""},  {"13", "-1"},
      {"3", "1.5"},        {"8", "True"},  {"14", "C"},  {"2", "x"}, {"12", "a\\\"b"},
      {"12", "\\\\"},      {"9", "\\377"}, {"11", "1"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    char text[500];
    const char *name = strcmp(wrong[i][0], "14") == 0   ? "type_name: 'E'"
                       : strcmp(wrong[i][0], "11") == 0 ? "type_name: 'M'"
                                                        : "";
    (void)snprintf(text, sizeof text,
                   "name: 'a' message_type { name: 'M' field { name: 'x' number: 1 label: 1 type: "
                   "%s %s default_value: '%s' } enum_type { name: 'E' value { name: 'A' } } }",
                   wrong[i][0], name, wrong[i][1]);
    CHECK_REFUSED("M.x", "default value", text);
  }
}

TEST(oneofs_without_those_of_optional_fields) {
  cst_descriptors *set = READ(
      "name: 'a' syntax: 'proto3' message_type { name: 'M' " FIELD("a", 1, 1, 5, "oneof_index: 1")
          FIELD("o", 2, 1, 5, "oneof_index: 0 proto3_optional: true")
              FIELD("b", 3, 1, 9, "oneof_index: 2") FIELD(
                  "c", 4, 1, 9, "oneof_index: 1") "oneof_decl { name: '_o' } oneof_decl { name: "
                                                  "'first' } oneof_decl { name: 'second' } }");
  const cst__message_def *m = find(set, "M");
  CHECK_EQ(m->num_oneofs, 2);
  CHECK_STR(m->oneofs[0], "first");
  CHECK_STR(m->oneofs[1], "second");
  CHECK_EQ(field(m, "a")->oneof, 1);
  CHECK_EQ(field(m, "c")->oneof, 1);
  CHECK_EQ(field(m, "b")->oneof, 2);
  CHECK_EQ(field(m, "o")->oneof, 0);
  CHECK_EQ(field(m, "a")->flags, 0);
  CHECK_EQ(field(m, "o")->flags, 0);
  cst_descriptors_release(set);
}

TEST(enums_by_name_and_number) {
  cst_descriptors *set = READ("name: 'a' message_type { name: 'M' " FIELD(
      "e", 1, 1, 14, "type_name: '.E'") "} "
                                        "enum_type { name: 'E' value { name: 'Z' number: 5 } value "
                                        "{ name: 'B' number: -1 } value { "
                                        "name: 'A' number: 5 } value { name: 'Y' number: 0 } }");
  const cst__enum_def *e = field(find(set, "M"), "e")->values;
  CHECK_STR(e->full_name, "E");
  CHECK_EQ(e->num_values, 4);
  CHECK_STR(e->values[0].name, "Z");
  CHECK_STR(cst__enum_by_number(e, 5)->name, "Z");
  CHECK_STR(cst__enum_by_number(e, -1)->name, "B");
  CHECK_STR(cst__enum_by_number(e, 0)->name, "Y");
  CHECK(cst__enum_by_number(e, 4) == NULL);
  CHECK(cst__enum_by_number(e, 6) == NULL);
  CHECK_EQ(cst__enum_by_name(e, "A", 1)->number, 5);
  CHECK_EQ(cst__enum_by_name(e, "Z", 1)->number, 5);
  CHECK(cst__enum_by_name(e, "ZZ", 2) == NULL);
  CHECK(cst__enum_by_name(e, "", 0) == NULL);
  cst_descriptors_release(set);
}

TEST(extensions_are_fields_of_what_they_extend) {
  cst_descriptors *set =
      READ("name: 'a' package: 'p' message_type { name: 'M' " FIELD(
               "x", 100, 1, 5,
               "") "} "
                   "extension { name: 'top' extendee: '.p.M' number: 50 label: 1 type: 9 } "
                   "message_type { name: 'Other' "
                   "extension { name: 'inner' extendee: 'M' number: 20 label: 3 type: 5 } "
                   "extension { name: 'other' extendee: '.p.M' number: 21 label: 1 type: 11 "
                   "type_name: 'Other' } }",
           "name: 'b' extension { name: 'x' extendee: 'p.M' number: 22 label: 1 type: 5 }");
  const cst__message_def *m = find(set, "p.M");
  CHECK_EQ(m->num_fields, 5);
  CHECK_EQ(m->num_extensions, 4);
  CHECK_STR(m->fields[0].name, "p.Other.inner");
  CHECK_EQ(m->fields[0].flags, CST__FIELD_EXTENSION | CST__FIELD_REPEATED);
  CHECK_EQ(m->fields[0].place, 1);
  CHECK_STR(m->fields[1].name, "p.Other.other");
  CHECK_STR(m->fields[1].message->full_name, "p.Other");
  CHECK_STR(m->fields[2].name, "x");
  CHECK_STR(m->fields[3].name, "p.top");
  CHECK_EQ(m->fields[3].place, 4);
  CHECK_EQ(m->fields[4].place, 0);
  CHECK_EQ(field(m, "x")->number, 100);
  CHECK_EQ(cst__extension_by_name(m, "x", 1)->number, 22);
  CHECK_EQ(cst__extension_by_name(m, "p.top", 5)->number, 50);
  CHECK(cst__field_by_name(m, "p.top", 5) == NULL);
  CHECK(cst__extension_by_name(m, "top", 3) == NULL);
  cst_descriptors_release(set);
}

TEST(names_of_types_are_looked_up_from_inside) {
  cst_descriptors *set = READ(
      "name: 'a' package: 'p.q' message_type { name: 'T' } message_type { name: 'M' " FIELD(
          "near", 1, 1, 11, "type_name: 'T'") FIELD("far", 2, 1, 11, "type_name: 'q.T'")
          FIELD("full", 3, 1, 11, "type_name: '.p.q.T'") FIELD("out", 4, 1, 11, "type_name: 'r.T'")
              FIELD("unsaid", 5, 1, 0, "type_name: 'E'") "nested_type { name: 'T' } enum_type { "
                                                         "name: 'E' value { name: 'A' } } }",
      "name: 'b' package: 'p.r' message_type { name: 'T' }");
  const cst__message_def *m = find(set, "p.q.M");
  CHECK_STR(field(m, "near")->message->full_name, "p.q.M.T");
  CHECK_STR(field(m, "far")->message->full_name, "p.q.T");
  CHECK_STR(field(m, "full")->message->full_name, "p.q.T");
  CHECK_STR(field(m, "out")->message->full_name, "p.r.T");
  CHECK_EQ(field(m, "unsaid")->type, CST__FIELD_ENUM);
  cst_descriptors_release(set);
}

TEST(maps) {
  static const char entry[] = "nested_type { name: 'XEntry' options { map_entry: true } " FIELD(
      "key", 1, 1, 9, "") FIELD("value", 2, 1, 5, "") "} ";
  char text[1000];
  (void)snprintf(text, sizeof text, "name: 'a' message_type { name: 'M' %s %s }", entry,
                 FIELD("x", 1, 3, 11, "type_name: '.M.XEntry'"));
  cst_descriptors *set = READ(text);
  CHECK(field(find(set, "M"), "x")->message->is_map_entry);
  CHECK_EQ(cst_descriptors_num_messages(set), 1); /* entries are not listed */
  cst_descriptors_release(set);
  (void)snprintf(text, sizeof text, "name: 'a' message_type { name: 'M' %s %s }", entry,
                 FIELD("x", 1, 1, 11, "type_name: '.M.XEntry'"));
  CHECK_REFUSED("M.x", "map and not repeated", text);
  static const char *const wrong[] = {
      FIELD("key", 1, 1, 9, ""),
      FIELD("key", 1, 1, 9, "") FIELD("value", 3, 1, 9, ""),
      FIELD("key", 1, 1, 9, "") FIELD("value", 2, 3, 9, ""),
      FIELD("key", 1, 1, 1, "") FIELD("value", 2, 1, 9, ""),
      FIELD("key", 1, 1, 12, "") FIELD("value", 2, 1, 9, ""),
      FIELD("k", 1, 1, 9, "") FIELD("value", 2, 1, 9, ""),
      FIELD("key", 1, 1, 9, "") FIELD("value", 2, 1, 9, "") FIELD("x", 3, 1, 9, ""),
      FIELD("key", 1, 1, 9, "") FIELD("value", 2, 1, 11, "type_name: '.M'"),
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    (void)snprintf(text, sizeof text,
                   "name: 'a' message_type { name: 'M' options { map_entry: true } %s }", wrong[i]);
    CHECK_REFUSED("M", "key and a value", text);
  }
}

TEST(messages_are_listed_and_one_is_meant) {
  cst_descriptors *set =
      READ("name: 'google/protobuf/duration.proto' package: 'google.protobuf' syntax: 'proto3' "
           "message_type { name: 'Duration' " FIELD("seconds", 1, 1, 3, "")
               FIELD("nanos", 2, 1, 5, "") "}",
           "name: 'b' package: 's' dependency: 'google/protobuf/duration.proto' "
           "message_type { name: 'Session' " FIELD("e", 1, 3, 11, "type_name: 'Event'")
               FIELD("own", 2, 1, 11, "type_name: 'Inner'")
                   FIELD("all", 3, 1, 11,
                         "type_name: 'Session'") "nested_type { name: 'Inner' nested_type { name: "
                                                 "'Most' } } nested_type { name: 'Second' } } "
                                                 "message_type { name: 'Event' " FIELD(
                                                     "t", 1, 1, 11,
                                                     "type_name: '.google.protobuf.Duration'") "}");
  static const char *const names[] = {"s.Session", "s.Session.Inner", "s.Session.Inner.Most",
                                      "s.Session.Second", "s.Event"};
  CHECK_EQ(cst_descriptors_num_messages(set), 5);
  for (size_t i = 0; i < 5; i++) {
    CHECK_STR(cst_descriptors_message(set, i), names[i]);
    CHECK_STR(cst__descriptors_message_def(set, i)->full_name, names[i]);
  }
  CHECK(cst_descriptors_message(set, 5) == NULL);
  const cst__message_def *found = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__descriptors_need(set, NULL, &found, &error), CST_OK);
  CHECK_STR(found->full_name, "s.Session");
  CHECK_EQ(cst__descriptors_need(set, "google.protobuf.Duration", &found, &error), CST_OK);
  CHECK_EQ(cst__descriptors_need(set, "s.Sesion", &found, &error), CST_NOT_FOUND);
  CHECK_STR(error.path, "s.Sesion");
  CHECK_STR(error.hint, "did you mean 's.Session'?");
  CHECK_EQ(cst__descriptors_need(set, "Most", &found, &error), CST_NOT_FOUND);
  CHECK_STR(error.hint, "did you mean 's.Session.Inner.Most'?");
  CHECK_EQ(cst__descriptors_need(set, "Sesion", &found, &error), CST_NOT_FOUND);
  CHECK_STR(error.hint, "did you mean 's.Session'?");
  CHECK_EQ(cst__descriptors_need(set, "nothing.like.it", &found, &error), CST_NOT_FOUND);
  CHECK_STR(error.hint, "");
  const char *name = NULL;
  CHECK_EQ(cst_descriptors_find(set, NULL, &name, &error), CST_OK);
  CHECK_STR(name, "s.Session");
  CHECK_EQ(cst_descriptors_find(set, ".s.Event", &name, &error), CST_OK);
  CHECK_STR(name, "s.Event");
  CHECK_EQ(cst_descriptors_find(set, "s.Evnt", &name, &error), CST_NOT_FOUND);
  CHECK(name == NULL);
  CHECK_EQ(cst_descriptors_find(set, "s.Event", NULL, &error), CST_INVALID_ARGUMENT);

  int32_t path[CST__DEPTH_LIMIT];
  CHECK_EQ(cst__descriptors_place(set, find(set, "s.Session.Second"), path), 2);
  CHECK_EQ(path[0], 0);
  CHECK_EQ(path[1], 1);
  CHECK_EQ(cst__descriptors_place(set, find(set, "s.Event"), path), 1);
  CHECK_EQ(path[0], 1);
  cst_descriptors_release(set);

  set = READ("name: 'a' message_type { name: 'A' } message_type { name: 'B' }");
  CHECK_EQ(cst__descriptors_need(set, NULL, &found, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "2 messages that no other message contains, such as A, B");
  cst_descriptors_release(set);
  set = READ("name: 'a' message_type { name: 'A' " FIELD(
      "b", 1, 1, 11, "type_name: 'B'") "} message_type { name: 'B' " FIELD("a", 1, 1, 11,
                                                                           "type_name: 'A'") "}");
  CHECK_EQ(cst__descriptors_need(set, NULL, &found, &error), CST_INVALID_ARGUMENT);
  cst_descriptors_release(set);
  set = READ(NULL);
  CHECK_EQ(cst_descriptors_num_messages(set), 0);
  CHECK_EQ(cst__descriptors_need(set, NULL, &found, &error), CST_INVALID_ARGUMENT);
  cst_descriptors_release(set);
}

TEST(files_that_are_built_in) {
  cst_descriptors *set =
      READ("name: 'a' dependency: 'google/protobuf/timestamp.proto' dependency: "
           "'google/type/date.proto' "
           "dependency: 'google/protobuf/api.proto' dependency: 'nowhere.proto' message_type { "
           "name: 'M' " FIELD("t", 1, 1, 11, "type_name: '.google.protobuf.Timestamp'")
               FIELD("d", 2, 1, 11, "type_name: '.google.type.Date'") "}");
  CHECK_EQ(cst_descriptors_num_messages(set), 1);
  const cst__message_def *m = find(set, "M");
  CHECK_STR(field(m, "t")->message->fields[1].name, "nanos");
  CHECK_EQ(field(m, "d")->message->num_fields, 3);
  CHECK(find(set, "google.protobuf.Any") != NULL); /* api imports type, and that any */
  CHECK(cst__descriptors_find(set, "google.protobuf.Struct", 22) == NULL);
  cst_descriptors_release(set);
  /* What is given counts. */
  set = READ(
      "name: 'a' dependency: 'google/protobuf/empty.proto' message_type { name: 'M' " FIELD(
          "e", 1, 1, 11, "type_name: '.google.protobuf.Empty'") "}",
      "name: 'mine/empty.proto' package: 'google.protobuf' message_type { name: 'Empty' " FIELD(
          "x", 1, 1, 5, "") "}");
  CHECK_EQ(field(find(set, "M"), "e")->message->num_fields, 1);
  cst_descriptors_release(set);
}

TEST(what_is_missing) {
  static const char m[] =
      "message_type { name: 'M' " FIELD("x", 1, 1, 11, "type_name: '.far.Away'") "}";
  char text[500];
  (void)snprintf(text, sizeof text, "name: 'a' dependency: 'far/away.proto' %s", m);
  CHECK_REFUSED("M.x", "far/away.proto", text);
  (void)snprintf(text, sizeof text, "name: 'a' %s", m);
  CHECK_REFUSED("M.x", ".far.Away is missing", text);
  CHECK_REFUSED(
      "e", "the message that it extends is missing",
      "name: 'a' extension { name: 'e' extendee: '.far.Away' number: 1 label: 1 type: 5 }");
  /* Options are extensions of what may not be there, and nobody needs them. */
  cst_descriptors *set = READ(
      "name: 'a' dependency: 'far/away.proto' message_type { name: 'M' } extension { name: 'e' "
      "extendee: '.far.Away' number: 1 label: 1 type: 5 }");
  cst_descriptors_release(set);
}

TEST(files_in_any_order_and_in_a_circle) {
  cst_descriptors *set = READ("name: 'a' dependency: 'b' message_type { name: 'A' " FIELD(
                                  "b", 1, 1, 11, "type_name: '.B'") "}",
                              "name: 'b' dependency: 'c' message_type { name: 'B' " FIELD(
                                  "c", 1, 1, 11, "type_name: '.C'") "}",
                              "name: 'c' dependency: 'a' message_type { name: 'C' " FIELD(
                                  "a", 1, 1, 11, "type_name: '.A'") "}");
  CHECK_STR(field(find(set, "C"), "a")->message->full_name, "A");
  cst_descriptors_release(set);
}

TEST(files_that_are_there_twice) {
  static const char a[] = "name: 'a' message_type { name: 'A' }";
  cst_descriptors *set = READ(a, a);
  CHECK_EQ(cst_descriptors_num_messages(set), 1);
  cst_descriptors_release(set);
  CHECK_REFUSED("", "two different versions of the file a", a,
                "name: 'a' message_type { name: 'B' }");
  CHECK_REFUSED("A", "two types have this name", a,
                "name: 'b' enum_type { name: 'A' value { name: 'X' } }");
}

TEST(what_contradicts_itself) {
  CHECK_REFUSED("M", "two types",
                "name: 'a' message_type { name: 'M' } message_type { name: 'M' }");
  CHECK_REFUSED("M.y", "two fields have the number 1",
                "name: 'a' message_type { name: 'M' " FIELD("x", 1, 1, 5, "")
                    FIELD("y", 1, 1, 5, "") "}");
  CHECK_REFUSED("M.x", "two fields of this name",
                "name: 'a' message_type { name: 'M' " FIELD("x", 1, 1, 5, "")
                    FIELD("x", 2, 1, 5, "") "}");
  CHECK_REFUSED("M.x", "invalid field number",
                "name: 'a' message_type { name: 'M' " FIELD("x", 0, 1, 5, "") "}");
  CHECK_REFUSED("M.x", "invalid field number",
                "name: 'a' message_type { name: 'M' " FIELD("x", 536870912, 1, 5, "") "}");
  CHECK_REFUSED("M.x", "the field has an unknown type",
                "name: 'a' message_type { name: 'M' " FIELD("x", 1, 1, 19, "") "}");
  CHECK_REFUSED("M.x", "the field has an unknown type",
                "name: 'a' message_type { name: 'M' " FIELD("x", 1, 1, 0, "") "}");
  CHECK_REFUSED("M.x", "is missing",
                "name: 'a' message_type { name: 'M' " FIELD("x", 1, 1, 11, "") "}");
  CHECK_REFUSED("M.x", "its type is a message, but it is declared as an enum",
                "name: 'a' message_type { name: 'M' " FIELD("x", 1, 1, 14, "type_name: 'M'") "}");
  CHECK_REFUSED("M.x", "oneof that the message does not have",
                "name: 'a' message_type { name: 'M' " FIELD("x", 1, 1, 5, "oneof_index: 0") "}");
  CHECK_REFUSED("M.x", "repeated field is in a oneof",
                "name: 'a' message_type { name: 'M' " FIELD(
                    "x", 1, 3, 5, "oneof_index: 0") "oneof_decl { name: 'o' } }");
  CHECK_REFUSED("M.x y", "invalid field name",
                "name: 'a' message_type { name: 'M' " FIELD("x y", 1, 1, 5, "") "}");
  CHECK_REFUSED("M.", "invalid name of a type or field", "name: 'a' message_type { name: 'M.' }");
  CHECK_REFUSED("p..q", "invalid package name, in", "name: 'a' package: 'p..q'");
  CHECK_REFUSED("E", "no values", "name: 'a' enum_type { name: 'E' }");
  CHECK_REFUSED(
      "E.A", "two values of this name",
      "name: 'a' enum_type { name: 'E' value { name: 'A' } value { name: 'A' number: 1 } }");
  CHECK_REFUSED("e2", "two fields have the number 5",
                "name: 'a' message_type { name: 'M' } "
                "extension { name: 'e1' extendee: 'M' number: 5 label: 1 type: 5 }"
                "extension { name: 'e2' extendee: 'M' number: 5 label: 1 type: 5 }");
  CHECK_REFUSED("a", "unknown syntax", "name: 'a' syntax: 'proto4'");
  CHECK_REFUSED("a", "edition number 9999", "name: 'a' syntax: 'editions' edition: 9999");
  CHECK_REFUSED(
      "M.x", "a repeated field has a default value",
      "name: 'a' message_type { name: 'M' " FIELD("x", 1, 3, 5, "default_value: '1'") "}");
}

TEST(packages_of_many_parts) {
  char text[500] = "name: 'a' package: 'p";
  for (int i = 1; i < 100; i++) {
    strcat(text, ".p");
  }
  size_t size = strlen(text);
  strcat(text, "' message_type { name: 'M' }");
  cst_descriptors *set = READ(text);
  cst_descriptors_release(set);
  (void)snprintf(text + size, sizeof text - size, ".p'");
  cst_error error = CST_ERROR_INIT;
  char *bytes = serialized_file(text, &size);
  CHECK_EQ(cst_descriptors_new(bytes, size, NULL, &set, &error), CST_SCHEMA);
  CHECK_CONTAINS(error.message, "more than 100 parts");
  cst_free(bytes);
}

TEST(numbers_that_are_reserved_for_protobuf_are_taken) {
  cst_descriptors *set =
      READ("name: 'a' message_type { name: 'M' " FIELD("x", 19500, 1, 5, "") "}");
  cst_descriptors_release(set);
}

TEST(message_sets_are_marked) {
  cst_descriptors *set = READ(
      "name: 'a' message_type { name: 'M' options { message_set_wire_format: true } } message_type "
      "{ name: 'X' extension { name: 'x' extendee: 'M' number: 2147483647 label: 1 type: 11 "
      "type_name: 'X' } }");
  CHECK(find(set, "M")->is_message_set);
  CHECK(!find(set, "X")->is_message_set);
  CHECK_EQ(find(set, "M")->fields[0].number, INT32_MAX);
  cst_descriptors_release(set);
}

TEST(one_file_alone) {
  size_t size;
  char *bytes = serialized_file("name: 'a' message_type { name: 'M' }", &size);
  cst_descriptors *set = NULL;
  CHECK_EQ(cst_descriptors_new(bytes, size, NULL, &set, NULL), CST_OK);
  CHECK_STR(cst_descriptors_message(set, 0), "M");
  cst_descriptors *again = cst_descriptors_retain(set);
  CHECK(again == set);
  cst_descriptors_release(set);
  CHECK_EQ(cst_descriptors_num_messages(again), 1);
  cst_descriptors_release(again);
  cst_free(bytes);
}

static void check_corrupt(const char *bytes, size_t size, const char *hint) {
  cst_descriptors *set = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_descriptors_new(bytes, size, NULL, &set, &error), CST_CORRUPT);
  CHECK(set == NULL);
  CHECK(error.offset >= 0);
  CHECK_CONTAINS(error.hint, hint);
}
#define CHECK_CORRUPT(bytes, hint) check_corrupt(bytes, sizeof(bytes) - 1, hint)

TEST(bytes_that_are_no_descriptors) {
  CHECK_CORRUPT("\x1f\x8b\x08\0\0\0\0\0", "gzip");
  CHECK_CORRUPT("\x28\xb5\x2f\xfd\x04\x58", "zstd");
  CHECK_CORRUPT("syntax = \"proto3\";\nmessage M {}\n", "protoc");
  CHECK_CORRUPT("{\"file\": []}", "text");
  CHECK_CORRUPT("\x0a\x05\x0a", "buf build");
  CHECK_CORRUPT("\x0a\x02\x0a\x05", "buf build"); /* within a file */
}

/* Images of `buf build` have a field of buf's own in each file. */
TEST(files_with_fields_of_others) {
  size_t size;
  char *file = serialized_file("name: 'a' message_type { name: 'M' }", &size);
  cst__wire_out out = {0};
  cst__wire_put_bytes(&out, "\x08\x01\x10\x00", 4);
  cst__wire_put_varint(&out, 4);
  cst__wire_put_tag(&out, 8042, CST__WIRE_LEN);
  cst__wire_put_bytes(&out, file, size);
  cst__wire_put_varint(&out, cst__wire_out_size(&out));
  cst__wire_put_tag(&out, 1, CST__WIRE_LEN);
  cst_descriptors *set = NULL;
  CHECK_EQ(cst_descriptors_new(out.data + out.free, cst__wire_out_size(&out), NULL, &set, NULL),
           CST_OK);
  CHECK_STR(cst_descriptors_message(set, 0), "M");
  cst_descriptors_release(set);
  cst__wire_out_free(&out);
  cst_free(file);
}

/* descriptor.proto says what the bytes of its own set are. */
TEST(descriptors_describe_themselves) {
  static const char name[] = "google/protobuf/descriptor.proto";
  const cst__builtin_file *file =
      cst__builtin_file_find((cst_bytes){(const uint8_t *)name, sizeof name - 1});
  cst__wire_out out = {0};
  cst__wire_put_bytes(&out, file->bytes.data, file->bytes.size);
  cst__wire_put_varint(&out, file->bytes.size);
  cst__wire_put_tag(&out, 1, CST__WIRE_LEN);
  cst_bytes bytes = {out.data + out.free, cst__wire_out_size(&out)};
  cst_descriptors *set = NULL;
  CHECK_EQ(cst_descriptors_new(bytes.data, bytes.size, NULL, &set, NULL), CST_OK);
  const cst__message_def *def = NULL;
  CHECK_EQ(cst__descriptors_need(set, "google.protobuf.FileDescriptorSet", &def, NULL), CST_OK);
  CHECK_STR(cst_descriptors_message(set, 0), def->full_name);
  cst__arena arena;
  cst__arena_init(&arena, NULL);
  cst__message *tree = cst__message_new(&arena, def);
  CHECK_EQ(cst__message_merge(&arena, tree, bytes, CST__DEPTH_LIMIT, NULL), CST_OK);
  CHECK(tree->unknown_first == NULL);
  const cst__message *own = cst__field_value(cst__message_find(tree, 1), 0)->message;
  CHECK_EQ(cst__message_bytes(own, 1).size, sizeof name - 1);
  CHECK(own->unknown_first == NULL);
  cst__wire_out again = {0};
  cst__message_put_wire(tree, &again);
  CHECK_EQ(cst__wire_out_size(&again), bytes.size);
  CHECK_MEM(again.data + again.free, bytes.data, bytes.size);
  cst__wire_out_free(&again);
  cst__arena_reset(&arena);
  cst_descriptors_release(set);
  cst__wire_out_free(&out);
}

TEST(without_arguments) {
  cst_descriptors *set = NULL;
  CHECK_EQ(cst_descriptors_new(NULL, 1, NULL, &set, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_descriptors_new("", 0, NULL, NULL, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_descriptors_num_messages(NULL), 0);
  CHECK(cst_descriptors_message(NULL, 0) == NULL);
  const char *name = "";
  CHECK_EQ(cst_descriptors_find(NULL, "A", &name, NULL), CST_INVALID_ARGUMENT);
  CHECK(name == NULL);
  CHECK(cst_descriptors_retain(NULL) == NULL);
  cst_descriptors_release(NULL);
}

/* ---- many and deep ---- */

static void put_int(cst__wire_out *out, uint32_t number, uint64_t value) {
  cst__wire_put_varint(out, value);
  cst__wire_put_tag(out, number, CST__WIRE_VARINT);
}

static void put_text(cst__wire_out *out, uint32_t number, const char *text) {
  cst__wire_put_bytes(out, text, strlen(text));
  cst__wire_put_varint(out, strlen(text));
  cst__wire_put_tag(out, number, CST__WIRE_LEN);
}

/* What was put since `before` becomes a message in the field `number`. */
static void put_around(cst__wire_out *out, uint32_t number, size_t before) {
  cst__wire_put_varint(out, cst__wire_out_size(out) - before);
  cst__wire_put_tag(out, number, CST__WIRE_LEN);
}

TEST(a_hundred_thousand_fields) {
  enum { COUNT = 100000 };
  cst__wire_out out = {0};
  char name[20];
  for (int i = 0; i < COUNT; i++) { /* numbers and names in an order of their own */
    size_t before = cst__wire_out_size(&out);
    int number = (int)((i * INT64_C(7919)) % COUNT) + 1;
    (void)snprintf(name, sizeof name, "f%d", (int)((i * INT64_C(104729)) % COUNT));
    put_int(&out, 5, CST__FIELD_INT32);
    put_int(&out, 4, 1);
    put_int(&out, 3, (uint64_t)number);
    put_text(&out, 1, name);
    put_around(&out, 2, before);
  }
  put_text(&out, 1, "M");
  put_around(&out, 4, 0);
  put_text(&out, 1, "a");
  cst_descriptors *set = NULL;
  CHECK_EQ(cst_descriptors_new(out.data + out.free, cst__wire_out_size(&out), NULL, &set, NULL),
           CST_OK);
  const cst__message_def *m = find(set, "M");
  CHECK_EQ(m->num_fields, COUNT);
  for (int i = 0; i < COUNT; i++) {
    CHECK_EQ(m->fields[i].number, i + 1);
    (void)snprintf(name, sizeof name, "f%d", i);
    CHECK_STR(field(m, name)->name, name);
  }
  cst_descriptors_release(set);
  cst__wire_out_free(&out);
}

TEST(ten_thousand_messages) {
  enum { COUNT = 10000 };
  cst__wire_out out = {0};
  char name[20];
  for (int i = COUNT; i-- > 0;) { /* each holds the next one */
    size_t before = cst__wire_out_size(&out);
    size_t field_before = before;
    (void)snprintf(name, sizeof name, "M%d", (i + 1) % COUNT);
    put_text(&out, 6, name);
    put_int(&out, 5, CST__FIELD_MESSAGE);
    put_int(&out, 3, 1);
    put_text(&out, 1, "next");
    put_around(&out, 2, field_before);
    (void)snprintf(name, sizeof name, "M%d", i);
    put_text(&out, 1, name);
    put_around(&out, 4, before);
  }
  put_text(&out, 1, "a");
  cst_descriptors *set = NULL;
  CHECK_EQ(cst_descriptors_new(out.data + out.free, cst__wire_out_size(&out), NULL, &set, NULL),
           CST_OK);
  CHECK_EQ(cst_descriptors_num_messages(set), COUNT);
  const cst__message_def *m = find(set, "M0");
  for (int i = 0; i < COUNT; i++) {
    m = m->fields[0].message;
  }
  CHECK_STR(m->full_name, "M0");
  cst_descriptors_release(set);
  cst__wire_out_free(&out);
}

static cst_status read_nested(int depth, const char *name, cst_error *error) {
  cst__wire_out out = {0};
  for (int i = 0; i < depth; i++) {
    put_text(&out, 1, name);
    put_around(&out, i + 1 < depth ? 3 : 4, 0);
  }
  cst_descriptors *set = NULL;
  cst_status status =
      cst_descriptors_new(out.data + out.free, cst__wire_out_size(&out), NULL, &set, error);
  if (status == CST_OK) {
    CHECK_EQ(cst_descriptors_num_messages(set), depth);
    int32_t path[CST__DEPTH_LIMIT];
    const cst__message_def *last = cst__descriptors_message_def(set, (size_t)depth - 1);
    CHECK_EQ(cst__descriptors_place(set, last, path), depth);
  }
  cst_descriptors_release(set);
  cst__wire_out_free(&out);
  return status;
}

TEST(depth) {
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(read_nested(100, "M", &error), CST_OK);
  CHECK_EQ(read_nested(101, "M", &error), CST_CORRUPT);
  CHECK_CONTAINS(error.message, "deeper than the limit");
  CHECK_EQ(read_nested(90, "AVeryLongName", &error), CST_SCHEMA); /* full names would be long */
  CHECK_CONTAINS(error.message, "more than 1024 bytes");
}

/* ---- memory ---- */

typedef struct serialized {
  char *bytes;
  size_t size;
} serialized;

static int read_serialized(void *context) {
  const serialized *given = context;
  cst_descriptors *set = NULL;
  cst_status status = cst_descriptors_new(given->bytes, given->size, NULL, &set, NULL);
  CHECK(status == CST_OK || set == NULL);
  cst_descriptors_release(set);
  return (int)status;
}

TEST(allocation_failures) {
  serialized given;
  given.bytes = serialized_set(
      &(file_texts){
          {"name: 'a' package: 'p' syntax: 'proto3' dependency: 'google/protobuf/duration.proto' "
           "dependency: 'nowhere' message_type { name: 'M' " FIELD("x", 1, 1, 5, "") FIELD(
               "d", 2, 1, 11, "type_name: '.google.protobuf.Duration'")
               FIELD("o", 3, 1, 9, "oneof_index: 0") FIELD(
                   "m", 4, 3, 11,
                   "type_name: 'MEntry'") "oneof_decl { name: 'one' } nested_type { name: 'MEntry' "
                                          "options { map_entry: true } " FIELD("key", 1, 1, 9, "")
                                              FIELD("value", 2, 1, 5, "") "} }",
           "name: 'b' package: 'q' message_type { name: 'N' " FIELD("e", 1, 1, 14, "type_name: 'E'")
               FIELD("b", 2, 1, 12, "default_value: 'a\\\\001b'")
                   FIELD("s", 3, 1, 9,
                         "default_value: 'text'") "enum_type { name: 'E' value { name: 'A' number: "
                                                  "1 } value { name: 'B' number: 2 } } } "
                                                  "extension { name: 'x' extendee: 'N' number: 9 "
                                                  "label: 1 type: 5 }"}},
      &given.size);
  FOR_EACH_ALLOCATION_FAILURE(read_serialized, &given, CST_NO_MEMORY);
  cst_free(given.bytes);
}
