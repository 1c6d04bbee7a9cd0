/* Rows of a batch that do not fit a tensor, each with its reason. */
#ifndef TENSOR_ROW_FAULT_H
#define TENSOR_ROW_FAULT_H

#include <stdint.h>

typedef enum cst__row_reason {
  CST__ROW_TYPE,      /* the column has values of another type, or is nested otherwise */
  CST__ROW_COUNT,     /* dense: `found` values, the shape needs `expected` */
  CST__ROW_NULL,      /* dense: no value, and no default */
  CST__ROW_NULL_ITEM, /* a null element within the values */
  CST__ROW_LENGTHS,   /* sparse: `expected` values but `found` indices in `column` */
  CST__ROW_INDEX,     /* sparse: index `found` in `column`, above `expected` or below 0 */
  CST__ROW_ORDER,     /* sparse: not sorted, though the tensor says so */
  CST__ROW_DOUBLE,    /* sparse: two values at one coordinate */
  CST__ROW_DIVISION,  /* ragged: `found` items, which rows of `expected` do not divide */
  CST__ROW_LENGTH,    /* ragged: a row length of `found` (below 0, or null) in `column` */
  CST__ROW_SUM,       /* ragged: row lengths in `column` add up to `found` of `expected` */
  CST__NUM_ROW_REASONS
} cst__row_reason;

typedef struct cst__row_fault {
  int64_t row;
  cst__row_reason reason;
  int64_t found, expected;
  const char *column; /* borrowed from the spec, or NULL */
} cst__row_fault;

typedef void (*cst__row_callback)(void *ctx, const cst__row_fault *fault);

/* What stands for a null, and for an integer above 2^63-1. */
#define CST__NO_INTEGER INT64_MIN

#endif /* TENSOR_ROW_FAULT_H */
