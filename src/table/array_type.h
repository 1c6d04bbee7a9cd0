/* The type of an array: a schema that is never changed, counted and shared by all arrays that have
 * it, or a part of it.
 */
#ifndef TABLE_ARRAY_TYPE_H
#define TABLE_ARRAY_TYPE_H

#include <columnstone/arrow_abi.h>
#include <columnstone/status.h>

#include "base/alloc.h"
#include "base/thread.h"

typedef struct cst__array_type {
  cst__refcount owners;
  cst__arena arena; /* holds all of it, this struct too */
  struct ArrowSchema schema;
  bool has_dictionary; /* it, or one below it, is dictionary-encoded */
} cst__array_type;

/* Copies a schema, metadata and dictionaries included. Fails as
 * cst__schema_check_whole does. */
cst_status cst__array_type_new(const struct ArrowSchema *schema, const cst_allocator *allocator,
                               cst__array_type **out, cst_error *error);
cst__array_type *cst__array_type_retain(cst__array_type *type);
void cst__array_type_release(cst__array_type *type); /* NULL is allowed */

/* A nullable field without metadata that borrows all it points to: from such fields, and from parts
 * of other types, a schema is put together that cst__array_type_new then copies. */
struct ArrowSchema cst__array_type_field(const char *format, const char *name,
                                         const struct ArrowSchema *const *children,
                                         int64_t num_children);

#endif /* TABLE_ARRAY_TYPE_H */
