/* The operations of <columnstone/array.h> on Arrays and RecordBatches. Methods whose arguments are
 * exact are here; those that take many kinds of arguments are functions of
 * columnstone._arrow.table, which call the module functions here.
 */
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/table/table.h"

/* ---- handles and objects ---- */

const cst_array *cst__py_table_handle_of(cst__py_state *state, PyObject *object) {
  if (Py_TYPE(object) == state->array_type) {
    return cst__py_array_handle(object);
  }
  if (Py_TYPE(object) == state->batch_type) {
    return cst__py_batch_handle(object);
  }
  PyErr_SetString(PyExc_TypeError, "this takes an Array or a RecordBatch");
  return NULL;
}

static bool is_batch(cst__py_state *state, PyObject *object) {
  return Py_TYPE(object) == state->batch_type;
}

/* The ArrowSchema object of a handle; `like` may be one of the same type, which is then shared. */
static PyObject *schema_of(cst__py_state *state, const cst_array *array, PyObject *like) {
  const struct ArrowSchema *schema = cst_array_schema(array);
  if (like != NULL && cst__py_arrow_schema_equal(cst__py_arrow_schema_view(like), schema)) {
    return Py_NewRef(like);
  }
  struct ArrowSchema copy;
  PyObject *tree = cst__py_arrow_schema_tree(schema);
  int result = tree == NULL ? -1 : cst__py_arrow_schema_plant(tree, &copy);
  Py_XDECREF(tree);
  return result < 0 ? NULL : cst__py_arrow_schema_new(state, &copy);
}

/* An object of a handle, which is taken over, also on failure. */
static PyObject *table_wrap(cst__py_state *state, cst_array *made, bool as_batch, PyObject *like) {
  struct ArrowArray array;
  cst_error error = CST_ERROR_INIT;
  PyObject *schema = schema_of(state, made, like);
  if (schema == NULL || cst_array_export(made, &array, &error) != CST_OK) {
    cst_array_release(made);
    if (schema != NULL) {
      cst__py_raise(state, &error);
      Py_DECREF(schema);
    }
    return NULL;
  }
  PyObject *object = as_batch ? cst__py_batch_new(state, schema, &array)
                              : cst__py_array_new(state, schema, &array);
  Py_DECREF(schema);
  if (object == NULL) {
    cst_array_release(made);
  } else if (as_batch) {
    cst__py_batch_set_handle(object, made);
  } else {
    cst__py_array_set_handle(object, made);
  }
  return object;
}

PyObject *cst__py_table_wrap(cst__py_state *state, cst_array *made, bool as_batch) {
  return table_wrap(state, made, as_batch, NULL);
}

static PyObject *table_finish(cst__py_state *state, cst_status status, const cst_error *error,
                              cst_array *made, bool as_batch, PyObject *like) {
  return status == CST_OK ? table_wrap(state, made, as_batch, like) : cst__py_raise(state, error);
}

/* Two results, as a tuple. */
static PyObject *finish_pair(cst__py_state *state, cst_status status, const cst_error *error,
                             cst_array *first, bool as_batch, cst_array *second) {
  if (status != CST_OK) {
    return cst__py_raise(state, error);
  }
  PyObject *a = table_wrap(state, first, as_batch, NULL);
  if (a == NULL) {
    cst_array_release(second);
    return NULL;
  }
  PyObject *b = table_wrap(state, second, false, NULL);
  if (b == NULL) {
    Py_DECREF(a);
    return NULL;
  }
  return Py_BuildValue("(NN)", a, b);
}

/* The schema of an Array or RecordBatch, borrowed from it; it lives as long. */
static PyObject *type_of(PyObject *object) {
  PyObject *schema = PyObject_GetAttrString(object, "schema");
  Py_XDECREF(schema);
  return schema;
}

/* ---- sugar ---- */

PyObject *cst__py_table_call(const char *name, PyObject *self, PyObject *args, PyObject *kwargs) {
  PyObject *module = PyImport_ImportModule("columnstone._arrow.table");
  PyObject *function = module == NULL ? NULL : PyObject_GetAttrString(module, name);
  Py_ssize_t count = PyTuple_Size(args);
  PyObject *all = function == NULL ? NULL : PyTuple_New(count + (self != NULL));
  Py_ssize_t at = 0;
  if (all != NULL && self != NULL) {
    PyTuple_SetItem(all, at++, Py_NewRef(self));
  }
  for (Py_ssize_t i = 0; all != NULL && i < count; i++) {
    PyTuple_SetItem(all, at++, Py_NewRef(PyTuple_GetItem(args, i)));
  }
  PyObject *result = all == NULL ? NULL : PyObject_Call(function, all, kwargs);
  Py_XDECREF(all);
  Py_XDECREF(function);
  Py_XDECREF(module);
  return result;
}

