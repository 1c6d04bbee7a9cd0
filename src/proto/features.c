/* Features of proto2, proto3 and editions, and how they are inherited. */
#include "proto/features.h"

#include <string.h>

#include "proto/descriptor_proto.h"

enum { EDITION_2023 = 1000, EDITION_2024 = 1001 };

static const cst__features proto2_features = {
    .field_presence = CST__PRESENCE_EXPLICIT,
    .enum_type = CST__ENUM_CLOSED,
    .repeated_field_encoding = CST__REPEATED_EXPANDED,
    .utf8_validation = CST__UTF8_NONE,
    .message_encoding = CST__MESSAGE_LENGTH_PREFIXED,
};

static const cst__features proto3_features = {
    .field_presence = CST__PRESENCE_IMPLICIT,
    .enum_type = CST__ENUM_OPEN,
    .repeated_field_encoding = CST__REPEATED_PACKED,
    .utf8_validation = CST__UTF8_VERIFY,
    .message_encoding = CST__MESSAGE_LENGTH_PREFIXED,
};

/* Of both editions. */
static const cst__features edition_features = {
    .in_edition = true,
    .field_presence = CST__PRESENCE_EXPLICIT,
    .enum_type = CST__ENUM_OPEN,
    .repeated_field_encoding = CST__REPEATED_PACKED,
    .utf8_validation = CST__UTF8_VERIFY,
    .message_encoding = CST__MESSAGE_LENGTH_PREFIXED,
};

static bool is_syntax(cst_bytes syntax, const char *name) {
  return syntax.size == strlen(name) && memcmp(syntax.data, name, syntax.size) == 0;
}

cst_status cst__features_of_file(const cst__message *file, cst__features *out, cst_error *error) {
  cst_bytes syntax = cst__message_bytes(file, CST__FILE_SYNTAX);
  int64_t edition = cst__message_int(file, CST__FILE_EDITION, 0);
  if (is_syntax(syntax, "editions")) {
    if (edition != EDITION_2023 && edition != EDITION_2024) {
      return cst__fail(error, CST_SCHEMA, "use edition 2023 or 2024", "unknown edition number %lld",
                       (long long)edition);
    }
    *out = cst__features_within(edition_features, cst__message_child(file, CST__FILE_OPTIONS),
                                CST__FILE_OPTION_FEATURES);
    return CST_OK;
  }
  if (is_syntax(syntax, "proto3")) {
    *out = proto3_features;
  } else if (syntax.size == 0 || is_syntax(syntax, "proto2")) {
    *out = proto2_features;
  } else {
    return cst__fail(error, CST_SCHEMA, "proto2, proto3 and editions are known", "unknown syntax");
  }
  return CST_OK;
}

/* Zero, which means unknown, and numbers of later versions leave what is inherited. */
static void take_feature(uint8_t *feature, const cst__message *set, int32_t number, int64_t last) {
  int64_t value = cst__message_int(set, number, 0);
  if (value > 0 && value <= last) {
    *feature = (uint8_t)value;
  }
}

cst__features cst__features_within(cst__features outer, const cst__message *options,
                                   int32_t number) {
  const cst__message *set =
      options != NULL && outer.in_edition ? cst__message_child(options, number) : NULL;
  if (set != NULL) {
    take_feature(&outer.field_presence, set, CST__FEATURE_FIELD_PRESENCE, CST__PRESENCE_REQUIRED);
    take_feature(&outer.enum_type, set, CST__FEATURE_ENUM_TYPE, CST__ENUM_CLOSED);
    take_feature(&outer.repeated_field_encoding, set, CST__FEATURE_REPEATED_ENCODING,
                 CST__REPEATED_EXPANDED);
    take_feature(&outer.utf8_validation, set, CST__FEATURE_UTF8_VALIDATION, CST__UTF8_NONE);
    take_feature(&outer.message_encoding, set, CST__FEATURE_MESSAGE_ENCODING,
                 CST__MESSAGE_DELIMITED);
  }
  return outer;
}
