/* .proto files to descriptor sets, by protoc, or by that of grpcio-tools. */
#ifndef IO_PROTOC_H
#define IO_PROTOC_H

#include <columnstone/status.h>

#include "base/alloc.h"

/* The file and what it imports from its own folder, as the bytes of a FileDescriptorSet. *out:
 * cst__delete. CST_UNSUPPORTED: there is no compiler; CST_SCHEMA: it cannot read the file, with its
 * words. Errors have the file's name. */
cst_status cst__protoc_compile(const char *path, const cst_allocator *allocator, uint8_t **out,
                               size_t *size, cst_error *error);

#endif /* IO_PROTOC_H */
