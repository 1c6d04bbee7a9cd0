/* Python's own data as Arrow data: lists of values, and lists of dicts as rows.
 *
 * One pass: every value goes to the end of a column that finds its type as it grows (grow.c). The
 * values are lists and tuples, dicts and other mappings, the scalars of Python, numpy and pandas,
 * and arrays of any number of dimensions (those with a buffer or __array__), which are lists.
 */
#include <stdlib.h>

#include "ext/table/grow.h"

enum { MAX_NESTING = 60 };

typedef struct walk {
  cst__py_state *state;
  int64_t row;
  int depth;
  PyObject *name;  /* str: what the root is called in errors; NULL: nothing */
  PyObject *dates; /* the module datetime */
} walk;

static int add(walk *w, cst__py_column *c, PyObject *value);

/* ---- errors ---- */

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

/* Sets an exception about the value that was to be added to the column; returns -1. */
static int objects_fail(walk *w, const cst__py_column *c, cst_status code, const char *message,
                        const char *hint) {
  cst_error error = CST_ERROR_INIT;
  error.code = code;
  error.record = w->row;
  if (w->name != NULL) {
    append_name(error.path, sizeof error.path, w->name);
  }
  append_path(error.path, sizeof error.path, c);
  PyOS_snprintf(error.message, sizeof error.message, "%s", message);
  PyOS_snprintf(error.hint, sizeof error.hint, "%s", hint);
  cst__py_raise(w->state, &error);
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

static int fail_kind(walk *w, const cst__py_column *c, PyObject *value) {
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
  char found[41];
  char text[160];
  class_of(value, found);
  if (c->first < 0 || c->first == w->row) {
    PyOS_snprintf(text, sizeof text, "found %s, expected %s", found, words[c->kind]);
  } else {
    PyOS_snprintf(text, sizeof text, "found %s, expected %s as in row %lld", found, words[c->kind],
                  (long long)c->first);
  }
  return objects_fail(w, c, CST_SCHEMA, text,
                      c->first < 0 ? "rows are dicts" : "make all values of a column one type");
}

static int fail_class(walk *w, const cst__py_column *c, PyObject *value, const char *hint) {
  char found[41];
  char text[100];
  class_of(value, found);
  PyOS_snprintf(text, sizeof text, "found %s, which has no Arrow type here", found);
  return objects_fail(w, c, CST_UNSUPPORTED, text, hint);
}

static int fail_big(walk *w, const cst__py_column *c) {
  return objects_fail(w, c, CST_UNSUPPORTED, "an int that does not fit 64 bits with a sign",
                      "make the column floats or strings");
}

/* What a column's function has answered. */
static int objects_check(walk *w, const cst__py_column *c, PyObject *value, int result) {
  if (result == 2) {
    return objects_fail(w, c, CST_UNSUPPORTED,
                        "ints and floats, and one of the ints is not exact as float64",
                        "make the column floats or ints");
  }
  return result == 1 ? fail_kind(w, c, value) : result;
}

/* ---- scalars ---- */

static int add_item(walk *w, cst__py_column *c, PyObject *value, const cst__py_scalar *item) {
  return objects_check(w, c, value, cst__py_column_add(c, item, w->row));
}

static int add_int(walk *w, cst__py_column *c, PyObject *value) {
  int overflow;
  int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow != 0) {
    return fail_big(w, c);
  }
  cst__py_scalar item = {.kind = CST__PY_INT, .letter = 'l', .number = number};
  return add_item(w, c, value, &item);
}

static int add_str(walk *w, cst__py_column *c, PyObject *value) {
  cst__py_scalar item = {.kind = CST__PY_TEXT};
  item.data = PyUnicode_AsUTF8AndSize(value, &item.size);
  if (item.data == NULL && PyErr_ExceptionMatches(PyExc_UnicodeError)) {
    PyErr_Clear();
    return objects_fail(w, c, CST_INVALID_ARGUMENT, "a str with surrogates is not UTF-8",
                        "encode it, to bytes");
  }
  return item.data == NULL ? -1 : add_item(w, c, value, &item);
}

