/* Checks of arguments that public functions share. */
#include "base/arguments.h"

#include <string.h>

#include "base/sized.h"

enum { MOST = 4096 /* bytes; no struct of the headers that begins with its size comes near */ };

static cst_status check_size(const void *theirs, size_t own_size, const char *what,
                             cst_error *error) {
  size_t size = cst__sized_size(theirs);
  if (size < sizeof size || size > MOST || size % sizeof size != 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "initialise it with its _INIT macro",
                     "the size of the %s is %zu, expected %zu", what, size, own_size);
  }
  return CST_OK;
}

/* Members that this library does not know are none, or 0: what else they ask for would be ignored.
 */
static cst_status check_tail(const void *theirs, size_t own_size, const char *what,
                             cst_error *error) {
  const char *bytes = theirs;
  size_t size = cst__sized_size(theirs);
  for (size_t i = own_size; i < size; i++) {
    if (bytes[i] != 0) {
      return cst__fail(error, CST_UNSUPPORTED,
                       "leave new members at 0, or use the library that matches the headers",
                       "byte %zu of the %s is set; version %s knows %zu bytes", i, what,
                       cst_version(), own_size);
    }
  }
  return CST_OK;
}

cst_status cst__check_sizes(const void *items, size_t count, size_t own_size, const char *what,
                            cst_error *error) {
  for (size_t i = 0; i < count; i++) {
    CST__TRY(check_size(cst__sized_nth(items, i), own_size, what, error));
    if (cst__sized_size(cst__sized_nth(items, i)) != cst__sized_size(items)) {
      return cst__fail(error, CST_INVALID_ARGUMENT, "initialise each with its _INIT macro",
                       "the %ss are of different sizes", what);
    }
  }
  for (size_t i = 0; i < count; i++) {
    CST__TRY(check_tail(cst__sized_nth(items, i), own_size, what, error));
  }
  return CST_OK;
}

cst_status cst__check_part(const void *part, size_t own_size, const char *what, cst_error *error) {
  return cst__check_sizes(part, part != NULL, own_size, what, error);
}

cst_status cst__read_sized(void *own, size_t own_size, const void *theirs, const char *what,
                           cst_error *error) {
  CST__TRY(check_size(theirs, own_size, what, error));
  cst__sized_copy(own, own_size, theirs);
  return check_tail(theirs, own_size, what, error);
}

cst_status cst__read_options(void *own, size_t own_size, const void *options, cst_error *error) {
  return options == NULL ? CST_OK : cst__read_sized(own, own_size, options, "options", error);
}

cst_status cst__check_allocator(const cst_allocator *allocator, cst_error *error) {
  if (allocator == NULL) {
    return CST_OK;
  }
  cst_allocator own = {0};
  CST__TRY(cst__read_sized(&own, sizeof own, allocator, "allocator", error));
  if (allocator->size < sizeof own || own.allocate == NULL || own.release == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "initialise it with CST_ALLOCATOR_INIT",
                     "the allocator has no functions");
  }
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
