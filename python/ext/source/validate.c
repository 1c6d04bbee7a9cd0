/* Source: validate, which compares all records with a schema, and what any accumulator finds. */
#include <columnstone/validate.h>

#include "ext/arrow/arrow.h"
#include "ext/schema/schema.h"
#include "ext/source/source.h"

/* Tells the user's function, if there is one; what it raises stays set. */
static bool on_progress(void *ctx, uint64_t bytes, uint64_t records) {
  PyObject *function = ctx;
  PyGILState_STATE gil = PyGILState_Ensure();
  bool go_on = PyErr_Occurred() == NULL;
  if (go_on && function != Py_None) {
    PyObject *answer = PyObject_CallFunction(function, "KK", (unsigned long long)bytes,
                                             (unsigned long long)records);
    go_on = answer != NULL && answer != Py_False;
    Py_XDECREF(answer);
  }
  PyGILState_Release(gil);
  return go_on;
}

static PyObject *run_validation(PyObject *object, const cst_validate_options *options) {
  cst__py_source_call call;
  cst_findings *found = NULL;
  if (!cst__py_source_call_begin(&call, object)) {
    return NULL;
  }
  cst_status status = cst_source_validate(call.source, options, &found, &call.error);
  if (!cst__py_source_call_end(&call, status)) {
    cst_findings_free(found);
    return NULL;
  }
  return cst__py_findings(cst__py_state_of(object), found);
}

/* accumulate(accumulator, progress or None) */
PyObject *cst__py_source_accumulate(PyObject *object, PyObject *args) {
  cst__py_source_call call;
  PyObject *accumulator;
  PyObject *progress;
  if (!PyArg_ParseTuple(args, "OO:accumulate", &accumulator, &progress)) {
    return NULL;
  }
  cst_accumulator *handle = cst__py_accumulator_enter(cst__py_state_of(object), accumulator);
  if (handle == NULL) {
    return NULL;
  }
  cst__py_drops *drops = NULL;
  bool ok = cst__py_drops_begin(object, &drops) == 0 && cst__py_source_call_begin(&call, object);
  if (ok) {
    cst__py_drops *before = cst__py_drops_swap(drops);
    cst_status status =
        cst_accumulator_add_source(handle, call.source, on_progress, progress, &call.error);
    cst__py_drops_swap(before);
    ok = cst__py_source_call_end(&call, status);
  }
  cst__py_drops_free(drops);
  cst__py_accumulator_leave(accumulator);
  return ok ? Py_NewRef(Py_None) : NULL;
}

/* The statistics of an object, or none of None. 0, or -1 with an exception. */
static int read_statistics(cst__py_state *state, PyObject *table, cst_findings **out) {
  *out = table == Py_None ? NULL : cst__py_findings_of(state, table);
  return table == Py_None || *out != NULL ? 0 : -1;
}

PyObject *cst__py_source_validate(PyObject *object, PyObject *args) {
  cst_validate_options options = CST_VALIDATE_OPTIONS_INIT;
  PyObject *schema;
  PyObject *group;
  PyObject *progress;
  PyObject *tables[2];
  cst_findings *statistics[2] = {NULL, NULL};
  int skip_tensors;
  int ignore_unexpected;
  unsigned long long places;
  if (!PyArg_ParseTuple(args, "OOzppKOOO:validate", &schema, &group, &options.environment,
                        &skip_tensors, &ignore_unexpected, &places, &progress, &tables[0],
                        &tables[1]) ||
      cst__py_schema_arg(cst__py_state_of(object), schema, &options.schema) < 0) {
    return NULL;
  }
  cst__py_names names;
  if (cst__py_names_init(&names, group) < 0) {
    return NULL;
  }
  options.group = names.names;
  options.num_groups = names.count;
  options.skip_tensors = skip_tensors != 0;
  options.ignore_unexpected = ignore_unexpected != 0;
  options.places = (size_t)places;
  options.on_progress = on_progress;
  options.progress_ctx = progress;
  PyObject *result = NULL;
  if (read_statistics(cst__py_state_of(object), tables[0], &statistics[0]) == 0 &&
      read_statistics(cst__py_state_of(object), tables[1], &statistics[1]) == 0) {
    options.previous = statistics[0];
    options.serving = statistics[1];
    result = run_validation(object, &options);
  }
  cst_findings_free(statistics[0]);
  cst_findings_free(statistics[1]);
  cst__py_names_reset(&names);
  return result;
}
