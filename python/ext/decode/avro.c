/* Schemas of Avro. */
#include <columnstone/avro.h>

#include "ext/decode/decode.h"

/* (schema) -> str */
PyObject *cst__py_avro_canonical(PyObject *module, PyObject *args) {
  const char *schema;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(args, "s#:avro_canonical", &schema, &size)) {
    return NULL;
  }
  cst_error error = CST_ERROR_INIT;
  char *text = NULL;
  size_t text_size = 0;
  if (cst_avro_canonical(schema, (size_t)size, &text, &text_size, &error) != CST_OK) {
    return cst__py_raise(PyModule_GetState(module), &error);
  }
  PyObject *result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)text_size, NULL);
  cst_free(text);
  return result;
}

/* (schema) -> int */
PyObject *cst__py_avro_fingerprint(PyObject *module, PyObject *args) {
  const char *schema;
  Py_ssize_t size;
  uint64_t sum;
  if (!PyArg_ParseTuple(args, "s#:avro_fingerprint", &schema, &size)) {
    return NULL;
  }
  cst_error error = CST_ERROR_INIT;
  return cst_avro_fingerprint(schema, (size_t)size, &sum, &error) == CST_OK
             ? PyLong_FromUnsignedLongLong(sum)
             : cst__py_raise(PyModule_GetState(module), &error);
}
