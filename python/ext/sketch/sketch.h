/* Sketches of values. */
#ifndef COLUMNSTONE_PYTHON_SKETCH_H
#define COLUMNSTONE_PYTHON_SKETCH_H

#include <columnstone/sketch.h>

#include "ext/arrow/arrow.h"

/* ---- sketch.c ---- */

/* Takes the sketch over, also on failure. */
PyObject *cst__py_sketch_wrap(cst__py_state *state, cst_sketch *sketch);
/* The sketch of an object, which is locked until it is left. NULL with an exception. */
cst_sketch *cst__py_sketch_enter(PyObject *object);
void cst__py_sketch_leave(PyObject *object);

extern PyType_Spec cst__py_sketch_spec;

/* ---- sketch_numbers.c ---- */

PyObject *cst__py_sketch_correlation(PyObject *module, PyObject *sketch);
PyObject *cst__py_sketch_moments(PyObject *module, PyObject *args);
PyObject *cst__py_sketch_mutual_information(PyObject *module, PyObject *sketch);
PyObject *cst__py_sketch_histogram(PyObject *module, PyObject *sketch);

/* ---- sketch_values.c ---- */

PyObject *cst__py_sketch_distinct(PyObject *module, PyObject *args);
PyObject *cst__py_sketch_top(PyObject *module, PyObject *args);
PyObject *cst__py_sketch_to_tfx_bsl(PyObject *module, PyObject *args);
PyObject *cst__py_sketch_from_tfx_bsl(PyObject *module, PyObject *args);

/* ---- sketch_quantiles.c: functions of the module ---- */

/* sketch_quantiles(sketch, ranks): an Array */
PyObject *cst__py_sketch_quantiles(PyObject *module, PyObject *args);
/* sketch_ranks(sketch, values, inclusive): a list */
PyObject *cst__py_sketch_ranks(PyObject *module, PyObject *args);
/* sketch_parts(sketch, is_equal_width, parts): (bounds, weights) */
PyObject *cst__py_sketch_parts(PyObject *module, PyObject *args);
/* sketch_cuts(sketch, parts): (values, weights up to them) */
PyObject *cst__py_sketch_cuts(PyObject *module, PyObject *args);
/* sketch_compact(sketch) */
PyObject *cst__py_sketch_compact(PyObject *module, PyObject *object);
/* sketch_from_tfx_bsl_stream(bytes, stream): a Sketch; None: there is no such stream */
PyObject *cst__py_sketch_from_tfx_bsl_stream(PyObject *module, PyObject *args);
/* sketch_ranked(sketch): (weight, NaNs) */
PyObject *cst__py_sketch_ranked(PyObject *module, PyObject *object);
/* sketch_add_tfx_bsl_stream(sketch, bytes, stream): how many streams there are */
PyObject *cst__py_sketch_add_tfx_bsl_stream(PyObject *module, PyObject *args);
/* sketch_to_tfx_bsl_streams(tuple of sketches): bytes */
PyObject *cst__py_sketch_to_tfx_bsl_streams(PyObject *module, PyObject *sketches);

#endif /* COLUMNSTONE_PYTHON_SKETCH_H */
