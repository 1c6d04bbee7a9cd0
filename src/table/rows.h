/* Choosing rows: <columnstone/array.h> without the checks of arguments.
 */
#ifndef TABLE_ROWS_H
#define TABLE_ROWS_H

#include "table/gather.h"

cst_status cst__array_take(const cst_array *array, const int64_t *rows, size_t num_rows,
                           cst_array **out, cst_error *error);
/* The same, but -1 is a null slot of a struct, too, not a row of nulls. */
cst_status cst__array_take_slots(const cst_array *array, const int64_t *slots, size_t count,
                                 cst_array **out, cst_error *error);
/* The rows of spans, which are rows that there are. */
cst_status cst__array_take_spans(const cst_array *array, const cst__spans *spans, cst_array **out,
                                 cst_error *error);
cst_status cst__array_filter(const cst_array *array, const uint8_t *mask, cst_array **out,
                             cst_error *error);

#endif /* TABLE_ROWS_H */
