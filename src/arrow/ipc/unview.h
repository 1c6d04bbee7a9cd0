/* Columns of view types as columns of the types that everybody reads: binary_view as large_binary,
 * string_view as large_string, list views as lists.
 */
#ifndef ARROW_IPC_UNVIEW_H
#define ARROW_IPC_UNVIEW_H

#include <columnstone/arrow_abi.h>
#include <columnstone/status.h>

#include "base/alloc.h"

/* True if the type, or one below it, is a view type. */
bool cst__schema_has_views(const struct ArrowSchema *schema);

/* Replaces view types at any depth, in a schema that nanoarrow made (cst__schema_copy does). */
cst_status cst__schema_drop_views(struct ArrowSchema *schema, cst_error *error);

/* The same for a valid array that cst__concat made, of the schema as it was. CST_LIMIT, with the
 * path, if lists that shared their items have too many of them now. On failure the array is to be
 * released and nothing else. */
cst_status cst__array_drop_views(const struct ArrowSchema *schema, const cst_allocator *allocator,
                                 struct ArrowArray *array, cst_error *error);

#endif /* ARROW_IPC_UNVIEW_H */
