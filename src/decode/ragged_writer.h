/* Nested lists on their way into tf.Examples: a column named like a ragged tensor of the schema
 * becomes the tensor's value feature and one int64 feature per row_length partition.
 *
 * The column has a list level for the rows and one per row_length partition. Uniform partitions are
 * not levels: the lists hold their items one after the other, as many as a multiple of the uniform
 * length.
 *
 * Source: tensorflow_metadata/proto/v0/schema.proto, RaggedTensor.
 */
#ifndef DECODE_RAGGED_WRITER_H
#define DECODE_RAGGED_WRITER_H

#include "decode/entry_writer.h"

/* One source feature of a nested column. */
typedef struct cst__ragged_source {
  const cst_tensor_spec *spec;
  bool is_values;
  size_t level;       /* the lists whose lengths it holds; 0 is the rows' level */
  size_t num_levels;  /* of the column */
  int64_t unit;       /* slots that count as one in a length: the uniform partitions below */
  int64_t outer_unit; /* what the length of a row's own list is a multiple of */
} cst__ragged_source;

/* The ragged tensor that a column with this name and type stands for, or NULL: there is none of
 * this name, or the column is the tensor's own value column, as it is without nesting. */
const cst_tensor_spec *cst__ragged_find(const cst_specs *ragged, const cst__view *column);

/* Adds the source features of a nested column; sources live in the arena. */
cst_status cst__add_ragged_columns(cst__arena *arena, cst__out_columns *columns,
                                   const cst_tensor_spec *spec, const cst__view *view,
                                   cst_error *error);

/* The product of the uniform partitions from `*at` on; *at ends after them, at a row_length
 * partition or the end. INT64_MAX: too large. */
int64_t cst__uniform_product(const cst_tensor_spec *spec, size_t *at);

#endif /* DECODE_RAGGED_WRITER_H */
