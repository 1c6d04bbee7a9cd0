/* Arrays and record batches from what others have: Arrow data, columns. */
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/table/table.h"

/* ---- Arrow data ---- */

/* A record batch is of type struct, and its rows are there. */
static cst_status check_batch(const cst_array *made, cst_error *error) {
  struct ArrowArray array;
  cst_status status = cst_array_export(made, &array, error);
  if (status != CST_OK) {
    return status;
  }
  bool has_nulls = cst__py_count_nulls(cst_array_schema(made), &array, 0, array.length) > 0;
  array.release(&array);
  if (has_nulls) {
    error->code = CST_INVALID_ARGUMENT;
    PyOS_snprintf(error->message, sizeof error->message, "rows of a record batch are null");
    PyOS_snprintf(error->hint, sizeof error->hint, "columnstone.array() takes null structs");
  }
  return error->code;
}

PyObject *cst__py_table_take_over(cst__py_state *state, struct ArrowSchema *schema,
                                  struct ArrowArray *array, bool is_batch) {
  cst_error error = CST_ERROR_INIT;
  cst_array *made = NULL;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_array_import(schema, array, 0, NULL, &made, &error);
  schema->release(schema);
  if (status != CST_OK) {
    array->release(array);
  } else if (is_batch) {
    status = check_batch(made, &error);
    if (status != CST_OK) {
      cst_array_release(made);
    }
  }
  Py_END_ALLOW_THREADS
  return status == CST_OK ? cst__py_table_wrap(state, made, is_batch)
                          : cst__py_raise(state, &error);
}

PyObject *cst__py_table_import_one(cst__py_state *state, struct ArrowSchema *schema,
                                   struct ArrowArray *array, bool is_batch) {
  if (is_batch && strcmp(schema->format, "+s") != 0) {
    char format[41];
    PyOS_snprintf(format, sizeof format, "%.40s", schema->format);
    schema->release(schema);
    array->release(array);
    return cst__py_fail(state, CST_SCHEMA, "columnstone.array() takes any type",
                        "a record batch is of type struct, not of the Arrow type '%s'", format);
  }
  return cst__py_table_take_over(state, schema, array, is_batch);
}

PyObject *cst__py_table_import(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  struct ArrowSchema schema;
  struct ArrowArray array;
  PyObject *object;
  int is_batch;
  if (!PyArg_ParseTuple(args, "Op:array_import", &object, &is_batch) ||
      cst__py_import_array(object, &schema, &array) < 0) {
    return NULL;
  }
  return cst__py_table_import_one(state, &schema, &array, is_batch != 0);
}

/* ---- columns ---- */

/* A struct of exported columns. */
typedef struct columns {
  const void *no_bitmap[1];
  struct ArrowArray **pointers;
  struct ArrowArray *children;
} columns;

static void release_columns(struct ArrowArray *array) {
  columns *c = array->private_data;
  for (int64_t i = 0; i < array->n_children; i++) {
    if (c->children[i].release != NULL) {
      c->children[i].release(&c->children[i]);
    }
  }
  free(c->pointers);
  free(c->children);
  free(c);
  array->release = NULL;
}

static int new_columns(Py_ssize_t count, int64_t length, struct ArrowArray *out) {
  columns *c = calloc(1, sizeof *c);
  if (c != NULL) {
    c->pointers = calloc((size_t)count + 1, sizeof *c->pointers);
    c->children = calloc((size_t)count + 1, sizeof *c->children);
  }
  if (c == NULL || c->pointers == NULL || c->children == NULL) {
    if (c != NULL) {
      free(c->pointers);
      free(c->children);
    }
    free(c);
    PyErr_NoMemory();
    return -1;
  }
  *out = (struct ArrowArray){.length = length,
                             .n_buffers = 1,
                             .buffers = c->no_bitmap,
                             .n_children = count,
                             .children = c->pointers,
                             .release = release_columns,
                             .private_data = c};
  for (Py_ssize_t i = 0; i < count; i++) {
    c->pointers[i] = &c->children[i];
  }
  return 0;
}

