/* Tensors of integers or booleans that choose places of another tensor.
 */
#ifndef STRUCTURED_INDICES_H
#define STRUCTURED_INDICES_H

#include "structured/levels.h"

#define CST__INDEX_NULL INT64_MIN /* the value of a null */

typedef struct cst__indices {
  cst__levels levels; /* all dimensions, opened */
  cst_array *elements;
  int64_t count;
  const int64_t *values; /* [count], of integers; those above INT64_MAX are INT64_MAX */
  const uint8_t *mask;   /* [count], of booleans: 1 for true, 0 for false and null; else NULL */
  const uint8_t *nulls;  /* [count], of booleans: 1 for null; NULL: none is */
} cst__indices;

/* Opens all of a tensor. To be closed if it succeeds; the tensor lives as long.
 * CST_INVALID_ARGUMENT for other elements than integers and booleans; nothing but nulls count as
 * integers. */
cst_status cst__indices_open(const cst_structured *tensor, cst__indices *out, cst_error *error);
/* The same for booleans alone; nothing but nulls count as booleans. */
cst_status cst__indices_open_mask(const cst_structured *tensor, cst__indices *out,
                                  cst_error *error);
void cst__indices_close(cst__indices *indices);

#endif /* STRUCTURED_INDICES_H */
