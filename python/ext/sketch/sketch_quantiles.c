/* What is asked of a sketch of quantiles. */
#include "ext/sketch/sketch.h"

/* Numbers of a sequence; NULL with an exception. */
static double *read_numbers(PyObject *object, size_t *count) {
  PyObject *items = PySequence_Tuple(object);
  if (items == NULL) {
    return NULL;
  }
  *count = (size_t)PyTuple_Size(items);
  double *numbers = PyMem_New(double, *count + 1);
  if (numbers == NULL) {
    PyErr_NoMemory();
  }
  for (size_t i = 0; numbers != NULL && i < *count; i++) {
    numbers[i] = PyFloat_AsDouble(PyTuple_GetItem(items, (Py_ssize_t)i));
    if (PyErr_Occurred()) {
      PyMem_Free(numbers);
      numbers = NULL;
    }
  }
  Py_DECREF(items);
  return numbers;
}

static PyObject *list_of(const double *numbers, size_t count) {
  PyObject *list = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; list != NULL && i < count; i++) {
    PyObject *number = PyFloat_FromDouble(numbers[i]);
    if (number == NULL || PyList_SetItem(list, (Py_ssize_t)i, number) < 0) {
      Py_CLEAR(list);
    }
  }
  return list;
}

/* The sketch among the arguments; NULL with an exception. */
static cst_sketch *enter(cst__py_state *state, PyObject *object) {
  if (Py_TYPE(object) != state->sketch_type) {
    PyErr_SetString(PyExc_TypeError, "expected a _core.Sketch");
    return NULL;
  }
  return cst__py_sketch_enter(object);
}

static PyObject *array_of(cst__py_state *state, struct ArrowSchema *schema,
                          struct ArrowArray *array) {
  PyObject *type = cst__py_arrow_schema_new(state, schema);
  if (type == NULL) {
    array->release(array);
    return NULL;
  }
  PyObject *made = cst__py_array_new(state, type, array);
  Py_DECREF(type);
  return made;
}

PyObject *cst__py_sketch_quantiles(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  cst_error error = CST_ERROR_INIT;
  PyObject *object, *asked;
  struct ArrowSchema schema;
  struct ArrowArray array;
  size_t count;
  if (!PyArg_ParseTuple(args, "OO:sketch_quantiles", &object, &asked)) {
    return NULL;
  }
  double *ranks = read_numbers(asked, &count);
  cst_sketch *sketch = ranks != NULL ? enter(state, object) : NULL;
  if (sketch == NULL) {
    PyMem_Free(ranks);
    return NULL;
  }
  cst_status status = cst_sketch_quantiles(sketch, ranks, count, &schema, &array, &error);
  cst__py_sketch_leave(object);
  PyMem_Free(ranks);
  return status == CST_OK ? array_of(state, &schema, &array) : cst__py_raise(state, &error);
}

PyObject *cst__py_sketch_ranks(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  cst_error error = CST_ERROR_INIT;
  PyObject *object, *asked;
  size_t count;
  int is_inclusive;
  if (!PyArg_ParseTuple(args, "OOp:sketch_ranks", &object, &asked, &is_inclusive)) {
    return NULL;
  }
  double *values = read_numbers(asked, &count);
  double *ranks = values != NULL ? PyMem_New(double, count + 1) : NULL;
  if (values != NULL && ranks == NULL) {
    PyErr_NoMemory();
  }
  cst_sketch *sketch = ranks != NULL ? enter(state, object) : NULL;
  PyObject *result = NULL;
  if (sketch != NULL) {
    cst_status status = cst_sketch_ranks(sketch, values, count, is_inclusive != 0, ranks, &error);
    cst__py_sketch_leave(object);
    result = status == CST_OK ? list_of(ranks, count) : cst__py_raise(state, &error);
  }
  PyMem_Free(values);
  PyMem_Free(ranks);
  return result;
}

PyObject *cst__py_sketch_parts(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  cst_error error = CST_ERROR_INIT;
  PyObject *object;
  int is_equal_width;
  Py_ssize_t parts;
  if (!PyArg_ParseTuple(args, "Opn:sketch_parts", &object, &is_equal_width, &parts)) {
    return NULL;
  }
  size_t count = parts > 0 ? (size_t)parts : 0;
  double *bounds =
      count < PY_SSIZE_T_MAX / 2 ? PyMem_New(double, 2 * count + 1) : NULL; /* and the weights */
  if (bounds == NULL) {
    return PyErr_NoMemory();
  }
  cst_sketch *sketch = enter(state, object);
  PyObject *result = NULL;
  if (sketch != NULL) {
    double *weights = bounds + count + 1;
    cst_status status =
        cst_sketch_parts(sketch, is_equal_width ? CST_PARTS_EQUAL_WIDTH : CST_PARTS_EQUAL_DEPTH,
                         count, bounds, weights, &error);
    cst__py_sketch_leave(object);
    result = status == CST_OK
                 ? Py_BuildValue("(NN)", list_of(bounds, count + 1), list_of(weights, count))
                 : cst__py_raise(state, &error);
  }
  PyMem_Free(bounds);
  return result;
}

