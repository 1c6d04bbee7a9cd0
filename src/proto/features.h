/* What a file's syntax or edition, and the FeatureSet of each thing in it, say about its fields and
 * enums. proto2 and proto3 are sets of features as well.
 *
 * Source: "Feature Settings for Editions" of protobuf; defaults of editions 2023 and 2024.
 */
#ifndef PROTO_FEATURES_H
#define PROTO_FEATURES_H

#include "proto/message.h"

/* The numbers of the enums in google.protobuf.FeatureSet. */
enum { CST__PRESENCE_EXPLICIT = 1, CST__PRESENCE_IMPLICIT = 2, CST__PRESENCE_REQUIRED = 3 };
enum { CST__ENUM_OPEN = 1, CST__ENUM_CLOSED = 2 };
enum { CST__REPEATED_PACKED = 1, CST__REPEATED_EXPANDED = 2 };
enum { CST__UTF8_VERIFY = 2, CST__UTF8_NONE = 3 };
enum { CST__MESSAGE_LENGTH_PREFIXED = 1, CST__MESSAGE_DELIMITED = 2 };

typedef struct cst__features {
  bool in_edition; /* else proto2 or proto3, whose fields say some of it by label and type */
  uint8_t field_presence;
  uint8_t enum_type;
  uint8_t repeated_field_encoding;
  uint8_t utf8_validation;
  uint8_t message_encoding;
} cst__features;

/* Of a FileDescriptorProto; CST_SCHEMA for a syntax or edition that is not known. */
cst_status cst__features_of_file(const cst__message *file, cst__features *out, cst_error *error);

/* Those of something within what has `outer`: its options, which may be NULL, may have a FeatureSet
 * in the field `number`. */
cst__features cst__features_within(cst__features outer, const cst__message *options,
                                   int32_t number);

#endif /* PROTO_FEATURES_H */