static int add_bytes(walk *w, cst__py_column *c, PyObject *value) {
  Py_buffer view;
  if (PyObject_GetBuffer(value, &view, PyBUF_SIMPLE) < 0) {
    return -1;
  }
  cst__py_scalar item = {.kind = CST__PY_BYTES, .data = view.buf, .size = view.len};
  int result = add_item(w, c, value, &item);
  PyBuffer_Release(&view);
  return result;
}

/* ---- times ---- */

/* An attribute that is an int, or what a method of no arguments gives. 0, or -1 with an exception.
 */
static int number_of(PyObject *value, const char *name, bool call, int64_t factor, int64_t *sum) {
  PyObject *got =
      call ? PyObject_CallMethod(value, name, NULL) : PyObject_GetAttrString(value, name);
  long long number = got == NULL ? -1 : PyLong_AsLongLong(got);
  Py_XDECREF(got);
  *sum += number * factor;
  return PyErr_Occurred() != NULL ? -1 : 0;
}

static const int64_t second = 1000000;

static int micros_of_delta(PyObject *delta, int64_t *sum, int64_t sign) {
  return number_of(delta, "days", false, sign * 86400 * second, sum) < 0 ||
                 number_of(delta, "seconds", false, sign * second, sum) < 0 ||
                 number_of(delta, "microseconds", false, sign, sum) < 0
             ? -1
             : 0;
}

static int read_datetime(PyObject *value, cst__py_scalar *item) {
  int64_t days = -719163; /* of 1970-01-01 */
  int64_t *sum = &item->number;
  if (number_of(value, "toordinal", true, 1, &days) < 0 ||
      number_of(value, "hour", false, 3600 * second, sum) < 0 ||
      number_of(value, "minute", false, 60 * second, sum) < 0 ||
      number_of(value, "second", false, second, sum) < 0 ||
      number_of(value, "microsecond", false, 1, sum) < 0) {
    return -1;
  }
  *sum += days * 86400 * second;
  PyObject *offset = PyObject_CallMethod(value, "utcoffset", NULL);
  int result = offset == NULL ? -1 : 0;
  if (offset != NULL && offset != Py_None) {
    item->kind = CST__PY_INSTANT;
    result = micros_of_delta(offset, sum, -1);
  }
  Py_XDECREF(offset);
  return result;
}

/* 1: the value is not an instance of the class, a name of the module datetime. */
static int is_no(walk *w, PyObject *value, const char *name) {
  if (w->dates == NULL && (w->dates = PyImport_ImportModule("datetime")) == NULL) {
    return -1;
  }
  PyObject *type = PyObject_GetAttrString(w->dates, name);
  int is = type == NULL ? -1 : PyObject_IsInstance(value, type);
  Py_XDECREF(type);
  return is < 0 ? -1 : !is;
}

/* Whether the value, of pandas, has nanoseconds that are not 0. */
static int has_nanoseconds(PyObject *value) {
  static const char *const names[] = {"nanosecond", "nanoseconds"};
  for (int i = 0; i < 2; i++) {
    int64_t number = 0;
    int has = cst__py_has(value, names[i]);
    if (has < 0 || (has > 0 && number_of(value, names[i], false, 1, &number) < 0)) {
      return -1;
    }
    if (number != 0) {
      return 1;
    }
  }
  return 0;
}

/* 1: it is not a time. */
static int add_time(walk *w, cst__py_column *c, PyObject *value) {
  cst__py_scalar item = {.kind = CST__PY_TIMESTAMP};
  int no = is_no(w, value, "datetime");
  if (no == 1) {
    item.kind = CST__PY_DATE;
    no = is_no(w, value, "date");
  }
  if (no == 1) {
    item.kind = CST__PY_DURATION;
    no = is_no(w, value, "timedelta");
  }
  if (no != 0) {
    return no;
  }
  int nanos = has_nanoseconds(value);
  if (nanos != 0) {
    return nanos < 0 ? -1
                     : objects_fail(w, c, CST_UNSUPPORTED,
                                    "a time with nanoseconds, where columns of "
                                    "Python's times have microseconds",
                                    "round it to microseconds, or give an array of pyarrow");
  }
  int result;
  if (item.kind == CST__PY_TIMESTAMP) {
    result = read_datetime(value, &item);
  } else if (item.kind == CST__PY_DURATION) {
    result = micros_of_delta(value, &item.number, 1);
  } else {
    item.number = -719163;
    result = number_of(value, "toordinal", true, 1, &item.number);
  }
  return result < 0 ? -1 : add_item(w, c, value, &item);
}

