/* What a schema becomes as columns: a tree of Arrow types, and beside it what Avro says of each.
 *
 * A record is a struct, and that of the top is the columns; a top that is no record is one column
 * "value". A union of null and another type is that type, nullable; of several types it is a struct
 * with a child for each, of which one is set. A record within itself, deeper than is asked for, is
 * the bytes of its encoding. docs/avro.md has the table.
 */
#ifndef AVRO_AVRO_COLUMNS_H
#define AVRO_AVRO_COLUMNS_H

#include "arrow/records/wanted.h"
#include "arrow/type.h"
#include "avro/avro_schema.h"

#define CST__AVRO_VALUE_COLUMN "value"

/* One of the tree; its children are those of the Arrow type, in their order. */
typedef struct cst__avro_column cst__avro_column;
struct cst__avro_column {
  const cst__avro_type *type; /* of values that are not null; UNION: of several such types; NULL:
                                 the entries of a map, or the top around a value */
  cst__avro_column *children;
  size_t num_children;
  size_t member; /* the field of the record, or the branch of the union, or key or value (0, 1) */
  bool is_nullable; /* null is among the types of a union */
  bool is_bytes;    /* of a record that stands too deep within itself */
};

typedef struct cst__avro_columns {
  cst__arena arena;
  cst__type arrow;
  cst__avro_column top;
} cst__avro_columns;

/* What enums become, in the order of the words of avro_enums. */
typedef enum cst__avro_enums {
  CST__AVRO_ENUMS_DICTIONARY,
  CST__AVRO_ENUMS_TEXT,
  CST__AVRO_ENUMS_NUMBER,
  CST__AVRO_ENUMS_BINARY
} cst__avro_enums;

typedef struct cst__avro_column_options {
  const char *const *columns; /* paths of the wanted ones; NULL: all */
  size_t num_columns;
  uint32_t column_flags; /* CST_COLUMNS_... */
  cst__avro_enums enums;
  int32_t recursion; /* times that a record stands within itself; 0: the usual, -1: none */
} cst__avro_column_options;

enum { CST__AVRO_RECURSION = 2 /* the usual */, CST__AVRO_MOST_RECURSION = 100 };

/* The schema is borrowed. The columns are the caller's to reset, also after a failure.
 * CST_NOT_FOUND with the path for one that there is not; CST_LIMIT for too many. */
cst_status cst__avro_columns_init(cst__avro_columns *columns, const cst__avro_schema *schema,
                                  const cst__avro_column_options *options,
                                  const cst_allocator *allocator, cst_error *error);
void cst__avro_columns_reset(cst__avro_columns *columns);

/* The child of a branch is called as its type, without a namespace if no other one is called so. A
 * name that is made lies in the arena. */
cst_status cst__avro_branch_name(const cst__avro_type *type, size_t branch, cst__arena *arena,
                                 const char **out, cst_error *error);

#endif /* AVRO_AVRO_COLUMNS_H */
