/* Dense tensors: each row is a list of its values, which the spec's shape gives back their
 * dimensions.
 */
#include "tensor/encode.h"

static cst_status check_shape(const cst__encoding *e, const cst__encode_leaf *leaf,
                              const cst_ndarray *values) {
  const cst_tensor_spec *spec = leaf->spec;
  if (values->num_dims != spec->num_dims + 1) {
    return cst__encode_fail(e->error, leaf, -1, NULL,
                            "values of %zu dimensions, expected rows and %zu more",
                            values->num_dims, spec->num_dims);
  }
  for (size_t i = 0; i < spec->num_dims; i++) {
    if (values->shape[i + 1] != spec->dims[i]) {
      return cst__encode_fail(e->error, leaf, -1, NULL,
                              "dim %zu of a row has the size %lld, expected %lld", i,
                              (long long)values->shape[i + 1], (long long)spec->dims[i]);
    }
  }
  return CST_OK;
}

cst_status cst__encode_dense(cst__encoding *e, const cst__encode_leaf *leaf) {
  const cst_ndarray *values = &e->tensors[leaf->number]->values;
  struct ArrowArray *column = &e->arrays[leaf->columns->number];
  int64_t rows = values->shape[0];
  int64_t *offsets = NULL;
  CST__TRY(check_shape(e, leaf, values));
  CST__TRY(cst__encode_rows(e, leaf, rows, values->size));
  CST__TRY(cst__encode_flat(e, values, column));
  CST__TRY(cst__encode_wrap(e, rows, column, &offsets));
  for (int64_t i = 0; i <= rows; i++) {
    offsets[i] = i * leaf->row_size;
  }
  return CST_OK;
}
