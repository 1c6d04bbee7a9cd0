/* Mixing: the batches of an epoch of a mix, made of rows of its datasets.
 *
 * Any maker finds out which rows a batch has (schedule.h) and takes those of direct datasets; those
 * that are read in order are read in turns, batch by batch. Rows are put together in the order in
 * which they were dealt out.
 */
#ifndef DATASET_MIXING_H
#define DATASET_MIXING_H

#include "dataset/maker.h"

typedef struct cst__mixing cst__mixing;

/* `epoch`: of the mix, whose rows are counted; borrowed. */
cst_status cst__mixing_new(const cst__epoch *epoch, cst__mixing **out, cst_error *error);
void cst__mixing_free(cst__mixing *mixing); /* NULL is allowed */

/* True if some of the datasets are read in order. */
bool cst__mixing_reads(const cst__mixing *mixing);

/* Rows of the mix, and where they come from; made and used by one thread. */
typedef struct cst__mixed_rows cst__mixed_rows;

/* Rows [begin, begin + count) of the epoch, which has them. */
cst_status cst__mixed_rows_new(const cst__mixing *mixing, uint64_t begin, size_t count,
                               cst__mixed_rows **out, cst_error *error);
void cst__mixed_rows_free(cst__mixed_rows *rows); /* NULL is allowed */

/* Reads those that are read in order: for all batches in ascending order, by one thread at a time.
 */
cst_status cst__mixing_read(cst__mixing *mixing, cst__mixed_rows *rows, cst_error *error);

/* Makes the batch; out->position is the caller's. `makers`: one for each dataset. */
cst_status cst__mixing_make(const cst__mixing *mixing, cst__mixed_rows *rows, cst__maker *makers,
                            cst__made_batch *out, cst_error *error);

#endif /* DATASET_MIXING_H */
