/* Whether two values of a view are the same: all NaNs are, both zeros are, and nulls are. That is
 * not what `==` of the language says, by which NaN equals nothing.
 */
#ifndef QUERY_FUNCTIONS_SAME_H
#define QUERY_FUNCTIONS_SAME_H

#include "query/functions/value_type.h"

typedef struct cst__same {
  const cst__view *view;
  cst__value_info info;
} cst__same;

/* Of any type of values. */
cst__same cst__same_of(const cst__view *view);

bool cst__same_slots(const cst__same *same, int64_t a, int64_t b);

#endif /* QUERY_FUNCTIONS_SAME_H */
