/* Arrays that borrow: numbers from a buffer of Python's, lists from the array of their values.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "ext/table/table.h"

/* An Array of what is known to be sound; both are taken over. */
static PyObject *lend_wrap(cst__py_state *state, struct ArrowSchema *schema,
                           struct ArrowArray *array) {
  cst_array *handle = cst__py_handle_new(state, schema, array);
  schema->release(schema);
  return handle == NULL ? NULL : cst__py_table_wrap(state, handle, false);
}

/* ---- a buffer ---- */

typedef struct lent {
  const void *buffers[2];
  Py_buffer view;
  cst__py_gate *gate;
} lent;

/* On any thread; after the interpreter's end the memory stays. */
static void release_lent(struct ArrowArray *array) {
  lent *l = array->private_data;
  PyGILState_STATE gil;
  array->release = NULL;
  if (cst__py_enter(l->gate, &gil)) {
    cst__py_pending pending = cst__py_put_aside();
    PyBuffer_Release(&l->view);
    cst__py_put_back(pending);
    cst__py_leave(l->gate, gil);
  }
  free(l);
}

/* An Arrow type of numbers without a name; 0, or -1 with an exception. */
static int number_schema(const char *format, struct ArrowSchema *out) {
  PyObject *tree = Py_BuildValue("(yyiO()O)", format, "", ARROW_FLAG_NULLABLE, Py_None, Py_None);
  int result = tree == NULL ? -1 : cst__py_arrow_schema_plant(tree, out);
  Py_XDECREF(tree);
  return result;
}

PyObject *cst__py_table_of_buffer(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *object;
  const char *format;
  Py_ssize_t width;
  struct ArrowSchema schema;
  if (!PyArg_ParseTuple(args, "Osn:array_of_buffer", &object, &format, &width)) {
    return NULL;
  }
  lent *l = calloc(1, sizeof *l);
  if (l == NULL) {
    return PyErr_NoMemory();
  }
  if (PyObject_GetBuffer(object, &l->view, PyBUF_C_CONTIGUOUS) < 0) {
    free(l);
    return NULL;
  }
  l->gate = state->gate;
  l->buffers[1] = l->view.buf;
  struct ArrowArray array = {.length = l->view.len / width,
                             .n_buffers = 2,
                             .buffers = l->buffers,
                             .release = release_lent,
                             .private_data = l};
  if (number_schema(format, &schema) < 0) {
    array.release(&array);
    return NULL;
  }
  return lend_wrap(state, &schema, &array);
}

/* ---- lists of an array's values ---- */

typedef struct lists {
  const void *buffers[2];
  struct ArrowArray *children[1];
  struct ArrowArray values;
  struct ArrowArray offsets; /* released: none */
  uint8_t *bitmap;
} lists;

static void release_lists(struct ArrowArray *array) {
  lists *l = array->private_data;
  array->release = NULL;
  if (l->values.release != NULL) {
    l->values.release(&l->values);
  }
  if (l->offsets.release != NULL) {
    l->offsets.release(&l->offsets);
  }
  free(l->bitmap);
  free(l);
}

/* The bitmap of a null_mask(), a byte per slot. */
static int read_nulls(PyObject *mask, lists *l, int64_t length) {
  struct ArrowArray bytes;
  if (cst__py_array_export(mask, &bytes) < 0) {
    return -1;
  }
  l->bitmap = bytes.length == length ? calloc((size_t)(length + 8) / 8, 1) : NULL;
  if (l->bitmap == NULL) {
    PyErr_SetString(PyExc_ValueError, "the nulls are not those of the lists");
  }
  const uint8_t *from = (const uint8_t *)bytes.buffers[1] + bytes.offset;
  for (int64_t i = 0; l->bitmap != NULL && i < length; i++) {
    l->bitmap[i >> 3] |= (uint8_t)((from[i] == 0) << (i & 7));
  }
  bytes.release(&bytes);
  return l->bitmap == NULL ? -1 : 0;
}

