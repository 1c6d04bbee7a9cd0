/* Counts: rows, and what the columns have in them. */
#ifndef VALIDATE_COUNTS_H
#define VALIDATE_COUNTS_H

#include <columnstone/accumulate.h>

#include "arrow/accumulator.h"

/* It has no plan, and finishes as a cst_counts *. */
extern const cst__accumulator cst__counts_accumulator;

struct cst_counts {
  uint64_t num_rows;
  size_t num_columns;
  const cst_column_count *columns;
  cst__arena arena; /* columns and paths */
};

#endif /* VALIDATE_COUNTS_H */
