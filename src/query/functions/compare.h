/* Which of two values comes first, and whether they are equal.
 */
#ifndef QUERY_FUNCTIONS_COMPARE_H
#define QUERY_FUNCTIONS_COMPARE_H

#include "query/functions/result.h"

/* Bytes by bytes, a beginning before what is longer: below 0, 0, above 0. For UTF-8 that is the
 * order of its code points. */
static inline int cst__compare_bytes(cst_bytes a, cst_bytes b) {
  size_t size = a.size < b.size ? a.size : b.size;
  int order = size > 0 ? memcmp(a.data, b.data, size) : 0;
  return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static inline bool cst__equal_bytes(cst_bytes a, cst_bytes b) {
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* Signed integers of `width` bytes (16 or 32), the lowest byte first. */
static inline int cst__compare_wide(const uint8_t *a, const uint8_t *b, int width) {
  int8_t x = (int8_t)a[width - 1];
  int8_t y = (int8_t)b[width - 1];
  if (x != y) {
    return x < y ? -1 : 1;
  }
  for (int i = width - 2; i >= 0; i--) {
    if (a[i] != b[i]) {
      return a[i] < b[i] ? -1 : 1;
    }
  }
  return 0;
}

#endif /* QUERY_FUNCTIONS_COMPARE_H */
