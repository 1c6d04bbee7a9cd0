/* What sketches of numbers have found. */
#include "ext/sketch/sketch.h"

static PyObject *number_of(const cst_sketch_number *number) {
  switch (number->format) {
    case 'l':
      return PyLong_FromLongLong((long long)number->value.int64);
    case 'L':
      return PyLong_FromUnsignedLongLong((unsigned long long)number->value.uint64);
    case 'g':
      return PyFloat_FromDouble(number->value.float64);
    default:
      return Py_NewRef(Py_None);
  }
}

/* sketch_moments(sketch, weighted): (values, zeros, negative, NaN, +inf, -inf, min, max, weight,
 * sum, mean, variance, sample variance) */
PyObject *cst__py_sketch_moments(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  cst_moments m;
  cst_error error = CST_ERROR_INIT;
  PyObject *object;
  int weighted;
  if (!PyArg_ParseTuple(args, "O!p:sketch_moments", state->sketch_type, &object, &weighted)) {
    return NULL;
  }
  cst_sketch *sketch = cst__py_sketch_enter(object);
  if (sketch == NULL) {
    return NULL;
  }
  cst_status status = cst_sketch_moments(sketch, weighted != 0, &m, &error);
  cst__py_sketch_leave(object);
  return status == CST_OK
             ? Py_BuildValue("(LLLLLLNNddddd)", (long long)m.num_values, (long long)m.num_zeros,
                             (long long)m.num_negative, (long long)m.num_nan,
                             (long long)m.num_plus_infinity, (long long)m.num_minus_infinity,
                             number_of(&m.min), number_of(&m.max), m.weight, m.sum, m.mean,
                             m.variance, m.sample_variance)
             : cst__py_raise(state, &error);
}

/* The sketch of an argument, which is locked until it is left; NULL with an exception. */
static cst_sketch *enter(const cst__py_state *state, PyObject *object) {
  if (Py_TYPE(object) != state->sketch_type) {
    PyErr_SetString(PyExc_TypeError, "expected a _core.Sketch");
    return NULL;
  }
  return cst__py_sketch_enter(object);
}

/* sketch_histogram(sketch): findings */
PyObject *cst__py_sketch_histogram(PyObject *module, PyObject *object) {
  cst__py_state *state = PyModule_GetState(module);
  cst_findings *found = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_sketch *sketch = enter(state, object);
  if (sketch == NULL) {
    return NULL;
  }
  cst_status status = cst_sketch_histogram(sketch, &found, &error);
  cst__py_sketch_leave(object);
  return status == CST_OK ? cst__py_findings(state, found) : cst__py_raise(state, &error);
}

/* sketch_correlation(sketch): (pairs, not finite, weight, means, variances, covariance, sample
 * covariance, correlation) */
PyObject *cst__py_sketch_correlation(PyObject *module, PyObject *object) {
  cst__py_state *state = PyModule_GetState(module);
  cst_correlation c;
  cst_error error = CST_ERROR_INIT;
  cst_sketch *sketch = enter(state, object);
  if (sketch == NULL) {
    return NULL;
  }
  cst_status status = cst_sketch_correlation(sketch, &c, &error);
  cst__py_sketch_leave(object);
  return status == CST_OK
             ? Py_BuildValue("(LLdddddddd)", (long long)c.num_pairs, (long long)c.num_not_finite,
                             c.weight, c.mean_x, c.mean_y, c.variance_x, c.variance_y, c.covariance,
                             c.sample_covariance, c.correlation)
             : cst__py_raise(state, &error);
}

/* sketch_mutual_information(sketch): (pairs, values of x, of y, cells, information, corrected,
 * entropies, exact) */
PyObject *cst__py_sketch_mutual_information(PyObject *module, PyObject *object) {
  cst__py_state *state = PyModule_GetState(module);
  cst_mutual_information m;
  cst_error error = CST_ERROR_INIT;
  cst_sketch *sketch = enter(state, object);
  if (sketch == NULL) {
    return NULL;
  }
  cst_status status = cst_sketch_mutual_information(sketch, &m, &error);
  cst__py_sketch_leave(object);
  return status == CST_OK
             ? Py_BuildValue("(LLLLddddN)", (long long)m.num_pairs, (long long)m.num_x,
                             (long long)m.num_y, (long long)m.num_cells, m.information, m.corrected,
                             m.entropy_x, m.entropy_y, PyBool_FromLong(m.is_exact))
             : cst__py_raise(state, &error);
}
