/* The Arrow schema of a source's batches.
 */
#ifndef SOURCE_PASS_ARROW_SCHEMA_H
#define SOURCE_PASS_ARROW_SCHEMA_H

#include "source/input/source.h"

/* As cst_source_arrow_schema. */
cst_status cst__source_arrow_schema(cst_source *source, struct ArrowSchema *out, cst_error *error);

#endif /* SOURCE_PASS_ARROW_SCHEMA_H */
