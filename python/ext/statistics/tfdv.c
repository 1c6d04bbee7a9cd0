/* Tables of features as TFDV's proto, and back. */
#include <stdlib.h>

#include "ext/statistics/statistics.h"

static void free_tables(cst_statistics_named *tables, Py_ssize_t count) {
  for (Py_ssize_t i = 0; tables != NULL && i < count; i++) {
    cst_findings_free((cst_findings *)(uintptr_t)tables[i].features);
  }
  free(tables);
}

/* A table and its name, or None. -1 with an exception. */
static int take_table(cst__py_state *state, PyObject *table, PyObject *name,
                      cst_statistics_named *out) {
  if (name != Py_None) {
    out->name = PyUnicode_AsUTF8AndSize(name, NULL);
    if (out->name == NULL) {
      return -1;
    }
  }
  out->features = cst__py_findings_of(state, table);
  return out->features != NULL ? 0 : -1;
}

PyObject *cst__py_statistics_to_tfdv(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  cst_error error = CST_ERROR_INIT;
  PyObject *tables, *names;
  if (!PyArg_ParseTuple(args, "O!O!:statistics_to_tfdv", &PyTuple_Type, &tables, &PyTuple_Type,
                        &names)) {
    return NULL;
  }
  const Py_ssize_t count = PyTuple_Size(tables);
  if (PyTuple_Size(names) != count) {
    PyErr_SetString(PyExc_ValueError, "there are not as many names as tables");
    return NULL;
  }
  cst_statistics_named *named = calloc((size_t)count + 1, sizeof *named);
  int result = named != NULL ? 0 : -1;
  if (named == NULL) {
    PyErr_NoMemory();
  }
  for (Py_ssize_t i = 0; result == 0 && i < count; i++) {
    result = take_table(state, PyTuple_GetItem(tables, i), PyTuple_GetItem(names, i), &named[i]);
  }
  PyObject *made = NULL;
  if (result == 0) {
    char *bytes = NULL;
    size_t size = 0;
    cst_status status;
    Py_BEGIN_ALLOW_THREADS
    status = cst_statistics_to_tfdv(named, (size_t)count, &bytes, &size, &error);
    Py_END_ALLOW_THREADS
    made = status == CST_OK ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size)
                            : cst__py_raise(state, &error);
    cst_free(bytes);
  }
  free_tables(named, count);
  return made;
}

PyObject *cst__py_statistics_from_tfdv(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  cst_error error = CST_ERROR_INIT;
  cst_findings *found = NULL;
  cst_status status;
  const char *bytes, *dataset;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(args, "y#z:statistics_from_tfdv", &bytes, &size, &dataset)) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_statistics_from_tfdv(bytes, (size_t)size, dataset, NULL, &found, &error);
  Py_END_ALLOW_THREADS
  return status == CST_OK ? cst__py_findings(state, found) : cst__py_raise(state, &error);
}
