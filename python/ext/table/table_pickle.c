/* Arrays as trees of buffers and back, so that they pickle with their very types: (length, offset,
 * null count, buffers, children).
 */
#include <columnstone/arrow.h>
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/table/table.h"

/* ---- to a tree ---- */

static PyObject *table_pickle_bytes_or_none(const void *data, int64_t size) {
  return data == NULL ? Py_NewRef(Py_None) : PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
}

static PyObject *dump_buffers(cst__py_state *state, const struct ArrowSchema *schema,
                              const struct ArrowArray *array) {
  PyObject *buffers = PyTuple_New((Py_ssize_t)array->n_buffers);
  for (int64_t i = 0; buffers != NULL && i < array->n_buffers; i++) {
    int64_t size = cst_arrow_buffer_size(schema, array, i);
    if (size < 0) {
      Py_DECREF(buffers);
      return cst__py_fail(state, CST_UNSUPPORTED, "cast the column, or leave it out",
                          "arrays of the Arrow type '%.40s' do not pickle", schema->format);
    }
    PyObject *bytes = table_pickle_bytes_or_none(array->buffers[i], size);
    if (bytes == NULL || PyTuple_SetItem(buffers, (Py_ssize_t)i, bytes) < 0) {
      Py_CLEAR(buffers);
    }
  }
  return buffers;
}

static PyObject *dump(cst__py_state *state, const struct ArrowSchema *schema,
                      const struct ArrowArray *array) {
  PyObject *buffers = dump_buffers(state, schema, array);
  PyObject *children = buffers == NULL ? NULL : PyTuple_New((Py_ssize_t)array->n_children);
  for (int64_t i = 0; children != NULL && i < array->n_children; i++) {
    PyObject *child = dump(state, schema->children[i], array->children[i]);
    if (child == NULL || PyTuple_SetItem(children, (Py_ssize_t)i, child) < 0) {
      Py_CLEAR(children);
    }
  }
  if (children == NULL) {
    Py_XDECREF(buffers);
    return NULL;
  }
  return Py_BuildValue("(LLLNN)", (long long)array->length, (long long)array->offset,
                       (long long)array->null_count, buffers, children);
}

PyObject *cst__py_table_dump(PyObject *module, PyObject *object) {
  cst__py_state *state = PyModule_GetState(module);
  const cst_array *handle = cst__py_table_handle_of(state, object);
  struct ArrowArray array;
  cst_error error = CST_ERROR_INIT;
  if (handle == NULL) {
    return NULL;
  }
  if (cst_array_export(handle, &array, &error) != CST_OK) {
    return cst__py_raise(state, &error);
  }
  PyObject *tree = dump(state, cst_array_schema(handle), &array);
  array.release(&array);
  return tree;
}

/* ---- from a tree ---- */

static void table_pickle_release_node(struct ArrowArray *array) {
  for (int64_t i = 0; i < array->n_buffers; i++) {
    free((void *)(uintptr_t)array->buffers[i]);
  }
  for (int64_t i = 0; i < array->n_children; i++) {
    if (array->children[i]->release != NULL) {
      array->children[i]->release(array->children[i]);
    }
    free(array->children[i]);
  }
  free(array->buffers);
  free(array->children);
  array->release = NULL;
}

/* A copy of a buffer, aligned for any type; NULL with an exception. */
static void *copy_buffer(PyObject *object) {
  Py_buffer view;
  if (PyObject_GetBuffer(object, &view, PyBUF_SIMPLE) < 0) {
    return NULL;
  }
  void *copy = malloc((size_t)view.len + 1);
  if (copy == NULL) {
    PyErr_NoMemory();
  } else {
    memcpy(copy, view.buf, (size_t)view.len);
  }
  PyBuffer_Release(&view);
  return copy;
}

static int load_buffers(PyObject *buffers, struct ArrowArray *out) {
  Py_ssize_t count = PyTuple_Size(buffers);
  out->buffers = calloc((size_t)count + 1, sizeof *out->buffers);
  if (out->buffers == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  for (; out->n_buffers < count; out->n_buffers++) {
    PyObject *buffer = PyTuple_GetItem(buffers, (Py_ssize_t)out->n_buffers);
    if (buffer == Py_None) {
      continue;
    }
    out->buffers[out->n_buffers] = copy_buffer(buffer);
    if (out->buffers[out->n_buffers] == NULL) {
      return -1;
    }
  }
  return 0;
}

static int table_pickle_load(PyObject *tree, struct ArrowArray *out);

static int load_children(PyObject *children, struct ArrowArray *out) {
  Py_ssize_t count = PyTuple_Size(children);
  out->children = calloc((size_t)count + 1, sizeof *out->children);
  for (; out->children != NULL && out->n_children < count; out->n_children++) {
    struct ArrowArray *child = calloc(1, sizeof *child);
    if (child == NULL ||
        table_pickle_load(PyTuple_GetItem(children, (Py_ssize_t)out->n_children), child) < 0) {
      free(child);
      return PyErr_Occurred() != NULL ? -1 : (PyErr_NoMemory(), -1);
    }
    out->children[out->n_children] = child;
  }
  return out->children != NULL ? 0 : (PyErr_NoMemory(), -1);
}

/* 0, or -1 with an exception and nothing to release. */
static int table_pickle_load(PyObject *tree, struct ArrowArray *out) {
  long long length;
  long long offset;
  long long null_count;
  PyObject *buffers;
  PyObject *children;
  if (!PyArg_ParseTuple(tree, "LLLO!O!:array", &length, &offset, &null_count, &PyTuple_Type,
                        &buffers, &PyTuple_Type, &children)) {
    return -1;
  }
  if (Py_EnterRecursiveCall(" in an Arrow array") != 0) {
    return -1;
  }
  *out = (struct ArrowArray){.length = length,
                             .offset = offset,
                             .null_count = null_count,
                             .release = table_pickle_release_node};
  int result = load_buffers(buffers, out) < 0 ? -1 : load_children(children, out);
  if (result < 0) {
    table_pickle_release_node(out);
  }
  Py_LeaveRecursiveCall();
  return result;
}

PyObject *cst__py_table_of_tree(PyObject *class, PyObject *args) {
  cst__py_state *state = PyType_GetModuleState((PyTypeObject *)class);
  PyObject *object;
  PyObject *tree;
  struct ArrowSchema schema;
  struct ArrowArray array;
  if (!PyArg_ParseTuple(args, "O!O!:_of_tree", state->arrow_schema_type, &object, &PyTuple_Type,
                        &tree)) {
    return NULL;
  }
  PyObject *type = cst__py_arrow_schema_tree(cst__py_arrow_schema_view(object));
  int result = type == NULL ? -1 : cst__py_arrow_schema_plant(type, &schema);
  Py_XDECREF(type);
  if (result < 0) {
    return NULL;
  }
  if (table_pickle_load(tree, &array) < 0) {
    schema.release(&schema);
    return NULL;
  }
  return cst__py_table_take_over(state, &schema, &array, class == (PyObject *)state->batch_type);
}
