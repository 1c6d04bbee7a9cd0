/* The names that paths give to the fields of messages, and the options that they are read by. */
#include "message/decode/message_fields.h"

#include <string.h>

#include "base/utf8.h"

enum { USUAL_RECURSION = 2 };

/* ---- names ---- */

bool cst__message_is_cast(const char *name) {
  size_t size = strlen(name);
  return size > 2 && name[0] == '(' && name[size - 1] == ')';
}

const cst__field_def *cst__message_path_field(const cst__message_def *def, const char *name) {
  size_t size = strlen(name);
  return cst__message_is_cast(name) ? cst__extension_by_name(def, name + 1, size - 2)
                                    : cst__field_by_name(def, name, size);
}

const char *cst__message_path_name(const cst__field_def *def, cst__arena *arena) {
  size_t size = strlen(def->name);
  if ((def->flags & CST__FIELD_EXTENSION) == 0) {
    return cst__arena_copy(arena, def->name, size);
  }
  char *name = cst__arena_take(arena, size + 3);
  if (name != NULL) {
    name[0] = '(';
    memcpy(name + 1, def->name, size);
    memcpy(name + 1 + size, ")", 2);
  }
  return name;
}

cst_status cst__message_cast(const cst_descriptors *descriptors, const char *name,
                             const cst__message_def **out, cst_error *error) {
  const char *slash = strrchr(name, '/');
  const char *message = slash != NULL ? slash + 1 : name + 1;
  *out = cst__descriptors_find(descriptors, message, strlen(message) - 1);
  if (*out != NULL) {
    return CST_OK;
  }
  cst_status status = cst__fail(error, CST_NOT_FOUND, "give descriptors that have it",
                                "an Any is to be cast to a message that is not known");
  cst__error_add_path(error, name, strlen(name));
  return status;
}

cst_status cst__message_readable(const cst__message_def *def, cst_error *error) {
  return !def->is_message_set
             ? CST_OK
             : cst__fail(error, CST_UNSUPPORTED, "name the columns that are wanted, without it",
                         "%.80s has the wire format of message sets, which is not read",
                         def->full_name);
}

/* ---- options ---- */

static cst_status check_message_options(const cst_message_options *options, cst_error *error) {
  if (options->descriptors == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT,
                     "give a FileDescriptorSet: --proto-set, or message= in Python",
                     "a message cannot be read without its description");
  }
  bool is_known =
      options->form <= CST_MESSAGE_CONFLUENT_PLAIN && options->enums <= CST_ENUMS_BINARY &&
      options->timestamp_unit <= CST_TIME_SECOND && options->duration_unit <= CST_TIME_SECOND &&
      options->time_unit <= CST_TIME_SECOND && options->recursion >= -1;
  if (!is_known) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "an option of the message is out of its range");
  }
  if (options->time_zone != NULL && strlen(options->time_zone) > 64) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "the name of the time zone is too long");
  }
  return CST_OK;
}

static void set_usual(const char **name, const char *usual) {
  *name = *name != NULL ? *name : usual;
}

/* Names go into the schema, which is UTF-8. */
static cst_status check_message_names(const cst_message_options *options, cst_error *error) {
  const char *names[] = {options->time_zone, options->unknown_fields, options->list_item,
                         options->map_key,   options->map_value,      options->field_number_key};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (names[i] != NULL && !cst__utf8_valid((const uint8_t *)names[i], strlen(names[i]))) {
      return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a name in the options is not UTF-8");
    }
  }
  if (strcmp(options->map_key, options->map_value) == 0) {
    cst_status status =
        cst__fail(error, CST_INVALID_ARGUMENT, "give map_key and map_value names of their own",
                  "keys and values of maps have the same name");
    cst__error_add_path(error, options->map_key, strlen(options->map_key));
    return status;
  }
  return CST_OK;
}

cst_status cst__message_options_settle(cst_message_options *options, cst_error *error) {
  CST__TRY(check_message_options(options, error));
  int32_t recursion = options->recursion;
  options->recursion = recursion == 0 ? USUAL_RECURSION : recursion < 0 ? 0 : recursion;
  set_usual(&options->time_zone, "UTC");
  set_usual(&options->list_item, "item");
  set_usual(&options->map_key, "key");
  set_usual(&options->map_value, "value");
  return check_message_names(options, error);
}
