/* Whole dimensions, values and nulls: functions of the module, which columnstone._struct.arrange
 * and nulls call with arguments of exact types.
 */
#include <stdlib.h>

#include "ext/structured/structured.h"
#include "ext/table/table.h"

/* ---- several tensors ---- */

typedef cst_status (*join_function)(const cst_structured *const *tensors, size_t count, int axis,
                                    cst_structured **out, cst_error *error);

static PyObject *call_join(PyObject *module, PyObject *args, join_function function) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *tuple;
  int axis;
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  cst_status status;
  if (!PyArg_ParseTuple(args, "O!i:structured_join", &PyTuple_Type, &tuple, &axis)) {
    return NULL;
  }
  Py_ssize_t count = PyTuple_Size(tuple);
  const cst_structured **tensors = calloc((size_t)count + 1, sizeof *tensors);
  if (tensors == NULL) {
    return PyErr_NoMemory();
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    tensors[i] = cst__py_structured_need(state, PyTuple_GetItem(tuple, i));
    if (tensors[i] == NULL) {
      free(tensors);
      return NULL;
    }
  }
  Py_BEGIN_ALLOW_THREADS
  status = function(tensors, (size_t)count, axis, &made, &error);
  Py_END_ALLOW_THREADS
  free(tensors);
  return cst__py_structured_finish(state, status, &error, made);
}

PyObject *cst__py_structured_concat(PyObject *module, PyObject *args) {
  return call_join(module, args, cst_structured_concat);
}

PyObject *cst__py_structured_stack(PyObject *module, PyObject *args) {
  return call_join(module, args, cst_structured_stack);
}

/* ---- dimensions ---- */

PyObject *cst__py_structured_tile(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *object;
  Py_buffer multiples; /* int64 */
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  cst_status status = CST_OK;
  if (!PyArg_ParseTuple(args, "Oy*:structured_tile", &object, &multiples)) {
    return NULL;
  }
  const cst_structured *tensor = cst__py_structured_need(state, object);
  size_t count = (size_t)multiples.len / sizeof(int64_t);
  if (tensor != NULL && count != cst_structured_rank(tensor)) {
    cst__py_fail(state, CST_INVALID_ARGUMENT, "", "%zu multiples for %zu dimensions", count,
                 cst_structured_rank(tensor));
    tensor = NULL;
  }
  if (tensor != NULL) {
    Py_BEGIN_ALLOW_THREADS
    status = cst_structured_tile(tensor, multiples.buf, &made, &error);
    Py_END_ALLOW_THREADS
  }
  PyBuffer_Release(&multiples);
  return tensor == NULL ? NULL : cst__py_structured_finish(state, status, &error, made);
}

typedef cst_status (*number_function)(const cst_structured *tensor, int number,
                                      cst_structured **out, cst_error *error);

static PyObject *call_with_number(PyObject *module, PyObject *args, number_function function) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *object;
  int number;
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  cst_status status;
  if (!PyArg_ParseTuple(args, "Oi:structured", &object, &number)) {
    return NULL;
  }
  const cst_structured *tensor = cst__py_structured_need(state, object);
  if (tensor == NULL) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = function(tensor, number, &made, &error);
  Py_END_ALLOW_THREADS
  return cst__py_structured_finish(state, status, &error, made);
}

PyObject *cst__py_structured_expand_dims(PyObject *module, PyObject *args) {
  return call_with_number(module, args, cst_structured_expand_dims);
}

PyObject *cst__py_structured_row_lengths(PyObject *module, PyObject *args) {
  return call_with_number(module, args, cst_structured_row_lengths);
}