/* True if arrays of the one type are arrays of the other, whatever their fields are called. */
static bool same_layout(const struct ArrowSchema *a, const struct ArrowSchema *b) {
  bool same = strcmp(a->format, b->format) == 0 && a->n_children == b->n_children &&
              a->dictionary == NULL && b->dictionary == NULL;
  for (int64_t i = 0; same && i < a->n_children; i++) {
    same = same_layout(a->children[i], b->children[i]);
  }
  return same;
}

static int export_columns(cst__py_state *state, const struct ArrowSchema *schema, PyObject *arrays,
                          struct ArrowArray *out) {
  for (int64_t i = 0; i < out->n_children; i++) {
    PyObject *array = PyTuple_GetItem(arrays, (Py_ssize_t)i);
    if (array == NULL || Py_TYPE(array) != state->array_type) {
      PyErr_SetString(PyExc_TypeError, "columns are Arrays");
      return -1;
    }
    const cst_array *handle = cst__py_array_handle(array);
    if (handle == NULL || cst__py_array_export(array, out->children[i]) < 0) {
      return -1;
    }
    if (!same_layout(cst_array_schema(handle), schema->children[i])) {
      PyErr_SetString(PyExc_TypeError, "a column is of another type than in the schema");
      return -1;
    }
    if (out->children[i]->length != out->length) {
      cst__py_fail(state, CST_INVALID_ARGUMENT, "",
                   "a column of %lld values in a batch of %lld rows",
                   (long long)out->children[i]->length, (long long)out->length);
      return -1;
    }
  }
  return 0;
}

PyObject *cst__py_table_batch_from(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *schema;
  PyObject *arrays;
  long long num_rows;
  struct ArrowArray batch;
  if (!PyArg_ParseTuple(args, "O!O!L:batch_from", state->arrow_schema_type, &schema, &PyTuple_Type,
                        &arrays, &num_rows)) {
    return NULL;
  }
  if (cst__py_arrow_schema_view(schema)->n_children != PyTuple_Size(arrays)) {
    PyErr_SetString(PyExc_ValueError, "the schema has another number of columns");
    return NULL;
  }
  if (new_columns(PyTuple_Size(arrays), num_rows, &batch) < 0) {
    return NULL;
  }
  if (export_columns(state, cst__py_arrow_schema_view(schema), arrays, &batch) < 0) {
    batch.release(&batch);
    return NULL;
  }
  return cst__py_batch_new(state, schema, &batch);
}

/* ---- bools ---- */

/* A byte per bool: 1 for true, 0 for false and for null. */
PyObject *cst__py_table_mask(PyObject *module, PyObject *object) {
  cst__py_state *state = PyModule_GetState(module);
  struct ArrowArray array;
  if (Py_TYPE(object) != state->array_type) {
    PyErr_SetString(PyExc_TypeError, "a mask is an Array");
    return NULL;
  }
  const cst_array *handle = cst__py_array_handle(object);
  if (handle == NULL || cst__py_array_export(object, &array) < 0) {
    return NULL;
  }
  PyObject *mask = NULL;
  if (strcmp(cst_array_schema(handle)->format, "b") != 0) {
    PyErr_SetString(PyExc_TypeError, "a mask is an Array of bools");
  } else {
    mask = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)array.length);
  }
  char *bytes = mask == NULL ? NULL : PyBytes_AsString(mask);
  const uint8_t *valid = array.null_count != 0 ? array.buffers[0] : NULL;
  for (int64_t i = 0; bytes != NULL && i < array.length; i++) {
    int64_t at = array.offset + i;
    bool is_true = ((const uint8_t *)array.buffers[1])[at >> 3] >> (at & 7) & 1;
    bytes[i] = (char)(is_true && (valid == NULL || (valid[at >> 3] >> (at & 7) & 1) != 0));
  }
  array.release(&array);
  return mask;
}
