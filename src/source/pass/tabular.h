/* Tabular formats: tables that are built in, plug-ins and caller's streams, as one sequence of
 * batches of the source's size.
 */
#ifndef SOURCE_PASS_TABULAR_H
#define SOURCE_PASS_TABULAR_H

#include "source/input/source.h"

/* The schema of all batches. May read the input for it. For cst__source_discover, or
 * when nobody else knows the source yet. */
cst_status cst__tabular_schema(cst_source *source, struct ArrowSchema *out, cst_error *error);
void cst__tabular_free(cst__tabular *tabular);

/* One pass. */
typedef struct cst__tabular_pass cst__tabular_pass;

/* Takes the schema of the batches over, also on failure.
 * quiet: rows that are dropped are not told of, and warnings neither, because another pass will.
 * warning: where the last warning goes, instead of to the caller; NULL: to the caller. */
cst_status cst__tabular_pass_new(cst_source *source, struct ArrowSchema *schema, bool quiet,
                                 cst_error *warning, cst__tabular_pass **out, cst_error *error);
/* The next batch; out->release is NULL at the end. */
cst_status cst__tabular_pass_next(cst__tabular_pass *pass, struct ArrowArray *out,
                                  cst_error *error);
/* Bytes taken from the files, and records that were dropped. */
uint64_t cst__tabular_pass_consumed(const cst__tabular_pass *pass);
uint64_t cst__tabular_pass_dropped(const cst__tabular_pass *pass);
void cst__tabular_pass_free(cst__tabular_pass *pass);

#endif /* SOURCE_PASS_TABULAR_H */
