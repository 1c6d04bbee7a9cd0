/* google/protobuf/descriptor.proto as tables, as far as it says what types look like: comments,
 * services, reserved names and options that nothing depends on are unknown fields.
 */
#ifndef PROTO_DESCRIPTOR_PROTO_H
#define PROTO_DESCRIPTOR_PROTO_H

#include "proto/descriptor.h"

extern const cst__message_def *const cst__file_descriptor_def; /* FileDescriptorProto */

/* The numbers of the fields that the tables have. */
enum {
  CST__FILE_SET_FILE = 1,

  CST__FILE_NAME = 1,
  CST__FILE_PACKAGE = 2,
  CST__FILE_DEPENDENCY = 3,
  CST__FILE_MESSAGES = 4,
  CST__FILE_ENUMS = 5,
  CST__FILE_EXTENSIONS = 7,
  CST__FILE_OPTIONS = 8,
  CST__FILE_SYNTAX = 12,
  CST__FILE_EDITION = 14,
  CST__FILE_LAST = 14, /* of all fields of the type */

  CST__MESSAGE_NAME = 1,
  CST__MESSAGE_FIELDS = 2,
  CST__MESSAGE_MESSAGES = 3,
  CST__MESSAGE_ENUMS = 4,
  CST__MESSAGE_EXTENSIONS = 6,
  CST__MESSAGE_OPTIONS = 7,
  CST__MESSAGE_ONEOFS = 8,

  CST__FIELD_NAME = 1,
  CST__FIELD_EXTENDEE = 2,
  CST__FIELD_NUMBER = 3,
  CST__FIELD_LABEL = 4,
  CST__FIELD_TYPE = 5,
  CST__FIELD_TYPE_NAME = 6,
  CST__FIELD_DEFAULT = 7,
  CST__FIELD_OPTIONS = 8,
  CST__FIELD_ONEOF_INDEX = 9,
  CST__FIELD_JSON_NAME = 10,
  CST__FIELD_PROTO3_OPTIONAL = 17,

  CST__ONEOF_NAME = 1,
  CST__ONEOF_OPTIONS = 2,

  CST__ENUM_NAME = 1,
  CST__ENUM_VALUES = 2,
  CST__ENUM_OPTIONS = 3,

  CST__ENUM_VALUE_NAME = 1,
  CST__ENUM_VALUE_NUMBER = 2,

  CST__MESSAGE_OPTION_MESSAGE_SET = 1,
  CST__MESSAGE_OPTION_MAP_ENTRY = 7,
  CST__FIELD_OPTION_PACKED = 2,

  /* Where the options of each kind have their FeatureSet. */
  CST__FILE_OPTION_FEATURES = 50,
  CST__MESSAGE_OPTION_FEATURES = 12,
  CST__FIELD_OPTION_FEATURES = 21,
  CST__ONEOF_OPTION_FEATURES = 1,
  CST__ENUM_OPTION_FEATURES = 7,

  CST__FEATURE_FIELD_PRESENCE = 1,
  CST__FEATURE_ENUM_TYPE = 2,
  CST__FEATURE_REPEATED_ENCODING = 3,
  CST__FEATURE_UTF8_VALIDATION = 4,
  CST__FEATURE_MESSAGE_ENCODING = 5
};

/* FieldDescriptorProto.Label */
enum { CST__LABEL_OPTIONAL = 1, CST__LABEL_REQUIRED = 2, CST__LABEL_REPEATED = 3 };

#endif /* PROTO_DESCRIPTOR_PROTO_H */
