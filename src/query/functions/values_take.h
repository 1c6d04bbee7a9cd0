/* Chosen slots of flat values, as a new array.
 */
#ifndef QUERY_FUNCTIONS_VALUES_TAKE_H
#define QUERY_FUNCTIONS_VALUES_TAKE_H

#include "query/functions/result.h"

/* The type that taking from a view gives: its own, texts and bytes as "U" and "Z". */
cst__value_type cst__values_taken_type(const cst__view *view);

/* One value per number in `at`: a slot of the view, or -1 for null. */
cst_status cst__values_take(const cst__view *from, const int64_t *at, int64_t count,
                            const cst_allocator *allocator, struct ArrowArray *out,
                            cst_error *error);

/* A view of an array of values that this room has made; no nested types. */
cst__view cst__view_of_values(const struct ArrowArray *array, cst__value_type type);

#endif /* QUERY_FUNCTIONS_VALUES_TAKE_H */