/* ---- nested ---- */

static int become(walk *w, cst__py_column *c, PyObject *value, cst__py_kind kind) {
  return objects_check(w, c, value, cst__py_column_become(c, kind, '\0', w->row));
}

/* The sequence may change under the call: Python code may run. */
static int add_list(walk *w, cst__py_column *c, PyObject *value) {
  bool is_list = PyList_Check(value);
  if (become(w, c, value, CST__PY_LIST) < 0) {
    return -1;
  }
  cst__py_column *values = cst__py_column_values(c);
  for (Py_ssize_t i = 0; values != NULL; i++) {
    if (i >= (is_list ? PyList_Size(value) : PyTuple_Size(value))) {
      return cst__py_column_end(c);
    }
    PyObject *item = Py_NewRef(is_list ? PyList_GetItem(value, i) : PyTuple_GetItem(value, i));
    int result = add(w, values, item);
    Py_DECREF(item);
    if (result < 0) {
      return -1;
    }
  }
  return -1;
}

static int add_field(walk *w, cst__py_column *c, PyObject *name, PyObject *value) {
  if (!PyUnicode_Check(name)) {
    char found[41];
    char text[100];
    class_of(name, found);
    PyOS_snprintf(text, sizeof text, "found a key that is %s, expected str", found);
    return objects_fail(w, c, CST_SCHEMA, text, "name fields by str");
  }
  cst__py_column *field = cst__py_column_field(c, name);
  return field == NULL ? -1 : add(w, field, value);
}

/* Names are Arrow's, which end with a NUL and are UTF-8. */
static int check_names(walk *w, const cst__py_column *c) {
  for (size_t i = 0; i < c->num_children; i++) {
    PyObject *name = c->children[i]->name;
    Py_ssize_t size = 0;
    const char *text = name == NULL ? "" : PyUnicode_AsUTF8AndSize(name, &size);
    if (text == NULL || strlen(text) != (size_t)size) {
      PyErr_Clear();
      w->row = -1;
      return objects_fail(w, c, CST_INVALID_ARGUMENT,
                          "a key with a NUL or with surrogates names no column", "rename it");
    }
    if (check_names(w, c->children[i]) < 0) {
      return -1;
    }
  }
  return 0;
}

static int add_dict(walk *w, cst__py_column *c, PyObject *dict) {
  Py_ssize_t at = 0;
  PyObject *name;
  PyObject *value;
  if (become(w, c, dict, CST__PY_STRUCT) < 0) {
    return -1;
  }
  Py_ssize_t size = PyDict_Size(dict);
  while (PyDict_Next(dict, &at, &name, &value)) {
    Py_INCREF(name);
    Py_INCREF(value);
    int result = add_field(w, c, name, value);
    Py_DECREF(name);
    Py_DECREF(value);
    if (result == 0 && PyDict_Size(dict) != size) {
      PyErr_SetString(PyExc_RuntimeError, "a dict changed while it was read");
      result = -1;
    }
    if (result < 0) {
      return -1;
    }
  }
  return cst__py_column_end(c);
}

static int add_mapping(walk *w, cst__py_column *c, PyObject *value) {
  PyObject *dict = PyDict_New();
  int result = dict == NULL || PyDict_Update(dict, value) < 0 ? -1 : add_dict(w, c, dict);
  Py_XDECREF(dict);
  return result;
}

/* ---- arrays ---- */

/* The numbers of an object that has a buffer. */
typedef struct numbers {
  PyObject *object;
  Py_buffer view;
  char letter;
  bool is_signed;
  bool is_real;
} numbers;

/* Finds the type by the view; false unless it is one of numbers of the machine's byte order. */
static bool numbers_type(numbers *n) {
  const Py_buffer *view = &n->view;
  const char *format = view->format == NULL ? "B" : view->format;
  format += *format == '@' || *format == '=' || *format == '<';
  const char *ints = strchr("bhilqBHILQ", *format);
  if (*format == '\0' || format[1] != '\0' || view->itemsize > 8) {
    return false;
  }
  int log = view->itemsize == 1 ? 0 : view->itemsize == 2 ? 1 : view->itemsize == 4 ? 2 : 3;
  n->letter = *format;
  n->is_real = strchr("efd", *format) != NULL;
  if (ints != NULL) {
    n->is_signed = *format >= 'a';
    n->letter = (n->is_signed ? "csil" : "CSIL")[log];
  }
  return ints != NULL || n->is_real || *format == '?';
}

