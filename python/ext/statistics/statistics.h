/* Tables of features, as findings have them, to and from other forms. */
#ifndef COLUMNSTONE_PYTHON_STATISTICS_H
#define COLUMNSTONE_PYTHON_STATISTICS_H

#include <columnstone/statistics.h>

#include "ext/arrow/arrow.h"

/* ---- tfdv.c: functions of the module ---- */

/* statistics_to_tfdv(tuple of tables, tuple of names or None): bytes */
PyObject *cst__py_statistics_to_tfdv(PyObject *module, PyObject *args);
/* statistics_from_tfdv(bytes, name of the data set or None): findings */
PyObject *cst__py_statistics_from_tfdv(PyObject *module, PyObject *args);

#endif /* COLUMNSTONE_PYTHON_STATISTICS_H */
