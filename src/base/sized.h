/* Structs of the caller that begin with their size: an older version's are smaller than ours, a
 * newer version's larger. */
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include <stddef.h>
#include <string.h>

static inline size_t cst__sized_size(const void *theirs) {
  size_t size;
  memcpy(&size, theirs, sizeof size);
  return size;
}

/* What both versions have, over `own`, which holds the defaults of what theirs lacks. */
static inline void cst__sized_copy(void *own, size_t own_size, const void *theirs) {
  size_t size = cst__sized_size(theirs);
  memcpy(own, theirs, size < own_size ? size : own_size);
  memcpy(own, &own_size, sizeof own_size);
}

/* The i-th of several, which are all as large as the first. */
static inline const void *cst__sized_nth(const void *items, size_t i) {
  return (const char *)items + i * cst__sized_size(items);
}

#endif /* BASE_SIZED_H */
