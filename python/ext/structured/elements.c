/* Choosing elements: functions of the module, which columnstone._struct.choose calls with arguments
 * of exact types. */
#include <stdlib.h>

#include "ext/structured/structured.h"

PyObject *cst__py_structured_gather(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *objects[2];
  int axis;
  int batch_dims;
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  cst_status status;
  if (!PyArg_ParseTuple(args, "OOii:structured_gather", &objects[0], &objects[1], &axis,
                        &batch_dims)) {
    return NULL;
  }
  const cst_structured *tensor = cst__py_structured_need(state, objects[0]);
  const cst_structured *indices =
      tensor == NULL ? NULL : cst__py_structured_need(state, objects[1]);
  if (indices == NULL) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_structured_gather(tensor, indices, axis, batch_dims, &made, &error);
  Py_END_ALLOW_THREADS
  return cst__py_structured_finish_index(state, status, &error, made);
}

/* Functions of two tensors and a number. */
typedef cst_status (*by_function)(const cst_structured *tensor, const cst_structured *by,
                                  int number, cst_structured **out, cst_error *error);

static PyObject *call_by(PyObject *module, PyObject *args, by_function function) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *objects[2];
  int number;
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  cst_status status;
  if (!PyArg_ParseTuple(args, "OOi:structured_choose", &objects[0], &objects[1], &number)) {
    return NULL;
  }
  const cst_structured *tensor = cst__py_structured_need(state, objects[0]);
  const cst_structured *by = tensor == NULL ? NULL : cst__py_structured_need(state, objects[1]);
  if (by == NULL) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = function(tensor, by, number, &made, &error);
  Py_END_ALLOW_THREADS
  return cst__py_structured_finish_index(state, status, &error, made);
}

PyObject *cst__py_structured_gather_nd(PyObject *module, PyObject *args) {
  return call_by(module, args, cst_structured_gather_nd);
}

PyObject *cst__py_structured_boolean_mask(PyObject *module, PyObject *args) {
  return call_by(module, args, cst_structured_boolean_mask);
}

static int read_axes(PyObject *tuple, int *axes) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); i++) {
    long axis = PyLong_AsLong(PyTuple_GetItem(tuple, i));
    if (axis == -1 && PyErr_Occurred() != NULL) {
      return -1;
    }
    axes[i] = axis > 1000 ? 1000 : axis < -1000 ? -1000 : (int)axis;
  }
  return 0;
}

PyObject *cst__py_structured_reverse(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *object;
  PyObject *tuple;
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  cst_status status;
  if (!PyArg_ParseTuple(args, "OO!:structured_reverse", &object, &PyTuple_Type, &tuple)) {
    return NULL;
  }
  const cst_structured *tensor = cst__py_structured_need(state, object);
  size_t count = (size_t)PyTuple_Size(tuple);
  int *axes = tensor == NULL ? NULL : calloc(count + 1, sizeof *axes);
  if (axes == NULL) {
    return tensor == NULL ? NULL : PyErr_NoMemory();
  }
  if (read_axes(tuple, axes) < 0) {
    free(axes);
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_structured_reverse(tensor, axes, count, &made, &error);
  Py_END_ALLOW_THREADS
  free(axes);
  return cst__py_structured_finish(state, status, &error, made);
}

PyObject *cst__py_structured_mask(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *objects[2];
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  cst_status status;
  if (!PyArg_ParseTuple(args, "OO:structured_mask", &objects[0], &objects[1])) {
    return NULL;
  }
  const cst_structured *tensor = cst__py_structured_need(state, objects[0]);
  const cst_structured *condition =
      tensor == NULL ? NULL : cst__py_structured_need(state, objects[1]);
  if (condition == NULL) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_structured_mask(tensor, condition, &made, &error);
  Py_END_ALLOW_THREADS
  return cst__py_structured_finish_index(state, status, &error, made);
}

PyObject *cst__py_structured_where(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *objects[3];
  const cst_structured *tensors[3];
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  cst_status status;
  if (!PyArg_ParseTuple(args, "OOO:structured_where", &objects[0], &objects[1], &objects[2])) {
    return NULL;
  }
  for (int i = 0; i < 3; i++) {
    tensors[i] = cst__py_structured_need(state, objects[i]);
    if (tensors[i] == NULL) {
      return NULL;
    }
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_structured_where(tensors[0], tensors[1], tensors[2], &made, &error);
  Py_END_ALLOW_THREADS
  return cst__py_structured_finish_index(state, status, &error, made);
}

PyObject *cst__py_structured_true_places(PyObject *module, PyObject *object) {
  cst__py_state *state = PyModule_GetState(module);
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  cst_status status;
  const cst_structured *condition = cst__py_structured_need(state, object);
  if (condition == NULL) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_structured_true_places(condition, &made, &error);
  Py_END_ALLOW_THREADS
  return cst__py_structured_finish(state, status, &error, made);
}
