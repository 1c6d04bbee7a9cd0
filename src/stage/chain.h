/* Stages one after another: bound once per source, opened once per thread, run batch by batch.
 */
#ifndef STAGE_CHAIN_H
#define STAGE_CHAIN_H

#include "arrow/stage.h"
#include "base/thread.h"

typedef struct cst__stage_use {
  const cst__stage *stage;
  const void *settings; /* have to outlive the chain */
} cst__stage_use;

/* Bound stages. Immutable and counted, shared by all threads. */
typedef struct cst__chain cst__chain;

/* The chain keeps nothing of `input`, the schema of the batches that come. */
cst_status cst__chain_new(const cst__stage_use *uses, size_t count, const struct ArrowSchema *input,
                          const cst_allocator *allocator, cst__chain **out, cst_error *error);
cst__chain *cst__chain_retain(cst__chain *chain); /* NULL is allowed */
void cst__chain_release(cst__chain *chain);       /* NULL is allowed */

/* The schema of the batches that go; borrowed. */
const struct ArrowSchema *cst__chain_schema(const cst__chain *chain);
/* True if all stages keep the rows. */
bool cst__chain_keeps_rows(const cst__chain *chain);

/* A chain in one thread. */
typedef struct cst__chain_run cst__chain_run;

cst_status cst__chain_open(const cst__chain *chain, cst__chain_run **out, cst_error *error);
void cst__chain_close(cst__chain_run *run); /* NULL is allowed */

/* From now on rows that stages keep with a null in them are told of, with their numbers in the
 * batch that came. */
void cst__chain_on_bad(cst__chain_run *run, cst__bad_row_callback on_bad, void *ctx);

/* Whom stages may ask about the rows of the batch that came; copied. */
void cst__chain_ask(cst__chain_run *run, const cst__row_facts *facts);

/* Puts the batch that comes out in the place of the one that came; on failure it is released. An
 * error about a row has its number in the batch that came as its record. *origin belongs to the
 * run, until its next batch. */
cst_status cst__chain_apply(cst__chain_run *run, struct ArrowArray *batch,
                            const cst__row_map **origin, cst_error *error);

/* True if a stage that refuses rows has refused one when the last call failed. */
bool cst__chain_refused(const cst__chain_run *run);

/* The same for only the stages that refuse rows, which come before all others: it fails if one of
 * them refuses a row of the batch. */
cst_status cst__chain_try(cst__chain_run *run, struct ArrowArray *batch, cst_error *error);

#endif /* STAGE_CHAIN_H */
