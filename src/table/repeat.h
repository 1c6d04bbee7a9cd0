/* Slots that are copied several times, one after the other: what values above lists become for the
 * items of these.
 */
#ifndef TABLE_REPEAT_H
#define TABLE_REPEAT_H

#include "table/runs.h"

/* Makes an array that has the n-th slot of the runs at [splits[n], splits[n + 1]). The node belongs
 * to `owner`; failures and sharing are those of cst__gather. Slots that structs above hide, are
 * what lies under them. */
cst_status cst__repeat(const cst_array *owner, const cst__runs *slots, const int64_t *splits,
                       struct ArrowArray *out, cst_error *error);

#endif /* TABLE_REPEAT_H */
