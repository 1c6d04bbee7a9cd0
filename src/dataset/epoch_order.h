/* The order of an epoch: which row stands at each position.
 */
#ifndef DATASET_EPOCH_ORDER_H
#define DATASET_EPOCH_ORDER_H

#include <columnstone/dataset.h>

#include "dataset/permutation.h"
#include "source/index/region.h"

enum { CST__MOST_PIECES = 1024 /* of a window */ };

/* A window is made of pieces, stretches of rows that lie anywhere: the more of them, the better the
 * data is mixed; the fewer, the longer the reads are. */
typedef struct cst__windows {
  uint64_t rows; /* of a window, about; at least 1 */
  uint64_t pieces;
} cst__windows;

typedef struct cst__epoch_order {
  cst_shuffle kind; /* NONE, GLOBAL or WINDOW */
  uint64_t num_rows;
  uint64_t seed;
  uint64_t epoch;
  cst__permutation rows;   /* GLOBAL */
  cst__permutation pieces; /* WINDOW: of the pieces, the short one at the end included */
  uint64_t piece;          /* rows of one */
  uint64_t of_window;      /* pieces of a window but the last */
  uint64_t short_place;    /* place of the last piece, which may be short */
  uint64_t missing;        /* rows that it has less than the others */
} cst__epoch_order;

/* The order of all rows of an epoch. num_rows is known. */
void cst__epoch_order_init(cst__epoch_order *order, cst_shuffle kind, uint64_t num_rows,
                           cst__windows windows, uint64_t seed, uint64_t epoch);

/* A window at its place of the epoch. */
typedef struct cst__placed {
  uint64_t begin;  /* its first position */
  uint64_t rows;   /* that it has */
  uint64_t number; /* of its first piece in the source, which no other window has */
  uint64_t place;  /* of that piece in the epoch */
} cst__placed;

/* The window, of an order of windows, in which a position is. */
cst__placed cst__epoch_order_window(const cst__epoch_order *order, uint64_t position);

/* The pieces of a window, in the order in which its rows are counted; returns how many. */
size_t cst__epoch_order_pieces(const cst__epoch_order *order, const cst__placed *window,
                               cst__row_range pieces[CST__MOST_PIECES]);

/* The rows at positions [begin, begin + count), which are below num_rows. */
void cst__epoch_order_rows(const cst__epoch_order *order, uint64_t begin, uint64_t count,
                           uint64_t *rows);

/* The order of `rows` rows within window number `window` of an epoch, of sources that are read in
 * order as well. */
void cst__order_of_window(cst__permutation *out, uint64_t rows, uint64_t seed, uint64_t epoch,
                          uint64_t window);

/* The order of the full batches of a bucket (buckets.h) of an epoch. */
void cst__order_of_bucket(cst__permutation *out, uint64_t batches, uint64_t seed, uint64_t epoch,
                          uint64_t bucket);

/* The order of the files, or of the windows, of an epoch. */
void cst__order_of_parts(cst__permutation *out, uint64_t parts, uint64_t seed, uint64_t epoch);

#endif /* DATASET_EPOCH_ORDER_H */
