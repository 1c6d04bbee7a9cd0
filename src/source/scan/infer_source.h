/* Inferring the schema of a source.
 */
#ifndef SOURCE_SCAN_INFER_SOURCE_H
#define SOURCE_SCAN_INFER_SOURCE_H

#include "source/input/source.h"

/* What a source that needs a schema calls: infers it from all records (*sampled: 0), or from so
 * many first ones: of a pipe, where they stay for the first pass, or because the options say so. */
cst_status cst__source_infer_needed(cst_source *source, cst_schema **out, uint64_t *sampled,
                                    cst_error *error);

/* Infers the schema of what is decoded, before all stages, and keeps it. */
cst_status cst__source_infer_decoded(cst_source *source, cst_error *error);

#endif /* SOURCE_SCAN_INFER_SOURCE_H */
