/* The values of each row of a column, one after the other, whatever lists they lie in. */
#ifndef STATISTICS_COLUMN_VALUES_H
#define STATISTICS_COLUMN_VALUES_H

#include "arrow/view.h"
#include "sketch/values.h"

typedef struct cst__column_values {
  cst__family family;
  bool is_bool;
  void *items; /* that are not null, as blocks of the family have them */
  int64_t count;
  int64_t *splits; /* those of row i lie in [splits[i], splits[i + 1]) */
} cst__column_values;

/* Of all rows of a column; it lies in the arena. CST_UNSUPPORTED for structs and the like. */
cst_status cst__column_values_read(const cst__view *column, cst__arena *arena,
                                   cst__column_values *out, cst_error *error);

/* Bytes of one item. */
static inline size_t cst__column_values_item_size(const cst__column_values *values) {
  return values->family == CST__FAMILY_BYTES ? sizeof(cst_bytes) : sizeof(uint64_t);
}

#endif /* STATISTICS_COLUMN_VALUES_H */
