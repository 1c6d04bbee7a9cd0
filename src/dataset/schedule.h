/* Schedules: which of several datasets each row of a mixed epoch is of.
 *
 * The rows are dealt out as seats are by the method of Webster (Sainte-Lague): the next row is of
 * the dataset for which (2 t + 1) / share is smallest, where t is the number of rows that it has
 * given, the first one of equals. So every stretch has the shares, to about a row, and how many
 * rows each dataset has given before some row is known at once, without dealing out those before
 * it.
 *
 * Source: M. Balinski, H. P. Young, "Fair Representation" (1982), divisor methods.
 */
#ifndef DATASET_SCHEDULE_H
#define DATASET_SCHEDULE_H

#include <columnstone/dataset.h>

enum { CST__MOST_MIXED = 1024 /* datasets */ };

/* A dataset of a schedule. */
typedef struct cst__mixed_part {
  uint64_t share; /* 1 to 2^40, of the sum of all */
  uint64_t rows;  /* of an epoch of it; above 0, unless the mix stops at the first that ends */
} cst__mixed_part;

typedef struct cst__schedule {
  cst_mix_stop stop;
  size_t count;
  cst__mixed_part *parts; /* `count` */
} cst__schedule;

/* Shares of weights, which are finite and above 0. Whole numbers are taken as they are, others are
 * rounded to parts of 2^40. */
void cst__shares_of(const double *weights, size_t count, cst__mixed_part *parts);

/* The rows of an epoch; UINT64_MAX: it has no end. */
uint64_t cst__schedule_rows(const cst__schedule *schedule);

/* How many rows each dataset gives before a row, those of its further epochs included. */
void cst__schedule_at(const cst__schedule *schedule, uint64_t row, uint64_t *given);

/* The dataset of each of the rows [begin, begin + count). `given`: what cst__schedule_at says of
 * the first, and then of the row after the last. */
void cst__schedule_deal(const cst__schedule *schedule, uint64_t *given, size_t count,
                        uint16_t *datasets);

#endif /* DATASET_SCHEDULE_H */
