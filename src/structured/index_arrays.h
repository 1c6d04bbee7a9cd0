/* Arrays in a key, as numpy has them: several are broadcast together and choose place by place.
 */
#ifndef STRUCTURED_INDEX_ARRAYS_H
#define STRUCTURED_INDEX_ARRAYS_H

#include "structured/indices.h"

/* One dimension of the tensor that the arrays choose of. */
typedef struct cst__index_array {
  size_t item;           /* of the key; a mask has several dimensions */
  int64_t length;        /* that all rows must have, for a mask; else -1 */
  const int64_t *values; /* as many as the broadcast shape has */
  size_t rank;           /* of its own shape */
  const int64_t *shape;
} cst__index_array;

/* All of them, and the shape that they have in common. */
typedef struct cst__index_arrays {
  cst__indices by; /* of the common shape; `values` is to be set to those of a dimension */
  cst__index_array *dims;
  size_t num_dims;
  size_t num_opened;
  cst__indices *opened;
} cst__index_arrays;

/* Reads the arrays, and the single places, among the items. To be closed if it succeeds. */
cst_status cst__index_arrays_open(const cst_index_item *items, size_t count,
                                  const cst_allocator *allocator, cst__index_arrays *out,
                                  cst_error *error);
void cst__index_arrays_close(cst__index_arrays *arrays);

#endif /* STRUCTURED_INDEX_ARRAYS_H */
