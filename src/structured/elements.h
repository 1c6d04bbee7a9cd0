/* What <columnstone/structured.h> promises of choosing elements, without the checks of arguments.
 */
#ifndef STRUCTURED_ELEMENTS_H
#define STRUCTURED_ELEMENTS_H

#include "structured/structured.h"

cst_status cst__structured_gather(const cst_structured *tensor, const cst_structured *indices,
                                  int axis, int batch_dims, cst_structured **out, cst_error *error);
cst_status cst__structured_gather_nd(const cst_structured *tensor, const cst_structured *indices,
                                     int batch_dims, cst_structured **out, cst_error *error);
cst_status cst__structured_boolean_mask(const cst_structured *tensor, const cst_structured *mask,
                                        int axis, cst_structured **out, cst_error *error);
cst_status cst__structured_mask(const cst_structured *tensor, const cst_structured *condition,
                                cst_structured **out, cst_error *error);
cst_status cst__structured_reverse(const cst_structured *tensor, const int *axes, size_t count,
                                   cst_structured **out, cst_error *error);
cst_status cst__structured_where(const cst_structured *condition, const cst_structured *x,
                                 const cst_structured *y, cst_structured **out, cst_error *error);
cst_status cst__structured_true_places(const cst_structured *condition, cst_structured **out,
                                       cst_error *error);

#endif /* STRUCTURED_ELEMENTS_H */
