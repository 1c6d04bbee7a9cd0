/* Choosing rows: <columnstone/array.h> without the checks of arguments.
 */
#ifndef TABLE_ROWS_H
#define TABLE_ROWS_H

#include "nested/gather.h"
#include "table/array.h"

cst_status cst__array_take(const cst_array *array, const int64_t *rows, size_t num_rows,
                           cst_array **out, cst_error *error);
/* Rows that there are; -1 among numbers is a null slot, also of a struct. */
cst_status cst__array_choose(const cst_array *array, const cst__chosen *slots, cst_array **out,
                             cst_error *error);
cst_status cst__array_filter(const cst_array *array, const uint8_t *mask, cst_array **out,
                             cst_error *error);

#endif /* TABLE_ROWS_H */
