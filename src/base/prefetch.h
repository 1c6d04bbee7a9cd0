/* Memory that is loaded before it is needed.
 */
#ifndef BASE_PREFETCH_H
#define BASE_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

/* Begins to load the first bytes, `most` of them, of a record that comes next: a list of records
 * lies anywhere in memory, and by the time the machine notices a new run of addresses, a short
 * record is over. */
static inline void cst__prefetch(const uint8_t *data, size_t size, size_t most) {
  size_t end = size < most ? size : most;
  for (size_t at = 0; at < end; at += 64) {
    __builtin_prefetch(data + at);
  }
}

#endif /* BASE_PREFETCH_H */
