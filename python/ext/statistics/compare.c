/* Two statistics, compared. */
#include "ext/schema/schema.h"
#include "ext/statistics/statistics.h"

/* Takes the tables over. */
static PyObject *compare_tables(cst__py_state *state, cst_findings *before, cst_findings *after,
                                const cst_compare_options *options) {
  cst_findings *found = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status = CST_STATE;
  if (before != NULL && after != NULL) {
    Py_BEGIN_ALLOW_THREADS
    status = cst_statistics_compare(before, after, options, &found, &error);
    Py_END_ALLOW_THREADS
  }
  const bool is_read = before != NULL && after != NULL;
  cst_findings_free(before);
  cst_findings_free(after);
  if (!is_read) {
    return NULL;
  }
  return status == CST_OK ? cst__py_findings(state, found) : cst__py_raise(state, &error);
}

PyObject *cst__py_statistics_compare(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  cst_compare_options options = CST_COMPARE_OPTIONS_INIT;
  cst__py_option_list given;
  PyObject *before, *after, *schema, *pairs;
  if (!PyArg_ParseTuple(args, "OOOO!:statistics_compare", &before, &after, &schema, &PyTuple_Type,
                        &pairs) ||
      cst__py_schema_arg(state, schema, &options.schema) < 0 ||
      cst__py_option_list_init(&given, pairs) < 0) {
    return NULL;
  }
  options.options = given.options;
  options.num_options = given.count;
  cst_findings *first = cst__py_findings_of(state, before);
  cst_findings *second = first != NULL ? cst__py_findings_of(state, after) : NULL;
  PyObject *found = compare_tables(state, first, second, &options);
  cst__py_option_list_reset(&given);
  return found;
}
