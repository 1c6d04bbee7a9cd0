/* Source: count, verify, infer and propose, which look at files without making batches. */
#include <columnstone/validate.h>
#include <stdlib.h>

#include "ext/schema/schema.h"
#include "ext/source/source.h"

typedef struct scan {
  cst__py_state *state;
  PyObject *files;
  PyObject *faults;
} scan;

/* Appends a new reference; after a failure nothing more is collected and the exception stays. */
static void collect(PyObject *list, PyObject *item) {
  if (item != NULL) {
    PyList_Append(list, item);
    Py_DECREF(item);
  }
}

static void on_file(void *ctx, const cst_file_count *count) {
  scan *s = ctx;
  PyGILState_STATE gil = PyGILState_Ensure();
  if (PyErr_Occurred() == NULL) {
    collect(s->files, Py_BuildValue("(NKKKK)", PyUnicode_DecodeFSDefault(count->file),
                                    (unsigned long long)count->records,
                                    (unsigned long long)count->record_bytes,
                                    (unsigned long long)count->stream_bytes,
                                    (unsigned long long)count->file_bytes));
  }
  PyGILState_Release(gil);
}

static void on_fault(void *ctx, const cst_fault *fault) {
  scan *s = ctx;
  PyGILState_STATE gil = PyGILState_Ensure();
  if (PyErr_Occurred() == NULL) {
    collect(s->faults,
            Py_BuildValue("(sN)", fault->kind, cst__py_error_object(s->state, fault->error)));
  }
  PyGILState_Release(gil);
}

PyObject *cst__py_source_count(PyObject *object, PyObject *unused) {
  (void)unused;
  scan s = {cst__py_state_of(object), PyList_New(0), NULL};
  cst__py_source_call call;
  if (s.files == NULL || !cst__py_source_call_begin(&call, object) ||
      !cst__py_source_call_end(&call, cst_source_count(call.source, on_file, &s, &call.error))) {
    Py_CLEAR(s.files);
  }
  return s.files;
}

PyObject *cst__py_source_verify(PyObject *object, PyObject *unused) {
  (void)unused;
  scan s = {cst__py_state_of(object), PyList_New(0), PyList_New(0)};
  cst__py_source_call call;
  uint64_t num_faults = 0;
  if (s.files == NULL || s.faults == NULL || !cst__py_source_call_begin(&call, object) ||
      !cst__py_source_call_end(&call, cst_source_verify(call.source, on_fault, on_file, NULL, &s,
                                                        &num_faults, &call.error))) {
    Py_XDECREF(s.files);
    Py_XDECREF(s.faults);
    return NULL;
  }
  return Py_BuildValue("(NN)", s.faults, s.files);
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
