/* From cst_error to exceptions: the classes of columnstone._base.errors, with their fields. */
#include <stdio.h>
#include <stdlib.h>

#include "ext/base/base.h"

static const struct {
  cst_status status;
  const char *name;
} class_names[] = {
    {CST_OK, "Error"},
    {CST_INVALID_ARGUMENT, "ArgumentError"},
    {CST_NOT_FOUND, "NotFoundError"},
    {CST_IO, "FileError"},
    {CST_CORRUPT, "CorruptError"},
    {CST_SCHEMA, "SchemaError"},
    {CST_FORMAT, "FormatError"},
    {CST_LIMIT, "LimitError"},
    {CST_UNSUPPORTED, "UnsupportedError"},
    {CST_NO_MEMORY, "MemoryError"},
    {CST_STATE, "StateError"},
    {CST_CALLBACK, "Error"},
    {CST_INTERRUPTED, "Error"},
    {CST_TIMEOUT, "DeadlineError"},
};

int cst__py_errors_init(cst__py_state *state) {
  PyObject *module = PyImport_ImportModule("columnstone._base.errors");
  if (module == NULL) {
    return -1;
  }
  int result = 0;
  for (size_t i = 0; i < sizeof class_names / sizeof *class_names && result == 0; i++) {
    cst_status status = class_names[i].status;
    if (status == CST_NO_MEMORY) {
      state->errors[status] = Py_NewRef(PyExc_MemoryError);
    } else {
      state->errors[status] = PyObject_GetAttrString(module, class_names[i].name);
      result = state->errors[status] == NULL ? -1 : 0;
    }
  }
  state->index_error = PyObject_GetAttrString(module, "IndexingError");
  state->field_error = PyObject_GetAttrString(module, "FieldNotFoundError");
  result = state->index_error == NULL || state->field_error == NULL ? -1 : result;
  Py_DECREF(module);
  return result;
}

/* Adds a text that is unknown when empty. */
static int add_text(PyObject *fields, const char *name, const char *text) {
  if (text[0] == '\0') {
    return 0;
  }
  PyObject *value = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  int result = value == NULL ? -1 : PyDict_SetItemString(fields, name, value);
  Py_XDECREF(value);
  return result;
}

/* Adds a number that is unknown below `first`. */
static int errors_add_number(PyObject *fields, const char *name, int64_t number, int64_t first) {
  if (number < first) {
    return 0;
  }
  PyObject *value = PyLong_FromLongLong(number);
  int result = value == NULL ? -1 : PyDict_SetItemString(fields, name, value);
  Py_XDECREF(value);
  return result;
}

static PyObject *error_fields(const cst_error *error) {
  PyObject *fields = PyDict_New();
  if (fields == NULL) {
    return NULL;
  }
  if (add_text(fields, "code", cst_status_name(error->code)) < 0 ||
      add_text(fields, "file", error->file) < 0 || add_text(fields, "path", error->path) < 0 ||
      add_text(fields, "hint", error->hint) < 0 ||
      errors_add_number(fields, "record", error->record, 0) < 0 ||
      errors_add_number(fields, "offset", error->offset, 0) < 0 ||
      errors_add_number(fields, "line", error->line, 1) < 0 ||
      errors_add_number(fields, "column", error->column, 1) < 0) {
    Py_CLEAR(fields);
  }
  return fields;
}

/* cst_error_format's text as a tuple of one. */
static PyObject *error_args(const cst_error *error) {
  size_t size = cst_error_format(error, NULL, 0);
  char *text = malloc(size + 1);
  if (text == NULL) {
    return PyErr_NoMemory();
  }
  cst_error_format(error, text, size + 1);
  PyObject *args = Py_BuildValue("(N)", PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "replace"));
  free(text);
  return args;
}

static PyObject *error_object_as(PyObject *type, const cst_error *error) {
  PyObject *args = error_args(error);
  if (args == NULL) {
    return NULL;
  }
  PyObject *fields = error->code == CST_NO_MEMORY ? NULL : error_fields(error);
  PyObject *object = NULL;
  if (fields != NULL || error->code == CST_NO_MEMORY) {
    object = PyObject_Call(type, args, fields);
  }
  Py_XDECREF(fields);
  Py_DECREF(args);
  return object;
}

PyObject *cst__py_error_object(cst__py_state *state, const cst_error *error) {
  bool known = error->code > CST_OK && (int)error->code < CST__PY_NUM_ERRORS;
  return error_object_as(state->errors[known ? error->code : CST_OK], error);
}

static PyObject *raise_object(PyObject *object) {
  if (object != NULL) {
    PyErr_SetObject((PyObject *)Py_TYPE(object), object);
    Py_DECREF(object);
  }
  return NULL;
}

PyObject *cst__py_raise_as(PyObject *class, const cst_error *error) {
  return raise_object(error_object_as(class, error));
}

PyObject *cst__py_raise(cst__py_state *state, const cst_error *error) {
  if (error->code == CST_INTERRUPTED &&
      (PyErr_Occurred() != NULL || cst__py_raise_interruption(state->gate))) {
    return NULL;
  }
  return raise_object(cst__py_error_object(state, error));
}

PyObject *cst__py_fail(cst__py_state *state, cst_status code, const char *hint, const char *fmt,
                       ...) {
  cst_error error = CST_ERROR_INIT;
  error.code = code;
  va_list args;
  va_start(args, fmt);
  vsnprintf(error.message, sizeof error.message, fmt, args);
  va_end(args);
  snprintf(error.hint, sizeof error.hint, "%s", hint);
  return cst__py_raise(state, &error);
}
