/* Where in Python's own data something is wrong, and what: the errors of the walk. */
#include <inttypes.h>

#include "ext/table/walk.h"

/* ---- the place ---- */

static void append_name(char *path, size_t size, PyObject *name) {
  const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
  if (text == NULL) {
    PyErr_Clear();
    text = "?";
  }
  size_t at = strlen(path);
  if (at > 0 && at + 1 < size) {
    path[at++] = '.';
  }
  for (; *text != '\0' && at + 5 < size; text++) {
    unsigned char byte = (unsigned char)*text;
    if (byte < 0x20 || byte == 0x7f) {
      at += (size_t)PyOS_snprintf(path + at, size - at, "\\x%02x", byte);
    } else {
      path[at++] = *text;
    }
  }
  path[at] = '\0';
}

static void append_path(char *path, size_t size, const cst__py_column *c) {
  if (c->parent != NULL) {
    append_path(path, size, c->parent);
  }
  if (c->name != NULL) {
    append_name(path, size, c->name);
  }
}

/* "at [1][3]: ", the place in all lists around a value; "" if it is in none. */
static const char *walk_place(const cst__py_walk *w, char out[64]) {
  int size = 0;
  int level = 0;
  out[0] = '\0';
  for (; w->is_nested && level < w->level && size < 36; level++) {
    size += PyOS_snprintf(out + size, 64 - (size_t)size, "%s[%" PRId64 "]", level ? "" : "at ",
                          w->at[level]);
  }
  if (size > 0) {
    PyOS_snprintf(out + size, 64 - (size_t)size, level < w->level ? "...: " : ": ");
  }
  return out;
}

static void set_exception(cst__py_walk *w, const cst__py_column *c, cst_error *error) {
  error->record = w->row;
  if (w->name != NULL) {
    append_name(error->path, sizeof error->path, w->name);
  }
  append_path(error->path, sizeof error->path, c);
  cst__py_raise(w->state, error);
}

int cst__py_walk_fail(cst__py_walk *w, const cst__py_column *c, cst_status code,
                      const char *message, const char *hint) {
  cst_error error = CST_ERROR_INIT;
  char place[64];
  error.code = code;
  PyOS_snprintf(error.message, sizeof error.message, "%s%s", walk_place(w, place), message);
  PyOS_snprintf(error.hint, sizeof error.hint, "%s", hint);
  set_exception(w, c, &error);
  return -1;
}

/* The name of the value's class, shortened. */
static void class_of(PyObject *value, char out[41]) {
  PyObject *name = PyType_GetName(Py_TYPE(value));
  const char *text = name == NULL ? NULL : PyUnicode_AsUTF8AndSize(name, NULL);
  if (text == NULL) {
    PyErr_Clear();
  }
  PyOS_snprintf(out, 41, "%.40s", text == NULL ? "?" : text);
  Py_XDECREF(name);
}

/* ---- values that do not fit ---- */

/* What values of the column are in Python. */
static const char *kind_word(const cst__py_column *c) {
  static const char *const words[] = {"None",
                                      "bool",
                                      "int",
                                      "float",
                                      "date",
                                      "datetime without a time zone",
                                      "datetime with a time zone",
                                      "timedelta",
                                      "str",
                                      "bytes",
                                      "list",
                                      "dict"};
  return words[c->kind];
}

/* The column's number type. */
static const char *number_name(const cst__py_column *c) {
  static const char letters[] = "cCsSiIlLefg";
  static const char *const names[] = {"int8",  "uint8",  "int16",   "uint16",  "int32",  "uint32",
                                      "int64", "uint64", "float16", "float32", "float64"};
  const char *at = c->letter == '\0' ? NULL : strchr(letters, c->letter);
  return at == NULL ? kind_word(c) : names[at - letters];
}

static int fail_kind(cst__py_walk *w, const cst__py_column *c, PyObject *value) {
  bool is_typed = c->type != NULL;
  bool is_deeper = (c->kind == CST__PY_LIST) != (PyList_Check(value) || PyTuple_Check(value));
  const char *hint = is_typed                        ? "change the value or the spec"
                     : c->first < 0 && !w->is_nested ? "rows are dicts"
                     : w->is_nested && is_deeper
                         ? "values of a field are in equally many lists; a union has no type here"
                         : "make all values of a column one type";
  char found[41];
  char place[64];
  cst_error error = CST_ERROR_INIT;
  class_of(value, found);
  error.code = CST_SCHEMA;
  PyOS_snprintf(error.hint, sizeof error.hint, "%s", hint);
  int size = PyOS_snprintf(error.message, sizeof error.message, "%sfound %s, expected %s",
                           walk_place(w, place), found, is_typed ? number_name(c) : kind_word(c));
  if (!is_typed && c->first >= 0 && c->first != w->row) {
    PyOS_snprintf(error.message + size, sizeof error.message - (size_t)size, " as in row %lld",
                  (long long)c->first);
  }
  set_exception(w, c, &error);
  return -1;
}

