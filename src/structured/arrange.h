/* What <columnstone/structured.h> promises of whole dimensions, without the checks of arguments:
 * joining, repeating, adding and removing them.
 */
#ifndef STRUCTURED_ARRANGE_H
#define STRUCTURED_ARRANGE_H

#include "structured/levels.h"

cst_status cst__structured_concat(const cst_structured *const *tensors, size_t count, int axis,
                                  cst_structured **out, cst_error *error);
cst_status cst__structured_stack(const cst_structured *const *tensors, size_t count, int axis,
                                 cst_structured **out, cst_error *error);
cst_status cst__structured_tile(const cst_structured *tensor, const int64_t *multiples,
                                cst_structured **out, cst_error *error);
cst_status cst__structured_expand_dims(const cst_structured *tensor, int axis, cst_structured **out,
                                       cst_error *error);
cst_status cst__structured_squeeze(const cst_structured *tensor, const int *axes, size_t count,
                                   cst_structured **out, cst_error *error);
cst_status cst__structured_merge_dims(const cst_structured *tensor, int outer, int inner,
                                      cst_structured **out, cst_error *error);
cst_status cst__structured_partition(const cst_structured *tensor, const int64_t *splits,
                                     size_t count, int64_t size, cst_structured **out,
                                     cst_error *error);
cst_status cst__structured_row_lengths(const cst_structured *tensor, int axis, cst_structured **out,
                                       cst_error *error);

/* The dimension that an axis means, from 0 to count - 1; negative ones count from the end. */
cst_status cst__structured_axis(int axis, size_t count, size_t *out, cst_error *error);

/* Says which list of a level a failure is about: "row [3][0]". */
void cst__levels_name_list(const cst__lists *levels, size_t level, int64_t list, char *text,
                           size_t size);
void cst__levels_name_list_from(const cst__row_origin *origin, const cst__lists *levels,
                                size_t level, int64_t list, char *text, size_t size);

#endif /* STRUCTURED_ARRANGE_H */
