/* Which of two byte strings comes first, and whether they are equal.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <columnstone/status.h>
#include <stdbool.h>
#include <string.h>

/* Byte by byte, a beginning before what is longer: below 0, 0, above 0. For UTF-8 that is the order
 * of its code points. */
static inline int cst__bytes_compare(cst_bytes a, cst_bytes b) {
  size_t size = a.size < b.size ? a.size : b.size;
  int order = size > 0 ? memcmp(a.data, b.data, size) : 0;
  return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static inline bool cst__bytes_equal(cst_bytes a, cst_bytes b) {
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* A C string, without its NUL. */
static inline cst_bytes cst__bytes_of(const char *text) {
  return (cst_bytes){(const uint8_t *)text, strlen(text)};
}

#endif /* BASE_BYTES_H */
