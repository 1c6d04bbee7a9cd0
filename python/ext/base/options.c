/* Arguments that several types take: lists of names and of options. The .py files have made
 * them exact. */
#include <stdlib.h>

#include "ext/base/base.h"

int cst__py_names_init(cst__py_names *names, PyObject *tuple) {
  names->names = NULL;
  names->count = 0;
  if (tuple == Py_None) {
    return 0;
  }
  Py_ssize_t count = PyTuple_Size(tuple);
  names->names = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *names->names);
  if (names->names == NULL) {
    return count < 0 ? -1 : (PyErr_NoMemory(), -1);
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    Py_ssize_t size;
    const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, i), &size);
    if (name == NULL || strlen(name) != (size_t)size) {
      if (name != NULL) {
        PyErr_SetString(PyExc_ValueError, "a column's name holds a NUL character");
      }
      cst__py_names_reset(names);
      return -1;
    }
    names->names[names->count++] = name;
  }
  return 0;
}

void cst__py_names_reset(cst__py_names *names) {
  free(names->names);
  names->names = NULL;
}

int cst__py_option_list_init(cst__py_option_list *options, PyObject *tuple) {
  *options = (cst__py_option_list){.options = NULL};
  Py_ssize_t count = PyTuple_Size(tuple);
  options->options = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *options->options);
  if (options->options == NULL) {
    return count < 0 ? -1 : (PyErr_NoMemory(), -1);
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    cst_option *option = &options->options[i];
    PyObject *item = PyTuple_GetItem(tuple, i);
    if (item == NULL ||
        !PyArg_ParseTuple(item, "ss|z:options", &option->name, &option->value, &option->format)) {
      cst__py_option_list_reset(options);
      return -1;
    }
    options->count++;
  }
  return 0;
}

void cst__py_option_list_reset(cst__py_option_list *options) {
  free(options->options);
  *options = (cst__py_option_list){.options = NULL};
}
