/* Look-ups in descriptor tables. */
#include "proto/descriptor.h"

#include <string.h>

const cst__field_def *cst__field_by_number(const cst__message_def *message, int64_t number) {
  size_t low = 0;
  size_t high = message->num_fields;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const cst__field_def *field = &message->fields[middle];
    if (field->number == number) {
      return field;
    }
    if (field->number < number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return NULL;
}

static bool is_field_named(const char *have, const char *name, size_t size) {
  return strlen(have) == size && memcmp(have, name, size) == 0;
}

const cst__field_def *cst__field_by_name(const cst__message_def *message, const char *name,
                                         size_t size) {
  for (size_t i = 0; i < message->num_fields; i++) {
    if (is_field_named(message->fields[i].name, name, size)) {
      return &message->fields[i];
    }
  }
  return NULL;
}

const char *cst__field_type_name(const cst__field_def *field) {
  static const char *const names[] = {"?",        "double",   "float",   "int64",  "uint64",
                                      "int32",    "fixed64",  "fixed32", "bool",   "string",
                                      "group",    "?",        "bytes",   "uint32", "?",
                                      "sfixed32", "sfixed64", "sint32",  "sint64"};
  const char *name = names[0];
  if (cst__field_is_message(field)) {
    name = field->message->full_name;
  } else if (field->type == CST__FIELD_ENUM) {
    name = field->values->full_name;
  } else if (field->type < sizeof names / sizeof names[0]) {
    return names[field->type];
  }
  const char *dot = strrchr(name, '.');
  return dot != NULL ? dot + 1 : name;
}

const cst__enum_value *cst__enum_by_number(const cst__enum_def *values, int64_t number) {
  for (size_t i = 0; i < values->num_values; i++) {
    if (values->values[i].number == number) {
      return &values->values[i];
    }
  }
  return NULL;
}

const cst__enum_value *cst__enum_by_name(const cst__enum_def *values, const char *name,
                                         size_t size) {
  for (size_t i = 0; i < values->num_values; i++) {
    if (is_field_named(values->values[i].name, name, size)) {
      return &values->values[i];
    }
  }
  return NULL;
}
