/* Findings as what Python makes its classes of: a RecordBatch and a dict of totals. */
#include "ext/arrow/arrow.h"

static PyObject *totals_dict(const cst_findings *findings) {
  const char *name;
  PyObject *dict = PyDict_New();
  for (size_t i = 0; dict != NULL && (name = cst_findings_total_name(findings, i)) != NULL; i++) {
    PyObject *number = PyLong_FromLongLong(cst_findings_total(findings, name));
    if (number == NULL || PyDict_SetItemString(dict, name, number) < 0) {
      Py_CLEAR(dict);
    }
    Py_XDECREF(number);
  }
  return dict;
}

PyObject *cst__py_batch_made(cst__py_state *state, struct ArrowSchema *types,
                             struct ArrowArray *array) {
  PyObject *schema = cst__py_arrow_schema_new(state, types);
  if (schema == NULL) {
    array->release(array);
    return NULL;
  }
  PyObject *batch = cst__py_batch_new(state, schema, array);
  Py_DECREF(schema);
  return batch;
}

static PyObject *findings_batch(cst__py_state *state, const cst_findings *findings) {
  struct ArrowSchema types;
  struct ArrowArray array;
  cst_error error = CST_ERROR_INIT;
  if (cst_findings_batch(findings, &types, &array, &error) != CST_OK) {
    return cst__py_raise(state, &error);
  }
  return cst__py_batch_made(state, &types, &array);
}

PyObject *cst__py_findings(cst__py_state *state, cst_findings *findings) {
  PyObject *batch = findings_batch(state, findings);
  PyObject *totals = batch != NULL ? totals_dict(findings) : NULL;
  cst_findings_free(findings);
  if (totals == NULL) {
    Py_XDECREF(batch);
    return NULL;
  }
  return Py_BuildValue("(NN)", batch, totals);
}

cst_findings *cst__py_findings_of(cst__py_state *state, PyObject *table) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_findings *found = NULL;
  cst_error error = CST_ERROR_INIT;
  if (cst__py_import_array(table, &schema, &array) < 0) {
    return NULL;
  }
  const cst_status status = cst_findings_from_batch(&schema, &array, NULL, &found, &error);
  cst__py_release_array(&array);
  schema.release(&schema);
  if (status != CST_OK) {
    cst__py_raise(state, &error);
    return NULL;
  }
  return found;
}
