/* What every public function does with its arguments first. */
#ifndef API_ARGUMENTS_H
#define API_ARGUMENTS_H

#include "base/error.h"

/* A required argument that is NULL. */
cst_status cst__missing(const char *name, cst_error *error);

/* Copies the caller's options, which may be of an older or a newer version of the library, over
 * `own`, which holds the defaults: both begin with their size, `own_size` is ours. NULL leaves the
 * defaults. A size that no version has (most likely nobody set it) is CST_INVALID_ARGUMENT. */
cst_status cst__read_options(void *own, size_t own_size, const void *options, cst_error *error);

#endif /* API_ARGUMENTS_H */
