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

cst_status cst__check_flags(uint32_t flags, uint32_t all, cst_error *error) {
  if (flags & ~all) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "unknown flags 0x%x", flags & ~all);
  }
  return CST_OK;
}

cst_status cst__check_columns(const char *const *columns, size_t num_columns, cst_error *error) {
  for (size_t i = 0; columns != NULL && i < num_columns; i++) {
    if (columns[i] == NULL) {
      return cst__missing("columns[i]", error);
    }
  }
  return CST_OK;
}

cst_status cst__check_decode(const void *decoder, const cst_bytes *records, size_t count,
                             cst_error *error) {
  if (decoder == NULL) {
    return cst__missing("decoder", error);
  }
  if (records == NULL && count > 0) {
    return cst__missing("records", error);
  }
  for (size_t i = 0; i < count; i++) {
    if (records[i].data == NULL && records[i].size > 0) {
      return cst__missing("records[i].data", error);
    }
  }
  return CST_OK;
}

cst_status cst__check_encode(const void *encoder, const struct ArrowSchema *schema,
                             const struct ArrowArray *batch, const struct ArrowArray *out,
                             cst_error *error) {
  if (encoder == NULL || schema == NULL || batch == NULL || out == NULL) {
    return cst__missing(encoder == NULL  ? "encoder"
                        : schema == NULL ? "schema"
                        : batch == NULL  ? "batch"
                                         : "out",
                        error);
  }
  return CST_OK;
}
