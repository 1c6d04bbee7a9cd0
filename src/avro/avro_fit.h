/* Writing by a schema that is given: what of it each column becomes. */
#ifndef AVRO_AVRO_FIT_H
#define AVRO_AVRO_FIT_H

#include "arrow/type.h"
#include "avro/avro_put.h"
#include "avro/avro_schema.h"

/* The tree that writes columns of the type as values of the schema, in the arena. The schema is
 * borrowed. CST_SCHEMA with the path for a column that the schema does not have, a field without a
 * column and a default, and columns whose type does not fit theirs. *maps: of symbols, for the
 * caller to reset, also after a failure; each has the one before it. */
typedef struct cst__avro_symbols cst__avro_symbols;
struct cst__avro_symbols {
  cst__name_map map;
  const cst__avro_type *type;
  cst__avro_symbols *before;
};

cst_status cst__avro_fit(const cst__type *columns, const cst__avro_schema *schema,
                         cst__arena *arena, cst__avro_symbols **maps, cst__avro_put *root,
                         cst_error *error);
void cst__avro_symbols_reset(cst__avro_symbols *maps);

#endif /* AVRO_AVRO_FIT_H */
