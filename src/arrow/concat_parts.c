/* Buffers and sums of what is concatenated. */
#include "arrow/concat_parts.h"

#include "arrow/owned.h"

void *cst__level_take(struct ArrowArray *out, int64_t index, int64_t count, size_t width,
                      cst_error *error) {
  size_t bytes = SIZE_MAX;
  void *buffer =
      cst__mul((size_t)count, width, &bytes) ? cst__owned_buffer(out, index, bytes) : NULL;
  if (buffer == NULL) {
    cst__fail_memory(error, bytes);
  }
  return buffer;
}

cst_status cst__level_add(int64_t *total, int64_t more, int width, const char *what,
                          cst_error *error) {
  if (__builtin_add_overflow(*total, more, total) || (width == 4 && *total > INT32_MAX)) {
    return cst__fail(error, CST_LIMIT, "use smaller batches or a type with 64-bit offsets",
                     "a batch would hold more %s than offsets of %d bits reach", what, 8 * width);
  }
  return CST_OK;
}
