/* A set of descriptors for tests and fuzz targets of messages: one message type with all kinds of
 * fields, t.M. */
#ifndef TESTS_UNIT_MESSAGE_SAMPLE_H
#define TESTS_UNIT_MESSAGE_SAMPLE_H

#include <string.h>

#include "proto/descriptor_proto.h"
#include "proto/descriptor_set.h"
#include "proto/message.h"

enum { ONE = 1, MANY = 3 }; /* labels of descriptor.proto */

static const struct {
  const char *name;
  int number;
  cst__field_type type;
  int label;
  const char *more;
} sample_fields[] = {
    {"an_int", 1, CST__FIELD_INT32, ONE, ""},
    {"long", 2, CST__FIELD_INT64, ONE, ""},
    {"u", 3, CST__FIELD_UINT32, ONE, ""},
    {"ulong", 4, CST__FIELD_UINT64, ONE, ""},
    {"f", 5, CST__FIELD_FLOAT, ONE, ""},
    {"d", 6, CST__FIELD_DOUBLE, ONE, ""},
    {"b", 7, CST__FIELD_BOOL, ONE, ""},
    {"s", 8, CST__FIELD_STRING, ONE, ""},
    {"raw", 9, CST__FIELD_BYTES, ONE, ""},
    {"color", 10, CST__FIELD_ENUM, ONE, "type_name: '.t.Color'"},
    {"ints", 11, CST__FIELD_SINT32, MANY, ""},
    {"kids", 12, CST__FIELD_MESSAGE, MANY, "type_name: '.t.M'"},
    {"kid", 13, CST__FIELD_MESSAGE, ONE, "type_name: '.t.M'"},
    {"point", 14, CST__FIELD_GROUP, ONE, "type_name: '.t.M.Point'"},
    {"counts", 15, CST__FIELD_MESSAGE, MANY, "type_name: '.t.M.CountsEntry'"},
    {"flags", 16, CST__FIELD_MESSAGE, MANY, "type_name: '.t.M.FlagsEntry'"},
    {"one", 17, CST__FIELD_INT32, ONE, "oneof_index: 0"},
    {"two", 18, CST__FIELD_STRING, ONE, "oneof_index: 0"},
    {"other", 19, CST__FIELD_INT32, ONE, "json_name: '@o'"},
    {"at", 21, CST__FIELD_MESSAGE, ONE, "type_name: '.google.protobuf.Timestamp'"},
    {"took", 22, CST__FIELD_MESSAGE, ONE, "type_name: '.google.protobuf.Duration'"},
    {"mask", 23, CST__FIELD_MESSAGE, ONE, "type_name: '.google.protobuf.FieldMask'"},
    {"any", 24, CST__FIELD_MESSAGE, ONE, "type_name: '.google.protobuf.Any'"},
    {"struct", 25, CST__FIELD_MESSAGE, ONE, "type_name: '.google.protobuf.Struct'"},
    {"value", 26, CST__FIELD_MESSAGE, ONE, "type_name: '.google.protobuf.Value'"},
    {"list", 27, CST__FIELD_MESSAGE, ONE, "type_name: '.google.protobuf.ListValue'"},
    {"wrapped", 28, CST__FIELD_MESSAGE, ONE, "type_name: '.google.protobuf.Int64Value'"},
    {"none", 29, CST__FIELD_ENUM, ONE, "type_name: '.google.protobuf.NullValue'"},
    {"values", 30, CST__FIELD_MESSAGE, MANY, "type_name: '.google.protobuf.Value'"},
    {"colors", 31, CST__FIELD_ENUM, MANY, "type_name: '.t.Color'"},
    {"tints", 32, CST__FIELD_MESSAGE, MANY, "type_name: '.t.M.TintsEntry'"},
};

static const char sample_file_head[] =
    "name: 't.proto' package: 't' syntax: 'proto2'"
    "dependency: 'google/protobuf/any.proto' dependency: 'google/protobuf/duration.proto'"
    "dependency: 'google/protobuf/field_mask.proto' dependency: 'google/protobuf/struct.proto'"
    "dependency: 'google/protobuf/timestamp.proto' dependency: 'google/protobuf/wrappers.proto'"
    "enum_type { name: 'Color' value { name: 'RED' number: 0 } value { name: 'BLUE' number: 5 } }"
    "extension { name: 'extra' number: 100 label: 1 type: 5 extendee: '.t.M' }"
    "extension { name: 'more' number: 101 label: 3 type: 9 extendee: '.t.M' }";

static const char sample_message_head[] =
    "message_type { name: 'M' oneof_decl { name: 'choice' }"
    "nested_type { name: 'Point' field { name: 'x' number: 1 label: 1 type: 5 } }"
    "nested_type { name: 'CountsEntry' options { map_entry: true }"
    "  field { name: 'key' number: 1 label: 1 type: 9 }"
    "  field { name: 'value' number: 2 label: 1 type: 3 } }"
    "nested_type { name: 'TintsEntry' options { map_entry: true }"
    "  field { name: 'key' number: 1 label: 1 type: 9 }"
    "  field { name: 'value' number: 2 label: 1 type: 14 type_name: '.t.Color' } }"
    "nested_type { name: 'FlagsEntry' options { map_entry: true }"
    "  field { name: 'key' number: 1 label: 1 type: 8 }"
    "  field { name: 'value' number: 2 label: 1 type: 11 type_name: '.t.M' } }";

/* The file in the text form of FileDescriptorProto. */
static void put_sample_file(cst__text *out) {
  cst__text_puts(out, sample_file_head);
  cst__text_puts(out, sample_message_head);
  for (size_t i = 0; i < sizeof sample_fields / sizeof sample_fields[0]; i++) {
    cst__text_printf(out, "field { name: '%s' number: %d label: %d type: %d %s }",
                     sample_fields[i].name, sample_fields[i].number, sample_fields[i].label,
                     (int)sample_fields[i].type, sample_fields[i].more);
  }
  cst__text_puts(out, "}");
}

/* Released by the caller; NULL if out of memory. */
static cst_descriptors *sample_descriptors(void) {
  cst__arena arena;
  cst__text text = {0};
  cst__wire_out out = {0};
  cst_descriptors *set = NULL;
  char *wire = NULL;
  size_t size = 0;
  cst__arena_init(&arena, NULL);
  put_sample_file(&text);
  cst__message *file = cst__message_new(&arena, cst__file_descriptor_def);
  cst_bytes all = {(const uint8_t *)text.data, text.size};
  if (cst__message_merge_text(&arena, file, all, CST__DEPTH_LIMIT, NULL) == CST_OK) {
    cst__message_put_wire(file, &out);
    if (cst__wire_out_finish(&out, &wire, &size, NULL) == CST_OK) {
      (void)cst_descriptors_new(wire, size, NULL, &set, NULL);
      cst_free(wire);
    }
  }
  cst__text_free(&text);
  cst__arena_reset(&arena);
  return set;
}

static inline const cst__message_def *sample_message(const cst_descriptors *set) {
  return cst__descriptors_find(set, "t.M", 3);
}

#endif /* TESTS_UNIT_MESSAGE_SAMPLE_H */
