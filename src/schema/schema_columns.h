/* Schemas of tables: the columns are the data's, the types are those that a schema wants.
 */
#ifndef SCHEMA_SCHEMA_COLUMNS_H
#define SCHEMA_SCHEMA_COLUMNS_H

#include <columnstone/arrow_abi.h>

#include "schema/schema.h"

/* One feature per column, with the type that `schema` gives it, or else the column's own (a list's
 * items'). *out is NULL if there is a struct among them, which has no short form. */
cst_status cst__schema_for_columns(const struct ArrowSchema *columns, const cst_schema *schema,
                                   cst_schema **out, cst_error *error);

/* The tensors of batches with these columns, which a stage may have made: of `specs` (those of the
 * schema) the ones whose columns are there, where a list of one that has become a value makes a
 * scalar; and for columns that the schema does not have, or has in another type, what their own
 * types say: structs, and lists of them, are structured tensors. CST_UNSUPPORTED, with the path,
 * for types that no tensor has. schema and specs may be NULL. *out: cst_specs_release. */
cst_status cst__specs_for_columns(const cst_schema *schema, const cst_specs *specs,
                                  const struct ArrowSchema *columns, cst_specs **out,
                                  cst_error *error);

/* True if a column has nested values that no feature can be: only its type says what it is as a
 * tensor. */
bool cst__columns_are_nested(const struct ArrowSchema *columns);

#endif /* SCHEMA_SCHEMA_COLUMNS_H */
