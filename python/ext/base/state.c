/* Small helpers that every room needs: the module's state, references, attributes. */
#include "ext/base/base.h"

cst__py_state *cst__py_state_of(PyObject *self) { return PyType_GetModuleState(Py_TYPE(self)); }

void cst__py_replace(PyObject **place, PyObject *object) {
  PyObject *old = *place;
  *place = object;
  Py_XDECREF(old);
}

cst__py_pending cst__py_put_aside(void) {
  cst__py_pending pending;
  PyErr_Fetch(&pending.type, &pending.value, &pending.trace);
  return pending;
}

void cst__py_put_back(cst__py_pending pending) {
  PyErr_Restore(pending.type, pending.value, pending.trace);
}

void cst__py_free(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

PyObject *cst__py_int_tuple(const int64_t *numbers, size_t count) {
  PyObject *tuple = PyTuple_New((Py_ssize_t)count);
  for (size_t i = 0; tuple != NULL && i < count; i++) {
    PyObject *number = PyLong_FromLongLong(numbers[i]);
    if (number == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, number) < 0) {
      Py_CLEAR(tuple);
    }
  }
  return tuple;
}

int cst__py_has(PyObject *object, const char *name) {
  PyObject *attribute = PyObject_GetAttrString(object, name);
  if (attribute != NULL) {
    Py_DECREF(attribute);
    return 1;
  }
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
    return -1;
  }
  PyErr_Clear();
  return 0;
}
