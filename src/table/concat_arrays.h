/* Concatenation: <columnstone/array.h> without the checks of arguments.
 */
#ifndef TABLE_CONCAT_ARRAYS_H
#define TABLE_CONCAT_ARRAYS_H

#include "table/array.h"

cst_status cst__array_concat(const cst_array *const *arrays, size_t count, cst_array **out,
                             cst_error *error);

#endif /* TABLE_CONCAT_ARRAYS_H */
