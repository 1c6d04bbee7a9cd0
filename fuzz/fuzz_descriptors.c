/* Bytes as a descriptor set: of what is read, every table holds together and finds what it has by
 * name and by number; an error says what and where. What begins with a # is a file in the text
 * form, of which mutations leave more.
 */
#include <string.h>

#include "base/utf8.h"
#include "fuzz.h"
#include "message/message_guess.h"
#include "proto/descriptor_proto.h"
#include "proto/descriptor_set.h"
#include "proto/message.h"

static void check_set_error(cst_status status, const cst_error *error) {
  char text[4096 + 512];
  FUZZ_ASSERT(status == CST_SCHEMA || status == CST_CORRUPT);
  FUZZ_ASSERT(error->code == status && error->message[0] != '\0');
  size_t size = cst_error_format(error, text, sizeof text);
  FUZZ_ASSERT(size > 0 && size <= 256);
  FUZZ_ASSERT(cst__utf8_valid((const uint8_t *)text, size));
}

static void check_enum(const cst__enum_def *values) {
  FUZZ_ASSERT(values->num_values > 0 && values->full_name[0] != '\0');
  for (size_t i = 0; i < values->num_values; i++) {
    const cst__enum_value *value = &values->values[i];
    FUZZ_ASSERT(cst__enum_by_name(values, value->name, strlen(value->name)) == value);
    const cst__enum_value *first = cst__enum_by_number(values, value->number);
    FUZZ_ASSERT(first != NULL && first->number == value->number && first <= value);
  }
}

static void check_type(const cst__field_def *field) {
  FUZZ_ASSERT(field->type >= CST__FIELD_DOUBLE && field->type <= CST__FIELD_SINT64);
  FUZZ_ASSERT(cst__field_is_message(field) == (field->message != NULL));
  FUZZ_ASSERT((field->type == CST__FIELD_ENUM) == (field->values != NULL));
  FUZZ_ASSERT(cst__field_type_name(field)[0] != '\0');
  if (field->values != NULL) {
    check_enum(field->values);
  }
  if (field->message != NULL && field->message->is_map_entry) {
    FUZZ_ASSERT(cst__field_is_repeated(field) && field->message->num_fields == 2);
  }
  if (field->default_value != NULL) {
    FUZZ_ASSERT(!cst__field_is_repeated(field) && !cst__field_is_message(field));
  }
}

static void check_field(const cst__message_def *message, const cst__field_def *field) {
  size_t size = strlen(field->name);
  bool is_extension = (field->flags & CST__FIELD_EXTENSION) != 0;
  FUZZ_ASSERT(size > 0 && field->number > 0 && field->json_name != NULL);
  FUZZ_ASSERT(cst__field_by_number(message, field->number) == field);
  FUZZ_ASSERT((is_extension ? cst__extension_by_name(message, field->name, size)
                            : cst__field_by_name(message, field->name, size)) == field);
  FUZZ_ASSERT(field->place < message->num_fields);
  FUZZ_ASSERT((field->place >= message->num_fields - message->num_extensions) == is_extension);
  FUZZ_ASSERT(field->oneof <= message->num_oneofs);
  FUZZ_ASSERT(field->oneof == 0 || message->oneofs[field->oneof - 1][0] != '\0');
  check_type(field);
}

static void check_message(const cst_descriptors *set, size_t i) {
  const cst__message_def *message = cst__descriptors_message_def(set, i);
  const char *name = cst_descriptors_message(set, i);
  int32_t path[CST__DEPTH_LIMIT];
  FUZZ_ASSERT(strcmp(message->full_name, name) == 0 && !message->is_map_entry);
  FUZZ_ASSERT(cst__descriptors_find(set, name, strlen(name)) == message);
  size_t depth = cst__descriptors_place(set, message, path);
  FUZZ_ASSERT(depth > 0 && depth <= CST__DEPTH_LIMIT);
  for (size_t j = 0; j < message->num_fields; j++) {
    FUZZ_ASSERT(j == 0 || message->fields[j - 1].number < message->fields[j].number);
    check_field(message, &message->fields[j]);
    if (message->fields[j].message != NULL) { /* entries of maps are not listed */
      const cst__message_def *other = message->fields[j].message;
      FUZZ_ASSERT(cst__descriptors_find(set, other->full_name, strlen(other->full_name)) == other);
      for (size_t k = 0; other->is_map_entry && k < other->num_fields; k++) {
        check_field(other, &other->fields[k]);
      }
    }
  }
}

