/* How a descriptor set is made: its files are read as trees (descriptor_files.c), all messages and
 * enums in them are declared by name (descriptor_types.c), and then the fields are made, which may
 * name any of them (descriptor_fields.c). What files import does not count, except that it brings
 * in the files that are built in.
 */
#ifndef PROTO_DESCRIPTOR_BUILD_H
#define PROTO_DESCRIPTOR_BUILD_H

#include <columnstone/message.h>

#include "base/hash.h"
#include "base/thread.h"
#include "proto/features.h"
#include "proto/message.h"

enum {
  CST__FULL_NAME_LIMIT = 1024
}; /* bytes; nested names would grow with the square of the input */

typedef struct cst__set_draft cst__set_draft;

/* A message of the set. */
typedef struct cst__set_message cst__set_message;
struct cst__set_message {
  cst__message_def def;          /* first: a pointer to it is one to this */
  const cst__set_message *outer; /* NULL: it stands in the file itself */
  int32_t index;                 /* among the messages of `outer`, or of the file */
  bool is_held;                  /* a message outside of its outermost one has it as a field */
  cst__set_draft *draft;         /* only while the set is made */
};

/* What a full name means: one of the two. */
typedef struct cst__set_type {
  cst__set_message *message;
  cst__enum_def *values;
} cst__set_type;

struct cst_descriptors {
  cst__refcount owners;
  cst__arena arena;
  cst__name_map names; /* full names to indexes of `types` */
  cst__set_type *types;
  size_t num_types, types_capacity;
  cst_bytes given;                 /* what it was made of, a copy */
  const cst__set_message **listed; /* as cst_descriptors_message has them */
  size_t num_listed, listed_capacity;
};

/* ---- while it is made; all in the builder's scratch arena ---- */

typedef struct cst__set_file {
  const char *name;
  cst_bytes bytes; /* serialized */
  const cst__message *proto;
  cst__features features;
  const char *missing_import; /* the first one that is nowhere; NULL: none */
  bool is_built_in;           /* it is not in the given bytes */
  bool is_known;              /* it has the name of a file that is built in */
} cst__set_file;

/* An extension, and where it stands. */
typedef struct cst__set_extension cst__set_extension;
struct cst__set_extension {
  const cst__message *proto;
  const cst__set_file *file;
  const char *scope; /* the full name of the message or package around it */
  cst__features features;
  cst__set_extension *next; /* of the whole set, then of the same extended message */
};

/* A message without its fields. */
struct cst__set_draft {
  cst__set_message *message;
  const cst__message *proto;
  const cst__set_file *file;
  cst__features features;
  cst__set_extension *extensions, **last_extension;
  size_t num_extensions;
  cst__set_draft *next;
};

typedef struct cst__set_builder {
  cst_descriptors *set;
  cst__arena scratch;
  cst__name_map file_names; /* to indexes of `files` */
  cst__set_file **files;
  size_t num_files, files_capacity;
  /* Files that come with protobuf are not what a set is made for, unless nothing else is in it. */
  bool has_known_files_only;
  cst__set_draft *drafts, **last_draft;
  cst__set_extension *extensions, **last_extension;
  cst_error *error;
} cst__set_builder;

/* The files that the bytes hold, and those that are built in and that one of them imports. */
cst_status cst__set_read_files(cst__set_builder *builder, cst_bytes bytes);

/* All messages and enums of the files by name, messages without fields. */
cst_status cst__set_declare_types(cst__set_builder *builder);

/* The fields of all messages. */
cst_status cst__set_make_fields(cst__set_builder *builder);

/* Puts the default of the descriptor's text into the field, whose type is known. False: the text is
 * no value of the type, or out of memory (*status). */
cst_status cst__field_parse_default(cst__arena *arena, cst__field_def *field, cst_bytes text,
                                    cst_error *error);

/* CST_SCHEMA with a full name as path: `scope` "." `name` (either may be empty). */
cst_status cst__set_fail(cst__set_builder *builder, const char *scope, cst_bytes name,
                         const char *hint, const char *fmt, ...) CST__PRINTF(5, 6);

#if defined(__clang_analyzer__)
/* As for cst__fail: the analyzer has to be told that this is never CST_OK. */
#define cst__set_fail(builder, ...) ((void)(cst__set_fail)(builder, __VA_ARGS__), CST_SCHEMA)
#endif

/* lowerCamelCase, as protobuf makes it where a descriptor does not say; `out` has room for the name
 * and a NUL. */
void cst__put_json_name(char *out, cst_bytes name);

/* A letter or underscore, then those and digits. */
bool cst__is_identifier(cst_bytes name);

/* `scope` "." `name` in the set's arena; fails if it is no name or too long. */
cst_status cst__set_full_name(cst__set_builder *builder, const char *scope, cst_bytes name,
                              const char **out);

static inline cst_status cst__set_no_memory(cst__set_builder *builder) {
  return cst__fail_memory(builder->error, sizeof(cst__set_message));
}

/* What a full name means; NULL: nothing. */
const cst__set_type *cst__set_find_type(const cst_descriptors *set, const char *name, size_t size);

#endif /* PROTO_DESCRIPTOR_BUILD_H */
