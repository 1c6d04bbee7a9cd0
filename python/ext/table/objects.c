/* Python's own data as Arrow data: lists of values, lists of dicts as rows, and nested values.
 *
 * One pass: every value goes to the end of a column that finds its type as it grows, or has been
 * given one (grow.c). The values are lists and tuples, dicts and other mappings, dataclasses, the
 * scalars of Python, numpy and pandas, and arrays of any number of dimensions (those with a buffer
 * or __array__), which are lists.
 */
#include "ext/table/walk.h"

static int add(cst__py_walk *w, cst__py_column *c, PyObject *value);

/* What a column's function has answered. */
static int objects_check(cst__py_walk *w, const cst__py_column *c, PyObject *value, int result) {
  return result > 0 ? cst__py_walk_fail_fit(w, c, value, result) : result;
}

/* ---- scalars ---- */

static int add_item(cst__py_walk *w, cst__py_column *c, PyObject *value,
                    const cst__py_scalar *item) {
  return objects_check(w, c, value, cst__py_column_add(c, item, w->row));
}

static int objects_add_null(cst__py_walk *w, cst__py_column *c) {
  return c->is_required ? cst__py_walk_fail_null(w, c) : cst__py_column_add_null(c);
}

/* Whether numbers from 2^63 on may fit. */
static bool takes_unsigned(const cst__py_column *c) {
  return c->type != NULL && (c->letter == 'L' || c->kind == CST__PY_FLOAT);
}

static int add_int(cst__py_walk *w, cst__py_column *c, PyObject *value) {
  int overflow;
  int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
  cst__py_scalar item = {.kind = CST__PY_INT, .letter = 'l', .number = number};
  if (overflow > 0 && takes_unsigned(c)) {
    item.letter = 'L';
    item.number = (int64_t)PyLong_AsUnsignedLongLong(value);
    overflow = PyErr_Occurred() != NULL;
    PyErr_Clear();
  }
  if (overflow != 0) {
    return c->type == NULL ? cst__py_walk_fail_big(w, c)
                           : objects_check(w, c, value, CST__PY_OUT_OF_RANGE);
  }
  return add_item(w, c, value, &item);
}

static int add_str(cst__py_walk *w, cst__py_column *c, PyObject *value) {
  cst__py_scalar item = {.kind = CST__PY_TEXT};
  item.data = PyUnicode_AsUTF8AndSize(value, &item.size);
  if (item.data == NULL && PyErr_ExceptionMatches(PyExc_UnicodeError)) {
    PyErr_Clear();
    return cst__py_walk_fail(w, c, CST_INVALID_ARGUMENT, "a str with surrogates is not UTF-8",
                             "encode it, to bytes");
  }
  return item.data == NULL ? -1 : add_item(w, c, value, &item);
}

