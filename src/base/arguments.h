/* What public functions do with their arguments first; each does so at its head. */
#ifndef BASE_ARGUMENTS_H
#define BASE_ARGUMENTS_H

#include <columnstone/status.h>
#include <string.h>

#include "base/error.h"

/* Every function begins so with each of its outputs, which may be NULL: after a failure a handle is
 * NULL, an Arrow struct is released, and a number is 0. */
#define CST__CLEAR(out)                \
  do {                                 \
    if ((out) != NULL) {               \
      memset((out), 0, sizeof *(out)); \
    }                                  \
  } while (0)

/* A required argument that is NULL. */
static inline cst_status cst__missing(const char *name, cst_error *error) {
  (void)cst__fail(error, CST_INVALID_ARGUMENT, NULL, "argument `%s` is NULL", name);
  return CST_INVALID_ARGUMENT; /* said here, so that compilers and clang-tidy know it */
}
/* What a function is given first, which has this name, and where it puts its result: both required.
 */
static inline cst_status cst__check_given(const void *given, const char *name, const void *out,
                                          cst_error *error) {
  return given != NULL && out != NULL ? CST_OK : cst__missing(given == NULL ? name : "out", error);
}

/* Copies the caller's options, which may be of an older or a newer version of the library, over
 * `own`, which holds the defaults: both begin with their size, `own_size` is ours. NULL leaves the
 * defaults. A size that no version has (most likely nobody set it) is CST_INVALID_ARGUMENT. Members
 * beyond ours that are not 0 are CST_UNSUPPORTED. */
cst_status cst__read_options(void *own, size_t own_size, const void *options, cst_error *error);

/* The same for what is not options: a reader, a writer, an opener. `what` is named in the message.
 * `own` is filled also where members beyond ours are set, so that what has a `close` can be closed.
 */
cst_status cst__read_sized(void *own, size_t own_size, const void *theirs, const char *what,
                           cst_error *error);
/* That several such structs all say the same possible size: cst__sized_nth finds them then, also
 * after CST_UNSUPPORTED, which says that members beyond ours are set. */
cst_status cst__check_sizes(const void *items, size_t count, size_t own_size, const char *what,
                            cst_error *error);

/* Options within options, which may be NULL. */
cst_status cst__check_part(const void *part, size_t own_size, const char *what, cst_error *error);

/* An allocator, which may be NULL, has its functions. */
cst_status cst__check_allocator(const cst_allocator *allocator, cst_error *error);

/* Flags that no version knows. */
cst_status cst__check_flags(uint32_t flags, uint32_t all, cst_error *error);

/* Names of wanted columns; NULL: all. */
cst_status cst__check_columns(const char *const *columns, size_t num_columns, cst_error *error);

#endif /* BASE_ARGUMENTS_H */
