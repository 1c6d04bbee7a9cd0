/* What <columnstone/structured.h> promises of nulls and of tensors of zeros and ones, without the
 * checks of arguments.
 */
#ifndef STRUCTURED_TENSOR_NULLS_H
#define STRUCTURED_TENSOR_NULLS_H

#include "structured/structured.h"

cst_status cst__structured_like(const cst_structured *tensor, int value, cst_structured **out,
                                cst_error *error);
cst_status cst__structured_test_null(const cst_structured *tensor, const cst_path *path,
                                     cst_null_test test, cst_structured **out, cst_error *error);
cst_status cst__structured_fill_null(const cst_structured *tensor, const cst_array *fill,
                                     cst_structured **out, cst_error *error);
cst_status cst__structured_fill_null_lists(const cst_structured *tensor, cst_structured **out,
                                           cst_error *error);
cst_status cst__structured_drop_null(const cst_structured *tensor, const cst_path *path,
                                     cst_structured **out, cst_error *error);

#endif /* STRUCTURED_TENSOR_NULLS_H */
