/* Room before what is written. */
#include "arrow/records/back.h"

bool cst__back_grow(cst__back *back, size_t want) {
  cst__buffer *buffer = back->buffer;
  size_t used = buffer->data != NULL ? cst__back_used(back) : 0;
  size_t total;
  cst__buffer bigger = {NULL, 0};
  if (!cst__add(used, want, &total) || !cst__add(total, total / 2, &total) ||
      !cst__buffer_reserve(back->allocator, &bigger, total, 0)) {
    return false;
  }
  uint8_t *at = bigger.data + bigger.capacity - used;
  if (used > 0) {
    memcpy(at, back->at, used);
  }
  cst__buffer_free(back->allocator, buffer);
  *buffer = bigger;
  back->at = at;
  return true;
}
