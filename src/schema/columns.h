/* Schemas of tables: the columns are the data's, the types are those that a schema wants.
 */
#ifndef SCHEMA_COLUMNS_H
#define SCHEMA_COLUMNS_H

#include <columnstone/arrow_abi.h>

#include "schema/schema.h"

/* One feature per column, with the type that `schema` gives it, or else the column's own (a list's
 * items'). *out is NULL if there is a struct among them, which has no short form. */
cst_status cst__schema_for_columns(const struct ArrowSchema *columns, const cst_schema *schema,
                                   cst_schema **out, cst_error *error);

#endif /* SCHEMA_COLUMNS_H */