PyObject *cst__py_table_method(const char *name, PyObject *self, PyObject *argument) {
  PyObject *args = argument == NULL ? PyTuple_New(0) : Py_BuildValue("(O)", argument);
  PyObject *result = args == NULL ? NULL : cst__py_table_call(name, self, args, NULL);
  Py_XDECREF(args);
  return result;
}

/* ---- methods of both types ---- */

PyObject *cst__py_table_slice(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"offset", "length", NULL};
  long long offset;
  PyObject *rows = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "L|O:slice", names, &offset, &rows)) {
    return NULL;
  }
  long long length = rows == Py_None ? INT64_MAX : PyLong_AsLongLong(rows);
  return length == -1 && PyErr_Occurred() ? NULL : cst__py_table_rows(self, offset, length);
}

PyObject *cst__py_table_rows(PyObject *self, int64_t offset, int64_t length) {
  cst__py_state *state = cst__py_state_of(self);
  const cst_array *array = cst__py_table_handle_of(state, self);
  cst_error error = CST_ERROR_INIT;
  cst_array *out = NULL;
  if (array == NULL) {
    return NULL;
  }
  cst_status status = cst_array_slice(array, offset, length, &out, &error);
  return table_finish(state, status, &error, out, is_batch(state, self), type_of(self));
}

PyObject *cst__py_table_byte_size(PyObject *self, void *closure) {
  (void)closure;
  cst__py_state *state = cst__py_state_of(self);
  const cst_array *array = cst__py_table_handle_of(state, self);
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  int64_t size = 0;
  if (array == NULL) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_array_byte_size(array, &size, &error);
  Py_END_ALLOW_THREADS
  return status == CST_OK ? PyLong_FromLongLong(size) : cst__py_raise(state, &error);
}

/* ---- methods of Array ---- */

typedef cst_status (*unary)(const cst_array *array, cst_array **out, cst_error *error);

static PyObject *call_unary(PyObject *self, unary function) {
  cst__py_state *state = cst__py_state_of(self);
  const cst_array *array = cst__py_table_handle_of(state, self);
  cst_error error = CST_ERROR_INIT;
  cst_array *out = NULL;
  cst_status status;
  if (array == NULL) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = function(array, &out, &error);
  Py_END_ALLOW_THREADS
  return table_finish(state, status, &error, out, false, NULL);
}

PyObject *cst__py_table_lengths(PyObject *self, PyObject *unused) {
  (void)unused;
  return call_unary(self, cst_array_element_lengths);
}

PyObject *cst__py_table_null_mask(PyObject *self, PyObject *unused) {
  (void)unused;
  return call_unary(self, cst_array_null_mask);
}

static PyObject *flatten(PyObject *self, PyObject *args, PyObject *kwargs, bool with_parents) {
  static char *names[] = {"levels", NULL};
  int levels = 1;
  cst__py_state *state = cst__py_state_of(self);
  cst_error error = CST_ERROR_INIT;
  cst_array *values = NULL;
  cst_array *parents = NULL;
  cst_status status;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|i:flatten", names, &levels)) {
    return NULL;
  }
  const cst_array *array = cst__py_table_handle_of(state, self);
  if (array == NULL) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_array_flatten(array, levels, &values, with_parents ? &parents : NULL, &error);
  Py_END_ALLOW_THREADS
  return with_parents ? finish_pair(state, status, &error, values, false, parents)
                      : table_finish(state, status, &error, values, false, NULL);
}

PyObject *cst__py_table_flatten(PyObject *self, PyObject *args, PyObject *kwargs) {
  return flatten(self, args, kwargs, false);
}

PyObject *cst__py_table_flatten_with_parents(PyObject *self, PyObject *args, PyObject *kwargs) {
  return flatten(self, args, kwargs, true);
}

enum { MAX_DIMS = 128 /* more than a type can have */ };

