/* Arrays as trees of buffers and back, so that they pickle with their very types: (length, offset,
 * null count, buffers, children).
 *
 * Source: "Arrow columnar format", the buffers of each layout; Arrow's C interface does not tell
 * how long they are.
 */
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/table/table.h"

/* ---- how long buffers are ---- */

static int64_t bits_size(int64_t slots) { return (slots + 7) / 8; }

/* Bytes of a time, date, duration or interval. */
static int64_t time_width(const char *format) {
  if (strcmp(format, "tin") == 0) {
    return 16;
  }
  bool is_short = strcmp(format, "tdD") == 0 || strcmp(format, "tts") == 0 ||
                  strcmp(format, "ttm") == 0 || strcmp(format, "tiM") == 0;
  return is_short ? 4 : 8;
}

/* "d:precision,scale" of 128 bits, or "d:precision,scale,bits". */
static int64_t decimal_width(const char *format) {
  const char *scale = strchr(format, ',');
  const char *bits = scale != NULL ? strchr(scale + 1, ',') : NULL;
  return bits != NULL ? strtoll(bits + 1, NULL, 10) / 8 : 16;
}

/* Bytes of a slot; -1 for types whose slots are of no fixed size. */
static int64_t slot_width(const char *format) {
  switch (format[0]) {
    case 'c':
    case 'C':
      return 1;
    case 's':
    case 'S':
    case 'e':
      return 2;
    case 'i':
    case 'I':
    case 'f':
      return 4;
    case 'l':
    case 'L':
    case 'g':
      return 8;
    case 't':
      return time_width(format);
    case 'd':
      return decimal_width(format);
    case 'w':
      return strtoll(format + 2, NULL, 10);
    default:
      return -1;
  }
}

/* Bytes of the buffers after the bitmap, of which there are at most two; -1: no such buffer. */
static bool sizes_of(const char *format, const struct ArrowArray *array, int64_t sizes[2]) {
  int64_t slots = array->offset + array->length;
  bool is_large = format[0] == 'Z' || format[0] == 'U' || strchr(format, 'L') != NULL;
  int64_t width = is_large ? 8 : 4;
  sizes[0] = sizes[1] = -1;
  if (strcmp(format, "n") == 0 || strcmp(format, "+s") == 0 || strncmp(format, "+w:", 3) == 0) {
    return true;
  }
  if (strcmp(format, "b") == 0) {
    sizes[0] = bits_size(slots);
  } else if (strncmp(format, "+v", 2) == 0) {
    sizes[0] = sizes[1] = slots * width;
  } else if (format[0] == '+') {
    sizes[0] = (slots + 1) * width;
    return format[1] == 'l' || format[1] == 'L' || format[1] == 'm';
  } else if (strchr("zZuU", format[0]) != NULL) {
    const void *offsets = array->buffers[1];
    sizes[0] = (slots + 1) * width;
    sizes[1] = offsets == NULL ? 0
               : is_large      ? ((const int64_t *)offsets)[slots]
                               : ((const int32_t *)offsets)[slots];
  } else if (slot_width(format) >= 0) {
    sizes[0] = slots * slot_width(format);
  } else {
    return false;
  }
  return true;
}

/* ---- to a tree ---- */

static PyObject *table_pickle_bytes_or_none(const void *data, int64_t size) {
  return data == NULL ? Py_NewRef(Py_None) : PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
}

/* Bytes of buffer i of binary views: bitmap, views, blocks, and the sizes of the blocks. */
static int64_t size_of_views(const struct ArrowArray *array, int64_t i) {
  int64_t slots = array->offset + array->length;
  const int64_t *blocks = array->buffers[array->n_buffers - 1];
  return i == 0                      ? bits_size(slots)
         : i == 1                    ? 16 * slots
         : i == array->n_buffers - 1 ? 8 * (array->n_buffers - 3)
                                     : blocks[i - 2];
}

static PyObject *dump_buffers(cst__py_state *state, const char *format,
                              const struct ArrowArray *array) {
  int64_t sizes[2];
  bool is_views = format[0] == 'v';
  if (!is_views && !sizes_of(format, array, sizes)) {
    return cst__py_fail(state, CST_UNSUPPORTED, "cast the column, or leave it out",
                        "arrays of the Arrow type '%.40s' do not pickle", format);
  }
  PyObject *buffers = PyTuple_New((Py_ssize_t)array->n_buffers);
  for (int64_t i = 0; buffers != NULL && i < array->n_buffers; i++) {
    int64_t size = is_views ? size_of_views(array, i)
                   : i == 0 ? bits_size(array->offset + array->length)
                   : i <= 2 ? sizes[i - 1]
                            : 0;
    PyObject *bytes = table_pickle_bytes_or_none(array->buffers[i], size);
    if (bytes == NULL || PyTuple_SetItem(buffers, (Py_ssize_t)i, bytes) < 0) {
      Py_CLEAR(buffers);
    }
  }
  return buffers;
}

static PyObject *dump(cst__py_state *state, const struct ArrowSchema *schema,
                      const struct ArrowArray *array) {
  PyObject *buffers = dump_buffers(state, schema->format, array);
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
