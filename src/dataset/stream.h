/* Streams: the rows of an epoch of a source that is read in order, in portions of whole batches: a
 * batch or a bucket where rows are not shuffled, else a window, out of which batches are picked.
 */
#ifndef DATASET_STREAM_H
#define DATASET_STREAM_H

#include <columnstone/array.h>

#include "dataset/dataset.h"
#include "dataset/window.h"

/* Rows [begin, begin + count) of a portion's order. One of the first three has them. */
typedef struct cst__share {
  cst__window *records;    /* not decoded yet; one more owner */
  cst_array *columns;      /* shuffled, or sorted: what the rows are picked from; one more owner */
  struct ArrowArray batch; /* neither: the rows themselves */
  uint64_t number;         /* of the window in the epoch */
  uint64_t rows;           /* of the window */
  uint64_t begin;
  uint64_t count;    /* 0: the epoch has ended before them */
  uint64_t position; /* of the window's first row, or the batch's, in the epoch */
  uint64_t file;     /* as in cst_position */
  uint64_t rows_before;
} cst__share;

void cst__share_reset(cst__share *share);

typedef struct cst__stream cst__stream;

/* The first row of an epoch that is wanted, and where reading may begin for it, as in cst_position.
 */
typedef struct cst__stream_start {
  uint64_t epoch;
  uint64_t row;
  uint64_t file;
  uint64_t rows_before;
  bool in_pieces; /* a portion is asked for piece by piece, even if it is one batch */
} cst__stream_start;

cst_status cst__stream_new(cst_dataset *dataset, const cst__stream_start *start, cst__stream **out,
                           cst_error *error);

/* Rows from `row` on, all of one portion: `most` of them, or those that are left of the portion.
 * Rows are asked for in ascending order, by one thread at a time. */
cst_status cst__stream_next(cst__stream *stream, uint64_t row, uint64_t most, cst__share *out,
                            cst_error *error);

void cst__stream_free(cst__stream *stream); /* NULL is allowed */

#endif /* DATASET_STREAM_H */
