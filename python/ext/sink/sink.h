/* Outputs: records and batches to files. */
#ifndef COLUMNSTONE_PYTHON_SINK_H
#define COLUMNSTONE_PYTHON_SINK_H

#include <columnstone/sink.h>

#include "ext/base/base.h"

/* ---- sink.c ---- */

/* cst_sink_exists: (path, is_sharded). */
PyObject *cst__py_sink_exists(PyObject *module, PyObject *args);

/* ---- the types ---- */

extern PyType_Spec cst__py_writer_spec;
extern PyType_Spec cst__py_sink_spec;

#endif /* COLUMNSTONE_PYTHON_SINK_H */