int cst__py_walk_fail_fit(cst__py_walk *w, const cst__py_column *c, PyObject *value, int result) {
  char text[100];
  if (result == CST__PY_OTHER_KIND) {
    return fail_kind(w, c, value);
  }
  if (c->type == NULL) {
    return cst__py_walk_fail(w, c, CST_UNSUPPORTED,
                             "ints and floats, and one of the ints is not exact as float64",
                             "make the column floats or ints");
  }
  if (result == CST__PY_OUT_OF_RANGE) {
    PyOS_snprintf(text, sizeof text, "found %s out of the range of %s",
                  PyFloat_Check(value) ? "a float" : "a value", number_name(c));
    return cst__py_walk_fail(w, c, CST_SCHEMA, text, "take a wider type");
  }
  if (c->kind == CST__PY_FLOAT) {
    PyOS_snprintf(text, sizeof text, "found an int that %s does not hold exactly", number_name(c));
    return cst__py_walk_fail(w, c, CST_SCHEMA, text, "take a wider type, or round it to a float");
  }
  return cst__py_walk_fail(w, c, CST_SCHEMA, "found a time between two units of the type",
                           "round it, or take a finer unit");
}

int cst__py_walk_fail_null(cst__py_walk *w, const cst__py_column *c) {
  char text[100];
  PyOS_snprintf(text, sizeof text, "found None, expected %s", number_name(c));
  return cst__py_walk_fail(w, c, CST_SCHEMA, text, "the spec says that it is never null");
}

int cst__py_walk_fail_class(cst__py_walk *w, const cst__py_column *c, PyObject *value,
                            const char *hint) {
  char found[41];
  char text[100];
  class_of(value, found);
  PyOS_snprintf(text, sizeof text, "found %s, which has no Arrow type here", found);
  return cst__py_walk_fail(w, c, w->is_nested ? CST_SCHEMA : CST_UNSUPPORTED, text, hint);
}

int cst__py_walk_fail_big(cst__py_walk *w, const cst__py_column *c) {
  return cst__py_walk_fail(w, c, CST_UNSUPPORTED, "an int that does not fit 64 bits with a sign",
                           "make the column floats or strings");
}

/* ---- lists and dicts ---- */

int cst__py_walk_fail_size(cst__py_walk *w, const cst__py_column *c, int64_t found) {
  char text[100];
  PyOS_snprintf(text, sizeof text, "found %" PRId64 " values, expected %" PRId64, found,
                c->fixed_size);
  return cst__py_walk_fail(w, c, CST_SCHEMA, text, "the dimension has a fixed size in the spec");
}

int cst__py_walk_fail_key(cst__py_walk *w, const cst__py_column *c, PyObject *key) {
  char found[41];
  char text[100];
  if (!PyUnicode_Check(key)) {
    class_of(key, found);
    PyOS_snprintf(text, sizeof text, "found a key that is %s, expected str", found);
    return cst__py_walk_fail(w, c, CST_SCHEMA, text, "name fields by str");
  }
  const cst__py_column field = {.parent = (cst__py_column *)(uintptr_t)c, .name = key};
  if (c->type != NULL) {
    return cst__py_walk_fail(w, &field, CST_SCHEMA, "found a key that the spec does not have",
                             "leave it out, or add it to the spec");
  }
  if (c->first >= 0 && c->first != w->row) {
    PyOS_snprintf(text, sizeof text, "found a key that row %lld does not have",
                  (long long)c->first);
  } else {
    PyOS_snprintf(text, sizeof text, "found a key that the dict before does not have");
  }
  return cst__py_walk_fail(w, &field, CST_SCHEMA, text,
                           "all dicts of a field have the same keys: write None, or give a spec");
}

int cst__py_walk_fail_missing(cst__py_walk *w, const cst__py_column *field) {
  char text[100];
  int64_t first = field->parent->first;
  if (field->type != NULL) {
    PyOS_snprintf(text, sizeof text, "the key is missing, expected %s", number_name(field));
    return cst__py_walk_fail(w, field, CST_SCHEMA, text, "the spec says that it is never null");
  }
  if (first >= 0 && first != w->row) {
    PyOS_snprintf(text, sizeof text, "the key is missing, expected as in row %lld",
                  (long long)first);
  } else {
    PyOS_snprintf(text, sizeof text, "the key is missing, expected as in the dict before");
  }
  return cst__py_walk_fail(w, field, CST_SCHEMA, text,
                           "all dicts of a field have the same keys: write None, or give a spec");
}
