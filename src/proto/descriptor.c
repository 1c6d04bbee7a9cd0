/* Look-ups in descriptor tables. */
#include "proto/descriptor.h"

#include "base/bytes.h"

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

/* In part of the index by name. */
static const cst__field_def *search_fields(const cst__message_def *message, size_t low, size_t high,
                                           cst_bytes name) {
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const cst__field_def *field = &message->fields[message->by_name[middle]];
    int order = cst__bytes_compare(cst__bytes_of(field->name), name);
    if (order == 0) {
      return field;
    }
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return NULL;
}

const cst__field_def *cst__field_by_name(const cst__message_def *message, const char *name,
                                         size_t size) {
  const cst_bytes wanted = {(const uint8_t *)name, size};
  if (message->by_name != NULL) {
    return search_fields(message, 0, message->num_fields - message->num_extensions, wanted);
  }
  for (size_t i = 0; i < message->num_fields; i++) {
    if (cst__bytes_equal(cst__bytes_of(message->fields[i].name), wanted)) {
      return &message->fields[i];
    }
  }
  return NULL;
}

const cst__field_def *cst__extension_by_name(const cst__message_def *message, const char *full_name,
                                             size_t size) {
  if (message->by_name == NULL) {
    return NULL;
  }
  return search_fields(message, message->num_fields - message->num_extensions, message->num_fields,
                       (cst_bytes){(const uint8_t *)full_name, size});
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

static const cst__enum_value *nth_number(const cst__enum_def *values, size_t i) {
  return &values->values[values->by_number[i]];
}

static const cst__enum_value *search_numbers(const cst__enum_def *values, int64_t number) {
  size_t low = 0;
  size_t high = values->num_values;
  /* Most enums count from their first number. */
  uint64_t least = high > 0 ? (uint64_t)(int64_t)nth_number(values, 0)->number : 0;
  size_t guess = (size_t)((uint64_t)number - least);
  if (guess < high && nth_number(values, guess)->number == number &&
      (guess == 0 || nth_number(values, guess - 1)->number != number)) {
    return nth_number(values, guess);
  }
  while (low < high) { /* for the first one */
    size_t middle = low + (high - low) / 2;
    if (nth_number(values, middle)->number < number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const cst__enum_value *found = low < values->num_values ? nth_number(values, low) : NULL;
  return found != NULL && found->number == number ? found : NULL;
}

const char *cst__group_name(const cst__message_def *message, const cst__field_def *field) {
  bool is_group = field->type == CST__FIELD_GROUP && (field->flags & CST__FIELD_EXTENSION) == 0;
  if (message == NULL || !is_group) { /* a field that stands alone is of no message */
    return NULL;
  }
  size_t scope = strlen(message->full_name);
  const char *type = field->message->full_name;
  if (strncmp(type, message->full_name, scope) != 0 || type[scope] != '.') {
    return NULL;
  }
  type += scope + 1;
  size_t i = 0;
  while (type[i] != '\0' &&
         field->name[i] == (type[i] >= 'A' && type[i] <= 'Z' ? type[i] + 32 : type[i])) {
    i++;
  }
  return type[i] == '\0' && field->name[i] == '\0' ? type : NULL;
}

const cst__enum_value *cst__enum_by_number(const cst__enum_def *values, int64_t number) {
  if (values->by_number != NULL) {
    return search_numbers(values, number);
  }
  for (size_t i = 0; i < values->num_values; i++) {
    if (values->values[i].number == number) {
      return &values->values[i];
    }
  }
  return NULL;
}

static const cst__enum_value *search_value_names(const cst__enum_def *values, cst_bytes name) {
  size_t low = 0;
  size_t high = values->num_values;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const cst__enum_value *value = &values->values[values->by_name[middle]];
    int order = cst__bytes_compare(cst__bytes_of(value->name), name);
    if (order == 0) {
      return value;
    }
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return NULL;
}

const cst__enum_value *cst__enum_by_name(const cst__enum_def *values, const char *name,
                                         size_t size) {
  const cst_bytes wanted = {(const uint8_t *)name, size};
  if (values->by_name != NULL) {
    return search_value_names(values, wanted);
  }
  for (size_t i = 0; i < values->num_values; i++) {
    if (cst__bytes_equal(cst__bytes_of(values->values[i].name), wanted)) {
      return &values->values[i];
    }
  }
  return NULL;
}
