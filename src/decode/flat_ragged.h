/* Ragged tensors of the schema whose features come as columns of their own, not as one nested
 * column: every row has to be one that the decoder can nest again.
 */
#ifndef DECODE_FLAT_RAGGED_H
#define DECODE_FLAT_RAGGED_H

#include "decode/entry_writer.h"

/* A tensor of which at least one feature is in the batch. */
typedef struct cst__flat_ragged cst__flat_ragged;
struct cst__flat_ragged {
  const cst__flat_ragged *next;
  const cst_tensor_spec *spec;
  const cst__out_column *values;         /* NULL: not in the batch */
  const cst__out_column *const *lengths; /* one per row_length partition; NULL as above */
  size_t num_lengths;
  int64_t outer_unit;   /* what the length of a row's own list is a multiple of */
  const int64_t *units; /* [num_lengths]: slots that count as one in a length */
};

/* The tensors whose rows have to be checked, in a list that lies in the arena. Nested columns need
 * no check, and tensors that share a feature are not checked: they are different ways to see it,
 * and only one of them can be a nested column. `columns` is sorted, and has to stay as it is. */
cst_status cst__flat_ragged_plan(const cst_specs *ragged, const cst__out_columns *columns,
                                 cst__arena *arena, const cst__flat_ragged **out, cst_error *error);

/* CST_SCHEMA with the feature if the row's features do not make up the tensor. The row has been
 * written, so that its values are known to be sound. */
cst_status cst__flat_ragged_check(const cst__flat_ragged *tensor, int64_t row, cst_error *error);

#endif /* DECODE_FLAT_RAGGED_H */
