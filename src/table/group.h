/* Grouping: <columnstone/array.h> without the checks of arguments.
 */
#ifndef TABLE_GROUP_H
#define TABLE_GROUP_H

#include "table/array.h"

cst_status cst__array_group_by(const cst_array *batch, const char *const *const *paths,
                               const size_t *num_steps, size_t num_paths, cst_groups *out,
                               cst_error *error);

#endif /* TABLE_GROUP_H */
