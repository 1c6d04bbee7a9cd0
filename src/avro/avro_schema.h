/* Schemas of Avro: their JSON text as a graph of types.
 *
 * Types are shared and may lead back to themselves; a schema owns all of them and is not changed
 * once it is made.
 *
 * Source: Apache Avro 1.12 Specification.
 */
#ifndef AVRO_AVRO_SCHEMA_H
#define AVRO_AVRO_SCHEMA_H

#include "text/json_document.h"

typedef enum cst__avro_kind {
  CST__AVRO_NULL,
  CST__AVRO_BOOLEAN,
  CST__AVRO_INT,
  CST__AVRO_LONG,
  CST__AVRO_FLOAT,
  CST__AVRO_DOUBLE,
  CST__AVRO_BYTES,
  CST__AVRO_STRING,
  CST__AVRO_RECORD,
  CST__AVRO_ENUM,
  CST__AVRO_FIXED,
  CST__AVRO_ARRAY,
  CST__AVRO_MAP,
  CST__AVRO_UNION
} cst__avro_kind;

enum { CST__AVRO_PRIMITIVES = CST__AVRO_STRING + 1, CST__AVRO_KINDS = CST__AVRO_UNION + 1 };

/* What a value means besides. One that is unknown, or does not fit its type, counts for nothing. */
typedef enum cst__avro_logical {
  CST__AVRO_PLAIN,
  CST__AVRO_DECIMAL,
  CST__AVRO_DATE,
  CST__AVRO_TIME_MILLIS,
  CST__AVRO_TIME_MICROS,
  CST__AVRO_TIMESTAMP_MILLIS,
  CST__AVRO_TIMESTAMP_MICROS,
  CST__AVRO_TIMESTAMP_NANOS,
  CST__AVRO_LOCAL_MILLIS,
  CST__AVRO_LOCAL_MICROS,
  CST__AVRO_LOCAL_NANOS,
  CST__AVRO_DURATION,
  CST__AVRO_UUID
} cst__avro_logical;

typedef struct cst__avro_type cst__avro_type;

typedef struct cst__avro_names {
  const char **items;
  size_t count;
} cst__avro_names;

typedef struct cst__avro_field {
  const char *name;
  cst__avro_names aliases;
  const cst__avro_type *type;
  yyjson_val *standard; /* its default; NULL: it has none */
} cst__avro_field;

struct cst__avro_type {
  cst__avro_kind kind;
  cst__avro_logical logical;
  const char *name;        /* full, of RECORD, ENUM and FIXED; else that of the kind */
  cst__avro_names aliases; /* full */
  cst__avro_field *fields; /* RECORD */
  size_t num_fields;
  cst__avro_names symbols;         /* ENUM */
  size_t standard;                 /* ENUM: its default symbol; SIZE_MAX: it has none */
  const cst__avro_type *items;     /* ARRAY; MAP: of its values */
  const cst__avro_type **branches; /* UNION */
  size_t num_branches;
  size_t size;              /* FIXED */
  int32_t precision, scale; /* DECIMAL */
  uint8_t visit;            /* of the search for records without an end */
};

typedef struct cst__avro_schema {
  cst__arena arena;
  cst__json_document document; /* that defaults lie in, unless it is of somebody's JSON */
  const cst__avro_type *root;
  size_t num_types;
} cst__avro_schema;

enum {
  CST__AVRO_MAX_SCHEMA = 16 << 20, /* bytes of its text */
  CST__AVRO_MAX_DEPTH = 100,       /* of types within types */
  CST__AVRO_MAX_TYPES = 200000
};

/* Reads a schema, which is the caller's to reset, also after a failure. CST_SCHEMA, with the place
 * in the schema as the path, for what the specification forbids; CST_LIMIT for one that is too
 * large or too deep. */
cst_status cst__avro_schema_parse(cst__avro_schema *schema, cst_bytes text,
                                  const cst_allocator *allocator, cst_error *error);
/* The same of JSON that is parsed, and that defaults lie in: it outlives the schema. */
cst_status cst__avro_schema_of_json(cst__avro_schema *schema, yyjson_val *root,
                                    const cst_allocator *allocator, cst_error *error);
void cst__avro_schema_reset(cst__avro_schema *schema);

/* A full name without its namespace. */
const char *cst__avro_short_name(const char *name);

/* The branch that is null, of a union of null and one other type: SIZE_MAX for all others. */
size_t cst__avro_null_branch(const cst__avro_type *type);

/* "int", "record", ...: as schemas have them. */
const char *cst__avro_kind_name(cst__avro_kind kind);

/* Appends a default as the bytes of a value of this type. CST_SCHEMA for one that is none. */
cst_status cst__avro_default_bytes(const cst__avro_type *type, yyjson_val *value, cst__text *out,
                                   cst_error *error);

#endif /* AVRO_AVRO_SCHEMA_H */
