/* What a message type looks like: tables that the parsers, printers and writers are driven by. They
 * may be static (the TFMD schema) or made at run time.
 */
#ifndef PROTO_DESCRIPTOR_H
#define PROTO_DESCRIPTOR_H

#include <columnstone/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers of FieldDescriptorProto.Type. */
typedef enum cst__field_type {
  CST__FIELD_DOUBLE = 1,
  CST__FIELD_FLOAT = 2,
  CST__FIELD_INT64 = 3,
  CST__FIELD_UINT64 = 4,
  CST__FIELD_INT32 = 5,
  CST__FIELD_FIXED64 = 6,
  CST__FIELD_FIXED32 = 7,
  CST__FIELD_BOOL = 8,
  CST__FIELD_STRING = 9,
  CST__FIELD_GROUP = 10,
  CST__FIELD_MESSAGE = 11,
  CST__FIELD_BYTES = 12,
  CST__FIELD_UINT32 = 13,
  CST__FIELD_ENUM = 14,
  CST__FIELD_SFIXED32 = 15,
  CST__FIELD_SFIXED64 = 16,
  CST__FIELD_SINT32 = 17,
  CST__FIELD_SINT64 = 18
} cst__field_type;

typedef struct cst__enum_value {
  const char *name;
  int32_t number;
} cst__enum_value;

typedef struct cst__enum_def {
  const char *full_name;
  const cst__enum_value *values;
  size_t num_values;
  bool is_open; /* proto3: any number will do; closed (proto2): others are unknown fields */

  /* Indexes of `values` by number (the first of aliases first) and by name; NULL: not made. */
  const uint32_t *by_number;
  const uint32_t *by_name;
} cst__enum_def;

typedef struct cst__message_def cst__message_def;

/* Flags of a field. */
enum {
  CST__FIELD_REPEATED = 1 << 0,
  CST__FIELD_PACKED = 1 << 1,   /* written packed; both forms are read */
  CST__FIELD_IMPLICIT = 1 << 2, /* proto3 without `optional`: the zero value counts as unset */
  CST__FIELD_UTF8 = 1 << 3,     /* proto3: a STRING that is not UTF-8 is malformed */
  CST__FIELD_REQUIRED = 1 << 4, /* proto2 */
  CST__FIELD_EXTENSION = 1 << 5 /* its name is the full one, without parentheses */
};

/* What an absent field counts as, where that is not zero or empty. */
typedef struct cst__field_default {
  uint64_t bits; /* as the member of cst__value (message.h) that the type means */
  cst_bytes bytes;
} cst__field_default;

typedef struct cst__field_def {
  const char *name;
  int32_t number;
  uint8_t type; /* cst__field_type */
  uint8_t flags;
  uint16_t oneof;                  /* 1-based index into the message's oneofs; 0: none */
  const cst__message_def *message; /* GROUP, MESSAGE */
  const cst__enum_def *values;     /* ENUM */

  /* Only where descriptors were read (descriptor_set.h). */
  const char *json_name;                   /* NULL: the name */
  const cst__field_default *default_value; /* NULL: zero, or empty */
  uint32_t place; /* among the fields of the message as declared; extensions come last */
} cst__field_def;

struct cst__message_def {
  const char *full_name;
  const cst__field_def *fields; /* sorted by number, extensions among them */
  size_t num_fields;
  const char *const *oneofs; /* names */
  size_t num_oneofs;
  bool is_map_entry; /* fields 1 (key) and 2 (value) */

  /* Only where descriptors were read. */
  bool is_message_set;     /* its extensions are written in a form of their own, which nothing here
                              reads: its bytes are unknown fields */
  size_t num_extensions;   /* of the fields */
  const uint32_t *by_name; /* indexes of `fields` by name, extensions after the others */
};

static inline bool cst__field_is_repeated(const cst__field_def *field) {
  return (field->flags & CST__FIELD_REPEATED) != 0;
}
static inline bool cst__field_is_message(const cst__field_def *field) {
  return field->type == CST__FIELD_MESSAGE || field->type == CST__FIELD_GROUP;
}

/* Its name in JSON. */
static inline const char *cst__field_json_name(const cst__field_def *field) {
  return field->json_name != NULL ? field->json_name : field->name;
}

/* NULL if there is none. Extensions have a way of their own: outside of packages their names may be
 * those of fields. */
const cst__field_def *cst__field_by_number(const cst__message_def *message, int64_t number);
const cst__field_def *cst__field_by_name(const cst__message_def *message, const char *name,
                                         size_t size);
const cst__field_def *cst__extension_by_name(const cst__message_def *message, const char *full_name,
                                             size_t size);
/* "bytes", "int64", "Feature": for messages. */
const char *cst__field_type_name(const cst__field_def *field);
/* The name that a group has in the text format: that of its type, which stands where the field
 * does and is named as it is. NULL for all other fields. */
const char *cst__group_name(const cst__message_def *message, const cst__field_def *field);
const cst__enum_value *cst__enum_by_number(const cst__enum_def *values, int64_t number);
const cst__enum_value *cst__enum_by_name(const cst__enum_def *values, const char *name,
                                         size_t size);

#endif /* PROTO_DESCRIPTOR_H */
