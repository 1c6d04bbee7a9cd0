/* Datasets: batches of a source in an order. */
#ifndef COLUMNSTONE_PYTHON_DATASET_H
#define COLUMNSTONE_PYTHON_DATASET_H

#include <columnstone/dataset.h>

#include "ext/base/base.h"

/* ---- dataset.c and loader.c ---- */

typedef struct cst__py_dataset_object {
  PyObject_HEAD PyObject *source; /* of a mix that of its first dataset */
  PyObject *mixed;                /* of a mix: tuple of its datasets; else NULL */
  cst_dataset *dataset;
  PyObject *pads;              /* tuple, see _core.pyi */
  PyObject *schema;            /* ArrowSchema of the batches, once known */
  cst_tensor_adapter *adapter; /* of all loaders of tensors, made when it is needed */
} cst__py_dataset_object;

/* Borrowed: the Source, the dataset, the ArrowSchema of its batches (NULL with an exception). */
PyObject *cst__py_dataset_source(PyObject *self);
cst_dataset *cst__py_dataset_view(PyObject *self);
PyObject *cst__py_dataset_schema(PyObject *self);
/* False, with an exception: a source is closed. */
bool cst__py_dataset_is_open(PyObject *self);
/* True if making batches may call Python. */
bool cst__py_dataset_calls_python(PyObject *self);
/* Borrowed: the Source in which a failure of a loader began, as far as Python knows. */
PyObject *cst__py_dataset_blame(PyObject *self, const cst_error *error);
/* The adapter of the dataset's tensors; NULL with an exception. */
const cst_tensor_adapter *cst__py_dataset_adapter(PyObject *self);
/* One epoch from a batch on; `sparse` and `ragged` as for cst__py_tensors_dict, or NULL for record
 * batches. */
PyObject *cst__py_loader_new(PyObject *dataset, const cst_position *from, uint32_t first,
                             uint32_t step, PyObject *sparse, PyObject *ragged);

/* ---- the types ---- */

extern PyType_Spec cst__py_dataset_spec;
extern PyType_Spec cst__py_loader_spec;

#endif /* COLUMNSTONE_PYTHON_DATASET_H */