/* Offsets as a user gives them are checked here, and named by what he knows them as. */
static int check_splits(cst__py_state *state, const int64_t *splits, int64_t count,
                        int64_t num_values) {
  static const char hint[] = "row i has the values from row_splits[i] to row_splits[i + 1]";
  if (count < 1) {
    cst__py_fail(state, CST_INVALID_ARGUMENT, hint,
                 "there are no row_splits, expected a 0 at least");
    return -1;
  }
  if (splits[0] != 0) {
    cst__py_fail(state, CST_INVALID_ARGUMENT, hint, "row_splits begin with %" PRId64 ", expected 0",
                 splits[0]);
    return -1;
  }
  for (int64_t i = 1; i < count; i++) {
    if (splits[i] < splits[i - 1]) {
      cst__py_fail(state, CST_INVALID_ARGUMENT, hint,
                   "row_splits[%" PRId64 "] is %" PRId64 ", below the %" PRId64 " before it", i,
                   splits[i], splits[i - 1]);
      return -1;
    }
  }
  if (splits[count - 1] != num_values) {
    cst__py_fail(state, CST_INVALID_ARGUMENT, hint,
                 "row_splits end with %" PRId64 ", expected %" PRId64 ", the number of values",
                 splits[count - 1], num_values);
    return -1;
  }
  return 0;
}

static int set_offsets(cst__py_state *state, PyObject *splits, lists *l, struct ArrowArray *out) {
  if (cst__py_array_export(splits, &l->offsets) < 0) {
    return -1;
  }
  const int64_t *values = (const int64_t *)l->offsets.buffers[1] + l->offsets.offset;
  if (check_splits(state, values, l->offsets.length, l->values.length) < 0) {
    return -1;
  }
  l->buffers[1] = values;
  out->n_buffers = 2;
  out->length = l->offsets.length - 1;
  return 0;
}

static int lists_schema(PyObject *values, long long size, struct ArrowSchema *out) {
  char format[32] = "+L";
  PyObject *schema = PyObject_GetAttrString(values, "schema");
  PyObject *child =
      schema == NULL ? NULL : cst__py_arrow_schema_tree(cst__py_arrow_schema_view(schema));
  Py_XDECREF(schema);
  if (child == NULL) {
    return -1;
  }
  if (size >= 0) {
    PyOS_snprintf(format, sizeof format, "+w:%lld", size);
  }
  PyObject *item = Py_BuildValue("(OyOOOO)", PyTuple_GetItem(child, 0), "item",
                                 PyTuple_GetItem(child, 2), PyTuple_GetItem(child, 3),
                                 PyTuple_GetItem(child, 4), PyTuple_GetItem(child, 5));
  Py_DECREF(child);
  PyObject *tree = item == NULL ? NULL
                                : Py_BuildValue("(yyiO(N)O)", format, "", ARROW_FLAG_NULLABLE,
                                                Py_None, item, Py_None);
  int result = tree == NULL ? -1 : cst__py_arrow_schema_plant(tree, out);
  Py_XDECREF(tree);
  return result;
}

/* (values, row splits or None, length and size of fixed ones, null_mask or None) */
PyObject *cst__py_table_of_lists(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyTypeObject *type = state->array_type;
  PyObject *values;
  PyObject *splits;
  PyObject *nulls;
  long long length;
  long long size;
  struct ArrowSchema schema;
  if (!PyArg_ParseTuple(args, "O!OLLO:array_of_lists", type, &values, &splits, &length, &size,
                        &nulls)) {
    return NULL;
  }
  if ((splits != Py_None && Py_TYPE(splits) != type) ||
      (nulls != Py_None && Py_TYPE(nulls) != type)) {
    PyErr_SetString(PyExc_TypeError, "row splits and nulls are Arrays");
    return NULL;
  }
  lists *l = calloc(1, sizeof *l);
  if (l == NULL) {
    return PyErr_NoMemory();
  }
  struct ArrowArray array = {.length = length,
                             .n_buffers = 1,
                             .n_children = 1,
                             .null_count = nulls == Py_None ? 0 : -1,
                             .buffers = l->buffers,
                             .children = l->children,
                             .release = release_lists,
                             .private_data = l};
  l->children[0] = &l->values;
  if (cst__py_array_export(values, &l->values) < 0 ||
      (splits != Py_None && set_offsets(state, splits, l, &array) < 0) ||
      (nulls != Py_None && read_nulls(nulls, l, array.length) < 0) ||
      lists_schema(values, splits == Py_None ? size : -1, &schema) < 0) {
    array.release(&array);
    return NULL;
  }
  l->buffers[0] = l->bitmap;
  return lend_wrap(state, &schema, &array);
}
