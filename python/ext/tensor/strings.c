/* Strings of tensors as one block of bytes and their lengths, and back: how they cross from one
 * process to another without an object for each.
 */
#include "ext/tensor/tensor.h"

static PyObject *new_bytes(int64_t size) {
  if (size > PY_SSIZE_T_MAX) {
    return PyErr_NoMemory();
  }
  return PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
}

/* Both blocks are as long as the strings ask for. */
static void fill(const cst_ndarray *array, char *data, char *lengths) {
  for (int64_t i = 0; i < array->size; i++) {
    const cst_bytes *s = &array->strings[i];
    int64_t length = (int64_t)s->size;
    if (length > 0) {
      memcpy(data, s->data, s->size);
      data += length;
    }
    memcpy(lengths + (size_t)i * sizeof length, &length, sizeof length);
  }
}

PyObject *cst__py_join_strings(PyObject *module, PyObject *object) {
  cst__py_state *state = PyModule_GetState(module);
  const cst_ndarray *array = cst__py_tensor_view(state, object);
  if (array == NULL || array->dtype != CST_DTYPE_BYTES) {
    PyErr_SetString(PyExc_TypeError, "a tensor of strings is needed");
    return NULL;
  }
  int64_t size = 0;
  for (int64_t i = 0; i < array->size; i++) {
    size += (int64_t)array->strings[i].size; /* all lie in one address space */
  }
  PyObject *data = new_bytes(size);
  PyObject *lengths = data == NULL ? NULL : new_bytes(array->size * (int64_t)sizeof(int64_t));
  if (lengths == NULL) {
    Py_XDECREF(data);
    return NULL;
  }
  fill(array, PyBytes_AsString(data), PyBytes_AsString(lengths));
  return Py_BuildValue("(NN)", data, lengths);
}

/* A list of the strings, whose lengths have to add up to the size of the data. */
static PyObject *strings_split(const Py_buffer *data, const Py_buffer *lengths) {
  Py_ssize_t count = lengths->len / (Py_ssize_t)sizeof(int64_t);
  Py_ssize_t begin = 0;
  PyObject *list = PyList_New(count);
  for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
    int64_t length;
    memcpy(&length, (const char *)lengths->buf + i * (Py_ssize_t)sizeof length, sizeof length);
    PyObject *item = NULL;
    if (length < 0 || length > data->len - begin) {
      PyErr_SetString(PyExc_ValueError, "the lengths go beyond the data");
    } else {
      item = PyBytes_FromStringAndSize((const char *)data->buf + begin, (Py_ssize_t)length);
      begin += (Py_ssize_t)length;
    }
    if (item == NULL || PyList_SetItem(list, i, item) < 0 || PyErr_CheckSignals() < 0) {
      Py_CLEAR(list);
    }
  }
  return list;
}

PyObject *cst__py_split_strings(PyObject *module, PyObject *args) {
  (void)module;
  Py_buffer data;
  Py_buffer lengths;
  if (!PyArg_ParseTuple(args, "y*y*:split_strings", &data, &lengths)) {
    return NULL;
  }
  PyObject *list = strings_split(&data, &lengths);
  PyBuffer_Release(&data);
  PyBuffer_Release(&lengths);
  return list;
}
