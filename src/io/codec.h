/* Decompression as input.c drives it: one table per library.
 */
#ifndef IO_CODEC_H
#define IO_CODEC_H

#include "base/alloc.h"

/* Compressed bytes that are there. */
typedef struct cst__span {
  const uint8_t *at;
  const uint8_t *end;
} cst__span;

typedef struct cst__codec {
  const char *name;
  /* NULL: out of memory. */
  void *(*new_state)(const cst_allocator *allocator);
  void (*free_state)(void *state);
  /* Takes bytes from `in` and writes up to `size`; *got is what it wrote, also when it fails.
   * Returns early only because `in` is used up. */
  cst_status (*decode)(void *state, cst__span *in, uint8_t *out, size_t size, size_t *got,
                       cst_error *error);
  /* The stream may end here: nothing of a member or frame is outstanding. */
  bool (*may_end)(const void *state);
  /* Begins anew at the frame after so many others; from now on `decode` returns at the end of each,
   * too. NULL: its streams cannot be entered in their middle. */
  void (*restart)(void *state, uint64_t frames);
} cst__codec;

extern const cst__codec cst__gzip_codec;
extern const cst__codec cst__zlib_codec;
/* Blocks of Avro: one stream, of which the end is in `in` with all that follows. */
extern const cst__codec cst__deflate_codec;
extern const cst__codec cst__zstd_codec;
extern const cst__codec cst__bzip2_codec;
extern const cst__codec cst__xz_codec;

#endif /* IO_CODEC_H */