static double real_at(const numbers *n, const char *at) {
  float single;
  double real;
  uint16_t half;
  switch (n->letter) {
    case 'e':
      memcpy(&half, at, sizeof half);
      return cst__py_half(half);
    case 'f':
      memcpy(&single, at, sizeof single);
      return (double)single;
    default:
      memcpy(&real, at, sizeof real);
      return real;
  }
}

static int64_t int_at(const numbers *n, const char *at) {
  Py_ssize_t width = n->view.itemsize;
  uint64_t bits = 0;
  for (Py_ssize_t i = width; i-- > 0;) {
    bits = bits << 8 | (uint8_t)at[i];
  }
  if (n->is_signed && width < 8 && (bits >> (8 * width - 1) & 1) != 0) {
    bits |= UINT64_MAX << (8 * width);
  }
  return (int64_t)bits;
}

static int add_number(walk *w, cst__py_column *c, const numbers *n, const char *at) {
  cst__py_scalar item = {.kind = CST__PY_INT, .letter = n->letter};
  if (n->is_real) {
    item.kind = CST__PY_FLOAT;
    item.letter = n->letter == 'd' ? 'g' : 'f';
    item.real = real_at(n, at);
  } else if (n->letter == '?') {
    item.kind = CST__PY_BOOL;
    item.letter = 'b';
    item.number = *at != 0;
  } else {
    item.number = int_at(n, at);
    if (n->letter == 'L' && item.number < 0) {
      return fail_big(w, c);
    }
  }
  return add_item(w, c, n->object, &item);
}

/* The numbers from `at`, of this dimension and those within it. */
static int add_dimension(walk *w, cst__py_column *c, const numbers *n, const char *at,
                         int dimension) {
  if (dimension == n->view.ndim) {
    return add_number(w, c, n, at);
  }
  if (become(w, c, n->object, CST__PY_LIST) < 0) {
    return -1;
  }
  cst__py_column *values = cst__py_column_values(c);
  for (Py_ssize_t i = 0; values != NULL && i < n->view.shape[dimension]; i++) {
    if (add_dimension(w, values, n, at + i * n->view.strides[dimension], dimension + 1) < 0) {
      return -1;
    }
  }
  return values == NULL ? -1 : cst__py_column_end(c);
}

static int objects_add_buffer(walk *w, cst__py_column *c, PyObject *value) {
  numbers n = {.object = value};
  if (PyObject_GetBuffer(value, &n.view, PyBUF_RECORDS_RO) < 0) {
    return -1;
  }
  int result = numbers_type(&n) ? add_dimension(w, c, &n, n.view.buf, 0)
                                : fail_class(w, c, value, "make it an array of numbers, or a list");
  PyBuffer_Release(&n.view);
  return result;
}

/* The kind of numpy's dtype, such as 'f'; 0: it has none; -1 with an exception. */
static int dtype_kind(PyObject *value) {
  PyObject *dtype = PyObject_GetAttrString(value, "dtype");
  PyObject *kind = dtype == NULL ? NULL : PyObject_GetAttrString(dtype, "kind");
  Py_ssize_t size = 0;
  const char *text =
      kind == NULL || !PyUnicode_Check(kind) ? NULL : PyUnicode_AsUTF8AndSize(kind, &size);
  int result = text != NULL && size == 1 ? text[0] : 0;
  Py_XDECREF(dtype);
  Py_XDECREF(kind);
  if (PyErr_Occurred() != NULL) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
      return -1;
    }
    PyErr_Clear();
  }
  return result;
}

/* What a method makes of the value, in its place. */
static int add_made(walk *w, cst__py_column *c, PyObject *value, const char *method) {
  PyObject *made = PyObject_CallMethod(value, method, NULL);
  int result = made == NULL ? -1 : add(w, c, made);
  Py_XDECREF(made);
  return result;
}

