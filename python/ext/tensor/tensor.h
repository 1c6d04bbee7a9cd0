/* Tensors, and what makes them of batches and batches of them. */
#ifndef COLUMNSTONE_PYTHON_TENSOR_H
#define COLUMNSTONE_PYTHON_TENSOR_H

#include <columnstone/tensor.h>

#include "ext/base/base.h"

/* ---- adapter.c ---- */

/* Pads from a tuple of tuples, see _core.pyi. */
typedef struct cst__py_pads {
  cst_pad *items;
  size_t count;
  PyObject *tuple; /* holds what the items point to */
} cst__py_pads;
int cst__py_pads_init(cst__py_pads *pads, PyObject *tuple);
void cst__py_pads_reset(cst__py_pads *pads);

/* ---- tensor.c ---- */

/* A dict of name -> Tensor, a dict again, or what the two classes make: sparse(indices, values,
 * dense_shape), ragged(values, row_splits). Takes the tensors over, also on failure. */
PyObject *cst__py_tensors_dict(cst__py_state *state, cst_tensors *tensors, PyObject *sparse,
                               PyObject *ragged);
/* What a Tensor holds, borrowed; NULL, without an exception, for objects of other types. */
const cst_ndarray *cst__py_tensor_view(cst__py_state *state, PyObject *object);

/* ---- given.c ---- */

/* Tensors of one call, and what they point to. */
typedef struct cst__py_given {
  cst__py_state *state;
  struct cst__py_given_block *blocks;
} cst__py_given;
/* The tensors of a tuple, see _core.pyi (CoreTensor), which live until the reset; NULL with an
 * exception. */
cst_tensor *cst__py_given_read(cst__py_given *given, PyObject *tuple, size_t *count);
void cst__py_given_reset(cst__py_given *given);

/* ---- strings.c: functions of the module, see _core.pyi ---- */

PyObject *cst__py_join_strings(PyObject *module, PyObject *tensor);
PyObject *cst__py_split_strings(PyObject *module, PyObject *args);

/* ---- pack.c: a function of the module, see _core.pyi ---- */

PyObject *cst__py_pack_arrays(PyObject *module, PyObject *args);

/* ---- the types ---- */

extern PyType_Spec cst__py_tensor_spec;
extern PyType_Spec cst__py_adapter_spec;
extern PyType_Spec cst__py_tensor_encoder_spec;
extern PyType_Spec cst__py_packer_spec;

#endif /* COLUMNSTONE_PYTHON_TENSOR_H */
