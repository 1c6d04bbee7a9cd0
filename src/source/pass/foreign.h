/* The streams of a plug-in (Parquet, ...) or of the caller, one file after the other: batches of
 * any size, validated.
 */
#ifndef SOURCE_PASS_FOREIGN_H
#define SOURCE_PASS_FOREIGN_H

#include "source/input/source.h"

typedef struct cst__foreign cst__foreign;

cst_status cst__foreign_new(const cst_source *source, cst__foreign **out, cst_error *error);
void cst__foreign_free(cst__foreign *foreign);

/* The next batch; out->release is NULL at the end. All files must have the same schema. */
cst_status cst__foreign_next(cst__foreign *foreign, struct ArrowArray *out, cst_error *error);

/* Bytes of the files that are read wholly. */
uint64_t cst__foreign_consumed(const cst__foreign *foreign);

/* The schema of the first file. */
cst_status cst__foreign_schema(const cst_source *source, struct ArrowSchema *out, cst_error *error);

#endif /* SOURCE_PASS_FOREIGN_H */