/* Arrays and scalars of other libraries. */
static int add_foreign(walk *w, cst__py_column *c, PyObject *value) {
  static const char *const methods[] = {"to_pylist", "as_py", "__array__"};
  int kind = dtype_kind(value);
  int is_masked = kind < 0 ? -1 : cst__py_has(value, "filled");
  if (is_masked != 0) {
    return is_masked < 0 ? -1 : fail_class(w, c, value, "fill what is masked");
  }
  if (kind == 'O' || kind == 'U' || kind == 'S') {
    return add_made(w, c, value, "tolist");
  }
  if (kind == 'm' || kind == 'M') {
    return fail_class(w, c, value, "use datetime, or an array of pyarrow as the column");
  }
  if (PyObject_CheckBuffer(value)) {
    return objects_add_buffer(w, c, value);
  }
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    int has = cst__py_has(value, methods[i]);
    if (has != 0) {
      return has < 0 ? -1 : add_made(w, c, value, methods[i]);
    }
  }
  return fail_class(w, c, value, "use str, bytes, numbers, lists or dicts");
}

static int add_other(walk *w, cst__py_column *c, PyObject *value) {
  if (PyByteArray_Check(value) || PyMemoryView_Check(value)) {
    return add_bytes(w, c, value);
  }
  int result = add_time(w, c, value);
  if (result != 1) {
    return result;
  }
  int is_mapping = cst__py_has(value, "keys");
  if (is_mapping != 0) {
    return is_mapping < 0 ? -1 : add_mapping(w, c, value);
  }
  return add_foreign(w, c, value);
}

static int add_value(walk *w, cst__py_column *c, PyObject *value) {
  cst__py_scalar item = {.kind = CST__PY_BOOL, .letter = 'b', .number = value == Py_True};
  if (value == Py_None) {
    return cst__py_column_add_null(c);
  }
  if (PyBool_Check(value)) {
    return add_item(w, c, value, &item);
  }
  if (PyLong_Check(value)) {
    return add_int(w, c, value);
  }
  if (PyFloat_Check(value)) {
    item = (cst__py_scalar){.kind = CST__PY_FLOAT, .letter = 'g', .real = PyFloat_AsDouble(value)};
    return add_item(w, c, value, &item);
  }
  if (PyUnicode_Check(value)) {
    return add_str(w, c, value);
  }
  if (PyBytes_Check(value)) {
    return add_bytes(w, c, value);
  }
  if (PyDict_Check(value)) {
    return add_dict(w, c, value);
  }
  return PyList_Check(value) || PyTuple_Check(value) ? add_list(w, c, value)
                                                     : add_other(w, c, value);
}

static int add(walk *w, cst__py_column *c, PyObject *value) {
  if (w->depth >= MAX_NESTING) {
    return objects_fail(w, c, CST_LIMIT, "values are nested more than 60 deep", "");
  }
  w->depth++;
  int result = add_value(w, c, value);
  w->depth--;
  return result;
}

/* ---- the whole ---- */

static int add_rows(walk *w, cst__py_column *root, PyObject *list) {
  for (w->row = 0; w->row < PyList_Size(list); w->row++) {
    PyObject *value = Py_NewRef(PyList_GetItem(list, (Py_ssize_t)w->row));
    int result = add(w, root, value);
    Py_DECREF(value);
    if (result < 0 || ((w->row & 0xfff) == 0xfff && PyErr_CheckSignals() < 0)) {
      return -1;
    }
  }
  return check_names(w, root);
}

PyObject *cst__py_table_of_objects(PyObject *module, PyObject *args) {
  walk w = {.state = PyModule_GetState(module)};
  PyObject *list;
  PyObject *name;
  int is_batch;
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst__py_column root = {.kind = CST__PY_NULL};
  if (!PyArg_ParseTuple(args, "O!pO:array_of_objects", &PyList_Type, &list, &is_batch, &name)) {
    return NULL;
  }
  w.name = name == Py_None ? NULL : name;
  int result = is_batch ? cst__py_column_become(&root, CST__PY_STRUCT, '\0', -1) : 0;
  if (result == 0) {
    result = add_rows(&w, &root, list);
  }
  if (result == 0) {
    result = cst__py_column_finish(&root, &schema, &array);
  }
  cst__py_column_reset(&root);
  Py_XDECREF(w.dates);
  return result < 0 ? NULL : cst__py_table_take_over(w.state, &schema, &array, is_batch != 0);
}
