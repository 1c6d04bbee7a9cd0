/* Casts, and the parts of them that other functions need.
 */
#ifndef QUERY_FUNCTIONS_CAST_H
#define QUERY_FUNCTIONS_CAST_H

#include "query/functions/result.h"

/* Every number type: its name in cst_dtype and in C. */
#define CST__FOR_INTS(XX) \
  XX(INT8, int8_t)        \
  XX(INT16, int16_t)      \
  XX(INT32, int32_t)      \
  XX(INT64, int64_t)      \
  XX(UINT8, uint8_t)      \
  XX(UINT16, uint16_t)    \
  XX(UINT32, uint32_t)    \
  XX(UINT64, uint64_t)
#define CST__FOR_FLOATS(XX) \
  XX(FLOAT32, float)        \
  XX(FLOAT64, double)

/* Whether there is a cast. */
bool cst__value_has_cast(cst__value_type from, cst__value_type to);

/* Texts of integers, floats and bools, and back. `out` is without values. */
cst_status cst__cast_to_text(const cst__view *from, const cst_allocator *allocator,
                             struct ArrowArray *out, cst_error *error);
cst_status cst__cast_from_text(const cst__view *from, cst__value_type to, struct ArrowArray *out,
                               cst_error *error);

/* Fails about element `i`. */
cst_status cst__cast_fail(cst__value_type from, cst__value_type to, int64_t i, cst_error *error);

#endif /* QUERY_FUNCTIONS_CAST_H */
