/* <columnstone/message.h>, message types: argument checks. */
#include <columnstone/message.h>

#include "api/arguments.h"
#include "proto/descriptor_set.h"

cst_status cst_descriptors_new(const void *bytes, size_t size, const cst_allocator *allocator,
                               cst_descriptors **out, cst_error *error) {
  CST__CLEAR(out);
  if (out == NULL) {
    return cst__missing("out", error);
  }
  if (bytes == NULL && size > 0) {
    return cst__missing("bytes", error);
  }
  CST__TRY(cst__check_allocator(allocator, error));
  return cst__descriptors_new((cst_bytes){bytes, size}, allocator, out, error);
}

cst_descriptors *cst_descriptors_retain(const cst_descriptors *descriptors) {
  return cst__descriptors_retain(descriptors);
}

void cst_descriptors_release(cst_descriptors *descriptors) {
  cst__descriptors_release(descriptors);
}

size_t cst_descriptors_num_messages(const cst_descriptors *descriptors) {
  return descriptors != NULL ? cst__descriptors_num_messages(descriptors) : 0;
}

const char *cst_descriptors_message(const cst_descriptors *descriptors, size_t i) {
  const cst__message_def *message =
      descriptors != NULL ? cst__descriptors_message(descriptors, i) : NULL;
  return message != NULL ? message->full_name : NULL;
}