PyObject *cst__py_table_coordinates(PyObject *self, PyObject *unused) {
  (void)unused;
  cst__py_state *state = cst__py_state_of(self);
  const cst_array *array = cst__py_table_handle_of(state, self);
  cst_error error = CST_ERROR_INIT;
  int64_t dims[MAX_DIMS];
  size_t num_dims = 0;
  cst_array *out = NULL;
  cst_status status;
  if (array == NULL) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_array_coordinates(array, &out, dims, MAX_DIMS, &num_dims, &error);
  Py_END_ALLOW_THREADS
  PyObject *coordinates = table_finish(state, status, &error, out, false, NULL);
  PyObject *shape = coordinates == NULL ? NULL : PyTuple_New((Py_ssize_t)num_dims);
  for (size_t i = 0; shape != NULL && i < num_dims; i++) {
    PyObject *dim = PyLong_FromLongLong(dims[i]);
    if (dim == NULL || PyTuple_SetItem(shape, (Py_ssize_t)i, dim) < 0) {
      Py_CLEAR(shape);
    }
  }
  if (shape == NULL) {
    Py_XDECREF(coordinates);
    return NULL;
  }
  return Py_BuildValue("(NN)", coordinates, shape);
}

PyObject *cst__py_table_count_invalid_utf8(PyObject *self, PyObject *unused) {
  (void)unused;
  cst__py_state *state = cst__py_state_of(self);
  const cst_array *array = cst__py_table_handle_of(state, self);
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  int64_t count = 0;
  if (array == NULL) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_array_count_invalid_utf8(array, &count, &error);
  Py_END_ALLOW_THREADS
  return status == CST_OK ? PyLong_FromLongLong(count) : cst__py_raise(state, &error);
}

/* ---- functions of the module: rows ---- */

PyObject *cst__py_table_take(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *object;
  Py_buffer rows; /* int64 */
  cst_error error = CST_ERROR_INIT;
  cst_array *out = NULL;
  cst_status status = CST_OK;
  if (!PyArg_ParseTuple(args, "Oy*:array_take", &object, &rows)) {
    return NULL;
  }
  const cst_array *array = cst__py_table_handle_of(state, object);
  if (array != NULL) {
    size_t count = (size_t)rows.len / sizeof(int64_t);
    Py_BEGIN_ALLOW_THREADS
    status = cst_array_take(array, rows.buf, count, &out, &error);
    Py_END_ALLOW_THREADS
  }
  PyBuffer_Release(&rows);
  return array == NULL
             ? NULL
             : table_finish(state, status, &error, out, is_batch(state, object), type_of(object));
}

PyObject *cst__py_table_filter(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *object;
  Py_buffer mask; /* a byte per row */
  cst_error error = CST_ERROR_INIT;
  cst_array *out = NULL;
  cst_status status = CST_OK;
  if (!PyArg_ParseTuple(args, "Oy*:array_filter", &object, &mask)) {
    return NULL;
  }
  const cst_array *array = cst__py_table_handle_of(state, object);
  if (array != NULL && mask.len != cst_array_length(array)) {
    cst__py_fail(state, CST_INVALID_ARGUMENT, "", "a mask of %zd for %lld rows", mask.len,
                 (long long)cst_array_length(array));
    array = NULL;
  }
  if (array != NULL) {
    Py_BEGIN_ALLOW_THREADS
    status = cst_array_filter(array, mask.buf, &out, &error);
    Py_END_ALLOW_THREADS
  }
  PyBuffer_Release(&mask);
  return array == NULL
             ? NULL
             : table_finish(state, status, &error, out, is_batch(state, object), type_of(object));
}

PyObject *cst__py_table_concat(PyObject *module, PyObject *tuple) {
  return cst__py_table_join(PyModule_GetState(module), tuple);
}

PyObject *cst__py_table_join(cst__py_state *state, PyObject *tuple) {
  Py_ssize_t count = PyTuple_Size(tuple);
  const cst_array **arrays = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *arrays);
  cst_error error = CST_ERROR_INIT;
  cst_array *out = NULL;
  cst_status status;
  if (arrays == NULL) {
    return count < 0 ? NULL : PyErr_NoMemory();
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    arrays[i] = cst__py_table_handle_of(state, PyTuple_GetItem(tuple, i));
    if (arrays[i] == NULL) {
      free(arrays);
      return NULL;
    }
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_array_concat(arrays, (size_t)count, &out, &error);
  Py_END_ALLOW_THREADS
  free(arrays);
  PyObject *first = count == 0 ? NULL : PyTuple_GetItem(tuple, 0);
  return table_finish(state, status, &error, out, first == NULL || is_batch(state, first),
                      first == NULL ? NULL : type_of(first));
}