PyObject *cst__py_structured_squeeze(PyObject *module, PyObject *args) {
  enum { MOST_AXES = 128 };
  cst__py_state *state = PyModule_GetState(module);
  PyObject *object;
  PyObject *tuple;
  int axes[MOST_AXES];
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  cst_status status;
  if (!PyArg_ParseTuple(args, "OO!:structured_squeeze", &object, &PyTuple_Type, &tuple)) {
    return NULL;
  }
  const cst_structured *tensor = cst__py_structured_need(state, object);
  Py_ssize_t count = PyTuple_Size(tuple);
  if (tensor == NULL || count > MOST_AXES) {
    return tensor == NULL ? NULL : cst__py_fail(state, CST_INVALID_ARGUMENT, "", "%zd axes", count);
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    long axis = PyLong_AsLong(PyTuple_GetItem(tuple, i));
    if (axis == -1 && PyErr_Occurred() != NULL) {
      return NULL;
    }
    axes[i] = axis > MOST_AXES ? MOST_AXES + 1 : axis < -MOST_AXES ? -MOST_AXES - 1 : (int)axis;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_structured_squeeze(tensor, axes, (size_t)count, &made, &error);
  Py_END_ALLOW_THREADS
  return cst__py_structured_finish(state, status, &error, made);
}

PyObject *cst__py_structured_merge_dims(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *object;
  int outer;
  int inner;
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  cst_status status;
  if (!PyArg_ParseTuple(args, "Oii:structured_merge_dims", &object, &outer, &inner)) {
    return NULL;
  }
  const cst_structured *tensor = cst__py_structured_need(state, object);
  if (tensor == NULL) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_structured_merge_dims(tensor, outer, inner, &made, &error);
  Py_END_ALLOW_THREADS
  return cst__py_structured_finish(state, status, &error, made);
}

PyObject *cst__py_structured_partition(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *object;
  PyObject *splits;
  long long size;
  Py_buffer numbers = {.buf = NULL}; /* int64 */
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  cst_status status;
  if (!PyArg_ParseTuple(args, "OOL:structured_partition", &object, &splits, &size)) {
    return NULL;
  }
  const cst_structured *tensor = cst__py_structured_need(state, object);
  if (tensor == NULL ||
      (splits != Py_None && PyObject_GetBuffer(splits, &numbers, PyBUF_SIMPLE) < 0)) {
    return NULL;
  }
  size_t count = (size_t)numbers.len / sizeof(int64_t);
  static const int64_t nothing = 0;
  const int64_t *given = splits == Py_None ? NULL : count == 0 ? &nothing : numbers.buf;
  Py_BEGIN_ALLOW_THREADS
  status = cst_structured_partition(tensor, given, count, size, &made, &error);
  Py_END_ALLOW_THREADS
  if (splits != Py_None) {
    PyBuffer_Release(&numbers);
  }
  return cst__py_structured_finish(state, status, &error, made);
}

/* ---- values and nulls ---- */

PyObject *cst__py_structured_like(PyObject *module, PyObject *args) {
  return call_with_number(module, args, cst_structured_like);
}

/* A tensor, and a path within it, of "OO". NULL with an exception; else the path is to be reset. */
static const cst_structured *tensor_and_path(cst__py_state *state, PyObject *object, PyObject *key,
                                             cst__py_path *path) {
  const cst_structured *tensor = cst__py_structured_need(state, object);
  return tensor == NULL ||
                 cst__py_path_init(path, cst_array_schema(cst_structured_array(tensor)), key) < 0
             ? NULL
             : tensor;
}

PyObject *cst__py_structured_test_null(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *object;
  PyObject *key;
  int is_has;
  cst__py_path path;
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  cst_status status;
  if (!PyArg_ParseTuple(args, "OOp:structured_test_null", &object, &key, &is_has)) {
    return NULL;
  }
  const cst_structured *tensor = tensor_and_path(state, object, key, &path);
  if (tensor == NULL) {
    return NULL;
  }
  cst_null_test test = is_has ? CST_HAS : CST_IS_NULL;
  Py_BEGIN_ALLOW_THREADS
  status = cst_structured_test_null(tensor, &path.path, test, &made, &error);
  Py_END_ALLOW_THREADS
  cst__py_path_reset(&path);
  return cst__py_structured_finish(state, status, &error, made);
}

PyObject *cst__py_structured_drop_null(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *object;
  PyObject *key;
  cst__py_path path;
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  cst_status status;
  if (!PyArg_ParseTuple(args, "OO:structured_drop_null", &object, &key)) {
    return NULL;
  }
  const cst_structured *tensor = tensor_and_path(state, object, key, &path);
  if (tensor == NULL) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_structured_drop_null(tensor, &path.path, &made, &error);
  Py_END_ALLOW_THREADS
  cst__py_path_reset(&path);
  return cst__py_structured_finish(state, status, &error, made);
}

PyObject *cst__py_structured_fill_null(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *object;
  PyObject *fill;
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  cst_status status;
  if (!PyArg_ParseTuple(args, "OO:structured_fill_null", &object, &fill)) {
    return NULL;
  }
  const cst_structured *tensor = cst__py_structured_need(state, object);
  const cst_array *values =
      tensor == NULL || fill == Py_None ? NULL : cst__py_table_handle_of(state, fill);
  if (tensor == NULL || (values == NULL && fill != Py_None)) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = values == NULL ? cst_structured_fill_null_lists(tensor, &made, &error)
                          : cst_structured_fill_null(tensor, values, &made, &error);
  Py_END_ALLOW_THREADS
  return cst__py_structured_finish(state, status, &error, made);
}
