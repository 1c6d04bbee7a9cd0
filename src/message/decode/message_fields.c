/* The names that paths give to the fields of messages. */
#include "message/decode/message_fields.h"

#include <string.h>

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
  cst_status status = cst__fail(error, CST_NOT_FOUND, "pass descriptors that contain it",
                                "cannot cast an Any to an unknown message");
  cst__error_add_path(error, name, strlen(name));
  return status;
}

cst_status cst__message_readable(const cst__message_def *def, cst_error *error) {
  return !def->is_message_set
             ? CST_OK
             : cst__fail(error, CST_UNSUPPORTED,
                         "a field that holds it is a binary column, which protobuf can read",
                         "%.80s has the wire format of message sets, which makes no columns",
                         def->full_name);
}
