/* What every public function does with its arguments first. */
#ifndef API_ARGUMENTS_H
#define API_ARGUMENTS_H

#include <columnstone/example.h>
#include <columnstone/sink.h>
#include <columnstone/source.h>
#include <columnstone/validate.h>
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
cst_status cst__missing(const char *name, cst_error *error);

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

/* An allocator, which may be NULL, has its functions. */
cst_status cst__check_allocator(const cst_allocator *allocator, cst_error *error);

/* Both options of sources and sinks that have a size of their own; csv may be NULL. */
cst_status cst__check_parts(const cst_allocator *allocator, const cst_csv_options *csv,
                            cst_error *error);

/* Closes a writer that nobody has taken, for which nothing was written. */
void cst__refuse_writer(const cst_writer *writer);

/* All flags that there are. */
enum {
  CST__ALL_COLUMN_FLAGS = CST_COLUMNS_OFFSETS_32 | CST_COLUMNS_BINARY_VIEWS |
                          CST_COLUMNS_FIXED_SIZE | CST_COLUMNS_NESTED,
  CST__ALL_ENCODE_FLAGS = CST_ENCODE_LOSSY | CST_ENCODE_TRUSTED,
  CST__ALL_SOURCE_FLAGS = CST_SOURCE_SKIP_CRC | CST_SOURCE_MEMORY_MAP
};

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

/* Options of validations that were read: the groups have names. */
cst_status cst__check_validate_options(const cst_validate_options *options, cst_error *error);
/* Over `own`, which holds the defaults; what is left open has its default then. */
cst_status cst__read_propose_options(cst_propose_options *own, const cst_propose_options *options,
                                     cst_error *error);

#endif /* API_ARGUMENTS_H */
