/* google/protobuf/descriptor.proto as tables. Enums are int32, so that numbers of later versions
 * are seen as well.
 */
#include "proto/descriptor_proto.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

#define ONE(number, name, type) \
  { name, number, CST__FIELD_##type, 0, 0, NULL, NULL, NULL, NULL, 0 }
#define MANY(number, name, type) \
  { name, number, CST__FIELD_##type, CST__FIELD_REPEATED, 0, NULL, NULL, NULL, NULL, 0 }
#define CHILD(number, name, message) \
  { name, number, CST__FIELD_MESSAGE, 0, 0, &message, NULL, NULL, NULL, 0 }
#define CHILDREN(number, name, message) \
  { name, number, CST__FIELD_MESSAGE, CST__FIELD_REPEATED, 0, &message, NULL, NULL, NULL, 0 }
#define DEF(id, name)                  \
  static const cst__message_def id = { \
      "google.protobuf." name, id##_fields, LENGTH(id##_fields), NULL, 0, false}

static const cst__field_def feature_set_fields[] = {
    ONE(CST__FEATURE_FIELD_PRESENCE, "field_presence", INT32),
    ONE(CST__FEATURE_ENUM_TYPE, "enum_type", INT32),
    ONE(CST__FEATURE_REPEATED_ENCODING, "repeated_field_encoding", INT32),
    ONE(CST__FEATURE_UTF8_VALIDATION, "utf8_validation", INT32),
    ONE(CST__FEATURE_MESSAGE_ENCODING, "message_encoding", INT32),
};
DEF(feature_set, "FeatureSet");

static const cst__field_def file_options_fields[] = {
    CHILD(CST__FILE_OPTION_FEATURES, "features", feature_set),
};
DEF(file_options, "FileOptions");

static const cst__field_def message_options_fields[] = {
    ONE(CST__MESSAGE_OPTION_MESSAGE_SET, "message_set_wire_format", BOOL),
    ONE(CST__MESSAGE_OPTION_MAP_ENTRY, "map_entry", BOOL),
    CHILD(CST__MESSAGE_OPTION_FEATURES, "features", feature_set),
};
DEF(message_options, "MessageOptions");

static const cst__field_def field_options_fields[] = {
    ONE(CST__FIELD_OPTION_PACKED, "packed", BOOL),
    CHILD(CST__FIELD_OPTION_FEATURES, "features", feature_set),
};
DEF(field_options, "FieldOptions");

static const cst__field_def oneof_options_fields[] = {
    CHILD(CST__ONEOF_OPTION_FEATURES, "features", feature_set),
};
DEF(oneof_options, "OneofOptions");

static const cst__field_def enum_options_fields[] = {
    CHILD(CST__ENUM_OPTION_FEATURES, "features", feature_set),
};
DEF(enum_options, "EnumOptions");

static const cst__field_def enum_value_fields[] = {
    ONE(CST__ENUM_VALUE_NAME, "name", STRING),
    ONE(CST__ENUM_VALUE_NUMBER, "number", INT32),
};
DEF(enum_value, "EnumValueDescriptorProto");

static const cst__field_def enum_descriptor_fields[] = {
    ONE(CST__ENUM_NAME, "name", STRING),
    CHILDREN(CST__ENUM_VALUES, "value", enum_value),
    CHILD(CST__ENUM_OPTIONS, "options", enum_options),
};
DEF(enum_descriptor, "EnumDescriptorProto");

static const cst__field_def oneof_descriptor_fields[] = {
    ONE(CST__ONEOF_NAME, "name", STRING),
    CHILD(CST__ONEOF_OPTIONS, "options", oneof_options),
};
DEF(oneof_descriptor, "OneofDescriptorProto");

static const cst__field_def field_descriptor_fields[] = {
    ONE(CST__FIELD_NAME, "name", STRING),
    ONE(CST__FIELD_EXTENDEE, "extendee", STRING),
    ONE(CST__FIELD_NUMBER, "number", INT32),
    ONE(CST__FIELD_LABEL, "label", INT32),
    ONE(CST__FIELD_TYPE, "type", INT32),
    ONE(CST__FIELD_TYPE_NAME, "type_name", STRING),
    ONE(CST__FIELD_DEFAULT, "default_value", STRING),
    CHILD(CST__FIELD_OPTIONS, "options", field_options),
    ONE(CST__FIELD_ONEOF_INDEX, "oneof_index", INT32),
    ONE(CST__FIELD_JSON_NAME, "json_name", STRING),
    ONE(CST__FIELD_PROTO3_OPTIONAL, "proto3_optional", BOOL),
};
DEF(field_descriptor, "FieldDescriptorProto");

static const cst__message_def message_descriptor; /* a message holds messages */
static const cst__field_def message_descriptor_fields[] = {
    ONE(CST__MESSAGE_NAME, "name", STRING),
    CHILDREN(CST__MESSAGE_FIELDS, "field", field_descriptor),
    CHILDREN(CST__MESSAGE_MESSAGES, "nested_type", message_descriptor),
    CHILDREN(CST__MESSAGE_ENUMS, "enum_type", enum_descriptor),
    CHILDREN(CST__MESSAGE_EXTENSIONS, "extension", field_descriptor),
    CHILD(CST__MESSAGE_OPTIONS, "options", message_options),
    CHILDREN(CST__MESSAGE_ONEOFS, "oneof_decl", oneof_descriptor),
};
DEF(message_descriptor, "DescriptorProto");

static const cst__field_def file_descriptor_fields[] = {
    ONE(CST__FILE_NAME, "name", STRING),
    ONE(CST__FILE_PACKAGE, "package", STRING),
    MANY(CST__FILE_DEPENDENCY, "dependency", STRING),
    CHILDREN(CST__FILE_MESSAGES, "message_type", message_descriptor),
    CHILDREN(CST__FILE_ENUMS, "enum_type", enum_descriptor),
    CHILDREN(CST__FILE_EXTENSIONS, "extension", field_descriptor),
    CHILD(CST__FILE_OPTIONS, "options", file_options),
    ONE(CST__FILE_SYNTAX, "syntax", STRING),
    ONE(CST__FILE_EDITION, "edition", INT32),
};
DEF(file_descriptor, "FileDescriptorProto");

const cst__message_def *const cst__file_descriptor_def = &file_descriptor;
