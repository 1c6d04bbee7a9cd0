/* Splits: planned as findings, read as tuples. */
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/source/source.h"

/* ---- planning ---- */

/* What plan_splits is called with; the lists borrow from the tuples. */
typedef struct split_arguments {
  PyObject *paths;
  PyObject *sizes; /* or None */
  const char **list;
  uint64_t *file_sizes;
  cst_split_options options;
} split_arguments;

/* 0, or -1 with an exception. */
static int take_split_arguments(split_arguments *a, PyObject *args) {
  int cut;
  unsigned long long target;
  if (!PyArg_ParseTuple(args, "O!OKzzi:plan_splits", &PyTuple_Type, &a->paths, &a->sizes, &target,
                        &a->options.format, &a->options.container, &cut)) {
    return -1;
  }
  const size_t count = (size_t)PyTuple_Size(a->paths);
  a->options.target_bytes = target;
  a->options.cut = (cst_split_cut)cut;
  a->list = calloc(count + 1, sizeof *a->list);
  a->file_sizes = calloc(count + 1, sizeof *a->file_sizes);
  if (a->list == NULL || a->file_sizes == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  for (size_t i = 0; i < count; i++) {
    a->list[i] = PyBytes_AsString(PyTuple_GetItem(a->paths, (Py_ssize_t)i));
    if (a->list[i] == NULL) {
      return -1;
    }
    if (a->sizes != Py_None) {
      PyObject *size = PyTuple_GetItem(a->sizes, (Py_ssize_t)i);
      a->file_sizes[i] = size == NULL      ? 0
                         : size == Py_None ? UINT64_MAX
                                           : PyLong_AsUnsignedLongLong(size);
    }
    if (PyErr_Occurred() != NULL) {
      return -1;
    }
  }
  a->options.file_sizes = a->sizes != Py_None ? a->file_sizes : NULL;
  return 0;
}

PyObject *cst__py_plan_splits(PyObject *module, PyObject *args) {
  split_arguments a = {.options = CST_SPLIT_OPTIONS_INIT};
  PyObject *planned = NULL;
  if (take_split_arguments(&a, args) == 0) {
    cst_splits *splits = NULL;
    cst_findings *found = NULL;
    cst_error error = CST_ERROR_INIT;
    cst_status status;
    Py_BEGIN_ALLOW_THREADS
    status = cst_splits_plan(a.list, (size_t)PyTuple_Size(a.paths), &a.options, &splits, &error);
    if (status == CST_OK) {
      status = cst_splits_findings(splits, &found, &error);
    }
    Py_END_ALLOW_THREADS
    if (status == CST_OK) {
      planned = cst__py_findings(PyModule_GetState(module), found);
    } else if (PyErr_Occurred() == NULL) {
      cst__py_raise(PyModule_GetState(module), &error);
    }
    cst_splits_free(splits);
  }
  free(a.list);
  free(a.file_sizes);
  return planned;
}

/* ---- reading ---- */

cst_source *cst__py_source_of_splits(PyObject *object, PyObject *args) {
  PyObject *tuple;
  cst__py_source_call call;
  cst_source *part = NULL;
  if (!PyArg_ParseTuple(args, "O!:read_splits", &PyTuple_Type, &tuple)) {
    return NULL;
  }
  const size_t count = (size_t)PyTuple_Size(tuple);
  cst_split *splits = calloc(count + 1, sizeof *splits);
  if (splits == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  bool done = true;
  for (size_t i = 0; i < count && done; i++) {
    long long begin; /* larger numbers are an OverflowError */
    long long end;
    int exact;
    long long record;
    done = PyArg_ParseTuple(PyTuple_GetItem(tuple, (Py_ssize_t)i), "yLLpL", &splits[i].file, &begin,
                            &end, &exact, &record);
    if (done) {
      splits[i].begin = (uint64_t)begin;
      splits[i].end = (uint64_t)end;
      splits[i].exact = exact != 0;
      splits[i].record = (uint64_t)record;
    }
  }
  if (done && cst__py_source_call_begin(&call, object)) {
    (void)cst__py_source_call_end(
        &call, cst_source_read_splits(call.source, splits, count, &part, &call.error));
  }
  free(splits);
  return part;
}
