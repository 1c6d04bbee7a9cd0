/* Copying message options. */
#include "message/message_options.h"

#include <string.h>

#include "base/error.h"
#include "base/sized.h"
#include "proto/descriptor_set.h"

cst_status cst__message_options_copy(const cst_message_options *from, cst__arena *arena,
                                     const cst_message_options **out, cst_error *error) {
  cst_message_options own = CST_MESSAGE_OPTIONS_INIT;
  *out = NULL;
  if (from == NULL) {
    return CST_OK;
  }
  cst__sized_copy(&own, sizeof own, from);
  const char **names[] = {&own.message, &own.time_zone, &own.unknown_fields,  &own.list_item,
                          &own.map_key, &own.map_value, &own.field_number_key};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *name = *names[i];
    *names[i] = name != NULL ? cst__arena_copy(arena, name, strlen(name)) : NULL;
    if (name != NULL && *names[i] == NULL) {
      return cst__fail_memory(error, strlen(name));
    }
  }
  cst_message_options *copy = cst__arena_take(arena, sizeof *copy);
  if (copy == NULL) {
    return cst__fail_memory(error, sizeof *copy);
  }
  own.descriptors = own.descriptors != NULL ? cst__descriptors_retain(own.descriptors) : NULL;
  *copy = own;
  *out = copy;
  return CST_OK;
}

void cst__message_options_release(const cst_message_options *options) {
  if (options != NULL) {
    cst__descriptors_release((cst_descriptors *)(uintptr_t)options->descriptors);
  }
}
