/* What sketches of values have found: how many are different, and which are heavy. */
#include "ext/sketch/sketch.h"

/* sketch_distinct(sketch, deviations): (estimate, lower, upper) */
PyObject *cst__py_sketch_distinct(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  cst_error error = CST_ERROR_INIT;
  PyObject *object;
  double deviations;
  double estimate;
  double lower;
  double upper;
  if (!PyArg_ParseTuple(args, "O!d:sketch_distinct", state->sketch_type, &object, &deviations)) {
    return NULL;
  }
  cst_sketch *sketch = cst__py_sketch_enter(object);
  if (sketch == NULL) {
    return NULL;
  }
  cst_status status = cst_sketch_distinct(sketch, deviations, &estimate, &lower, &upper, &error);
  cst__py_sketch_leave(object);
  return status == CST_OK ? Py_BuildValue("(ddd)", estimate, lower, upper)
                          : cst__py_raise(state, &error);
}

/* sketch_top(sketch, most): a RecordBatch */
PyObject *cst__py_sketch_top(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  cst_error error = CST_ERROR_INIT;
  struct ArrowSchema schema;
  struct ArrowArray array;
  PyObject *object;
  long long most;
  if (!PyArg_ParseTuple(args, "O!L:sketch_top", state->sketch_type, &object, &most)) {
    return NULL;
  }
  cst_sketch *sketch = cst__py_sketch_enter(object);
  if (sketch == NULL) {
    return NULL;
  }
  cst_status status = cst_sketch_top(sketch, most, &schema, &array, &error);
  cst__py_sketch_leave(object);
  return status == CST_OK ? cst__py_batch_made(state, &schema, &array)
                          : cst__py_raise(state, &error);
}

/* sketch_to_tfx_bsl(sketch): bytes */
PyObject *cst__py_sketch_to_tfx_bsl(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  cst_error error = CST_ERROR_INIT;
  PyObject *object;
  char *bytes = NULL;
  size_t size = 0;
  if (!PyArg_ParseTuple(args, "O!:sketch_to_tfx_bsl", state->sketch_type, &object)) {
    return NULL;
  }
  cst_sketch *sketch = cst__py_sketch_enter(object);
  if (sketch == NULL) {
    return NULL;
  }
  cst_status status = cst_sketch_to_tfx_bsl(sketch, &bytes, &size, &error);
  cst__py_sketch_leave(object);
  PyObject *message = status == CST_OK ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size)
                                       : cst__py_raise(state, &error);
  cst_free(bytes);
  return message;
}

/* sketch_from_tfx_bsl(kind, bytes): a Sketch */
PyObject *cst__py_sketch_from_tfx_bsl(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  cst_error error = CST_ERROR_INIT;
  cst_sketch *made = NULL;
  const char *kind;
  const char *bytes;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(args, "sy#:sketch_from_tfx_bsl", &kind, &bytes, &size)) {
    return NULL;
  }
  return cst_sketch_from_tfx_bsl(kind, bytes, (size_t)size, NULL, &made, &error) == CST_OK
             ? cst__py_sketch_wrap(state, made)
             : cst__py_raise(state, &error);
}
