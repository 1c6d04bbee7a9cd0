/* Bytes as a message in the text format, by the types of a set. */
#include "record_feed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  feed_record(CST_MESSAGE_TEXT, data, size);
  return 0;
}
