/* <columnstone/message.h>, message types: argument checks. */
#include <columnstone/message.h>

#include "base/arguments.h"
#include "io/protoc.h"
#include "message/message_guess.h"
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

cst_status cst_descriptors_compile(const char *path, const cst_allocator *allocator,
                                   cst_descriptors **out, cst_error *error) {
  CST__CLEAR(out);
  if (path == NULL || out == NULL) {
    return cst__missing(out == NULL ? "out" : "path", error);
  }
  CST__TRY(cst__check_allocator(allocator, error));
  cst_bytes set;
  uint8_t *bytes;
  CST__TRY(cst__protoc_compile(path, allocator, &bytes, &set.size, error));
  set.data = bytes;
  cst_status status = cst__descriptors_new(set, allocator, out, error);
  cst__delete(bytes);
  return status;
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

cst_status cst_descriptors_find(const cst_descriptors *descriptors, const char *message,
                                const char **out, cst_error *error) {
  CST__CLEAR(out);
  if (descriptors == NULL || out == NULL) {
    return cst__missing(out == NULL ? "out" : "descriptors", error);
  }
  const cst__message_def *found;
  CST__TRY(cst__descriptors_need(descriptors, message, &found, error));
  *out = found->full_name;
  return CST_OK;
}

cst_status cst_descriptors_guess(const cst_descriptors *descriptors, const cst_bytes *records,
                                 size_t count, cst_message_guess *out, size_t *num_out,
                                 cst_error *error) {
  size_t room = num_out != NULL ? *num_out : 0;
  CST__CLEAR(num_out);
  if (descriptors == NULL || num_out == NULL) {
    return cst__missing(descriptors == NULL ? "descriptors" : "num_out", error);
  }
  if ((records == NULL && count > 0) || (out == NULL && room > 0)) {
    return cst__missing(out == NULL && room > 0 ? "out" : "records", error);
  }
  cst_status status = cst__message_guess(descriptors, records, count, out, &room, error);
  *num_out = status == CST_OK ? room : 0;
  return status;
}
