/* Checks of arguments that all public headers share. */
#include "api/arguments.h"

#include <string.h>

cst_status cst__missing(const char *name, cst_error *error) {
  return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "argument `%s` is NULL", name);
}

enum { MOST_OPTIONS = 4096 /* bytes; no options come near */ };

cst_status cst__read_options(void *own, size_t own_size, const void *options, cst_error *error) {
  size_t size;
  if (options == NULL) {
    return CST_OK;
  }
  memcpy(&size, options, sizeof size);
  if (size < sizeof size || size > MOST_OPTIONS) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "initialise the options with their _INIT macro",
                     "options.size is %zu, expected %zu", size, own_size);
  }
  memcpy(own, options, size < own_size ? size : own_size);
  memcpy(own, &own_size, sizeof own_size);
  return CST_OK;
}
