/* The Arrow schemas of a source, and its stages.
 */
#ifndef SOURCE_PASS_ARROW_SCHEMA_H
#define SOURCE_PASS_ARROW_SCHEMA_H

#include "source/input/source.h"

/* Of what is decoded, before all stages. */
cst_status cst__source_decoded_schema(cst_source *source, struct ArrowSchema *out,
                                      cst_error *error);

/* Takes the columns of offsets and ids, which are no features, out of the schema of what is
 * delivered. *places (NULL: nobody asks): of the columns that stay, for batches; NULL: all do.
 * cst__delete. */
cst_status cst__source_leave_beside_out(const cst_source *source, struct ArrowSchema *schema,
                                        int64_t **places, cst_error *error);

/* Binds the stages, if there are any and they are not bound yet; may read the input for it. To be
 * called before cst__source_bound_chain. */
cst_status cst__source_bind(cst_source *source, cst_error *error);

/* Finds, without reading, what is wrong with a column of messages and the paths into it. */
cst_status cst__source_check_messages(const cst_source *source, cst_error *error);

#endif /* SOURCE_PASS_ARROW_SCHEMA_H */
