/* The type that holds the values of several types.
 */
#ifndef TABLE_PROMOTE_H
#define TABLE_PROMOTE_H

#include <columnstone/arrow_abi.h>

#include "arrow/view.h"

/* What is known of the types that are put together at one place. Zero-initialised storage. */
typedef struct cst__merged cst__merged;

/* Adds a type: at first the tree is NULL. Rules: cst_array_concat of <columnstone/array.h>. The
 * view is of that schema; both must outlive the tree, as the arena does, which holds it. CST_SCHEMA
 * with the path and both types; CST_INVALID_ARGUMENT for two fields of one name. */
cst_status cst__merge_type(cst__merged **tree, const struct ArrowSchema *schema,
                           const cst__view *view, cst__arena *arena, cst_error *error);

/* The type of all that was added, which borrows from tree, schemas and arena. A field is nullable
 * if one was, or if a struct did not have it. Metadata stays where a type does. */
cst_status cst__merge_finish(const cst__merged *tree, cst__arena *arena, struct ArrowSchema *out,
                             cst_error *error);

/* Releases what lies outside of the arena; also after a failure. */
void cst__merge_free(cst__merged *tree);

#endif /* TABLE_PROMOTE_H */
