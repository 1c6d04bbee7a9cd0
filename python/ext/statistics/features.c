/* Sketches of features, out of statistics. */
#include "ext/schema/schema.h"
#include "ext/sketch/sketch.h"
#include "ext/statistics/statistics.h"

PyObject *cst__py_statistics_sketch(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  cst_error error = CST_ERROR_INIT;
  cst_sketch *sketch = NULL;
  PyObject *object;
  Py_ssize_t row;
  const char *kind;
  int by_weights;
  if (!PyArg_ParseTuple(args, "Onsp:statistics_sketch", &object, &row, &kind, &by_weights)) {
    return NULL;
  }
  cst_accumulator *statistics = cst__py_accumulator_enter(state, object);
  if (statistics == NULL) {
    return NULL;
  }
  cst_status status =
      cst_statistics_sketch(statistics, (size_t)row, kind, by_weights != 0, &sketch, &error);
  cst__py_accumulator_leave(object);
  return status == CST_OK ? cst__py_sketch_wrap(state, sketch) : cst__py_raise(state, &error);
}

PyObject *cst__py_statistics_table(PyObject *module, PyObject *table) {
  cst__py_state *state = PyModule_GetState(module);
  cst_findings *found = cst__py_findings_of(state, table);
  return found != NULL ? cst__py_findings(state, found) : NULL;
}
