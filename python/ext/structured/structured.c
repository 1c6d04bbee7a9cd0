/* Tensors of the library as objects of the class that fits. */
#include "ext/structured/structured.h"

#include "ext/table/table.h"

/* ---- objects and tensors ---- */

/* The class of structured tensors, or of leaf tensors; borrowed. */
static PyTypeObject *class_for(cst__py_state *state, const cst_structured *tensor) {
  if (state->structured_class == NULL) {
    PyObject *module = PyImport_ImportModule("columnstone._struct.tensor"); /* calls back, below */
    if (module == NULL) {
      return NULL;
    }
    Py_DECREF(module);
  }
  return (PyTypeObject *)(cst_structured_is_struct(tensor) ? state->structured_class
                                                           : state->leaf_class);
}

/* An object of the class that fits, which takes the tensor over, also on failure. */
static PyObject *structured_wrap(cst__py_state *state, cst_structured *tensor) {
  PyTypeObject *type = class_for(state, tensor);
  allocfunc allocate = type == NULL ? NULL : (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  cst__py_structured_object *self =
      type == NULL ? NULL : (cst__py_structured_object *)allocate(type, 0);
  if (self == NULL) {
    cst_structured_release(tensor);
    return NULL;
  }
  self->state = state;
  self->tensor = tensor;
  return (PyObject *)self;
}

const cst_structured *cst__py_structured_view(cst__py_state *state, PyObject *object) {
  return PyObject_TypeCheck(object, state->structured_type)
             ? ((cst__py_structured_object *)object)->tensor
             : NULL;
}

const cst_structured *cst__py_structured_need(cst__py_state *state, PyObject *object) {
  const cst_structured *tensor = cst__py_structured_view(state, object);
  if (tensor == NULL) {
    PyErr_Format(PyExc_TypeError, "this takes structured tensors, not %R", Py_TYPE(object));
  }
  return tensor;
}

PyObject *cst__py_structured_finish(cst__py_state *state, cst_status status, const cst_error *error,
                                    cst_structured *made) {
  if (status == CST_OK) {
    return structured_wrap(state, made);
  }
  return status == CST_NOT_FOUND ? cst__py_raise_as(state->field_error, error)
                                 : cst__py_raise(state, error);
}

PyObject *cst__py_structured_finish_index(cst__py_state *state, cst_status status,
                                          const cst_error *error, cst_structured *made) {
  return status == CST_INVALID_ARGUMENT ? cst__py_raise_as(state->index_error, error)
                                        : cst__py_structured_finish(state, status, error, made);
}

PyObject *cst__py_structured_new(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *object;
  int is_row;
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  if (!PyArg_ParseTuple(args, "Op:structured", &object, &is_row)) {
    return NULL;
  }
  const cst_array *array = cst__py_table_handle_of(state, object);
  if (array == NULL) {
    return NULL;
  }
  cst_status status = cst_structured_new(array, is_row != 0, &made, &error);
  return cst__py_structured_finish(state, status, &error, made);
}

PyObject *cst__py_structured_classes(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *structured;
  PyObject *leaf;
  if (!PyArg_ParseTuple(args, "O!O!:structured_classes", &PyType_Type, &structured, &PyType_Type,
                        &leaf)) {
    return NULL;
  }
  if (!PyType_IsSubtype((PyTypeObject *)structured, state->structured_type) ||
      !PyType_IsSubtype((PyTypeObject *)leaf, state->structured_type)) {
    PyErr_SetString(PyExc_TypeError, "these are no classes of structured tensors");
    return NULL;
  }
  cst__py_replace(&state->structured_class, Py_NewRef(structured));
  cst__py_replace(&state->leaf_class, Py_NewRef(leaf));
  return Py_NewRef(Py_None);
}
