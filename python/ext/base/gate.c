/* The way of the library's threads into Python: through a gate that closes before the interpreter
 * goes down; and what happens with the exceptions that Python code raises on the way.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ext/base/base.h"

bool cst__py_enter(cst__py_gate *gate, PyGILState_STATE *gil) {
  atomic_fetch_add(&gate->inside, 1);
  if (atomic_load(&gate->closed) || !Py_IsInitialized()) {
    atomic_fetch_sub(&gate->inside, 1);
    return false;
  }
  *gil = PyGILState_Ensure();
  return true;
}

void cst__py_leave(cst__py_gate *gate, PyGILState_STATE gil) {
  PyGILState_Release(gil);
  atomic_fetch_sub(&gate->inside, 1);
}

uint64_t cst__py_moment(cst__py_gate *gate) { return ++gate->moment; }

cst_status cst__py_refuse(cst_error *error) {
  if (error != NULL) {
    error->code = CST_CALLBACK;
    snprintf(error->message, sizeof error->message, "the Python interpreter is shutting down");
  }
  return CST_CALLBACK;
}

/* At most size - 1 bytes, cut between characters, control characters replaced. */
static void copy_text(char *to, size_t size, const char *from) {
  size_t n = strlen(from);
  if (n >= size) {
    n = size - 1;
    while (n > 0 && ((unsigned char)from[n] & 0xc0) == 0x80) {
      n--;
    }
  }
  for (size_t i = 0; i < n; i++) {
    to[i] = (unsigned char)from[i] < 0x20 || from[i] == 0x7f ? ' ' : from[i];
  }
  to[n] = '\0';
}

/* "OSError: text" in UTF-8 as bytes; NULL if even that fails. */
static PyObject *describe(PyObject *exception) {
  PyObject *name = PyType_GetName(Py_TYPE(exception));
  PyObject *text = name == NULL ? NULL : PyUnicode_FromFormat("%U: %S", name, exception);
  PyObject *bytes = text == NULL ? NULL : PyUnicode_AsEncodedString(text, "utf-8", "replace");
  Py_XDECREF(name);
  Py_XDECREF(text);
  if (bytes == NULL) {
    PyErr_Clear();
  }
  return bytes;
}

/* A StopIteration would end the pass that it comes out of as if all were well: it becomes the cause
 * of a RuntimeError, as in generators. */
static PyObject *not_the_end(PyObject *value) {
  if (value == NULL || !PyErr_GivenExceptionMatches(value, PyExc_StopIteration)) {
    return value;
  }
  PyObject *error = PyObject_CallFunction(PyExc_RuntimeError, "s", "StopIteration was raised");
  if (error == NULL) {
    PyErr_Clear();
    Py_DECREF(value);
    return NULL;
  }
  PyException_SetCause(error, value);
  return error;
}

cst_status cst__py_keep_exception(PyObject **place, const char *who, cst_error *error) {
  PyObject *type;
  PyObject *value;
  PyObject *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback != NULL && value != NULL) {
    PyException_SetTraceback(value, traceback);
  }
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  value = not_the_end(value);
  cst__py_replace(place, value);
  PyObject *text = value == NULL ? NULL : describe(value);
  if (error != NULL) {
    char message[sizeof error->message - 48];
    copy_text(message, sizeof message, text == NULL ? "an exception" : PyBytes_AsString(text));
    error->code = CST_CALLBACK;
    snprintf(error->message, sizeof error->message, "%.46s %s", who, message);
  }
  Py_XDECREF(text);
  return CST_CALLBACK;
}

cst_status cst__py_keep(cst__py_kept *kept, cst__py_gate *gate, const char *who, cst_error *error) {
  kept->moment = cst__py_moment(gate);
  return cst__py_keep_exception(&kept->exception, who, error);
}

void cst__py_kept_move(cst__py_kept *from, cst__py_kept *into) {
  PyObject *exception = from->exception;
  from->exception = NULL;
  if (from->moment > into->moment) {
    into->moment = from->moment;
    cst__py_replace(&into->exception, exception);
  } else {
    Py_XDECREF(exception);
  }
}

bool cst__py_kept_deliver(cst__py_kept *kept) {
  PyObject *exception = kept->exception;
  if (exception == NULL) {
    return false;
  }
  kept->exception = NULL;
  PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
  Py_DECREF(exception);
  return true;
}