PyObject *cst__py_sketch_cuts(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  cst_error error = CST_ERROR_INIT;
  PyObject *object;
  Py_ssize_t parts;
  if (!PyArg_ParseTuple(args, "On:sketch_cuts", &object, &parts)) {
    return NULL;
  }
  size_t count = parts > 0 ? (size_t)parts : 0;
  double *values =
      count < PY_SSIZE_T_MAX / 2 ? PyMem_New(double, 2 * count + 2) : NULL; /* and the weights */
  if (values == NULL) {
    return PyErr_NoMemory();
  }
  cst_sketch *sketch = enter(state, object);
  PyObject *result = NULL;
  if (sketch != NULL) {
    double *upto = values + count + 1;
    cst_status status = cst_sketch_cuts(sketch, count, values, upto, &error);
    cst__py_sketch_leave(object);
    result = status == CST_OK
                 ? Py_BuildValue("(NN)", list_of(values, count + 1), list_of(upto, count + 1))
                 : cst__py_raise(state, &error);
  }
  PyMem_Free(values);
  return result;
}

PyObject *cst__py_sketch_compact(PyObject *module, PyObject *object) {
  cst__py_state *state = PyModule_GetState(module);
  cst_error error = CST_ERROR_INIT;
  cst_sketch *sketch = enter(state, object);
  if (sketch == NULL) {
    return NULL;
  }
  cst_status status = cst_sketch_compact(sketch, &error);
  cst__py_sketch_leave(object);
  return status == CST_OK ? Py_NewRef(Py_None) : cst__py_raise(state, &error);
}

PyObject *cst__py_sketch_from_tfx_bsl_stream(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  cst_error error = CST_ERROR_INIT;
  cst_sketch *made = NULL;
  const char *data;
  Py_ssize_t size, stream;
  size_t count;
  if (!PyArg_ParseTuple(args, "y#n:sketch_from_tfx_bsl_stream", &data, &size, &stream)) {
    return NULL;
  }
  const cst_bytes bytes = {(const uint8_t *)data, (size_t)size};
  if (cst_sketch_from_tfx_bsl_stream(bytes, (size_t)stream, NULL, &made, &count, &error) !=
      CST_OK) {
    return cst__py_raise(state, &error);
  }
  return made != NULL ? cst__py_sketch_wrap(state, made) : Py_NewRef(Py_None);
}

PyObject *cst__py_sketch_ranked(PyObject *module, PyObject *object) {
  cst__py_state *state = PyModule_GetState(module);
  cst_error error = CST_ERROR_INIT;
  double weight;
  int64_t nans;
  cst_sketch *sketch = enter(state, object);
  if (sketch == NULL) {
    return NULL;
  }
  cst_status status = cst_sketch_ranked(sketch, &weight, &nans, &error);
  cst__py_sketch_leave(object);
  return status == CST_OK ? Py_BuildValue("(dL)", weight, (long long)nans)
                          : cst__py_raise(state, &error);
}

PyObject *cst__py_sketch_add_tfx_bsl_stream(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  cst_error error = CST_ERROR_INIT;
  PyObject *object;
  const char *data;
  Py_ssize_t size, stream;
  size_t count;
  if (!PyArg_ParseTuple(args, "Oy#n:sketch_add_tfx_bsl_stream", &object, &data, &size, &stream)) {
    return NULL;
  }
  const cst_bytes bytes = {(const uint8_t *)data, (size_t)size};
  cst_sketch *sketch = enter(state, object);
  if (sketch == NULL) {
    return NULL;
  }
  cst_status status = cst_sketch_add_tfx_bsl_stream(sketch, bytes, (size_t)stream, &count, &error);
  cst__py_sketch_leave(object);
  return status == CST_OK ? PyLong_FromSize_t(count) : cst__py_raise(state, &error);
}

/* Locks them one after the other, as many as it can; how many. Less than all: an exception is set.
 */
static Py_ssize_t enter_all(cst__py_state *state, PyObject *objects, const cst_sketch **sketches) {
  Py_ssize_t count = PyTuple_Size(objects);
  for (Py_ssize_t i = 0; i < count; i++) {
    sketches[i] = enter(state, PyTuple_GetItem(objects, i));
    if (sketches[i] == NULL) {
      return i;
    }
  }
  return count;
}

PyObject *cst__py_sketch_to_tfx_bsl_streams(PyObject *module, PyObject *objects) {
  cst__py_state *state = PyModule_GetState(module);
  cst_error error = CST_ERROR_INIT;
  char *bytes = NULL;
  size_t size = 0;
  if (!PyTuple_Check(objects)) {
    PyErr_SetString(PyExc_TypeError, "expected a tuple");
    return NULL;
  }
  Py_ssize_t count = PyTuple_Size(objects);
  const cst_sketch **sketches = PyMem_New(const cst_sketch *, (size_t)count + 1);
  if (sketches == NULL) {
    return PyErr_NoMemory();
  }
  Py_ssize_t entered = enter_all(state, objects, sketches);
  PyObject *saved = NULL;
  if (entered == count) {
    cst_status status =
        cst_sketch_to_tfx_bsl_streams(sketches, (size_t)count, &bytes, &size, &error);
    saved = status == CST_OK ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size)
                             : cst__py_raise(state, &error);
  }
  for (Py_ssize_t i = 0; i < entered; i++) {
    cst__py_sketch_leave(PyTuple_GetItem(objects, i));
  }
  cst_free(bytes);
  PyMem_Free(sketches);
  return saved;
}
