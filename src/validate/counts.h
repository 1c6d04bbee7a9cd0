/* Counts: rows, and what the columns have in them; and how long lists are. */
#ifndef VALIDATE_COUNTS_H
#define VALIDATE_COUNTS_H

#include "arrow/accumulator.h"

/* "columns": of each, the rows in which it is not null, nor a struct above it, and the values in
 * these rows: the items of its innermost lists that are not null; of a column without lists, the
 * rows. A struct is one value. Sorted by path; a batch that lacks a column has nulls there. */
extern const cst__accumulator cst__counts_accumulator;

/* "lists": of each list column, and each level of its lists. */
extern const cst__accumulator cst__lengths_accumulator;

#endif /* VALIDATE_COUNTS_H */
