/* Key columns of groups: which of its distinct values each row has.
 */
#ifndef TABLE_KEYS_H
#define TABLE_KEYS_H

#include "table/ids.h"

/* Some numbers for each row, no number twice. */
typedef struct cst__row_sets {
  uint32_t *ids;
  int64_t *starts; /* [rows + 1]: where the ids of a row begin; NULL: one per row */
  int64_t total;
} cst__row_sets;

void cst__row_sets_free(cst__row_sets *sets);

/* The values of a column, row by row. */
typedef struct cst__row_values {
  const cst__view *values;
  const int64_t *splits; /* [rows + 1]: where the values of a row begin; NULL: it has one */
  int64_t num_rows;
} cst__row_values;

/* Numbers the values of a column and gives those of each row, in the order in which it has them.
 * Rows without a value have null. CST_SCHEMA for types whose values cannot be keys. */
cst_status cst__keys_find(const cst__row_values *column, const cst_allocator *allocator,
                          cst__ids *ids, cst__row_sets *out, cst_error *error);

#endif /* TABLE_KEYS_H */
