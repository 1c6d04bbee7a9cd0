/* The formats and containers that the library knows by name, for the package's own lists. */
#include <columnstone/format.h>

#include "ext/io/io.h"

static PyObject *tuple_of_texts(const char *const *texts) {
  Py_ssize_t count = 0;
  while (texts[count] != NULL) {
    count++;
  }
  PyObject *tuple = PyTuple_New(count);
  for (Py_ssize_t i = 0; tuple != NULL && i < count; i++) {
    PyObject *text = PyUnicode_FromString(texts[i]);
    if (text == NULL || PyTuple_SetItem(tuple, i, text) < 0) {
      Py_CLEAR(tuple);
    }
  }
  return tuple;
}

PyObject *cst__py_formats(void) {
  PyObject *dict = PyDict_New();
  const cst_format_info *info;
  for (size_t i = 0; dict != NULL && (info = cst_format_get(i)) != NULL; i++) {
    PyObject *extensions = tuple_of_texts(info->extensions);
    PyObject *value = extensions == NULL
                          ? NULL
                          : Py_BuildValue("(NNN)", extensions, PyBool_FromLong(info->is_text),
                                          PyBool_FromLong(info->is_records));
    if (cst__py_dict_add(dict, info->name, value) < 0) {
      Py_CLEAR(dict);
    }
  }
  return dict;
}

static PyObject *options_of(const char *format) {
  PyObject *dict = PyDict_New();
  const cst_option_info *info;
  for (size_t i = 0; dict != NULL && (info = cst_format_option_get(format, i)) != NULL; i++) {
    if (cst__py_tell_option(dict, info, NULL) < 0) {
      Py_CLEAR(dict);
    }
  }
  return dict;
}

PyObject *cst__py_format_options_told(void) {
  PyObject *dict = PyDict_New();
  const cst_format_info *info;
  for (size_t i = 0; dict != NULL && (info = cst_format_get(i)) != NULL; i++) {
    if (!info->is_plugin && cst_format_option_get(info->name, 0) != NULL &&
        cst__py_dict_add(dict, info->name, options_of(info->name)) < 0) {
      Py_CLEAR(dict);
    }
  }
  return dict;
}

PyObject *cst__py_format_options(PyObject *module, PyObject *name) {
  (void)module;
  const char *format = PyUnicode_AsUTF8AndSize(name, NULL);
  return format == NULL ? NULL : options_of(format);
}

PyObject *cst__py_containers(void) {
  PyObject *dict = PyDict_New();
  const cst_container_info *info;
  for (size_t i = 0; dict != NULL && (info = cst_container_get(i)) != NULL; i++) {
    if (cst__py_dict_add(dict, info->name, tuple_of_texts(info->extensions)) < 0) {
      Py_CLEAR(dict);
    }
  }
  return dict;
}
