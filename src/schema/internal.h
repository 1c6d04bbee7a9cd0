/* What the files of this room share: the schema itself, its compilation and its checks.
 */
#ifndef SCHEMA_INTERNAL_H
#define SCHEMA_INTERNAL_H

#include <columnstone/schema.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/thread.h"
#include "proto/message.h"
#include "schema/descriptors.h"

struct cst_schema {
  cst__refcount owners;
  cst__arena arena;   /* holds all that follows, and a copy of the bytes that were parsed */
  cst__message *root; /* tensorflow.metadata.v0.Schema */
  const cst_feature *features; /* in the order of the messages; made by compile.c */
  size_t num_features;
};

/* An empty schema: a root message without fields. NULL if out of memory. */
cst_schema *cst__schema_new(void);

/* Makes the features from the finished message tree, and checks all of it. On failure the schema
 * has to be released. */
cst_status cst__schema_compile(cst_schema *schema, cst_error *error);

/* Sparse features and tensor representations refer to columns that exist, and are whole. */
cst_status cst__schema_check_references(const cst_schema *schema, cst_error *error);

/* The feature at a path from the top, or NULL. */
const cst_feature *cst__schema_feature_at(const cst_schema *schema, const cst__message *path);

/* True unless deprecated or in a lifecycle stage that keeps it out of tensors; for a Feature or a
 * SparseFeature, which have different numbers for the stage. */
bool cst__is_in_use(const cst__message *message, int32_t deprecated, int32_t stage);

/* CST_SCHEMA with the place of `message` in its text. */
cst_status cst__schema_fail(const cst__message *message, cst_error *error, const char *hint,
                            const char *fmt, ...) CST__PRINTF(4, 5);
#if defined(__clang_analyzer__)
#define cst__schema_fail(...) ((void)(cst__schema_fail)(__VA_ARGS__), CST_SCHEMA)
#endif

/* "BYTES", "INT", "FLOAT", "STRUCT", "TYPE_UNKNOWN". */
const char *cst__feature_type_name(cst_feature_type type);

/* Bytes for a "%.*s" of a message: a name, cut. */
#define NAME_ARGS(name) ((name).size < 60 ? (int)(name).size : 60), (const char *)(name).data

/* The i-th name of a repeated string, and the i-th message of a repeated message. */
static inline cst_bytes cst__nth_bytes(const cst__field *field, size_t i) {
  return field->as.many[i].bytes;
}
static inline const cst__message *cst__nth_message(const cst__field *field, size_t i) {
  return field->as.many[i].message;
}

#endif /* SCHEMA_INTERNAL_H */
