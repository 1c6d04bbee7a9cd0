/* Compression as output.c drives it: one table per library.
 */
#ifndef IO_ENCODER_H
#define IO_ENCODER_H

#include "base/alloc.h"

/* Where compressed bytes go. */
typedef struct cst__byte_sink {
  cst_status (*put)(void *ctx, const void *data, size_t size, cst_error *error);
  void *ctx;
} cst__byte_sink;

typedef struct cst__encoder {
  const char *name;
  int least_level;
  int most_level;
  /* level 0 is the usual one. NULL: out of memory. */
  void *(*new_state)(int level, const cst_allocator *allocator);
  void (*free_state)(void *state);
  /* Compresses all of the bytes; with `last` it also ends the stream. */
  cst_status (*encode)(void *state, const uint8_t *data, size_t size, bool last,
                       const cst__byte_sink *sink, cst_error *error);
} cst__encoder;

extern const cst__encoder cst__gzip_encoder;
extern const cst__encoder cst__zlib_encoder;
extern const cst__encoder cst__deflate_encoder;
extern const cst__encoder cst__zstd_encoder;
extern const cst__encoder cst__bzip2_encoder;
extern const cst__encoder cst__xz_encoder;

#endif /* IO_ENCODER_H */
