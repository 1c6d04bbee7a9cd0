/* The table of the kinds of tensors. */
#include "tensor/kind.h"

static const cst__tensor_kind *const kinds[] = {
    [CST_TENSOR_DENSE] = &cst__kind_dense,           [CST_TENSOR_VARLEN_SPARSE] = &cst__kind_varlen,
    [CST_TENSOR_SPARSE] = &cst__kind_sparse,         [CST_TENSOR_RAGGED] = &cst__kind_ragged,
    [CST_TENSOR_STRUCTURED] = &cst__kind_structured,
};

const cst__tensor_kind *cst__kind_of(cst_tensor_kind kind) {
  return (size_t)kind < sizeof kinds / sizeof kinds[0] ? kinds[kind] : NULL;
}
