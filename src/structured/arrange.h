/* What the operations on whole dimensions share. */
#ifndef STRUCTURED_ARRANGE_H
#define STRUCTURED_ARRANGE_H

#include "structured/levels.h"

/* The dimension that an axis means, from 0 to count - 1; negative ones count from the end. */
cst_status cst__structured_axis(int axis, size_t count, size_t *out, cst_error *error);

/* Says which list of a level a failure is about: "row [3][0]". */
void cst__levels_name_list(const cst__lists *levels, size_t level, int64_t list, char *text,
                           size_t size);
void cst__levels_name_list_from(const cst__row_origin *origin, const cst__lists *levels,
                                size_t level, int64_t list, char *text, size_t size);

#endif /* STRUCTURED_ARRANGE_H */
