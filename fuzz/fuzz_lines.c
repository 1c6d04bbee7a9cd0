/* The container of lines: in whole and in pieces, and what is written of it read again. */
#include "container_feed.h"

enum { MOST_BYTES = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static uint8_t room[MOST_BYTES * 12];
  feed_container(&cst__lines_container, data, size < MOST_BYTES ? size : MOST_BYTES, room);
  return 0;
}
