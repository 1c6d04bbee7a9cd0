/* tensor[key]: what a key of Python means. */
#include <stdlib.h>

#include "ext/structured/structured.h"

/* An item of a key, and what it holds on to. */
typedef struct key_item {
  cst_structured *tensor; /* to be released; NULL: none, or borrowed */
  cst__py_path *paths;
  cst_path *plain; /* the same for the library */
  size_t num_paths;
} key_item;

typedef struct key_reader {
  cst__py_state *state;
  const struct ArrowSchema *schema; /* of what the names so far lead to */
  cst_index_item *items;
  key_item *held;
  size_t count;
} key_reader;

/* ---- names ---- */

/* Paths of names as the library takes them. */
static int read_paths(key_reader *r, PyObject **names, size_t count, cst_index_kind kind) {
  key_item *held = &r->held[r->count];
  held->paths = calloc(count + 1, sizeof *held->paths);
  held->plain = calloc(count + 1, sizeof *held->plain);
  if (held->paths == NULL || held->plain == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  for (; held->num_paths < count; held->num_paths++) {
    cst__py_path *path = &held->paths[held->num_paths];
    const cst__py_path *previous = held->num_paths > 0 ? path - 1 : NULL;
    if (cst__py_path_init_after(path, r->schema, names[held->num_paths], previous) < 0) {
      return -1;
    }
    held->plain[held->num_paths] = path->path;
  }
  r->items[r->count++] = (cst_index_item){.kind = kind, .paths = held->plain, .num_paths = count};
  return 0;
}

static int read_name(key_reader *r, PyObject *name) {
  const struct ArrowSchema *below;
  if (read_paths(r, &name, 1, CST_INDEX_NAME) < 0) {
    return -1;
  }
  if (cst_type_at(r->schema, r->held[r->count - 1].plain, &below, NULL) == CST_OK) {
    r->schema = below; /* the library says what is missing if it is not there */
  }
  return 0;
}

static bool is_name(PyObject *object) { return PyUnicode_Check(object) || PyTuple_Check(object); }

static int read_names(key_reader *r, PyObject *list) {
  Py_ssize_t count = PyList_Size(list);
  PyObject **names = calloc((size_t)count, sizeof(PyObject *));
  int result = names == NULL ? -1 : 0;
  if (names == NULL) {
    PyErr_NoMemory();
  }
  for (Py_ssize_t i = 0; i < count && result == 0; i++) {
    names[i] = PyList_GetItem(list, i);
    if (!is_name(names[i])) {
      PyErr_Format(PyExc_TypeError, "a list of names holds %R as well", Py_TYPE(names[i]));
      result = -1;
    }
  }
  if (result == 0) {
    result = read_paths(r, names, (size_t)count, CST_INDEX_NAMES);
  }
  free(names);
  return result;
}

/* ---- places ---- */

/* An int of any class; one that 64 bits do not hold is as far out of range as they reach. */
static int read_place(PyObject *object, int64_t *out) {
  PyObject *number = PyNumber_Index(object);
  if (number == NULL) {
    return -1;
  }
  int overflow;
  long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  Py_DECREF(number);
  *out = overflow > 0 ? INT64_MAX : overflow < 0 ? -INT64_MAX : value;
  *out = *out < -INT64_MAX ? -INT64_MAX : *out;
  return overflow == 0 && value == -1 && PyErr_Occurred() != NULL ? -1 : 0;
}

static int read_bound(PyObject *slice, const char *name, int64_t open, int64_t *out) {
  PyObject *bound = PyObject_GetAttrString(slice, name);
  int result = bound == NULL ? -1 : 0;
  *out = open;
  if (result == 0 && bound != Py_None) {
    result = read_place(bound, out);
  }
  Py_XDECREF(bound);
  return result;
}

static int read_slice(key_reader *r, PyObject *slice) {
  cst_index_item item = {.kind = CST_INDEX_SLICE};
  if (read_bound(slice, "start", CST_INDEX_OPEN, &item.begin) < 0 ||
      read_bound(slice, "stop", CST_INDEX_OPEN, &item.end) < 0 ||
      read_bound(slice, "step", 1, &item.step) < 0) {
    return -1;
  }
  if (item.step == 0) {
    PyErr_SetString(PyExc_ValueError, "slice step cannot be zero");
    return -1;
  }
  r->items[r->count++] = item;
  return 0;
}

static int read_at(key_reader *r, PyObject *object) {
  int64_t place;
  if (read_place(object, &place) < 0) {
    return -1;
  }
  r->items[r->count++] = (cst_index_item){.kind = CST_INDEX_AT, .begin = place};
  return 0;
}

/* ---- arrays ---- */

static int add_array(key_reader *r, cst__py_key_array *array) {
  if (array->is_single) {
    r->items[r->count++] = (cst_index_item){.kind = CST_INDEX_AT, .begin = array->single};
    return 0;
  }
  r->held[r->count].tensor = array->tensor;
  r->items[r->count++] = (cst_index_item){.kind = CST_INDEX_ARRAY, .tensor = array->tensor};
  return 0;
}

static int read_tensor(key_reader *r, const cst_structured *tensor) {
  bool by_row = cst_structured_rank(tensor) >= 2;
  if (cst_structured_is_struct(tensor)) {
    PyErr_SetString(PyExc_TypeError, "an index is a tensor of integers or bools, not of structs");
    return -1;
  }
  r->items[r->count++] =
      (cst_index_item){.kind = by_row ? CST_INDEX_BY_ROW : CST_INDEX_ARRAY, .tensor = tensor};
  return 0;
}

static int read_values(key_reader *r, PyObject *object) {
  cst__py_key_array array = {.tensor = NULL};
  return cst__py_key_values(r->state, object, &array) < 0 ? -1 : add_array(r, &array);
}

static int read_buffer(key_reader *r, PyObject *object) {
  cst__py_key_array array = {.tensor = NULL};
  return cst__py_key_buffer(r->state, object, &array) < 0 ? -1 : add_array(r, &array);
}

/* What has a method that gives numpy's array: tensors of other libraries. */
static int read_array_like(key_reader *r, PyObject *object) {
  PyObject *array = PyObject_CallMethod(object, "__array__", NULL);
  int result = array == NULL ? -1 : read_buffer(r, array);
  Py_XDECREF(array);
  return result;
}

static int read_list(key_reader *r, PyObject *list) {
  bool of_names = PyList_Size(list) > 0 && is_name(PyList_GetItem(list, 0));
  return of_names ? read_names(r, list) : read_values(r, list);
}

static int read_other(key_reader *r, PyObject *object) {
  const cst_structured *tensor = cst__py_structured_view(r->state, object);
  if (tensor != NULL) {
    return read_tensor(r, tensor);
  }
  if (PyObject_CheckBuffer(object) && !PyBytes_Check(object) && !PyByteArray_Check(object)) {
    return read_buffer(r, object);
  }
  static const char *const methods[] = {"__arrow_c_array__", "__arrow_c_stream__", "__array__"};
  for (int i = 0; i < 3; i++) {
    int has = cst__py_has(object, methods[i]);
    if (has != 0) {
      return has < 0 ? -1 : i < 2 ? read_values(r, object) : read_array_like(r, object);
    }
  }
  if (PyIndex_Check(object)) {
    return read_at(r, object);
  }
  PyErr_Format(PyExc_TypeError,
               "an index is a name, an int, a slice, '...', None, or an array of integers or "
               "bools, not %R",
               Py_TYPE(object));
  return -1;
}

/* A single bool, which numpy takes for a mask without dimensions. */
static int read_bool(key_reader *r, PyObject *object) {
  cst__py_key_array array = {.tensor = NULL};
  return cst__py_key_bool(r->state, object == Py_True, &array) < 0 ? -1 : add_array(r, &array);
}

static int read_item(key_reader *r, PyObject *object) {
  if (is_name(object)) {
    return read_name(r, object);
  }
  if (object == Py_None || object == Py_Ellipsis) {
    r->items[r->count++] =
        (cst_index_item){.kind = object == Py_None ? CST_INDEX_NEW_AXIS : CST_INDEX_ELLIPSIS};
    return 0;
  }
  if (PyBool_Check(object)) {
    return read_bool(r, object);
  }
  if (PyLong_Check(object)) {
    return read_at(r, object);
  }
  if (PySlice_Check(object)) {
    return read_slice(r, object);
  }
  return PyList_Check(object) ? read_list(r, object) : read_other(r, object);
}

/* ---- all of it ---- */

/* A name below something that is no struct is one that there is not. */
static PyObject *index_finish(cst__py_state *state, cst_status status, const cst_error *error,
                              cst_structured *made) {
  if (status != CST_SCHEMA) {
    return cst__py_structured_finish_index(state, status, error, made);
  }
  cst_error not_found = *error;
  not_found.code = CST_NOT_FOUND;
  return cst__py_raise_as(state->field_error, &not_found);
}

static PyObject *index_by(cst__py_structured_object *self, const cst_index_item *items,
                          size_t count) {
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_structured_index(self->tensor, items, count, &made, &error);
  Py_END_ALLOW_THREADS
  return index_finish(self->state, status, &error, made);
}

static void reset_items(key_item *held, size_t count) {
  for (size_t i = 0; i < count; i++) {
    cst_structured_release(held[i].tensor);
    for (size_t k = 0; k < held[i].num_paths; k++) {
      cst__py_path_reset(&held[i].paths[k]);
    }
    free(held[i].paths);
    free(held[i].plain);
  }
}

enum { FEW_ITEMS = 8 };

static PyObject *index_items(cst__py_structured_object *self, PyObject **objects, size_t count) {
  cst_index_item few[FEW_ITEMS];
  key_item few_held[FEW_ITEMS] = {{0}};
  bool is_few = count <= FEW_ITEMS;
  key_reader reader = {.state = self->state,
                       .schema = cst_array_schema(cst_structured_array(self->tensor)),
                       .items = is_few ? few : calloc(count, sizeof *few),
                       .held = is_few ? few_held : calloc(count, sizeof *few_held)};
  PyObject *result = NULL;
  int status = 0;
  if (reader.items == NULL || reader.held == NULL) {
    PyErr_NoMemory();
    status = -1;
  }
  for (size_t i = 0; i < count && status == 0; i++) {
    status = read_item(&reader, objects[i]);
  }
  if (status == 0) {
    result = index_by(self, reader.items, count);
  }
  if (reader.held != NULL) {
    reset_items(reader.held, count);
  }
  if (!is_few) {
    free(reader.items);
    free(reader.held);
  }
  return result;
}

static PyObject *index_field(cst__py_structured_object *self, PyObject *name) {
  cst__py_path path;
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  const struct ArrowSchema *schema = cst_array_schema(cst_structured_array(self->tensor));
  if (cst__py_path_init(&path, schema, name) < 0) {
    return NULL;
  }
  cst_status status = cst_structured_field(self->tensor, &path.path, &made, &error);
  cst__py_path_reset(&path);
  return index_finish(self->state, status, &error, made);
}

/* True for a tuple of nothing but str, which is a path. */
static bool is_path(PyObject *tuple) {
  Py_ssize_t count = PyTuple_Size(tuple);
  bool all = count > 0;
  for (Py_ssize_t i = 0; i < count && all; i++) {
    all = PyUnicode_Check(PyTuple_GetItem(tuple, i));
  }
  return all;
}

static PyObject *index_tuple(cst__py_structured_object *self, PyObject *tuple) {
  PyObject *few[FEW_ITEMS];
  size_t count = (size_t)PyTuple_Size(tuple);
  PyObject **objects = count <= FEW_ITEMS ? few : calloc(count, sizeof(PyObject *));
  if (objects == NULL) {
    return PyErr_NoMemory();
  }
  for (size_t i = 0; i < count; i++) {
    objects[i] = PyTuple_GetItem(tuple, (Py_ssize_t)i);
  }
  PyObject *result = index_items(self, objects, count);
  if (objects != few) {
    free(objects);
  }
  return result;
}

PyObject *cst__py_structured_subscript(PyObject *object, PyObject *key) {
  cst__py_structured_object *self = (cst__py_structured_object *)object;
  if (PyUnicode_Check(key)) {
    return index_field(self, key);
  }
  if (!PyTuple_Check(key)) {
    return index_items(self, &key, 1);
  }
  return is_path(key) ? index_field(self, key) : index_tuple(self, key);
}
