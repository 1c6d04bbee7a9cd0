/* Source: count, verify, infer and propose, which look at files without making batches. */
#include <columnstone/validate.h>
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/schema/schema.h"
#include "ext/source/source.h"

/* What was found, or NULL with an exception, as the call has ended. */
static PyObject *scan_found(PyObject *object, bool done, cst_findings *found) {
  if (!done) {
    cst_findings_free(found);
    return NULL;
  }
  return cst__py_findings(cst__py_state_of(object), found);
}

PyObject *cst__py_source_count(PyObject *object, PyObject *unused) {
  (void)unused;
  cst_findings *files = NULL;
  cst__py_source_call call;
  bool done = cst__py_source_call_begin(&call, object) &&
              cst__py_source_call_end(
                  &call, cst_source_count(call.source, NULL, NULL, &files, &call.error));
  return scan_found(object, done, files);
}

/* verify(max_faults) */
PyObject *cst__py_source_verify(PyObject *object, PyObject *max_faults) {
  cst_verify_options options = CST_VERIFY_OPTIONS_INIT;
  cst_findings *faults = NULL;
  cst_findings *files = NULL;
  cst__py_source_call call;
  options.max_faults = PyLong_AsUnsignedLongLong(max_faults);
  if (PyErr_Occurred() != NULL) {
    return NULL;
  }
  bool done = cst__py_source_call_begin(&call, object) &&
              cst__py_source_call_end(
                  &call, cst_source_verify(call.source, &options, &faults, &files, &call.error));
  PyObject *found = scan_found(object, done, faults);
  PyObject *counts = scan_found(object, found != NULL, files);
  if (counts == NULL) {
    Py_XDECREF(found);
    return NULL;
  }
  return Py_BuildValue("(NN)", found, counts);
}

/* Infers, or (options) proposes. */
static PyObject *make_schema(PyObject *object, const cst_propose_options *options) {
  cst__py_source_call call;
  cst_schema *made = NULL;
  if (!cst__py_source_call_begin(&call, object)) {
    return NULL;
  }
  cst_status status = options != NULL
                          ? cst_source_propose(call.source, options, &made, &call.error)
                          : cst_source_infer(call.source, NULL, NULL, &made, &call.error);
  if (!cst__py_source_call_end(&call, status)) {
    cst_schema_release(made);
    return NULL;
  }
  PyObject *result = cst__py_schema_new(cst__py_state_of(object), made);
  cst_schema_release(made);
  return result;
}

PyObject *cst__py_source_infer(PyObject *object, PyObject *unused) {
  (void)unused;
  return make_schema(object, NULL);
}

/* propose(group, max_domain, ragged) */
PyObject *cst__py_source_propose(PyObject *object, PyObject *args) {
  cst_propose_options options = {.size = sizeof options};
  unsigned long long max_domain;
  int ragged;
  if (!PyArg_ParseTuple(args, "sKp:propose", &options.group, &max_domain, &ragged)) {
    return NULL;
  }
  options.max_domain = (size_t)max_domain;
  options.ragged = ragged != 0;
  return make_schema(object, &options);
}
