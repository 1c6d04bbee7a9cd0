/* Choosing rows in ways that <columnstone/array.h> has not. */
#ifndef TABLE_ROWS_H
#define TABLE_ROWS_H

#include "nested/gather.h"
#include "table/array.h"

/* Rows that there are; -1 among numbers is a null slot, also of a struct. */
cst_status cst__array_choose(const cst_array *array, const cst__chosen *slots, cst_array **out,
                             cst_error *error);

#endif /* TABLE_ROWS_H */
