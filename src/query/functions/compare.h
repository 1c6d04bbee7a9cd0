/* Which of two values comes first, and whether they are equal.
 */
#ifndef QUERY_FUNCTIONS_COMPARE_H
#define QUERY_FUNCTIONS_COMPARE_H

#include "query/functions/result.h"

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