static int add_bytes(cst__py_walk *w, cst__py_column *c, PyObject *value) {
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

/* Adds factor times an attribute that is an int, or what a method of no arguments gives. 0, or -1
 * with an exception, OverflowError for a sum beyond 64 bits. */
static int number_of(PyObject *value, const char *name, bool call, int64_t factor, int64_t *sum) {
  PyObject *got =
      call ? PyObject_CallMethod(value, name, NULL) : PyObject_GetAttrString(value, name);
  int64_t number = got == NULL ? -1 : PyLong_AsLongLong(got);
  Py_XDECREF(got);
  if (PyErr_Occurred() != NULL) {
    return -1;
  }
  if (__builtin_mul_overflow(number, factor, &number) ||
      __builtin_add_overflow(*sum, number, sum)) {
    PyErr_SetNone(PyExc_OverflowError);
    return -1;
  }
  return 0;
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
static int is_no(cst__py_walk *w, PyObject *value, const char *name) {
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

/* Whether a time is pandas' NaT, which differs from itself. */
static int is_no_time(PyObject *value) {
  PyObject *differs = PyObject_RichCompare(value, value, Py_NE);
  int result = differs == NULL ? -1 : PyObject_IsTrue(differs);
  Py_XDECREF(differs);
  return result;
}

/* 1: it is not a time. */
static int add_time(cst__py_walk *w, cst__py_column *c, PyObject *value) {
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
  int is_missing = is_no_time(value);
  if (is_missing != 0) {
    return is_missing < 0 ? -1 : objects_add_null(w, c);
  }
  int nanos = has_nanoseconds(value);
  if (nanos != 0) {
    return nanos < 0 ? -1
                     : cst__py_walk_fail(w, c, CST_UNSUPPORTED,
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
  if (result < 0 && PyErr_ExceptionMatches(PyExc_OverflowError)) {
    PyErr_Clear();
    return cst__py_walk_fail(w, c, CST_UNSUPPORTED,
                             "a time that 64 bits of microseconds do not hold",
                             "make the column ints or strings");
  }
  return result < 0 ? -1 : add_item(w, c, value, &item);
}

/* ---- nested ---- */

static int become(cst__py_walk *w, cst__py_column *c, PyObject *value, cst__py_kind kind) {
  return objects_check(w, c, value, cst__py_column_become(c, kind, '\0', w->row));
}

/* A list begins: its values, or NULL with an exception. */
static cst__py_column *begin_list(cst__py_walk *w, cst__py_column *c, PyObject *value) {
  if (become(w, c, value, CST__PY_LIST) < 0) {
    return NULL;
  }
  if (w->level >= CST__PY_MAX_NESTING) {
    cst__py_walk_fail(w, c, CST_LIMIT, "values are nested more than 60 deep", "");
    return NULL;
  }
  w->level++;
  return cst__py_column_values(c);
}

/* The next value of a list. */
static void step_list(cst__py_walk *w, int64_t i) {
  w->at[w->level - 1] = i;
  if (w->level == 1 && w->is_nested) {
    w->row = i;
  }
}

static int end_list(cst__py_walk *w, cst__py_column *c) {
  w->level--;
  if (w->level == 0 && w->is_nested) {
    w->row = -1;
  }
  if (c->fixed_size >= 0) {
    int64_t found = c->children[0]->length - c->length * c->fixed_size;
    if (found != c->fixed_size) {
      return cst__py_walk_fail_size(w, c, found);
    }
  }
  return cst__py_column_end(c);
}

/* The sequence may change under the call: Python code may run. */
static int add_list(cst__py_walk *w, cst__py_column *c, PyObject *value) {
  bool is_list = PyList_Check(value);
  cst__py_column *values = begin_list(w, c, value);
  for (Py_ssize_t i = 0; values != NULL; i++) {
    if (i >= (is_list ? PyList_Size(value) : PyTuple_Size(value))) {
      return end_list(w, c);
    }
    step_list(w, i);
    PyObject *item = Py_NewRef(is_list ? PyList_GetItem(value, i) : PyTuple_GetItem(value, i));
    int result = add(w, values, item);
    Py_DECREF(item);
    if (result < 0 || ((i & 0xfff) == 0xfff && PyErr_CheckSignals() < 0)) {
      return -1;
    }
  }
  return -1;
}

static int add_field(cst__py_walk *w, cst__py_column *c, PyObject *name, PyObject *value) {
  cst__py_column *field = PyUnicode_Check(name) ? cst__py_column_field(c, name) : NULL;
  if (field == NULL) {
    return PyErr_Occurred() != NULL ? -1 : cst__py_walk_fail_key(w, c, name);
  }
  return add(w, field, value);
}

/* Names are Arrow's, which end with a NUL and are UTF-8. */
static int check_names(cst__py_walk *w, const cst__py_column *c) {
  for (size_t i = 0; i < c->num_children; i++) {
    PyObject *name = c->children[i]->name;
    Py_ssize_t size = 0;
    const char *text = name == NULL ? "" : PyUnicode_AsUTF8AndSize(name, &size);
    if (text == NULL || strlen(text) != (size_t)size) {
      PyErr_Clear();
      w->row = -1;
      return cst__py_walk_fail(w, c, CST_INVALID_ARGUMENT,
                               "a key with a NUL or surrogates cannot name a column", "rename it");
    }
    if (check_names(w, c->children[i]) < 0) {
      return -1;
    }
  }
  return 0;
}

static int end_dict(cst__py_walk *w, cst__py_column *c) {
  const cst__py_column *missing = w->is_nested ? cst__py_column_missing(c) : NULL;
  if (missing != NULL) {
    return cst__py_walk_fail_missing(w, missing);
  }
  c->is_closed = w->is_nested;
  return cst__py_column_end(c);
}

static int add_dict(cst__py_walk *w, cst__py_column *c, PyObject *dict) {
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
  return end_dict(w, c);
}

static int add_mapping(cst__py_walk *w, cst__py_column *c, PyObject *value) {
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

static int add_number(cst__py_walk *w, cst__py_column *c, const numbers *n, const char *at) {
  cst__py_scalar item = {.kind = CST__PY_INT, .letter = n->letter};
  if (n->is_real) {
    item.kind = CST__PY_FLOAT;
    bool is_half = n->letter == 'e' && w->is_nested;
    item.letter = n->letter == 'd' ? 'g' : is_half ? 'e' : 'f';
    item.real = real_at(n, at);
  } else if (n->letter == '?') {
    item.kind = CST__PY_BOOL;
    item.letter = 'b';
    item.number = *at != 0;
  } else {
    item.number = int_at(n, at);
    if (n->letter == 'L' && item.number < 0 && !takes_unsigned(c)) {
      return cst__py_walk_fail_big(w, c);
    }
  }
  return add_item(w, c, n->object, &item);
}

/* The numbers from `at`, of this dimension and those within it. */
static int add_dimension(cst__py_walk *w, cst__py_column *c, const numbers *n, const char *at,
                         int dimension) {
  if (dimension == n->view.ndim) {
    return add_number(w, c, n, at);
  }
  cst__py_column *values = begin_list(w, c, n->object);
  for (Py_ssize_t i = 0; values != NULL && i < n->view.shape[dimension]; i++) {
    step_list(w, i);
    if (add_dimension(w, values, n, at + i * n->view.strides[dimension], dimension + 1) < 0) {
      return -1;
    }
  }
  return values == NULL ? -1 : end_list(w, c);
}

static int objects_add_buffer(cst__py_walk *w, cst__py_column *c, PyObject *value) {
  numbers n = {.object = value};
  if (PyObject_GetBuffer(value, &n.view, PyBUF_RECORDS_RO) < 0) {
    return -1;
  }
  int result = numbers_type(&n)
                   ? add_dimension(w, c, &n, n.view.buf, 0)
                   : cst__py_walk_fail_class(w, c, value, "make it an array of numbers, or a list");
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
static int add_made(cst__py_walk *w, cst__py_column *c, PyObject *value, const char *method) {
  PyObject *made = PyObject_CallMethod(value, method, NULL);
  int result = made == NULL ? -1 : add(w, c, made);
  Py_XDECREF(made);
  return result;
}

/* What columnstone._arrow.objects.plain makes of the value, in its place. */
static int add_plain(cst__py_walk *w, cst__py_column *c, PyObject *value, const char *hint) {
  PyObject *module = PyImport_ImportModule("columnstone._arrow.objects");
  PyObject *made = module == NULL ? NULL : PyObject_CallMethod(module, "plain", "O", value);
  int result = made == NULL                ? -1
               : made == Py_NotImplemented ? cst__py_walk_fail_class(w, c, value, hint)
                                           : add(w, c, made);
  Py_XDECREF(made);
  Py_XDECREF(module);
  return result;
}

/* Arrays and scalars of other libraries. */
static int add_foreign(cst__py_walk *w, cst__py_column *c, PyObject *value) {
  static const char *const methods[] = {"to_pylist", "as_py", "to_py", "__array__", "to_list"};
  int kind = dtype_kind(value);
  int is_masked = kind < 0 ? -1 : cst__py_has(value, "filled");
  if (is_masked != 0) {
    return is_masked < 0 ? -1 : cst__py_walk_fail_class(w, c, value, "fill what is masked");
  }
  if (kind == 'O' || kind == 'U' || kind == 'S') {
    return add_made(w, c, value, "tolist");
  }
  if (kind == 'm' || kind == 'M') {
    return add_plain(w, c, value, "use datetime, or an array of pyarrow as the column");
  }
  if (kind == 'V') {
    return add_plain(w, c, value, "make it an array of numbers, or a list");
  }
  if (PyObject_CheckBuffer(value)) {
    return objects_add_buffer(w, c, value);
  }
  int is_pandas = cst__py_has(value, "__arrow_array__");
  if (is_pandas != 0) {
    return is_pandas < 0 ? -1 : add_plain(w, c, value, "use an array of pyarrow as the column");
  }
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    int has = cst__py_has(value, methods[i]);
    if (has != 0) {
      return has < 0 ? -1 : add_made(w, c, value, methods[i]);
    }
  }
  return add_plain(w, c, value, "use str, bytes, numbers, lists or dicts");
}

static int add_other(cst__py_walk *w, cst__py_column *c, PyObject *value) {
  if (PyByteArray_Check(value) || PyMemoryView_Check(value)) {
    return add_bytes(w, c, value);
  }
  int result = add_time(w, c, value);
  if (result != 1) {
    return result;
  }
  int is_mapping = cst__py_has(value, "keys");
  int is_series = is_mapping > 0 ? cst__py_has(value, "iloc") : 0; /* of pandas: a list */
  if (is_series != 0) {
    return is_series < 0 ? -1 : add_made(w, c, value, "to_list");
  }
  if (is_mapping != 0) {
    return is_mapping < 0 ? -1 : add_mapping(w, c, value);
  }
  return add_foreign(w, c, value);
}

static int add_value(cst__py_walk *w, cst__py_column *c, PyObject *value) {
  cst__py_scalar item = {.kind = CST__PY_BOOL, .letter = 'b', .number = value == Py_True};
  if (value == Py_None) {
    return objects_add_null(w, c);
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
  if (w->is_nested && PyTuple_Check(value) && !Py_IS_TYPE(value, &PyTuple_Type)) {
    int is_named = cst__py_has(value, "_fields");
    if (is_named != 0) {
      return is_named < 0 ? -1 : add_made(w, c, value, "_asdict");
    }
  }
  return PyList_Check(value) || PyTuple_Check(value) ? add_list(w, c, value)
                                                     : add_other(w, c, value);
}

static int add(cst__py_walk *w, cst__py_column *c, PyObject *value) {
  if (w->depth >= CST__PY_MAX_NESTING) {
    return cst__py_walk_fail(w, c, CST_LIMIT, "values are nested more than 60 deep", "");
  }
  w->depth++;
  int result = add_value(w, c, value);
  w->depth--;
  return result;
}

/* ---- the whole ---- */

static int add_rows(cst__py_walk *w, cst__py_column *root, PyObject *list) {
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
  cst__py_walk w = {.state = PyModule_GetState(module)};
  PyObject *list;
  PyObject *name;
  int is_batch;
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst__py_column root = CST__PY_COLUMN_INIT;
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

/* ---- one nested value ---- */

/* Values of a column whose first one fails are of a type that it has not. */
static int set_type(cst__py_walk *w, cst__py_column *root, const struct ArrowSchema *type) {
  const cst__py_column *failed = NULL;
  int result = cst__py_column_set_type(root, type, &failed);
  return result == 1 ? cst__py_walk_fail(w, failed, CST_UNSUPPORTED,
                                         "the spec has a type that Python's values cannot have",
                                         "give an array of pyarrow")
                     : result;
}

/* A copy of the schema of an ArrowSchema object. */
static int copy_schema(PyObject *object, struct ArrowSchema *out) {
  PyObject *tree = cst__py_arrow_schema_tree(cst__py_arrow_schema_view(object));
  int result = tree == NULL ? -1 : cst__py_arrow_schema_plant(tree, out);
  Py_XDECREF(tree);
  return result;
}

static int finish_nested(cst__py_column *root, PyObject *type, struct ArrowSchema *schema,
                         struct ArrowArray *array) {
  if (type == Py_None) {
    return cst__py_column_finish(root, schema, array);
  }
  if (copy_schema(type, schema) < 0) {
    return -1;
  }
  int result = cst__py_column_finish(root, NULL, array);
  if (result < 0) {
    schema->release(schema);
  }
  return result;
}

/* The values of the only list in the place of the list. */
static void unwrap(struct ArrowSchema *schema, struct ArrowArray *array) {
  struct ArrowSchema values_schema = *schema->children[0];
  struct ArrowArray values = *array->children[0];
  schema->children[0]->release = NULL;
  array->children[0]->release = NULL;
  schema->release(schema);
  array->release(array);
  *schema = values_schema;
  *array = values;
}

PyObject *cst__py_table_of_nested(PyObject *module, PyObject *args) {
  cst__py_walk w = {.state = PyModule_GetState(module), .row = -1, .is_nested = true};
  PyObject *value;
  PyObject *type;
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst__py_column root = CST__PY_COLUMN_INIT;
  if (!PyArg_ParseTuple(args, "OO:nested_of_objects", &value, &type)) {
    return NULL;
  }
  if (type != Py_None && Py_TYPE(type) != w.state->arrow_schema_type) {
    PyErr_SetString(PyExc_TypeError, "the type is an ArrowSchema or None");
    return NULL;
  }
  int result = type == Py_None ? 0 : set_type(&w, &root, cst__py_arrow_schema_view(type));
  if (result == 0) {
    result = add(&w, &root, value);
  }
  if (result == 0) {
    result = check_names(&w, &root);
  }
  bool is_list = root.kind == CST__PY_LIST && !root.has_nulls;
  if (result == 0) {
    result = finish_nested(&root, type, &schema, &array);
  }
  cst__py_column_reset(&root);
  Py_XDECREF(w.dates);
  if (result != 0) {
    return NULL;
  }
  if (is_list) {
    unwrap(&schema, &array);
  }
  PyObject *made = cst__py_table_take_over(w.state, &schema, &array, false);
  return made == NULL ? NULL : Py_BuildValue("(NO)", made, is_list ? Py_False : Py_True);
}
