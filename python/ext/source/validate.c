/* Source: validate, which compares all records with a schema. */
#include <columnstone/validate.h>

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

/* ((file, record, found), ...) */
static PyObject *list_places(const cst_anomaly *anomaly) {
  PyObject *tuple = PyTuple_New((Py_ssize_t)anomaly->num_places);
  for (size_t i = 0; tuple != NULL && i < anomaly->num_places; i++) {
    const cst_anomaly_place *place = &anomaly->places[i];
    PyObject *record = place->record < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(place->record);
    PyObject *entry =
        Py_BuildValue("(NNs)", PyUnicode_DecodeFSDefault(place->file), record, place->found);
    if (entry == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, entry) < 0) {
      Py_CLEAR(tuple);
    }
  }
  return tuple;
}

static PyObject *list_anomaly(const cst_anomaly *anomaly) {
  PyObject *places = list_places(anomaly);
  return places == NULL ? NULL
                        : Py_BuildValue("(szzzssKN)", anomaly->kind, anomaly->path, anomaly->tensor,
                                        anomaly->group, anomaly->message, anomaly->hint,
                                        (unsigned long long)anomaly->count, places);
}

static PyObject *list_all(const cst_validation *validation) {
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list != NULL && i < cst_validation_count(validation); i++) {
    PyObject *entry = list_anomaly(cst_validation_get(validation, i));
    if (entry == NULL || PyList_Append(list, entry) < 0) {
      Py_CLEAR(list);
    }
    Py_XDECREF(entry);
  }
  return list == NULL
             ? NULL
             : Py_BuildValue("(KN)", (unsigned long long)cst_validation_num_rows(validation), list);
}

static PyObject *run_validation(PyObject *object, const cst_validate_options *options) {
  cst__py_source_call call;
  cst_validation *validation = NULL;
  if (!cst__py_source_call_begin(&call, object)) {
    return NULL;
  }
  cst_status status = cst_source_validate(call.source, options, &validation, &call.error);
  PyObject *result = cst__py_source_call_end(&call, status) ? list_all(validation) : NULL;
  cst_validation_free(validation);
  return result;
}

PyObject *cst__py_source_validate(PyObject *object, PyObject *args) {
  cst_validate_options options = CST_VALIDATE_OPTIONS_INIT;
  PyObject *schema;
  PyObject *groups;
  PyObject *progress;
  int skip_tensors;
  int ignore_unexpected;
  unsigned long long places;
  if (!PyArg_ParseTuple(args, "OOzppKO:validate", &schema, &groups, &options.environment,
                        &skip_tensors, &ignore_unexpected, &places, &progress) ||
      cst__py_schema_arg(cst__py_state_of(object), schema, &options.schema) < 0) {
    return NULL;
  }
  cst__py_names names;
  if (cst__py_names_init(&names, groups) < 0) {
    return NULL;
  }
  options.groups = names.names;
  options.num_groups = names.count;
  options.skip_tensors = skip_tensors != 0;
  options.ignore_unexpected = ignore_unexpected != 0;
  options.max_places = (size_t)places;
  options.on_progress = on_progress;
  options.progress_ctx = progress;
  PyObject *result = run_validation(object, &options);
  cst__py_names_reset(&names);
  return result;
}
