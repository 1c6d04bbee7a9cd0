/* Packer: rows of tensors of Python in packed batches. */
#include <stdlib.h>

#include "ext/tensor/tensor.h"

typedef struct packer_object {
  PyObject_HEAD cst_packer *packer;
} packer_object;

static cst_packer *packer_make(cst__py_state *state, PyObject *pads, long long rows, int split) {
  cst__py_pads own;
  cst_packer_options options = CST_PACKER_OPTIONS_INIT;
  cst_packer *packer = NULL;
  cst_error error = CST_ERROR_INIT;
  if (cst__py_pads_init(&own, pads) < 0) {
    return NULL;
  }
  options.lists = own.items;
  options.num_lists = own.count;
  options.rows = rows;
  options.split = split != 0;
  cst_status status = cst_packer_new(&options, &packer, &error);
  cst__py_pads_reset(&own);
  if (status != CST_OK) {
    cst__py_raise(state, &error);
  }
  return packer;
}

/* Packer(pads, rows, split) */
static PyObject *new_packer(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"", "", "", NULL};
  PyObject *pads;
  long long rows;
  int split;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!Lp:Packer", keywords, &PyTuple_Type, &pads,
                                   &rows, &split)) {
    return NULL;
  }
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  packer_object *self = (packer_object *)allocate(type, 0);
  if (self != NULL) {
    self->packer = packer_make(cst__py_state_of((PyObject *)self), pads, rows, split);
    if (self->packer == NULL) {
      Py_CLEAR(self);
    }
  }
  return (PyObject *)self;
}

static void packer_dealloc(PyObject *object) {
  cst_packer_free(((packer_object *)object)->packer);
  cst__py_free(object);
}

/* add(tensors, row, value) -> (row, value, full) */
static PyObject *packer_add(PyObject *object, PyObject *args) {
  cst__py_state *state = cst__py_state_of(object);
  cst__py_given given = {state, NULL};
  PyObject *tuple;
  long long row;
  long long value;
  if (!PyArg_ParseTuple(args, "O!LL:add", &PyTuple_Type, &tuple, &row, &value)) {
    return NULL;
  }
  size_t count;
  bool full = false;
  cst_packer_place place = {row, value};
  cst_error error = CST_ERROR_INIT;
  cst_tensor *tensors = cst__py_given_read(&given, tuple, &count);
  if (tensors == NULL) {
    cst__py_given_reset(&given);
    return NULL;
  }
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_packer_add(((packer_object *)object)->packer, tensors, count, &place, &full, &error);
  Py_END_ALLOW_THREADS
  cst__py_given_reset(&given);
  return status == CST_OK ? Py_BuildValue("(LLO)", (long long)place.row, (long long)place.value,
                                          full ? Py_True : Py_False)
                          : cst__py_raise(state, &error);
}

/* take() -> dict of Tensors, or None */
static PyObject *packer_take(PyObject *object, PyObject *unused) {
  (void)unused;
  cst__py_state *state = cst__py_state_of(object);
  cst_tensors *tensors = NULL;
  cst_error error = CST_ERROR_INIT;
  if (cst_packer_take(((packer_object *)object)->packer, &tensors, &error) != CST_OK) {
    return cst__py_raise(state, &error);
  }
  return tensors != NULL ? cst__py_tensors_dict(state, tensors, NULL, NULL) : Py_NewRef(Py_None);
}

static PyMethodDef methods[] = {
    {"add", packer_add, METH_VARARGS, NULL},
    {"take", packer_take, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "The core of Dataset.pack."},
    {Py_tp_new, new_packer},
    {Py_tp_dealloc, packer_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec cst__py_packer_spec = {
    .name = "columnstone._core.Packer",
    .basicsize = sizeof(packer_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
