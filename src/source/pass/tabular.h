/* Tabular formats: tables that are built in, plug-ins and caller's streams, as one sequence of
 * batches of the source's size.
 */
#ifndef SOURCE_PASS_TABULAR_H
#define SOURCE_PASS_TABULAR_H

#include "arrow/accumulator.h"
#include "source/input/source.h"

/* The schema of all batches. May read the input for it. For cst__source_discover, or
 * when nobody else knows the source yet. */
cst_status cst__tabular_schema(cst_source *source, struct ArrowSchema *out, cst_error *error);
void cst__tabular_free(cst__tabular *tabular);

/* One pass. */
typedef struct cst__tabular_pass cst__tabular_pass;

typedef struct cst__tabular_options {
  bool quiet;               /* rows that are dropped are not told of, because another pass will */
  const cst__chain *stages; /* that batches go through; NULL: none */
  cst_error
      *warning; /* where the last warning goes, instead of to the caller; NULL: to the caller */
} cst__tabular_options;

/* Takes the schema of what is delivered over, also on failure. The plan has been made. */
cst_status cst__tabular_pass_new(cst_source *source, struct ArrowSchema *schema,
                                 const cst__tabular_options *options, cst__tabular_pass **out,
                                 cst_error *error);
/* The next batch; out->release is NULL at the end. */
cst_status cst__tabular_pass_next(cst__tabular_pass *pass, struct ArrowArray *out,
                                  cst_error *error);
/* Bytes taken from the files, and records that were dropped. */
uint64_t cst__tabular_pass_consumed(const cst__tabular_pass *pass);
uint64_t cst__tabular_pass_dropped(const cst__tabular_pass *pass);
/* The place of a row of the batch delivered last, whose first one was number `first_row` of those
 * that were delivered: in the only file, else within the pass. */
cst__place cst__tabular_pass_place(const cst__tabular_pass *pass, uint64_t first_row, size_t row);
void cst__tabular_pass_free(cst__tabular_pass *pass);

#endif /* SOURCE_PASS_TABULAR_H */