/* ---- columns ---- */

/* A path, whose steps are borrowed from a tuple of bytes. Those of *out are to be freed; false: an
 * exception. */
static bool path_of(PyObject *tuple, cst_path *out) {
  Py_ssize_t count = PyTuple_Size(tuple);
  const char **steps = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *steps);
  *out = (cst_path){steps, count < 0 ? 0 : (size_t)count};
  if (steps == NULL) {
    if (count >= 0) {
      PyErr_NoMemory();
    }
    return false;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    steps[i] = PyBytes_AsString(PyTuple_GetItem(tuple, i));
    if (steps[i] == NULL) {
      return false;
    }
  }
  return true;
}

static void path_free(cst_path *path) { free((void *)(uintptr_t)path->steps); }

PyObject *cst__py_table_column(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *object;
  PyObject *tuple;
  cst_path path = {NULL, 0};
  int with_rows;
  cst_error error = CST_ERROR_INIT;
  cst_array *out = NULL;
  cst_array *rows = NULL;
  cst_status status;
  if (!PyArg_ParseTuple(args, "OO!p:array_column", &object, &PyTuple_Type, &tuple, &with_rows)) {
    return NULL;
  }
  const cst_array *array = cst__py_table_handle_of(state, object);
  if (array == NULL || !path_of(tuple, &path)) {
    path_free(&path);
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_array_column(array, &path, &out, with_rows ? &rows : NULL, &error);
  Py_END_ALLOW_THREADS
  path_free(&path);
  return with_rows ? finish_pair(state, status, &error, out, false, rows)
                   : table_finish(state, status, &error, out, false, NULL);
}

/* ---- lists and nulls ---- */

PyObject *cst__py_table_from_parents(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *values;
  PyObject *parents;
  long long num_rows;
  int empty_as_null;
  cst_error error = CST_ERROR_INIT;
  cst_array *out = NULL;
  cst_status status;
  if (!PyArg_ParseTuple(args, "OOLp:array_from_parents", &values, &parents, &num_rows,
                        &empty_as_null)) {
    return NULL;
  }
  const cst_array *array = cst__py_table_handle_of(state, values);
  const cst_array *rows = array == NULL ? NULL : cst__py_table_handle_of(state, parents);
  if (rows == NULL) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_array_from_parents(array, rows, num_rows, empty_as_null != 0, &out, &error);
  Py_END_ALLOW_THREADS
  return table_finish(state, status, &error, out, false, NULL);
}

PyObject *cst__py_table_fill_null(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *object;
  PyObject *fill;
  cst_error error = CST_ERROR_INIT;
  cst_array *out = NULL;
  cst_status status;
  if (!PyArg_ParseTuple(args, "OO:array_fill_null", &object, &fill)) {
    return NULL;
  }
  const cst_array *array = cst__py_table_handle_of(state, object);
  const cst_array *with = array == NULL ? NULL : cst__py_table_handle_of(state, fill);
  if (with == NULL) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_array_fill_null(array, with, &out, &error);
  Py_END_ALLOW_THREADS
  return table_finish(state, status, &error, out, false, type_of(object));
}

/* ---- groups ---- */

PyObject *cst__py_table_group_by(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *batch;
  PyObject *tuple;
  cst_groups groups = {0};
  cst_error error = CST_ERROR_INIT;
  cst_status status = CST_OK;
  if (!PyArg_ParseTuple(args, "OO!:array_group_by", &batch, &PyTuple_Type, &tuple)) {
    return NULL;
  }
  const cst_array *array = cst__py_table_handle_of(state, batch);
  const Py_ssize_t count = PyTuple_Size(tuple);
  cst_path *paths = array == NULL || count < 0 ? NULL : calloc((size_t)count + 1, sizeof *paths);
  if (paths == NULL) {
    return array == NULL || count < 0 ? NULL : PyErr_NoMemory();
  }
  bool is_read = true;
  for (Py_ssize_t i = 0; i < count && is_read; i++) {
    is_read = path_of(PyTuple_GetItem(tuple, i), &paths[i]);
  }
  if (is_read) {
    Py_BEGIN_ALLOW_THREADS
    status = cst_array_group_by(array, paths, (size_t)count, &groups, &error);
    Py_END_ALLOW_THREADS
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    path_free(&paths[i]);
  }
  free(paths);
  if (!is_read) {
    return NULL;
  }
  return finish_pair(state, status, &error, groups.keys, true, groups.rows);
}