static bool has_required_fields(const cst__message_def *message) {
  bool found = false;
  for (size_t i = 0; i < message->num_fields; i++) {
    found |= (message->fields[i].flags & CST__FIELD_REQUIRED) != 0;
    found |= message->fields[i].message != NULL; /* which may have some */
  }
  return found;
}

/* What is guessed to parse does, and no more is explained than there is. */
static void check_fit(const cst__message_def *message, cst_bytes record, bool parses) {
  cst_message_guess fit;
  cst__message_fit(message, &record, 1, &fit);
  FUZZ_ASSERT(fit.records == parses || (fit.records == 0 && has_required_fields(message)));
  FUZZ_ASSERT(fit.opaque_bytes <= fit.bytes && fit.bytes <= record.size);
  FUZZ_ASSERT(fit.records == 1 || fit.bytes == 0);
}

static void check_guesses(const cst_descriptors *set, cst_bytes record) {
  cst_message_guess guesses[CST_MOST_GUESSES];
  size_t count = CST_MOST_GUESSES;
  size_t messages = cst_descriptors_num_messages(set);
  FUZZ_ASSERT(cst_descriptors_guess(set, &record, 1, guesses, &count, NULL) == CST_OK);
  FUZZ_ASSERT(count == (messages < CST_MOST_GUESSES ? messages : CST_MOST_GUESSES));
  for (size_t i = 1; i < count; i++) {
    FUZZ_ASSERT(cst__message_fit_compare(&guesses[i - 1], &guesses[i]) <= 0);
  }
}

/* The bytes of the set as a record of each of its messages: no crash. */
static void read_as_record(const cst__message_def *message, const uint8_t *data, size_t size) {
  cst__arena arena;
  cst__arena_init(&arena, NULL);
  cst__message *tree = cst__message_new(&arena, message);
  cst_status status =
      cst__message_merge(&arena, tree, (cst_bytes){data, size}, CST__DEPTH_LIMIT, NULL);
  FUZZ_ASSERT(status == CST_OK || status == CST_CORRUPT);
  check_fit(message, (cst_bytes){data, size}, status == CST_OK);
  cst__arena_reset(&arena);
}

/* The text of a file as a serialized one; false: it is no such text. */
static bool serialize_text(cst_bytes text, char **bytes, size_t *size) {
  cst__arena arena;
  cst__arena_init(&arena, NULL);
  cst__message *file = cst__message_new(&arena, cst__file_descriptor_def);
  bool is_file = cst__message_merge_text(&arena, file, text, CST__DEPTH_LIMIT, NULL) == CST_OK;
  if (is_file) {
    cst__wire_out out = {0};
    cst__message_put_wire(file, &out);
    FUZZ_ASSERT(cst__wire_out_finish(&out, bytes, size, NULL) == CST_OK);
  }
  cst__arena_reset(&arena);
  return is_file;
}

static void check_set(const uint8_t *data, size_t size) {
  cst_descriptors *set = NULL;
  cst_error error = CST_ERROR_INIT;
  const cst__message_def *root = NULL;
  cst_status status = cst_descriptors_new(data, size, NULL, &set, &error);
  fuzz_outcome(cst_status_name(status));
  if (status != CST_OK) {
    FUZZ_ASSERT(set == NULL);
    check_set_error(status, &error);
    return;
  }
  size_t count = cst_descriptors_num_messages(set);
  FUZZ_ASSERT(cst_descriptors_message(set, count) == NULL);
  for (size_t i = 0; i < count; i++) {
    check_message(set, i);
    read_as_record(cst__descriptors_message_def(set, i), data, size);
  }
  check_guesses(set, (cst_bytes){data, size});
  status = cst__descriptors_need(set, NULL, &root, &error);
  FUZZ_ASSERT(status == CST_INVALID_ARGUMENT || (status == CST_OK && root != NULL));
  FUZZ_ASSERT(cst__descriptors_need(set, "no.such", &root, &error) == CST_NOT_FOUND);
  cst_descriptors_release(set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *bytes;
  size_t bytes_size;
  if (size == 0 || data[0] != '#') {
    check_set(data, size);
  } else if (serialize_text((cst_bytes){data + 1, size - 1}, &bytes, &bytes_size)) {
    check_set((const uint8_t *)bytes, bytes_size);
    cst_free(bytes);
  } else {
    fuzz_outcome("no text");
  }
  return 0;
}
