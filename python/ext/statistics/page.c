/* The page of statistics. */
#include "ext/statistics/statistics.h"

enum { MOST_TABLES = 2 };

typedef struct given_tables {
  cst_statistics_named tables[MOST_TABLES];
  cst_findings *features[MOST_TABLES];
  cst_findings *comparison; /* NULL: none */
  size_t count;
} given_tables;

static void free_tables(given_tables *given) {
  for (size_t i = 0; i < given->count; i++) {
    cst_findings_free(given->features[i]);
  }
  cst_findings_free(given->comparison);
}

/* 0, or -1 with an exception; what has been read is to be freed in either case. */
static int read_tables(cst__py_state *state, PyObject *tables, PyObject *names,
                       PyObject *comparison, given_tables *given) {
  const Py_ssize_t count = PyTuple_Size(tables);
  if (count > MOST_TABLES || PyTuple_Size(names) != count) {
    PyErr_SetString(PyExc_ValueError, "a page is of one table and its name, or of two");
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, i), NULL);
    cst_findings *features =
        name != NULL ? cst__py_findings_of(state, PyTuple_GetItem(tables, i)) : NULL;
    if (features == NULL) {
      return -1;
    }
    given->features[given->count] = features;
    given->tables[given->count++] = (cst_statistics_named){.name = name, .features = features};
  }
  if (comparison != Py_None) {
    given->comparison = cst__py_findings_of(state, comparison);
  }
  return comparison == Py_None || given->comparison != NULL ? 0 : -1;
}

/* statistics_page(tables, names, comparison or None): bytes */
PyObject *cst__py_statistics_page(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  given_tables given = {.count = 0, .comparison = NULL};
  cst_error error = CST_ERROR_INIT;
  char *html = NULL;
  size_t size = 0;
  PyObject *tables, *names, *comparison;
  if (!PyArg_ParseTuple(args, "O!O!O:statistics_page", &PyTuple_Type, &tables, &PyTuple_Type,
                        &names, &comparison)) {
    return NULL;
  }
  if (read_tables(state, tables, names, comparison, &given) < 0) {
    free_tables(&given);
    return NULL;
  }
  cst_status status = CST_OK;
  Py_BEGIN_ALLOW_THREADS
  status = cst_statistics_page(given.tables, given.count, given.comparison, &html, &size, &error);
  Py_END_ALLOW_THREADS
  free_tables(&given);
  if (status != CST_OK) {
    return cst__py_raise(state, &error);
  }
  PyObject *bytes = PyBytes_FromStringAndSize(html, (Py_ssize_t)size);
  cst_free(html);
  return bytes;
}
