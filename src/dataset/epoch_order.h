/* The order of an epoch: which row stands at each position.
 */
#ifndef DATASET_EPOCH_ORDER_H
#define DATASET_EPOCH_ORDER_H

#include <columnstone/dataset.h>

#include "dataset/permutation.h"

typedef struct cst__epoch_order {
  cst_shuffle kind; /* NONE, GLOBAL or WINDOW */
  uint64_t num_rows;
  uint64_t window; /* rows of a window */
  uint64_t seed;
  uint64_t epoch;
  cst__permutation rows;    /* GLOBAL */
  cst__permutation windows; /* WINDOW: of the windows, the short one at the end included */
  uint64_t short_place;     /* place of the last window, which may be short */
} cst__epoch_order;

/* The order of all rows of an epoch. num_rows is known. */
void cst__epoch_order_init(cst__epoch_order *order, cst_shuffle kind, uint64_t num_rows,
                           uint64_t window, uint64_t seed, uint64_t epoch);

/* A window at its place of the epoch. */
typedef struct cst__placed {
  uint64_t begin;  /* its first position */
  uint64_t rows;   /* that it has */
  uint64_t number; /* of the window in the source */
} cst__placed;

/* The window, of an order of windows, in which a position is. */
cst__placed cst__epoch_order_window(const cst__epoch_order *order, uint64_t position);

/* The rows at positions [begin, begin + count), which are below num_rows. */
void cst__epoch_order_rows(const cst__epoch_order *order, uint64_t begin, uint64_t count,
                           uint64_t *rows);

/* The order of `rows` rows within window number `window` of an epoch, of sources that are read in
 * order as well. */
void cst__order_of_window(cst__permutation *out, uint64_t rows, uint64_t seed, uint64_t epoch,
                          uint64_t window);

/* The order of the files, or of the windows, of an epoch. */
void cst__order_of_parts(cst__permutation *out, uint64_t parts, uint64_t seed, uint64_t epoch);

#endif /* DATASET_EPOCH_ORDER_H */
