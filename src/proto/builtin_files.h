/* The files of google/protobuf and google/type that descriptor sets need not bring. */
#ifndef PROTO_BUILTIN_FILES_H
#define PROTO_BUILTIN_FILES_H

#include <columnstone/status.h>

typedef struct cst__builtin_file {
  const char *name;
  cst_bytes bytes; /* a serialized FileDescriptorProto */
} cst__builtin_file;

/* NULL if there is none of this name. */
const cst__builtin_file *cst__builtin_file_find(cst_bytes name);

#endif /* PROTO_BUILTIN_FILES_H */
