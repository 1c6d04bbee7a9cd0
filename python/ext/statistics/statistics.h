/* Tables of features, as findings have them: compared, and to and from other forms. */
#ifndef COLUMNSTONE_PYTHON_STATISTICS_H
#define COLUMNSTONE_PYTHON_STATISTICS_H

#include <columnstone/statistics.h>

#include "ext/arrow/arrow.h"

/* ---- features.c ---- */

/* statistics_sketch(accumulator, row of the table, kind, by weights): a Sketch */
PyObject *cst__py_statistics_sketch(PyObject *module, PyObject *args);
/* statistics_table(any Arrow table that can be findings): findings */
PyObject *cst__py_statistics_table(PyObject *module, PyObject *table);

/* ---- compare.c: a function of the module ---- */

/* statistics_compare(before, after, schema or None, ((option, value), ...)): findings */
PyObject *cst__py_statistics_compare(PyObject *module, PyObject *args);

/* ---- tfdv.c: functions of the module ---- */

/* statistics_to_tfdv(tuple of tables, tuple of names or None): bytes */
PyObject *cst__py_statistics_to_tfdv(PyObject *module, PyObject *args);
/* statistics_from_tfdv(bytes, name of the data set or None): findings */
PyObject *cst__py_statistics_from_tfdv(PyObject *module, PyObject *args);

/* ---- page.c ---- */

/* statistics_page(tuple of tables, tuple of names, comparison or None): bytes */
PyObject *cst__py_statistics_page(PyObject *module, PyObject *args);

#endif /* COLUMNSTONE_PYTHON_STATISTICS_H */
