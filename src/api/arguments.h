/* What every public function does with its arguments first. */
#ifndef API_ARGUMENTS_H
#define API_ARGUMENTS_H

#include <columnstone/arrow_abi.h>

#include "base/error.h"

/* A required argument that is NULL. */
cst_status cst__missing(const char *name, cst_error *error);

/* Copies the caller's options, which may be of an older or a newer version of the library, over
 * `own`, which holds the defaults: both begin with their size, `own_size` is ours. NULL leaves the
 * defaults. A size that no version has (most likely nobody set it) is CST_INVALID_ARGUMENT. */
cst_status cst__read_options(void *own, size_t own_size, const void *options, cst_error *error);

/* Flags that no version knows. */
cst_status cst__check_flags(uint32_t flags, uint32_t all, cst_error *error);

/* Names of wanted columns; NULL: all. */
cst_status cst__check_columns(const char *const *columns, size_t num_columns, cst_error *error);

/* What a decoder and an encoder are called with. */
cst_status cst__check_decode(const void *decoder, const cst_bytes *records, size_t count,
                             cst_error *error);
cst_status cst__check_encode(const void *encoder, const struct ArrowSchema *schema,
                             const struct ArrowArray *batch, const struct ArrowArray *out,
                             cst_error *error);

#endif /* API_ARGUMENTS_H */
